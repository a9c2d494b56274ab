#pragma once
// Modes: where the flow enters the learning. Each is a type; they combine with Combined<...>.

#include <concepts>
#include <cstddef>
#include <tuple>

#include "mara/autodiff/tape.hpp"
#include "mara/guidance/signal.hpp"

namespace mara::guidance {

/// What the policy loss may use, for a batch of rows (agents x steps); arrays are on the tape as constants.
struct PolicyTerms {
  Var log_probabilities;      ///< rows x options, log pi(a|o); 0 at illegal options
  Var log_taken;              ///< rows x 1, log pi(sampled option)
  const float* distribution;  ///< rows x options: q, the guided distribution
  const float* signal;        ///< rows x 1
  const float* row_weight;    ///< rows x 1: 1/(rows of the whole minibatch), so that terms are means over it
  std::size_t rows, options;
};

/// What the critic's loss may use: values of consecutive states of the same episode.
struct CriticTerms {
  Var value;       ///< rows x 1, V(s), normalised
  Var next_value;  ///< rows x 1, V(s'), normalised
  const float*
      alignment;  ///< rows x 1: mean signal of the agents at s; 0 where s' is not of the same episode
  const float* row_weight;  ///< rows x 1
  std::size_t rows;
};

/// Does nothing everywhere: the base of all modes, and with them the meaning of "no guidance".
struct None {
  using SignalType = LogLikelihood;
  static constexpr bool kUsesField = false;         ///< the learner must have a field
  static constexpr bool kActorInput = false;        ///< the actor sees x1^ - x, also at deployment
  static constexpr bool kStateInput = false;        ///< critics and mixers see the flow beside the state
  static constexpr bool kConstrainsCritic = false;  ///< critic_loss does something
  float auxiliary_reward(float /*mean_signal*/) const noexcept { return 0.0f; }
  Var policy_loss(Tape<float>&, Var loss, const PolicyTerms&) const { return loss; }
  Var critic_loss(Tape<float>&, Var loss, const CriticTerms&) const { return loss; }
};

/// r + weight * mean over agents of the signal.
template <Signal S = DistanceReduction>
struct AuxiliaryReward : None {
  using SignalType = S;
  static constexpr bool kUsesField = true;
  float weight = 0.1f;
  float auxiliary_reward(float mean_signal) const noexcept { return weight * mean_signal; }
};

/// The policy-gradient regulariser at the sampled options: loss - weight * mean(g log pi(a|o)).
template <Signal S = DistanceReduction>
struct SampledRegulariser : None {
  using SignalType = S;
  static constexpr bool kUsesField = true;
  float weight = 0.1f;
  Var policy_loss(Tape<float>& tape, Var loss, const PolicyTerms& terms) const {
    if (weight == 0.0f) return loss;
    const Var g = tape.input(terms.signal, terms.rows, 1);
    return tape.sub(loss, tape.scale(tape.dot(tape.mul(terms.log_taken, g), terms.row_weight), weight));
  }
};

/// The regulariser taken over all options, hence without sampling variance: loss + weight * mean CE(q, pi).
/// Best form.
struct AllActionRegulariser : None {
  static constexpr bool kUsesField = true;
  float weight = 3.0f;
  Var policy_loss(Tape<float>& tape, Var loss, const PolicyTerms& terms) const {
    if (weight == 0.0f) return loss;
    const Var q = tape.input(terms.distribution, terms.rows, terms.options);
    const Var agreement = tape.row_sum(tape.mul(q, terms.log_probabilities));
    return tape.sub(loss, tape.scale(tape.dot(agreement, terms.row_weight), weight));
  }
};

/// Hinge on the critic: where the agents moved with the flow (mean signal g > 0) the next state must be worth
/// more than this one, where they moved against it, less: loss + weight * mean max(0, -g (V(s') - V(s))).
template <Signal S = DistanceReduction>
struct CriticConstraint : None {
  using SignalType = S;
  static constexpr bool kUsesField = true;
  static constexpr bool kConstrainsCritic = true;
  float weight = 0.1f;
  Var critic_loss(Tape<float>& tape, Var loss, const CriticTerms& terms) const {
    if (weight == 0.0f) return loss;
    const Var g = tape.input(terms.alignment, terms.rows, 1);
    const Var violation = tape.relu(tape.mul(g, tape.sub(terms.value, terms.next_value)));
    return tape.add(loss, tape.scale(tape.dot(violation, terms.row_weight), weight));
  }
};

/// The flow vector x1^ - x as extra input of the actor; the field stays at deployment and its cost is the
/// user's.
struct FlowInput : None {
  static constexpr bool kUsesField = true;
  static constexpr bool kActorInput = true;
};

/// The mean flow vector x1^ - x of all agents as extra numbers of the global state, which critics and mixers
/// see in training (FlowStateGame); deployment needs no field.
struct FlowState : None {
  static constexpr bool kUsesField = true;
  static constexpr bool kStateInput = true;
};

/// Several modes at once; the signal is that of the first.
template <class First, class... Rest>
struct Combined {
  using SignalType = typename First::SignalType;
  static constexpr bool kUsesField = First::kUsesField || (Rest::kUsesField || ...);
  static constexpr bool kActorInput = First::kActorInput || (Rest::kActorInput || ...);
  static constexpr bool kStateInput = First::kStateInput || (Rest::kStateInput || ...);
  static constexpr bool kConstrainsCritic = First::kConstrainsCritic || (Rest::kConstrainsCritic || ...);
  std::tuple<First, Rest...> modes{};

  float auxiliary_reward(float mean_signal) const noexcept {
    return std::apply([&](const auto&... m) { return (0.0f + ... + m.auxiliary_reward(mean_signal)); },
                      modes);
  }
  Var policy_loss(Tape<float>& tape, Var loss, const PolicyTerms& terms) const {
    std::apply([&](const auto&... m) { ((loss = m.policy_loss(tape, loss, terms)), ...); }, modes);
    return loss;
  }
  Var critic_loss(Tape<float>& tape, Var loss, const CriticTerms& terms) const {
    std::apply([&](const auto&... m) { ((loss = m.critic_loss(tape, loss, terms)), ...); }, modes);
    return loss;
  }
};

/// A guidance mode; deriving from None gives every member a meaning of "no effect".
template <class G>
concept Mode = requires(const G& g, Tape<float>& tape, Var loss, const PolicyTerms& policy,
                        const CriticTerms& critic) {
  requires Signal<typename G::SignalType>;
  { G::kUsesField } -> std::convertible_to<bool>;
  { G::kActorInput } -> std::convertible_to<bool>;
  { G::kStateInput } -> std::convertible_to<bool>;
  { G::kConstrainsCritic } -> std::convertible_to<bool>;
  { g.auxiliary_reward(0.0f) } -> std::same_as<float>;
  { g.policy_loss(tape, loss, policy) } -> std::same_as<Var>;
  { g.critic_loss(tape, loss, critic) } -> std::same_as<Var>;
};

}  // namespace mara::guidance
