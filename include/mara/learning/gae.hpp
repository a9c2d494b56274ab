#pragma once
// Generalised advantage estimation (Schulman et al. 2016), with termination and truncation apart.

#include <cstddef>
#include <cstdint>
#include <span>

namespace mara {

/// What happened after a step.
enum class StepEnd : std::uint8_t {
  kContinues,
  kTerminated,  ///< next value is 0
  kTruncated,   ///< next value is that of the final observation, before the reset
};

/// One-step errors delta_t = r_t + gamma V(next) - V(s_t) of one environment's consecutive steps.
/// `next_value[t]` is V of the state that follows step t: the next step's value, at a truncation that of the
/// final observation, at the end of the rollout the bootstrap value; ignored at a termination.
inline void td_errors(std::span<const float> rewards, std::span<const float> values,
                      std::span<const float> next_values, std::span<const StepEnd> ends, float gamma,
                      std::span<float> out) noexcept {
  for (std::size_t t = 0; t < rewards.size(); ++t) {
    const float next = ends[t] == StepEnd::kTerminated ? 0.0f : next_values[t];
    out[t] = rewards[t] + gamma * next - values[t];
  }
}

/// A_t = delta_t + gamma lambda A_{t+1}, the recursion cut wherever an episode ended (eq. 16). In place.
inline void accumulate_advantages(std::span<float> deltas, std::span<const StepEnd> ends, float gamma,
                                  float lambda) noexcept {
  float running = 0.0f;
  for (std::size_t t = deltas.size(); t-- > 0;) {
    if (ends[t] != StepEnd::kContinues) running = 0.0f;
    running = deltas[t] + gamma * lambda * running;
    deltas[t] = running;
  }
}

}  // namespace mara
