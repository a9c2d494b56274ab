#pragma once
// Elementwise operations of the tape. NaN in an operand stays NaN in the result.

#include <cmath>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/elementary.hpp"

namespace mara {

/// Mixin of Tape: results have the shape of their operands; two operands must have the same shape.
template <class Derived, class S>
class ElementwiseOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// x + y.
  Var add(Var x, Var y) {
    return binary(
        "add", x, y, [](const auto& a, const auto& b) { return a + b; },
        [](Core& tape, const Node& node) {
          if (tape.wants(node.a)) tape.add_gradient(node.a, Core::upstream(node));
          if (tape.wants(node.b)) tape.add_gradient(node.b, Core::upstream(node));
        });
  }

  /// x - y.
  Var sub(Var x, Var y) {
    return binary(
        "sub", x, y, [](const auto& a, const auto& b) { return a - b; },
        [](Core& tape, const Node& node) {
          if (tape.wants(node.a)) tape.add_gradient(node.a, Core::upstream(node));
          if (tape.wants(node.b)) tape.add_gradient(node.b, -Core::upstream(node));
        });
  }

  /// x * y, element by element.
  Var mul(Var x, Var y) {
    return binary(
        "mul", x, y, [](const auto& a, const auto& b) { return a * b; },
        [](Core& tape, const Node& node) {
          if (tape.wants(node.a)) tape.add_gradient(node.a, Core::upstream(node) * tape.value_map(node.b));
          if (tape.wants(node.b)) tape.add_gradient(node.b, Core::upstream(node) * tape.value_map(node.a));
        });
  }

  /// The smaller of x and y; where equal the gradient goes to x.
  Var minimum(Var x, Var y) {
    return binary(
        "minimum", x, y, [](const auto& a, const auto& b) { return (b < a || b.isNaN()).select(b, a); },
        [](Core& tape, const Node& node) {
          const auto a = tape.value_map(node.a), b = tape.value_map(node.b);
          if (tape.wants(node.a)) tape.add_gradient(node.a, (b < a).select(S(0), Core::upstream(node)));
          if (tape.wants(node.b)) tape.add_gradient(node.b, (b < a).select(Core::upstream(node), S(0)));
        });
  }

  /// The larger of x and y; where equal the gradient goes to x.
  Var maximum(Var x, Var y) {
    return binary(
        "maximum", x, y, [](const auto& a, const auto& b) { return (b > a || b.isNaN()).select(b, a); },
        [](Core& tape, const Node& node) {
          const auto a = tape.value_map(node.a), b = tape.value_map(node.b);
          if (tape.wants(node.a)) tape.add_gradient(node.a, (b > a).select(S(0), Core::upstream(node)));
          if (tape.wants(node.b)) tape.add_gradient(node.b, (b > a).select(Core::upstream(node), S(0)));
        });
  }

  /// c * x.
  Var scale(Var x, S c) {
    return unary(
        "scale", x, [c](const auto& a) { return a * c; },
        [](Core& tape, const Node& node) { tape.add_gradient(node.a, Core::upstream(node) * node.p); }, c);
  }

  /// x + c.
  Var add_scalar(Var x, S c) {
    return unary(
        "add_scalar", x, [c](const auto& a) { return a + c; },
        [](Core& tape, const Node& node) { tape.add_gradient(node.a, Core::upstream(node)); });
  }

  /// x * x.
  Var square(Var x) {
    return unary(
        "square", x, [](const auto& a) { return a.square(); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(node.a, Core::upstream(node) * tape.value_map(node.a) * S(2));
        });
  }

  /// |x|; gradient 0 at 0.
  Var abs(Var x) {
    return unary(
        "abs", x, [](const auto& a) { return a.abs(); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(node.a, Core::upstream(node) * tape.value_map(node.a).sign());
        });
  }

  /// max(x, 0); gradient 0 at 0.
  Var relu(Var x) {
    return unary(
        "relu", x, [](const auto& a) { return (a < S(0)).select(S(0), a); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(node.a, (tape.value_map(node.a) <= S(0)).select(S(0), Core::upstream(node)));
        });
  }

