#pragma once
// The families of learners, each compiled by itself.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "game_learners.hpp"
#include "mara/critic/centralised_values.hpp"
#include "mara/critic/independent_values.hpp"
#include "mara/learning/maddpg_config.hpp"
#include "mara/learning/q_learning_config.hpp"
#include "mara/learning/team_ppo_config.hpp"
#include "mara/nn/agent_team.hpp"

namespace lab {

mara::Result<Learner> ppo_learner(const TrainOptions& options, const mara::GameMaker& make,
                                  std::int64_t schedule_steps);
mara::Result<Learner> q_learner(const TrainOptions& options, const mara::GameMaker& make,
                                std::int64_t schedule_steps);
mara::Result<Learner> maddpg_learner(const TrainOptions& options, const mara::GameMaker& make);

using IppoConfig = mara::TeamPpoConfig<mara::critic::IndependentValues::Config>;
using MappoConfig = mara::TeamPpoConfig<mara::critic::CentralisedValues::Config>;

/// Trainers from configurations. `kind`: the mixer, kIql, kVdn, kQmix or kOwQmix.
mara::Result<mara::AnyTrainer> begin(const IppoConfig& config, const mara::GameMaker& make);
mara::Result<mara::AnyTrainer> begin(const MappoConfig& config, const mara::GameMaker& make);
mara::Result<mara::AnyTrainer> begin(const mara::QLearningConfig& config, LearnerName kind,
                                     const mara::GameMaker& make);
mara::Result<mara::AnyTrainer> begin(const mara::MaddpgConfig& config, const mara::GameMaker& make);

/// The hidden widths of the options.
inline std::vector<std::size_t> hidden_widths(const TrainOptions& options) {
  return {options.hidden.begin(), options.hidden.end()};
}

/// The networks of the agents as the options say, on top of a learner's own.
inline mara::TeamConfig team_of(const TrainOptions& options, mara::TeamConfig team, std::size_t slots) {
  team.network.hidden = hidden_widths(options);
  team.network.recurrence = options.recurrence;
  team.network.memory_units = static_cast<std::size_t>(options.memory);
  team.agent_ids = !options.no_ids && slots > 1;
  if (options.separate) team.groups = mara::separate_groups(slots);
  return team;
}

/// Sets a hyper-parameter where its option is given.
template <class Number, class Option>
void set(Number& parameter, const std::optional<Option>& option) {
  if (option) parameter = static_cast<Number>(*option);
}

/// A trainer of type T behind one type.
template <class T>
mara::Result<mara::AnyTrainer> any_trainer(const typename T::Config& config, const mara::GameMaker& make) {
  auto made = T::create(config, make);
  if (!made) return made.error();
  return mara::AnyTrainer(std::move(*made));
}

}  // namespace lab
