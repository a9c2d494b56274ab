#pragma once
// Recurrent cells over sequences on the tape, each sequence one node: gradients go back through time with one
// transposition of the weights, and the weights get their gradient from one product over all steps.

#include <algorithm>
#include <cstdint>

#include "mara/autodiff/linear.hpp"
#include "mara/autodiff/tape_core.hpp"
#include "mara/math/recurrent_gates.hpp"

namespace mara {

/// Mixin of Tape: recurrent cells. Sequences are time-major: row t batch + b belongs to step t of sequence b.
/// `x_gates` is the product of all inputs with the weights of the gates (dense), for all steps at once;
/// `hidden` holds the weights [hidden x (gates hidden)] and bias that the state before a step meets. resets[t
/// batch + b] not 0: sequence b begins anew at step t, so its state is zero before the step; null: never. To
/// cut the gradient at the first step, hand in stop_gradient(state) or an input. `resets` stays the caller's
/// until clear().
template <class Derived, class S>
class RecurrentOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// GRU, gates r, z, n (math::gru_gates): x_gates [(steps batch) x (3 hidden)], state [batch x hidden] ->
  /// the state after every step [(steps batch) x hidden].
  Var gru(Var x_gates, Var state, const DenseParameters<S>& hidden, const std::uint8_t* resets = nullptr) {
    Derived& tape = self();
    if (!fits("gru", 3, x_gates, state, hidden)) return {};
    auto made = tape.fresh(tape.at(x_gates).rows, tape.at(state).cols, x_gates, state);
    Kept* kept = keep(made.node, state, hidden, resets);
    const std::size_t rows = kept->batch, width = rows * hidden.inputs;
    kept->before = allocate(kept->steps * width);
    kept->gates = made.node.needs_gradient ? allocate(kept->steps * 4 * width) : nullptr;
    S* h_gates = allocate(3 * width);
    const S* x = tape.at(x_gates).value;
    for (std::size_t t = 0; t < kept->steps; ++t) {
      S* before = kept->before + t * width;
      math::copy_unless_reset(t == 0 ? tape.at(state).value : made.out + (t - 1) * width, rows, hidden.inputs,
                              kept->resets_at(t), before);
      dense_forward(static_cast<const S*>(before), rows, hidden.inputs, hidden.outputs, hidden.weights,
                    hidden.bias, Activation::kIdentity, h_gates);
      math::gru_gates(x + t * 3 * width, static_cast<const S*>(h_gates), static_cast<const S*>(before), rows,
                      hidden.inputs, made.out + t * width,
                      kept->gates == nullptr ? nullptr : kept->gates + t * 4 * width);
    }
    made.node.backward = [](Core& core, const Node& node) { gru_backward(core, node); };
    return tape.push(made.node);
  }

  /// States of an LSTM.
  struct Lstm {
    Var hidden;  ///< what the cell shows, [(steps batch) x hidden]
    Var cell;    ///< what it remembers, the same shape
  };

