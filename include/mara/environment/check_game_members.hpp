#pragma once
// What a game needs, said in words: one static_assert per member of the concept Game.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "mara/environment/game.hpp"

namespace mara::detail {

/// GameCheck<T>::value: T is a Game and movable. Otherwise instantiating it is an error in words per member
/// that is missing or has another signature.
template <class T>
struct GameCheck {
  static constexpr bool kShape = requires(const T& g) {
    { g.shape() } -> std::convertible_to<const GameShape&>;
  };
  static_assert(
      kShape,
      "mara: the game needs `const GameShape& shape() const`: how many agents, how many numbers each "
      "sees, the size of the global state and the actions. See mara/environment/game.hpp");
  static constexpr bool kReset = requires(T & g, std::uint64_t seed) {
    { g.reset(seed) } -> std::same_as<Status>;
  };
  static_assert(
      kReset,
      "mara: the game needs `Status reset(std::uint64_t seed)`: begins an episode, the same for the "
      "same seed. See mara/environment/game.hpp");
  static constexpr bool kPresent = requires(const T& g, std::size_t slot) {
    { g.present(slot) } -> std::same_as<bool>;
  };
  static_assert(kPresent,
                "mara: the game needs `bool present(std::size_t slot) const`: whether an agent is there now. "
                "See mara/environment/game.hpp");
  static constexpr bool kArrived = requires(const T& g, std::size_t slot) {
    { g.arrived(slot) } -> std::same_as<bool>;
  };
  static_assert(
      kArrived,
      "mara: the game needs `bool arrived(std::size_t slot) const`: whether this is the agent's first "
      "step. See mara/environment/game.hpp");
  static constexpr bool kObserve = requires(const T& g, float* rows) {
    { g.observe(rows) } -> std::same_as<void>;
  };
  static_assert(
      kObserve,
      "mara: the game needs `void observe(float* rows) const`: writes agents x observation numbers, "
      "zeros for absent agents. See mara/environment/game.hpp");
  static constexpr bool kState = requires(const T& g, float* row) {
    { g.global_state(row) } -> std::same_as<void>;
  };
  static_assert(
      kState,
      "mara: the game needs `void global_state(float* row) const`: writes shape().state numbers. See "
      "mara/environment/game.hpp");
  static constexpr bool kTurns = requires(const T& g) {
    { g.turn_order() } -> std::convertible_to<std::span<const std::uint32_t>>;
  };
  static_assert(
      kTurns,
      "mara: the game needs `std::span<const std::uint32_t> turn_order() const`: the slots of present "
      "agents, each once, in the order in which they choose. See mara/environment/game.hpp");
  static constexpr bool kMask = requires(const T& g, std::size_t slot, std::size_t head) {
    { g.mask(slot, head) } -> std::convertible_to<OptionMask>;
  };
  static_assert(
      kMask,
      "mara: the game needs `OptionMask mask(std::size_t slot, std::size_t head) const`: bit a is set "
      "when option a is legal now. See mara/environment/game.hpp");
  static constexpr bool kChoose =
      requires(T & g, std::size_t slot, const std::int32_t* options, const float* numbers) {
    { g.choose(slot, options, numbers) } -> std::same_as<void>;
  };
  static_assert(
      kChoose,
      "mara: the game needs `void choose(std::size_t slot, const std::int32_t* options, const float* "
      "numbers)`: records an agent's action. See mara/environment/game.hpp");
  static constexpr bool kStep = requires(T & g) {
    { g.step() } -> std::same_as<StepOutcome>;
  };
  static_assert(kStep,
                "mara: the game needs `StepOutcome step()`: team reward, and `terminated` and `truncated` "
                "apart. See mara/environment/game.hpp");
  static constexpr bool kRewards = requires(const T& g) {
    { g.rewards() } -> std::convertible_to<std::span<const float>>;
  };
  static_assert(
      kRewards,
      "mara: the game needs `std::span<const float> rewards() const`: individual rewards of the last "
      "step, one per slot. See mara/environment/game.hpp");
  static constexpr bool kMove = std::move_constructible<T>;
  static_assert(kMove, "mara: the game needs a move constructor: AnyGame holds it by value");
  static constexpr bool value = Game<T> && kMove;
};

/// A class that was meant to be a game: it has one of the members that every game has.
template <class T>
inline constexpr bool kResemblesGame = requires {
  &T::reset;
}
|| requires {
  &T::step;
}
|| requires {
  &T::observe;
}
|| requires {
  &T::turn_order;
};

/// What may be called to make a game, with its number or with nothing.
template <class F>
concept MakerCall = std::invocable<F&, int> || std::invocable<F&>;

}  // namespace mara::detail
