#pragma once
// Softmax of one row, plain and with legal-option masks, for training and for acting alike.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace mara::math {

/// out[i] = log(e^x[i] / sum e^x). NaN in, NaN out in the whole row.
template <class S>
void log_softmax_row(const S* x, std::size_t count, S* out) noexcept {
  S top = -std::numeric_limits<S>::infinity();
  for (std::size_t i = 0; i < count; ++i) top = x[i] > top ? x[i] : top;
  S total = S(0);
  for (std::size_t i = 0; i < count; ++i) total += std::exp(x[i] - top);
  const S shift = std::log(total);
  for (std::size_t i = 0; i < count; ++i) out[i] = (x[i] - top) - shift;
}

/// out[i] = e^x[i] / sum e^x.
template <class S>
void softmax_row(const S* x, std::size_t count, S* out) noexcept {
  S top = -std::numeric_limits<S>::infinity();
  for (std::size_t i = 0; i < count; ++i) top = x[i] > top ? x[i] : top;
  S total = S(0);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = std::exp(x[i] - top);
    total += out[i];
  }
  for (std::size_t i = 0; i < count; ++i) out[i] /= total;
}

/// log_softmax over the columns whose bit is set in `mask` (count <= 32). Other columns get 0; with no legal column
/// all are 0.
template <class S>
void masked_log_softmax_row(const S* x, std::size_t count, std::uint32_t mask, S* out) noexcept {
  const auto legal = [mask](std::size_t i) { return ((mask >> i) & 1u) != 0; };
  S top = -std::numeric_limits<S>::infinity();
  for (std::size_t i = 0; i < count; ++i)
    if (legal(i) && x[i] > top) top = x[i];
  S total = S(0);
  for (std::size_t i = 0; i < count; ++i)
    if (legal(i)) total += std::exp(x[i] - top);
  const S shift = std::log(total);
  for (std::size_t i = 0; i < count; ++i) out[i] = legal(i) ? (x[i] - top) - shift : S(0);
}

/// Probabilities over the columns whose bit is set in `mask` (count <= 32). Other columns get exactly 0; with no
/// legal column all are 0.
template <class S>
void masked_softmax_row(const S* x, std::size_t count, std::uint32_t mask, S* out) noexcept {
  masked_log_softmax_row(x, count, mask, out);
  for (std::size_t i = 0; i < count; ++i) out[i] = ((mask >> i) & 1u) != 0 ? std::exp(out[i]) : S(0);
}

}  // namespace mara::math
