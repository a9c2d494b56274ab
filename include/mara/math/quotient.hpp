#pragma once
// Quotients and square roots of vectors within 2 ulp. Where the hardware has a fast estimate, one step of
// Newton on it: the units that divide and take roots would be busy for longer than everything around them.

#include "mara/math/simd.hpp"

namespace mara::simd {

/// numerator / denominator for denominators of magnitude 1e-30 to 1e30.
MARA_INLINE VecF quotient(VecF numerator, VecF denominator) noexcept {
#if defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_rcp14ps512_mask)
  const VecF estimate = __builtin_ia32_rcp14ps512_mask(denominator, VecF{}, static_cast<unsigned short>(-1));
  const VecF first = numerator * estimate;
  return fma(first, fma(-denominator, estimate, broadcast(1.0f)), first);
#else
  return numerator / denominator;
#endif
}
MARA_INLINE VecD quotient(VecD numerator, VecD denominator) noexcept {
  return numerator / denominator;
}

/// Square root for numbers from 1e-36 to 1e36.
MARA_INLINE VecF square_root(VecF x) noexcept {
#if defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_rsqrt14ps512_mask)
  const VecF estimate = __builtin_ia32_rsqrt14ps512_mask(x, VecF{}, static_cast<unsigned short>(-1));
  const VecF first = x * estimate;
  return fma(first * broadcast(0.5f), fma(-first, estimate, broadcast(1.0f)), first);
#else
  return sqrt(x);
#endif
}
MARA_INLINE VecD square_root(VecD x) noexcept {
  return sqrt(x);
}

}  // namespace mara::simd
