#pragma once
// Hyper-parameters of the DQN and value-decomposition family.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "mara/action/exploration.hpp"
#include "mara/critic/mixer_config.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

enum class OptimiserKind : std::uint8_t { kAdam, kRmsProp };

/// Q-learning with replay: IQL and DQN, VDN, QMIX, weighted QMIX. Plain aggregate. Defaults: PyMARL
/// (Samvelyan et al., "The StarCraft Multi-Agent Challenge", 2019, appendix: learning rate, batch, replay,
/// clipping, target period, epsilon) and EPyMARL (Papoudakis et al., "Benchmarking multi-agent deep
/// reinforcement learning algorithms in cooperative tasks", NeurIPS 2021: Adam, double Q); others are named.
struct QLearningConfig {
  std::uint64_t seed = 1;
  int threads = 1;                 ///< that play; results do not depend on it
  std::size_t environments = 1;    ///< played at once
  std::int32_t episode_steps = 0;  ///< time limit; 0: the game's own only

  std::size_t collect_steps = 1;    ///< of every environment in a round
  std::size_t updates = 1;          ///< optimiser steps in a round
  std::int64_t learning_start = 0;  ///< environment steps before the first optimiser step

  std::size_t sequence_steps =
      1;  ///< of a piece of replay: 1 for transitions, say an episode for recurrent agents
  std::size_t replay_pieces = 5000;  ///< most pieces kept; QTrainer::replay_bytes() says the memory
  std::size_t batch = 32;            ///< pieces per optimiser step
  /// Steps of a piece that only warm up the memory of recurrent agents (Kapturowski et al., "Recurrent
  /// experience replay in distributed reinforcement learning", ICLR 2019); none in pieces that begin an
  /// episode.
  std::size_t burn_in = 0;
  double priority_alpha = 0.0;  ///< 0: uniform replay; Schaul et al. 2016: 0.6
  double priority_beta = 0.4;   ///< at first, and 1 after priority_beta_steps optimiser steps
  std::int64_t priority_beta_steps = 100'000;

  double gamma = 0.99;
  std::size_t n_step = 1;                 ///< steps of reward in a target, within a piece
  double lambda = 0.0;                    ///< above 0: TD(lambda) targets within a piece instead of n steps
  bool double_q = true;                   ///< van Hasselt, Guez and Silver 2016
  RewardKind reward = RewardKind::kTeam;  ///< a mixed value learns from the sum of individual rewards
  double reward_scale = 1.0;  ///< rewards are multiplied by it for learning; reports show them as they are
  /// Next values are held within what the rewards learnt from so far allow: no state is worth more than the
  /// largest of them for ever, nor less than the smallest, and an end is worth 0. What follows from
  /// these rewards never leaves the bounds; but the mixer of QMIX multiplies three functions of the state, so
  /// that beyond the states it has seen it grows without limit, and through time limits, whose final states
  /// are nobody's first, into all values. (Andrychowicz et al., "Hindsight experience replay", 2017, bound
  /// targets by known returns.)
  bool bound_values = true;
  double huber = 0.0;  ///< above 0: the loss is linear beyond this error (DQN: 1); 0: squared error

  TeamConfig team{};              ///< networks; team.network.dueling for dueling ones
  MixerConfig mixer{};            ///< where there is a mixer
  double optimistic_alpha = 0.5;  ///< weight of what is above its target (Rashid et al. 2020: 0.5 or 0.1)

  OptimiserKind optimiser = OptimiserKind::kAdam;  ///< PyMARL: RMSprop, decay 0.99, epsilon 1e-5
  double learning_rate = 5e-4;
  double final_rate = 1.0;              ///< share of the rate that is left after rate_steps, along a line
  std::int64_t rate_steps = 1'000'000;  ///< environment steps over which the rate falls
  double max_gradient_norm = 10.0;      ///< 0: no clipping
  std::int64_t target_period = 200;     ///< optimiser steps between copies to the target networks
  double target_tau =
      0.0;  ///< above 0: targets follow with this rate at every step instead (Lillicrap et al. 2016)
  EpsilonSchedule epsilon{};         ///< of environment steps
  ParameterNoise parameter_noise{};  ///< of what is played with; off by default
};

