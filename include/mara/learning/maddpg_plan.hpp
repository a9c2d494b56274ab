#pragma once
// The networks of MADDPG, how a critic sees states and joint actions, and what its targets are.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mara/action/exploration.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/core/libm.hpp"
#include "mara/learning/gae.hpp"
#include "mara/learning/maddpg_config.hpp"

namespace mara {

/// The networks of a MADDPG learner, without their parameters. Actors say a logit per option and a number
/// before tanh per number of the box part. A critic sees a row of inputs(): the global state, then for each
/// slot width() numbers, a one-hot per head and the box part with its bounds moved to [-1, 1]; zeros for
/// absent agents. It says values() numbers: the value of the team, or one of every slot.
struct MaddpgPlan {
  GameShape game;
  AgentTeam actors;
  AgentNetwork critic;
  std::size_t critics = 1;  ///< their parameters lie one after the other
  RewardKind rewards = RewardKind::kTeam;

  /// Errors: those of check_action_shape(), AgentTeam and AgentNetwork.
  static Result<MaddpgPlan> create(const MaddpgConfig& config, const GameShape& game) {
    if (const Status fine = check_action_shape(game.action); !fine) return fine.error();
    MaddpgPlan plan;
    plan.game = game;
    plan.critics = config.twin_critics ? 2 : 1;
    plan.rewards = config.rewards;
    auto actors = AgentTeam::create(config.actors, game.agents, game.observation, game.action.outputs());
    if (!actors) return Error{actors.error().code, std::string("maddpg: actors: ") + actors.error().message};
    plan.actors = std::move(actors).value();
    auto critic = AgentNetwork::create({.inputs = plan.inputs(),
                                        .outputs = plan.values(),
                                        .hidden = config.critic_hidden,
                                        .activation = config.critic_activation});
    if (!critic) return Error{critic.error().code, std::string("maddpg: critic: ") + critic.error().message};
    plan.critic = std::move(critic).value();
    return plan;
  }

  std::size_t slots() const noexcept { return game.agents; }
  std::size_t heads() const noexcept { return game.action.choices(); }
  std::size_t width() const noexcept { return game.action.outputs(); }
  std::size_t inputs() const noexcept { return game.state + slots() * width(); }
  std::size_t values() const noexcept { return rewards == RewardKind::kTeam ? 1 : slots(); }
  std::size_t critic_stored() const noexcept { return critics * critic.stored(); }
};

/// Rows of inputs of a critic: states[count x state] and what was done, options[count x slots x heads] and
/// numbers[count x slots x numbers] as the game got them, by those present[count x slots].
template <class S>
void encode_joint_actions(const MaddpgPlan& plan, std::size_t count, const std::type_identity_t<S>* states,
                          const std::uint8_t* present, const std::int32_t* options, const float* numbers,
                          S* inputs) {
  const std::size_t heads = plan.heads(), box = plan.game.action.numbers();
  std::fill_n(inputs, count * plan.inputs(), S(0));
  for (std::size_t b = 0; b < count; ++b) {
    S* to = std::copy_n(states + b * plan.game.state, plan.game.state, inputs + b * plan.inputs());
    for (std::size_t row = b * plan.slots(); row < (b + 1) * plan.slots(); ++row, to += plan.width()) {
      if (present[row] == 0) continue;
      S* at = to;
      for (std::size_t h = 0; h < heads; ++h) {
        at[options[row * heads + h]] = S(1);
        at += plan.game.action.heads[h];
      }
      for (std::size_t k = 0; k < box; ++k) {
        const auto low = static_cast<S>(plan.game.action.box[k].low);
        const auto high = static_cast<S>(plan.game.action.box[k].high);
        at[k] = ((static_cast<S>(numbers[row * box + k]) - low) -
                 (high - static_cast<S>(numbers[row * box + k]))) /
                (high - low);
      }
    }
  }
}

/// How the actions of target actors are made.
struct MaddpgTargetActions {
  GaussianNoise noise{};       ///< on numbers in [-1, 1], cut to these
  bool sample_options = true;  ///< drawn, or the most probable ones
};

/// Rows of inputs of a critic with the actions that outputs[count x slots x width] of the target actors mean
/// under masks[count x slots x heads]. Random numbers are drawn for present agents only. Outputs that are not
/// finite give NaN.
inline void encode_target_actions(const MaddpgPlan& plan, std::size_t count, const float* states,
                                  const std::uint8_t* present, const OptionMask* masks, const float* outputs,
                                  const MaddpgTargetActions& how, Random& random, float* inputs) {
  const std::size_t heads = plan.heads(), box = plan.game.action.numbers();
  const std::vector<ActionBounds> unit(box);
  std::fill_n(inputs, count * plan.inputs(), 0.0f);
  for (std::size_t b = 0; b < count; ++b) {
    float* to = std::copy_n(states + b * plan.game.state, plan.game.state, inputs + b * plan.inputs());
    for (std::size_t row = b * plan.slots(); row < (b + 1) * plan.slots(); ++row, to += plan.width()) {
      if (present[row] == 0) continue;
      const float* from = outputs + row * plan.width();
      float* at = to;
      for (std::size_t h = 0; h < heads; ++h) {
        const int n = plan.game.action.heads[h];
        const OptionMask mask = masks[row * heads + h];
        const int chosen =
            how.sample_options ? masked_sample(from, n, mask, random) : masked_mode(from, n, mask);
        at[chosen < 0 ? 0 : chosen] = chosen < 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
        at += n, from += n;
      }
      for (std::size_t k = 0; k < box; ++k)
        at[k] = static_cast<float>(libm::tanh(static_cast<double>(from[k])));
      how.noise.add(unit, random, at);
    }
  }
}

/// One stretch of a batch as targets need it; arrays of `count` transitions.
struct MaddpgOutcomes {
  const float* team_rewards = nullptr;         ///< count
  const float* rewards = nullptr;              ///< count x slots
  const std::uint8_t* ends = nullptr;          ///< count, StepEnd
  const std::uint8_t* next_present = nullptr;  ///< count x slots
  const std::uint8_t* next_arrived = nullptr;  ///< count x slots
};

/// targets[count x values] = reward_scale r + gamma min over critics of next_values[critics x count x
/// values]. No value of what follows after a termination, nor, with individual rewards, for an agent that has
/// left (its slot is empty or somebody else's); a truncated episode goes on from its final state.
inline void maddpg_targets(const MaddpgPlan& plan, std::size_t count, const MaddpgOutcomes& outcomes,
                           const float* next_values, float reward_scale, float gamma,
                           float* targets) noexcept {
  const std::size_t width = plan.values();
  for (std::size_t b = 0; b < count; ++b)
    for (std::size_t i = b * width; i < (b + 1) * width; ++i) {
      bool goes_on = static_cast<StepEnd>(outcomes.ends[b]) != StepEnd::kTerminated;
      float reward = outcomes.team_rewards[b];
      if (plan.rewards == RewardKind::kIndividual) {
        goes_on = goes_on && outcomes.next_present[i] != 0 && outcomes.next_arrived[i] == 0;
        reward = outcomes.rewards[i];
      }
      targets[i] = reward_scale * reward;
      if (!goes_on) continue;
      float value = next_values[i];
      const float other = next_values[(plan.critics - 1) * count * width + i];
      if (other < value || other != other) value = other;  // a NaN of either stays
      targets[i] += gamma * value;
    }
}

}  // namespace mara
