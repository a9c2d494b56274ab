#pragma once
// Gradients of the losses of PPO for teams, for one chunk of a minibatch.

#include <cstddef>
#include <span>
#include <vector>

#include "mara/guidance/modes.hpp"
#include "mara/learning/team_ppo_batch.hpp"
#include "mara/learning/team_ppo_losses.hpp"

namespace mara {

/// Weights and bounds of the losses.
struct TeamLossConfig {
  float clip = 0.2f, entropy_weight = 0.0f;
  float value_clip = 0.0f, huber_delta = 0.0f;
};

/// What the losses of a chunk measured; sums weighted by the weights of the rows, so that chunks add up.
struct TeamLossReport {
  double policy_loss = 0.0, entropy = 0.0, value_loss = 0.0;
  RatioStatistics ratios;
};

/// Adds the gradient of the policy's loss to gradients[actor.stored()]: minus the clipped objective, minus
/// entropy_weight times the entropy, and the term of the guidance. One ratio per agent and step. Without live
/// rows there is neither loss nor gradient. Errors: shapes that do not agree (kShapeMismatch).
template <guidance::Mode Guidance>
Status team_policy_gradient(Tape<float>& tape, const TeamActor& actor, const float* storage,
                            const Guidance& guidance, bool guided, const TeamBatch& b,
                            const TeamLossConfig& config, std::span<float> gradients,
                            TeamLossReport& report) {
  const std::size_t rows = b.live.size(), numbers = actor.shape().action.numbers();
  const std::size_t heads = actor.shape().action.choices();
  if (rows == 0) return {};
  tape.clear();
  Var outputs =
      actor.team().forward(tape, storage, gradients.data(), b.observations.data(), b.steps, b.count,
                           b.actor_memory.empty() ? nullptr : b.actor_memory.data(), b.arrived.data());
  if (rows != b.present.size() || b.group_ends.size() > 1)
    outputs = tape.gather_rows(outputs, b.live.data(), rows);
  std::vector<Var> log_probabilities, entropies;
  Var of_options;  // the guidance's: of games with one choice
  std::size_t first = 0;
  for (std::size_t g = 0; g < b.group_ends.size(); ++g) {
    const std::size_t count = b.group_ends[g] - first;
    if (count == 0) continue;
    Var log_std{};
    if (numbers > 0) {
      const std::size_t at = actor.log_std_at() + g * numbers;
      log_std = tape.variable(storage + at, gradients.data() + at, 1, numbers);
    }
    const Var part = count == rows ? outputs : tape.slice_rows(outputs, first, count);
    const auto terms =
        actor.distribution().terms(tape, part, log_std,
                                   {count, b.masks.data() + first * heads, b.options.data() + first * heads,
                                    b.latents.data() + first * numbers});
    log_probabilities.push_back(terms.log_probability);
    entropies.push_back(terms.entropy);
    if (guided && !terms.log_probabilities.empty())
      of_options = of_options.valid() ? tape.concat_rows(of_options, terms.log_probabilities[0])
                                      : terms.log_probabilities[0];
    first += count;
  }
  const auto joined = [&tape](const std::vector<Var>& parts) {
    return parts.size() == 1 ? parts[0] : tape.concat_rows(parts);
  };
  const Var taken = joined(log_probabilities);
  const Var log_ratio = tape.sub(taken, tape.input(b.log_probabilities.data(), rows, 1));
  const Var objective =
      clipped_objective(tape, log_ratio, tape.input(b.advantages.data(), rows, 1), config.clip);
  const Var entropy = tape.dot(joined(entropies), b.weights.data());
  Var loss = tape.sub(tape.scale(tape.dot(objective, b.weights.data()), -1.0f),
                      tape.scale(entropy, config.entropy_weight));
  if (guided)
    loss = guidance.policy_loss(tape, loss,
                                {of_options, taken, b.distribution.data(), b.signals.data(), b.weights.data(),
                                 rows, actor.shape().action.options()});
  if (!tape.status()) return tape.status();
  tape.backward(loss);
  report.policy_loss += static_cast<double>(tape.scalar(loss));
  report.entropy += static_cast<double>(tape.scalar(entropy));
  const RatioStatistics ratios =
      ratio_statistics<float>(tape.value(log_ratio), b.weights, static_cast<double>(config.clip));
  report.ratios.kl += ratios.kl;
  report.ratios.clip_fraction += ratios.clip_fraction;
  return {};
}

/// Adds the gradient of the value loss, weighted by value_weights, and of the guidance's constraint to
/// gradients[critic.stored()]. Targets and old values are normalised. Errors: as above.
template <critic::ValueCritic Critic, guidance::Mode Guidance>
Status team_value_gradient(Tape<float>& tape, const Critic& critic, const float* storage,
                           const Guidance& guidance, bool constrained, const TeamBatch& b,
                           const TeamLossConfig& config, std::span<float> gradients, TeamLossReport& report) {
  tape.clear();
  const std::size_t rows = b.targets.size();
  const Var value = critic.forward(tape, storage, gradients.data(), b.value_rows(),
                                   b.critic_memory.empty() ? nullptr : b.critic_memory.data());
  const Var error =
      clipped_value_error(tape, value, tape.input(b.old_values.data(), rows, 1),
                          tape.input(b.targets.data(), rows, 1), config.value_clip, config.huber_delta);
  Var loss = tape.dot(error, b.value_weights.data());
  if constexpr (Guidance::kConstrainsCritic) {
    if (constrained) {
      critic::ValueRows following = b.value_rows();
      following.states = b.next_states.data(), following.observations = b.next_observations.data();
      following.present = b.next_present.data();
      const Var next = critic.forward(tape, storage, gradients.data(), following, nullptr);
      loss =
          guidance.critic_loss(tape, loss, {value, next, b.alignment.data(), b.value_weights.data(), rows});
    }
  }
  if (!tape.status()) return tape.status();
  tape.backward(loss);
  report.value_loss += static_cast<double>(tape.scalar(loss));
  return {};
}

}  // namespace mara