  /// x held in [low, high]; the gradient passes inside and on the bounds, and is 0 outside.
  Var clamp(Var x, S low, S high) {
    return unary(
        "clamp", x, [low, high](const auto& a) { return (a < low).select(low, (a > high).select(high, a)); },
        [](Core& tape, const Node& node) {
          const auto a = tape.value_map(node.a);
          tape.add_gradient(node.a, (a < node.p || a > node.q).select(S(0), Core::upstream(node)));
        },
        low, high);
  }

  /// x^2 / 2 where |x| <= delta, delta (|x| - delta / 2) elsewhere (Huber 1964).
  Var huber(Var x, S delta) {
    return unary(
        "huber", x,
        [delta](const auto& a) {
          return (a.abs() > delta).select((a.abs() - delta * S(0.5)) * delta, a.square() * S(0.5));
        },
        [](Core& tape, const Node& node) {
          const auto a = tape.value_map(node.a);
          tape.add_gradient(
              node.a, Core::upstream(node) * (a < -node.p).select(-node.p, (a > node.p).select(node.p, a)));
        },
        delta);
  }

  /// e^x.
  Var exp(Var x) {
    return table(
        "exp", x, [](const S* in, std::size_t n, S* out) { math::exp(in, n, out); },
        [](Core& tape, const Node& node) { tape.add_gradient(node.a, Core::upstream(node) * own(node)); });
  }

  /// Natural logarithm; -inf at 0 and NaN below, as in the C library.
  Var log(Var x) {
    return table(
        "log", x, [](const S* in, std::size_t n, S* out) { math::log(in, n, out); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(node.a, Core::upstream(node) / tape.value_map(node.a));
        });
  }

  /// Hyperbolic tangent.
  Var tanh(Var x) {
    return table(
        "tanh", x, [](const S* in, std::size_t n, S* out) { math::tanh(in, n, out); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(node.a, Core::upstream(node) * (S(1) - own(node).square()));
        });
  }

  /// 1 / (1 + e^-x).
  Var sigmoid(Var x) {
    return table(
        "sigmoid", x, [](const S* in, std::size_t n, S* out) { math::sigmoid(in, n, out); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(node.a, Core::upstream(node) * own(node) * (S(1) - own(node)));
        });
  }

  /// x as a constant: the value passes, no gradient goes back.
  Var stop_gradient(Var x) {
    Derived& tape = self();
    if (!tape.known("stop_gradient", x)) return {};
    Node node = tape.at(x);
    node.gradient = nullptr;
    node.backward = nullptr;
    node.needs_gradient = false;
    node.written = false;
    return tape.push(node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  static typename Core::ConstArrayMap own(const Node& node) noexcept {
    return {node.value, static_cast<Eigen::Index>(node.size())};
  }

  template <class Forward>
  Var unary(const char* name, Var x, const Forward& forward, typename Node::Backward backward, S p = S(0),
            S q = S(0)) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    auto made = tape.fresh(tape.at(x).rows, tape.at(x).cols, x);
    typename Core::ArrayMap(made.out, static_cast<Eigen::Index>(made.node.size())) =
        forward(tape.value_map(x.index));
    made.node.backward = backward;
    made.node.p = p;
    made.node.q = q;
    return tape.push(made.node);
  }

  template <class Forward>
  Var binary(const char* name, Var x, Var y, const Forward& forward, typename Node::Backward backward) {
    Derived& tape = self();
    if (!tape.same_shape(name, x, y)) return {};
    auto made = tape.fresh(tape.at(x).rows, tape.at(x).cols, x, y);
    typename Core::ArrayMap(made.out, static_cast<Eigen::Index>(made.node.size())) =
        forward(tape.value_map(x.index), tape.value_map(y.index));
    made.node.backward = backward;
    return tape.push(made.node);
  }

  // Transcendental functions go through mara's own kernels: Eigen evaluates the unaligned ends of an array
  // with the C library and the middle with its own approximation, so that bits would depend on addresses.
  template <class Forward>
  Var table(const char* name, Var x, const Forward& forward, typename Node::Backward backward) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    auto made = tape.fresh(tape.at(x).rows, tape.at(x).cols, x);
    forward(tape.at(x).value, made.node.size(), made.out);
    made.node.backward = backward;
    return tape.push(made.node);
  }
};

}  // namespace mara
