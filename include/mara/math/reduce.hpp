#pragma once
// Sums in a fixed order: the bits depend on the numbers and their count only, not on addresses or threads.

#include <cstddef>

#include "mara/math/simd.hpp"

namespace mara::math {

namespace detail {

/// Sum of the lanes, halves upon halves.
template <class S>
MARA_INLINE S sum_lanes(simd::Vec<S> v) noexcept {
  for (std::size_t half = simd::kLanes<S> / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) v[k] += v[k + half];
  return v[0];
}

/// Sum of term(i, lanes), a vector of `lanes` terms that starts at element i; other lanes must be 0.
template <class S, class Term>
MARA_INLINE S sum_terms(std::size_t count, const Term& term) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  simd::Vec<S> even = {}, odd = {};
  std::size_t i = 0;
  for (; i + 2 * kW <= count; i += 2 * kW) {
    even += term(i, kW);
    odd += term(i + kW, kW);
  }
  for (; i < count; i += kW) even += term(i, count - i < kW ? count - i : kW);
  return sum_lanes<S>(even + odd);
}

}  // namespace detail

/// Sum of x[0..count).
template <class S>
S sum(const S* x, std::size_t count) noexcept {
  return detail::sum_terms<S>(
      count, [x](std::size_t i, std::size_t lanes) { return simd::load_partial(x + i, lanes); });
}

/// Sum of x[i] * weight[i]; an element of weight 0 counts as 0, whatever x[i] is.
template <class S>
S weighted_sum(const S* x, const S* weight, std::size_t count) noexcept {
  using V = simd::Vec<S>;
  return detail::sum_terms<S>(count, [x, weight](std::size_t i, std::size_t lanes) {
    const V w = simd::load_partial(weight + i, lanes);
    return simd::select(w == V{}, V{}, simd::load_partial(x + i, lanes) * w);
  });
}

/// Sum of x[i]^2, in double.
template <class S>
double sum_of_squares(const S* x, std::size_t count) noexcept {
  constexpr std::size_t kW = simd::kLanes<double>;
  simd::VecD even = {}, odd = {};
  std::size_t i = 0;
  for (; i + 2 * kW <= count; i += 2 * kW) {
    const simd::VecD p = simd::load_as_double(x + i), q = simd::load_as_double(x + i + kW);
    even = simd::fma(p, p, even);
    odd = simd::fma(q, q, odd);
  }
  double total = 0.0;
  for (; i < count; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total + detail::sum_lanes<double>(even + odd);
}

}  // namespace mara::math
