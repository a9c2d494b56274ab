#pragma once
// Hyper-parameters and reports of the MAPPO of the scheduling game.

#include <cstdint>

namespace mara {

/// Multi-agent PPO with a shared actor and a centralised critic (Yu et al. 2022), the learner of the
/// scheduling game: environments of constant extents with one choice per agent, defaults tuned there. For
/// games of any kind see TeamPpoTrainer (learning/team_ppo.hpp). Plain aggregate.
struct MappoConfig {
  std::uint64_t seed = 1;
  int threads = 1;  ///< rollouts and gradients; results do not depend on it
  int environments = 64;
  int rollout_steps = 32;   ///< per environment and update
  int episode_steps = 600;  ///< time limit; 0: the environment's own only
  int group = 16;           ///< environments that share their seeds; their mean TD error is a baseline
  std::int64_t total_steps = 150'000;  ///< environment steps over which the schedules run
  double learning_rate = 2e-3;         ///< actor; falls linearly to final_rate of it
  double critic_learning_rate = 1e-3;
  double final_rate = 0.1;
  double gamma = 0.95, lambda = 0.95;
  double clip = 0.2;
  int epochs = 8;
  int minibatch_rows = 2048;   ///< agent rows per actor step
  int minibatch_states = 512;  ///< states per critic step
  double entropy_initial = 0.01, entropy_final = 0.001;
  double max_gradient_norm = 0.5;
  double value_normaliser_decay = 0.99;
};

/// What one update did. Means over the rollout; the return is always the unshaped team reward.
struct MappoReport {
  std::int64_t env_steps = 0;  ///< so far, all environments together
  double team_reward = 0.0;    ///< unshaped, per step
  double shaped_reward = 0.0;  ///< with the auxiliary reward, per step
  double policy_loss = 0.0, value_loss = 0.0, entropy = 0.0, approximate_kl = 0.0;
  double agents = 0.0;  ///< mean number per step
};

}  // namespace mara
