#pragma once
// A chunk of a minibatch of a team's experience: whole sequences, gathered from rollouts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mara/critic/value_critic.hpp"
#include "mara/learning/team_actor.hpp"
#include "mara/learning/team_rollout.hpp"

namespace mara {

/// A sequence of a rollout.
struct TeamSequence {
  std::uint32_t environment = 0, first = 0;  ///< its first step
};

/// What the losses see. Arrays of whole teams are time-major, [steps x count x ...]; `live` arrays have a
/// row for every present agent, ordered by group of parameters, so that absent agents are in no loss.
struct TeamBatch {
  std::size_t steps = 0, count = 0;
  std::vector<float> observations, states, actor_memory, critic_memory;
  std::vector<std::uint8_t> present, arrived, began;
  std::vector<std::int32_t> live;       ///< row among (steps x count x slots) of every live row
  std::vector<std::size_t> group_ends;  ///< per group: live rows up to and with it
  std::vector<OptionMask> masks;        ///< group by group, head by head: [heads x rows of the group]
  std::vector<std::int32_t> options;    ///< the same
  std::vector<float> latents, log_probabilities, advantages, weights, distribution, signals;  ///< live
  std::vector<float> old_values, targets, value_weights;  ///< [steps x count x columns]
  // For the critic's constraint: the states that follow, and the signal where they are of the same episode.
  std::vector<float> next_observations, next_states, alignment;
  std::vector<std::uint8_t> next_present;

  critic::ValueRows value_rows() const noexcept {
    return {steps, count, states.data(), observations.data(), present.data(), arrived.data(), began.data()};
  }
};

/// Numbers of the rows that a batch copies.
struct TeamBatchShape {
  std::size_t observation = 0, state = 0, heads = 0, options = 0, numbers = 0;
  std::size_t actor_memory = 0, critic_memory = 0;  ///< per team
  std::size_t sequence_steps = 1;
  bool guided = false;     ///< q and signals too
  bool following = false;  ///< the states that follow too
};

namespace detail {
template <class T>
void copy_row(const std::vector<T>& from, std::size_t from_row, std::vector<T>& to, std::size_t to_row,
              std::size_t width) {
  std::copy_n(from.data() + from_row * width, width, to.data() + to_row * width);
}

/// Live rows of the batch, ordered by group, and what the policy's loss needs of them.
inline void gather_live(const std::vector<TeamRollout>& rollouts, std::span<const TeamSequence> sequences,
                        const TeamActor& actor, const TeamBatchShape& shape, TeamBatch& b) {
  const std::size_t slots = actor.shape().agents;
  b.live.clear(), b.group_ends.clear(), b.masks.clear(), b.options.clear(), b.latents.clear();
  b.log_probabilities.clear(), b.advantages.clear(), b.distribution.clear(), b.signals.clear();
  for (std::size_t g = 0; g < actor.groups(); ++g) {
    const std::size_t first = b.live.size();
    for (std::size_t row = 0; row < b.present.size(); ++row)
      if (b.present[row] != 0 && actor.group(row % slots) == g)
        b.live.push_back(static_cast<std::int32_t>(row));
    b.group_ends.push_back(b.live.size());
    const std::size_t rows = b.live.size() - first, base = first * shape.heads;
    b.masks.resize(base + rows * shape.heads), b.options.resize(base + rows * shape.heads);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(b.live[first + i]), team = row / slots, slot = row % slots;
      const TeamSequence& sequence = sequences[team % b.count];
      const TeamRollout& from = rollouts[sequence.environment];
      const std::size_t t = sequence.first + team / b.count, at = t * slots + slot;
      for (std::size_t h = 0; h < shape.heads; ++h) {
        b.masks[base + h * rows + i] = from.masks[at * shape.heads + h];
        b.options[base + h * rows + i] = from.options[at * shape.heads + h];
      }
      const auto append = [at](const std::vector<float>& values, std::size_t width, std::vector<float>& to) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at * width);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
      };
      append(from.latents, shape.numbers, b.latents);
      append(from.log_probabilities, 1, b.log_probabilities);
      if (shape.guided) append(from.distribution, shape.options, b.distribution);
      if (shape.guided) append(from.signals, 1, b.signals);
      b.advantages.push_back(from.advantages[from.per_agent ? at : t]);
    }
  }
}

