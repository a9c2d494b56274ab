// What core/ promises about its types.
#include <random>
#include <type_traits>

#include "mara/core/random.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

// A draw can feed anything that takes a standard generator; a stream copied goes on with the same numbers.
static_assert(std::uniform_random_bit_generator<Random>);
static_assert(std::is_copy_constructible_v<Random> && std::is_nothrow_move_constructible_v<Random>);
static_assert(std::is_trivially_copyable_v<Random::State>, "checkpoints copy it as bytes");

// Amounts are exact integers without hidden conversions.
static_assert(sizeof(Milli) == 8 && std::is_trivially_copyable_v<Milli>);
static_assert(!std::is_convertible_v<double, Milli> && !std::is_convertible_v<Milli, double>);
static_assert(Milli::whole(3).value == 3000 && Milli{2999}.units() == 2);
static_assert(Milli{460} + Milli{540} == Milli::whole(1));
static_assert(std::is_trivially_copyable_v<Grant> && Grant{}.empty());

// A Result is no value, and no boolean by accident.
static_assert(!std::is_convertible_v<Result<int>, int> && !std::is_convertible_v<Result<int>, bool>);
static_assert(std::is_convertible_v<int, Result<int>> && std::is_convertible_v<Error, Result<int>>);
static_assert(std::is_default_constructible_v<Status> && !std::is_default_constructible_v<Result<int>>);

}  // namespace mara
