#pragma once
// A dense layer as a part of a network: its shape, its evaluation and how it is recorded on a tape.

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/math/dense.hpp"
#include "mara/nn/initialise.hpp"

namespace mara {

/// y = activation(x W + b), a part of a Network. Storage: weights [inputs x outputs] in panels (PanelLayout),
/// then the padded bias. Parameters: "weight", "bias".
template <std::size_t Inputs, std::size_t Outputs, Activation kActivation = Activation::kIdentity>
struct DenseLayer {
  static_assert(Inputs > 0 && Outputs > 0, "a DenseLayer needs at least one input and one output");
  static constexpr std::size_t kInputs = Inputs, kOutputs = Outputs;
  static constexpr std::size_t kParameters = (Inputs + 1) * Outputs;
  static constexpr std::size_t kBias = PanelLayout::size(Inputs, Outputs);  ///< place of the bias
  static constexpr std::size_t kStored = kBias + PanelLayout::padded(Outputs);

  /// Orthogonal weights with gain sqrt(2) before an activation and `output_gain` without one; zero bias.
  template <class S>
  static void initialise(Random& random, S* storage, S output_gain = S(1)) {
    std::vector<S> weights(Inputs * Outputs);
    orthogonal_initialise(random, Inputs, Outputs,
                          kActivation == Activation::kIdentity ? output_gain : static_cast<S>(std::sqrt(2.0)),
                          weights.data());
    pack_weights(weights.data(), Inputs, Outputs, storage);
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    f(prefix + "weight", ParameterView<S>{storage, Inputs, Outputs, Storage::kPanels});
    f(prefix + "bias", ParameterView<S>{storage + kBias, 1, Outputs, Storage::kRowMajor});
  }

  /// out[rows x Outputs] from in[rows x Inputs]; they must not overlap.
  template <class S>
  static void evaluate(const S* storage, const S* in, std::size_t rows, S* out) noexcept {
    // The bits of dense_forward(), with the activation known when this is compiled.
    constexpr bool kTanh = kActivation == Activation::kTanh && std::is_same_v<S, float>;
    constexpr bool kRelu = kActivation == Activation::kRelu;
    using Epilogue = std::conditional_t<kTanh, math::TanhEpilogue,
                                        std::conditional_t<kRelu, math::ReluEpilogue, math::NoEpilogue>>;
    math::layer_product<Inputs, Outputs, false, Epilogue>(rows, in, storage, storage + kBias, out);
    if constexpr (!kTanh && !kRelu) math::activate(kActivation, rows * Outputs, out);
  }

  /// The layer on a tape; gradients go to `gradients`, storage of the same layout. A null one trains nothing.
  template <class Tape, class Node, class S>
  static Node record(Tape& tape, Node x, const S* storage, S* gradients) {
    return tape.template dense<Inputs, Outputs>(
        x,
        {storage, storage + kBias, gradients, gradients == nullptr ? nullptr : gradients + kBias, Inputs,
         Outputs},
        kActivation);
  }
};

}  // namespace mara
