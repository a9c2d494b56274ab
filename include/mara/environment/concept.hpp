#pragma once
// The environment concept: a partially observable Markov game whose agents come and go, and whose hard limits
// make the legal options of one agent depend on what agents before it took in the same step.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "mara/action/masked_categorical.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// What one step of an environment says. `terminated`: the game is over, the value of the final state is 0.
/// `truncated`: a time limit cut the episode, the value of the final state counts. The final state can still
/// be observed after the step; the caller resets.
struct StepOutcome {
  float team_reward = 0.0f;
  bool terminated = false;
  bool truncated = false;
};

/// Requirements (E is the environment, e an object of it):
/// - E::kObservation, E::kGlobalState, E::kOptions: extents of an agent's observation, of the state that a
///   centralised critic sees, and of the action space (<= 32);
/// - e.reset(seed) -> Status: a new episode, the same for the same seed;
/// - e.agents() -> std::size_t: agents present now, indices 0..agents-1 until the next step (may be 0);
/// - e.observe(float* rows): writes agents x kObservation; e.global_state(float* row): kGlobalState;
/// - e.turn_order() -> std::span<const std::uint32_t>: the order in which agents choose;
/// - e.mask(agent) -> OptionMask: legal options given what was chosen so far (at least one bit set);
/// - e.possible(agent) -> OptionMask: options that could be legal whatever the others choose;
/// - e.act(agent, option): records a choice; e.step() -> StepOutcome;
/// - e.rewards() -> std::span<const float>: individual rewards of the agents that acted in the last step;
/// - e.current_option(agent) -> int: the option that describes what the agent holds now (origin of the flow).
template <class E>
concept Environment = requires(E e, const E& c, std::uint64_t seed, float* out, std::size_t agent,
                               int option) {
  requires E::kObservation >
  0 && E::kGlobalState > 0;
  requires E::kOptions >
  0 && E::kOptions <= 32;
  { e.reset(seed) } -> std::same_as<Status>;
  { c.agents() } -> std::convertible_to<std::size_t>;
  { c.observe(out) } -> std::same_as<void>;
  { c.global_state(out) } -> std::same_as<void>;
  { c.turn_order() } -> std::convertible_to<std::span<const std::uint32_t>>;
  { c.mask(agent) } -> std::convertible_to<OptionMask>;
  { c.possible(agent) } -> std::convertible_to<OptionMask>;
  { e.act(agent, option) } -> std::same_as<void>;
  { e.step() } -> std::same_as<StepOutcome>;
  { c.rewards() } -> std::convertible_to<std::span<const float>>;
  { c.current_option(agent) } -> std::convertible_to<int>;
};

}  // namespace mara
