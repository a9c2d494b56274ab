#pragma once
// Hyper-parameters of the PPO family for games.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "mara/action/action_distribution.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// Over what advantages get mean 0 and standard deviation 1. Absent agents never count.
enum class AdvantageScope : std::uint8_t { kNone, kRollout, kMinibatch };

/// Networks of the actors by default: those of AgentNetworkConfig with a last layer of gain .01, as in the
/// code published by Yu et al., so that the first policy is nearly uniform (Andrychowicz et al., "What
/// matters in on-policy reinforcement learning? A large-scale empirical study", 2020, section 3.2).
inline TeamConfig team_ppo_actors() {
  TeamConfig actors;
  actors.network.output_gain = 0.01f;
  return actors;
}

/// Clipped policy optimisation of a team. Plain aggregate; `critic` is the configuration of the critic
/// policy. Defaults: Yu et al., "The surprising effectiveness of PPO in cooperative multi-agent games",
/// NeurIPS 2022, appendix C (rates, epsilon of Adam, clip, gamma, lambda, entropy, Huber delta, norm of
/// gradients, values normalised and clipped), with one minibatch where minibatch_steps holds a rollout, and
/// with sequences of 16 steps in place of their chunks of 10, which would not divide a rollout of 128.
template <class CriticConfig>
struct TeamPpoConfig {
  std::uint64_t seed = 1;
  int threads = 1;  ///< rollouts and gradients; results do not depend on it
  int environments = 8;
  int rollout_steps = 128;               ///< per environment and update
  int episode_steps = 0;                 ///< time limit; 0: the game's own only
  std::int64_t total_steps = 1'000'000;  ///< environment steps over which the schedules run

  TeamConfig actor = team_ppo_actors();
  CriticConfig critic{};
  RewardKind rewards = RewardKind::kTeam;
  double reward_scale = 1.0;  ///< rewards are multiplied by it for learning; reports show them as they are

  BoxKind box = BoxKind::kGaussian;
  double initial_log_std = -0.5;  ///< of the numbers of an action; learnt
  double least_log_std = -5.0;    ///< held above this

  double gamma = 0.99, lambda = 0.95;
  double clip = 0.2;             ///< of the probability ratio, around 1
  double value_clip = 0.2;       ///< of the (normalised) value, around the old one; 0: off
  double huber_delta = 10.0;     ///< of the value loss; 0: squared error
  bool normalise_values = true;  ///< running mean and deviation of returns
  bool pop_art = false;          ///< rescale the critic's last layer when these change
  double value_normaliser_decay = 0.99;
  AdvantageScope advantages = AdvantageScope::kRollout;

  int epochs = 10;
  int minibatch_steps = 1024;  ///< environment steps per optimiser step, in whole sequences
  int sequence_steps = 16;     ///< of recurrent networks: gradients go back so far; divides rollout_steps
  double learning_rate = 5e-4, critic_learning_rate = 5e-4;
  double final_rate = 1.0;  ///< share of the rates that is left at the end, along a line
  double adam_epsilon = 1e-5;
  double max_gradient_norm = 10.0;                      ///< of the actor and of the critic; 0: off
  double entropy_initial = 0.01, entropy_final = 0.01;  ///< weight of the bonus, along a line
  double target_kl = 0.0;  ///< actor: no step of this update from the one on that would start beyond 1.5 of
                           ///< it; 0: off
};

/// The first field outside its domain, if any.
template <class C>
Status validate(const TeamPpoConfig<C>& c) {
  const auto bad = [](const char* field, double value, const char* rule) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("team ppo: ") + field + " = " + std::to_string(value) + " " + rule};
  };
  const std::pair<const char*, int> counts[] = {
      {"threads", c.threads}, {"environments", c.environments},       {"rollout_steps", c.rollout_steps},
      {"epochs", c.epochs},   {"minibatch_steps", c.minibatch_steps}, {"sequence_steps", c.sequence_steps}};
  for (const auto& [field, value] : counts)
    if (value < 1) return bad(field, value, "must be at least 1");
  if (c.episode_steps < 0) return bad("episode_steps", c.episode_steps, "must not be negative");
  if (c.total_steps < 1) return bad("total_steps", static_cast<double>(c.total_steps), "must be at least 1");
  const std::pair<const char*, double> positive[] = {{"learning_rate", c.learning_rate},
                                                     {"critic_learning_rate", c.critic_learning_rate},
                                                     {"adam_epsilon", c.adam_epsilon},
                                                     {"reward_scale", c.reward_scale},
                                                     {"clip", c.clip}};
  for (const auto& [field, value] : positive)
    if (!(value > 0.0) || !std::isfinite(value)) return bad(field, value, "must be positive");
  const std::pair<const char*, double> shares[] = {
      {"gamma", c.gamma}, {"lambda", c.lambda}, {"final_rate", c.final_rate}};
  for (const auto& [field, value] : shares)
    if (!(value >= 0.0 && value <= 1.0)) return bad(field, value, "must lie in [0, 1]");
  if (!(c.value_normaliser_decay >= 0.0 && c.value_normaliser_decay < 1.0))
    return bad("value_normaliser_decay", c.value_normaliser_decay, "must lie in [0, 1)");
  const std::pair<const char*, double> weights[] = {{"value_clip", c.value_clip},
                                                    {"huber_delta", c.huber_delta},
                                                    {"max_gradient_norm", c.max_gradient_norm},
                                                    {"entropy_initial", c.entropy_initial},
                                                    {"entropy_final", c.entropy_final},
                                                    {"target_kl", c.target_kl}};
  for (const auto& [field, value] : weights)
    if (!(value >= 0.0) || !std::isfinite(value)) return bad(field, value, "must not be negative");
  if (!std::isfinite(c.initial_log_std)) return bad("initial_log_std", c.initial_log_std, "is not finite");
  if (!(c.least_log_std <= c.initial_log_std))
    return bad("least_log_std", c.least_log_std, "must be at most initial_log_std");
  if (!std::isfinite(c.least_log_std)) return bad("least_log_std", c.least_log_std, "is not finite");
  if (c.pop_art && !c.normalise_values) return bad("pop_art", 1.0, "needs normalise_values");
  return {};
}

}  // namespace mara
