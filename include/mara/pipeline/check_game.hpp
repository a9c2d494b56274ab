#pragma once
// What an environment and an action space need, said in words; see checks.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "mara/pipeline/concepts.hpp"

namespace mara::detail {

template <class T>
struct EnvironmentCheck {
  static constexpr bool kObservation = requires {
    requires T::kObservation >
    0;
  };
  static_assert(
      kObservation,
      "mara: the environment needs `static constexpr int kObservation`, positive: how many numbers one agent "
      "observes. See mara/environment/concept.hpp");
  static constexpr bool kGlobalState = requires {
    requires T::kGlobalState >
    0;
  };
  static_assert(
      kGlobalState,
      "mara: the environment needs `static constexpr int kGlobalState`, positive: how many numbers the "
      "centralised critic sees. See mara/environment/concept.hpp");
  static constexpr bool kOptions = requires {
    requires T::kOptions >
    0 && T::kOptions <= 32;
  };
  static_assert(
      kOptions,
      "mara: the environment needs `static constexpr int kOptions` in [1, 32]: the size of its action space. "
      "See mara/environment/concept.hpp");
  static constexpr bool kReset = requires(T & e, std::uint64_t seed) {
    { e.reset(seed) } -> std::same_as<Status>;
  };
  static_assert(
      kReset,
      "mara: the environment needs `Status reset(std::uint64_t seed)`: begins an episode, the same for the "
      "same seed. See mara/environment/concept.hpp");
  static constexpr bool kAgents = requires(const T& e) {
    { e.agents() } -> std::convertible_to<std::size_t>;
  };
  static_assert(kAgents,
                "mara: the environment needs `std::size_t agents() const`: how many agents are present. See "
                "mara/environment/concept.hpp");
  static constexpr bool kObserve = requires(const T& e, float* out) {
    { e.observe(out) } -> std::same_as<void>;
  };
  static_assert(kObserve,
                "mara: the environment needs `void observe(float* rows) const`: writes agents() x "
                "kObservation numbers. "
                "See mara/environment/concept.hpp");
  static constexpr bool kState = requires(const T& e, float* out) {
    { e.global_state(out) } -> std::same_as<void>;
  };
  static_assert(
      kState,
      "mara: the environment needs `void global_state(float* row) const`: writes kGlobalState numbers. See "
      "mara/environment/concept.hpp");
  static constexpr bool kTurns = requires(const T& e) {
    { e.turn_order() } -> std::convertible_to<std::span<const std::uint32_t>>;
  };
  static_assert(
      kTurns,
      "mara: the environment needs `std::span<const std::uint32_t> turn_order() const`: every agent's index "
      "once, in the order in which they choose. See mara/environment/concept.hpp");
  static constexpr bool kMask = requires(const T& e, std::size_t agent) {
    { e.mask(agent) } -> std::convertible_to<OptionMask>;
  };
  static_assert(
      kMask,
      "mara: the environment needs `OptionMask mask(std::size_t agent) const`: bit a is set when option a is "
      "legal now. See mara/environment/concept.hpp");
  static constexpr bool kPossible = requires(const T& e, std::size_t agent) {
    { e.possible(agent) } -> std::convertible_to<OptionMask>;
  };
  static_assert(
      kPossible,
      "mara: the environment needs `OptionMask possible(std::size_t agent) const`: options that can be legal "
      "whatever the others choose. See mara/environment/concept.hpp");
  static constexpr bool kAct = requires(T & e, std::size_t agent, int option) {
    { e.act(agent, option) } -> std::same_as<void>;
  };
  static_assert(
      kAct,
      "mara: the environment needs `void act(std::size_t agent, int option)`: records a choice. See "
      "mara/environment/concept.hpp");
  static constexpr bool kStep = requires(T & e) {
    { e.step() } -> std::same_as<StepOutcome>;
  };
  static_assert(kStep,
                "mara: the environment needs `StepOutcome step()`: team reward, and `terminated` and "
                "`truncated` apart. "
                "See mara/environment/concept.hpp");
  static constexpr bool kRewards = requires(const T& e) {
    { e.rewards() } -> std::convertible_to<std::span<const float>>;
  };
  static_assert(
      kRewards,
      "mara: the environment needs `std::span<const float> rewards() const`: individual rewards of the last "
      "step. See mara/environment/concept.hpp");
  static constexpr bool kCurrent = requires(const T& e, std::size_t agent) {
    { e.current_option(agent) } -> std::convertible_to<int>;
  };
  static_assert(
      kCurrent,
      "mara: the environment needs `int current_option(std::size_t agent) const`: the option that describes "
      "what the agent holds. See mara/environment/concept.hpp");
  static constexpr bool kMove = std::move_constructible<T> && std::is_move_assignable_v<T>;
  static_assert(kMove, "mara: the environment must be movable: trainers keep many of them in a vector");
  static constexpr bool value = Environment<T> && kMove;
};

template <class T>
struct ActionSpaceCheck {
  static constexpr bool kOptions = requires { requires T::kOptions >= 1 && T::kOptions <= 32; };
  static_assert(kOptions,
                "mara: the action space needs `static constexpr int kOptions` in [1, 32]. See "
                "mara/pipeline/concepts.hpp");
  static constexpr bool kDistribution = requires { typename T::Distribution; };
  static_assert(
      kDistribution,
      "mara: the action space needs a type `Distribution`, such as MaskedCategorical<kOptions>. See "
      "mara/action/masked_categorical.hpp");
  static constexpr bool kFromLogits = !kDistribution || requires {
    requires std::constructible_from<typename T::Distribution, const float*, OptionMask>;
  };
  static_assert(
      kFromLogits,
      "mara: the action space's Distribution needs a constructor `(const float* logits, OptionMask mask)`. "
      "See mara/action/masked_categorical.hpp");
  static constexpr bool value = ActionSpace<T>;
  static_assert(
      value || !kOptions || !kDistribution || !kFromLogits,
      "mara: the action space's Distribution needs, all const, `bool valid()`, `int mode()`, "
      "`int sample(Random&)`, `float probability(int)`, `float log_probability(int)` and `float entropy()`. "
      "See mara/action/masked_categorical.hpp");
};

/// The action space of an environment that names one; void otherwise.
template <class E>
struct ActionSpaceOf {
  using type = void;
};
template <class E>
requires requires {
  typename E::ActionSpace;
}
struct ActionSpaceOf<E> {
  using type = typename E::ActionSpace;
};

template <class E, class A>
struct AgreementCheck {
  using Own = typename ActionSpaceOf<E>::type;
  static constexpr bool value = static_cast<int>(E::kOptions) == static_cast<int>(A::kOptions) &&
                                (std::is_void_v<Own> || std::same_as<Own, A>);
  static_assert(value,
                "mara: the pipeline's action space is not that of its environment: A::kOptions must equal "
                "E::kOptions and, where the environment names its `ActionSpace`, A must be that type");
};

}  // namespace mara::detail
