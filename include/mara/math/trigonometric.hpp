#pragma once
// Sine, cosine and angles of vectors of floats.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mara/math/elementary.hpp"
#include "mara/math/simd.hpp"

namespace mara::simd {

/// Sine and cosine of one angle.
struct SineCosine {
  VecF sine, cosine;
};

namespace detail {
/// x rounded to a whole number, for |x| < 2^22.
MARA_INLINE VecF round_to_whole(VecF x) noexcept {
  return (x + broadcast(12582912.0f)) - broadcast(12582912.0f);
}
}  // namespace detail

/// Largest |x|, radians, that sine_cosine() and wrap_angle() take.
inline constexpr float kLargestAngle = 6000.0f;

/// sin x and cos x, absolute error 1e-7, for |x| <= kLargestAngle radians; NaN for any other x. The octant is
/// taken off with pi/2 in three parts, the first two short enough for exact products (Cody and Waite,
/// "Software Manual for the Elementary Functions", 1980, chapter 8); what is left goes into polynomials of
/// smallest maximum error on [-pi/4, pi/4], 4e-9 and 2e-10.
MARA_INLINE SineCosine sine_cosine(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  const VecF shifted = fma(x, c(0.636619772f), c(12582912.0f));
  const VecI quadrant = (VecI)shifted;  // its low bits
  const VecF n = shifted - c(12582912.0f);
  VecF r = fma(n, c(-1.5703125f), x);
  r = fma(n, c(-4.837512969970703e-4f), r);
  r = fma(n, c(-7.549789954891882e-8f), r);
  const VecF u = r * r;
  VecF s = fma(u, c(-1.95170068e-4f), c(8.33217612e-3f));
  s = fma(u, s, c(-0.166666549f));
  s = fma(r * u, s, r);
  VecF t = fma(u, c(2.44635533e-5f), c(-1.38876524e-3f));
  t = fma(u, t, c(4.16666546e-2f));
  t = fma(u * u, t, fma(u, c(-0.5f), c(1.0f)));
  const VecI odd = (quadrant & 1) != 0;
  const VecF sine = (VecF)((VecI)select(odd, t, s) ^ ((quadrant & 2) << 30));
  const VecF cosine = (VecF)((VecI)select(odd, s, t) ^ (((quadrant + 1) & 2) << 30));
  const VecI within = abs(x) <= c(kLargestAngle);
  const VecF nan = c(std::numeric_limits<float>::quiet_NaN());
  return {select(within, sine, nan), select(within, cosine, nan)};
}

/// The angle in [-pi, pi] (to rounding) that x, |x| <= kLargestAngle radians, is equal to but for whole
/// turns; absolute error 5e-7. NaN for NaN.
MARA_INLINE VecF wrap_angle(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  const VecF n = detail::round_to_whole(x * c(0.159154943f));
  VecF r = fma(n, c(-6.28125f), x);
  r = fma(n, c(-1.9350051879882812e-3f), r);
  return fma(n, c(-3.019915981956753e-7f), r);
}

}  // namespace mara::simd

namespace mara::math {

/// sine[i], cosine[i] of in[i]: see simd::sine_cosine.
inline void sine_cosine(const float* in, std::size_t count, float* sine, float* cosine) noexcept {
  for (std::size_t i = 0; i < count; i += simd::kLanes<float>) {
    const std::size_t lanes = count - i < simd::kLanes<float> ? count - i : simd::kLanes<float>;
    const simd::SineCosine both = simd::sine_cosine(simd::load_partial(in + i, lanes));
    simd::store_partial(sine + i, both.sine, lanes);
    simd::store_partial(cosine + i, both.cosine, lanes);
  }
}

/// out[i] = in[i] without its whole turns: see simd::wrap_angle.
inline void wrap_angles(const float* in, std::size_t count, float* out) noexcept {
  simd::transform(in, count, out, [](simd::VecF x) { return simd::wrap_angle(x); });
}

}  // namespace mara::math
