#pragma once
// Checks that say in words what a type lacks to be a parameter of a pipeline. In the compiler's output the type stands
// next to the message, as the parameter of the check. Each is true when the type will do, so that
// static_assert(mara::check_environment<MyEnvironment>()) can stand beside the type that a user writes.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "mara/critic/centralized.hpp"
#include "mara/pipeline/concepts.hpp"
#include "mara/pipeline/probes.hpp"

namespace mara {

namespace detail {

template <class T>
struct EnvironmentCheck {
  static constexpr bool kObservation = requires { requires T::kObservation > 0; };
  static_assert(kObservation,
                "mara: the environment needs `static constexpr int kObservation`, positive: how many numbers one agent "
                "observes. See mara/environment/concept.hpp");
  static constexpr bool kGlobalState = requires { requires T::kGlobalState > 0; };
  static_assert(kGlobalState,
                "mara: the environment needs `static constexpr int kGlobalState`, positive: how many numbers the "
                "centralised critic sees. See mara/environment/concept.hpp");
  static constexpr bool kOptions = requires { requires T::kOptions > 0 && T::kOptions <= 32; };
  static_assert(kOptions,
                "mara: the environment needs `static constexpr int kOptions` in [1, 32]: the size of its action space. "
                "See mara/environment/concept.hpp");
  static constexpr bool kReset = requires(T& e, std::uint64_t seed) {
    { e.reset(seed) } -> std::same_as<Status>;
  };
  static_assert(kReset,
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
                "mara: the environment needs `void observe(float* rows) const`: writes agents() x kObservation numbers. "
                "See mara/environment/concept.hpp");
  static constexpr bool kState = requires(const T& e, float* out) {
    { e.global_state(out) } -> std::same_as<void>;
  };
  static_assert(kState,
                "mara: the environment needs `void global_state(float* row) const`: writes kGlobalState numbers. See "
                "mara/environment/concept.hpp");
  static constexpr bool kTurns = requires(const T& e) {
    { e.turn_order() } -> std::convertible_to<std::span<const std::uint32_t>>;
  };
  static_assert(kTurns,
                "mara: the environment needs `std::span<const std::uint32_t> turn_order() const`: every agent's index "
                "once, in the order in which they choose. See mara/environment/concept.hpp");
  static constexpr bool kMask = requires(const T& e, std::size_t agent) {
    { e.mask(agent) } -> std::convertible_to<OptionMask>;
  };
  static_assert(kMask,
                "mara: the environment needs `OptionMask mask(std::size_t agent) const`: bit a is set when option a is "
                "legal now. See mara/environment/concept.hpp");
  static constexpr bool kPossible = requires(const T& e, std::size_t agent) {
    { e.possible(agent) } -> std::convertible_to<OptionMask>;
  };
  static_assert(kPossible,
                "mara: the environment needs `OptionMask possible(std::size_t agent) const`: options that can be legal "
                "whatever the others choose. See mara/environment/concept.hpp");
  static constexpr bool kAct = requires(T& e, std::size_t agent, int option) {
    { e.act(agent, option) } -> std::same_as<void>;
  };
  static_assert(kAct,
                "mara: the environment needs `void act(std::size_t agent, int option)`: records a choice. See "
                "mara/environment/concept.hpp");
  static constexpr bool kStep = requires(T& e) {
    { e.step() } -> std::same_as<StepOutcome>;
  };
  static_assert(kStep,
                "mara: the environment needs `StepOutcome step()`: team reward, and `terminated` and `truncated` apart. "
                "See mara/environment/concept.hpp");
  static constexpr bool kRewards = requires(const T& e) {
    { e.rewards() } -> std::convertible_to<std::span<const float>>;
  };
  static_assert(kRewards,
                "mara: the environment needs `std::span<const float> rewards() const`: individual rewards of the last "
                "step. See mara/environment/concept.hpp");
  static constexpr bool kCurrent = requires(const T& e, std::size_t agent) {
    { e.current_option(agent) } -> std::convertible_to<int>;
  };
  static_assert(kCurrent,
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
  static_assert(kDistribution,
                "mara: the action space needs a type `Distribution`, such as MaskedCategorical<kOptions>. See "
                "mara/action/masked_categorical.hpp");
  static constexpr bool kFromLogits =
      !kDistribution || requires { requires std::constructible_from<typename T::Distribution, const float*, OptionMask>; };
  static_assert(kFromLogits,
                "mara: the action space's Distribution needs a constructor `(const float* logits, OptionMask mask)`. "
                "See mara/action/masked_categorical.hpp");
  static constexpr bool value = ActionSpace<T>;
  static_assert(value || !kOptions || !kDistribution || !kFromLogits,
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
  requires requires { typename E::ActionSpace; }
struct ActionSpaceOf<E> {
  using type = typename E::ActionSpace;
};

template <class E, class A>
struct AgreementCheck {
  using Own = typename ActionSpaceOf<E>::type;
  static constexpr bool value =
      static_cast<int>(E::kOptions) == static_cast<int>(A::kOptions) && (std::is_void_v<Own> || std::same_as<Own, A>);
  static_assert(value,
                "mara: the pipeline's action space is not that of its environment: A::kOptions must equal "
                "E::kOptions and, where the environment names its `ActionSpace`, A must be that type");
};

template <class C, class E>
struct CriticCheck {
  static constexpr bool kModel = requires { typename C::template Model<E>; };
  static_assert(kModel,
                "mara: the critic needs a class template `Model<E>`: the network for an environment E. See "
                "mara/critic/centralized.hpp");
  static constexpr bool kInitial = !kModel || requires {
    requires std::constructible_from<typename C::template Model<E>, Random&>;
  };
  static_assert(kInitial,
                "mara: the critic's Model needs a constructor `(Random& random)` that initialises its weights. See "
                "mara/critic/centralized.hpp");
  static constexpr bool kInputs =
      !kModel || requires { requires C::template Model<E>::kInputs == static_cast<std::size_t>(E::kGlobalState); };
  static_assert(kInputs,
                "mara: the critic's Model needs `static constexpr std::size_t kInputs`, equal to the environment's "
                "kGlobalState. See mara/critic/centralized.hpp");
  static constexpr bool kNetwork = !kModel || requires(typename C::template Model<E>& m) {
    { m.network() } -> std::same_as<typename C::template Model<E>::Network&>;
  };
  static_assert(kNetwork,
                "mara: the critic's Model needs a type `Network`, an Mlp, and `Network& network()` with its const "
                "twin. See mara/critic/centralized.hpp");
  static constexpr bool value = CriticFor<C, E>;
  static_assert(value || !kModel || !kInitial || !kInputs || !kNetwork,
                "mara: the critic's Model needs `void values(const float* states, std::size_t rows, float* out, "
                "Network::Workspace&) const` and `Var values(Tape<float>&, Var states)`. See "
                "mara/critic/centralized.hpp");
};

template <class G>
struct GuidanceCheck {
  static constexpr bool kSignal = requires { requires guidance::Signal<typename G::SignalType>; };
  static_assert(kSignal,
                "mara: the guidance needs a type `SignalType` with `static float measure(const SignalInput&)`. See "
                "mara/guidance/signal.hpp");
  static constexpr bool kFlags = requires {
    { G::kUsesField } -> std::convertible_to<bool>;
    { G::kActorInput } -> std::convertible_to<bool>;
    { G::kConstrainsCritic } -> std::convertible_to<bool>;
  };
  static_assert(kFlags,
                "mara: the guidance needs `static constexpr bool` kUsesField, kActorInput and kConstrainsCritic; "
                "derive from guidance::None to inherit them. See mara/guidance/modes.hpp");
  static constexpr bool kReward = requires(const G& g) {
    { g.auxiliary_reward(0.0f) } -> std::same_as<float>;
  };
  static_assert(kReward,
                "mara: the guidance needs `float auxiliary_reward(float mean_signal) const`; derive from "
                "guidance::None to inherit one without effect. See mara/guidance/modes.hpp");
  static constexpr bool kPolicy = requires(const G& g, Tape<float>& tape, Var loss, const guidance::PolicyTerms& terms) {
    { g.policy_loss(tape, loss, terms) } -> std::same_as<Var>;
  };
  static_assert(kPolicy,
                "mara: the guidance needs `Var policy_loss(Tape<float>&, Var loss, const PolicyTerms&) const`, which "
                "returns the loss with its term. See mara/guidance/modes.hpp");
  static constexpr bool kCritic = requires(const G& g, Tape<float>& tape, Var loss, const guidance::CriticTerms& terms) {
    { g.critic_loss(tape, loss, terms) } -> std::same_as<Var>;
  };
  static_assert(kCritic,
                "mara: the guidance needs `Var critic_loss(Tape<float>&, Var loss, const CriticTerms&) const`, which "
                "returns the loss with its term. See mara/guidance/modes.hpp");
  static constexpr bool value = guidance::Mode<G>;
};

template <class L, class E, class C, class G>
struct LearnerCheck {
  static constexpr bool kConfig = requires { typename L::Config; };
  static_assert(kConfig,
                "mara: the learner needs a type `Config`, an aggregate of its hyper-parameters. See "
                "mara/learning/mappo_policy.hpp");
  static constexpr bool kTrainer = requires { typename L::template Trainer<E, C, G>; };
  static_assert(kTrainer,
                "mara: the learner needs a template `Trainer<E, C, G>` for an environment, a critic policy and a "
                "guidance mode. See mara/learning/mappo_policy.hpp");
  static constexpr bool kTypes = !kTrainer || requires {
    typename L::template Trainer<E, C, G>::Report;
    typename L::template Trainer<E, C, G>::Flow;
    typename L::template Trainer<E, C, G>::Actor;
  };
  static_assert(kTypes,
                "mara: the learner's Trainer needs the types Report, Flow and Actor. See mara/pipeline/concepts.hpp");
  static constexpr bool kCreate =
      !kConfig || !kTypes || requires(const typename L::Config& config, const std::function<E(int)>& make, G guidance,
                                      std::shared_ptr<const typename L::template Trainer<E, C, G>::Flow> flow) {
        {
          L::template Trainer<E, C, G>::create(config, make, guidance, flow)
        } -> std::same_as<Result<std::unique_ptr<typename L::template Trainer<E, C, G>>>>;
      };
  static_assert(kCreate,
                "mara: the learner's Trainer needs `static Result<std::unique_ptr<Trainer>> create(const Config&, const "
                "std::function<E(int)>& make, G guidance, std::shared_ptr<const Flow> flow)`. See "
                "mara/pipeline/concepts.hpp");
  static constexpr bool kUpdate = !kTypes || requires(typename L::template Trainer<E, C, G>& t) {
    { t.update() } -> std::same_as<Result<typename L::template Trainer<E, C, G>::Report>>;
  };
  static_assert(kUpdate,
                "mara: the learner's Trainer needs `Result<Report> update()`: one round of experience and learning. See "
                "mara/pipeline/concepts.hpp");
  static constexpr bool value = LearnerFor<L, E, C, G>;
  static_assert(value || !kConfig || !kTypes || !kCreate || !kUpdate,
                "mara: the learner's Trainer needs `std::int64_t env_steps() const`, `const Actor& actor() const`, "
                "`Status save(const std::string& path) const` and `Status load(const std::string& path)`. See "
                "mara/pipeline/concepts.hpp");
};

template <class E, class A, class C, class G, class L>
consteval bool check_parts() {
  constexpr bool kEnvironment = EnvironmentCheck<E>::value, kAction = ActionSpaceCheck<A>::value,
                 kGuidance = GuidanceCheck<G>::value;
  if constexpr (!kEnvironment) {
    return false;  // what depends on it could only repeat the complaint
  } else {
    constexpr bool kCritic = CriticCheck<C, E>::value;
    bool agree = true, learner = true;
    if constexpr (kAction) agree = AgreementCheck<E, A>::value;
    if constexpr (kCritic && kGuidance) learner = LearnerCheck<L, E, C, G>::value;
    return kAction && kGuidance && kCritic && agree && learner;
  }
}

}  // namespace detail

/// Whether T is an Environment.
template <class T>
consteval bool check_environment() {
  return detail::EnvironmentCheck<T>::value;
}

/// Whether T is an ActionSpace.
template <class T>
consteval bool check_action_space() {
  return detail::ActionSpaceCheck<T>::value;
}

/// Whether T is a critic policy for environment E.
template <class T, class E = detail::ProbeEnvironment>
consteval bool check_critic() {
  return detail::CriticCheck<T, E>::value;
}

/// Whether T is a guidance mode.
template <class T>
consteval bool check_guidance() {
  return detail::GuidanceCheck<T>::value;
}

/// Whether T is a learner, for environment E, critic policy C and guidance mode G.
template <class T, class E = detail::ProbeEnvironment, class C = critic::Centralized<8>, class G = guidance::None>
consteval bool check_learner() {
  return detail::LearnerCheck<T, E, C, G>::value;
}

/// Whether the five make a pipeline: each by itself, and the action space being that of the environment.
template <class E, class A, class C, class G, class L>
consteval bool check_pipeline() {
  return detail::check_parts<E, A, C, G, L>();
}

}  // namespace mara
