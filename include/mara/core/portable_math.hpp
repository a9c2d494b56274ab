#pragma once
// log and exp from IEEE 754 additions, multiplications and divisions alone. The C library's own differ
// between versions, and between processors with and without fused multiply-add; these give the same bits
// everywhere when the compiler does not contract (-ffp-contract=off).

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "mara/core/libm.hpp"

namespace mara {
namespace detail {

/// ln 2 in two parts: the first has 32 significant bits, so that a small integer times it is exact.
inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// c[0] + c[1] x + ... by Horner's rule.
template <std::size_t N>
constexpr double polynomial(const std::array<double, N>& c, double x) noexcept {
  double sum = c[N - 1];
  for (std::size_t i = N - 1; i > 0; --i) sum = sum * x + c[i - 1];
  return sum;
}

/// (atanh(s) - s) / s^3 as a function of s^2, for |s| <= 0.172 (full double precision there).
constexpr double atanh_tail(double s2) noexcept {
  constexpr std::array<double, 10> kSeries{1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                           1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  return polynomial(kSeries, s2);
}

/// 1 / (k + 1)! for k = 0, 1, ...
template <std::size_t N>
constexpr std::array<double, N> inverse_factorials() noexcept {
  std::array<double, N> c{};
  double factorial = 1.0;
  for (std::size_t k = 0; k < N; ++k) c[k] = 1.0 / (factorial *= static_cast<double>(k + 1));
  return c;
}

}  // namespace detail

/// Natural logarithm within 2 ulp. 0 gives -infinity, a negative number or NaN gives NaN.
/// ln(2^e m) = e ln 2 + 2 atanh((m - 1)/(m + 1)), m in [sqrt(1/2), sqrt(2)).
inline double portable_log(double x) noexcept {
  using Limits = std::numeric_limits<double>;
  if (!(x > 0.0)) return x == 0.0 ? -Limits::infinity() : Limits::quiet_NaN();
  if (x > Limits::max()) return x;
  int exponent = 0;
  if (x < Limits::min()) {  // a subnormal number has no implicit leading bit: make it normal first
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m >= 0x1.6a09e667f3bcdp+0) {  // sqrt(2)
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  const double e = exponent;
  return e * detail::kLn2High + (2.0 * s + (2.0 * s * s2 * detail::atanh_tail(s2) + e * detail::kLn2Low));
}

/// e^x within 2 ulp; 0 below the smallest subnormal, infinity above the largest double, NaN for NaN.
/// e^(n ln 2 + r) = 2^n e^r with |r| <= ln(2)/2, e^r from its Taylor series.
inline double portable_exp(double x) noexcept {
  if (!(x < 709.8)) return x > 0.0 ? std::numeric_limits<double>::infinity() : x;  // second: NaN
  if (x < -745.2) return 0.0;
  const double n = libm::floor(x * 0x1.71547652b82fep+0 + 0.5);  // 1/ln 2
  const double r = (x - n * detail::kLn2High) - n * detail::kLn2Low;
  constexpr std::array<double, 14> kSeries = detail::inverse_factorials<14>();  // (e^r - 1) / r
  return libm::ldexp(1.0 + r * detail::polynomial(kSeries, r), static_cast<int>(n));
}

}  // namespace mara
