#pragma once
// One round of TeamPpoTrainer: rollouts, advantages, epochs.

#include "mara/learning/team_ppo.hpp"

namespace mara {

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::collect() {
  const std::size_t environments = players_.size();
  const auto steps = static_cast<std::size_t>(config_.rollout_steps);
  const TeamPlayConfig play{.sequence_steps = batch_shape_.sequence_steps,
                            .rewards = config_.rewards,
                            .reward_scale = static_cast<float>(config_.reward_scale),
                            .gamma = static_cast<float>(config_.gamma)};
  std::vector<Status> outcomes(environments);
  pool_.for_each(environments, [&](std::size_t e) {
    TeamRollout& rollout = rollouts_[e];
    rollout.resize(actor_->shape(), steps, critic_.per_agent(), batch_shape_.guided);
    outcomes[e] = play_team(
        players_[e], *actor_, actor_weights_.data(), guidance_, source_, play,
        [this, e](std::uint64_t episode) { return episode_seed(e, episode); }, rollout);
    if (!outcomes[e]) return;
    evaluate_team(critic_, critic_weights_.data(), batch_shape_.sequence_steps, batch_shape_.observation,
                  batch_shape_.state, players_[e].critic_memory, rollout, value_work_[e]);
  });
  for (std::size_t e = 0; e < environments; ++e)
    if (!outcomes[e]) return Error{outcomes[e].error().code, "team ppo: " + outcomes[e].error().message};
  env_steps_ += static_cast<std::int64_t>(environments * steps);
  return {};
}

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::estimate() {
  const auto gamma = static_cast<float>(config_.gamma), lambda = static_cast<float>(config_.lambda);
  old_normaliser_ = normaliser_;
  const double old_mean = normaliser_.mean(), old_deviation = std::sqrt(normaliser_.variance());
  pool_.for_each(players_.size(), [&](std::size_t e) {
    TeamRollout& rollout = rollouts_[e];
    if (config_.normalise_values) {
      normaliser_.denormalize(std::span<float>(rollout.values));
      normaliser_.denormalize(std::span<float>(value_work_[e].final_values));
    }
    estimate_team_advantages(gamma, lambda, rollout, value_work_[e]);
  });
  // Over present agents only.
  std::vector<float> returns, advantages;
  for (const TeamRollout& r : rollouts_) {
    for (std::size_t i = 0; i < r.returns.size(); ++i)
      if (r.counted[i] != 0) returns.push_back(r.returns[i]);
    for (std::size_t row = 0; row < r.present.size(); ++row)
      if (r.present[row] != 0) advantages.push_back(r.advantages[r.per_agent ? row : row / r.slots]);
  }
  for (const float value : returns)
    if (!std::isfinite(value))
      return Error{ErrorCode::kNumerical, "team ppo: value loss: a return is not finite"};
  advantage_moments_ = moments_of_alive<float>(advantages, std::vector<std::uint8_t>(advantages.size(), 1));
  if (!config_.normalise_values) return {};
  if (const Status updated = normaliser_.update(std::span<const float>(returns)); !updated) return updated;
  if (!config_.pop_art) return {};
  const double mean = normaliser_.mean(), deviation = std::sqrt(normaliser_.variance());
  ParameterView<float> weight;  // visited before the bias of its layer
  critic_.visit(critic_weights_.data(), [&](const std::string& name, ParameterView<float> view) {
    if (name.ends_with("head.weight")) weight = view;
    if (name.ends_with("head.bias")) pop_art_rescale(weight, view, old_mean, old_deviation, mean, deviation);
  });
  old_normaliser_ = normaliser_;
  return {};
}

/// What counts in a minibatch, from the rollouts: absent agents do not.
template <critic::ValueCritic C, guidance::Mode G>
typename TeamPpoTrainer<C, G>::Scales TeamPpoTrainer<C, G>::scales(
    std::span<const TeamSequence> minibatch) const {
  Scales s;
  std::vector<float> advantages;
  for (const TeamSequence& sequence : minibatch) {
    const TeamRollout& r = rollouts_[sequence.environment];
    for (std::size_t t = sequence.first; t < sequence.first + batch_shape_.sequence_steps; ++t) {
      for (std::size_t c = 0; c < r.columns; ++c) s.values += r.counted[t * r.columns + c] != 0 ? 1u : 0u;
      for (std::size_t slot = 0; slot < r.slots; ++slot) {
        if (r.present[t * r.slots + slot] == 0) continue;
        ++s.live;
        if (config_.advantages == AdvantageScope::kMinibatch)
          advantages.push_back(r.advantages[r.per_agent ? t * r.slots + slot : t]);
      }
    }
  }
  s.advantages = config_.advantages == AdvantageScope::kMinibatch
                     ? moments_of_alive<float>(advantages, std::vector<std::uint8_t>(advantages.size(), 1))
                     : advantage_moments_;
  return s;
}

/// Normalises targets, old values and advantages of a batch and sets the weights of its rows.
template <critic::ValueCritic C, guidance::Mode G>
void TeamPpoTrainer<C, G>::weigh(const Scales& scales, TeamBatch& b) const {
  if (config_.advantages != AdvantageScope::kNone)
    for (float& advantage : b.advantages) advantage = normalised_advantage(advantage, scales.advantages);
  b.weights.assign(b.live.size(), 1.0f / static_cast<float>(std::max<std::size_t>(1, scales.live)));
  for (float& weight : b.value_weights) weight /= static_cast<float>(std::max<std::size_t>(1, scales.values));
  if (!config_.normalise_values) return;
  normaliser_.normalize(std::span<float>(b.targets));
  old_normaliser_.normalize(std::span<float>(b.old_values));
}

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::learn_from(std::span<const TeamSequence> minibatch, Totals& totals) {
  // Sizes that do not depend on the number of threads: the same sums. Each lane goes through its chunks with
  // one tape, so that memory does not grow with the minibatch.
  constexpr std::size_t kChunkRows = 256, kLanes = 16;
  const std::size_t rows = batch_shape_.sequence_steps * actor_->shape().agents;
  const std::size_t length = std::max<std::size_t>(1, kChunkRows / rows);
  const std::size_t chunks = (minibatch.size() + length - 1) / length, lanes = std::min(kLanes, chunks);
  if (lanes_.size() < lanes) lanes_.resize(lanes);
  const Scales scale = scales(minibatch);
  pool_.for_each(lanes, [&](std::size_t l) {
    Lane& lane = lanes_[l];
    lane.report = {};
    lane.status = {};
    lane.actor_gradients.assign(actor_->stored(), 0.0f);
    lane.critic_gradients.assign(critic_.stored(), 0.0f);
    for (std::size_t c = l; c < chunks && lane.status; c += lanes) {
      const std::size_t first = c * length, count = std::min(length, minibatch.size() - first);
      gather_team_batch(rollouts_, minibatch.subspan(first, count), *actor_, batch_shape_, lane.batch);
      weigh(scale, lane.batch);
      if (!totals.actor_stopped)
        lane.status =
            team_policy_gradient(lane.tape, *actor_, actor_weights_.data(), guidance_, batch_shape_.guided,
                                 lane.batch, loss_config_, lane.actor_gradients, lane.report);
      if (lane.status)
        lane.status =
            team_value_gradient(lane.tape, critic_, critic_weights_.data(), guidance_, batch_shape_.following,
                                lane.batch, loss_config_, lane.critic_gradients, lane.report);
    }
  });
  for (std::size_t l = 0; l < lanes; ++l)
    if (!lanes_[l].status) return lanes_[l].status;
  if (!totals.actor_stopped)
    if (const Status stepped = step_actor(lanes, scale.live, totals); !stepped) return stepped;
  return step_critic(lanes, totals);
}

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::step_actor(std::size_t lanes, std::size_t live, Totals& totals) {
  TeamLossReport sum;
  for (std::size_t l = 0; l < lanes; ++l) {
    const TeamLossReport& r = lanes_[l].report;
    sum.policy_loss += r.policy_loss, sum.entropy += r.entropy;
    sum.ratios.kl += r.ratios.kl, sum.ratios.clip_fraction += r.ratios.clip_fraction;
    if (l == 0) continue;
    AlignedVector<float>& into = lanes_[0].actor_gradients;
    for (std::size_t i = 0; i < into.size(); ++i) into[i] += lanes_[l].actor_gradients[i];
  }
  if (!std::isfinite(sum.policy_loss))
    return Error{ErrorCode::kNumerical, "team ppo: policy loss is not finite"};
  if (live == 0) return {};
  totals.losses.policy_loss += sum.policy_loss, totals.losses.entropy += sum.entropy;
  totals.losses.ratios.kl += sum.ratios.kl, totals.losses.ratios.clip_fraction += sum.ratios.clip_fraction;
  ++totals.actor_batches;
  if (config_.target_kl > 0.0 && sum.ratios.kl > 1.5 * config_.target_kl) {
    totals.actor_stopped = true;  // before the step of the minibatch that is too far away
    return {};
  }
  if (const Status stepped = actor_adam_.step(actor_weights_, lanes_[0].actor_gradients); !stepped)
    return Error{stepped.error().code, "team ppo: policy loss: " + stepped.error().message};
  totals.policy_norm += actor_adam_.gradient_norm();
  ++totals.actor_steps;
  const auto least = static_cast<float>(config_.least_log_std);
  for (std::size_t i = actor_->log_std_at(); i < actor_weights_.size(); ++i)
    actor_weights_[i] = std::max(least, actor_weights_[i]);
  return {};
}

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::step_critic(std::size_t lanes, Totals& totals) {
  double loss = 0.0;
  for (std::size_t l = 0; l < lanes; ++l) {
    loss += lanes_[l].report.value_loss;
    if (l == 0) continue;
    AlignedVector<float>& into = lanes_[0].critic_gradients;
    for (std::size_t i = 0; i < into.size(); ++i) into[i] += lanes_[l].critic_gradients[i];
  }
  if (!std::isfinite(loss)) return Error{ErrorCode::kNumerical, "team ppo: value loss is not finite"};
  if (const Status stepped = critic_adam_.step(critic_weights_, lanes_[0].critic_gradients); !stepped)
    return Error{stepped.error().code, "team ppo: value loss: " + stepped.error().message};
  totals.losses.value_loss += loss;
  totals.value_norm += critic_adam_.gradient_norm();
  ++totals.critic_steps;
  return {};
}

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::improve(TrainingReport& report) {
  const double done = progress(), rest = 1.0 - (1.0 - config_.final_rate) * done;
  actor_adam_.set_learning_rate(config_.learning_rate * rest);
  critic_adam_.set_learning_rate(config_.critic_learning_rate * rest);
  const auto f = [](double x) { return static_cast<float>(x); };
  loss_config_ = {f(config_.clip), f(config_.entropy_initial * (1.0 - done) + config_.entropy_final * done),
                  f(config_.value_clip), f(config_.huber_delta)};
  const std::size_t length = batch_shape_.sequence_steps;
  std::vector<TeamSequence> order;
  for (std::size_t e = 0; e < players_.size(); ++e)
    for (std::size_t t = 0; t < static_cast<std::size_t>(config_.rollout_steps); t += length)
      order.push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(t)});
  const std::size_t minibatch =
      std::max<std::size_t>(1, static_cast<std::size_t>(config_.minibatch_steps) / length);
  Totals totals;
  for (int epoch = 0; epoch < config_.epochs; ++epoch) {
    shuffle_.shuffle(order);
    for (std::size_t begin = 0; begin < order.size(); begin += minibatch) {
      const std::span<const TeamSequence> part(order.data() + begin,
                                               std::min(minibatch, order.size() - begin));
      if (const Status learnt = learn_from(part, totals); !learnt) return learnt;
    }
  }
  const auto mean = [](double sum, std::int64_t count) {
    return count > 0 ? sum / static_cast<double>(count) : 0.0;
  };
  const TeamLossReport& sums = totals.losses;
  report.values = {{"policy_loss", mean(sums.policy_loss, totals.actor_batches)},
                   {"value_loss", mean(sums.value_loss, totals.critic_steps)},
                   {"entropy", mean(sums.entropy, totals.actor_batches)},
                   {"approximate_kl", mean(sums.ratios.kl, totals.actor_batches)},
                   {"clip_fraction", mean(sums.ratios.clip_fraction, totals.actor_batches)},
                   {"explained_variance", explained_variance()},
                   {"policy_gradient_norm", mean(totals.policy_norm, totals.actor_steps)},
                   {"value_gradient_norm", mean(totals.value_norm, totals.critic_steps)}};
  return {};
}

