#pragma once
// Hyper-parameters and reports of PPO.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/math/activation.hpp"

namespace mara {

/// Proximal policy optimisation (Schulman et al. 2017) on a batch of environments. Plain aggregate. Except
/// for `entropy`, the defaults are the settings of rl_tools (Eschmann, Albani and Loianno, "RLtools: a fast,
/// portable deep reinforcement learning library for continuous control", JMLR 25, 2024) for its pendulum, as
/// its sources have them: src/rl/zoo/pendulum-v1/ppo.h (4 environments of 1024 steps, batch, epochs, gamma,
/// hidden widths 64), rl/algorithms/ppo/ppo.h (lambda, clip, standard deviation, advantages normalised in
/// each batch, a shuffle each epoch, observations as they are), rl/algorithms/ppo/loop/core/config.h (relu)
/// and nn/optimizers/adam/adam.h (rate, epsilon; no clipping of gradients).
struct PpoConfig {
  std::uint64_t seed = 1;
  int rollout_steps = 1024;  ///< per environment and update
  int epochs = 2;            ///< passes over a rollout
  int minibatch_rows = 256;  ///< steps of an environment per optimiser step
  double gamma = 0.95, lambda = 0.95;
  double clip = 0.2;                   ///< of the probability ratio, around 1
  double learning_rate = 1e-3;         ///< actor, Adam
  double critic_learning_rate = 1e-3;  ///< critic, Adam
  double adam_epsilon = 1e-7;
  double max_gradient_norm = 0.0;  ///< of actor and critic each; 0: no clipping
  /// Weight of the entropy, nats, in the policy loss. Default: that of Stable-Baselines3 (Raffin et al., JMLR
  /// 22, 2021). rl_tools has 1 for the pendulum, whose rewards go down to -16 a step.
  double entropy = 0.0;
  double initial_std = 0.5;                   ///< of the policy's actions
  double action_scale = 1.0;                  ///< the environment's action for an action of 1 of the policy
  double reward_scale = 1.0;                  ///< what the learner sees of a reward of 1
  bool normalise_advantages = true;           ///< to mean 0, deviation 1 in each minibatch
  Activation activation = Activation::kRelu;  ///< of the hidden layers
};

/// What one update did; losses, entropy and divergence are means over its minibatches.
struct PpoReport {
  std::int64_t env_steps = 0;   ///< so far, all environments together
  double reward = 0.0;          ///< the environment's own, mean over the steps of the rollout
  double episode_return = 0.0;  ///< undiscounted, mean over the episodes that ended; NaN without any
  std::int64_t episodes = 0;    ///< that ended in this rollout
  double policy_loss = 0.0, value_loss = 0.0;
  double entropy = 0.0;  ///< nats
  double approximate_kl =
      0.0;  ///< mean of ratio - 1 - ln ratio (Schulman, "Approximating KL divergence", 2020)
};

/// The first field outside its domain, if any.
inline Status validate(const PpoConfig& c) {
  const auto bad = [](const char* field, double value, const char* rule) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("ppo: ") + field + " = " + std::to_string(value) + " " + rule};
  };
  const std::pair<const char*, int> counts[] = {
      {"rollout_steps", c.rollout_steps}, {"epochs", c.epochs}, {"minibatch_rows", c.minibatch_rows}};
  for (const auto& [field, value] : counts)
    if (value < 1) return bad(field, value, "must be at least 1");
  const std::pair<const char*, double> positive[] = {
      {"learning_rate", c.learning_rate}, {"critic_learning_rate", c.critic_learning_rate},
      {"adam_epsilon", c.adam_epsilon},   {"clip", c.clip},
      {"initial_std", c.initial_std},     {"action_scale", c.action_scale},
      {"reward_scale", c.reward_scale}};
  for (const auto& [field, value] : positive)
    if (!(value > 0.0) || !std::isfinite(value)) return bad(field, value, "must be positive");
  const std::pair<const char*, double> shares[] = {{"gamma", c.gamma}, {"lambda", c.lambda}};
  for (const auto& [field, value] : shares)
    if (!(value >= 0.0 && value <= 1.0)) return bad(field, value, "must lie in [0, 1]");
  const std::pair<const char*, double> weights[] = {{"max_gradient_norm", c.max_gradient_norm},
                                                    {"entropy", c.entropy}};
  for (const auto& [field, value] : weights)
    if (!(value >= 0.0) || !std::isfinite(value)) return bad(field, value, "must not be negative");
  if (static_cast<int>(c.activation) < 0 || static_cast<int>(c.activation) >= kActivations)
    return bad("activation", static_cast<int>(c.activation), "is none");
  return {};
}

}  // namespace mara
