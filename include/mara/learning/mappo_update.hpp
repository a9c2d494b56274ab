#pragma once
// Bodies of MappoTrainer: construction, rollout, advantages, epochs.

#include "mara/learning/mappo.hpp"

namespace mara {

/// Mean 0 and population standard deviation 1 (kept apart from 0), in place (case A5).
inline void standardise(std::span<float> values) noexcept {
  double mean = 0.0, square = 0.0;
  for (const float v : values) mean += static_cast<double>(v);
  const double count = std::max<double>(1.0, static_cast<double>(values.size()));
  mean /= count;
  for (const float v : values) square += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  const double sd = std::sqrt(square / count) + 1e-8;
  for (float& v : values) v = static_cast<float>((static_cast<double>(v) - mean) / sd);
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::validate(const MappoConfig& c, bool has_flow) {
  const auto bad = [](const char* field, double value, const char* rule) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("mappo: ") + field + " = " + std::to_string(value) + " " + rule};
  };
  if (c.environments < 1) return bad("environments", c.environments, "must be at least 1");
  if (c.rollout_steps < 1) return bad("rollout_steps", c.rollout_steps, "must be at least 1");
  if (c.episode_steps < 0) return bad("episode_steps", c.episode_steps, "must not be negative");
  if (c.group < 1) return bad("group", c.group, "must be at least 1");
  if (c.total_steps < 1) return bad("total_steps", static_cast<double>(c.total_steps), "must be at least 1");
  if (c.epochs < 1) return bad("epochs", c.epochs, "must be at least 1");
  if (c.minibatch_rows < 1) return bad("minibatch_rows", c.minibatch_rows, "must be at least 1");
  if (c.minibatch_states < 1) return bad("minibatch_states", c.minibatch_states, "must be at least 1");
  const std::pair<const char*, double> rates[] = {{"learning_rate", c.learning_rate},
                                                  {"critic_learning_rate", c.critic_learning_rate}};
  for (const auto& [field, value] : rates)
    if (!(value > 0.0) || !std::isfinite(value)) return bad(field, value, "must be positive");
  const std::pair<const char*, double> shares[] = {{"gamma", c.gamma},
                                                   {"lambda", c.lambda},
                                                   {"clip", c.clip},
                                                   {"final_rate", c.final_rate},
                                                   {"value_normaliser_decay", c.value_normaliser_decay}};
  for (const auto& [field, value] : shares)
    if (!(value >= 0.0 && value <= 1.0)) return bad(field, value, "must lie in [0, 1]");
  const std::pair<const char*, double> weights[] = {{"entropy_initial", c.entropy_initial},
                                                    {"entropy_final", c.entropy_final},
                                                    {"max_gradient_norm", c.max_gradient_norm}};
  for (const auto& [field, value] : weights)
    if (!(value >= 0.0) || !std::isfinite(value)) return bad(field, value, "must not be negative");
  if (G::kUsesField && !has_flow) {
    return Error{ErrorCode::kInvalidArgument,
                 "mappo: flow is missing: this guidance mode needs a trained field"};
  }
  return {};
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
MappoTrainer<E, C, G, H...>::MappoTrainer(const MappoConfig& config, const std::function<E(int)>& make,
                                          G guidance, std::shared_ptr<const Flow> flow)
    : config_(config),
      make_(make),
      guidance_(std::move(guidance)),
      flow_(std::move(flow)),
      initial_(config.seed, 1),
      shuffle_(config.seed, 2),
      actor_(Activation::kTanh),
      critic_(initial_),
      actor_adam_(Actor::kStored, AdamConfig{.learning_rate = config.learning_rate,
                                             .epsilon = 1e-5,
                                             .max_gradient_norm = config.max_gradient_norm}),
      critic_adam_(Critic::Network::kStored, AdamConfig{.learning_rate = config.critic_learning_rate,
                                                        .epsilon = 1e-5,
                                                        .max_gradient_norm = config.max_gradient_norm}),
      normaliser_(config.value_normaliser_decay),
      pool_(config.threads) {
  actor_.initialise(initial_, 0.01f);  // nearly uniform first policy (Andrychowicz et al. 2021, section 3.2)
  players_.reserve(static_cast<std::size_t>(config.environments));
  for (int e = 0; e < config.environments; ++e) {
    players_.emplace_back(make_(e),
                          Random(config.seed, 0x706c000000000000ull + static_cast<std::uint64_t>(e)));
  }
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::collect() {
  const std::size_t environments = players_.size(), steps = static_cast<std::size_t>(config_.rollout_steps);
  rollout_.resize(environments, steps, static_cast<std::size_t>(E::kGlobalState));
  std::vector<Status> outcomes(environments);
  const RolloutPolicy<Actor, Flow, G> policy{&actor_, flow_.get(), guidance_};
  pool_.for_each(environments, [&](std::size_t e) {
    const std::size_t group = e / static_cast<std::size_t>(config_.group);
    const auto next_seed = [&](std::uint64_t episode) {
      players_[e].limit = config_.episode_steps;
      return episode_seed(group, episode);
    };
    outcomes[e] = play<E, Actor, Flow, G>(players_[e], policy, e, steps, next_seed, rollout_);
  });
  for (const Status& status : outcomes)
    if (!status) return status;
  env_steps_ += static_cast<std::int64_t>(environments * steps);
  return {};
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
void MappoTrainer<E, C, G, H...>::estimate_advantages() {
  const std::size_t environments = players_.size(), steps = static_cast<std::size_t>(config_.rollout_steps);
  values_.resize({environments, steps});
  advantages_.resize({environments, steps});
  returns_.resize({environments, steps});
  xt::xtensor<float, 2> next = xt::xtensor<float, 2>::from_shape({environments, steps});
  pool_.for_each(environments, [&](std::size_t e) {
    typename Critic::Network::Workspace work;
    critic_.values(&rollout_.states(e, 0, 0), steps, &values_(e, 0), work);
    critic_.values(&rollout_.next_states(e, 0, 0), steps, &next(e, 0), work);
    for (std::size_t t = 0; t < steps; ++t) {
      values_(e, t) = normaliser_.denormalize(values_(e, t));
      next(e, t) = normaliser_.denormalize(next(e, t));
    }
  });
  const auto gamma = static_cast<float>(config_.gamma), lambda = static_cast<float>(config_.lambda);
  const auto ends = [&](std::size_t e) {
    static_assert(sizeof(StepEnd) == 1);
    return std::span<const StepEnd>(reinterpret_cast<const StepEnd*>(&rollout_.ends(e, 0)), steps);
  };
  for (std::size_t e = 0; e < environments; ++e) {
    td_errors({&rollout_.rewards(e, 0), steps}, {&values_(e, 0), steps}, {&next(e, 0), steps}, ends(e), gamma,
              {&advantages_(e, 0), steps});
    std::copy_n(&advantages_(e, 0), steps, &returns_(e, 0));
    accumulate_advantages({&returns_(e, 0), steps}, ends(e), gamma, lambda);
    for (std::size_t t = 0; t < steps; ++t) returns_(e, t) += values_(e, t);
  }
  const auto group = static_cast<std::size_t>(config_.group);
  for (std::size_t begin = 0; begin < environments && group > 1; begin += group) {
    const std::size_t end = std::min(environments, begin + group);
    if (end - begin < 2) continue;  // alone it would be its own baseline and learn nothing
    for (std::size_t t = 0; t < steps;
         ++t) {  // what the shared arrivals did to all of them is nobody's merit
      float mean = 0.0f;
      for (std::size_t e = begin; e < end; ++e) mean += advantages_(e, t);
      mean /= static_cast<float>(end - begin);
      for (std::size_t e = begin; e < end; ++e) advantages_(e, t) -= mean;
    }
  }
  row_index_.clear();
  row_advantage_.clear();
  for (std::size_t begin = 0; begin < environments; begin += group) {
    const std::size_t first = row_advantage_.size();
    for (std::size_t e = begin; e < std::min(environments, begin + group); ++e) {
      accumulate_advantages({&advantages_(e, 0), steps}, ends(e), gamma, lambda);
      for (std::size_t t = 0; t < steps; ++t) {
        for (std::uint32_t r = rollout_.rows[e].first[t]; r < rollout_.rows[e].first[t + 1]; ++r) {
          row_index_.emplace_back(static_cast<std::uint32_t>(e), r);
          row_advantage_.push_back(advantages_(e, t));
        }
      }
    }
    // Per group, over present agents only: a crowded episode must not drown what a quiet one has to teach.
    standardise(std::span<float>(row_advantage_).subspan(first));
  }
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::improve_actor(MappoReport& report) {
  constexpr std::size_t kChunkRows = 512;
  constexpr auto kOptions = static_cast<std::size_t>(E::kOptions);
  const double schedule = progress();
  actor_adam_.set_learning_rate(config_.learning_rate * (1.0 - (1.0 - config_.final_rate) * schedule));
  const auto entropy_weight =
      static_cast<float>(config_.entropy_initial * (1.0 - schedule) + config_.entropy_final * schedule);
  std::vector<std::size_t> order(row_index_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto minibatch = static_cast<std::size_t>(config_.minibatch_rows);
  int batches = 0;
  for (int epoch = 0; epoch < config_.epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[shuffle_.below(static_cast<std::uint32_t>(i))]);
    for (std::size_t begin = 0; begin < order.size(); begin += minibatch) {
      const std::size_t rows = std::min(minibatch, order.size() - begin);
      const std::size_t count = (rows + kChunkRows - 1) / kChunkRows;
      if (chunks_.size() < count) chunks_.resize(count);
      pool_.for_each(count, [&](std::size_t c) {
        Chunk& chunk = chunks_[c];
        PolicyBatch& b = chunk.batch;
        b.rows = std::min(kChunkRows, rows - c * kChunkRows);
        b.inputs.resize(b.rows * kInputs);
        b.distribution.resize(G::kUsesField ? b.rows * kOptions : 0);
        b.signals.resize(b.rows), b.log_probabilities.resize(b.rows), b.advantages.resize(b.rows);
        b.masks.resize(b.rows), b.options.resize(b.rows);
        b.row_weight.assign(b.rows, 1.0f / static_cast<float>(rows));
        for (std::size_t r = 0; r < b.rows; ++r) {
          const std::size_t at = order[begin + c * kChunkRows + r];
          const auto [e, row] = row_index_[at];
          const AgentRows& from = rollout_.rows[e];
          std::copy_n(&from.inputs[row * kInputs], kInputs, &b.inputs[r * kInputs]);
          if constexpr (G::kUsesField)
            std::copy_n(&from.distribution[row * kOptions], kOptions, &b.distribution[r * kOptions]);
          b.signals[r] = from.signals[row];
          b.log_probabilities[r] = from.log_probabilities[row];
          b.advantages[r] = row_advantage_[at];
          b.masks[r] = from.masks[row];
          b.options[r] = from.options[row];
        }
        chunk.gradients.assign(Actor::kStored, 0.0f);
        chunk.report = policy_gradient(chunk.tape, actor_, guidance_, b, static_cast<float>(config_.clip),
                                       entropy_weight, chunk.gradients);
      });
      for (std::size_t c = 1; c < count; ++c)  // fixed order: the same sum for any number of threads
        for (std::size_t i = 0; i < Actor::kStored; ++i) chunks_[0].gradients[i] += chunks_[c].gradients[i];
      for (std::size_t c = 0; c < count; ++c) {
        report.policy_loss += chunks_[c].report.loss;
        report.entropy += chunks_[c].report.entropy;
        report.approximate_kl += chunks_[c].report.approximate_kl;
      }
      if (!std::isfinite(report.policy_loss))
        return Error{ErrorCode::kNumerical, "mappo: policy loss is not finite"};
      if (const Status stepped = actor_adam_.step(actor_.parameters(), chunks_[0].gradients); !stepped) {
        return Error{stepped.error().code, "mappo: policy loss: " + stepped.error().message};
      }
      ++batches;
    }
  }
  const double scale = 1.0 / std::max(1, batches);
  report.policy_loss *= scale, report.entropy *= scale, report.approximate_kl *= scale;
  return {};
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::improve_critic(MappoReport& report) {
  constexpr auto kState = static_cast<std::size_t>(E::kGlobalState);
  const std::size_t steps = static_cast<std::size_t>(config_.rollout_steps), total = players_.size() * steps;
  if (const Status updated = normaliser_.update(std::span<const float>(returns_.data(), total)); !updated) {
    return Error{updated.error().code, "mappo: value loss: " + updated.error().message};
  }
  critic_adam_.set_learning_rate(config_.critic_learning_rate *
                                 (1.0 - (1.0 - config_.final_rate) * progress()));
  std::vector<std::size_t> order(total);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto minibatch = static_cast<std::size_t>(config_.minibatch_states);
  int batches = 0;
  for (int epoch = 0; epoch < config_.epochs; ++epoch) {
    for (std::size_t i = total; i > 1; --i)
      std::swap(order[i - 1], order[shuffle_.below(static_cast<std::uint32_t>(i))]);
    for (std::size_t begin = 0; begin < total; begin += minibatch) {
      ValueBatch& b = value_batch_;
      b.rows = std::min(minibatch, total - begin);
      b.states.resize(b.rows * kState), b.next_states.resize(b.rows * kState);
      b.targets.resize(b.rows), b.alignment.resize(b.rows);
      b.row_weight.assign(b.rows, 1.0f / static_cast<float>(b.rows));
      for (std::size_t r = 0; r < b.rows; ++r) {
        const std::size_t e = order[begin + r] / steps, t = order[begin + r] % steps;
        std::copy_n(&rollout_.states(e, t, 0), kState, &b.states[r * kState]);
        std::copy_n(&rollout_.next_states(e, t, 0), kState, &b.next_states[r * kState]);
        b.targets[r] = normaliser_.normalize(returns_(e, t));
        b.alignment[r] = rollout_.ends(e, t) == static_cast<std::uint8_t>(StepEnd::kTerminated)
                             ? 0.0f
                             : rollout_.alignment(e, t);
      }
      critic_.network().zero_gradients();
      const double loss = value_gradient(critic_tape_, critic_, guidance_, b);
      if (!std::isfinite(loss)) return Error{ErrorCode::kNumerical, "mappo: value loss is not finite"};
      report.value_loss += loss;
      if (const Status stepped =
              critic_adam_.step(critic_.network().parameters(), critic_.network().gradients());
          !stepped) {
        return Error{stepped.error().code, "mappo: value loss: " + stepped.error().message};
      }
      ++batches;
    }
  }
  report.value_loss /= std::max(1, batches);
  return {};
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Result<MappoReport> MappoTrainer<E, C, G, H...>::update() {
  MappoReport report;
  if (const Status collected = collect(); !collected) return collected.error();
  estimate_advantages();
  if (const Status improved = improve_actor(report); !improved) return improved.error();
  if (const Status improved = improve_critic(report); !improved) return improved.error();
  const double steps = static_cast<double>(rollout_.rewards.size());
  for (std::size_t i = 0; i < rollout_.rewards.size(); ++i) {
    report.team_reward += static_cast<double>(rollout_.team_rewards.data()[i]) / steps;
    report.shaped_reward += static_cast<double>(rollout_.rewards.data()[i]) / steps;
  }
  report.agents = static_cast<double>(row_index_.size()) / steps;
  report.env_steps = env_steps_;
  return report;
}

}  // namespace mara
