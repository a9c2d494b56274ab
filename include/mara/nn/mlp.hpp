#pragma once
// A multi-layer perceptron that can be trained.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/math/aligned.hpp"
#include "mara/nn/initialise.hpp"
#include "mara/nn/mlp_inference.hpp"

namespace mara {

/// A perceptron with parameters and their gradients. Inputs, hidden widths and outputs are template
/// constants, for example Mlp<float, 32, 64, 64, 16>. The output layer has no activation. Storage and order
/// of the parameters: see MlpShape.
template <class S, std::size_t... Sizes>
class Mlp {
 public:
  using Shape = MlpShape<Sizes...>;
  using Workspace = MlpWorkspace<S, Sizes...>;
  using Inference = MlpInference<S, Sizes...>;
  static constexpr std::size_t kInputs = Shape::kInputs;
  static constexpr std::size_t kOutputs = Shape::kOutputs;
  static constexpr std::size_t kParameters = Shape::kParameters;  ///< exact number
  static constexpr std::size_t kStored = Shape::kStored;          ///< with padding

  /// All parameters zero until initialise().
  explicit Mlp(Activation hidden = Activation::kTanh)
      : hidden_(hidden), parameters_(kStored), gradients_(kStored) {}

  /// Orthogonal weights, gain sqrt(2) in hidden layers and `output_gain` in the last, zero biases: the
  /// convention of PPO (Andrychowicz et al., "What Matters In On-Policy Reinforcement Learning?", 2021, and
  /// OpenAI Baselines), with an output gain of 0.01 for policies and 1 for values.
  void initialise(Random& random, S output_gain) {
    std::fill(parameters_.begin(), parameters_.end(), S(0));
    AlignedVector<S> weights;
    for (std::size_t layer = 0; layer < Shape::kLayers; ++layer) {
      const std::size_t inputs = Shape::kSizes[layer], outputs = Shape::kSizes[layer + 1];
      const S gain = layer + 1 == Shape::kLayers ? output_gain : static_cast<S>(std::sqrt(2.0));
      weights.resize(inputs * outputs);
      orthogonal_initialise(random, inputs, outputs, gain, weights.data());
      pack_weights(weights.data(), inputs, outputs, parameters_.data() + Shape::offset(layer));
    }
  }

  /// The storage of parameters and of their gradients, kStored numbers each. Padding stays zero.
  std::span<S> parameters() noexcept { return parameters_; }
  std::span<const S> parameters() const noexcept { return parameters_; }
  std::span<S> gradients() noexcept { return gradients_; }
  std::span<const S> gradients() const noexcept { return gradients_; }
  void zero_gradients() noexcept { std::fill(gradients_.begin(), gradients_.end(), S(0)); }
  Activation hidden_activation() const noexcept { return hidden_; }

  /// Copies kParameters numbers in exact order (MlpShape); another count is an error and changes nothing.
  Status set_parameters(std::span<const S> exact) { return set_exact_parameters(*this, exact); }
  /// All parameters in exact order, kParameters numbers.
  std::vector<S> exact_parameters() const { return mara::exact_parameters<S>(*this); }

  /// Calls f(name, ParameterView) for every parameter in order: "0.weight", "0.bias", "1.weight", ...
  template <class F>
  void visit_parameters(F&& f) {
    detail::visit_mlp_parameters<Shape>(parameters_.data(), f);
  }
  template <class F>
  void visit_parameters(F&& f) const {
    detail::visit_mlp_parameters<Shape>(parameters_.data(), f);
  }
  /// The same for their gradients.
  template <class F>
  void visit_gradients(F&& f) const {
    detail::visit_mlp_parameters<Shape>(gradients_.data(), f);
  }

  /// The network on the tape: x [rows x kInputs] -> [rows x kOutputs]. backward() adds to gradients(). May be
  /// called several times on one tape; gradients of all uses add up. The network must outlive the tape's
  /// nodes and its parameters stay unchanged until backward() is done.
  Var forward(Tape<S>& tape, Var x) { return forward(tape, x, gradients_); }

  /// The same for a network that the loss uses once: backward() overwrites gradients(), whatever they are,
  /// and zero_gradients() is not needed. A loss that does not depend on the network leaves them as they were.
  Var forward_once(Tape<S>& tape, Var x) { return layers<0>(tape, x, gradients_.data(), true); }

  /// The same with gradients added to `gradients` (kStored numbers) instead, so that several threads can
  /// share one network, each with its own tape.
  Var forward(Tape<S>& tape, Var x, std::span<S> gradients) const {
    return layers<0>(tape, x, gradients.data(), false);
  }

  /// Evaluation without a tape: out[rows x kOutputs] = network(in[rows x kInputs]).
  void forward(const S* in, std::size_t rows, S* out, Workspace& workspace) const noexcept {
    mlp_forward<S, Sizes...>(parameters_.data(), hidden_, in, rows, out, workspace);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy(hidden_);
    copy.set_storage(parameters_).value();
    return copy;
  }

 private:
  template <std::size_t kLayer>
  Var layers(Tape<S>& tape, Var x, S* gradients, bool replace) const {
    if constexpr (kLayer == Shape::kLayers) {
      return x;
    } else {
      constexpr std::size_t kIn = Shape::kSizes[kLayer], kOut = Shape::kSizes[kLayer + 1],
                            kWeights = Shape::offset(kLayer), kBias = Shape::bias_offset(kLayer);
      const DenseParameters<S> layer{parameters_.data() + kWeights,
                                     parameters_.data() + kBias,
                                     gradients + kWeights,
                                     gradients + kBias,
                                     kIn,
                                     kOut,
                                     replace};
      const Activation activation = kLayer + 1 == Shape::kLayers ? Activation::kIdentity : hidden_;
      return layers<kLayer + 1>(tape, tape.template dense<kIn, kOut>(x, layer, activation), gradients,
                                replace);
    }
  }

  Activation hidden_;
  AlignedVector<S> parameters_;
  AlignedVector<S> gradients_;
};

}  // namespace mara
