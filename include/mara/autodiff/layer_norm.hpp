#pragma once
// Layer normalisation on the tape.

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/layer_norm.hpp"

namespace mara {

/// Parameters of a layer normalisation and where their gradients go: `cols` numbers each. Null gradients are
/// not computed. Memory belongs to the caller.
template <class S>
struct LayerNormParameters {
  const S* gain = nullptr;
  const S* shift = nullptr;
  S* gain_gradient = nullptr;
  S* shift_gradient = nullptr;
  std::size_t cols = 0;
  S epsilon = S(1e-5);
};

/// Mixin of Tape: layer normalisation.
template <class Derived, class S>
class LayerNormOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// Every row of x [rows x cols] brought to mean 0 and variance 1 (see math::layer_norm), times gain, plus
  /// shift. backward() adds to the gradient buffers of `layer`.
  Var layer_norm(Var x, const LayerNormParameters<S>& layer) {
    Derived& tape = static_cast<Derived&>(*this);
    if (!tape.known("layer_norm", x)) return {};
    const Node from = tape.at(x);
    const auto rows = static_cast<std::size_t>(from.rows), cols = static_cast<std::size_t>(from.cols);
    if (cols != layer.cols || cols == 0)
      return tape.fail("layer_norm",
                       "x " + tape.shape(x) + ", the layer has " + std::to_string(layer.cols) + " columns");
    auto made = tape.fresh(from.rows, from.cols, x);
    auto* kept = tape.arena().template allocate<LayerNormParameters<S>>(1);
    *kept = layer;
    made.node.data = kept;
    made.node.needs_gradient =
        made.node.needs_gradient || layer.gain_gradient != nullptr || layer.shift_gradient != nullptr;
    S* normalised = nullptr;
    S* inverses = nullptr;
    if (made.node.needs_gradient) {
      normalised = tape.arena().template allocate<S>(rows * cols + rows);
      inverses = normalised + rows * cols;
    }
    math::layer_norm(from.value, rows, cols, layer.gain, layer.shift, layer.epsilon, made.out, normalised,
                     inverses);
    made.node.extra = normalised;
    made.node.backward = [](Core& core, const Node& node) {
      const auto& kept = *static_cast<const LayerNormParameters<S>*>(node.data);
      const auto rows = static_cast<std::size_t>(node.rows), cols = static_cast<std::size_t>(node.cols);
      const S *n = node.extra, *inverses = node.extra + rows * cols, *up = node.gradient;
      if (kept.gain_gradient != nullptr)
        math::detail::column_terms(
            rows, cols, true, kept.gain_gradient, [](V g, V v) { return g * v; },
            math::detail::Rows<S>{up, cols}, math::detail::Rows<S>{n, cols});
      if (kept.shift_gradient != nullptr) math::column_sums(up, rows, cols, true, kept.shift_gradient);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < rows; ++r)
          math::layer_norm_row_gradient<decltype(add)::value>(up + r * cols, n + r * cols, inverses[r], cols,
                                                              kept.gain, gradient + r * cols);
      });
    };
    return tape.push(made.node);
  }
};

}  // namespace mara
