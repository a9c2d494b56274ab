#pragma once
// A multi-layer perceptron that can only be evaluated: weights, no gradients, no third-party header.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/dense.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// Shape of a perceptron, a template constant: inputs, hidden widths, outputs. Parameters are stored layer by
/// layer, for each layer the weights [in x out] in panels (PanelLayout), then the padded bias. Outside of the
/// program they are exchanged in exact order: for each layer weights[in][out] row-major, then bias[out].
template <std::size_t... Sizes>
struct MlpShape {
  static_assert(sizeof...(Sizes) >= 2, "an Mlp needs at least its number of inputs and of outputs");
  static_assert(((Sizes > 0) && ...), "every layer of an Mlp needs at least one unit");

  static constexpr std::size_t kLayers = sizeof...(Sizes) - 1;
  static constexpr std::array<std::size_t, kLayers + 1> kSizes{Sizes...};
  static constexpr std::size_t kInputs = kSizes.front();
  static constexpr std::size_t kOutputs = kSizes.back();

  /// Parameters of the network.
  static constexpr std::size_t kParameters = [] {
    std::size_t total = 0;
    for (std::size_t l = 0; l < kLayers; ++l) total += (kSizes[l] + 1) * kSizes[l + 1];
    return total;
  }();

  /// Index in storage of the first weight of a layer; of layer kLayers: the size of the storage.
  static constexpr std::size_t offset(std::size_t layer) noexcept {
    std::size_t total = 0;
    for (std::size_t l = 0; l < layer; ++l)
      total += PanelLayout::size(kSizes[l], kSizes[l + 1]) + PanelLayout::padded(kSizes[l + 1]);
    return total;
  }
  /// Index in storage of the bias of a layer.
  static constexpr std::size_t bias_offset(std::size_t layer) noexcept {
    return offset(layer) + PanelLayout::size(kSizes[layer], kSizes[layer + 1]);
  }
  /// Numbers of storage, padding included.
  static constexpr std::size_t kStored = offset(kLayers);

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
/// Calls f(name, ParameterView) for every weight matrix and bias: "0.weight", "0.bias", "1.weight", ...
template <class Shape, class S, class F>
void visit_mlp_parameters(S* storage, F&& f) {
  for (std::size_t l = 0; l < Shape::kLayers; ++l) {
    const std::string name = std::to_string(l);
    const std::size_t in = Shape::kSizes[l], out = Shape::kSizes[l + 1];
    f(name + ".weight", ParameterView<S>{storage + Shape::offset(l), in, out, Storage::kPanels});
    f(name + ".bias", ParameterView<S>{storage + Shape::bias_offset(l), 1, out, Storage::kRowMajor});
  }
}

/// One layer, and the rest of the network after it.
template <std::size_t kLayer, class S, std::size_t... Sizes>
void mlp_layers(const S* parameters, Activation hidden, const S* in, std::size_t rows, S* out,
                MlpWorkspace<S, Sizes...>& workspace) noexcept {
  using Shape = MlpShape<Sizes...>;
  constexpr std::size_t kIn = Shape::kSizes[kLayer], kOut = Shape::kSizes[kLayer + 1];
  const S* weights = parameters + Shape::offset(kLayer);
  const S* bias = parameters + Shape::bias_offset(kLayer);
  if constexpr (kLayer + 1 == Shape::kLayers) {
    math::layer_product<kIn, kOut, false, math::NoEpilogue>(rows, in, weights, bias, out);
  } else {
    S* to = kLayer % 2 == 0 ? workspace.first() : workspace.second();
    math::layer_forward<kIn, kOut>(in, rows, weights, bias, hidden, to);
    mlp_layers<kLayer + 1, S, Sizes...>(parameters, hidden, to, rows, out, workspace);
  }
}

/// The same for a single row: the whole network in one function, without any branch in between.
template <class Epilogue, std::size_t kLayer, class S, std::size_t... Sizes>
MARA_INLINE void mlp_row_layers(const S* parameters, const S* in, S* out,
                                MlpWorkspace<S, Sizes...>& workspace) noexcept {
  using Shape = MlpShape<Sizes...>;
  constexpr std::size_t kIn = Shape::kSizes[kLayer], kOut = Shape::kSizes[kLayer + 1];
  const S* weights = parameters + Shape::offset(kLayer);
  const S* bias = parameters + Shape::bias_offset(kLayer);
  if constexpr (kLayer + 1 == Shape::kLayers) {
    math::layer_product<kIn, kOut, true, math::NoEpilogue>(std::size_t{1}, in, weights, bias, out);
  } else {
    S* to = kLayer % 2 == 0 ? workspace.first() : workspace.second();
    math::layer_product<kIn, kOut, true, Epilogue>(std::size_t{1}, in, weights, bias, to);
    mlp_row_layers<Epilogue, kLayer + 1, S, Sizes...>(parameters, to, out, workspace);
  }
}
template <class Epilogue, class S, std::size_t... Sizes>
[[gnu::noinline]] void mlp_row(const S* parameters, const S* in, S* out,
                               MlpWorkspace<S, Sizes...>& workspace) noexcept {
  mlp_row_layers<Epilogue, 0>(parameters, in, out, workspace);
}
}  // namespace detail

/// out[rows x kOutputs] = network(in[rows x kInputs]) for parameters stored as MlpShape says.
template <class S, std::size_t... Sizes>
void mlp_forward(const S* parameters, Activation hidden, const S* in, std::size_t rows, S* out,
                 MlpWorkspace<S, Sizes...>& workspace) noexcept {
  using Shape = MlpShape<Sizes...>;
  if (rows == 1) {
    if constexpr (std::is_same_v<S, float>) {
      if (hidden == Activation::kTanh)
        return detail::mlp_row<math::TanhEpilogue>(parameters, in, out, workspace);
    }
    if (hidden == Activation::kRelu)
      return detail::mlp_row<math::ReluEpilogue>(parameters, in, out, workspace);
  }
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
  explicit MlpInference(Activation hidden = Activation::kTanh)
      : hidden_(hidden), parameters_(Shape::kStored) {}

  /// Copies kParameters numbers in exact order (MlpShape); another count is an error and changes nothing.
  Status set_parameters(std::span<const S> exact) { return set_exact_parameters(*this, exact); }
  /// All parameters in exact order, kParameters numbers.
  std::vector<S> exact_parameters() const { return mara::exact_parameters<S>(*this); }
  /// The storage, MlpShape::kStored numbers with their padding.
  std::span<const S> parameters() const noexcept { return parameters_; }
  /// Copies storage of the same shape; another size is an error and changes nothing.
  Status set_storage(std::span<const S> stored) {
    if (stored.size() != Shape::kStored)
      return Error{ErrorCode::kShapeMismatch, "storage: " + std::to_string(stored.size()) +
                                                  " numbers, the network has " +
                                                  std::to_string(Shape::kStored)};
    parameters_.assign(stored.begin(), stored.end());
    return {};
  }
  /// Calls f(name, ParameterView) for every parameter in order: "0.weight", "0.bias", "1.weight", ...
  template <class F>
  void visit_parameters(F&& f) {
    detail::visit_mlp_parameters<Shape>(parameters_.data(), f);
  }
  template <class F>
  void visit_parameters(F&& f) const {
    detail::visit_mlp_parameters<Shape>(parameters_.data(), f);
  }
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
