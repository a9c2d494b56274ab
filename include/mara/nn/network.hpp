#pragma once
// A list of layers as one network that can be trained.

#include <cstddef>
#include <span>

#include "mara/autodiff/tape.hpp"
#include "mara/nn/network_inference.hpp"

namespace mara {

/// A network of layers with parameters and their gradients, each dense layer with its own activation, for
/// example
///
///     Network<float, DenseLayer<32, 64, Activation::kTanh>, LayerNormLayer<64>, DenseLayer<64, 16>> network;
///     network.initialise(random, 0.01f);
///
/// initialise(random, output_gain): orthogonal weights, gain sqrt(2) before an activation and output_gain in
/// the last layer, zero biases. Storage, names and order of the parameters: see LayerList. Dense layers
/// alone, the last without activation, give the same storage, names and numbers as Mlp.
template <class S, RowLayer... Layers>
class Network : public TrainedParameters<S, LayerList<Layers...>> {
 public:
  using List = LayerList<Layers...>;
  using Workspace = NetworkWorkspace<S, List>;
  using Inference = NetworkInference<S, Layers...>;
  static constexpr std::size_t kInputs = List::kInputs;
  static constexpr std::size_t kOutputs = List::kOutputs;

  /// The network on the tape: x [rows x kInputs] -> [rows x kOutputs]. backward() adds to gradients(). May be
  /// called several times on one tape; gradients of all uses add up. The network must outlive the tape's
  /// nodes and its parameters stay unchanged until backward() is done.
  Var forward(Tape<S>& tape, Var x) { return forward(tape, x, this->gradients_); }

  /// The same with gradients added to `gradients` (kStored numbers) instead, so that several threads can
  /// share one network, each with its own tape. An empty span: the parameters are constants.
  Var forward(Tape<S>& tape, Var x, std::span<S> gradients) const {
    return List::record(tape, x, this->parameters_.data(), gradients.empty() ? nullptr : gradients.data());
  }

  /// Evaluation without a tape: out[rows x kOutputs] = network(in[rows x kInputs]).
  void forward(const S* in, std::size_t rows, S* out, Workspace& workspace) const noexcept {
    network_forward<List>(this->parameters_.data(), in, rows, out, workspace);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy;
    copy.set_storage(this->parameters_).value();
    return copy;
  }
};

/// One dense layer.
template <class S, std::size_t Inputs, std::size_t Outputs, Activation kActivation = Activation::kIdentity>
using Dense = Network<S, DenseLayer<Inputs, Outputs, kActivation>>;

/// Layer normalisation.
template <class S, std::size_t Width>
using LayerNorm = Network<S, LayerNormLayer<Width>>;

}  // namespace mara
