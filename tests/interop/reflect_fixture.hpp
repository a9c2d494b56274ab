#pragma once
// Structs that the reflection tests share.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mara/interop/reflect.hpp"

namespace reflect_fixture {

enum class Colour { kRed, kBlue };

struct Inner {
  double learning_rate = 0.001;
  float clip = 0.2f;
  int epochs = 3;
};

struct Outer {
  bool verbose = false;
  bool shuffle = true;
  std::int8_t tiny = -5;
  std::int64_t steps = 150000;
  std::uint64_t seed = 1;
  double ratio = 0.5;
  std::string out_dir = "report";
  std::vector<int> hidden = {64, 64};
  std::vector<double> weights;
  std::vector<std::string> names = {"a"};
  std::optional<double> load;
  Colour colour = Colour::kBlue;
  Inner ppo;
};

}  // namespace reflect_fixture

template <>
struct mara::EnumNames<reflect_fixture::Colour> {
  static constexpr auto kNames = std::to_array<mara::EnumName<reflect_fixture::Colour>>(
      {{reflect_fixture::Colour::kRed, "red"}, {reflect_fixture::Colour::kBlue, "blue"}});
};

template <>
struct mara::Descriptions<reflect_fixture::Outer> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({{"steps", "environment steps to train for"},
                                                                 {"shuffle", "shuffle the minibatches"},
                                                                 {"out_dir", "where to write", "FOLDER"}});
};

BOOST_HANA_ADAPT_STRUCT(reflect_fixture::Inner, learning_rate, clip, epochs);
BOOST_HANA_ADAPT_STRUCT(reflect_fixture::Outer, verbose, shuffle, tiny, steps, seed, ratio, out_dir, hidden,
                        weights, names, load, colour, ppo);
