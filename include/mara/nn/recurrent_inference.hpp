#pragma once
// Recurrent cells that can only be evaluated, step by step: weights, no gradients.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mara/math/dense.hpp"
#include "mara/math/recurrent_gates.hpp"
#include "mara/nn/initialise.hpp"
#include "mara/nn/parameter_storage.hpp"

namespace mara {

/// Parameters of a recurrent cell with Gates gates. Storage: what the input meets, then what the state meets,
/// each weights in panels and a padded bias. Parameters: "input.weight" [inputs x (gates hidden)],
/// "input.bias", "hidden.weight" [hidden x (gates hidden)], "hidden.bias".
template <std::size_t Inputs, std::size_t Hidden, std::size_t Gates>
struct RecurrentShape {
  static_assert(Inputs > 0 && Hidden > 0, "a recurrent cell needs at least one input and one unit");
  static constexpr std::size_t kInputs = Inputs, kHidden = Hidden, kGates = Gates * Hidden;
  static constexpr std::size_t kParameters = (Inputs + Hidden + 2) * kGates;
  static constexpr std::size_t kInputBias = PanelLayout::size(Inputs, kGates);  ///< places in the storage
  static constexpr std::size_t kWeights = kInputBias + PanelLayout::padded(kGates);
  static constexpr std::size_t kBias = kWeights + PanelLayout::size(Hidden, kGates);
  static constexpr std::size_t kStored = kBias + PanelLayout::padded(kGates);

  /// Orthogonal weights with gain 1, each gate for itself; zero biases, but 1 for the input bias of an LSTM's
  /// forget gate (Jozefowicz, Zaremba and Sutskever, "An Empirical Exploration of Recurrent Network
  /// Architectures", ICML 2015).
  template <class S>
  static void initialise(Random& random, S* storage) {
    std::vector<S> values;
    visit(storage, std::string{}, [&](const std::string&, ParameterView<S> view) {
      if (view.storage != Storage::kPanels) return;
      values.resize(view.rows * Hidden);
      for (std::size_t gate = 0; gate < Gates; ++gate) {
        orthogonal_initialise(random, view.rows, Hidden, S(1), values.data());
        for (std::size_t r = 0; r < view.rows; ++r)
          for (std::size_t c = 0; c < Hidden; ++c) view.at(r, gate * Hidden + c) = values[r * Hidden + c];
      }
    });
    if (Gates == 4)
      for (std::size_t c = 0; c < Hidden; ++c) storage[kInputBias + Hidden + c] = S(1);
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    f(prefix + "input.weight", ParameterView<S>{storage, Inputs, kGates, Storage::kPanels});
    f(prefix + "input.bias", ParameterView<S>{storage + kInputBias, 1, kGates, Storage::kRowMajor});
    f(prefix + "hidden.weight", ParameterView<S>{storage + kWeights, Hidden, kGates, Storage::kPanels});
    f(prefix + "hidden.bias", ParameterView<S>{storage + kBias, 1, kGates, Storage::kRowMajor});
  }
};

/// Memory for one step of a recurrent cell at a time; made once, then kept by whoever evaluates (one a
/// thread).
template <class S, class Shape>
class RecurrentWorkspace {
 public:
  /// Rows that pass through the cell together.
  static constexpr std::size_t kRows = 48;

  RecurrentWorkspace() : memory_(2 * kRows * Shape::kGates) {}

  /// Products of the input and of the state with their weights, both in here.
  struct Products {
    S *input, *state;
  };
  Products products(const S* storage, const S* x, const S* state, std::size_t rows) noexcept {
    constexpr std::size_t kIn = Shape::kInputs, kHidden = Shape::kHidden, kGates = Shape::kGates;
    const Products to{memory_.data(), memory_.data() + kRows * kGates};
    math::layer_product<kIn, kGates, false, math::NoEpilogue>(rows, x, storage, storage + Shape::kInputBias,
                                                              to.input);
    math::layer_product<kHidden, kGates, false, math::NoEpilogue>(rows, state, storage + Shape::kWeights,
                                                                  storage + Shape::kBias, to.state);
    return to;
  }

