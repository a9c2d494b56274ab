#pragma once
// Where to start from with games of a few states: small networks, much exploration, thousands of steps. What
// games with known answers are proven with.

#include <cstddef>

#include "mara/learning/maddpg_config.hpp"
#include "mara/learning/q_learning_config.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// The PPO family: rollouts of a few hundred steps in one minibatch. `Config` is that of a TeamPpoTrainer;
/// its critic is left as it is.
template <class Config>
Config small_game_ppo() {
  Config c;
  c.environments = 8;
  c.rollout_steps = 32;
  c.minibatch_steps = 256;
  c.learning_rate = c.critic_learning_rate = 2e-3;
  c.actor.network.hidden = {32};
  c.actor.network.output_gain = 0.01f;
  return c;
}

/// QTrainer of several agents: ids, uniform exploration, transitions. A single agent needs no ids.
inline QLearningConfig small_game_q() {
  QLearningConfig c;
  c.replay_pieces = 1000;
  c.batch = 64;
  c.learning_start = 64;
  c.target_period = 100;
  c.team.network.hidden = {64};
  c.team.agent_ids = true;
  c.mixer.width = 8;
  c.mixer.central_hidden = {32};
  c.optimistic_alpha = 0.1;
  c.epsilon = EpsilonSchedule::constant(1.0);
  return c;
}

/// The same for games of one step with large payoffs: much data and averaged networks, against the noise of
/// samples.
inline QLearningConfig matrix_game_q() {
  QLearningConfig c = small_game_q();
  c.environments = 16;
  c.replay_pieces = 80'000;
  c.batch = 128;
  c.learning_start = 256;
  c.team.network.hidden = {32};
  c.learning_rate = 1e-3;
  c.target_tau = 0.005;
  return c;
}

/// MaddpgTrainer: each of `agents` its own network, small steps often.
inline MaddpgConfig small_game_maddpg(std::size_t agents) {
  MaddpgConfig c;
  c.actors.groups = separate_groups(agents);
  c.batch = 128;
  c.round_steps = 20;
  c.learning_rate = c.critic_learning_rate = 3e-3;
  c.random_steps = 500;
  return c;
}

}  // namespace mara
