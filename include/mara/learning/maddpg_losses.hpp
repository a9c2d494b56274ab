#pragma once
// The losses of MADDPG: of its critics, and of its actors by way of a critic.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "mara/action/gumbel_softmax.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/learning/maddpg_plan.hpp"

namespace mara {

/// A loss, and the values of the first critic, count x values.
struct MaddpgCriticLoss {
  Var loss, values;
};

/// Sum over critics of the weighted squared errors. storage and gradients [critics x stored]; inputs[count x
/// plan.inputs()]; targets and weights [count x values], weights 0 for absent agents, 1 / (number of
/// others in the whole batch) else.
template <class S>
MaddpgCriticLoss maddpg_critic_loss(Tape<S>& tape, const MaddpgPlan& plan,
                                    const std::type_identity_t<S>* storage,
                                    std::type_identity_t<S>* gradients, const std::type_identity_t<S>* inputs,
                                    std::size_t count, const std::type_identity_t<S>* targets,
                                    const std::type_identity_t<S>* weights) {
  MaddpgCriticLoss made;
  const Var x = tape.input(inputs, count, plan.inputs()), y = tape.input(targets, count, plan.values());
  for (std::size_t c = 0; c < plan.critics; ++c) {
    const std::size_t at = c * plan.critic.stored();
    const Var q = plan.critic.forward(tape, storage + at, gradients == nullptr ? nullptr : gradients + at, x,
                                      count, nullptr, nullptr);
    const Var loss = tape.dot(tape.square(tape.sub(q, y)), weights);
    made.loss = c == 0 ? loss : tape.add(made.loss, loss);
    if (c == 0) made.values = q;
  }
  return made;
}

/// One stretch of a batch as the actors' loss needs it; arrays of `count` transitions stay until clear().
template <class S>
struct MaddpgActorBatch {
  std::size_t count = 0;
  const S* observations = nullptr;        ///< count x slots x observation
  const S* inputs = nullptr;              ///< count x plan.inputs(): states and what was done
  const std::uint8_t* present = nullptr;  ///< count x slots
  const OptionMask* masks = nullptr;      ///< count x slots x heads
  /// Head after head [count x slots x options], in [0, 1); null: the most probable options.
  const S* uniforms = nullptr;
};

/// How actors are improved; see MaddpgConfig.
struct MaddpgActorLossConfig {
  bool joint = false, straight_through = true;
  double temperature = 1.0, logit_regulariser = 0.0;
  double row_share = 1.0;  ///< 1 / rows of the critic in the whole batch: agents present, jointly transitions
  double agent_share = 1.0;  ///< 1 / agents present in the whole batch
};

namespace detail {

/// rows[i] = base row i with row sources[i] of x written from column columns[i] on: [count x cols].
template <class S>
Var overlay_rows(Tape<S>& tape, Var x, const S* base, std::size_t count, std::size_t cols,
                 const std::int32_t* sources, const std::int32_t* columns) {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  if (!tape.known("overlay_rows", x)) return {};
  struct Places {
    const std::int32_t *sources, *columns;
  };
  auto made = tape.fresh(static_cast<std::int32_t>(count), static_cast<std::int32_t>(cols), x);
  auto* places = tape.arena().template allocate<Places>(1);
  *places = {sources, columns};
  const std::size_t width = tape.cols(x);
  std::copy_n(base, count * cols, made.out);
  for (std::size_t r = 0; r < count; ++r)
    std::copy_n(tape.value(x).data() + static_cast<std::size_t>(sources[r]) * width, width,
                made.out + r * cols + columns[r]);
  made.node.data = places;
  made.node.backward = [](Core& core, const Node& node) {
    const auto& at = *static_cast<const Places*>(node.data);
    const auto rows = static_cast<std::size_t>(node.rows), stride = static_cast<std::size_t>(node.cols);
    const auto block = static_cast<std::size_t>(core.at(node.a).cols);
    S* gradient = core.accumulator(node.a);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = 0; k < block; ++k)
        gradient[static_cast<std::size_t>(at.sources[r]) * block + k] +=
            node.gradient[r * stride + static_cast<std::size_t>(at.columns[r]) + k];
  };
  return tape.push(made.node);
}

}  // namespace detail

/// Actions of present agents as a critic sees them, and the penalty on their logits.
struct MaddpgFreshActions {
  Var actions;  ///< (count slots) x width, zeros for absent agents
  Var penalty;  ///< 1 x 1; invalid without heads or without a regulariser
};

