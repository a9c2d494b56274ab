#pragma once
// Beginning of TeamPpoTrainer.

#include <type_traits>

#include "mara/learning/team_ppo.hpp"

namespace mara {

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::check(const Config& config, const TeamActor& actor, const C& critic,
                                   const TeamGuidance& source) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, "team ppo: " + what};
  };
  if (config.rewards == RewardKind::kIndividual && !critic.per_agent())
    return bad("rewards = individual needs a critic that says a value for every agent");
  if ((actor.memory() > 0 || critic.memory() > 0) && config.rollout_steps % config.sequence_steps != 0)
    return bad("sequence_steps = " + std::to_string(config.sequence_steps) +
               " does not divide rollout_steps = " + std::to_string(config.rollout_steps));
  if constexpr (G::kUsesField) {
    if (!source.distribution && !source.potential)
      return bad("guidance: neither a distribution nor a potential is given");
    if (source.distribution && (actor.shape().action.choices() != 1 || actor.shape().action.numbers() != 0))
      return bad("guidance: a distribution is for games of one choice, this one has " +
                 std::to_string(actor.shape().action.choices()) + " and " +
                 std::to_string(actor.shape().action.numbers()) + " numbers");
    if (G::kConstrainsCritic && critic.memory() > 0)
      return bad("guidance: the constraint of the critic needs a critic without memory");
  }
  return {};
}

template <critic::ValueCritic C, guidance::Mode G>
Result<std::unique_ptr<TeamPpoTrainer<C, G>>> TeamPpoTrainer<C, G>::create(const Config& config,
                                                                           const GameMaker& make, G guidance,
                                                                           TeamGuidance source) {
  if (const Status valid = validate(config); !valid) return valid.error();
  const GameShape shape = make(0).shape();
  auto actor = TeamActor::create(config.actor, config.box, shape);
  if (!actor) return Error{actor.error().code, "team ppo: actor: " + actor.error().message};
  auto critic = C::create(config.critic, shape);
  if (!critic) return Error{critic.error().code, "team ppo: critic: " + critic.error().message};
  if (const Status fine = check(config, *actor, *critic, source); !fine) return fine.error();
  if (source.check) {
    if (const Status known = source.check(make(0)); !known)
      return Error{known.error().code, "team ppo: guidance: " + known.error().message};
  }
  std::unique_ptr<TeamPpoTrainer> trainer(
      new TeamPpoTrainer(config, make, std::move(guidance), std::move(source),
                         std::make_shared<const TeamActor>(std::move(*actor)), std::move(*critic)));
  for (std::size_t e = 0; e < trainer->players_.size(); ++e) {
    GameRunner& runner = trainer->players_[e].runner;
    if (!(runner.shape() == shape))
      return Error{ErrorCode::kInvalidArgument,
                   "team ppo: game " + std::to_string(e) + " has another shape than game 0"};
    if (const Status begun = runner.begin(trainer->episode_seed(e, 0)); !begun)
      return Error{begun.error().code, "team ppo: " + begun.error().message};
  }
  return trainer;
}

template <critic::ValueCritic C, guidance::Mode G>
TeamPpoTrainer<C, G>::TeamPpoTrainer(const Config& config, const GameMaker& make, G guidance,
                                     TeamGuidance source, std::shared_ptr<const TeamActor> actor, C critic)
    : config_(config),
      make_(make),
      guidance_(std::move(guidance)),
      source_(std::move(source)),
      actor_(std::move(actor)),
      critic_(std::move(critic)),
      shuffle_(config.seed, 2),
      actor_weights_(actor_->stored()),
      critic_weights_(critic_.stored()),
      actor_adam_(actor_->stored(), adam_config(config, config.learning_rate)),
      critic_adam_(critic_.stored(), adam_config(config, config.critic_learning_rate)),
      normaliser_(config.value_normaliser_decay),
      pool_(config.threads) {
  Random initial(config.seed, 1);
  actor_->initialise(initial, static_cast<float>(config.initial_log_std), actor_weights_.data());
  critic_.initialise(initial, critic_weights_.data());
  const GameShape& shape = actor_->shape();
  const bool recurrent = actor_->memory() > 0 || critic_.memory() > 0;
  batch_shape_ = {.observation = shape.observation,
                  .state = shape.state,
                  .heads = shape.action.choices(),
                  .options = shape.action.options(),
                  .numbers = shape.action.numbers(),
                  .actor_memory = actor_->memory(),
                  .critic_memory = critic_.memory(),
                  .sequence_steps = recurrent ? static_cast<std::size_t>(config.sequence_steps) : 1,
                  .guided = G::kUsesField && static_cast<bool>(source_.distribution),
                  .following = G::kConstrainsCritic};
  const auto environments = static_cast<std::size_t>(config.environments);
  players_.reserve(environments);
  for (std::size_t e = 0; e < environments; ++e)
    players_.emplace_back(fresh_runner(e), actor_->memory(), critic_.memory());
  rollouts_.resize(environments);
  value_work_.resize(environments);
}

}  // namespace mara
