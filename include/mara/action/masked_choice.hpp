#pragma once
// Choosing one of at most 32 options by masked logits without the whole distribution: for decisions that need
// neither probabilities nor entropy.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "mara/action/masked_categorical.hpp"
#include "mara/core/random.hpp"
#include "mara/math/elementary.hpp"

namespace mara {

namespace detail {
/// Bits of the mask that stand for one of `options` options.
constexpr OptionMask masked_options(OptionMask mask, int options) noexcept {
  return options >= 32 ? mask : mask & ((OptionMask{1} << options) - 1u);
}
}  // namespace detail

/// The legal option with the largest logit (lowest index among equals); -1 when none is legal or the logit of
/// a legal one is not finite. logits[options], 1 <= options <= 32. The same as MaskedCategorical::mode().
inline int masked_mode(const float* logits, int options, OptionMask mask) noexcept {
  int best = -1;
  float largest = 0.0f, check = 0.0f;
  for (OptionMask left = detail::masked_options(mask, options); left != 0; left &= left - 1) {
    const int a = std::countr_zero(left);
    check += logits[a] * 0.0f;  // stays 0 while all are finite
    if (best >= 0 && !(logits[a] > largest)) continue;
    best = a;
    largest = logits[a];
  }
  return check == 0.0f ? best : -1;
}

/// A legal option drawn from the masked softmax of logits[options], 1 <= options <= 32; -1 as in
/// masked_mode(). Two words of `random`, none when it answers -1. An option whose probability is below 1e-38
/// is never drawn.
inline int masked_sample(const float* logits, int options, OptionMask mask, Random& random) noexcept {
  const int best = masked_mode(logits, options, mask);
  if (best < 0) return -1;
  constexpr std::size_t kMost = 32, kW = simd::kLanes<float>;
  alignas(64) float weights[kMost];
  const simd::VecF largest = simd::broadcast(logits[best]);
  const auto count = static_cast<std::size_t>(options);
  for (std::size_t a = 0; a < count; a += kW) {
    const std::size_t lanes = count - a < kW ? count - a : kW;
    simd::store(weights + a, simd::exp(simd::load_partial(logits + a, lanes) - largest));
  }
  const OptionMask legal = detail::masked_options(mask, options);
  float sum = 0.0f;
  for (OptionMask left = legal; left != 0; left &= left - 1) sum += weights[std::countr_zero(left)];
  const float threshold = static_cast<float>(random.uniform()) * sum;
  float cumulative = 0.0f;
  int last = best;
  for (OptionMask left = legal; left != 0; left &= left - 1) {
    const int a = std::countr_zero(left);
    cumulative += weights[a];
    if (weights[a] > 0.0f) last = a;
    if (threshold < cumulative) return a;
  }
  return last;  // rounding left the threshold at the sum
}

}  // namespace mara
