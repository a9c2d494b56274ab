#pragma once
// Reductions of the tape. Sums run in a fixed order, whatever the addresses.

#include <algorithm>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// Mixin of Tape: sums, means and maxima over rows, columns or everything. Means of nothing are 0.
template <class Derived, class S>
class ReductionOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// Sum of each row: [rows x cols] -> [rows x 1].
  Var row_sum(Var x) { return over_rows("row_sum", x, false); }

  /// Mean of each row: [rows x cols] -> [rows x 1].
  Var row_mean(Var x) { return over_rows("row_mean", x, true); }

  /// Largest number of each row: [rows x cols] -> [rows x 1]; NaN when there is a NaN in the row, -infinity
  /// for a row without columns. The gradient goes to the first of the largest, and nowhere in a row with NaN.
  Var row_max(Var x) {
    Derived& tape = self();
    if (!tape.known("row_max", x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, 1, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    auto* places = tape.arena().template allocate<std::int32_t>(made.node.size());
    for (std::size_t r = 0; r < made.node.size(); ++r) {
      const S* row = from.value + r * cols;
      S top = -std::numeric_limits<S>::infinity();
      std::int32_t place = cols > 0 ? 0 : -1;
      for (std::size_t c = 0; c < cols; ++c) {
        if (row[c] != row[c]) {
          top = row[c];
          place = -1;
          break;
        }
        if (row[c] > top) {
          top = row[c];
          place = static_cast<std::int32_t>(c);
        }
      }
      made.out[r] = top;
      places[r] = place;
    }
    made.node.data = places;
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto* chosen = static_cast<const std::int32_t*>(node.data);
      const auto width = static_cast<std::size_t>(core.at(node.a).cols);
      for (std::size_t r = 0; r < node.size(); ++r)
        if (chosen[r] >= 0) gradient[r * width + static_cast<std::size_t>(chosen[r])] += node.gradient[r];
    };
    return tape.push(made.node);
  }

  /// Sum of each column: [rows x cols] -> [1 x cols].
  Var col_sum(Var x) { return over_columns("col_sum", x, false); }

  /// Mean of each column: [rows x cols] -> [1 x cols].
  Var col_mean(Var x) { return over_columns("col_mean", x, true); }

  /// Sum of all elements, 1 x 1.
  Var sum(Var x) { return reduce("sum", x, nullptr, S(1)); }

  /// Mean of all elements, 1 x 1.
  Var mean(Var x) { return reduce("mean", x, nullptr, self().holds(x) ? share(self().at(x).size()) : S(0)); }

  /// Weighted sum of all elements, 1 x 1: sum_i x_i constants_i. `constants` has the size of x and stays the
  /// caller's until clear(). A weight of 0 removes its element wholly, even when that is NaN or infinite.
  Var dot(Var x, const S* constants) { return reduce("dot", x, constants, S(1)); }

  /// Weighted mean of all elements, 1 x 1: sum_i x_i weights_i / sum_i weights_i, and 0 without gradient when
  /// the weights sum to 0 (nobody is alive). `weights`: 1 or 0 for a mask; as for dot().
  Var weighted_mean(Var x, const S* weights) {
    Derived& tape = self();
    if (!tape.known("weighted_mean", x)) return {};
    const S total = math::sum(weights, tape.at(x).size());
    return reduce("weighted_mean", x, weights, total == S(0) ? S(0) : S(1) / total);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  static S share(std::size_t count) noexcept { return count == 0 ? S(0) : S(1) / static_cast<S>(count); }

  Var over_rows(const char* name, Var x, bool mean) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, 1, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    made.node.p = mean ? share(cols) : S(1);
    for (std::size_t r = 0; r < made.node.size(); ++r)
      made.out[r] = math::sum(from.value + r * cols, cols) * made.node.p;
    made.node.backward = [](Core& core, const Node& node) {
      const auto width = static_cast<std::size_t>(core.at(node.a).cols);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < node.size(); ++r) {
          const V slope = simd::broadcast(node.gradient[r] * node.p);
          simd::map<decltype(add)::value>(width, gradient + r * width, [slope] { return slope; });
        }
      });
    };
    return tape.push(made.node);
  }

  Var over_columns(const char* name, Var x, bool mean) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(1, from.cols, x);
    const auto rows = static_cast<std::size_t>(from.rows), cols = static_cast<std::size_t>(from.cols);
    made.node.p = mean ? share(rows) : S(1);
    math::column_sums(from.value, rows, cols, false, made.out);
    const V factor = simd::broadcast(made.node.p);
    if (mean) simd::transform(made.out, cols, made.out, [factor](V v) { return v * factor; });
    made.node.backward = [](Core& core, const Node& node) {
      const auto width = static_cast<std::size_t>(node.cols);
      const auto height = static_cast<std::size_t>(core.at(node.a).rows);
      const V slope = simd::broadcast(node.p);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < height; ++r)
          simd::map<decltype(add)::value>(
              width, gradient + r * width, [slope](V g) { return g * slope; }, node.gradient);
      });
    };
    return tape.push(made.node);
  }

  Var reduce(const char* name, Var x, const S* weights, S factor) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(1, 1, x);
    made.out[0] = factor * (weights != nullptr ? math::weighted_sum(from.value, weights, from.size())
                                               : math::sum(from.value, from.size()));
    // No weight at all: whatever x holds, the result is 0.
    if (weights != nullptr && factor == S(0)) made.out[0] = S(0);
    made.node.data = weights;
    made.node.p = factor;
    made.node.backward = [](Core& core, const Node& node) {
      const V slope = simd::broadcast(node.gradient[0] * node.p);
      if (node.data == nullptr) return core.add_gradient(node.a, [slope] { return slope; });
      core.add_gradient(
          node.a, [slope](V w) { return w * slope; }, static_cast<const S*>(node.data));
    };
    return tape.push(made.node);
  }
};

}  // namespace mara
