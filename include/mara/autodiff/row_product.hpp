#pragma once
// Operations of the tape that multiply row by row: inner products, cosine similarity, one matrix a row.

#include <cmath>
#include <string>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// Mixin of Tape: row r of one operand meets row r of the other.
template <class Derived, class S>
class RowProductOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// Inner product of row r of x and row r of y: [rows x cols] twice -> [rows x 1].
  Var row_dot(Var x, Var y) {
    Derived& tape = self();
    if (!tape.same_shape("row_dot", x, y)) return {};
    const Node a = tape.at(x), b = tape.at(y);
    auto made = tape.fresh(a.rows, 1, x, y);
    const auto cols = static_cast<std::size_t>(a.cols);
    for (std::size_t r = 0; r < made.node.size(); ++r)
      made.out[r] = math::inner_product(a.value + r * cols, b.value + r * cols, cols);
    made.node.backward = [](Core& core, const Node& node) {
      add_scaled(core, node, node.a, core.at(node.b).value);
      add_scaled(core, node, node.b, core.at(node.a).value);
    };
    return tape.push(made.node);
  }

  /// Cosine of the angle between row r of x and row r of y: [rows x cols] twice -> [rows x 1]. 0, without a
  /// gradient, where either row is not longer than epsilon >= 0 (Euclidean norm): a zero vector has no
  /// direction.
  Var row_cosine(Var x, Var y, S epsilon) {
    Derived& tape = self();
    if (!tape.same_shape("row_cosine", x, y)) return {};
    const Node a = tape.at(x), b = tape.at(y);
    auto made = tape.fresh(a.rows, 1, x, y);
    const auto cols = static_cast<std::size_t>(a.cols);
    // 1 / |x| and 1 / |y| of every row, 0 where there is no direction.
    S* inverse = tape.arena().template allocate<S>(2 * made.node.size());
    for (std::size_t r = 0; r < made.node.size(); ++r) {
      const S *p = a.value + r * cols, *q = b.value + r * cols;
      const S length_a = std::sqrt(math::inner_product(p, p, cols)),
              length_b = std::sqrt(math::inner_product(q, q, cols));
      const bool none = length_a <= epsilon || length_b <= epsilon;
      inverse[2 * r] = none ? S(0) : S(1) / length_a;
      inverse[2 * r + 1] = none ? S(0) : S(1) / length_b;
      made.out[r] = none ? S(0) : math::inner_product(p, q, cols) * inverse[2 * r] * inverse[2 * r + 1];
    }
    made.node.extra = inverse;
    made.node.backward = [](Core& core, const Node& node) {
      for (const bool second : {false, true}) {
        const std::int32_t to = second ? node.b : node.a;
        const S *own = core.at(to).value, *other = core.at(second ? node.a : node.b).value;
        const auto width = static_cast<std::size_t>(core.at(to).cols);
        core.into_gradient(to, [&](S* gradient, auto add) {
          for (std::size_t r = 0; r < node.size(); ++r) {
            const S mine = node.extra[2 * r + (second ? 1 : 0)], its = node.extra[2 * r + (second ? 0 : 1)];
            const V along = simd::broadcast(node.gradient[r] * mine * its),
                    back = simd::broadcast(node.gradient[r] * node.value[r] * mine * mine);
            simd::map<decltype(add)::value>(
                width, gradient + r * width, [along, back](V o, V m) { return o * along - m * back; },
                other + r * width, own + r * width);
          }
        });
      }
    };
    return tape.push(made.node);
  }

  /// Row r of x times a matrix of its own, which lies row-major in row r of w: x [rows x n], w [rows x (n m)]
  /// -> [rows x m]. For layers whose weights another network computes (QMIX, Rashid et al. 2018).
  Var row_matmul(Var x, Var w) {
    Derived& tape = self();
    if (!tape.known("row_matmul", x) || !tape.known("row_matmul", w)) return {};
    const Node a = tape.at(x), b = tape.at(w);
    if (a.rows != b.rows || a.cols == 0 || b.cols % a.cols != 0)
      return tape.fail("row_matmul", "x " + tape.shape(x) + " and w " + tape.shape(w) + " do not agree");
    auto made = tape.fresh(a.rows, b.cols / a.cols, x, w);
    const auto n = static_cast<std::size_t>(a.cols), m = static_cast<std::size_t>(made.node.cols);
    for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r)
      row_times_matrix(a.value + r * n, b.value + r * n * m, n, m, made.out + r * m);
    made.node.backward = [](Core& core, const Node& node) {
      const S *x_value = core.at(node.a).value, *w_value = core.at(node.b).value;
      const auto depth = static_cast<std::size_t>(core.at(node.a).cols),
                 width = static_cast<std::size_t>(node.cols), rows = static_cast<std::size_t>(node.rows);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t i = 0; i < rows * depth; ++i) {
          const S g = math::inner_product(node.gradient + i / depth * width, w_value + i * width, width);
          gradient[i] = decltype(add)::value ? gradient[i] + g : g;
        }
      });
      core.into_gradient(node.b, [&](S* gradient, auto add) {
        for (std::size_t i = 0; i < rows * depth; ++i) {
          const V factor = simd::broadcast(x_value[i]);
          simd::map<decltype(add)::value>(
              width, gradient + i * width, [factor](V g) { return g * factor; },
              node.gradient + i / depth * width);
        }
      });
    };
    return tape.push(made.node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  /// gradient of `to` += upstream gradient of the row times the row of the other operand.
  static void add_scaled(Core& core, const Node& node, std::int32_t to, const S* other) {
    const auto width = static_cast<std::size_t>(core.at(to).cols);
    core.into_gradient(to, [&](S* gradient, auto add) {
      for (std::size_t r = 0; r < node.size(); ++r) {
        const V factor = simd::broadcast(node.gradient[r]);
        simd::map<decltype(add)::value>(
            width, gradient + r * width, [factor](V v) { return v * factor; }, other + r * width);
      }
    });
  }

  /// out[m] = x[n] w[n x m].
  static void row_times_matrix(const S* x, const S* w, std::size_t n, std::size_t m, S* out) noexcept {
    constexpr std::size_t kW = simd::kLanes<S>;
    if (m == 1) {
      out[0] = math::inner_product(x, w, n);
      return;
    }
    for (std::size_t j = 0; j < m; j += kW) {
      const std::size_t lanes = m - j < kW ? m - j : kW;
      V total = {};
      for (std::size_t i = 0; i < n; ++i)
        total = simd::fma(simd::broadcast(x[i]), simd::load_partial(w + i * m + j, lanes), total);
      simd::store_partial(out + j, total, lanes);
    }
  }
};

}  // namespace mara
