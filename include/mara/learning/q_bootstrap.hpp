#pragma once
// Targets of a batch: what the next steps are worth, and what follows for every step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/learning/q_inputs.hpp"
#include "mara/learning/q_learning_config.hpp"
#include "mara/learning/q_networks.hpp"
#include "mara/learning/q_targets.hpp"

namespace mara {

/// The smallest and the largest reward learnt from, and 0 (what an end is worth).
struct RewardRange {
  float lowest = 0.0f, highest = 0.0f;

  void see(float reward) noexcept {
    lowest = std::min(lowest, reward);
    highest = std::max(highest, reward);
  }
  /// What `reward` in every step is worth.
  static double for_ever(float reward, double gamma) noexcept {
    return reward == 0.0f ? 0.0 : static_cast<double>(reward) / (1.0 - gamma);
  }
};

/// Values of next steps come from the target networks, at the options that the online networks (double Q)
/// prefer with the next step's observation, memory and mask; with an unrestricted value, from that at the
/// options that Q_tot prefers. A termination has no next value, a truncation the one of the final
/// observation. Absent agents enter no mixer. Where nothing is mixed an agent that leaves has come to its
/// end.
template <Mixing M, class S>
class QBootstrap {
 public:
  /// Targets [steps x count x columns], columns = slots where nothing is mixed, else 1; 0 in padding.
  /// `recorded`: values of the online networks, slots x options, of all frames or (without memory) of all but
  /// the last. Valid until the next call.
  std::span<const S> targets(const QNetworks<M>& networks, const QLearningConfig& config,
                             const QInputs<S>& in, const S* online, const S* target,
                             std::span<const S> recorded) {
    const AgentTeam& team = networks.team();
    evaluate(team, target, in, 1, target_values_);
    if (config.double_q && team.memory() == 0) evaluate(team, online, in, in.steps, last_values_);
    choose(team.outputs(), config.double_q, in, recorded);
    if constexpr (M::kCentral) {
      evaluate(team, target + networks.central_team_at(), in, 1, target_values_);
      for (std::size_t r = 0; r < options_.size(); ++r)
        if (options_[r] >= 0)
          values_[r] = target_values_[r * team.outputs() + static_cast<std::size_t>(options_[r])];
    }
    mixing_.clear();
    const std::size_t rows = in.steps * in.count;
    const Var q = mixing_.input(values_.data(), rows, in.slots);
    const Var state = mixing_.input(in.states + in.count * in.state, rows, in.state);
    Var mixed;
    if constexpr (M::kCentral) {
      mixed = networks.central().mix(mixing_, target + networks.central_at(), nullptr, q, state);
    } else {
      mixed = networks.mixer().mix(mixing_, target + networks.mixer_at(), nullptr, q, state);
    }
    walk(config, in, mixing_.value(mixed));
    return targets_;
  }
  /// The rewards seen so far, part of what a run needs to go on.
  RewardRange& range() noexcept { return range_; }
  const RewardRange& range() const noexcept { return range_; }
  /// Options that were preferred in frames 1 to T, [steps x count x slots]; -1 for absent agents.
  std::span<const std::int32_t> options() const noexcept { return options_; }

