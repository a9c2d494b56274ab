#pragma once
// The losses of MAPPO on the tape.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mara/action/masked_categorical.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/guidance/modes.hpp"

namespace mara {

/// A batch of agent rows, gathered from rollouts.
struct PolicyBatch {
  std::vector<float> inputs, distribution, signals, log_probabilities, advantages, row_weight;
  std::vector<OptionMask> masks;
  std::vector<std::int32_t> options;
  std::size_t rows = 0;
};

/// What the policy loss measured beside its gradient; sums weighted by row_weight.
struct PolicyLossReport {
  double loss = 0.0, entropy = 0.0, approximate_kl = 0.0;
};

/// Adds the gradient of the clipped surrogate (Schulman et al. 2017, eq. 7; one ratio per agent and step),
/// the entropy bonus and the guidance term to `gradients`. Weighted by batch.row_weight, so chunks of a
/// minibatch add up to its mean. Without rows there is no loss and no gradient.
template <class Actor, class Guidance>
PolicyLossReport policy_gradient(Tape<float>& tape, const Actor& actor, const Guidance& guidance,
                                 const PolicyBatch& batch, float clip, float entropy_weight,
                                 std::span<float> gradients) {
  constexpr auto kOptions = static_cast<std::size_t>(Actor::kOutputs);
  if (batch.rows == 0) return {};
  tape.clear();
  const Var x = tape.input(batch.inputs.data(), batch.rows, Actor::kInputs);
  const Var log_p = tape.masked_log_softmax(actor.forward(tape, x, gradients), batch.masks.data());
  const Var taken = tape.gather(log_p, batch.options.data());
  const Var ratio = tape.exp(tape.sub(taken, tape.input(batch.log_probabilities.data(), batch.rows, 1)));
  const Var advantage = tape.input(batch.advantages.data(), batch.rows, 1);
  const Var surrogate = tape.minimum(tape.mul(ratio, advantage),
                                     tape.mul(tape.clamp(ratio, 1.0f - clip, 1.0f + clip), advantage));
  const Var entropy =
      tape.dot(tape.row_sum(tape.mul(tape.exp(log_p), log_p)), batch.row_weight.data());  // negative
  Var loss = tape.add(tape.scale(tape.dot(surrogate, batch.row_weight.data()), -1.0f),
                      tape.scale(entropy, entropy_weight));
  loss = guidance.policy_loss(tape, loss,
                              {log_p, taken, batch.distribution.data(), batch.signals.data(),
                               batch.row_weight.data(), batch.rows, kOptions});
  tape.backward(loss);
  PolicyLossReport report;
  report.loss = static_cast<double>(tape.scalar(loss));
  report.entropy = -static_cast<double>(tape.scalar(entropy));
  const auto log_taken = tape.value(taken);
  for (std::size_t r = 0; r < batch.rows; ++r) {
    report.approximate_kl +=
        static_cast<double>(batch.row_weight[r] * (batch.log_probabilities[r] - log_taken[r]));
  }
  return report;
}

/// A batch of consecutive states for the critic.
struct ValueBatch {
  std::vector<float> states, next_states, targets, alignment, row_weight;
  std::size_t rows = 0;
};

/// Adds the gradient of mean (V(s) - target)^2 (targets normalised) and of the guidance's constraint to the
/// critic's gradients; returns the loss.
template <class Critic, class Guidance>
double value_gradient(Tape<float>& tape, Critic& critic, const Guidance& guidance, const ValueBatch& batch) {
  tape.clear();
  const Var value = critic.values(tape, tape.input(batch.states.data(), batch.rows, Critic::kInputs));
  const Var error = tape.sub(value, tape.input(batch.targets.data(), batch.rows, 1));
  Var loss = tape.dot(tape.square(error), batch.row_weight.data());
  if constexpr (Guidance::kConstrainsCritic) {
    const Var next = critic.values(tape, tape.input(batch.next_states.data(), batch.rows, Critic::kInputs));
    loss = guidance.critic_loss(tape, loss,
                                {value, next, batch.alignment.data(), batch.row_weight.data(), batch.rows});
  }
  tape.backward(loss);
  return static_cast<double>(tape.scalar(loss));
}

}  // namespace mara
