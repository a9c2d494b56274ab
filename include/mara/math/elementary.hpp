#pragma once
// Elementary functions: vectors in float, the C library in double. Every lane is computed alike, so the bits
// of an element do not depend on its place in the array. NaN gives NaN.

#include <cmath>
#include <cstddef>
#include <limits>

#include "mara/math/simd.hpp"

namespace mara::simd {

/// tanh with an absolute error below 4e-7, odd, within [-1, 1]. x P(x^2) / Q(x^2) with polynomials of degree
/// 4, fitted to the smallest maximum error on [0, 8.8] with P(0) = Q(0) = 1: 1.7e-8, the rest is rounding.
MARA_INLINE VecF tanh(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  // Beyond 8.8 the quotient of the polynomials stays, times x it is above 1.
  const VecF u = min(c(77.44f), x * x);
  VecF p = fma(u, c(1.36971793296e-8f), c(2.08519829529e-5f));
  p = fma(u, p, c(0.00351020783081f));
  p = fma(u, p, c(0.133933010038f));
  p = fma(u, p, c(1.0f));
  VecF q = fma(u, c(7.91539453322e-7f), c(0.000330963487681f));
  q = fma(u, q, c(0.0259324870144f));
  q = fma(u, q, c(0.467266212754f));
  q = fma(u, q, c(1.0f));
  return max(c(-1.0f), min(c(1.0f), x * p / q));
}

/// e^x within 2 ulp; 0 below -86.9, infinity above 88.72. e^(n ln 2 + r) = 2^n e^r, |r| <= ln(2)/2, e^r from
/// its Taylor series.
MARA_INLINE VecF exp(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  const VecF held = max(c(-88.0f), min(c(88.8f), x));
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  const VecF shifted = fma(held, c(1.44269504f), c(12582912.0f));
  const VecF n = shifted - c(12582912.0f);
  // ln 2 in two parts, the first with trailing zeros so that n times it is exact.
  const VecF r = fma(n, c(2.12194440e-4f), fma(n, c(-0.693359375f), held));
  VecF y = c(1.0f / 5040.0f);
  y = fma(r, y, c(1.0f / 720.0f));
  y = fma(r, y, c(1.0f / 120.0f));
  y = fma(r, y, c(1.0f / 24.0f));
  y = fma(r, y, c(1.0f / 6.0f));
  y = fma(r, y, c(0.5f));
  y = fma(r, y, c(1.0f));
  y = fma(r, y, c(1.0f));
  // 2^(n - 1), then doubled: n may be 128.
  const VecI power = ((VecI)shifted - ((VecI)c(12582912.0f) - 126)) << 23;
  y = y * (VecF)power * c(2.0f);
  y = select(x > c(88.7228394f), c(std::numeric_limits<float>::infinity()), y);
  return select(x < c(-86.9f), VecF{}, y);
}

/// 1 / (1 + e^-x).
MARA_INLINE VecF sigmoid(VecF x) noexcept {
  return broadcast(1.0f) / (broadcast(1.0f) + exp(-x));
}

/// out[i] = f(in[i]) for `count` numbers, a vector at a time; in and out may be the same array.
template <class S, class F>
MARA_INLINE void transform(const S* in, std::size_t count, S* out, F&& f) noexcept {
  std::size_t i = 0;
  for (; i + kLanes<S> <= count; i += kLanes<S>) store(out + i, f(load(in + i)));
  if (i < count) store_partial(out + i, f(load_partial(in + i, count - i)), count - i);
}

}  // namespace mara::simd

namespace mara::math {

/// out[i] = e^in[i].
inline void exp(const float* in, std::size_t count, float* out) noexcept {
  simd::transform(in, count, out, [](simd::VecF x) { return simd::exp(x); });
}
inline void exp(const double* in, std::size_t count, double* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::exp(in[i]);
}

/// out[i] = ln in[i].
template <class S>
void log(const S* in, std::size_t count, S* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::log(in[i]);
}

/// out[i] = tanh in[i].
inline void tanh(const float* in, std::size_t count, float* out) noexcept {
  simd::transform(in, count, out, [](simd::VecF x) { return simd::tanh(x); });
}
inline void tanh(const double* in, std::size_t count, double* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::tanh(in[i]);
}

/// out[i] = 1 / (1 + e^-in[i]).
inline void sigmoid(const float* in, std::size_t count, float* out) noexcept {
  simd::transform(in, count, out, [](simd::VecF x) { return simd::sigmoid(x); });
}
inline void sigmoid(const double* in, std::size_t count, double* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = 1.0 / (1.0 + std::exp(-in[i]));
}

}  // namespace mara::math
