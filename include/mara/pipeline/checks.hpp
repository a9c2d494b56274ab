#pragma once
// Checks that say in words what a type lacks to be a parameter of a pipeline. In the compiler's output the
// type stands next to the message, as the parameter of the check. Each is true when the type will do, so that
// static_assert(mara::check_environment<MyEnvironment>()) can stand beside the type that a user writes.

#include "mara/critic/centralised.hpp"
#include "mara/pipeline/check_game.hpp"
#include "mara/pipeline/check_learning.hpp"
#include "mara/pipeline/concepts.hpp"
#include "mara/pipeline/probes.hpp"

namespace mara {

namespace detail {

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
template <class T, class E = detail::ProbeEnvironment, class C = critic::Centralised<8>,
          class G = guidance::None>
consteval bool check_learner() {
  return detail::LearnerCheck<T, E, C, G>::value;
}

/// Whether the five make a pipeline: each by itself, and the action space being that of the environment.
template <class E, class A, class C, class G, class L>
consteval bool check_pipeline() {
  return detail::check_parts<E, A, C, G, L>();
}

}  // namespace mara