  /// LSTM, gates i, f, g, o (math::lstm_gates): x_gates [(steps batch) x (4 hidden)], first states
  /// [batch x hidden] -> states after every step.
  Lstm lstm(Var x_gates, Var state, Var cell, const DenseParameters<S>& hidden,
            const std::uint8_t* resets = nullptr) {
    Derived& tape = self();
    if (!fits("lstm", 4, x_gates, state, hidden) || !tape.same_shape("lstm", state, cell)) return {};
    // One node for both: the hidden states of all steps, then the cells of all steps.
    auto made = tape.fresh(2 * tape.at(x_gates).rows, tape.at(state).cols, x_gates, state, cell);
    Kept* kept = keep(made.node, state, hidden, resets);
    const std::size_t rows = kept->batch, width = rows * hidden.inputs, all = kept->steps * width;
    kept->before = allocate(2 * all);
    kept->gates = made.node.needs_gradient ? allocate(5 * all) : nullptr;
    S* h_gates = allocate(4 * width);
    const S* x = tape.at(x_gates).value;
    for (std::size_t t = 0; t < kept->steps; ++t) {
      S* before = kept->before + t * width;
      S* cell_before = before + all;
      const bool first = t == 0;
      math::copy_unless_reset(first ? tape.at(state).value : made.out + (t - 1) * width, rows, hidden.inputs,
                              kept->resets_at(t), before);
      math::copy_unless_reset(first ? tape.at(cell).value : made.out + all + (t - 1) * width, rows,
                              hidden.inputs, kept->resets_at(t), cell_before);
      dense_forward(static_cast<const S*>(before), rows, hidden.inputs, hidden.outputs, hidden.weights,
                    hidden.bias, Activation::kIdentity, h_gates);
      math::lstm_gates(x + t * 4 * width, static_cast<const S*>(h_gates), static_cast<const S*>(cell_before),
                       rows, hidden.inputs, made.out + all + t * width, made.out + t * width,
                       kept->gates == nullptr ? nullptr : kept->gates + t * 5 * width);
    }
    made.node.backward = [](Core& core, const Node& node) { lstm_backward(core, node); };
    const Var both = tape.push(made.node);
    const std::size_t count = kept->steps * rows;
    return {tape.slice_rows(both, 0, count), tape.slice_rows(both, count, count)};
  }

 private:
  /// What the way back needs.
  struct Kept {
    DenseParameters<S> hidden;
    const std::uint8_t* resets;
    std::size_t steps, batch;
    S* before;  ///< states before every step, after the resets; of an LSTM: then the cells
    S* gates;   ///< what the gates kept

    const std::uint8_t* resets_at(std::size_t t) const noexcept {
      return resets == nullptr ? nullptr : resets + t * batch;
    }
  };

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  S* allocate(std::size_t count) { return self().arena().template allocate<S>(count); }

  bool fits(const char* name, std::int32_t gates, Var x_gates, Var state, const DenseParameters<S>& hidden) {
    Derived& tape = self();
    if (!tape.known(name, x_gates) || !tape.known(name, state)) return false;
    const Node x = tape.at(x_gates), h = tape.at(state);
    if (x.cols == gates * h.cols && h.rows > 0 && x.rows % h.rows == 0 &&
        hidden.inputs == static_cast<std::size_t>(h.cols) &&
        hidden.outputs == static_cast<std::size_t>(x.cols))
      return true;
    tape.fail(name, "gates " + tape.shape(x_gates) + ", state " + tape.shape(state) + " and weights " +
                        std::to_string(hidden.inputs) + " x " + std::to_string(hidden.outputs) +
                        " do not agree");
    return false;
  }

  Kept* keep(Node& node, Var state, const DenseParameters<S>& hidden, const std::uint8_t* resets) {
    auto* kept = self().arena().template allocate<Kept>(1);
    const auto batch = static_cast<std::size_t>(self().at(state).rows);
    *kept = {hidden, resets,  static_cast<std::size_t>(self().at(node.a).rows) / batch,
             batch,  nullptr, nullptr};
    node.data = kept;
    node.needs_gradient =
        node.needs_gradient || hidden.weights_gradient != nullptr || hidden.bias_gradient != nullptr;
    return kept;
  }

  /// out[rows x hidden] = d_gates[rows x outputs] weights^T. `transposed`: the weights' transpose in panels.
  static void through_weights(const S* d_gates, std::size_t rows, const DenseParameters<S>& hidden,
                              const S* transposed, S* out) noexcept {
    math::product(d_gates, rows,
                  math::Matrix<const S>{transposed, hidden.outputs, hidden.inputs, Storage::kPanels}, out);
  }

  static const S* transpose(Core& core, const DenseParameters<S>& hidden) {
    S* transposed = core.arena().template allocate<S>(PanelLayout::size(hidden.outputs, hidden.inputs));
    math::transpose_to_panels(
        math::Matrix<const S>{hidden.weights, hidden.inputs, hidden.outputs, Storage::kPanels}, 0,
        hidden.inputs, transposed);
    return transposed;
  }

