#pragma once
// Linear operations of the tape: the fused dense layer and the matrix product.

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/dense.hpp"
#include "mara/math/input_gradient.hpp"

namespace mara {

/// Parameters of a dense layer and where their gradients go: weights [inputs x outputs] in panels and a bias
/// of PanelLayout::padded(outputs) numbers, or null for none. A null gradient is not computed. Memory belongs
/// to the caller. `replace`: backward() overwrites the gradients instead of adding to them.
template <class S>
struct DenseParameters {
  const S* weights = nullptr;
  const S* bias = nullptr;
  S* weights_gradient = nullptr;
  S* bias_gradient = nullptr;
  std::size_t inputs = 0, outputs = 0;
  bool replace = false;
};

/// Mixin of Tape: operations that mix columns.
template <class Derived, class S>
class LinearOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// activation(x w + b) for a layer of a network: x [rows x inputs] -> [rows x outputs]. backward() adds to
  /// the layer's gradient buffers, or replaces what is there. The memory that `layer` points to must stay as
  /// it is until then. kInputs, kOutputs: those of the layer where they are constants.
  template <std::size_t kInputs = 0, std::size_t kOutputs = 0>
  Var dense(Var x, const DenseParameters<S>& layer, Activation activation) {
    Derived& tape = self();
    if (!tape.known("dense", x)) return {};
    if (static_cast<std::size_t>(tape.at(x).cols) != layer.inputs)
      return tape.fail("dense",
                       "x " + tape.shape(x) + ", the layer has " + std::to_string(layer.inputs) + " inputs");
    if (activation == Activation::kGelu)
      return tape.gelu(dense<kInputs, kOutputs>(x, layer, Activation::kIdentity));
    auto made = tape.fresh(tape.at(x).rows, static_cast<std::int32_t>(layer.outputs), x);
    auto* kept = tape.arena().template allocate<DenseParameters<S>>(1);
    *kept = layer;
    made.node.data = kept;
    made.node.activation = activation;
    made.node.needs_gradient =
        made.node.needs_gradient || layer.weights_gradient != nullptr || layer.bias_gradient != nullptr;
    dense_forward<kInputs, kOutputs>(tape.at(x).value, static_cast<std::size_t>(made.node.rows), layer.inputs,
                                     layer.outputs, layer.weights, layer.bias, activation, made.out);
    made.node.backward = &dense_backward;
    return tape.push(made.node);
  }

  /// x y: [n x k] [k x m] -> [n x m].
  Var matmul(Var x, Var y) {
    Derived& tape = self();
    if (!tape.known("matmul", x) || !tape.known("matmul", y)) return {};
    const Node left = tape.at(x), right = tape.at(y);
    if (left.cols != right.rows)
      return tape.fail("matmul", tape.shape(x) + " times " + tape.shape(y) + " do not agree");
    auto made = tape.fresh(left.rows, right.cols, x, y);
    math::product(left.value, static_cast<std::size_t>(left.rows), matrix(right), made.out);
    made.node.backward = [](Core& core, const Node& node) {
      const Node x_node = core.at(node.a), y_node = core.at(node.b);
      const auto rows = static_cast<std::size_t>(node.rows);
      if (core.wants(node.b)) {
        const auto to = matrix(y_node);
        math::transposed_product(x_node.value, to.rows, node.gradient, to.cols, rows, y_node.written,
                                 math::Matrix<S>{core.gradient_buffer(node.b), to.rows, to.cols, to.storage});
        core.at(node.b).written = true;
      }
      if (core.wants(node.a)) {
        const auto m = matrix(y_node);
        S* workspace = core.arena().template allocate<S>(dense_workspace_size(m.rows, m.cols));
        // x and y may be the same node: `written` is read again.
        math::product_with_transpose(static_cast<const S*>(node.gradient), rows, m, workspace,
                                     core.at(node.a).written, core.gradient_buffer(node.a));
        core.at(node.a).written = true;
      }
    };
    return tape.push(made.node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  static const DenseParameters<S>& dense_parameters(const Node& node) noexcept {
    return *static_cast<const DenseParameters<S>*>(node.data);
  }

  static void dense_backward(Core& core, const Node& node) {
    const DenseParameters<S>& kept = dense_parameters(node);
    const auto rows = static_cast<std::size_t>(node.rows);
    // The upstream gradient is complete and nobody reads it later: it becomes dz in place.
    if (!node.through)
      activation_bias_gradient(node.value, rows, kept.outputs, node.activation, node.gradient,
                               kept.bias_gradient, !kept.replace);
    if (kept.weights_gradient != nullptr)
      dense_weight_gradient(core.at(node.a).value, node.gradient, rows, kept.inputs, kept.outputs,
                            !kept.replace, kept.weights_gradient);
    if (!core.wants(node.a)) return;
    S* d_in = core.gradient_buffer(node.a);
    S* workspace = core.arena().template allocate<S>(dense_workspace_size(kept.inputs, kept.outputs));
    Node& below = core.at(node.a);
    if (below.backward == &dense_backward && below.uses == 1) {
      // The gradient of the layer below is complete now: it goes on to its dz on the way to memory.
      const DenseParameters<S>& layer = dense_parameters(below);
      dense_input_gradient_through(node.gradient, rows, kept.inputs, kept.outputs, kept.weights, workspace,
                                   below.value, below.activation, layer.bias_gradient, !layer.replace, d_in);
      below.through = true;
    } else {
      dense_input_gradient(node.gradient, rows, kept.inputs, kept.outputs, kept.weights, workspace,
                           below.written, d_in);
    }
    below.written = true;
  }

  static math::Matrix<const S> matrix(const Node& node) noexcept {
    return {node.value, static_cast<std::size_t>(node.rows), static_cast<std::size_t>(node.cols),
            Storage::kRowMajor};
  }
};

}  // namespace mara
