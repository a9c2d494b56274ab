#pragma once
// Sums in a fixed order: the bits depend on the numbers and their count only, not on addresses or threads.

#include <cstddef>

namespace mara::math {

/// Sum of x[0..count).
template <class S>
S sum(const S* x, std::size_t count) noexcept {
  // Eight partial sums: independent additions that a compiler may put into one vector.
  S part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) part[k] += x[i + k];
  for (std::size_t k = 0; i < count; ++i, ++k) part[k] += x[i];
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/// Sum of x[i] * weight[i]; an element of weight 0 counts as 0, whatever x[i] is.
template <class S>
S weighted_sum(const S* x, const S* weight, std::size_t count) noexcept {
  const auto term = [&](std::size_t i) { return weight[i] == S(0) ? S(0) : x[i] * weight[i]; };
  S part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) part[k] += term(i + k);
  for (std::size_t k = 0; i < count; ++i, ++k) part[k] += term(i);
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/// Sum of x[i]^2, in double.
template <class S>
double sum_of_squares(const S* x, std::size_t count) noexcept {
  const auto term = [&](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); };
  double part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) part[k] += term(i + k);
  for (std::size_t k = 0; i < count; ++i, ++k) part[k] += term(i);
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

}  // namespace mara::math