  static void weight_gradients(const Kept& kept, const S* d_gates) noexcept {
    const DenseParameters<S>& hidden = kept.hidden;
    const std::size_t rows = kept.steps * kept.batch;
    if (hidden.weights_gradient != nullptr)
      dense_weight_gradient(static_cast<const S*>(kept.before), d_gates, rows, hidden.inputs, hidden.outputs,
                            true, hidden.weights_gradient);
    if (hidden.bias_gradient != nullptr)
      dense_bias_gradient(d_gates, rows, hidden.outputs, true, hidden.bias_gradient);
  }

  static void add_to(Core& core, std::int32_t index, const S* gradient) {
    core.add_gradient(
        index, [](simd::Vec<S> g) { return g; }, gradient);
  }

  static void gru_backward(Core& core, const Node& node) {
    const auto& kept = *static_cast<const Kept*>(node.data);
    const std::size_t rows = kept.batch, hidden = kept.hidden.inputs, width = rows * hidden;
    if (kept.steps == 0) return;
    S* d_gates = core.arena().template allocate<S>(kept.steps * 3 * width);
    S* carry = core.arena().template allocate<S>(2 * width);
    S* through = carry + width;
    const S* transposed = transpose(core, kept.hidden);
    std::fill_n(carry, width, S(0));
    const auto walk = [&](S* d_x, auto add) {
      for (std::size_t t = kept.steps; t-- > 0;) {
        simd::map<true>(
            width, carry, [](simd::Vec<S> g) { return g; }, static_cast<const S*>(node.gradient + t * width));
        S* d_h = d_gates + t * 3 * width;
        math::gru_gates_gradient<decltype(add)::value>(
            static_cast<const S*>(carry), static_cast<const S*>(kept.gates + t * 4 * width),
            static_cast<const S*>(kept.before + t * width), rows, hidden,
            d_x == nullptr ? nullptr : d_x + t * 3 * width, d_h, carry);
        through_weights(d_h, rows, kept.hidden, transposed, through);
        simd::map<true>(
            width, carry, [](simd::Vec<S> g) { return g; }, static_cast<const S*>(through));
        math::copy_unless_reset(static_cast<const S*>(carry), rows, hidden, kept.resets_at(t), carry);
      }
    };
    if (core.wants(node.a)) {
      core.into_gradient(node.a, walk);
    } else {
      walk(nullptr, std::false_type{});
    }
    weight_gradients(kept, d_gates);
    add_to(core, node.b, carry);
  }

  static void lstm_backward(Core& core, const Node& node) {
    const auto& kept = *static_cast<const Kept*>(node.data);
    const std::size_t rows = kept.batch, hidden = kept.hidden.inputs, width = rows * hidden,
                      all = kept.steps * width;
    if (kept.steps == 0) return;
    S* d_gates = core.arena().template allocate<S>(4 * all);
    S* carry = core.arena().template allocate<S>(2 * width);
    S* cell_carry = carry + width;
    const S* transposed = transpose(core, kept.hidden);
    std::fill_n(carry, 2 * width, S(0));
    for (std::size_t t = kept.steps; t-- > 0;) {
      const S* up = node.gradient + t * width;
      const auto same = [](simd::Vec<S> g) { return g; };
      simd::map<true>(width, carry, same, up);
      simd::map<true>(width, cell_carry, same, up + all);
      S* d_h = d_gates + t * 4 * width;
      math::lstm_gates_gradient(static_cast<const S*>(carry), static_cast<const S*>(cell_carry),
                                static_cast<const S*>(kept.gates + t * 5 * width),
                                static_cast<const S*>(kept.before + all + t * width), rows, hidden, d_h,
                                cell_carry);
      // The state before the step acts through the gates alone.
      through_weights(d_h, rows, kept.hidden, transposed, carry);
      math::copy_unless_reset(static_cast<const S*>(carry), rows, hidden, kept.resets_at(t), carry);
      math::copy_unless_reset(static_cast<const S*>(cell_carry), rows, hidden, kept.resets_at(t), cell_carry);
    }
    weight_gradients(kept, d_gates);
    add_to(core, node.a, d_gates);
    add_to(core, node.b, carry);
    add_to(core, node.c, cell_carry);
  }
};

}  // namespace mara
