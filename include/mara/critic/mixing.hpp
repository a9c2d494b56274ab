#pragma once
// What a mixer is: how values of single agents become a value of the team.

#include <concepts>
#include <cstddef>
#include <string>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/critic/mixer_config.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// Requirements (M is the mixer, m an object of it; parameters lie in a storage of the caller, as with
/// AgentNetwork, so that the mixer of a target is a plain array):
/// - M{}: a mixer that is set later;
/// - M::kPerAgent: every agent has a target of its own and nothing is mixed; M::kCentral: a second,
///   unrestricted value of the team is learnt beside it (M::Central, itself a mixer) and gives the targets;
/// - M::create(config, slots, state) -> Result<M>: for `slots` agents and `state` numbers of the state;
/// - m.stored(): numbers of the storage; m.initialise(random, storage): fills zeroed storage;
/// - m.visit(storage, prefix, f): f(name, view) for every parameter;
/// - m.mix(tape, storage, gradients, q, state) -> Var: values of the chosen options, q [rows x slots], zeros
///   for absent agents, and states [rows x state] -> [rows x 1], or [rows x slots] when kPerAgent. Gradients
///   are added to `gradients`; null: the parameters are constants.
template <class M>
concept Mixing = std::default_initializable<M> &&
    requires(const M& m, const MixerConfig& config, std::size_t extent, Random& random, Tape<float>& tape,
             float* storage, Var q) {
  { M::kPerAgent } -> std::convertible_to<bool>;
  { M::kCentral } -> std::convertible_to<bool>;
  { M::create(config, extent, extent) } -> std::same_as<Result<M>>;
  { m.stored() } -> std::same_as<std::size_t>;
  m.initialise(random, storage);
  m.visit(storage, std::string{}, [](const std::string&, ParameterView<float>) {});
  { m.mix(tape, static_cast<const float*>(storage), storage, q, q) } -> std::same_as<Var>;
};

}  // namespace mara
