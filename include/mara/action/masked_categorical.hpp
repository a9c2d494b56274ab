#pragma once
// Categorical distribution over at most 32 options of which some are illegal.

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"

namespace mara {

/// Bit a is set when option a is legal.
using OptionMask = std::uint32_t;

/// A masked softmax over logits[Options] (case A7 of multi-agent test suites: illegal options have
/// probability exactly 0; entropy counts legal ones only). A mask without a legal option, or a logit that is
/// not finite among the legal ones, makes the distribution invalid: probabilities 0, sample() and mode()
/// return -1.
template <int Options>
class MaskedCategorical {
  static_assert(Options >= 1 && Options <= 32, "MaskedCategorical: between 1 and 32 options");

 public:
  /// From logits[Options]; bits of the mask past the last option do not count.
  MaskedCategorical(const float* logits, OptionMask mask) noexcept : mask_(mask & kAll) {
    float largest = -std::numeric_limits<float>::infinity();
    for (int a = 0; a < Options; ++a) {
      if (!legal(a)) continue;
      if (!libm::isfinite(logits[a])) {
        mask_ = 0;
        break;
      }
      if (logits[a] > largest) {
        largest = logits[a];
        mode_ = a;
      }
    }
    if (mask_ == 0) mode_ = -1;
    float sum = 0.0f;
    for (int a = 0; a < Options; ++a) {
      shifted_[a] = legal(a) ? logits[a] - largest : 0.0f;
      probability_[a] = legal(a) ? libm::exp(shifted_[a]) : 0.0f;
      sum += probability_[a];
    }
    if (mask_ == 0) return;
    log_sum_ = libm::log(sum);
    for (float& p : probability_) p /= sum;
  }

  /// Whether there is anything to choose from.
  bool valid() const noexcept { return mask_ != 0; }
  /// p(option) for an option in [0, Options); 0 for an illegal one.
  float probability(int option) const noexcept { return probability_[option]; }
  /// log p(option); -infinity for an illegal one.
  float log_probability(int option) const noexcept {
    return legal(option) ? shifted_[option] - log_sum_ : -std::numeric_limits<float>::infinity();
  }
  /// The legal option with the largest logit (lowest index among equals), or -1.
  int mode() const noexcept { return mode_; }
  /// A legal option drawn with its probability, or -1. Two words of `random`, none when invalid.
  int sample(Random& random) const noexcept {
    if (!valid()) return -1;
    const float u = static_cast<float>(random.uniform());
    float cumulative = 0.0f;
    int last = -1;
    for (int a = 0; a < Options; ++a) {
      if (!legal(a)) continue;
      cumulative += probability_[a];
      if (probability_[a] > 0.0f) last = a;
      if (u < cumulative) return a;
    }
    return last;  // rounding left u above the sum; never an option whose probability underflowed
  }
  /// -sum p log p over the legal options, nats.
  float entropy() const noexcept {
    float h = 0.0f;
    for (int a = 0; a < Options; ++a)
      if (probability_[a] > 0.0f) h -= probability_[a] * (shifted_[a] - log_sum_);
    return h;
  }

 private:
  static constexpr OptionMask kAll = Options == 32 ? ~OptionMask{0} : (OptionMask{1} << Options) - 1;
  bool legal(int a) const noexcept { return (mask_ >> a) & 1u; }
  OptionMask mask_;
  int mode_ = -1;
  float log_sum_ = 0.0f;
  float shifted_[Options];
  float probability_[Options] = {};
};

}  // namespace mara
