#pragma once
// Softmax of one row, plain and with legal-option masks, for training and for acting alike.
//
// With float, probabilities have an absolute error below 3e-7 and logarithms one below 3e-7 (1 + |value|),
// for up to 1000 columns. What is not finite: one NaN or +infinity among the legal numbers of a row makes its
// legal results NaN, and so does a row whose legal numbers all are -infinity; beside finite numbers -infinity
// has probability 0 and logarithm -infinity.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mara/math/elementary.hpp"
#include "mara/math/reduce.hpp"

namespace mara::math {

namespace detail {

/// Lanes as a comparison gives them, for vectors of S.
template <class S>
using LaneMask = std::conditional_t<std::is_same_v<S, float>, simd::VecI, simd::VecL>;
template <class S>
using LaneInteger = std::conditional_t<std::is_same_v<S, float>, std::int32_t, long long>;

/// {first, first + 1, ...}, or {1, 2, 4, ...}.
template <class S>
MARA_INLINE LaneMask<S> lane_numbers() noexcept {
  LaneMask<S> v = {};
  for (std::size_t k = 0; k < simd::kLanes<S>; ++k) v[k] = static_cast<LaneInteger<S>>(k);
  return v;
}
template <class S>
MARA_INLINE LaneMask<S> lane_bits() noexcept {
  LaneMask<S> v = {};
  for (std::size_t k = 0; k < simd::kLanes<S>; ++k) v[k] = LaneInteger<S>{1} << k;
  return v;
}

/// Columns that exist, from column i on.
struct EveryColumn {
  std::size_t count;
  template <class S>
  MARA_INLINE LaneMask<S> lanes(std::size_t i) const noexcept {
    return lane_numbers<S>() < static_cast<LaneInteger<S>>(count - i);
  }
};
/// Columns whose bit is set, from column i on; bits at and above the number of columns must be 0.
struct LegalColumns {
  std::uint32_t mask;
  template <class S>
  MARA_INLINE LaneMask<S> lanes(std::size_t i) const noexcept {
    const auto bits = i < 32 ? static_cast<LaneInteger<S>>(mask >> i) : LaneInteger<S>{0};
    return (lane_bits<S>() & bits) != 0;
  }
};
inline LegalColumns legal_columns(std::uint32_t mask, std::size_t count) noexcept {
  return {count < 32 ? mask & ((std::uint32_t{1} << count) - 1u) : mask};
}

/// Logarithm of the sum of a row, at least 1 and the same in all lanes; NaN for NaN, anything for 0 (a row
/// without a legal column).
template <class S>
MARA_INLINE simd::Vec<S> log_of_total(simd::Vec<S> total) noexcept {
  if constexpr (std::is_same_v<S, float>) {
    return simd::detail::log_of_normal(total, total - total);
  } else {
    return simd::broadcast(std::log(total[0]));
  }
}

/// One row: probabilities of x over the legal columns and 0 for the others; with kLog also their logarithms,
/// unless log_out is null, and log(sum e^x) as the result. kOne: the row fits one vector; the bits are the
/// same.
template <bool kLog, bool kOne, class S, class Columns>
MARA_INLINE S normalise(const S* x, std::size_t count, const Columns& columns, S* log_out,
                        S* probabilities) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  const V none = simd::broadcast(-std::numeric_limits<S>::infinity()), one = simd::broadcast(S(1));
  const auto larger = [](V a, V b) { return simd::max(a, b); };
  const auto read = [count](const S* p, std::size_t i) {
    return count - i < kW ? simd::load_partial(p + i, count - i) : simd::load(p + i);
  };
  const auto write = [count](S* p, std::size_t i, V v) {
    count - i < kW ? simd::store_partial(p + i, v, count - i) : simd::store(p + i, v);
  };
  const auto finish = [&](std::size_t i, V away, V e, V share, V log_total) {
    const auto legal = columns.template lanes<S>(i);
    if (kLog && log_out != nullptr) write(log_out, i, simd::select(legal, away - log_total, V{}));
    write(probabilities, i, simd::select(legal, e * share, V{}));
  };
  // Everything is relative to the largest legal number: no exponential overflows.
  if constexpr (kOne) {
    const auto legal = columns.template lanes<S>(0);
    const V v = read(x, 0), top = fold_lanes<S>(simd::select(legal, v, none), larger), away = v - top;
    const V e = simd::select(legal, simd::exp(away), V{}), total = sum_lanes_everywhere<S>(e);
    const V log_total = kLog ? log_of_total<S>(total) : V{};
    finish(0, away, e, one / total, log_total);
    return top[0] + log_total[0];
  } else {
    V top = none, total = {};
    for (std::size_t i = 0; i < count; i += kW)
      top = larger(top, simd::select(columns.template lanes<S>(i), read(x, i), none));
    top = fold_lanes<S>(top, larger);
    for (std::size_t i = 0; i < count; i += kW) {
      const V e = simd::select(columns.template lanes<S>(i), simd::exp(read(x, i) - top), V{});
      total += e;
      write(probabilities, i, e);
    }
    total = sum_lanes_everywhere<S>(total);
    const V share = one / total, log_total = kLog ? log_of_total<S>(total) : V{};
    for (std::size_t i = 0; i < count; i += kW)
      finish(i, read(x, i) - top, read(probabilities, i), share, log_total);
    return top[0] + log_total[0];
  }
}

template <bool kLog, class S, class Columns>
inline S normalise(const S* x, std::size_t count, const Columns& columns, S* log_out,
                   S* probabilities) noexcept {
  if (count == 0) return -std::numeric_limits<S>::infinity();
  if (count <= simd::kLanes<S>) return normalise<kLog, true>(x, count, columns, log_out, probabilities);
  return normalise<kLog, false>(x, count, columns, log_out, probabilities);
}

}  // namespace detail

