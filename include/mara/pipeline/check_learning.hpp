#pragma once
// What a critic policy, a guidance mode and a learner need, said in words; see checks.hpp.

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>

#include "mara/pipeline/concepts.hpp"

namespace mara::detail {

template <class C, class E>
struct CriticCheck {
  static constexpr bool kModel = requires { typename C::template Model<E>; };
  static_assert(
      kModel,
      "mara: the critic needs a class template `Model<E>`: the network for an environment E. See "
      "mara/critic/centralised.hpp; or be a critic of values (mara/critic/value_critic.hpp) or a mixer "
      "(mara/critic/mixing.hpp)");
  static constexpr bool kInitial = !kModel || requires {
    requires std::constructible_from<typename C::template Model<E>, Random&>;
  };
  static_assert(
      kInitial,
      "mara: the critic's Model needs a constructor `(Random& random)` that initialises its weights. See "
      "mara/critic/centralised.hpp");
  static constexpr bool kInputs = !kModel || requires {
    requires C::template Model<E>::kInputs == static_cast<std::size_t>(E::kGlobalState);
  };
  static_assert(
      kInputs,
      "mara: the critic's Model needs `static constexpr std::size_t kInputs`, equal to the environment's "
      "kGlobalState. See mara/critic/centralised.hpp");
  static constexpr bool kNetwork = !kModel || requires(typename C::template Model<E> & m) {
    { m.network() } -> std::same_as<typename C::template Model<E>::Network&>;
  };
  static_assert(
      kNetwork,
      "mara: the critic's Model needs a type `Network`, an Mlp, and `Network& network()` with its const "
      "twin. See mara/critic/centralised.hpp");
  static constexpr bool value = CriticFor<C, E>;
  static_assert(
      value || !kModel || !kInitial || !kInputs || !kNetwork,
      "mara: the critic's Model needs `void values(const float* states, std::size_t rows, float* out, "
      "Network::Workspace&) const` and `Var values(Tape<float>&, Var states)`. See "
      "mara/critic/centralised.hpp");
};

/// Their extents are known at run time, so that no environment is asked for.
template <class C, class E>
requires(critic::ValueCritic<C> || Mixing<C>) struct CriticCheck<C, E> {
  static constexpr bool value = true;
};

template <class G>
struct GuidanceCheck {
  static constexpr bool kSignal = requires { requires guidance::Signal<typename G::SignalType>; };
  static_assert(
      kSignal,
      "mara: the guidance needs a type `SignalType` with `static float measure(const SignalInput&)`. See "
      "mara/guidance/signal.hpp");
  static constexpr bool kFlags = requires {
    { G::kUsesField } -> std::convertible_to<bool>;
    { G::kActorInput } -> std::convertible_to<bool>;
    { G::kStateInput } -> std::convertible_to<bool>;
    { G::kConstrainsCritic } -> std::convertible_to<bool>;
  };
  static_assert(kFlags,
                "mara: the guidance needs `static constexpr bool` kUsesField, kActorInput, kStateInput and "
                "kConstrainsCritic; derive from guidance::None to inherit them. See mara/guidance/modes.hpp");
  static constexpr bool kReward = requires(const G& g) {
    { g.auxiliary_reward(0.0f) } -> std::same_as<float>;
  };
  static_assert(kReward,
                "mara: the guidance needs `float auxiliary_reward(float mean_signal) const`; derive from "
                "guidance::None to inherit one without effect. See mara/guidance/modes.hpp");
  static constexpr bool kPolicy =
      requires(const G& g, Tape<float>& tape, Var loss, const guidance::PolicyTerms& terms) {
    { g.policy_loss(tape, loss, terms) } -> std::same_as<Var>;
  };
  static_assert(
      kPolicy,
      "mara: the guidance needs `Var policy_loss(Tape<float>&, Var loss, const PolicyTerms&) const`, which "
      "returns the loss with its term. See mara/guidance/modes.hpp");
  static constexpr bool kCritic =
      requires(const G& g, Tape<float>& tape, Var loss, const guidance::CriticTerms& terms) {
    { g.critic_loss(tape, loss, terms) } -> std::same_as<Var>;
  };
  static_assert(
      kCritic,
      "mara: the guidance needs `Var critic_loss(Tape<float>&, Var loss, const CriticTerms&) const`, which "
      "returns the loss with its term. See mara/guidance/modes.hpp");
  static constexpr bool value = guidance::Mode<G>;
};

/// The members of a trainer T.
template <class T, class L, class E, class C, class G>
struct TrainerCheck {
  static constexpr bool kConfig = requires { typename T::Config; };
  static_assert(
      kConfig,
      "mara: the learner's Trainer needs a type `Config`, an aggregate of its hyper-parameters. See "
      "mara/pipeline/concepts.hpp");
  static constexpr bool kTypes = requires {
    typename T::Report;
    typename T::Flow;
    typename T::Actor;
  };
  static_assert(
      kTypes,
      "mara: the learner's Trainer needs the types Report, Flow and Actor. See mara/pipeline/concepts.hpp");
  static constexpr bool kCreate =
      !kConfig || !kTypes ||
      requires(const typename T::Config& config, const std::function<E(int)>& make, G guidance,
               std::shared_ptr<const typename T::Flow> flow) {
    { T::create(config, make, guidance, flow) } -> std::same_as<Result<std::unique_ptr<T>>>;
  };
  static_assert(kCreate,
                "mara: the learner's Trainer needs `static Result<std::unique_ptr<Trainer>> create(const "
                "Config&, const "
                "std::function<E(int)>& make, G guidance, std::shared_ptr<const Flow> flow)`. See "
                "mara/pipeline/concepts.hpp");
  static constexpr bool kUpdate = !kTypes || requires(T & t) {
    { t.update() } -> std::same_as<Result<typename T::Report>>;
  };
  static_assert(kUpdate,
                "mara: the learner's Trainer needs `Result<Report> update()`: one round of experience and "
                "learning. See "
                "mara/pipeline/concepts.hpp");
  static constexpr bool value = LearnerFor<L, E, C, G>;
  static_assert(
      value || !kConfig || !kTypes || !kCreate || !kUpdate,
      "mara: the learner's Trainer needs `std::int64_t env_steps() const`, `const Actor& actor() const`, "
      "`Status save(const std::string& path) const` and `Status load(const std::string& path)`. See "
      "mara/pipeline/concepts.hpp");
};

template <class L, class E, class C, class G>
struct LearnerCheck {
  static constexpr bool kTrainer = requires { typename L::template Trainer<E, C, G>; };
  static_assert(
      kTrainer,
      "mara: the learner needs a template `Trainer<E, C, G>` for an environment, this critic policy and this "
      "guidance mode. learning::Mappo takes critics with a Model and every mode but FlowState, "
      "learning::TeamPpo critics of values and every mode but FlowInput, learning::QLearning mixers and the "
      "modes None and FlowState. See mara/learning/mappo_policy.hpp, team_ppo_policy.hpp, "
      "q_learning_policy.hpp");
  static constexpr bool value = false;
};
template <class L, class E, class C, class G>
requires requires {
  typename L::template Trainer<E, C, G>;
}
struct LearnerCheck<L, E, C, G> : TrainerCheck<typename L::template Trainer<E, C, G>, L, E, C, G> {};

}  // namespace mara::detail
