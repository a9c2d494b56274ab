#pragma once
// Perceptrons with one output, faster.

#include <cstddef>
#include <utility>

#include "mara/autodiff/single_output.hpp"
#include "mara/autodiff/small_input.hpp"
#include "mara/nn/mlp.hpp"

namespace mara {

namespace detail {

/// Parameters of a layer of a network and the places of their gradients.
template <std::size_t kLayer, class S, std::size_t... Sizes>
DenseParameters<S> layer_of(Mlp<S, Sizes...>& network) noexcept {
  using Shape = MlpShape<Sizes...>;
  constexpr std::size_t kWeights = Shape::offset(kLayer), kBias = Shape::bias_offset(kLayer);
  return {network.parameters().data() + kWeights,
          network.parameters().data() + kBias,
          network.gradients().data() + kWeights,
          network.gradients().data() + kBias,
          Shape::kSizes[kLayer],
          Shape::kSizes[kLayer + 1]};
}

template <std::size_t kLayer, class S, std::size_t... Sizes>
Var layers_to_single_output(Mlp<S, Sizes...>& network, Tape<S>& tape, Var x) {
  using Shape = MlpShape<Sizes...>;
  constexpr std::size_t kIn = Shape::kSizes[kLayer], kOut = Shape::kSizes[kLayer + 1];
  if constexpr (kLayer + 2 == Shape::kLayers) {
    return dense_to_single_output<kIn, kOut>(tape, x, layer_of<kLayer>(network),
                                             layer_of<kLayer + 1>(network), network.hidden_activation());
  } else {
    if constexpr (math::small_input_fits<S>(kIn, kOut)) {
      if (!tape.at(x).needs_gradient)
        return layers_to_single_output<kLayer + 1>(
            network, tape,
            dense_of_small_input<kIn, kOut>(tape, x, layer_of<kLayer>(network), network.hidden_activation()));
    }
    return layers_to_single_output<kLayer + 1>(
        network, tape,
        tape.template dense<kIn, kOut>(x, layer_of<kLayer>(network), network.hidden_activation()));
  }
}

/// All hidden layers of up to Workspace::kRows rows; returns where the values of the last one are.
template <std::size_t kLayer, class S, std::size_t... Sizes>
const S* hidden_layers(const Mlp<S, Sizes...>& network, const S* in, std::size_t rows,
                       MlpWorkspace<S, Sizes...>& workspace) noexcept {
  using Shape = MlpShape<Sizes...>;
  if constexpr (kLayer + 1 == Shape::kLayers) {
    return in;
  } else {
    constexpr std::size_t kWeights = Shape::offset(kLayer), kBias = Shape::bias_offset(kLayer);
    S* to = kLayer % 2 == 0 ? workspace.first() : workspace.second();
    math::layer_forward<Shape::kSizes[kLayer], Shape::kSizes[kLayer + 1]>(
        in, rows, network.parameters().data() + kWeights, network.parameters().data() + kBias,
        network.hidden_activation(), to);
    return hidden_layers<kLayer + 1>(network, to, rows, workspace);
  }
}

}  // namespace detail

/// network.forward(tape, x), by dense_to_single_output() where the network has one output and a hidden layer
/// that suits it: the same up to rounding.
template <class S, std::size_t... Sizes>
Var forward_to_output(Mlp<S, Sizes...>& network, Tape<S>& tape, Var x) {
  using Shape = MlpShape<Sizes...>;
  if constexpr (Shape::kOutputs == 1 && Shape::kLayers >= 2) {
    if constexpr (math::single_output_fits<S>(Shape::kSizes[Shape::kLayers - 1])) {
      if (network.hidden_activation() != Activation::kGelu)
        return detail::layers_to_single_output<0>(network, tape, x);
    }
  }
  return network.forward(tape, x);
}

/// A network with its output layer laid out for evaluation, for as long as its parameters do not change: many
/// calls of few rows. The network must outlive it.
template <class Net>
class OutputEvaluation;

template <class S, std::size_t... Sizes>
class OutputEvaluation<Mlp<S, Sizes...>> {
  using Net = Mlp<S, Sizes...>;
  using Shape = MlpShape<Sizes...>;
  static constexpr std::size_t kHidden = Shape::kSizes[Shape::kLayers - 1];
  static constexpr bool kSingle =
      Shape::kOutputs == 1 && Shape::kLayers >= 2 && math::single_output_fits<S>(kHidden);

 public:
  explicit OutputEvaluation(const Net& network) noexcept : network_(network) {
    if constexpr (kSingle) {
      const S* weights = network.parameters().data() + Shape::offset(Shape::kLayers - 1);
      for (std::size_t h = 0; h < kHidden; ++h) weights_[h] = weights[PanelLayout::index(kHidden, 1, h, 0)];
    }
  }

  /// out[rows x kOutputs] = network(in[rows x kInputs]), to rounding as network.forward() has it.
  void forward(const S* in, std::size_t rows, S* out, typename Net::Workspace& workspace) const noexcept {
    if constexpr (kSingle) {
      constexpr std::size_t kRows = Net::Workspace::kRows;
      const S bias = network_.parameters()[Shape::bias_offset(Shape::kLayers - 1)];
      for (std::size_t begin = 0; begin < rows; begin += kRows) {
        const std::size_t count = rows - begin < kRows ? rows - begin : kRows;
        const S* hidden = detail::hidden_layers<0>(network_, in + begin * Shape::kInputs, count, workspace);
        math::row_products<kHidden>(hidden, count, weights_, bias, out + begin);
      }
    } else {
      network_.forward(in, rows, out, workspace);
    }
  }

 private:
  const Net& network_;
  alignas(64) S weights_[kSingle ? kHidden : 1] = {};
};

}  // namespace mara
