#pragma once
// Targets of value learning: which action counts at the next step, and what a state is worth.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "mara/action/largest_legal.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/learning/gae.hpp"

namespace mara {

/// An option and what it is worth.
template <class S>
struct NextValue {
  int option = -1;
  S value = S(0);
};

/// Value of an agent's next step by the target network. Double Q-learning (van Hasselt, Guez and Silver 2016,
/// eq. 4): of the option that the online network prefers; otherwise of the one that the target network
/// prefers. `online` and `target` are values of the same observation (and memory). Option -1 and NaN when
/// none is legal or a value is not finite. `count` <= 32.
template <class S>
NextValue<S> next_value(const S* online, const S* target, std::size_t count, OptionMask mask,
                        bool double_q) noexcept {
  const OptionMask legal = detail::masked_options(mask, static_cast<int>(count));
  const int option = detail::largest_legal(double_q ? online : target, legal);
  return {option, option < 0 ? std::numeric_limits<S>::quiet_NaN() : target[option]};
}

/// Targets over `rewards.size()` consecutive steps: rewards of up to n steps, then the value of the state
/// that follows (Sutton and Barto 2018, eq. 7.1). next_values[t] belongs to the state after step t; it is
/// used where the n steps, the piece or a truncated episode end, and not after a termination. n >= 1.
template <class S>
void n_step_targets(std::span<const S> rewards, std::span<const S> next_values, std::span<const StepEnd> ends,
                    S gamma, std::size_t n, std::span<S> out) noexcept {
  const std::size_t steps = rewards.size();
  for (std::size_t t = 0; t < steps; ++t) {
    std::size_t last = t;
    while (last + 1 < steps && last + 1 < t + n && ends[last] == StepEnd::kContinues) ++last;
    S value = ends[last] == StepEnd::kTerminated ? S(0) : next_values[last];
    for (std::size_t k = last + 1; k-- > t;) value = rewards[k] + gamma * value;
    out[t] = value;
  }
}

/// TD(lambda) targets (the same, eq. 12.3, as a recursion): G_t = r_t + gamma ((1 - lambda) V + lambda
/// G_{t+1}) with V the value of the next state; where the piece or an episode ends, r_t + gamma V, without V
/// after a termination.
template <class S>
void lambda_targets(std::span<const S> rewards, std::span<const S> next_values, std::span<const StepEnd> ends,
                    S gamma, S lambda, std::span<S> out) noexcept {
  for (std::size_t t = rewards.size(); t-- > 0;) {
    S value = ends[t] == StepEnd::kTerminated ? S(0) : next_values[t];
    if (ends[t] == StepEnd::kContinues && t + 1 < rewards.size())
      value = (S(1) - lambda) * value + lambda * out[t + 1];
    out[t] = rewards[t] + gamma * value;
  }
}

/// target += tau (online - target): slow target networks (Lillicrap et al. 2016, algorithm 1). Spans of one
/// size.
template <class S>
void soft_update(std::span<const S> online, S tau, std::span<S> target) noexcept {
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += tau * (online[i] - target[i]);
}

}  // namespace mara
