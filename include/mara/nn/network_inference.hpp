#pragma once
// A list of layers as one network that can only be evaluated: weights, no gradients.

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>

#include "mara/nn/dense_layer.hpp"
#include "mara/nn/layer_norm_layer.hpp"
#include "mara/nn/parameter_storage.hpp"

namespace mara {

/// A part of a network that maps rows of kInputs numbers to rows of kOutputs numbers, each row for itself (so
/// does DenseLayer, so does LayerNormLayer): evaluate(storage, in, rows, out) noexcept, and record(tape, x,
/// storage, gradients) for the tape.
template <class L>
concept RowLayer = ParameterShape<L> && requires(const float* storage, const float* in, float* out) {
  { L::kInputs } -> std::convertible_to<std::size_t>;
  { L::kOutputs } -> std::convertible_to<std::size_t>;
  { L::evaluate(storage, in, std::size_t{1}, out) }
  noexcept;
};

/// Layers one after the other, a template constant. Storage: layer by layer. Parameters: "0.weight",
/// "0.bias", "1.weight", ..., by the number of the layer.
template <RowLayer... Layers>
struct LayerList {
  static_assert(sizeof...(Layers) > 0, "a network needs at least one layer");

  static constexpr std::size_t kLayers = sizeof...(Layers);
  template <std::size_t kIndex>
  using Layer = std::tuple_element_t<kIndex, std::tuple<Layers...>>;

  static constexpr std::array<std::size_t, kLayers> kInputSizes{Layers::kInputs...};
  static constexpr std::array<std::size_t, kLayers> kOutputSizes{Layers::kOutputs...};
  static constexpr std::size_t kInputs = kInputSizes.front();
  static constexpr std::size_t kOutputs = kOutputSizes.back();
  static constexpr std::size_t kParameters = (Layers::kParameters + ...);

  static constexpr bool kFit = [] {
    bool fit = true;
    for (std::size_t i = 1; i < kLayers; ++i) fit = fit && kInputSizes[i] == kOutputSizes[i - 1];
    return fit;
  }();
  static_assert(kFit, "each layer of a network needs as many inputs as the layer before it has outputs");

  /// Place of a layer in the storage; of layer kLayers: the size of the storage.
  static constexpr std::size_t offset(std::size_t layer) noexcept {
    constexpr std::array<std::size_t, kLayers> kSizes{Layers::kStored...};
    std::size_t total = 0;
    for (std::size_t i = 0; i < layer; ++i) total += kSizes[i];
    return total;
  }
  static constexpr std::size_t kStored = offset(kLayers);

  /// Widest result of a layer but the last; 0 for one layer.
  static constexpr std::size_t kWidest = [] {
    std::size_t widest = 0;
    for (std::size_t i = 0; i + 1 < kLayers; ++i)
      widest = kOutputSizes[i] > widest ? kOutputSizes[i] : widest;
    return widest;
  }();

  /// Every layer by its own rule; `output_gain` goes to the last one.
  template <class S>
  static void initialise(Random& random, S* storage, S output_gain = S(1)) {
    std::size_t index = 0;
    const auto one = [&]<class Layer>() {
      Layer::initialise(random, storage + offset(index), index + 1 == kLayers ? output_gain : S(1));
      ++index;
    };
    (one.template operator()<Layers>(), ...);
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    std::size_t index = 0;
    const auto one = [&]<class Layer>() {
      Layer::visit(storage + offset(index), prefix + std::to_string(index) + ".", f);
      ++index;
    };
    (one.template operator()<Layers>(), ...);
  }

  template <class Tape, class Node, class S>
  static Node record(Tape& tape, Node x, const S* storage, S* gradients) {
    return record_from<0>(tape, x, storage, gradients);
  }

  /// out[rows x kOutputs] from in[rows x kInputs]; first and second have room for rows x kWidest numbers.
  template <std::size_t kIndex = 0, class S>
  static void evaluate(const S* storage, const S* in, std::size_t rows, S* out, S* first,
                       S* second) noexcept {
    constexpr bool kLast = kIndex + 1 == kLayers;
    S* to = kLast ? out : first;
    Layer<kIndex>::evaluate(storage + offset(kIndex), in, rows, to);
    if constexpr (!kLast) evaluate<kIndex + 1>(storage, static_cast<const S*>(to), rows, out, second, first);
  }

 private:
  template <std::size_t kIndex, class Tape, class Node, class S>
  static Node record_from(Tape& tape, Node x, const S* storage, S* gradients) {
    if constexpr (kIndex == kLayers) {
      return x;
    } else {
      constexpr std::size_t kAt = offset(kIndex);
      const Node y =
          Layer<kIndex>::record(tape, x, storage + kAt, gradients == nullptr ? nullptr : gradients + kAt);
      return record_from<kIndex + 1>(tape, y, storage, gradients);
    }
  }
};

/// Memory for one evaluation of a network at a time; made once, then kept by whoever evaluates (one a
/// thread).
template <class S, class List>
class NetworkWorkspace {
 public:
  /// Rows that pass through all layers together, so that activations stay in the first cache level.
  static constexpr std::size_t kRows = 48;

  NetworkWorkspace() : memory_(2 * kRows * List::kWidest) {}
  S* first() noexcept { return memory_.data(); }
  S* second() noexcept { return memory_.data() + kRows * List::kWidest; }

 private:
  AlignedVector<S> memory_;
};

/// out[rows x kOutputs] = network(in[rows x kInputs]) for the storage of a LayerList.
template <class List, class S>
void network_forward(const S* storage, const S* in, std::size_t rows, S* out,
                     NetworkWorkspace<S, List>& workspace) noexcept {
  constexpr std::size_t kRows = NetworkWorkspace<S, List>::kRows;
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = rows - begin < kRows ? rows - begin : kRows;
    List::evaluate(storage, in + begin * List::kInputs, count, out + begin * List::kOutputs,
                   workspace.first(), workspace.second());
  }
}

/// A network for deployment: weights only, layers and sizes are template constants, for example
/// NetworkInference<float, DenseLayer<32, 64, Activation::kTanh>, LayerNormLayer<64>, DenseLayer<64, 16>>.
/// Nothing is allocated after construction.
template <class S, RowLayer... Layers>
class NetworkInference : public InferenceParameters<S, LayerList<Layers...>> {
 public:
  using Workspace = NetworkWorkspace<S, LayerList<Layers...>>;
  static constexpr std::size_t kInputs = LayerList<Layers...>::kInputs;
  static constexpr std::size_t kOutputs = LayerList<Layers...>::kOutputs;

  /// out[rows x kOutputs] = network(in[rows x kInputs]); NaN in a row gives NaN in that row.
  void forward(const S* in, std::size_t rows, S* out, Workspace& workspace) const noexcept {
    network_forward<LayerList<Layers...>>(this->parameters_.data(), in, rows, out, workspace);
  }
  /// The same with the network's own workspace: one thread at a time.
  void forward(const S* in, std::size_t rows, S* out) noexcept { forward(in, rows, out, workspace_); }

 private:
  Workspace workspace_;
};

/// One dense layer for deployment.
template <class S, std::size_t Inputs, std::size_t Outputs, Activation kActivation = Activation::kIdentity>
using DenseInference = NetworkInference<S, DenseLayer<Inputs, Outputs, kActivation>>;

/// Layer normalisation for deployment.
template <class S, std::size_t Width>
using LayerNormInference = NetworkInference<S, LayerNormLayer<Width>>;

}  // namespace mara
