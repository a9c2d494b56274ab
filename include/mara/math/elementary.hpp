#pragma once
// Elementary functions: vectors in float, the C library in double. Every lane is computed alike, so the bits
// of an element do not depend on its place in the array. NaN gives NaN. "Relative error e" below holds where
// the exact value is a normal float; where that is subnormal the result is off by at most 1.2e-38.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mara/core/libm.hpp"
#include "mara/math/simd.hpp"
#include "mara/math/tanh.hpp"
#include "mara/math/transform.hpp"

namespace mara::simd {

namespace detail {
typedef std::uint32_t VecU __attribute__((vector_size(kBytes)));  // shifts and sums that wrap around

/// e^x = 2^n (1 + y) with |x - n ln 2| <= ln(2) / 2. n stands in the low bits of `shifted`.
struct ExpParts {
  VecF shifted, y;
};
/// For -10^6 < x < 10^6. The polynomial has the smallest maximum relative error in e^r - 1: 1.4e-8.
MARA_INLINE ExpParts exp_parts(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  // Adding 1.5 * 2^23 rounds to an integer.
  const VecF shifted = fma(x, c(1.44269504f), c(12582912.0f));
  const VecF n = shifted - c(12582912.0f);
  // ln 2 in two parts, the first with trailing zeros so that n times it is exact.
  const VecF r = fma(n, c(2.12194440e-4f), fma(n, c(-0.693359375f), x));
  VecF q = fma(r, c(0.00138825109755f), c(0.00836658033336f));
  q = fma(r, q, c(0.0416672017651f));
  q = fma(r, q, c(0.166665431781f));
  q = fma(r, q, c(0.499999981441f));
  return {shifted, fma(r * r, q, r)};
}

/// ln(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2), relative error 6e-9 before rounding; also correct for tiny f.
/// f - f^2 / 2 + f^3 P(f).
MARA_INLINE VecF log_near_one(VecF f) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  VecF p = fma(f, c(-0.0763565264132f), c(0.127633248976f));
  p = fma(f, p, c(-0.131605826474f));
  p = fma(f, p, c(0.142015535438f));
  p = fma(f, p, c(-0.166232984069f));
  p = fma(f, p, c(0.200012333505f));
  p = fma(f, p, c(-0.250008227117f));
  p = fma(f, p, c(0.333333316582f));
  const VecF square = f * f;
  return f + fma(square * f, p, c(-0.5f) * square);
}

/// ln x + ln(2) shift for positive normal x; unspecified for other x.
MARA_INLINE VecF log_of_normal(VecF x, VecF shift) noexcept {
  // x = 2^n m with sqrt(1/2) <= m < sqrt(2): distance of the bits to those of sqrt(1/2).
  constexpr std::int32_t kRootHalf = 0x3f3504f3;
  const VecI distance = (VecI)((VecU)x - static_cast<std::uint32_t>(kRootHalf));
  const VecF m = (VecF)((distance & 0x007fffff) + kRootHalf);
  const VecF n = __builtin_convertvector(distance >> 23, VecF) + shift;
  return fma(n, broadcast(0.693359375f),
             fma(n, broadcast(-2.12194440e-4f), log_near_one(m - broadcast(1.0f))));
}

/// f(x[i]) in every lane, for the functions that only the C library has in double.
template <class F>
MARA_INLINE VecD each_lane(VecD x, F&& f) noexcept {
  for (std::size_t i = 0; i < kLanes<double>; ++i) x[i] = f(x[i]);
  return x;
}
}  // namespace detail

/// |x|.
MARA_INLINE VecF abs(VecF x) noexcept {
  return (VecF)((VecI)x & 0x7fffffff);
}
MARA_INLINE VecD abs(VecD x) noexcept {
  return (VecD)((VecL)x & 0x7fffffffffffffffLL);
}

/// tanh, in float as in tanh.hpp.
MARA_INLINE VecD tanh(VecD x) noexcept {
  return detail::each_lane(x, [](double v) { return libm::tanh(v); });
}

