#pragma once
// Clipping of gradients by their global norm.

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "mara/math/reduce.hpp"

namespace mara {

/// Euclidean norm over all numbers; NaN or infinite when one of them is.
template <class S>
double global_norm(std::span<const S> values) noexcept {
  return std::sqrt(math::sum_of_squares(values.data(), values.size()));
}

/// Euclidean norm over all numbers of all groups.
template <class S>
double global_norm(std::span<const std::span<S>> groups) noexcept {
  double squares = 0.0;
  for (const std::span<S> group : groups)
    squares += math::sum_of_squares(static_cast<const S*>(group.data()), group.size());
  return std::sqrt(squares);
}

/// Factor that brings a gradient of norm `norm` down to `max_norm`; 1 when it is within, or when max_norm <=
/// 0 (clipping off). Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
/// 2013.
inline double clip_factor(double norm, double max_norm) noexcept {
  return max_norm > 0.0 && norm > max_norm ? max_norm / norm : 1.0;
}

/// Scales several groups of numbers, say the gradients of an actor and of its encoder, by one factor so that
/// the norm over all of them is at most max_norm; returns the norm before. A NaN or infinite norm changes
/// nothing: look at the return value.
template <class S>
double clip_by_global_norm(std::span<const std::span<S>> groups, double max_norm) noexcept {
  const double norm = global_norm(groups);
  const double factor = std::isfinite(norm) ? clip_factor(norm, max_norm) : 1.0;
  if (factor < 1.0)
    for (const std::span<S> group : groups)
      for (S& x : group) x = static_cast<S>(static_cast<double>(x) * factor);
  return norm;
}
template <class S>
double clip_by_global_norm(std::initializer_list<std::span<S>> groups, double max_norm) noexcept {
  return clip_by_global_norm(std::span<const std::span<S>>(groups.begin(), groups.size()), max_norm);
}

/// The same for one group.
template <class S>
double clip_by_global_norm(std::span<S> values, double max_norm) noexcept {
  return clip_by_global_norm(std::span<const std::span<S>>(&values, 1), max_norm);
}

}  // namespace mara
