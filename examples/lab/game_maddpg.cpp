// MADDPG of mara-lab train.

#include "game_families.hpp"
#include "mara/learning/maddpg.hpp"

namespace lab {

mara::Result<mara::AnyTrainer> begin(const mara::MaddpgConfig& config, const mara::GameMaker& make) {
  return any_trainer<mara::MaddpgTrainer>(config, make);
}

mara::Result<mara::AnyTrainer> make_maddpg(const TrainOptions& options, const mara::GameMaker& make,
                                           std::uint64_t seed, int threads) {
  mara::MaddpgConfig config;
  config.seed = seed;
  config.threads = threads;
  config.actors = team_of(options, config.actors, make(0).shape().agents);
  config.critic_hidden = hidden_widths(options);
  config.episode_steps = options.episode_steps;
  config.rewards = options.reward;
  if (options.environments) config.environments = *options.environments;
  if (options.gamma) config.gamma = *options.gamma;
  if (options.learning_rate) config.learning_rate = config.critic_learning_rate = *options.learning_rate;
  return begin(config, make);
}

}  // namespace lab
