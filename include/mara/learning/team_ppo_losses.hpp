#pragma once
// The losses of PPO for teams on the tape, and what is normalised around them.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/autodiff/tape.hpp"

namespace mara {

/// min(ratio A, clip(ratio, 1 - clip, 1 + clip) A), rows x 1 (Schulman et al., "Proximal policy optimization
/// algorithms", 2017, eq. 7); larger is better. log_ratio, advantage: rows x 1. Where both are equal the
/// gradient of the first is taken.
template <class S>
Var clipped_objective(Tape<S>& tape, Var log_ratio, Var advantage, S clip) {
  const Var ratio = tape.exp(log_ratio);
  return tape.minimum(tape.mul(ratio, advantage),
                      tape.mul(tape.clamp(ratio, S(1) - clip, S(1) + clip), advantage));
}

/// Error of values against targets, rows x 1: squared, or Huber's for huber_delta > 0. With clip > 0 the
/// larger of the errors of the value and of the value held within `clip` of the old one (Schulman et al.'s
/// implementation; Engstrom et al., "Implementation matters in deep policy gradients", ICLR 2020, section 3).
template <class S>
Var clipped_value_error(Tape<S>& tape, Var value, Var old_value, Var target, S clip, S huber_delta) {
  const auto error = [&](Var v) {
    const Var difference = tape.sub(v, target);
    return huber_delta > S(0) ? tape.huber(difference, huber_delta) : tape.square(difference);
  };
  const Var whole = error(value);
  if (!(clip > S(0))) return whole;
  return tape.maximum(whole, error(tape.add(old_value, tape.clamp(tape.sub(value, old_value), -clip, clip))));
}

/// What the ratios of a batch say about the distance of two policies; sums of weighted rows.
struct RatioStatistics {
  double kl = 0.0;  ///< of ratio - 1 - ln ratio (Schulman, "Approximating KL divergence", 2020: k3)
  double clip_fraction = 0.0;  ///< of |ratio - 1| > clip
};
template <class S>
RatioStatistics ratio_statistics(std::span<const S> log_ratios, std::span<const S> weights,
                                 double clip) noexcept {
  RatioStatistics sums;
  for (std::size_t r = 0; r < log_ratios.size(); ++r) {
    const auto log_ratio = static_cast<double>(log_ratios[r]), weight = static_cast<double>(weights[r]);
    const double change = std::expm1(log_ratio);
    sums.kl += weight * (change - log_ratio);
    sums.clip_fraction += std::abs(change) > clip ? weight : 0.0;
  }
  return sums;
}

/// Mean and standard deviation (of the population) of the entries whose `alive` is not 0.
struct AdvantageMoments {
  double mean = 0.0, deviation = 0.0;
  std::size_t count = 0;
};
template <class S>
AdvantageMoments moments_of_alive(std::span<const S> values, std::span<const std::uint8_t> alive) noexcept {
  AdvantageMoments m;
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (alive[i] != 0) {
      sum += static_cast<double>(values[i]);
      ++m.count;
    }
  if (m.count == 0) return m;
  m.mean = sum / static_cast<double>(m.count);
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (alive[i] != 0) {
      const double d = static_cast<double>(values[i]) - m.mean;
      squares += d * d;
    }
  m.deviation = std::sqrt(squares / static_cast<double>(m.count));
  return m;
}

/// (advantage - mean) / (deviation + 1e-8); as it is with fewer than two entries, which have no spread.
inline float normalised_advantage(float advantage, const AdvantageMoments& m) noexcept {
  if (m.count < 2) return advantage;
  return static_cast<float>((static_cast<double>(advantage) - m.mean) / (m.deviation + 1e-8));
}

}  // namespace mara
