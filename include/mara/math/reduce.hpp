#pragma once
// Sums and the like in a fixed order: the bits depend on the numbers and their count only, not on addresses
// or threads.

#include <cstddef>
#include <utility>

#include "mara/math/simd.hpp"

namespace mara::math {

namespace detail {

/// Lane k of the result is lane (k + kBy) % lanes of v.
template <std::size_t kBy, class V, std::size_t... kLane>
MARA_INLINE V rotate_lanes(V v, std::index_sequence<kLane...>) noexcept {
  return __builtin_shufflevector(v, v, static_cast<int>((kLane + kBy) % sizeof...(kLane))...);
}

/// f over all lanes, halves upon halves; the outcome stands in every lane.
template <class S, std::size_t kHalf = simd::kLanes<S> / 2, class F>
MARA_INLINE simd::Vec<S> fold_lanes(simd::Vec<S> v, const F& f) noexcept {
  if constexpr (kHalf == 0) {
    return v;
  } else {
    return fold_lanes<S, kHalf / 2>(f(v, rotate_lanes<kHalf>(v, std::make_index_sequence<simd::kLanes<S>>{})),
                                    f);
  }
}

/// Sum of the lanes, in every lane.
template <class S>
MARA_INLINE simd::Vec<S> sum_lanes_everywhere(simd::Vec<S> v) noexcept {
  return fold_lanes<S>(v, [](simd::Vec<S> a, simd::Vec<S> b) { return a + b; });
}
/// Sum of the lanes.
template <class S>
MARA_INLINE S sum_lanes(simd::Vec<S> v) noexcept {
  return sum_lanes_everywhere<S>(v)[0];
}

/// Sum of term(arrays...) over `count` numbers of each array; term is 0 where it sees zeros.
template <class S, class Term, class... In>
MARA_INLINE S sum_terms(std::size_t count, const Term& term, const In*... in) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  simd::Vec<S> even = {}, odd = {};
  std::size_t i = 0;
  for (; i + 2 * kW <= count; i += 2 * kW) {
    even += term(simd::load(in + i)...);
    odd += term(simd::load(in + i + kW)...);
  }
  for (; i < count; i += kW) {
    const std::size_t lanes = count - i < kW ? count - i : kW;
    even += term(simd::load_partial(in + i, lanes)...);
  }
  return sum_lanes<S>(even + odd);
}

/// A matrix whose rows are `stride` numbers apart; 0: one row that stands for all.
template <class S>
struct Rows {
  const S* data;
  std::size_t stride;
};

/// out[c] = sum over r of term(matrices[r][c]...), added to what is there when `accumulate`. Even and odd
/// rows are summed apart: two chains of additions.
template <class S, class Term, class... In>
MARA_INLINE void column_terms(std::size_t rows, std::size_t cols, bool accumulate, S* out, const Term& term,
                              Rows<In>... in) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  for (std::size_t c = 0; c < cols; c += kW) {
    const std::size_t lanes = cols - c < kW ? cols - c : kW;
    const auto row = [&](std::size_t r) {
      return term(simd::load_partial(in.data + r * in.stride + c, lanes)...);
    };
    simd::Vec<S> even = {}, odd = {};
    std::size_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      even += row(r);
      odd += row(r + 1);
    }
    if (r < rows) even += row(r);
    simd::Vec<S> total = even + odd;
    if (accumulate) total += simd::load_partial(out + c, lanes);
    simd::store_partial(out + c, total, lanes);
  }
}

}  // namespace detail

/// Sum of x[0..count).
template <class S>
S sum(const S* x, std::size_t count) noexcept {
  return detail::sum_terms<S>(
      count, [](simd::Vec<S> v) { return v; }, x);
}

/// Sum of x[i] * weight[i]; an element of weight 0 counts as 0, whatever x[i] is.
template <class S>
S weighted_sum(const S* x, const S* weight, std::size_t count) noexcept {
  using V = simd::Vec<S>;
  return detail::sum_terms<S>(
      count, [](V v, V w) { return simd::select(w == V{}, V{}, v * w); }, x, weight);
}

/// Sum of x[i] * y[i].
template <class S>
S inner_product(const S* x, const S* y, std::size_t count) noexcept {
  using V = simd::Vec<S>;
  return detail::sum_terms<S>(
      count, [](V a, V b) { return a * b; }, x, y);
}

/// out[c] = sum over r of x[r][c], added to what is there when `accumulate`; x is [rows x cols]. Even and odd
/// rows are summed apart, then added.
template <class S>
void column_sums(const S* x, std::size_t rows, std::size_t cols, bool accumulate, S* out) noexcept {
  detail::column_terms(
      rows, cols, accumulate, out, [](simd::Vec<S> v) { return v; }, detail::Rows<S>{x, cols});
}

namespace detail {

/// Sum of x[i]^2 in double.
template <class S>
double sum_of_squares_in_double(const S* x, std::size_t count) noexcept {
  constexpr std::size_t kW = simd::kLanes<double>;
  constexpr std::size_t kChains = 8;  // they hide the latency of fma
  simd::VecD sums[kChains] = {};
  std::size_t i = 0;
  for (; i + kChains * kW <= count; i += kChains * kW) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < kChains; ++c) {
      const simd::VecD p = simd::load_as_double(x + i + c * kW);
      sums[c] = simd::fma(p, p, sums[c]);
    }
  }
  double total = 0.0;
  for (; i < count; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  for (std::size_t c = 1; c < kChains; ++c) sums[0] += sums[c];
  return total + sum_lanes<double>(sums[0]);
}

}  // namespace detail

/// Sum of x[i]^2 with a relative error below 2e-6, of numbers too large or too small to be squared in S, too.
template <class S>
double sum_of_squares(const S* x, std::size_t count) noexcept {
  if constexpr (sizeof(S) == sizeof(double)) return detail::sum_of_squares_in_double(x, count);
  // In S within blocks, where few numbers meet in one lane, and in double over the blocks.
  constexpr std::size_t kChains = 8, kSteps = 8, kW = simd::kLanes<S>;
  constexpr std::size_t kBlock = kChains * kSteps * kW;
  double total = 0.0;
  std::size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    simd::Vec<S> sums[kChains] = {};
    for (std::size_t at = i; at < i + kBlock; at += kChains * kW) {
#pragma GCC unroll 8
      for (std::size_t c = 0; c < kChains; ++c) {
        const simd::Vec<S> v = simd::load(x + at + c * kW);
        sums[c] = simd::fma(v, v, sums[c]);
      }
    }
    total += static_cast<double>(detail::sum_lanes<S>(((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                                                      ((sums[4] + sums[5]) + (sums[6] + sums[7]))));
  }
  total += detail::sum_of_squares_in_double(x + i, count - i);
  return total > 1e-24 && total < 1e36 ? total : detail::sum_of_squares_in_double(x, count);
}

}  // namespace mara::math