/// Differentiable actions from outputs [(count slots) x width] of the actors. The penalty is
/// logit_regulariser agent_share times the sum over agents of the mean square of their legal logits around
/// the mean of each head (the published code squares the logits themselves; around their mean a constant
/// changes nothing).
template <class S>
MaddpgFreshActions maddpg_fresh_actions(Tape<S>& tape, const MaddpgPlan& plan, Var outputs,
                                        const MaddpgActorBatch<S>& batch,
                                        const MaddpgActorLossConfig& config) {
  const std::size_t rows = batch.count * plan.slots(), heads = plan.heads(), box = plan.game.action.numbers();
  Arena& arena = tape.arena();
  Var* parts = arena.template allocate<Var>(heads + 1);
  MaddpgFreshActions made;
  OptionMask* masks = arena.template allocate<OptionMask>(heads * rows);
  const auto legal = [&](std::size_t h, std::size_t r) {
    return batch.present[r] == 0
               ? OptionMask{0}
               : detail::masked_options(batch.masks[r * heads + h], plan.game.action.heads[h]);
  };
  std::size_t at = 0;
  for (std::size_t h = 0; h < heads; ++h) {
    const auto n = static_cast<std::size_t>(plan.game.action.heads[h]);
    for (std::size_t r = 0; r < rows; ++r) masks[h * rows + r] = legal(h, r);
    const Var logits = n == plan.width() ? outputs : tape.slice_cols(outputs, at, n);
    parts[h] = gumbel_softmax(tape, logits, masks + h * rows,
                              batch.uniforms == nullptr ? nullptr : batch.uniforms + at * rows,
                              static_cast<S>(config.temperature), config.straight_through);
    at += n;
    if (config.logit_regulariser == 0.0) continue;
    S* shares = arena.template allocate<S>(2 * rows * n);
    S* weights = shares + rows * n;
    std::fill_n(shares, 2 * rows * n, S(0));
    for (std::size_t r = 0; r < rows; ++r) {
      int of_agent = 0;
      for (std::size_t i = 0; i < heads; ++i) of_agent += std::popcount(legal(i, r));
      for (OptionMask left = masks[h * rows + r]; left != 0; left &= left - 1) {
        const std::size_t place = r * n + static_cast<std::size_t>(std::countr_zero(left));
        shares[place] = S(1) / static_cast<S>(std::popcount(masks[h * rows + r]));
        weights[place] = static_cast<S>(config.logit_regulariser * config.agent_share / of_agent);
      }
    }
    const Var mean = tape.row_sum(tape.mul(logits, tape.input(shares, rows, n)));
    const Var penalty = tape.dot(tape.square(tape.sub_rows(logits, mean)), weights);
    made.penalty = made.penalty.valid() ? tape.add(made.penalty, penalty) : penalty;
  }
  if (box > 0) {
    S* present = arena.template allocate<S>(rows);
    for (std::size_t r = 0; r < rows; ++r) present[r] = batch.present[r] != 0 ? S(1) : S(0);
    const Var numbers = heads == 0 ? outputs : tape.slice_cols(outputs, at, box);
    parts[heads] = tape.mul_rows(tape.tanh(numbers), tape.input(present, rows, 1));
  }
  const std::size_t count = heads + (box > 0 ? 1 : 0);
  made.actions = count == 1 ? parts[box > 0 ? heads : 0] : tape.concat(std::span<const Var>(parts, count));
  return made;
}

/// -row_share sum of Q(s, a) + penalty, with Q of the first critic, whose parameters are constants. One row
/// of the critic for each present agent, in which only that agent's action is its actor's (Lowe et al. 2017,
/// eq. 6), Q that of the team or of this agent; or, jointly, one row for each transition, all actions the
/// actors'. Gradients are added to `gradients` [actors.stored()].
template <class S>
Var maddpg_actor_loss(Tape<S>& tape, const MaddpgPlan& plan, const std::type_identity_t<S>* actors,
                      std::type_identity_t<S>* gradients, const std::type_identity_t<S>* critic,
                      const MaddpgActorBatch<S>& batch, const MaddpgActorLossConfig& config) {
  const std::size_t slots = plan.slots(), width = plan.width(), inputs = plan.inputs();
  Arena& arena = tape.arena();
  const Var outputs =
      plan.actors.forward(tape, actors, gradients, batch.observations, 1, batch.count, nullptr, nullptr);
  const MaddpgFreshActions fresh = maddpg_fresh_actions(tape, plan, outputs, batch, config);
  const std::size_t most = batch.count * (config.joint ? 1 : slots);
  std::size_t rows = 0;
  auto* sources = arena.template allocate<std::int32_t>(3 * most);
  std::int32_t *columns = sources + most, *owners = columns + most;
  const S* base = batch.inputs;
  Var actions = fresh.actions;
  if (config.joint) {
    actions = tape.reshape(actions, batch.count, slots * width);
    for (; rows < batch.count; ++rows) {
      sources[rows] = static_cast<std::int32_t>(rows);
      columns[rows] = static_cast<std::int32_t>(plan.game.state);
    }
  } else {
    S* copies = arena.template allocate<S>(most * inputs);
    base = copies;
    for (std::size_t b = 0; b < batch.count; ++b)
      for (std::size_t i = 0; i < slots; ++i) {
        if (batch.present[b * slots + i] == 0) continue;
        copies = std::copy_n(batch.inputs + b * inputs, inputs, copies);
        sources[rows] = static_cast<std::int32_t>(b * slots + i);
        columns[rows] = static_cast<std::int32_t>(plan.game.state + i * width);
        owners[rows++] = static_cast<std::int32_t>(i);
      }
  }
  if (rows == 0) {  // nobody to improve
    S* zero = arena.template allocate<S>(1);
    *zero = S(0);
    return tape.input(zero, 1, 1);
  }
  const Var seen = detail::overlay_rows(tape, actions, base, rows, inputs, sources, columns);
  Var q = plan.critic.forward(tape, critic, nullptr, seen, rows, nullptr, nullptr);
  if (plan.rewards == RewardKind::kIndividual) q = tape.gather(q, owners);
  const Var loss = tape.scale(tape.sum(q), static_cast<S>(-config.row_share));
  return fresh.penalty.valid() ? tape.add(loss, fresh.penalty) : loss;
}

}  // namespace mara
