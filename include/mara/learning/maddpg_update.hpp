#pragma once
// Bodies of MaddpgTrainer: construction, play, critic and actor steps.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "mara/action/box_density.hpp"
#include "mara/learning/maddpg.hpp"
#include "mara/learning/q_targets.hpp"
#include "mara/math/transform.hpp"
#include "mara/nn/learning_rate.hpp"

namespace mara {

inline Result<std::unique_ptr<MaddpgTrainer>> MaddpgTrainer::create(const MaddpgConfig& config,
                                                                    const GameMaker& make) {
  if (const Status fine = check_maddpg_config(config); !fine) return fine.error();
  const auto named = [](const Error& error) {
    return Error{error.code, std::string("maddpg: ") + error.message};
  };
  const CollectorConfig play{config.seed, static_cast<std::size_t>(config.environments),
                             config.episode_steps};
  auto collector = SequenceCollector::create(play, make, 1, 0);
  if (!collector) return named(collector.error());
  const SequenceShape shape = collector->shape();
  auto plan = MaddpgPlan::create(config, shape.game);
  if (!plan) return plan.error();
  auto replay = SequenceReplay::create(shape, config.replay);
  if (!replay) return named(replay.error());
  return std::unique_ptr<MaddpgTrainer>(
      new MaddpgTrainer(config, std::make_shared<const MaddpgPlan>(std::move(plan).value()),
                        std::move(collector).value(), std::move(replay).value()));
}

inline MaddpgTrainer::MaddpgTrainer(const MaddpgConfig& config, std::shared_ptr<const MaddpgPlan> plan,
                                    SequenceCollector collector, SequenceReplay replay)
    : config_(config),
      plan_(std::move(plan)),
      collector_(std::move(collector)),
      noisy_(config.seed, config.parameter_noise),
      replay_(std::move(replay)),
      actor_(plan_->actors.stored()),
      critic_(plan_->critic_stored()),
      actor_adam_(actor_.size(), {.learning_rate = config.learning_rate,
                                  .epsilon = config.adam_epsilon,
                                  .max_gradient_norm = config.max_gradient_norm}),
      critic_adam_(critic_.size(), {.learning_rate = config.critic_learning_rate,
                                    .epsilon = config.adam_epsilon,
                                    .max_gradient_norm = config.max_gradient_norm}),
      pool_(config.threads),
      chunks_((static_cast<std::size_t>(config.batch) + kChunk - 1) / kChunk) {
  Random initial(config.seed, 1);
  plan_->actors.initialise(initial, actor_.data());
  for (std::size_t c = 0; c < plan_->critics; ++c)
    plan_->critic.initialise(initial, critic_.data() + c * plan_->critic.stored());
  target_actor_ = actor_;
  target_critic_ = critic_;
}

inline double MaddpgTrainer::noise() const noexcept {
  const LinearRate line{config_.noise_initial, config_.noise_final,
                        static_cast<std::uint64_t>(config_.noise_steps)};
  return line(static_cast<std::uint64_t>(env_steps_));
}

inline Result<CollectorReport> MaddpgTrainer::play() {
  const ActionShape& action = plan_->game.action;
  const auto steps = static_cast<std::size_t>(config_.round_steps);
  const auto uniform = [&action](std::size_t, const float*, const OptionMask* masks, Random& random,
                                 std::int32_t* options, float* numbers) {
    for (std::size_t h = 0; h < action.choices(); ++h) {
      OptionMask legal = detail::masked_options(masks[h], action.heads[h]);
      if (legal == 0) return false;
      for (auto skip = random.below(static_cast<std::uint32_t>(std::popcount(legal))); skip > 0; --skip)
        legal &= legal - 1;
      options[h] = std::countr_zero(legal);
    }
    for (std::size_t k = 0; k < action.numbers(); ++k)
      numbers[k] = static_cast<float>(
          random.uniform(static_cast<double>(action.box[k].low), static_cast<double>(action.box[k].high)));
    return true;
  };
  if (env_steps_ < config_.random_steps)
    return collector_.play(pool_, plan_->actors, actor_.data(), steps, uniform, replay_);
  const GaussianNoise around{.deviation = noise()};
  const auto noisy = [&action, &around](std::size_t, const float* outputs, const OptionMask* masks,
                                        Random& random, std::int32_t* options, float* numbers) {
    for (std::size_t h = 0; h < action.choices(); ++h) {
      options[h] = masked_sample(outputs, action.heads[h], masks[h], random);
      if (options[h] < 0) return false;
      outputs += action.heads[h];
    }
    for (std::size_t k = 0; k < action.numbers(); ++k)
      if (!libm::isfinite(outputs[k])) return false;
    box_numbers<float>(BoxKind::kTanhGaussian, action.box, outputs, numbers);
    around.add(action.box, random, numbers);
    return true;
  };
  return collector_.play(pool_, plan_->actors, noisy_.weights(plan_->actors, actor_, env_steps_).data(),
                         steps, noisy, replay_);
}

inline Result<TrainingReport> MaddpgTrainer::update() {
  const bool learning = env_steps_ >= config_.random_steps;
  TrainingReport report;
  const double deviation = noise();
  const auto played = play();
  if (!played) return Error{played.error().code, std::string("maddpg: ") + played.error().message};
  env_steps_ += played->env_steps;
  if (config_.rate_steps > 0) {
    const LinearRate left{1.0, config_.final_rate, static_cast<std::uint64_t>(config_.rate_steps)};
    const double share = left(static_cast<std::uint64_t>(env_steps_));
    actor_adam_.set_learning_rate(share * config_.learning_rate);
    critic_adam_.set_learning_rate(share * config_.critic_learning_rate);
  }
  Learnt learnt;
  for (int i = 0; learning && i < config_.round_updates; ++i)
    if (const Status stepped = learn(learnt); !stepped) return stepped.error();
  const ActionShape& action = plan_->game.action;
  if (learning)
    noisy_.adapt(plan_->actors, actor_, batch_, action.choices() == 1 && action.numbers() == 0, env_steps_);
  report.env_steps = env_steps_;
  report.updates = critic_steps_;
  report.episodes = played->episodes;
  report.episode_return = played->mean_return();
  const auto mean = [](double sum, int count) {
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
  };
  report.values = {{"critic_loss", mean(learnt.critic_loss, learnt.critic_steps)},
                   {"actor_loss", mean(learnt.actor_loss, learnt.actor_steps)},
                   {"mean_q", mean(learnt.value, learnt.critic_steps)},
                   {"critic_gradient_norm", mean(learnt.critic_norm, learnt.critic_steps)},
                   {"actor_gradient_norm", mean(learnt.actor_norm, learnt.actor_steps)},
                   {"noise", deviation},
                   {"replay", static_cast<double>(replay_.size())}};
  if (noisy_.on()) report.values.emplace_back("parameter_noise", noisy_.deviation());
  return report;
}

inline Status MaddpgTrainer::learn(Learnt& learnt) {
  Random draw = stream(Purpose::kBatch, 0);
  if (const Status drawn = replay_.sample(draw, static_cast<std::size_t>(config_.batch), 0.0, batch_); !drawn)
    return Error{drawn.error().code, std::string("maddpg: ") + drawn.error().message};
  std::size_t agents = 0;
  for (std::size_t i = 0; i < batch_.count * plan_->slots(); ++i) agents += batch_.present[i] != 0 ? 1 : 0;
  const auto share = [](std::size_t count) {
    return 1.0 / static_cast<double>(std::max<std::size_t>(1, count));
  };

  const std::size_t rows = plan_->rewards == RewardKind::kTeam ? batch_.count : agents;
  pool_.for_each(chunks(), [&](std::size_t k) { record_critic(k, static_cast<float>(share(rows))); });
  const auto critic_loss = step("critic loss", critic_adam_, critic_);
  if (!critic_loss) return critic_loss.error();
  ++critic_steps_;
  ++learnt.critic_steps;
  learnt.critic_loss += *critic_loss;
  learnt.critic_norm += critic_adam_.gradient_norm();
  for (std::size_t k = 0; k < chunks(); ++k) learnt.value += chunks_[k].value;
  if (critic_steps_ % config_.policy_delay != 0) return {};

  const MaddpgActorLossConfig how{config_.joint_policy_update,
                                  config_.straight_through,
                                  config_.temperature,
                                  config_.logit_regulariser,
                                  share(config_.joint_policy_update ? batch_.count : agents),
                                  share(agents)};
  pool_.for_each(chunks(), [&](std::size_t k) { record_actor(k, how); });
  const auto actor_loss = step("actor loss", actor_adam_, actor_);
  if (!actor_loss) return actor_loss.error();
  ++learnt.actor_steps;
  learnt.actor_loss += *actor_loss;
  learnt.actor_norm += actor_adam_.gradient_norm();
  soft_update<float>(actor_, static_cast<float>(config_.tau), target_actor_);
  soft_update<float>(critic_, static_cast<float>(config_.tau), target_critic_);
  return {};
}

inline void MaddpgTrainer::record_critic(std::size_t k, float share) {
  const MaddpgPlan& plan = *plan_;
  Chunk& chunk = chunks_[k];
  const std::size_t begin = k * kChunk, count = chunk_size(k), slots = plan.slots(), heads = plan.heads();
  const std::size_t now = begin, next = batch_.count + begin;  // the batch is time-major
  chunk.inputs.resize(count * plan.inputs());
  chunk.next_inputs.resize(count * plan.inputs());
  chunk.outputs.resize(count * slots * plan.width());
  chunk.next_values.resize(plan.critics * count * plan.values());
  chunk.targets.resize(count * plan.values());
  chunk.weights.assign(count * plan.values(), share);
  chunk.gradients.assign(critic_.size(), 0.0f);

  encode_joint_actions(plan, count, batch_.states.data() + now * plan.game.state,
                       batch_.present.data() + now * slots, batch_.options.data() + now * slots * heads,
                       batch_.numbers.data() + now * slots * plan.game.action.numbers(), chunk.inputs.data());
  plan.actors.step(target_actor_.data(), batch_.observations.data() + next * slots * plan.game.observation,
                   count, nullptr, nullptr, chunk.outputs.data(), chunk.actor_workspace);
  Random random = stream(Purpose::kTarget, k);
  encode_target_actions(plan, count, batch_.states.data() + next * plan.game.state,
                        batch_.present.data() + next * slots, batch_.masks.data() + next * slots * heads,
                        chunk.outputs.data(), {config_.target_noise, config_.sample_target_options}, random,
                        chunk.next_inputs.data());
  for (std::size_t c = 0; c < plan.critics; ++c)
    plan.critic.step(target_critic_.data() + c * plan.critic.stored(), chunk.next_inputs.data(), count,
                     nullptr, nullptr, chunk.next_values.data() + c * count * plan.values(),
                     chunk.critic_workspace);
  const MaddpgOutcomes outcomes{batch_.team_rewards.data() + now, batch_.rewards.data() + now * slots,
                                batch_.ends.data() + now, batch_.present.data() + next * slots,
                                batch_.arrived.data() + next * slots};
  maddpg_targets(plan, count, outcomes, chunk.next_values.data(), static_cast<float>(config_.reward_scale),
                 static_cast<float>(config_.gamma), chunk.targets.data());
  if (plan.rewards == RewardKind::kIndividual)
    for (std::size_t i = 0; i < count * slots; ++i)
      if (batch_.present[now * slots + i] == 0) chunk.weights[i] = 0.0f;

  chunk.tape.clear();
  const MaddpgCriticLoss made =
      maddpg_critic_loss(chunk.tape, plan, critic_.data(), chunk.gradients.data(), chunk.inputs.data(), count,
                         chunk.targets.data(), chunk.weights.data());
  chunk.tape.backward(made.loss);
  chunk.status = chunk.tape.status();
  chunk.loss = static_cast<double>(chunk.tape.scalar(made.loss));
  const std::span<const float> values = chunk.tape.value(made.values);
  chunk.value = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    chunk.value += static_cast<double>(chunk.weights[i]) * static_cast<double>(values[i]);
}

inline void MaddpgTrainer::record_actor(std::size_t k, const MaddpgActorLossConfig& config) {
  const MaddpgPlan& plan = *plan_;
  Chunk& chunk = chunks_[k];
  const std::size_t begin = k * kChunk, count = chunk_size(k), rows = count * plan.slots();
  const std::uint8_t* present = batch_.present.data() + begin * plan.slots();
  chunk.gradients.assign(actor_.size(), 0.0f);
  chunk.uniforms.assign(rows * plan.game.action.options(), 0.0f);
  Random random = stream(Purpose::kActor, k);
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t at = 0;
    for (const int options : plan.game.action.heads) {
      const auto n = static_cast<std::size_t>(options);
      if (present[r] != 0) fill_uniforms(random, chunk.uniforms.data() + at * rows + r * n, n);
      at += n;
    }
  }
  const MaddpgActorBatch<float> batch{
      count,
      batch_.observations.data() + begin * plan.slots() * plan.game.observation,
      chunk.inputs.data(),
      present,
      batch_.masks.data() + begin * plan.slots() * plan.heads(),
      chunk.uniforms.data()};
  chunk.tape.clear();
  const Var loss = maddpg_actor_loss(chunk.tape, plan, actor_.data(), chunk.gradients.data(), critic_.data(),
                                     batch, config);
  chunk.tape.backward(loss);
  chunk.status = chunk.tape.status();
  chunk.loss = static_cast<double>(chunk.tape.scalar(loss));
}

inline Result<double> MaddpgTrainer::step(const char* name, Adam<float>& adam,
                                          AlignedVector<float>& parameters) {
  const auto failed = [name](const Error& why) {
    return Error{why.code, std::string("maddpg: ") + name + ": " + why.message};
  };
  AlignedVector<float>& gradients = chunks_[0].gradients;
  double loss = 0.0;
  for (std::size_t k = 0; k < chunks(); ++k) {
    if (!chunks_[k].status) return failed(chunks_[k].status.error());
    loss += chunks_[k].loss;
    if (k == 0) continue;
    simd::map<true>(
        gradients.size(), gradients.data(), [](simd::VecF g) { return g; },
        static_cast<const float*>(chunks_[k].gradients.data()));
  }
  if (!std::isfinite(loss))
    return Error{ErrorCode::kNumerical, std::string("maddpg: ") + name + " is " + std::to_string(loss)};
  if (const Status stepped = adam.step(parameters, gradients); !stepped) return failed(stepped.error());
  return loss;
}

}  // namespace mara
