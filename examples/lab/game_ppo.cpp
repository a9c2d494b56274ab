// The PPO family of mara-lab train.

#include <algorithm>

#include "game_families.hpp"
#include "mara/learning/team_ppo.hpp"

namespace lab {
namespace {

template <class Critic>
mara::Result<mara::AnyTrainer> make_with(const TrainOptions& options, const mara::GameMaker& make,
                                         std::uint64_t seed, int threads, typename Critic::Config critic) {
  typename mara::TeamPpoTrainer<Critic>::Config config;
  config.critic = std::move(critic);
  config.seed = seed;
  config.threads = threads;
  config.actor = team_of(options, config.actor, make(0).shape().agents);
  config.total_steps = options.steps;
  config.episode_steps = options.episode_steps;
  config.rewards = options.reward;
  config.sequence_steps = 16;  // of recurrent networks; divides a rollout
  if (options.environments) config.environments = *options.environments;
  if (options.gamma) config.gamma = *options.gamma;
  if (options.learning_rate) config.learning_rate = config.critic_learning_rate = *options.learning_rate;
  return any_trainer<mara::TeamPpoTrainer<Critic>>(config, make);
}

}  // namespace

mara::Result<mara::AnyTrainer> begin(const IppoConfig& config, const mara::GameMaker& make) {
  return any_trainer<mara::TeamPpoTrainer<mara::critic::IndependentValues>>(config, make);
}
mara::Result<mara::AnyTrainer> begin(const MappoConfig& config, const mara::GameMaker& make) {
  return any_trainer<mara::TeamPpoTrainer<mara::critic::CentralisedValues>>(config, make);
}

mara::Result<mara::AnyTrainer> make_ppo(const TrainOptions& options, const mara::GameMaker& make,
                                        std::uint64_t seed, int threads) {
  using namespace mara::critic;
  const std::vector<std::size_t> hidden = hidden_widths(options);
  const bool many = make(0).shape().agents > 1, own = options.reward == mara::RewardKind::kIndividual;
  const CriticName named = options.critic.value_or(
      options.learner == LearnerName::kMappo ? CriticName::kCentralised : CriticName::kIndependent);
  mara::AgentNetworkConfig network;
  network.hidden = hidden;
  switch (named) {
    case CriticName::kIndependent: {
      IndependentValues::Config critic;
      critic.network = network;
      critic.network.recurrence = options.recurrence;
      critic.network.memory_units = static_cast<std::size_t>(options.memory);
      critic.agent_ids = !options.no_ids && many;
      critic.separate = options.separate;
      return make_with<IndependentValues>(options, make, seed, threads, critic);
    }
    case CriticName::kCentralised: {
      CentralisedValues::Config critic;
      critic.network = network;
      critic.agent_ids = own && many;  // the team reward has one value for all
      return make_with<CentralisedValues>(options, make, seed, threads, critic);
    }
    case CriticName::kPooled:
    case CriticName::kAttention: {
      PooledValues::Config critic;
      if (!hidden.empty()) critic.embedding = critic.head = {hidden.front()};
      critic.pooling = named == CriticName::kPooled ? Pooling::kMean : Pooling::kAttention;
      critic.per_agent = own;
      return make_with<PooledValues>(options, make, seed, threads, critic);
    }
  }
  return mara::Error{mara::ErrorCode::kInvalidArgument, "--critic: there is no such critic"};
}

}  // namespace lab
