#pragma once
// The loss of value learners on the tape.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/learning/q_bootstrap.hpp"

namespace mara {

/// What a loss measured; means over what counts.
struct QLossReport {
  double value = 0.0;  ///< of the chosen options: Q_tot, or each agent's Q
  double target = 0.0;
  std::vector<double> priority;  ///< of every piece: 0.9 largest + 0.1 mean |error| (Kapturowski et al. 2019)
};

/// The loss of a batch of pieces: the mean of (Q - y)^2 (or its Huber form) over the steps that count, with y
/// from QBootstrap. Steps that count lie within their piece, past the burn-in unless the piece begins an
/// episode, and (where nothing is mixed) have the agent there. Weighted QMIX adds the loss of the
/// unrestricted value; guidance adds its constraint. Arrays of a record() live in this object until the next
/// one. S is float or double.
template <Mixing M, class S = float>
class QLoss {
 public:
  /// Records the loss of `batch`, 1 x 1. `online`, `target` and `gradients`: storages of `networks`.
  Var record(Tape<S>& tape, const QNetworks<M>& networks, const QLearningConfig& config,
             const QGuidance& guidance, const SequenceShape& shape, const SequenceBatch& batch,
             const S* online, const S* target, S* gradients) {
    const AgentTeam& team = networks.team();
    in_.prepare(shape, batch, guidance);
    columns_ = M::kPerAgent ? in_.slots : 1;
    const std::size_t rows = in_.steps * in_.count, agent_rows = rows * in_.slots;
    const auto play = [&](std::size_t at, std::size_t frames) {
      return team.forward(tape, online + at, gradients == nullptr ? nullptr : gradients + at,
                          in_.observations, frames, in_.count, in_.memory, batch.arrived.data());
    };
    const Var state = tape.input(in_.states, rows, in_.state);
    const auto mix_chosen = [&](Var q, const auto& mixer, std::size_t at) {
      const Var chosen = tape.gather(tape.slice_rows(q, 0, agent_rows), in_.options.data());
      return mixer.mix(tape, online + at, gradients == nullptr ? nullptr : gradients + at,
                       tape.reshape(chosen, rows, in_.slots), state);
    };
    // With memory the last frame needs all before it, so all run on the tape.
    const Var all = play(0, team.memory() > 0 ? in_.steps + 1 : in_.steps);
    targets_ = bootstrap_.targets(networks, config, in_, online, target, tape.value(all));
    const Var value = mix_chosen(all, networks.mixer(), networks.mixer_at());
    const Var y = tape.input(targets_.data(), rows, columns_);
    const Var error = tape.sub(value, y);
    weigh(config, tape.value(error));
    const auto penalty = [&](Var e) {
      return config.huber > 0.0 ? tape.huber(e, static_cast<S>(config.huber)) : tape.square(e);
    };
    Var loss = tape.dot(penalty(error), weights_.data());
    if constexpr (M::kCentral) {
      const Var best =
          mix_chosen(play(networks.central_team_at(), in_.steps), networks.central(), networks.central_at());
      loss = tape.add(loss, tape.dot(penalty(tape.sub(best, y)), plain_weights_.data()));
    }
    if (guidance.constraint > 0.0) {
      constrain(guidance);
      const Var off = tape.sub(value, tape.input(guided_.data(), rows, columns_));
      loss = tape.add(loss, tape.dot(tape.square(off), guided_weights_.data()));
    }
    measure(tape.value(value), tape.value(error));
    return loss;
  }

  /// Of the last record().
  const QLossReport& report() const noexcept { return report_; }
  /// Targets of the last record(), [steps x pieces x columns], columns = slots where nothing is mixed,
  /// else 1.
  std::span<const S> targets() const noexcept { return targets_; }
  /// Rewards learnt from so far (QLearningConfig::bound_values).
  RewardRange& reward_range() noexcept { return bootstrap_.range(); }
  const RewardRange& reward_range() const noexcept { return bootstrap_.range(); }
  /// Weights of these in the loss.
  std::span<const S> weights() const noexcept { return weights_; }

 private:
  bool counts(std::size_t burn_in, std::size_t t, std::size_t b, std::size_t c) const {
    return in_.batch->valid(t, b) && (t >= burn_in || in_.batch->fresh[b] != 0) &&
           (!M::kPerAgent || in_.batch->present[(t * in_.count + b) * in_.slots + c] != 0);
  }
  /// Weights of all errors in the loss.
  void weigh(const QLearningConfig& config, std::span<const S> error) {
    plain_weights_.assign(error.size(), S(0));
    counted_ = 0;
    for (std::size_t at = 0; at < error.size(); ++at) {
      const std::size_t step = at / columns_, b = step % in_.count;
      if (!counts(config.burn_in, step / in_.count, b, at % columns_)) continue;
      ++counted_;
      plain_weights_[at] = static_cast<S>(in_.batch->importance[b]);
    }
    const S share = counted_ == 0 ? S(0) : S(1) / static_cast<S>(counted_);
    for (S& w : plain_weights_) w *= share;
    weights_ = plain_weights_;
    if constexpr (M::kCentral)
      for (std::size_t at = 0; at < weights_.size(); ++at)
        if (!(error[at] < S(0))) weights_[at] *= static_cast<S>(config.optimistic_alpha);
  }
  void constrain(const QGuidance& guidance) {
    guided_.assign(weights_.size(), S(0));
    guided_weights_.assign(weights_.size(), S(0));
    for (std::size_t t = 0; t < in_.steps; ++t)
      for (std::size_t b = 0; b < in_.count; ++b) {
        if (!in_.batch->valid(t, b)) continue;
        const auto g = static_cast<S>(guidance.value(in_.moment(t, b)));
        if (std::isnan(g)) continue;
        for (std::size_t c = 0, at = (t * in_.count + b) * columns_; c < columns_; ++c, ++at) {
          guided_[at] = g;
          guided_weights_[at] = static_cast<S>(guidance.constraint) * plain_weights_[at];
        }
      }
  }
  void measure(std::span<const S> value, std::span<const S> error) {
    report_.value = report_.target = 0.0;
    report_.priority.assign(in_.count, 0.0);
    sum_.assign(in_.count, 0.0);
    number_.assign(in_.count, 0.0);
    const double share = counted_ == 0 ? 0.0 : 1.0 / static_cast<double>(counted_);
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (plain_weights_[at] == S(0)) continue;
      const std::size_t b = at / columns_ % in_.count;
      const double off = std::fabs(static_cast<double>(error[at]));
      report_.value += share * static_cast<double>(value[at]);
      report_.target += share * static_cast<double>(targets_[at]);
      report_.priority[b] = std::max(report_.priority[b], off);
      sum_[b] += off;
      number_[b] += 1.0;
    }
    for (std::size_t b = 0; b < in_.count; ++b)
      if (number_[b] > 0.0) report_.priority[b] = 0.9 * report_.priority[b] + 0.1 * sum_[b] / number_[b];
  }

  std::size_t columns_ = 1, counted_ = 0;
  QInputs<S> in_;
  QBootstrap<M, S> bootstrap_;
  std::span<const S> targets_;
  std::vector<S> weights_, plain_weights_, guided_, guided_weights_;
  std::vector<double> sum_, number_;
  QLossReport report_;
};

}  // namespace mara
