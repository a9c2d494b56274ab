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
/// constants, for example Mlp<float, 32, 64, 64, 16>. The output layer has no activation. Parameter order:
/// see MlpShape.
template <class S, std::size_t... Sizes>
class Mlp {
 public:
  using Shape = MlpShape<Sizes...>;
  using Workspace = MlpWorkspace<S, Sizes...>;
  using Inference = MlpInference<S, Sizes...>;
  static constexpr std::size_t kInputs = Shape::kInputs;
  static constexpr std::size_t kOutputs = Shape::kOutputs;
  static constexpr std::size_t kParameters = Shape::kParameters;

  /// All parameters zero until initialise().
  explicit Mlp(Activation hidden = Activation::kTanh)
      : hidden_(hidden), parameters_(kParameters), gradients_(kParameters) {}

  /// Orthogonal weights, gain sqrt(2) in hidden layers and `output_gain` in the last, zero biases: the
  /// convention of PPO (Andrychowicz et al., "What Matters In On-Policy Reinforcement Learning?", 2021, and
  /// OpenAI Baselines), with an output gain of 0.01 for policies and 1 for values.
  void initialise(Random& random, S output_gain) {
    std::fill(parameters_.begin(), parameters_.end(), S(0));
    for (std::size_t layer = 0; layer < Shape::kLayers; ++layer) {
      const S gain = layer + 1 == Shape::kLayers ? output_gain : static_cast<S>(std::sqrt(2.0));
      orthogonal_initialise(random, Shape::kSizes[layer], Shape::kSizes[layer + 1], gain,
                            parameters_.data() + Shape::offset(layer));
    }
  }

  std::span<S> parameters() noexcept { return parameters_; }
  std::span<const S> parameters() const noexcept { return parameters_; }
  std::span<S> gradients() noexcept { return gradients_; }
  std::span<const S> gradients() const noexcept { return gradients_; }
  void zero_gradients() noexcept { std::fill(gradients_.begin(), gradients_.end(), S(0)); }
  Activation hidden_activation() const noexcept { return hidden_; }

  /// The network on the tape: x [rows x kInputs] -> [rows x kOutputs]. backward() adds to gradients(). May be
  /// called several times on one tape; gradients of all uses add up. The network must outlive the tape's
  /// nodes and its parameters stay unchanged until backward() is done.
  Var forward(Tape<S>& tape, Var x) { return forward(tape, x, gradients_); }

  /// The same with gradients added to `gradients` (kParameters numbers) instead, so that several threads can
  /// share one network, each with its own tape.
  Var forward(Tape<S>& tape, Var x, std::span<S> gradients) const {
    for (std::size_t layer = 0; layer < Shape::kLayers; ++layer) {
      const std::size_t inputs = Shape::kSizes[layer], outputs = Shape::kSizes[layer + 1];
      const std::size_t w = Shape::offset(layer), b = w + inputs * outputs;
      const Var weights = tape.variable(parameters_.data() + w, gradients.data() + w, inputs, outputs);
      const Var bias = tape.variable(parameters_.data() + b, gradients.data() + b, 1, outputs);
      x = tape.dense(x, weights, bias, layer + 1 == Shape::kLayers ? Activation::kIdentity : hidden_);
    }
    return x;
  }

  /// Evaluation without a tape: out[rows x kOutputs] = network(in[rows x kInputs]).
  void forward(const S* in, std::size_t rows, S* out, Workspace& workspace) const noexcept {
    mlp_forward<S, Sizes...>(parameters_.data(), hidden_, in, rows, out, workspace);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy(hidden_);
    copy.set_parameters(parameters_).value();
    return copy;
  }

 private:
  Activation hidden_;
  AlignedVector<S> parameters_;
  AlignedVector<S> gradients_;
};

}  // namespace mara
