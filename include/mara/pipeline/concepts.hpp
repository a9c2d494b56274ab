#pragma once
// The concepts of a pipeline's parameters. Two of them live with what they describe: Environment
// (environment/concept.hpp) and guidance::Mode (guidance/modes.hpp).

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/critic/mixing.hpp"
#include "mara/critic/value_critic.hpp"
#include "mara/environment/concept.hpp"
#include "mara/guidance/modes.hpp"

namespace mara {

/// A discrete action space: A::kOptions in [1, 32], and A::Distribution, a distribution over the options made
/// from logits and a mask, with valid(), mode(), sample(random), probability(option),
/// log_probability(option), entropy().
template <class A>
concept ActionSpace = requires(const float* logits, OptionMask mask, const typename A::Distribution& d,
                               Random& random) {
  requires A::kOptions >= 1 && A::kOptions <= 32;
  typename A::Distribution;
  requires std::constructible_from<typename A::Distribution, const float*, OptionMask>;
  { d.valid() } -> std::same_as<bool>;
  { d.mode() } -> std::convertible_to<int>;
  { d.sample(random) } -> std::convertible_to<int>;
  { d.probability(0) } -> std::convertible_to<float>;
  { d.log_probability(0) } -> std::convertible_to<float>;
  { d.entropy() } -> std::convertible_to<float>;
};

/// A critic policy for an environment E is one of three. critic::ValueCritic and Mixing have their extents at
/// run time (critic/value_critic.hpp, critic/mixing.hpp). Otherwise C::Model<E> is a network from E's global
/// state to one value. With M = C::Model<E>, m of type M: M(random) initialises it, M::kInputs ==
/// E::kGlobalState, m.network() is an Mlp, m.values(states, rows, out, workspace) evaluates it, and
/// m.values(tape, states) puts it on the tape.
template <class C, class E>
concept CriticFor = critic::ValueCritic<C> || Mixing<C> ||
    requires(typename C::template Model<E>& model, const typename C::template Model<E>& fixed,
             typename C::template Model<E>::Network::Workspace& work, Random& random, Tape<float>& tape,
             Var states, const float* in, float* out, std::size_t rows) {
  requires std::constructible_from<typename C::template Model<E>, Random&>;
  requires C::template Model<E>::kInputs == static_cast<std::size_t>(E::kGlobalState);
  { model.network() } -> std::same_as<typename C::template Model<E>::Network&>;
  { fixed.network() } -> std::same_as<const typename C::template Model<E>::Network&>;
  { fixed.values(in, rows, out, work) } -> std::same_as<void>;
  { model.values(tape, states) } -> std::same_as<Var>;
};

/// A learner for an environment E, a critic policy C and a guidance mode G: L::Trainer<E, C, G> with types
/// Config (an aggregate of hyper-parameters), Report, Flow and Actor, and
/// - create(config, make, guidance, flow) -> Result<std::unique_ptr<Trainer>>; make(i) builds environment i;
/// - update() -> Result<Report>, one round of experience and learning; Report has env_steps;
/// - env_steps() -> std::int64_t; actor() -> const Actor&; save(path), load(path) -> Status.
template <class L, class E, class C, class G>
concept LearnerFor = requires(typename L::template Trainer<E, C, G>& trainer,
                              const typename L::template Trainer<E, C, G>& fixed,
                              const typename L::template Trainer<E, C, G>::Config& config,
                              const std::function<E(int)>& make, G guidance,
                              std::shared_ptr<const typename L::template Trainer<E, C, G>::Flow> flow,
                              const std::string& path) {
  {
    L::template Trainer<E, C, G>::create(config, make, guidance, flow)
    } -> std::same_as<Result<std::unique_ptr<typename L::template Trainer<E, C, G>>>>;
  { trainer.update() } -> std::same_as<Result<typename L::template Trainer<E, C, G>::Report>>;
  { fixed.env_steps() } -> std::same_as<std::int64_t>;
  { fixed.actor() } -> std::same_as<const typename L::template Trainer<E, C, G>::Actor&>;
  { fixed.save(path) } -> std::same_as<Status>;
  { trainer.load(path) } -> std::same_as<Status>;
};

}  // namespace mara