/// The first field outside its domain, if any; what the networks and games need is checked where they are
/// made.
inline Status validate(const QLearningConfig& c) {
  const auto bad = [](const char* field, double value, const char* rule) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("q learning: ") + field + " = " + std::to_string(value) + " " + rule};
  };
  const std::pair<const char*, double> counts[] = {
      {"threads", static_cast<double>(c.threads)},
      {"environments", static_cast<double>(c.environments)},
      {"collect_steps", static_cast<double>(c.collect_steps)},
      {"sequence_steps", static_cast<double>(c.sequence_steps)},
      {"replay_pieces", static_cast<double>(c.replay_pieces)},
      {"batch", static_cast<double>(c.batch)},
      {"n_step", static_cast<double>(c.n_step)},
      {"target_period", static_cast<double>(c.target_period)},
      {"priority_beta_steps", static_cast<double>(c.priority_beta_steps)},
      {"rate_steps", static_cast<double>(c.rate_steps)}};
  for (const auto& [field, value] : counts) {
    if (!(value >= 1.0)) return bad(field, value, "must be at least 1");
    if (value > static_cast<double>(kLargestCount)) return bad(field, value, "must be at most 2^31");
  }
  const std::pair<const char*, double> shares[] = {{"gamma", c.gamma},
                                                   {"lambda", c.lambda},
                                                   {"priority_alpha", c.priority_alpha},
                                                   {"priority_beta", c.priority_beta},
                                                   {"target_tau", c.target_tau},
                                                   {"final_rate", c.final_rate},
                                                   {"optimistic_alpha", c.optimistic_alpha}};
  for (const auto& [field, value] : shares)
    if (!(value >= 0.0 && value <= 1.0)) return bad(field, value, "must lie in [0, 1]");
  const std::pair<const char*, double> amounts[] = {
      {"huber", c.huber},
      {"max_gradient_norm", c.max_gradient_norm},
      {"episode_steps", c.episode_steps},
      {"learning_start", static_cast<double>(c.learning_start)}};
  for (const auto& [field, value] : amounts)
    if (!(value >= 0.0) || !std::isfinite(value)) return bad(field, value, "must not be negative");
  if (!(c.learning_rate > 0.0) || !std::isfinite(c.learning_rate))
    return bad("learning_rate", c.learning_rate, "must be positive");
  if (!(c.reward_scale > 0.0) || !std::isfinite(c.reward_scale))
    return bad("reward_scale", c.reward_scale, "must be positive");
  const auto pieces = [&](const char* field, double value, const char* rule) {
    return bad(field, value,
               (std::string(rule) + ", sequence_steps = " + std::to_string(c.sequence_steps)).c_str());
  };
  if (c.burn_in >= c.sequence_steps)
    return pieces("burn_in", static_cast<double>(c.burn_in), "must be less than sequence_steps");
  if (c.n_step > c.sequence_steps)
    return pieces("n_step", static_cast<double>(c.n_step), "does not fit into a piece");
  if (c.lambda > 0.0 && c.sequence_steps == 1)
    return pieces("lambda", c.lambda, "needs pieces of several steps");
  const bool recurrent = any_network(
      c.team, [](const AgentNetworkConfig& network) { return network.recurrence != Recurrence::kNone; });
  if (recurrent && c.sequence_steps == 1)
    return Error{ErrorCode::kInvalidArgument,
                 "q learning: sequence_steps = 1, recurrent agents need pieces of several steps"};
  if (c.reward > RewardKind::kIndividual) return bad("reward", static_cast<double>(c.reward), "is none");
  if (c.optimiser > OptimiserKind::kRmsProp)
    return bad("optimiser", static_cast<double>(c.optimiser), "is none");
  if (const Status noise = c.parameter_noise.check(); !noise)
    return Error{noise.error().code, "q learning: " + noise.error().message};
  return c.epsilon.check();
}

}  // namespace mara
