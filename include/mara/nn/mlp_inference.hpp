#pragma once
// A multi-layer perceptron that can only be evaluated: weights, no gradients, no third-party header.

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "mara/core/result.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/dense.hpp"

namespace mara {

/// Shape of a perceptron, a template constant: inputs, hidden widths, outputs. Parameters lie layer by layer,
/// for each layer weights[in][out] row-major, then bias[out].
template <std::size_t... Sizes>
struct MlpShape {
  static_assert(sizeof...(Sizes) >= 2, "an Mlp needs at least its number of inputs and of outputs");
  static_assert(((Sizes > 0) && ...), "every layer of an Mlp needs at least one unit");

  static constexpr std::size_t kLayers = sizeof...(Sizes) - 1;
  static constexpr std::array<std::size_t, kLayers + 1> kSizes{Sizes...};
  static constexpr std::size_t kInputs = kSizes.front();
  static constexpr std::size_t kOutputs = kSizes.back();

  /// Index of the first weight of a layer; of layer kLayers: the number of parameters.
  static constexpr std::size_t offset(std::size_t layer) noexcept {
    std::size_t total = 0;
    for (std::size_t l = 0; l < layer; ++l) total += (kSizes[l] + 1) * kSizes[l + 1];
    return total;
  }
  static constexpr std::size_t kParameters = offset(kLayers);

  /// Widest hidden layer; 0 without hidden layers.
  static constexpr std::size_t kWidest = [] {
    std::size_t widest = 0;
    for (std::size_t l = 1; l < kLayers; ++l) widest = kSizes[l] > widest ? kSizes[l] : widest;
    return widest;
  }();
};

/// Memory for one evaluation of a perceptron at a time; made once, then kept by whoever evaluates (one a
/// thread).
template <class S, std::size_t... Sizes>
class MlpWorkspace {
 public:
  /// Rows that pass through all layers together, so that activations stay in the first cache level.
  static constexpr std::size_t kRows = 48;

  MlpWorkspace() : memory_(2 * kRows * MlpShape<Sizes...>::kWidest) {}
  S* first() noexcept { return memory_.data(); }
  S* second() noexcept { return memory_.data() + kRows * MlpShape<Sizes...>::kWidest; }

 private:
  AlignedVector<S> memory_;
};

namespace detail {
/// One layer, and the rest of the network after it.
template <std::size_t kLayer, class S, std::size_t... Sizes>
inline void mlp_layers(const S* parameters, Activation hidden, const S* in, std::size_t rows, S* out,
                       MlpWorkspace<S, Sizes...>& workspace) noexcept {
  using Shape = MlpShape<Sizes...>;
  constexpr std::size_t kIn = Shape::kSizes[kLayer], kOut = Shape::kSizes[kLayer + 1];
  constexpr bool kLast = kLayer + 1 == Shape::kLayers;
  const S* weights = parameters + Shape::offset(kLayer);
  S* to = kLast ? out : kLayer % 2 == 0 ? workspace.first() : workspace.second();
  dense_forward<kOut>(in, rows, kIn, kOut, weights, weights + kIn * kOut,
                      kLast ? Activation::kIdentity : hidden, to);
  if constexpr (!kLast) mlp_layers<kLayer + 1, S, Sizes...>(parameters, hidden, to, rows, out, workspace);
}
}  // namespace detail

/// out[rows x kOutputs] = network(in[rows x kInputs]) for parameters laid out as MlpShape says.
template <class S, std::size_t... Sizes>
void mlp_forward(const S* parameters, Activation hidden, const S* in, std::size_t rows, S* out,
                 MlpWorkspace<S, Sizes...>& workspace) noexcept {
  using Shape = MlpShape<Sizes...>;
  constexpr std::size_t kRows = MlpWorkspace<S, Sizes...>::kRows;
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = rows - begin < kRows ? rows - begin : kRows;
    detail::mlp_layers<0, S, Sizes...>(parameters, hidden, in + begin * Shape::kInputs, count,
                                       out + begin * Shape::kOutputs, workspace);
  }
}

/// A perceptron for deployment: weights only. Inputs, hidden widths, outputs are template constants, for
/// example MlpInference<float, 32, 64, 64, 16>. Nothing is allocated after construction.
template <class S, std::size_t... Sizes>
class MlpInference {
 public:
  using Shape = MlpShape<Sizes...>;
  using Workspace = MlpWorkspace<S, Sizes...>;
  static constexpr std::size_t kInputs = Shape::kInputs;
  static constexpr std::size_t kOutputs = Shape::kOutputs;
  static constexpr std::size_t kParameters = Shape::kParameters;

  /// All weights zero; `hidden` is the activation of the hidden layers, the output has none.
  explicit MlpInference(Activation hidden = Activation::kTanh) : hidden_(hidden), parameters_(kParameters) {}

  /// Copies kParameters numbers in the order of MlpShape; another count is an error and changes nothing.
  Status set_parameters(std::span<const S> parameters) {
    if (parameters.size() != kParameters)
      return Error{ErrorCode::kShapeMismatch, "parameters: " + std::to_string(parameters.size()) +
                                                  " numbers, the network has " + std::to_string(kParameters)};
    parameters_.assign(parameters.begin(), parameters.end());
    return {};
  }
  std::span<const S> parameters() const noexcept { return parameters_; }
  Activation hidden_activation() const noexcept { return hidden_; }

  /// out[rows x kOutputs] = network(in[rows x kInputs]); NaN in a row gives NaN in that row.
  void forward(const S* in, std::size_t rows, S* out, Workspace& workspace) const noexcept {
    mlp_forward<S, Sizes...>(parameters_.data(), hidden_, in, rows, out, workspace);
  }
  /// The same with the network's own workspace: one thread at a time.
  void forward(const S* in, std::size_t rows, S* out) noexcept { forward(in, rows, out, workspace_); }

 private:
  Activation hidden_;
  AlignedVector<S> parameters_;
  Workspace workspace_;
};

}  // namespace mara
