#pragma once
// The hyperbolic tangent of a vector of floats: cheap enough to be fused into the dense kernels.

#include "mara/math/quotient.hpp"
#include "mara/math/simd.hpp"

namespace mara::simd {

/// x held in [-bound[0], bound[0]]; what becomes of NaN is left open. `bound` holds c and -c.
MARA_INLINE VecF hold_between(VecF x, const float* bound) noexcept {
#if defined(MARA_SIMD_AVX512) && defined(__AVX512DQ__) && __has_builtin(__builtin_ia32_rangeps512_mask)
  // The smaller magnitude of both with the sign of x, in one instruction.
  return __builtin_ia32_rangeps512_mask(x, broadcast(bound[0]), 2, VecF{}, static_cast<unsigned short>(-1),
                                        4);
#else
  return max(broadcast(bound[1]), min(broadcast(bound[0]), x));
#endif
}

/// tanh with an absolute error below 6e-7 and a relative error below 8e-7; odd, within [-1, 1]; NaN for NaN.
/// x P(x^2) / Q(x^2) on |x| <= 7.9, constant beyond. P and Q have degree 3 and 4 and the smallest maximum
/// error, 3.4e-7, found by Remez exchange; the rest is the step to the constant and rounding.
MARA_INLINE VecF tanh(VecF x) noexcept {
  static constexpr float kNumbers[] = {7.9f,
                                       -7.9f,
                                       62.41f,  // bounds of x and of x^2
                                       1.103058850621e-5f,
                                       0.002910200073572f,
                                       0.1288586826471f,
                                       0.9999994484338f,  // P
                                       2.340344587753e-7f,
                                       0.000233155194632f,
                                       0.02364336122327f,
                                       0.4621889598665f,
                                       1.0f};  // Q
  const float* c = kNumbers;
  // The compiler must not keep the numbers in registers across the loops around: the kernels need them all.
  asm volatile("" : "+r"(c));
  const auto number = [c](int i) __attribute__((always_inline)) {
    return broadcast(c[i]);
  };
  const VecF u = min(number(2), x * x);  // NaN where x is
  VecF p = fma(u, number(3), number(4));
  p = fma(u, p, number(5));
  p = fma(u, p, number(6));
  VecF q = fma(u, number(7), number(8));
  q = fma(u, q, number(9));
  q = fma(u, q, number(10));
  q = fma(u, q, number(11));
  return quotient(hold_between(x, c) * p, q);
}

}  // namespace mara::simd
