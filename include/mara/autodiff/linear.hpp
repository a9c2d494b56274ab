#pragma once
// Linear operations of the tape: the fused dense layer, matrix product, row scaling, concatenation.

#include <algorithm>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/dense.hpp"

namespace mara {

/// Mixin of Tape: operations that mix columns.
template <class Derived, class S>
class LinearOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// activation(x w + b): x [rows x in], w [in x out], b [1 x out] -> [rows x out].
  Var dense(Var x, Var w, Var b, Activation activation) {
    Derived& tape = self();
    if (!tape.known("dense", x) || !tape.known("dense", w) || !tape.known("dense", b)) return {};
    const Node in = tape.at(x), weights = tape.at(w), bias = tape.at(b);
    if (in.cols != weights.rows || bias.rows != 1 || bias.cols != weights.cols)
      return tape.fail(
          "dense", "x " + tape.shape(x) + ", w " + tape.shape(w) + ", b " + tape.shape(b) + " do not agree");
    auto made = tape.fresh(in.rows, weights.cols, x, w, b);
    made.node.activation = activation;
    dense_forward(in.value, static_cast<std::size_t>(in.rows), static_cast<std::size_t>(in.cols),
                  static_cast<std::size_t>(weights.cols), weights.value, bias.value, activation, made.out);
    made.node.backward = [](Core& core, const Node& node) {
      // The upstream gradient is complete and nobody reads it later: it becomes dz in place.
      activation_gradient(node.value, node.size(), node.activation, node.gradient);
      product_backward(core, node);
      if (core.wants(node.c)) {
        S* d_bias = core.gradient_buffer(node.c);
        dense_bias_gradient(node.gradient, static_cast<std::size_t>(node.rows),
                            static_cast<std::size_t>(node.cols), core.at(node.c).written, d_bias);
        core.at(node.c).written = true;
      }
    };
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
    dense_forward(left.value, static_cast<std::size_t>(left.rows), static_cast<std::size_t>(left.cols),
                  static_cast<std::size_t>(right.cols), right.value, static_cast<const S*>(nullptr),
                  Activation::kIdentity, made.out);
    made.node.backward = [](Core& core, const Node& node) { product_backward(core, node); };
    return tape.push(made.node);
  }

  /// Row r of x times col[r]: x [rows x cols], col [rows x 1] -> [rows x cols].
  Var mul_rows(Var x, Var col) {
    Derived& tape = self();
    if (!tape.known("mul_rows", x) || !tape.known("mul_rows", col)) return {};
    const Node from = tape.at(x), factor = tape.at(col);
    if (factor.rows != from.rows || factor.cols != 1)
      return tape.fail("mul_rows",
                       "x " + tape.shape(x) + " needs a column of its rows, got " + tape.shape(col));
    auto made = tape.fresh(from.rows, from.cols, x, col);
    const auto width = static_cast<std::size_t>(from.cols);
    for (std::size_t r = 0; r < static_cast<std::size_t>(from.rows); ++r)
      for (std::size_t c = 0; c < width; ++c)
        made.out[r * width + c] = from.value[r * width + c] * factor.value[r];
    made.node.backward = [](Core& core, const Node& node) {
      const auto cols = static_cast<std::size_t>(node.cols);
      const S* x_value = core.at(node.a).value;
      const S* factors = core.at(node.b).value;
      S* dx = core.wants(node.a) ? core.accumulator(node.a) : nullptr;
      S* df = core.wants(node.b) ? core.accumulator(node.b) : nullptr;
      for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r) {
        const S* up = node.gradient + r * cols;
        if (dx != nullptr)
          for (std::size_t c = 0; c < cols; ++c) dx[r * cols + c] += up[c] * factors[r];
        if (df != nullptr) {
          S total = S(0);
          for (std::size_t c = 0; c < cols; ++c) total += up[c] * x_value[r * cols + c];
          df[r] += total;
        }
      }
    };
    return tape.push(made.node);
  }

  /// Columns of x, then columns of y: [n x p], [n x q] -> [n x (p + q)].
  Var concat(Var x, Var y) {
    Derived& tape = self();
    if (!tape.known("concat", x) || !tape.known("concat", y)) return {};
    const Node left = tape.at(x), right = tape.at(y);
    if (left.rows != right.rows)
      return tape.fail("concat", "rows differ: " + tape.shape(x) + " and " + tape.shape(y));
    auto made = tape.fresh(left.rows, left.cols + right.cols, x, y);
    const auto p = static_cast<std::size_t>(left.cols), q = static_cast<std::size_t>(right.cols);
    for (std::size_t r = 0; r < static_cast<std::size_t>(left.rows); ++r) {
      std::copy_n(left.value + r * p, p, made.out + r * (p + q));
      std::copy_n(right.value + r * q, q, made.out + r * (p + q) + p);
    }
    made.node.backward = [](Core& core, const Node& node) {
      const auto cols = static_cast<std::size_t>(node.cols);
      std::size_t offset = 0;
      for (const std::int32_t operand : {node.a, node.b}) {
        const auto width = static_cast<std::size_t>(core.at(operand).cols);
        if (core.wants(operand)) {
          S* gradient = core.accumulator(operand);
          for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r)
            for (std::size_t c = 0; c < width; ++c)
              gradient[r * width + c] += node.gradient[r * cols + offset + c];
        }
        offset += width;
      }
    };
    return tape.push(made.node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  /// Gradients of x w for dz in node.gradient.
  static void product_backward(Core& core, const Node& node) {
    const auto rows = static_cast<std::size_t>(node.rows), outputs = static_cast<std::size_t>(node.cols);
    const auto inputs = static_cast<std::size_t>(core.at(node.a).cols);
    if (core.wants(node.b)) {
      S* d_weights = core.gradient_buffer(node.b);
      dense_weight_gradient(core.at(node.a).value, node.gradient, rows, inputs, outputs,
                            core.at(node.b).written, d_weights);
      core.at(node.b).written = true;
    }
    if (core.wants(node.a)) {
      S* d_in = core.gradient_buffer(node.a);
      S* workspace = core.arena().template allocate<S>(dense_workspace_size(inputs, outputs));
      dense_input_gradient(node.gradient, rows, inputs, outputs, core.at(node.b).value, workspace,
                           core.at(node.a).written, d_in);
      core.at(node.a).written = true;
    }
  }
};

}  // namespace mara
