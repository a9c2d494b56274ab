// The PPO family of mara-lab train.

#include <algorithm>

#include "game_configuration.hpp"
#include "game_families.hpp"
#include "mara/learning/team_ppo.hpp"

namespace lab {
namespace {

nlohmann::ordered_json critic_record(const mara::critic::IndependentValues::Config& c) {
  nlohmann::ordered_json record = network_record(c.network);
  record["agent_ids"] = c.agent_ids;
  record["separate"] = c.separate;
  return record;
}
nlohmann::ordered_json critic_record(const mara::critic::CentralisedValues::Config& c) {
  nlohmann::ordered_json record = network_record(c.network);
  record["agent_ids"] = c.agent_ids;
  record["own_observation"] = c.own_observation;
  return record;
}
nlohmann::ordered_json critic_record(const mara::critic::PooledValues::Config& c) {
  return {{"embedding", c.embedding},
          {"head", c.head},
          {"pooling", c.pooling == mara::critic::Pooling::kMean ? "mean" : "attention"},
          {"attention_heads", c.attention_heads},
          {"global_state", c.global_state},
          {"per_agent", c.per_agent},
          {"activation", mara::name_of(c.activation)}};
}

const char* name_of(mara::AdvantageScope scope) {
  switch (scope) {
    case mara::AdvantageScope::kNone:
      return "none";
    case mara::AdvantageScope::kRollout:
      return "rollout";
    case mara::AdvantageScope::kMinibatch:
      return "minibatch";
  }
  return "";
}

/// The largest divisor of `steps` up to 16: recurrent networks learn in whole sequences of a rollout.
int sequence_within(int steps) {
  int length = std::min(16, steps);
  while (steps % length != 0) --length;
  return length;
}

template <class Critic>
mara::Result<Learner> learner_with(const TrainOptions& options, const mara::GameMaker& make,
                                   std::int64_t schedule_steps, CriticName name,
                                   typename Critic::Config critic) {
  typename mara::TeamPpoTrainer<Critic>::Config c;
  c.critic = std::move(critic);
  c.actor = team_of(options, c.actor, make(0).shape().agents);
  c.total_steps = schedule_steps;
  c.episode_steps = options.episode_steps;
  c.rewards = options.reward;
  set(c.environments, options.environments);
  set(c.rollout_steps, options.collect_steps);
  set(c.reward_scale, options.reward_scale);
  set(c.gamma, options.gamma);
  set(c.learning_rate, options.learning_rate);
  set(c.critic_learning_rate, options.learning_rate);
  set(c.lambda, options.lambda);
  c.sequence_steps = options.sequence_steps.value_or(sequence_within(c.rollout_steps));
  set(c.minibatch_steps, options.batch);
  set(c.epochs, options.epochs);
  set(c.clip, options.clip);
  set(c.entropy_initial, options.entropy);
  set(c.entropy_final, options.entropy);
  Learner learner;
  learner.configuration = {{"environments", c.environments},
                           {"rollout_steps", c.rollout_steps},
                           {"episode_steps", c.episode_steps},
                           {"total_steps", c.total_steps},
                           {"actor", team_record(c.actor)},
                           {"critic_kind", std::string(mara::enum_name(name))},
                           {"critic", critic_record(c.critic)},
                           {"rewards", std::string(mara::enum_name(c.rewards))},
                           {"reward_scale", c.reward_scale},
                           {"box", c.box == mara::BoxKind::kGaussian ? "gaussian" : "tanh gaussian"},
                           {"initial_log_std", c.initial_log_std},
                           {"least_log_std", c.least_log_std},
                           {"gamma", c.gamma},
                           {"lambda", c.lambda},
                           {"clip", c.clip},
                           {"value_clip", c.value_clip},
                           {"huber_delta", c.huber_delta},
                           {"normalise_values", c.normalise_values},
                           {"pop_art", c.pop_art},
                           {"value_normaliser_decay", c.value_normaliser_decay},
                           {"advantages", name_of(c.advantages)},
                           {"epochs", c.epochs},
                           {"minibatch_steps", c.minibatch_steps},
                           {"sequence_steps", c.sequence_steps},
                           {"learning_rate", c.learning_rate},
                           {"critic_learning_rate", c.critic_learning_rate},
                           {"final_rate", c.final_rate},
                           {"adam_epsilon", c.adam_epsilon},
                           {"max_gradient_norm", c.max_gradient_norm},
                           {"entropy_initial", c.entropy_initial},
                           {"entropy_final", c.entropy_final},
                           {"target_kl", c.target_kl}};
  learner.round_steps = std::int64_t{c.environments} * c.rollout_steps;
  learner.begin = [c, make](std::uint64_t seed, int threads) {
    auto config = c;
    config.seed = seed;
    config.threads = threads;
    return any_trainer<mara::TeamPpoTrainer<Critic>>(config, make);
  };
  return learner;
}

}  // namespace

mara::Result<mara::AnyTrainer> begin(const IppoConfig& config, const mara::GameMaker& make) {
  return any_trainer<mara::TeamPpoTrainer<mara::critic::IndependentValues>>(config, make);
}
mara::Result<mara::AnyTrainer> begin(const MappoConfig& config, const mara::GameMaker& make) {
  return any_trainer<mara::TeamPpoTrainer<mara::critic::CentralisedValues>>(config, make);
}

mara::Result<Learner> ppo_learner(const TrainOptions& options, const mara::GameMaker& make,
                                  std::int64_t schedule_steps) {
  using namespace mara::critic;
  if (options.sequence_steps && options.recurrence == mara::Recurrence::kNone)
    return mara::Error{mara::ErrorCode::kInvalidArgument, "--sequence-steps: the learner " +
                                                              std::string(mara::enum_name(options.learner)) +
                                                              " needs --recurrence gru or lstm for it"};
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
      return learner_with<IndependentValues>(options, make, schedule_steps, named, critic);
    }
    case CriticName::kCentralised: {
      CentralisedValues::Config critic;
      critic.network = network;
      critic.agent_ids = own && many;  // the team reward has one value for all
      return learner_with<CentralisedValues>(options, make, schedule_steps, named, critic);
    }
    case CriticName::kPooled:
    case CriticName::kAttention: {
      PooledValues::Config critic;
      if (!hidden.empty()) critic.embedding = critic.head = {hidden.front()};
      critic.pooling = named == CriticName::kPooled ? Pooling::kMean : Pooling::kAttention;
      critic.per_agent = own;
      return learner_with<PooledValues>(options, make, schedule_steps, named, critic);
    }
  }
  return mara::Error{mara::ErrorCode::kInvalidArgument, "--critic: there is no such critic"};
}

}  // namespace lab
