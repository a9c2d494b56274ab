#pragma once
// Elementwise operations of the tape: arithmetic, bounds, penalties. NaN in an operand stays NaN in the
// result.

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/elementary.hpp"

namespace mara {

namespace detail {
// An operation of two numbers: its value, and the shares of x and y in the gradient g of that value.
struct AddRule {
  template <class V>
  static V value(V x, V y) noexcept {
    return x + y;
  }
  template <class V>
  static V dx(V g, V, V, V) noexcept {
    return g;
  }
  template <class V>
  static V dy(V g, V, V, V) noexcept {
    return g;
  }
};
struct SubRule {
  template <class V>
  static V value(V x, V y) noexcept {
    return x - y;
  }
  template <class V>
  static V dx(V g, V, V, V) noexcept {
    return g;
  }
  template <class V>
  static V dy(V g, V, V, V) noexcept {
    return -g;
  }
};
struct MulRule {
  template <class V>
  static V value(V x, V y) noexcept {
    return x * y;
  }
  template <class V>
  static V dx(V g, V, V y, V) noexcept {
    return g * y;
  }
  template <class V>
  static V dy(V g, V x, V, V) noexcept {
    return g * x;
  }
};
struct DivRule {
  template <class V>
  static V value(V x, V y) noexcept {
    return x / y;
  }
  template <class V>
  static V dx(V g, V, V y, V) noexcept {
    return g / y;
  }
  template <class V>
  static V dy(V g, V, V y, V quotient) noexcept {
    return -(g * quotient) / y;
  }
};
struct MinimumRule {
  template <class V>
  static V value(V x, V y) noexcept {
    return simd::select((y < x) | (y != y), y, x);
  }
  template <class V>
  static V dx(V g, V x, V y, V) noexcept {
    return simd::select(y < x, V{}, g);
  }
  template <class V>
  static V dy(V g, V x, V y, V) noexcept {
    return simd::select(y < x, g, V{});
  }
};
struct MaximumRule {
  template <class V>
  static V value(V x, V y) noexcept {
    return simd::select((y > x) | (y != y), y, x);
  }
  template <class V>
  static V dx(V g, V x, V y, V) noexcept {
    return simd::select(y > x, V{}, g);
  }
  template <class V>
  static V dy(V g, V x, V y, V) noexcept {
    return simd::select(y > x, g, V{});
  }
};
}  // namespace detail

/// Mixin of Tape: results have the shape of their operands; two operands must have the same shape (see
/// BroadcastOperations for others).
template <class Derived, class S>
class ElementwiseOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// x + y.
  Var add(Var x, Var y) { return binary<detail::AddRule>("add", x, y); }
  /// x - y.
  Var sub(Var x, Var y) { return binary<detail::SubRule>("sub", x, y); }
  /// x * y, element by element.
  Var mul(Var x, Var y) { return binary<detail::MulRule>("mul", x, y); }
  /// x / y, element by element.
  Var div(Var x, Var y) { return binary<detail::DivRule>("div", x, y); }
  /// The smaller of x and y; where equal the gradient goes to x.
  Var minimum(Var x, Var y) { return binary<detail::MinimumRule>("minimum", x, y); }
  /// The larger of x and y; where equal the gradient goes to x.
  Var maximum(Var x, Var y) { return binary<detail::MaximumRule>("maximum", x, y); }

  /// c * x.
  Var scale(Var x, S c) {
    return unary(
        "scale", x, [c](V a) { return a * simd::broadcast(c); },
        [](Core& tape, const Node& node) {
          const S factor = node.p;
          tape.add_gradient(
              node.a, [factor](V g) { return g * simd::broadcast(factor); }, node.gradient);
        },
        c);
  }

  /// x + c.
  Var add_scalar(Var x, S c) {
    return unary(
        "add_scalar", x, [c](V a) { return a + simd::broadcast(c); },
        [](Core& tape, const Node& node) {
          tape.add_gradient(
              node.a, [](V g) { return g; }, node.gradient);
        });
  }

  /// -x.
  Var neg(Var x) {
    return unary(
        "neg", x, [](V a) { return -a; },
        [](Core& tape, const Node& node) {
          tape.add_gradient(
              node.a, [](V g) { return -g; }, node.gradient);
        });
  }

