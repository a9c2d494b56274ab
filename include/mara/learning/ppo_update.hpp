#pragma once
// Bodies of PpoTrainer: construction, rollout, advantages, epochs.

#include "mara/learning/ppo.hpp"

namespace mara {

template <BatchEnvironment E, std::size_t... H>
PpoTrainer<E, H...>::PpoTrainer(const PpoConfig& config, E environment)
    : config_(config),
      environment_(std::move(environment)),
      environments_(environment_.size()),
      steps_(static_cast<std::size_t>(config.rollout_steps)),
      batch_rows_(static_cast<std::size_t>(config.minibatch_rows)),
      noise_random_(config.seed, 3),
      shuffle_(config.seed, 2),
      actor_(config.activation),
      critic_(config.activation),
      actor_adam_(Actor::kStored, {.learning_rate = config.learning_rate, .epsilon = config.adam_epsilon}),
      log_std_adam_(kActions, {.learning_rate = config.learning_rate, .epsilon = config.adam_epsilon}),
      critic_adam_(Critic::kStored,
                   {.learning_rate = config.critic_learning_rate, .epsilon = config.adam_epsilon}) {
  Random initial(config.seed, 1);
  actor_.initialise(initial, 0.01f);
  critic_.initialise(initial, 1.0f);
  log_std_.fill(static_cast<float>(std::log(config.initial_std)));
  const std::size_t n = environments_, all = rows();
  for (AlignedVector<float>* buffer : {&log_probabilities_, &rewards_, &scaled_rewards_, &values_,
                                       &next_values_, &advantages_, &keep_, &final_values_})
    buffer->resize(all);
  episode_returns_.resize(n);
  observations_.resize((all + n) * kObservation);
  final_observations_.resize(all * kObservation);
  means_.resize(n * kActions);
  scaled_actions_.resize(n * kActions);
  actions_.resize(all * kActions);
  ends_.resize(all);
  truncated_.reserve(all);
  rows_.resize(all);
  order_.resize(all);
  words_.resize(all);
  batch_observations_.resize(batch_rows_ * kObservation);
  batch_actions_.resize(batch_rows_ * kActions);
  for (AlignedVector<float>* buffer : {&batch_log_probabilities_, &batch_advantages_, &batch_targets_})
    buffer->resize(batch_rows_);
}

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::collect(PpoReport& report) {
  const std::size_t n = environments_, all = rows(), width = n * kActions;
  // The noise does not depend on the states: drawn for the whole rollout at once.
  math::fill_normals(noise_random_, actions_.data(), all * kActions);
  Policy::scale_noise(log_std_, actions_.data(), all, log_probabilities_.data());
  std::fill(ends_.begin(), ends_.end(), StepEnd::kContinues);
  std::fill(keep_.begin(), keep_.end(), 1.0f);
  truncated_.clear();
  double returns = 0.0;
  const simd::VecF scale = simd::broadcast(static_cast<float>(config_.action_scale));
  const OutputEvaluation<Actor> actor(actor_);
  environment_.observe(observations_.data());
  for (std::size_t t = 0; t < steps_; ++t) {
    actor.forward(observations_.data() + t * n * kObservation, n, means_.data(), actor_workspace_);
    float* actions = actions_.data() + t * width;
    for (std::size_t i = 0; i < width; i += simd::kLanes<float>) {
      const std::size_t lanes = std::min(simd::kLanes<float>, width - i);
      const simd::VecF a = simd::load_partial(actions + i, lanes) + simd::load_partial(&means_[i], lanes);
      simd::store_partial(actions + i, a, lanes);
      simd::store_partial(&scaled_actions_[i], a * scale, lanes);
    }
    float* rewards = rewards_.data() + t * n;
    const Result<std::size_t> ended = environment_.step(scaled_actions_.data(), rewards);
    if (!ended) return Error{ended.error().code, "ppo: policy: " + ended.error().message};
    simd::map<true>(
        n, episode_returns_.data(), [](simd::VecF r) { return r; }, static_cast<const float*>(rewards));
    float* next = observations_.data() + (t + 1) * n * kObservation;
    environment_.observe(next);
    if (*ended == 0) continue;
    for (std::size_t e = 0; e < n; ++e) {
      const bool terminated = environment_.terminated(e);
      if (!terminated && !environment_.truncated(e)) continue;
      const std::size_t at = t * n + e;
      ends_[at] = terminated ? StepEnd::kTerminated : StepEnd::kTruncated;
      keep_[at] = 0.0f;
      if (!terminated) {
        std::copy_n(next + e * kObservation, kObservation,
                    &final_observations_[truncated_.size() * kObservation]);
        truncated_.push_back(at);
      }
      returns += static_cast<double>(episode_returns_[e]);
      episode_returns_[e] = 0.0f;
      ++report.episodes;
    }
    environment_.reset_ended();
    environment_.observe(next);
  }
  env_steps_ += static_cast<std::int64_t>(all);
  report.reward = static_cast<double>(math::sum(rewards_.data(), all)) / static_cast<double>(all);
  report.episode_return = report.episodes > 0 ? returns / static_cast<double>(report.episodes)
                                              : std::numeric_limits<double>::quiet_NaN();
  return {};
}

template <BatchEnvironment E, std::size_t... H>
void PpoTrainer<E, H...>::estimate_advantages() {
  const std::size_t n = environments_, all = rows();
  const OutputEvaluation<Critic> critic(critic_);
  critic.forward(observations_.data(), all, values_.data(), critic_workspace_);
  std::copy(values_.begin() + static_cast<std::ptrdiff_t>(n), values_.end(), next_values_.begin());
  critic.forward(observations_.data() + all * kObservation, n, next_values_.data() + (all - n),
                 critic_workspace_);
  critic.forward(final_observations_.data(), truncated_.size(), final_values_.data(), critic_workspace_);
  for (std::size_t i = 0; i < truncated_.size(); ++i) next_values_[truncated_[i]] = final_values_[i];
  const auto gamma = static_cast<float>(config_.gamma), lambda = static_cast<float>(config_.lambda);
  const simd::VecF scale = simd::broadcast(static_cast<float>(config_.reward_scale));
  simd::transform(rewards_.data(), all, scaled_rewards_.data(), [scale](simd::VecF r) { return r * scale; });
  td_errors(scaled_rewards_, values_, next_values_, ends_, gamma, advantages_);
  accumulate_advantages_of_batch(advantages_.data(), keep_.data(), steps_, n, gamma, lambda);
  for (std::size_t r = 0; r < all; ++r) {
    Row& row = rows_[r];
    for (std::size_t i = 0; i < kObservation; ++i) row.observation[i] = observations_[r * kObservation + i];
    for (std::size_t k = 0; k < kActions; ++k) row.action[k] = actions_[r * kActions + k];
    row.log_probability = log_probabilities_[r];
    row.advantage = advantages_[r];
    row.target = advantages_[r] + values_[r];
  }
}

template <BatchEnvironment E, std::size_t... H>
void PpoTrainer<E, H...>::gather(std::size_t begin) {
  for (std::size_t r = 0; r < batch_rows_; ++r) {
    const Row& row = rows_[order_[begin + r]];
    for (std::size_t i = 0; i < kObservation; ++i)
      batch_observations_[r * kObservation + i] = row.observation[i];
    for (std::size_t k = 0; k < kActions; ++k) batch_actions_[r * kActions + k] = row.action[k];
    batch_log_probabilities_[r] = row.log_probability;
    batch_advantages_[r] = row.advantage;
    batch_targets_[r] = row.target;
  }
  if (config_.normalise_advantages) normalise(batch_advantages_.data(), batch_rows_);
}

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::improve(PpoReport& report) {
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  int batches = 0;
  for (int epoch = 0; epoch < config_.epochs; ++epoch) {
    math::shuffle(shuffle_, order_.data(), order_.size(), words_.data());
    for (std::size_t begin = 0; begin + batch_rows_ <= order_.size(); begin += batch_rows_) {
      gather(begin);
      if (const Status improved = improve_actor(report); !improved) return improved;
      if (const Status improved = improve_critic(report); !improved) return improved;
      ++batches;
    }
  }
  const double scale = 1.0 / std::max(1, batches);
  report.policy_loss *= scale;
  report.value_loss *= scale;
  report.entropy *= scale;
  report.approximate_kl *= scale;
  return {};
}

namespace detail {
inline Error not_finite(const char* loss, double value) {
  return Error{ErrorCode::kNumerical, std::string("ppo: ") + loss + " is " + std::to_string(value)};
}
/// Names the loss whose gradient an optimiser refused.
inline Error refused(const char* loss, const Error& why) {
  return Error{why.code, std::string("ppo: ") + loss + ": " + why.message};
}
}  // namespace detail

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::improve_actor(PpoReport& report) {
  tape_.clear();
  actor_.zero_gradients();
  log_std_gradient_.fill(0.0f);
  const Var means =
      forward_to_output(actor_, tape_, tape_.input(batch_observations_.data(), batch_rows_, kObservation));
  const Var log_std = tape_.variable(log_std_.data(), log_std_gradient_.data(), 1, kActions);
  const GaussianPolicyBatch batch{batch_actions_.data(), batch_log_probabilities_.data(),
                                  batch_advantages_.data(), batch_rows_};
  const GaussianPolicyLoss policy = gaussian_policy_loss<kActions>(
      tape_, means, log_std, batch, static_cast<float>(config_.clip), static_cast<float>(config_.entropy));
  if (!tape_.status()) return tape_.status();
  const auto loss = static_cast<double>(tape_.scalar(policy.loss));
  if (!std::isfinite(loss)) return detail::not_finite("policy loss", loss);
  tape_.backward(policy.loss);
  const std::span<float> gradients[] = {actor_.gradients(), log_std_gradient_};
  if (config_.max_gradient_norm > 0.0)
    clip_by_global_norm(std::span<const std::span<float>>(gradients), config_.max_gradient_norm);
  // Looked at first, so that a refused step leaves both as they were.
  if (!std::isfinite(global_norm(std::span<const float>(log_std_gradient_))))
    return detail::not_finite("policy loss: gradient of log_std", log_std_gradient_[0]);
  if (const Status stepped = actor_adam_.step(actor_.parameters(), actor_.gradients()); !stepped)
    return detail::refused("policy loss", stepped.error());
  if (const Status stepped = log_std_adam_.step(log_std_, log_std_gradient_); !stepped)
    return detail::refused("policy loss", stepped.error());
  report.policy_loss += loss;
  report.entropy += Policy::entropy(log_std_);
  report.approximate_kl += policy.approximate_kl;
  return {};
}

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::improve_critic(PpoReport& report) {
  tape_.clear();
  critic_.zero_gradients();
  const Var values =
      forward_to_output(critic_, tape_, tape_.input(batch_observations_.data(), batch_rows_, kObservation));
  const Var error = tape_.mean_squared_error(values, tape_.input(batch_targets_.data(), batch_rows_, 1));
  if (!tape_.status()) return tape_.status();
  const auto loss = static_cast<double>(tape_.scalar(error));
  if (!std::isfinite(loss)) return detail::not_finite("value loss", loss);
  tape_.backward(error);
  if (config_.max_gradient_norm > 0.0) clip_by_global_norm(critic_.gradients(), config_.max_gradient_norm);
  if (const Status stepped = critic_adam_.step(critic_.parameters(), critic_.gradients()); !stepped)
    return detail::refused("value loss", stepped.error());
  report.value_loss += loss;
  return {};
}

}  // namespace mara
