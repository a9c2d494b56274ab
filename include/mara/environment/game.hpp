#pragma once
// The game concept: a partially observable Markov game of at most `agents` agents, extents known at run time,
// actions of any shape. Environment (environment/concept.hpp) is its special case with one choice and
// constant extents; EnvironmentGame turns one into the other.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/action/action_shape.hpp"
#include "mara/environment/concept.hpp"

namespace mara {

/// Extents of a game; they never change.
struct GameShape {
  std::size_t agents = 0;       ///< slots: the most agents at one time
  std::size_t observation = 0;  ///< numbers that one agent sees
  std::size_t state = 0;        ///< numbers of the global state
  ActionShape action;           ///< of every agent

  friend bool operator==(const GameShape&, const GameShape&) = default;
};

/// Requirements (G is the game, g an object of it; an agent is named by its slot, in [0, agents)):
/// - g.shape() -> const GameShape&;
/// - g.reset(seed) -> Status: a new episode, the same for the same seed and the same choices;
/// - g.present(slot) -> bool: whether an agent is there now. g.arrived(slot) -> bool: whether this is its
/// first
///   step (true for all agents present after reset). A slot whose agent has left may be taken by another one,
///   which then has arrived; the one that left never returns;
/// - g.observe(float* rows): agents x observation, zeros for absent agents; g.global_state(float* row);
/// - g.turn_order() -> std::span<const std::uint32_t>: the present slots, each once, in the order in which
/// they
///   choose;
/// - g.mask(slot, head) -> OptionMask: legal options of a present agent given what was chosen so far in this
///   step, at least one bit set;
/// - g.choose(slot, options, numbers): the action of a present agent: one option per head, then the box part
///   within its bounds (pointers may be null where the shape has no such part);
/// - g.step() -> StepOutcome, after everybody present has chosen; g.rewards() -> std::span<const float>: the
///   individual rewards of that step, one per slot, 0 for who was absent. After a step that ended the episode
///   the final state can still be observed.
template <class G>
concept Game = requires(G g, const G& c, std::uint64_t seed, std::size_t slot, float* out,
                        const std::int32_t* options, const float* numbers) {
  { c.shape() } -> std::convertible_to<const GameShape&>;
  { g.reset(seed) } -> std::same_as<Status>;
  { c.present(slot) } -> std::same_as<bool>;
  { c.arrived(slot) } -> std::same_as<bool>;
  { c.observe(out) } -> std::same_as<void>;
  { c.global_state(out) } -> std::same_as<void>;
  { c.turn_order() } -> std::convertible_to<std::span<const std::uint32_t>>;
  { c.mask(slot, slot) } -> std::convertible_to<OptionMask>;
  { g.choose(slot, options, numbers) } -> std::same_as<void>;
  { g.step() } -> std::same_as<StepOutcome>;
  { c.rewards() } -> std::convertible_to<std::span<const float>>;
};

}  // namespace mara
