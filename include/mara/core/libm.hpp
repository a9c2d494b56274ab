#pragma once
// The functions of the C library that a deployed actor needs. <cmath> also brings the special functions of
// C++17, which cost a program that embeds an actor more compile time than all of mara's kernels.

#if !defined(__GNUC__)
#error "mara needs the builtin functions of g++ or clang++"
#endif

namespace mara::libm {

// As std::isfinite and so on, of the same bits.
inline bool isfinite(double x) noexcept {
  return __builtin_isfinite(x);
}
inline bool isfinite(float x) noexcept {
  return __builtin_isfinite(x);
}
inline bool isnan(double x) noexcept {
  return __builtin_isnan(x);
}
inline double fabs(double x) noexcept {
  return __builtin_fabs(x);
}
inline float fabs(float x) noexcept {
  return __builtin_fabsf(x);
}
inline double floor(double x) noexcept {
  return __builtin_floor(x);
}
inline double sqrt(double x) noexcept {
  return __builtin_sqrt(x);
}
inline double ldexp(double x, int exponent) noexcept {
  return __builtin_ldexp(x, exponent);
}
inline double nextafter(double from, double to) noexcept {
  return __builtin_nextafter(from, to);
}
inline double exp(double x) noexcept {
  return __builtin_exp(x);
}
inline float exp(float x) noexcept {
  return __builtin_expf(x);
}
inline double expm1(double x) noexcept {
  return __builtin_expm1(x);
}
inline double log(double x) noexcept {
  return __builtin_log(x);
}
inline float log(float x) noexcept {
  return __builtin_logf(x);
}
inline double log10(double x) noexcept {
  return __builtin_log10(x);
}
inline double log1p(double x) noexcept {
  return __builtin_log1p(x);
}
inline double log2(double x) noexcept {
  return __builtin_log2(x);
}
inline double pow(double x, double y) noexcept {
  return __builtin_pow(x, y);
}
inline double tanh(double x) noexcept {
  return __builtin_tanh(x);
}
inline double erf(double x) noexcept {
  return __builtin_erf(x);
}
inline double erfc(double x) noexcept {
  return __builtin_erfc(x);
}

}  // namespace mara::libm