 private:
  /// Values of frames 1 to T by a storage, without a tape, into out [T x count x slots x options]; `first` >
  /// 1 spares the frames before where there is no memory.
  void evaluate(const AgentTeam& team, const S* storage, const QInputs<S>& in, std::size_t first,
                std::vector<S>& out) {
    const std::size_t rows = in.count * in.slots, width = rows * team.outputs();
    out.resize(in.steps * width);
    const auto frames = [&](std::size_t t, std::size_t number, S* to) {
      team.step(storage, in.observations + t * rows * team.observation(), number * in.count, memory_.data(),
                in.batch->arrived.data() + t * rows, to, workspace_);
    };
    if (team.memory() == 0) return frames(first, in.steps + 1 - first, out.data() + (first - 1) * width);
    memory_.assign(in.memory, in.memory + rows * team.memory());
    frames(0, 1, out.data());  // for the memory only
    for (std::size_t t = 1; t <= in.steps; ++t) frames(t, 1, out.data() + (t - 1) * width);
  }
  /// The preferred option of every agent in every frame from 1 on, and its value by target_values_.
  void choose(std::size_t width, bool double_q, const QInputs<S>& in, std::span<const S> recorded) {
    const std::size_t rows = in.count * in.slots;
    options_.assign(in.steps * rows, -1);
    values_.assign(in.steps * rows, S(0));
    for (std::size_t at = 0; at < options_.size(); ++at) {
      const std::size_t here = at + rows;  // the same place one frame on, counted from frame 0
      if (here / rows > in.batch->lengths[here % rows / in.slots] || in.batch->present[here] == 0) continue;
      const S* by_target = target_values_.data() + at * width;
      const S* by_online = !double_q                               ? nullptr
                           : (here + 1) * width <= recorded.size() ? recorded.data() + here * width
                                                                   : last_values_.data() + at * width;
      const NextValue<S> next = next_value(by_online, by_target, width, in.batch->masks[here], double_q);
      options_[at] = next.option;
      values_[at] = next.value;
    }
  }
  /// From next values [steps x count x columns] to targets, column by column of every piece.
  void walk(const QLearningConfig& config, const QInputs<S>& in, std::span<const S> next) {
    const std::size_t columns = M::kPerAgent ? in.slots : 1;
    targets_.assign(in.steps * in.count * columns, S(0));
    column_.resize(3 * in.steps);
    ends_.resize(in.steps);
    const auto gamma = static_cast<S>(config.gamma);
    const auto [lowest, highest] = bounds(config, in, columns);
    for (std::size_t b = 0; b < in.count; ++b)
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t length = in.batch->lengths[b];
        const std::span<S> rewards(column_.data(), length), values(column_.data() + in.steps, length),
            out(column_.data() + 2 * in.steps, length);
        for (std::size_t t = 0; t < length; ++t) {
          const std::size_t at = t * in.count + b, after = (at + in.count) * in.slots + c;
          rewards[t] = static_cast<S>(config.reward_scale) * reward(config, in, at, c);
          values[t] = std::clamp(next[at * columns + c], lowest, highest);
          ends_[t] = static_cast<StepEnd>(in.batch->ends[at]);
          if (M::kPerAgent && (in.batch->present[after] == 0 || in.batch->arrived[after] != 0))
            ends_[t] = StepEnd::kTerminated;
        }
        const std::span<const StepEnd> ends(ends_.data(), length);
        if (config.lambda > 0.0) {
          lambda_targets<S>(rewards, values, ends, gamma, static_cast<S>(config.lambda), out);
        } else {
          n_step_targets<S>(rewards, values, ends, gamma, config.n_step, out);
        }
        for (std::size_t t = 0; t < length; ++t) targets_[(t * in.count + b) * columns + c] = out[t];
      }
  }
  /// Bounds of next values, with the rewards of this batch.
  std::pair<S, S> bounds(const QLearningConfig& config, const QInputs<S>& in, std::size_t columns) {
    if (!config.bound_values)
      return {-std::numeric_limits<S>::infinity(), std::numeric_limits<S>::infinity()};
    for (std::size_t at = 0; at < in.steps * in.count; ++at) {
      if (!in.batch->valid(at / in.count, at % in.count)) continue;
      for (std::size_t c = 0; c < columns; ++c) range_.see(static_cast<float>(reward(config, in, at, c)));
    }
    return {static_cast<S>(config.reward_scale * RewardRange::for_ever(range_.lowest, config.gamma)),
            static_cast<S>(config.reward_scale * RewardRange::for_ever(range_.highest, config.gamma))};
  }
  static S reward(const QLearningConfig& config, const QInputs<S>& in, std::size_t at, std::size_t c) {
    if (config.reward == RewardKind::kTeam) return static_cast<S>(in.batch->team_rewards[at]);
    const float* own = in.batch->rewards.data() + at * in.slots;
    if (M::kPerAgent) return static_cast<S>(own[c]);
    S sum = S(0);
    for (std::size_t i = 0; i < in.slots; ++i) sum += static_cast<S>(own[i]);
    return sum;
  }

  RewardRange range_;
  std::vector<std::int32_t> options_;
  std::vector<S> memory_, target_values_, last_values_, values_, targets_, column_;
  std::vector<StepEnd> ends_;
  AgentTeam::WorkspaceOf<S> workspace_;
  Tape<S> mixing_;
};

}  // namespace mara
