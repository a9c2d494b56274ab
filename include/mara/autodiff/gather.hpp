#pragma once
// Operations of the tape that pick by index.

#include <algorithm>

#include "mara/autodiff/tape_core.hpp"

namespace mara {

/// Mixin of Tape: picking by index. Indices stay the caller's until clear().
template <class Derived, class S>
class GatherOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// Element columns[r] of each row r: [rows x cols] -> [rows x 1]. A column outside [0, cols) (say -1 for an
  /// absent agent) gives 0 and no gradient.
  Var gather(Var x, const std::int32_t* columns) {
    Derived& tape = self();
    if (!tape.known("gather", x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, 1, x);
    const auto width = static_cast<std::size_t>(from.cols);
    for (std::size_t r = 0; r < made.node.size(); ++r) {
      const std::int32_t column = columns[r];
      made.out[r] =
          column < 0 || column >= from.cols ? S(0) : from.value[r * width + static_cast<std::size_t>(column)];
    }
    made.node.data = columns;
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto* chosen = static_cast<const std::int32_t*>(node.data);
      const std::int32_t cols = core.at(node.a).cols;
      for (std::size_t r = 0; r < node.size(); ++r)
        if (chosen[r] >= 0 && chosen[r] < cols)
          gradient[r * static_cast<std::size_t>(cols) + static_cast<std::size_t>(chosen[r])] +=
              node.gradient[r];
    };
    return tape.push(made.node);
  }

  /// Rows indices[0], indices[1], ... of x: [rows x cols] -> [count x cols]; an embedding when x is a table
  /// of parameters, a broadcast when an index repeats. An index outside [0, rows) gives zeros and no
  /// gradient. Gradients add up in the order of the indices.
  Var gather_rows(Var x, const std::int32_t* indices, std::size_t count) {
    Derived& tape = self();
    if (!tape.known("gather_rows", x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(static_cast<std::int32_t>(count), from.cols, x);
    const auto width = static_cast<std::size_t>(from.cols);
    for (std::size_t r = 0; r < count; ++r) {
      if (indices[r] < 0 || indices[r] >= from.rows) {
        std::fill_n(made.out + r * width, width, S(0));
      } else {
        std::copy_n(from.value + static_cast<std::size_t>(indices[r]) * width, width, made.out + r * width);
      }
    }
    made.node.data = indices;
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto* chosen = static_cast<const std::int32_t*>(node.data);
      const auto cols = static_cast<std::size_t>(node.cols);
      const std::int32_t rows = core.at(node.a).rows;
      for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r)
        if (chosen[r] >= 0 && chosen[r] < rows)
          simd::map<true>(
              cols, gradient + static_cast<std::size_t>(chosen[r]) * cols, [](V g) { return g; },
              node.gradient + r * cols);
    };
    return tape.push(made.node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace mara