/// The states that follow those of the batch.
inline void gather_following(const std::vector<TeamRollout>& rollouts,
                             std::span<const TeamSequence> sequences, std::size_t slots,
                             const TeamBatchShape& shape, TeamBatch& b) {
  const std::size_t teams = b.steps * b.count;
  b.next_observations.resize(teams * slots * shape.observation), b.next_states.resize(teams * shape.state);
  b.next_present.assign(teams * slots, 0), b.alignment.assign(b.old_values.size(), 0.0f);
  for (std::size_t team = 0; team < teams; ++team) {
    const TeamSequence& sequence = sequences[team % b.count];
    const TeamRollout& from = rollouts[sequence.environment];
    const std::size_t t = sequence.first + team / b.count, columns = from.columns;
    if (from.ends[t] == StepEnd::kTerminated) {  // nothing follows: any finite numbers with weight 0
      copy_row(from.observations, t, b.next_observations, team, slots * shape.observation);
      copy_row(from.states, t, b.next_states, team, shape.state);
      continue;
    }
    const bool last = from.final_of[t] >= 0;
    const std::size_t at = last ? static_cast<std::size_t>(from.final_of[t]) : t + 1;
    copy_row(last ? from.final_observations : from.observations, at, b.next_observations, team,
             slots * shape.observation);
    copy_row(last ? from.final_states : from.states, at, b.next_states, team, shape.state);
    copy_row(last ? from.final_stays : from.present, at, b.next_present, team, slots);
    for (std::size_t c = 0; c < columns; ++c)
      if (from.value_ends[t * columns + c] != StepEnd::kTerminated)
        b.alignment[team * columns + c] = from.alignment[t];
  }
}
}  // namespace detail

/// Fills `b` with sequences; targets are in the units of rewards, weights stay to be set. Advantages are as
/// the rollouts have them.
inline void gather_team_batch(const std::vector<TeamRollout>& rollouts,
                              std::span<const TeamSequence> sequences, const TeamActor& actor,
                              const TeamBatchShape& shape, TeamBatch& b) {
  const std::size_t slots = actor.shape().agents, columns = rollouts.front().columns;
  b.steps = shape.sequence_steps, b.count = sequences.size();
  const std::size_t teams = b.steps * b.count;
  b.observations.resize(teams * slots * shape.observation), b.states.resize(teams * shape.state);
  b.actor_memory.resize(b.count * shape.actor_memory), b.critic_memory.resize(b.count * shape.critic_memory);
  b.present.resize(teams * slots), b.arrived.resize(teams * slots), b.began.resize(teams);
  for (auto* of_values : {&b.old_values, &b.targets, &b.value_weights}) of_values->resize(teams * columns);
  for (std::size_t s = 0; s < b.count; ++s) {
    const TeamSequence& sequence = sequences[s];
    const TeamRollout& from = rollouts[sequence.environment];
    const std::size_t number = sequence.first / shape.sequence_steps;
    if (shape.actor_memory > 0)
      detail::copy_row(from.actor_memory, number, b.actor_memory, s, shape.actor_memory);
    if (shape.critic_memory > 0)
      detail::copy_row(from.critic_memory, number, b.critic_memory, s, shape.critic_memory);
    for (std::size_t k = 0; k < b.steps; ++k) {
      const std::size_t t = sequence.first + k, team = k * b.count + s;
      detail::copy_row(from.observations, t, b.observations, team, slots * shape.observation);
      detail::copy_row(from.states, t, b.states, team, shape.state);
      detail::copy_row(from.present, t, b.present, team, slots);
      detail::copy_row(from.arrived, t, b.arrived, team, slots);
      b.began[team] = from.began[t];
      detail::copy_row(from.values, t, b.old_values, team, columns);
      detail::copy_row(from.returns, t, b.targets, team, columns);
      for (std::size_t c = 0; c < columns; ++c)
        b.value_weights[team * columns + c] = from.counted[t * columns + c] != 0 ? 1.0f : 0.0f;
    }
  }
  detail::gather_live(rollouts, sequences, actor, shape, b);
  if (shape.following) detail::gather_following(rollouts, sequences, slots, shape, b);
}

}  // namespace mara
