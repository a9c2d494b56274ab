#pragma once
// Recurrent cells that can be trained over sequences.

#include <cstddef>
#include <cstdint>

#include "mara/autodiff/tape.hpp"
#include "mara/nn/recurrent_inference.hpp"

namespace mara {

/// A GRU with parameters and their gradients (math::gru_gates). Storage and names: see RecurrentShape.
template <class S, std::size_t Inputs, std::size_t Hidden>
class Gru : public TrainedParameters<S, RecurrentShape<Inputs, Hidden, 3>> {
 public:
  using Shape = RecurrentShape<Inputs, Hidden, 3>;
  using Workspace = RecurrentWorkspace<S, Shape>;
  using Inference = GruInference<S, Inputs, Hidden>;
  static constexpr std::size_t kInputs = Inputs, kHidden = Hidden;

  /// A batch of sequences on the tape, time-major: x [(steps batch) x Inputs], row t batch + b is step t of
  /// sequence b; state [batch x Hidden] is the one before the first step -> the state after every step
  /// [(steps batch) x Hidden]. One step: steps = 1. resets[t batch + b] not 0: the state is zero before that
  /// step; null: never. The array stays the caller's until clear(). The gradient goes back through all steps,
  /// and through `state` unless that is an input or stop_gradient(): cut it there to truncate.
  Var forward(Tape<S>& tape, Var x, Var state, const std::uint8_t* resets = nullptr) {
    S* g = this->gradients_.data();
    const S* p = this->parameters_.data();
    const Var gates =
        tape.dense(x, {p, p + Shape::kInputBias, g, g + Shape::kInputBias, Inputs, Shape::kGates},
                   Activation::kIdentity);
    return tape.gru(
        gates, state,
        {p + Shape::kWeights, p + Shape::kBias, g + Shape::kWeights, g + Shape::kBias, Hidden, Shape::kGates},
        resets);
  }

  /// One step without a tape, see GruInference::step.
  void step(const S* x, std::size_t rows, S* state, const std::uint8_t* resets,
            Workspace& workspace) const noexcept {
    gru_step(this->parameters_.data(), x, rows, resets, state, workspace);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy;
    copy.set_storage(this->parameters_).value();
    return copy;
  }
};

/// An LSTM with parameters and their gradients (math::lstm_gates). Storage and names: see RecurrentShape.
template <class S, std::size_t Inputs, std::size_t Hidden>
class Lstm : public TrainedParameters<S, RecurrentShape<Inputs, Hidden, 4>> {
 public:
  using Shape = RecurrentShape<Inputs, Hidden, 4>;
  using Workspace = RecurrentWorkspace<S, Shape>;
  using Inference = LstmInference<S, Inputs, Hidden>;
  using States = typename Tape<S>::Lstm;  ///< hidden and cell, [(steps batch) x Hidden] each
  static constexpr std::size_t kInputs = Inputs, kHidden = Hidden;

  /// A batch of sequences on the tape, as Gru::forward; state and cell [batch x Hidden].
  States forward(Tape<S>& tape, Var x, Var state, Var cell, const std::uint8_t* resets = nullptr) {
    S* g = this->gradients_.data();
    const S* p = this->parameters_.data();
    const Var gates =
        tape.dense(x, {p, p + Shape::kInputBias, g, g + Shape::kInputBias, Inputs, Shape::kGates},
                   Activation::kIdentity);
    return tape.lstm(
        gates, state, cell,
        {p + Shape::kWeights, p + Shape::kBias, g + Shape::kWeights, g + Shape::kBias, Hidden, Shape::kGates},
        resets);
  }

  /// One step without a tape, see LstmInference::step.
  void step(const S* x, std::size_t rows, S* state, S* cell, const std::uint8_t* resets,
            Workspace& workspace) const noexcept {
    lstm_step(this->parameters_.data(), x, rows, resets, state, cell, workspace);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy;
    copy.set_storage(this->parameters_).value();
    return copy;
  }
};

}  // namespace mara
