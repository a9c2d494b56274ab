#pragma once
// Reductions of the tape. Sums run in a fixed order, whatever the addresses.

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// Mixin of Tape: sums over rows or over everything.
template <class Derived, class S>
class ReductionOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// Sum of each row: [rows x cols] -> [rows x 1].
  Var row_sum(Var x) {
    Derived& tape = self();
    if (!tape.known("row_sum", x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, 1, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    for (std::size_t r = 0; r < made.node.size(); ++r) made.out[r] = math::sum(from.value + r * cols, cols);
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto width = static_cast<std::size_t>(core.at(node.a).cols);
      for (std::size_t r = 0; r < node.size(); ++r)
        for (std::size_t c = 0; c < width; ++c) gradient[r * width + c] += node.gradient[r];
    };
    return tape.push(made.node);
  }

  /// Sum of all elements, 1 x 1.
  Var sum(Var x) { return reduce("sum", x, nullptr, S(1)); }

  /// Mean of all elements, 1 x 1; 0 for an empty matrix.
  Var mean(Var x) {
    const std::size_t count = self().holds(x) ? self().at(x).size() : 0;
    return reduce("mean", x, nullptr, count == 0 ? S(0) : S(1) / static_cast<S>(count));
  }

  /// Weighted sum of all elements, 1 x 1: sum_i x_i constants_i. `constants` has the size of x and stays the
  /// caller's until clear(). A weight of 0 removes its element wholly, even when that is NaN or infinite.
  Var dot(Var x, const S* constants) { return reduce("dot", x, constants, S(1)); }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  Var reduce(const char* name, Var x, const S* weights, S factor) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(1, 1, x);
    made.out[0] = weights != nullptr ? math::weighted_sum(from.value, weights, from.size())
                                     : math::sum(from.value, from.size()) * factor;
    made.node.data = weights;
    made.node.p = factor;
    made.node.backward = [](Core& core, const Node& node) {
      const auto size = static_cast<Eigen::Index>(core.at(node.a).size());
      const S slope = node.gradient[0] * node.p;
      if (node.data == nullptr) {
        core.add_gradient(node.a, Core::ArrayMap::Constant(size, slope));
      } else {
        core.add_gradient(node.a,
                          typename Core::ConstArrayMap(static_cast<const S*>(node.data), size) * slope);
      }
    };
    return tape.push(made.node);
  }
};

}  // namespace mara