/// 1 - Var(return - value) / Var(return) over the rollout; 0 where returns do not vary.
template <critic::ValueCritic C, guidance::Mode G>
double TeamPpoTrainer<C, G>::explained_variance() const noexcept {
  double count = 0.0, sum = 0.0, squares = 0.0, error = 0.0, error_squares = 0.0;
  for (const TeamRollout& r : rollouts_)
    for (std::size_t i = 0; i < r.returns.size(); ++i) {
      if (r.counted[i] == 0) continue;
      const auto target = static_cast<double>(r.returns[i]);
      const double d = target - static_cast<double>(r.values[i]);
      ++count, sum += target, squares += target * target, error += d, error_squares += d * d;
    }
  if (count < 2.0) return 0.0;
  const double variance = squares / count - (sum / count) * (sum / count);
  const double left = error_squares / count - (error / count) * (error / count);
  return variance > 0.0 ? 1.0 - left / variance : 0.0;
}

template <critic::ValueCritic C, guidance::Mode G>
Result<TrainingReport> TeamPpoTrainer<C, G>::update() {
  TrainingReport report;
  if (const Status played = collect(); !played) return played.error();
  if (const Status estimated = estimate(); !estimated) return estimated.error();
  if (const Status improved = improve(report); !improved) return improved.error();
  report.env_steps = env_steps_;
  report.updates = static_cast<std::int64_t>(actor_adam_.steps());
  double returns = 0.0;
  for (const TeamRollout& rollout : rollouts_) {
    report.episodes += rollout.episodes;
    returns += rollout.episode_returns;
  }
  if (report.episodes > 0) report.episode_return = returns / static_cast<double>(report.episodes);
  return report;
}

}  // namespace mara
