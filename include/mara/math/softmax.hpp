#pragma once
// Softmax of one row, plain and with legal-option masks, for training and for acting alike.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "mara/math/elementary.hpp"
#include "mara/math/reduce.hpp"

namespace mara::math {

namespace detail {
/// Probabilities of x over the options for which legal(i), 0 for the others, and the logarithm of the sum of
/// e^(x - top), with top the largest legal x.
template <class S>
struct Normaliser {
  S top, log_total;
};
template <class S, class Legal>
inline Normaliser<S> normalise(const S* x, std::size_t count, const Legal& legal, S* probabilities) noexcept {
  constexpr S kNone = -std::numeric_limits<S>::infinity();
  S top = kNone;
  for (std::size_t i = 0; i < count; ++i)
    if (legal(i) && x[i] > top) top = x[i];
  for (std::size_t i = 0; i < count; ++i) probabilities[i] = legal(i) ? x[i] - top : kNone;
  exp(probabilities, count, probabilities);
  const S total = sum(probabilities, count);
  const S share = S(1) / total;
  for (std::size_t i = 0; i < count; ++i) probabilities[i] = legal(i) ? probabilities[i] * share : S(0);
  return {top, std::log(total)};
}
}  // namespace detail

/// log_out[i] = log(e^x[i] / sum e^x) and probabilities[i] = e^log_out[i]; finite for finite x. One NaN makes
/// the whole row NaN.
template <class S>
inline void log_softmax_row(const S* x, std::size_t count, S* log_out, S* probabilities) noexcept {
  const auto n = detail::normalise(
      x, count, [](std::size_t) { return true; }, probabilities);
  for (std::size_t i = 0; i < count; ++i) log_out[i] = (x[i] - n.top) - n.log_total;
}

/// probabilities[i] = e^x[i] / sum e^x.
template <class S>
inline void softmax_row(const S* x, std::size_t count, S* probabilities) noexcept {
  detail::normalise(
      x, count, [](std::size_t) { return true; }, probabilities);
}

/// The same over the columns whose bit is set in `mask` (count <= 32). For the others both log_out and
/// probabilities are exactly 0; so is the whole row when no column is legal.
template <class S>
inline void masked_log_softmax_row(const S* x, std::size_t count, std::uint32_t mask, S* log_out,
                                   S* probabilities) noexcept {
  const auto legal = [mask](std::size_t i) { return ((mask >> i) & 1u) != 0; };
  const auto n = detail::normalise(x, count, legal, probabilities);
  for (std::size_t i = 0; i < count; ++i) log_out[i] = legal(i) ? (x[i] - n.top) - n.log_total : S(0);
}

/// Probabilities over the columns whose bit is set in `mask` (count <= 32); exactly 0 elsewhere, and
/// everywhere when no column is legal.
template <class S>
inline void masked_softmax_row(const S* x, std::size_t count, std::uint32_t mask, S* probabilities) noexcept {
  detail::normalise(
      x, count, [mask](std::size_t i) { return ((mask >> i) & 1u) != 0; }, probabilities);
}

}  // namespace mara::math
