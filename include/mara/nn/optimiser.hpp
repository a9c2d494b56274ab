#pragma once
// What all optimisers have in common.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mara/core/result.hpp"
#include "mara/nn/gradient_clip.hpp"

namespace mara {

/// An optimiser of a flat array of parameters: Sgd, RmsProp, Adam, AdamW.
///
/// step(parameters, gradients) goes one step down the gradient, clipped first to config().max_gradient_norm
/// when that is positive; the gradients themselves stay as they are. A gradient norm that is not finite, or
/// arrays of the wrong size, are an error and change nothing. The state for checkpoints is first_moment(),
/// second_moment() (empty where the optimiser has none) and steps(); restore() of these into an optimiser of
/// the same configuration continues with the same bits as an uninterrupted run. The learning rate belongs to
/// the configuration: set it again, or let a schedule do so.
template <class O, class S>
concept Optimiser = requires(O optimiser, const O& constant, std::span<S> parameters,
                             std::span<const S> numbers, std::uint64_t steps) {
  { optimiser.step(parameters, numbers) } -> std::same_as<Status>;
  { optimiser.restore(numbers, numbers, steps) } -> std::same_as<Status>;
  optimiser.set_learning_rate(0.1);
  { constant.config().learning_rate } -> std::convertible_to<double>;
  { constant.config().max_gradient_norm } -> std::convertible_to<double>;
  { constant.gradient_norm() } -> std::same_as<double>;
  { constant.first_moment() } -> std::same_as<std::span<const S>>;
  { constant.second_moment() } -> std::same_as<std::span<const S>>;
  { constant.steps() } -> std::same_as<std::uint64_t>;
};

namespace detail {

/// The norm of the gradients, or why a step of optimiser `name` made for `size` parameters cannot be done.
template <class S>
Result<double> checked_norm(const char* name, std::size_t size, std::span<S> parameters,
                            std::span<const S> gradients) {
  if (parameters.size() != size || gradients.size() != size)
    return Error{ErrorCode::kShapeMismatch,
                 std::string(name) + "::step: " + std::to_string(parameters.size()) + " parameters and " +
                     std::to_string(gradients.size()) + " gradients, made for " + std::to_string(size)};
  const double norm = global_norm(gradients);
  if (!std::isfinite(norm))
    return Error{ErrorCode::kNumerical,
                 std::string(name) + "::step: gradient norm is " + std::to_string(norm)};
  return norm;
}

/// Success when moments of the given sizes belong to an optimiser `name` that has `first` and `second`
/// numbers.
inline Status check_moments(const char* name, std::size_t given_first, std::size_t first,
                            std::size_t given_second, std::size_t second) {
  if (given_first == first && given_second == second) return {};
  return Error{ErrorCode::kShapeMismatch, std::string(name) + "::restore: moments of " +
                                              std::to_string(given_first) + " and " +
                                              std::to_string(given_second) + " numbers, made for " +
                                              std::to_string(first) + " and " + std::to_string(second)};
}

}  // namespace detail
}  // namespace mara