/// log_out[i] = log(e^x[i] / sum e^x) and probabilities[i] = e^log_out[i]; finite for finite x. log_out may
/// be x, probabilities may not.
template <class S>
inline void log_softmax_row(const S* x, std::size_t count, S* log_out, S* probabilities) noexcept {
  detail::normalise<true>(x, count, detail::EveryColumn{count}, log_out, probabilities);
}

/// probabilities[i] = e^x[i] / sum e^x; probabilities may be x.
template <class S>
inline void softmax_row(const S* x, std::size_t count, S* probabilities) noexcept {
  detail::normalise<false>(x, count, detail::EveryColumn{count}, static_cast<S*>(nullptr), probabilities);
}

/// The same over the columns whose bit is set in `mask` (count <= 32). For the others, which may hold
/// anything, both log_out and probabilities are exactly 0; so is the whole row when no column is legal.
template <class S>
inline void masked_log_softmax_row(const S* x, std::size_t count, std::uint32_t mask, S* log_out,
                                   S* probabilities) noexcept {
  detail::normalise<true>(x, count, detail::legal_columns(mask, count), log_out, probabilities);
}

/// Probabilities over the columns whose bit is set in `mask` (count <= 32); exactly 0 elsewhere, and
/// everywhere when no column is legal.
template <class S>
inline void masked_softmax_row(const S* x, std::size_t count, std::uint32_t mask, S* probabilities) noexcept {
  detail::normalise<false>(x, count, detail::legal_columns(mask, count), static_cast<S*>(nullptr),
                           probabilities);
}

/// log(sum e^x), without overflow; -infinity for an empty row. Writes probabilities like softmax_row.
template <class S>
inline S log_sum_exp_row(const S* x, std::size_t count, S* probabilities) noexcept {
  return detail::normalise<true>(x, count, detail::EveryColumn{count}, static_cast<S*>(nullptr),
                                 probabilities);
}

}  // namespace mara::math
