#pragma once
// Elementary functions and activations of the tape, element by element. NaN stays NaN. Errors of the float
// versions: see math/elementary.hpp and math/nonlinearity.hpp.

#include "mara/autodiff/elementwise.hpp"
#include "mara/math/activation.hpp"

namespace mara {

/// Mixin of Tape: functions of one matrix, same shape.
template <class Derived, class S>
class FunctionOperations : public ElementwiseOperations<Derived, S> {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// e^x.
  Var exp(Var x) {
    return this->unary(
        "exp", x, [](V a) { return simd::exp(a); },
        [](Core& tape, const Node& node) {
          FunctionOperations::with_result(tape, node, [](V g, V y) { return g * y; });
        });
  }

  /// Natural logarithm; -infinity at 0 and NaN below.
  Var log(Var x) {
    return this->unary(
        "log", x, [](V a) { return simd::log(a); },
        [](Core& tape, const Node& node) {
          FunctionOperations::with_operand(tape, node, [](V g, V a) { return g / a; });
        });
  }

  /// max(x, 0); gradient 0 at 0.
  Var relu(Var x) {
    return this->unary(
        "relu", x, [](V a) { return simd::max(V{}, a); }, from_result<Activation::kRelu>);
  }

  /// Hyperbolic tangent.
  Var tanh(Var x) {
    return this->unary(
        "tanh", x, [](V a) { return simd::tanh(a); }, from_result<Activation::kTanh>);
  }

  /// 1 / (1 + e^-x).
  Var sigmoid(Var x) {
    return this->unary(
        "sigmoid", x, [](V a) { return simd::sigmoid(a); }, from_result<Activation::kSigmoid>);
  }

  /// ln(1 + e^x).
  Var softplus(Var x) {
    return this->unary(
        "softplus", x, [](V a) { return simd::softplus(a); }, from_result<Activation::kSoftplus>);
  }

  /// x where x > 0, e^x - 1 elsewhere.
  Var elu(Var x) {
    return this->unary(
        "elu", x, [](V a) { return simd::elu(a); }, from_result<Activation::kElu>);
  }

  /// x times the cumulative normal distribution of x.
  Var gelu(Var x) {
    return this->unary(
        "gelu", x, [](V a) { return simd::gelu(a); },
        [](Core& tape, const Node& node) {
          FunctionOperations::with_operand(tape, node, [](V g, V a) { return g * simd::gelu_slope(a); });
        });
  }

  /// The activation of that name; x itself for kIdentity.
  Var activate(Var x, Activation activation) {
    switch (activation) {
      case Activation::kIdentity:
        return x;
      case Activation::kTanh:
        return tanh(x);
      case Activation::kRelu:
        return relu(x);
      case Activation::kElu:
        return elu(x);
      case Activation::kGelu:
        return gelu(x);
      case Activation::kSigmoid:
        return sigmoid(x);
      case Activation::kSoftplus:
        return softplus(x);
    }
    return static_cast<Derived&>(*this).fail("activate", "no such activation");
  }

 private:
  /// For activations whose slope follows from their value.
  template <Activation kActivation>
  static void from_result(Core& tape, const Node& node) {
    FunctionOperations::with_result(tape, node,
                                    [](V g, V y) { return math::detail::Slope<kActivation>{}(y, g); });
  }
};

}  // namespace mara
