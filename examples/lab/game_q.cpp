// The value-based learners of mara-lab train.

#include <algorithm>

#include "game_families.hpp"
#include "mara/learning/q_learning.hpp"

namespace lab {

mara::Result<mara::AnyTrainer> begin(const mara::QLearningConfig& config, LearnerName kind,
                                     const mara::GameMaker& make) {
  using namespace mara::critic;
  switch (kind) {
    case LearnerName::kVdn:
      return any_trainer<mara::QTrainer<SumMixing>>(config, make);
    case LearnerName::kQmix:
      return any_trainer<mara::QTrainer<MonotonicMixing>>(config, make);
    case LearnerName::kOwQmix:
      return any_trainer<mara::QTrainer<OptimisticMixing>>(config, make);
    default:
      return any_trainer<mara::QTrainer<NoMixing>>(config, make);
  }
}

mara::Result<mara::AnyTrainer> make_q(const TrainOptions& options, const mara::GameMaker& make,
                                      std::uint64_t seed, int threads) {
  mara::QLearningConfig config;
  config.seed = seed;
  config.threads = threads;
  config.team = team_of(options, config.team, make(0).shape().agents);
  config.episode_steps = options.episode_steps;
  config.reward = options.reward;
  if (options.recurrence != mara::Recurrence::kNone) config.sequence_steps = 10;
  // Half of the training explores less and less, the other half little.
  config.epsilon.anneal_steps = static_cast<std::uint64_t>(std::max<std::int64_t>(1, options.steps / 2));
  config.learning_start = std::min<std::int64_t>(500, options.steps / 10);
  if (options.environments) config.environments = static_cast<std::size_t>(*options.environments);
  if (options.gamma) config.gamma = *options.gamma;
  if (options.learning_rate) config.learning_rate = *options.learning_rate;
  return begin(config, options.learner, make);
}

}  // namespace lab
