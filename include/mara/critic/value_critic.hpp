#pragma once
// What a critic of state values is: the interface between learners of the PPO family and their critics.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/environment/game.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara::critic {

/// What critics see: `count` teams over `steps` steps, time-major. Memory of the caller; what a tape has seen
/// stays as it is until backward() is done.
struct ValueRows {
  std::size_t steps = 1, count = 0;
  const float* states = nullptr;          ///< [steps x count x state]
  const float* observations = nullptr;    ///< [steps x count x slots x observation]
  const std::uint8_t* present = nullptr;  ///< [steps x count x slots]
  const std::uint8_t* arrived = nullptr;  ///< the same: the memory of that agent begins anew
  const std::uint8_t* began = nullptr;    ///< [steps x count]: an episode begins
};

/// A critic of state values, a plan whose parameters lie in a storage that the caller owns (zeroed, then
/// initialise()d); c is one of type C. A step of a team has columns() values: one per slot if per_agent(),
/// otherwise a single one for all. Values of absent agents are finite and mean nothing.
/// - C::create(config, shape) -> Result<C>; errors name the field;
/// - c.stored(): numbers of the storage; c.memory(): recurrent numbers per team;
/// - c.visit(storage, f): f(name, ParameterView) for every parameter; the layer that says the value is called
///   "...head.weight" and "...head.bias";
/// - c.step(storage, rows, memory, out, workspace): values out[count x columns()] of rows with steps = 1,
///   without a tape; memory [count x memory()] is replaced. Workspace: one a thread;
/// - c.forward(tape, storage, gradients, rows, memory) -> Var [(steps count columns()) x 1]: memory before
///   the first step; gradients [stored()] are added to, null: the parameters are constants.
template <class C>
concept ValueCritic = requires(const C& c, const typename C::Config& config, const GameShape& shape,
                               Random& random, float* storage, const ValueRows& rows, Tape<float>& tape,
                               typename C::Workspace& workspace, const float* memory) {
  { C::create(config, shape) } -> std::same_as<Result<C>>;
  { c.columns() } -> std::same_as<std::size_t>;
  { c.per_agent() } -> std::same_as<bool>;
  { c.stored() } -> std::same_as<std::size_t>;
  { c.memory() } -> std::same_as<std::size_t>;
  { c.initialise(random, storage) } -> std::same_as<void>;
  c.visit(storage, [](const std::string&, ParameterView<float>) {});
  { c.step(storage, rows, storage, storage, workspace) } -> std::same_as<void>;
  { c.forward(tape, storage, storage, rows, memory) } -> std::same_as<Var>;
};

}  // namespace mara::critic