 private:
  AlignedVector<S> memory_;
};

namespace detail {

template <class S>
void reset_rows(std::size_t rows, std::size_t cols, const std::uint8_t* resets, S* state) noexcept {
  if (resets != nullptr) math::copy_unless_reset(static_cast<const S*>(state), rows, cols, resets, state);
}

}  // namespace detail

/// One step of a GRU: state[rows x Hidden] is replaced; where resets[r] is not 0 it counts as zero before.
template <class S, std::size_t Inputs, std::size_t Hidden>
void gru_step(const S* storage, const S* x, std::size_t rows, const std::uint8_t* resets, S* state,
              RecurrentWorkspace<S, RecurrentShape<Inputs, Hidden, 3>>& workspace) noexcept {
  constexpr std::size_t kRows = RecurrentWorkspace<S, RecurrentShape<Inputs, Hidden, 3>>::kRows;
  detail::reset_rows(rows, Hidden, resets, state);
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = rows - begin < kRows ? rows - begin : kRows;
    S* h = state + begin * Hidden;
    const auto gates = workspace.products(storage, x + begin * Inputs, h, count);
    math::gru_gates<S>(gates.input, gates.state, h, count, Hidden, h, nullptr);
  }
}

/// One step of an LSTM: state and cell [rows x Hidden] are replaced, as by gru_step.
template <class S, std::size_t Inputs, std::size_t Hidden>
void lstm_step(const S* storage, const S* x, std::size_t rows, const std::uint8_t* resets, S* state, S* cell,
               RecurrentWorkspace<S, RecurrentShape<Inputs, Hidden, 4>>& workspace) noexcept {
  constexpr std::size_t kRows = RecurrentWorkspace<S, RecurrentShape<Inputs, Hidden, 4>>::kRows;
  detail::reset_rows(rows, Hidden, resets, state);
  detail::reset_rows(rows, Hidden, resets, cell);
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = rows - begin < kRows ? rows - begin : kRows;
    S *h = state + begin * Hidden, *c = cell + begin * Hidden;
    const auto gates = workspace.products(storage, x + begin * Inputs, h, count);
    math::lstm_gates<S>(gates.input, gates.state, c, count, Hidden, c, h, nullptr);
  }
}

/// A GRU for deployment (math::gru_gates): weights only, sizes are template constants. Nothing is allocated
/// after construction. The caller keeps the state of each of its rows and sets it to zero at the first step.
template <class S, std::size_t Inputs, std::size_t Hidden>
class GruInference : public InferenceParameters<S, RecurrentShape<Inputs, Hidden, 3>> {
 public:
  using Workspace = RecurrentWorkspace<S, RecurrentShape<Inputs, Hidden, 3>>;
  static constexpr std::size_t kInputs = Inputs, kHidden = Hidden;

  /// x [rows x Inputs], state [rows x Hidden] is replaced by the next one, which is the result. resets[r] not
  /// 0: row r begins anew, its state counts as zero; null: none does. NaN in a row stays in that row.
  void step(const S* x, std::size_t rows, S* state, const std::uint8_t* resets,
            Workspace& workspace) const noexcept {
    gru_step(this->parameters_.data(), x, rows, resets, state, workspace);
  }
  /// The same with the cell's own workspace: one thread at a time.
  void step(const S* x, std::size_t rows, S* state, const std::uint8_t* resets = nullptr) noexcept {
    step(x, rows, state, resets, workspace_);
  }

 private:
  Workspace workspace_;
};

/// An LSTM for deployment (math::lstm_gates), as GruInference; the result of a step is the new state.
template <class S, std::size_t Inputs, std::size_t Hidden>
class LstmInference : public InferenceParameters<S, RecurrentShape<Inputs, Hidden, 4>> {
 public:
  using Workspace = RecurrentWorkspace<S, RecurrentShape<Inputs, Hidden, 4>>;
  static constexpr std::size_t kInputs = Inputs, kHidden = Hidden;

  /// x [rows x Inputs]; state and cell [rows x Hidden] are replaced by the next ones. resets: as
  /// GruInference.
  void step(const S* x, std::size_t rows, S* state, S* cell, const std::uint8_t* resets,
            Workspace& workspace) const noexcept {
    lstm_step(this->parameters_.data(), x, rows, resets, state, cell, workspace);
  }
  /// The same with the cell's own workspace: one thread at a time.
  void step(const S* x, std::size_t rows, S* state, S* cell, const std::uint8_t* resets = nullptr) noexcept {
    step(x, rows, state, cell, resets, workspace_);
  }

 private:
  Workspace workspace_;
};

}  // namespace mara
