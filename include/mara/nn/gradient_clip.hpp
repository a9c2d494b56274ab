#pragma once
// Clipping of gradients by their global norm.

#include <cmath>
#include <cstddef>
#include <span>

#include "mara/math/reduce.hpp"

namespace mara {

/// Euclidean norm over all numbers; NaN or infinite when one of them is.
template <class S>
double global_norm(std::span<const S> values) noexcept {
  return std::sqrt(math::sum_of_squares(values.data(), values.size()));
}

/// Factor that brings a gradient of norm `norm` down to `max_norm`; 1 when it is within, or when max_norm <=
/// 0 (clipping off). Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
/// 2013.
inline double clip_factor(double norm, double max_norm) noexcept {
  return max_norm > 0.0 && norm > max_norm ? max_norm / norm : 1.0;
}

/// Scales `values` so that their norm is at most max_norm; returns the norm before. A NaN or infinite norm
/// changes nothing: look at the return value.
template <class S>
double clip_by_global_norm(std::span<S> values, double max_norm) noexcept {
  const double norm = global_norm(std::span<const S>(values));
  const double factor = std::isfinite(norm) ? clip_factor(norm, max_norm) : 1.0;
  if (factor < 1.0)
    for (S& x : values) x = static_cast<S>(static_cast<double>(x) * factor);
  return norm;
}

}  // namespace mara
