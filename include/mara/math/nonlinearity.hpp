#pragma once
// The smooth activation functions and what their gradients need: vectors in float, the C library in double.
// NaN gives NaN. Errors are stated as in elementary.hpp.

#include "mara/core/libm.hpp"
#include "mara/math/elementary.hpp"

namespace mara::simd {

namespace detail {
/// c in every lane of a vector like the first argument.
MARA_INLINE VecF lanes_like(VecF, double c) noexcept {
  return broadcast(static_cast<float>(c));
}
MARA_INLINE VecD lanes_like(VecD, double c) noexcept {
  return broadcast(c);
}

/// e^x - 1 for x <= 0, relative error 1.5e-7, -1 at -infinity; unspecified for other x.
MARA_INLINE VecF expm1_below_zero(VecF x) noexcept {
  // 2^n (1 + y) - 1 = 2^n y + (2^n - 1): for n = 0 nothing cancels, and below -25 e^x no longer counts.
  const ExpParts e = exp_parts(max(broadcast(-25.0f), x));
  const VecF power = (VecF)(((VecU)e.shifted << 23) + 0x3f800000u);
  return fma(power, e.y, power - broadcast(1.0f));
}
MARA_INLINE VecD expm1_below_zero(VecD x) noexcept {
  return each_lane(x, [](double v) { return libm::expm1(v); });
}

/// Standard normal distribution at x: its cumulative function, and `bell` = e^(-x^2 / 2), which is the
/// density times sqrt(2 pi). `held` is x in [-14, 14], beyond which a float cannot tell the difference.
template <class V>
struct Normal {
  V cumulative, bell, held;
};
MARA_INLINE Normal<VecF> normal(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  const VecF held = max(c(-14.0f), min(c(14.0f), x));
  const VecF a = abs(held), square = a * a;
  VecF bell = exp(c(-0.5f) * square);
  // What rounding a^2 lost would be a large part of e^(-a^2 / 2) in the tail.
  if constexpr (kFused) bell = fma(c(-0.5f) * fma(a, a, -square), bell, bell);
  // Probability beyond a, divided by the bell: a quotient of polynomials fitted to the smallest maximum
  // relative error on [0, 14], 6e-9.
  VecF p = fma(a, c(0.00404745174987f), c(0.0401840614766f));
  p = fma(a, p, c(0.181924323401f));
  p = fma(a, p, c(0.436559180122f));
  p = fma(a, p, c(0.5f));
  VecF q = fma(a, c(0.010145325357f), c(0.100733449369f));
  q = fma(a, q, c(0.466003550559f));
  q = fma(a, q, c(1.19711260158f));
  q = fma(a, q, c(1.67100318636f));
  q = fma(a, q, c(1.0f));
  const VecF tail = bell * p / q;
  return {select(x <= VecF{}, tail, c(1.0f) - tail), bell, held};
}
MARA_INLINE Normal<VecD> normal(VecD x) noexcept {
  // 40 is far enough for e^(-x^2 / 2) to be 0 in double.
  const VecD held = max(broadcast(-40.0), min(broadcast(40.0), x));
  return {each_lane(held, [](double v) { return 0.5 * libm::erfc(v * -0.70710678118654752440); }),
          exp(broadcast(-0.5) * held * held), held};
}

/// ln(1 + e^x) for x <= 0, relative error 2e-7.
MARA_INLINE VecF softplus_below_zero(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  const VecF t = exp(x);
  // ln(1 + t) = ln((1 + t) / 2) + ln 2 keeps the argument of the polynomial near 1.
  const VecI large = t > c(0.41421356f);
  const VecF y = log_near_one(select(large, fma(c(0.5f), t, c(-0.5f)), t));
  return y + select(large, c(0.693147181f), VecF{});
}
MARA_INLINE VecD softplus_below_zero(VecD x) noexcept {
  return each_lane(x, [](double v) { return libm::log1p(libm::exp(v)); });
}
}  // namespace detail

/// x where x > 0, e^x - 1 elsewhere (Clevert et al. 2016, alpha = 1). Relative error 1.5e-7; -1 at -infinity.
template <class V>
MARA_INLINE V elu(V x) noexcept {
  return select(x <= V{}, detail::expm1_below_zero(min(x, V{})), x);
}

/// ln(1 + e^x). Relative error 2e-7; 0 at -infinity, infinity at infinity.
template <class V>
MARA_INLINE V softplus(V x) noexcept {
  return max(V{}, x) + detail::softplus_below_zero(-abs(x));
}

/// x times the cumulative normal distribution of x (Hendrycks and Gimpel 2016, the exact form). Relative
/// error 4e-7 for x >= -1, absolute error 1e-7 for x < -1; 0 at -infinity, infinity at infinity.
template <class V>
MARA_INLINE V gelu(V x) noexcept {
  const detail::Normal<V> n = detail::normal(x);
  return max(n.held, x) * n.cumulative;
}

/// Derivative of gelu. Absolute error 3e-7; 0 at -infinity, 1 at infinity.
template <class V>
MARA_INLINE V gelu_slope(V x) noexcept {
  const detail::Normal<V> n = detail::normal(x);
  return fma(n.held * detail::lanes_like(x, 0.39894228040143267794), n.bell, n.cumulative);
}

/// 1 - e^-y, the derivative of softplus where its value is y >= 0. Relative error 1.5e-7.
template <class V>
MARA_INLINE V softplus_slope(V y) noexcept {
  return select(y >= V{}, -detail::expm1_below_zero(-y), y);
}

}  // namespace mara::simd