  /// x * x.
  Var square(Var x) {
    return unary(
        "square", x, [](V a) { return a * a; },
        [](Core& tape, const Node& node) { with_operand(tape, node, [](V g, V a) { return g * (a + a); }); });
  }

  /// Square root; NaN below 0. The gradient at 0, where the slope is infinite, is 0.
  Var sqrt(Var x) {
    return unary(
        "sqrt", x, [](V a) { return simd::sqrt(a); },
        [](Core& tape, const Node& node) {
          with_result(tape, node,
                      [](V g, V y) { return simd::select(y == V{}, V{}, g * simd::broadcast(S(0.5)) / y); });
        });
  }

  /// |x|; gradient 0 at 0.
  Var abs(Var x) {
    return unary(
        "abs", x, [](V a) { return simd::abs(a); },
        [](Core& tape, const Node& node) {
          with_operand(tape, node,
                       [](V g, V a) { return simd::select(a > V{}, g, simd::select(a < V{}, -g, V{})); });
        });
  }

  /// x held in [low, high]; the gradient passes inside and on the bounds, and is 0 outside.
  Var clamp(Var x, S low, S high) {
    return unary(
        "clamp", x,
        [low, high](V a) {
          const V lowest = simd::broadcast(low), highest = simd::broadcast(high);
          return simd::select(a < lowest, lowest, simd::select(a > highest, highest, a));
        },
        [](Core& tape, const Node& node) {
          const S bottom = node.p, top = node.q;
          with_operand(tape, node, [bottom, top](V g, V a) {
            return simd::select((a < simd::broadcast(bottom)) | (a > simd::broadcast(top)), V{}, g);
          });
        },
        low, high);
  }

  /// x^2 / 2 where |x| <= delta, delta (|x| - delta / 2) elsewhere (Huber 1964).
  Var huber(Var x, S delta) {
    return unary(
        "huber", x,
        [delta](V a) {
          const V d = simd::broadcast(delta), half = simd::broadcast(S(0.5));
          return simd::select(simd::abs(a) > d, (simd::abs(a) - d * half) * d, a * a * half);
        },
        [](Core& tape, const Node& node) {
          const S bound = node.p;
          with_operand(tape, node, [bound](V g, V a) {
            const V d = simd::broadcast(bound);
            return g * simd::select(a < -d, -d, simd::select(a > d, d, a));
          });
        },
        delta);
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

 protected:
  /// Records f(x), element by element.
  template <class F>
  Var unary(const char* name, Var x, const F& f, typename Node::Backward backward, S p = S(0), S q = S(0)) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    auto made = tape.fresh(tape.at(x).rows, tape.at(x).cols, x);
    simd::map<false>(made.node.size(), made.out, f, tape.at(x).value);
    made.node.backward = backward;
    made.node.p = p;
    made.node.q = q;
    return tape.push(made.node);
  }

  /// Gradient of the operand: f(upstream gradient, operand), or f(upstream gradient, result).
  template <class F>
  static void with_operand(Core& tape, const Node& node, const F& f) {
    tape.add_gradient(node.a, f, node.gradient, tape.at(node.a).value);
  }
  template <class F>
  static void with_result(Core& tape, const Node& node, const F& f) {
    tape.add_gradient(node.a, f, node.gradient, node.value);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  template <class Rule>
  Var binary(const char* name, Var x, Var y) {
    Derived& tape = self();
    if (!tape.same_shape(name, x, y)) return {};
    auto made = tape.fresh(tape.at(x).rows, tape.at(x).cols, x, y);
    simd::map<false>(
        made.node.size(), made.out, [](V a, V b) { return Rule::value(a, b); }, tape.at(x).value,
        tape.at(y).value);
    made.node.backward = [](Core& core, const Node& node) {
      const S *a_value = core.at(node.a).value, *b_value = core.at(node.b).value;
      core.add_gradient(
          node.a, [](V g, V a, V b, V out) { return Rule::dx(g, a, b, out); }, node.gradient, a_value,
          b_value, node.value);
      core.add_gradient(
          node.b, [](V g, V a, V b, V out) { return Rule::dy(g, a, b, out); }, node.gradient, a_value,
          b_value, node.value);
    };
    return tape.push(made.node);
  }
};

}  // namespace mara