/// e^x, relative error 1e-7. 0 where e^x is no normal float (x < -87.3366), infinity above 88.7228.
MARA_INLINE VecF exp(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // A NaN becomes a bound here (min gives its second operand) and returns in the last line but one.
  const detail::ExpParts e = detail::exp_parts(max(min(x, c(88.8f)), c(-87.4f)));
  // 2^n goes straight into the exponent bits; n = 128 is right as long as the product is finite.
  const VecF y = (VecF)((detail::VecU)(c(1.0f) + e.y) + ((detail::VecU)e.shifted << 23));
  const VecF above = select(x <= c(88.7228317f), y, x + c(kInfinity));
  return select(x < c(-87.3365479f), VecF{}, above);
}
MARA_INLINE VecD exp(VecD x) noexcept {
  return detail::each_lane(x, [](double v) { return libm::exp(v); });
}

/// Natural logarithm, relative error 1e-7, subnormal x included. -infinity at 0, NaN below, infinity at
/// infinity.
MARA_INLINE VecF log(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const VecI tiny = x < c(std::numeric_limits<float>::min());
  const VecF y = detail::log_of_normal(select(tiny, x * c(33554432.0f), x), select(tiny, c(-25.0f), VecF{}));
  const VecF outside = select(x == VecF{}, c(-kInfinity), c(std::numeric_limits<float>::quiet_NaN()));
  return select(x > VecF{}, select(x < c(kInfinity), y, x), outside);
}
MARA_INLINE VecD log(VecD x) noexcept {
  return detail::each_lane(x, [](double v) { return libm::log(v); });
}

/// Error function, relative error 3.5e-7, odd, within [-1, 1]. x P(x^2) / Q(x^2) with polynomials of degree
/// 5, fitted to the smallest maximum relative error on [0, 3.92]: 2e-8; beyond, erf is 1 in float.
MARA_INLINE VecF erf(VecF x) noexcept {
  const auto c = [](float value) { return broadcast(value); };
  const VecF u = min(c(15.3664f), x * x);
  VecF p = fma(u, c(2.05384984262e-6f), c(0.000284328153712f));
  p = fma(u, p, c(0.00374259424372f));
  p = fma(u, p, c(0.0526785395002f));
  p = fma(u, p, c(0.189874580288f));
  p = fma(u, p, c(1.1283791671f));
  VecF q = fma(u, c(3.81013495447e-5f), c(0.00115686202739f));
  q = fma(u, q, c(0.0149235213866f));
  q = fma(u, q, c(0.113889233284f));
  q = fma(u, q, c(0.501604909523f));
  q = fma(u, q, c(1.0f));
  return max(c(-1.0f), min(c(1.0f), x * p / q));
}
MARA_INLINE VecD erf(VecD x) noexcept {
  return detail::each_lane(x, [](double v) { return libm::erf(v); });
}

/// 1 / (1 + e^-x), relative error 2e-7.
MARA_INLINE VecF sigmoid(VecF x) noexcept {
  return broadcast(1.0f) / (broadcast(1.0f) + exp(-x));
}
MARA_INLINE VecD sigmoid(VecD x) noexcept {
  return broadcast(1.0) / (broadcast(1.0) + exp(-x));
}

}  // namespace mara::simd

namespace mara::math {

// The same over arrays; in and out may be one array.

/// out[i] = e^in[i].
template <class S>
void exp(const S* in, std::size_t count, S* out) noexcept {
  simd::transform(in, count, out, [](simd::Vec<S> x) { return simd::exp(x); });
}

/// out[i] = ln in[i].
template <class S>
void log(const S* in, std::size_t count, S* out) noexcept {
  simd::transform(in, count, out, [](simd::Vec<S> x) { return simd::log(x); });
}

/// out[i] = tanh in[i].
template <class S>
void tanh(const S* in, std::size_t count, S* out) noexcept {
  simd::transform(in, count, out, [](simd::Vec<S> x) { return simd::tanh(x); });
}

/// out[i] = erf in[i].
template <class S>
void erf(const S* in, std::size_t count, S* out) noexcept {
  simd::transform(in, count, out, [](simd::Vec<S> x) { return simd::erf(x); });
}

/// out[i] = 1 / (1 + e^-in[i]).
template <class S>
void sigmoid(const S* in, std::size_t count, S* out) noexcept {
  simd::transform(in, count, out, [](simd::Vec<S> x) { return simd::sigmoid(x); });
}

}  // namespace mara::math
