#pragma once
// Values and advantages of a team's rollout.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mara/critic/value_critic.hpp"
#include "mara/learning/gae.hpp"
#include "mara/learning/team_rollout.hpp"

namespace mara {

/// Memory for one evaluation at a time.
template <critic::ValueCritic Critic>
struct TeamValueWorkspace {
  typename Critic::Workspace critic;
  std::vector<float> final_values, memory;
  std::vector<std::uint8_t> nobody;
  std::vector<float> rewards, values, next_values, deltas;
  std::vector<StepEnd> ends;
};

/// Fills values of every step and final_values [finals x columns] as the critic says them. `memory` is the
/// critic's at the first step, then at the one after the last; where the sequences of the rollout begin it is
/// kept in rollout.critic_memory.
template <critic::ValueCritic Critic>
void evaluate_team(const Critic& critic, const float* storage, std::size_t sequence_steps,
                   std::size_t observation, std::size_t state, std::vector<float>& memory,
                   TeamRollout& rollout, TeamValueWorkspace<Critic>& work) {
  const std::size_t slots = rollout.slots, columns = rollout.columns, numbers = critic.memory();
  work.final_values.resize(rollout.finals * columns);
  work.nobody.assign(std::max<std::size_t>(1, rollout.finals) * slots, 0);
  const auto rows = [&](std::size_t t, std::size_t count) {
    return critic::ValueRows{1,
                             count,
                             rollout.states.data() + t * state,
                             rollout.observations.data() + t * slots * observation,
                             rollout.present.data() + t * slots,
                             rollout.arrived.data() + t * slots,
                             rollout.began.data() + t};
  };
  const auto final_rows = [&](std::size_t f, std::size_t count) {
    return critic::ValueRows{1,
                             count,
                             rollout.final_states.data() + f * state,
                             rollout.final_observations.data() + f * slots * observation,
                             rollout.final_stays.data() + f * slots,
                             work.nobody.data(),
                             work.nobody.data()};
  };
  if (numbers == 0) {
    critic.step(storage, rows(0, rollout.steps), nullptr, rollout.values.data(), work.critic);
    if (rollout.finals > 0)
      critic.step(storage, final_rows(0, rollout.finals), nullptr, work.final_values.data(), work.critic);
    return;
  }
  rollout.critic_memory.resize((rollout.steps + sequence_steps - 1) / sequence_steps * numbers);
  for (std::size_t t = 0; t < rollout.steps; ++t) {
    if (t % sequence_steps == 0)
      std::copy(memory.begin(), memory.end(), &rollout.critic_memory[t / sequence_steps * numbers]);
    critic.step(storage, rows(t, 1), memory.data(), &rollout.values[t * columns], work.critic);
    if (rollout.final_of[t] < 0) continue;
    const auto f = static_cast<std::size_t>(rollout.final_of[t]);
    work.memory = memory;  // looking ahead must not be remembered
    critic.step(storage, final_rows(f, 1), work.memory.data(), &work.final_values[f * columns], work.critic);
  }
}

/// How step t ended for the owner of a value. With a value per agent, one that is not there any more at the
/// next step has terminated for itself; so has one whose place another agent took.
inline StepEnd end_for(const TeamRollout& r, std::size_t t, std::size_t column) noexcept {
  const StepEnd end = r.ends[t];
  if (!r.per_agent) return end;
  if (r.present[t * r.slots + column] == 0 || end == StepEnd::kTerminated) return StepEnd::kTerminated;
  const bool stays =
      r.final_of[t] >= 0
          ? r.final_stays[static_cast<std::size_t>(r.final_of[t]) * r.slots + column] != 0
          : r.present[(t + 1) * r.slots + column] != 0 && r.arrived[(t + 1) * r.slots + column] == 0;
  return stays ? end : StepEnd::kTerminated;
}

/// From values in the units of rewards (rollout.values and work.final_values, changed so by the caller):
/// next_values, value_ends, counted, advantages and returns of every column. Entries of absent agents have
/// advantage 0.
template <critic::ValueCritic Critic>
void estimate_team_advantages(float gamma, float lambda, TeamRollout& r, TeamValueWorkspace<Critic>& work) {
  const std::size_t steps = r.steps, columns = r.columns;
  for (auto* line : {&work.rewards, &work.values, &work.next_values, &work.deltas}) line->resize(steps);
  work.ends.resize(steps);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t at = t * columns + c;
      // The value of a team with nobody there is still the team's.
      r.counted[at] = !r.per_agent ? 1 : r.present[t * r.slots + c];
      r.value_ends[at] = end_for(r, t, c);
      const bool continues = r.final_of[t] < 0 && t + 1 < steps && r.ends[t] == StepEnd::kContinues;
      r.next_values[at] = r.value_ends[at] == StepEnd::kTerminated ? 0.0f
                          : continues
                              ? r.values[at + columns]
                              : work.final_values[static_cast<std::size_t>(r.final_of[t]) * columns + c];
      work.rewards[t] = r.counted[at] != 0 ? r.rewards[at] : 0.0f;
      work.values[t] = r.counted[at] != 0 ? r.values[at] : 0.0f;
      work.next_values[t] = r.next_values[at];
      work.ends[t] = r.value_ends[at];
    }
    td_errors(work.rewards, work.values, work.next_values, work.ends, gamma, work.deltas);
    accumulate_advantages(work.deltas, work.ends, gamma, lambda);
    for (std::size_t t = 0; t < steps; ++t) {
      r.advantages[t * columns + c] = work.deltas[t];
      r.returns[t * columns + c] = work.deltas[t] + work.values[t];
    }
  }
}

}  // namespace mara
