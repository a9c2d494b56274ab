#pragma once
// Operations of the tape that join, cut and reshape matrices.

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>

#include "mara/autodiff/tape_core.hpp"

namespace mara {

/// Mixin of Tape: numbers move, none is computed.
template <class Derived, class S>
class ShapeOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// Columns of x, then columns of y: [n x p], [n x q] -> [n x (p + q)].
  Var concat(Var x, Var y) { return concat({x, y}); }
  /// Columns of the first, of the second, and so on; all have the same rows.
  Var concat(std::initializer_list<Var> parts) { return join<true>("concat", {parts.begin(), parts.size()}); }
  Var concat(std::span<const Var> parts) { return join<true>("concat", parts); }

  /// Rows of x, then rows of y: [p x m], [q x m] -> [(p + q) x m].
  Var concat_rows(Var x, Var y) { return concat_rows({x, y}); }
  /// Rows of the first, of the second, and so on; all have the same columns.
  Var concat_rows(std::initializer_list<Var> parts) {
    return join<false>("concat_rows", {parts.begin(), parts.size()});
  }
  Var concat_rows(std::span<const Var> parts) { return join<false>("concat_rows", parts); }

  /// Columns [first, first + count) of x.
  Var slice_cols(Var x, std::size_t first, std::size_t count) {
    Derived& tape = self();
    if (!tape.known("slice_cols", x) || !inside("slice_cols", x, first, count, tape.cols(x))) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, static_cast<std::int32_t>(count), x);
    const auto rows = static_cast<std::size_t>(from.rows), cols = static_cast<std::size_t>(from.cols);
    for (std::size_t r = 0; r < rows; ++r)
      std::copy_n(from.value + r * cols + first, count, made.out + r * count);
    made.node.first = static_cast<std::int32_t>(first);
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a) + node.first;
      const auto width = static_cast<std::size_t>(node.cols);
      const auto stride = static_cast<std::size_t>(core.at(node.a).cols);
      for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r)
        add_to(width, node.gradient + r * width, gradient + r * stride);
    };
    return tape.push(made.node);
  }

  /// Rows [first, first + count) of x; nothing is copied.
  Var slice_rows(Var x, std::size_t first, std::size_t count) {
    Derived& tape = self();
    if (!tape.known("slice_rows", x) || !inside("slice_rows", x, first, count, tape.rows(x))) return {};
    const auto cols = static_cast<std::size_t>(tape.at(x).cols);
    Node node =
        tape.alias(x, tape.at(x).value + first * cols, static_cast<std::int32_t>(count), tape.at(x).cols);
    node.first = static_cast<std::int32_t>(first);
    node.backward = [](Core& core, const Node& self) {
      const auto width = static_cast<std::size_t>(self.cols);
      add_to(self.size(), self.gradient,
             core.accumulator(self.a) + static_cast<std::size_t>(self.first) * width);
    };
    return tape.push(node);
  }

  /// The same numbers in row-major order as [rows x cols]; nothing is copied.
  Var reshape(Var x, std::size_t rows, std::size_t cols) {
    Derived& tape = self();
    if (!tape.known("reshape", x)) return {};
    if (rows * cols != tape.at(x).size())
      return tape.fail("reshape", tape.shape(x) + " has not the numbers of " + std::to_string(rows) + " x " +
                                      std::to_string(cols));
    Node node =
        tape.alias(x, tape.at(x).value, static_cast<std::int32_t>(rows), static_cast<std::int32_t>(cols));
    node.backward = [](Core& core, const Node& self) {
      core.add_gradient(
          self.a, [](V g) { return g; }, self.gradient);
    };
    return tape.push(node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  static void add_to(std::size_t count, const S* from, S* to) noexcept {
    simd::map<true>(
        count, to, [](V g) { return g; }, from);
  }

  bool inside(const char* name, Var x, std::size_t first, std::size_t count, std::size_t size) {
    if (first <= size && count <= size - first) return true;
    self().fail(name, std::to_string(count) + " from " + std::to_string(first) + " on do not lie in " +
                          self().shape(x));
    return false;
  }

  template <bool kColumns>
  Var join(const char* name, std::span<const Var> parts) {
    Derived& tape = self();
    if (parts.empty()) return tape.fail(name, "nothing to join");
    std::int32_t rows = 0, cols = 0;
    bool needs_gradient = false;
    for (const Var part : parts) {
      if (!tape.known(name, part)) return {};
      const Node& from = tape.at(part);
      const Node& lead = tape.at(parts[0]);
      if (kColumns ? from.rows != lead.rows : from.cols != lead.cols)
        return tape.fail(name, (kColumns ? "rows differ: " : "columns differ: ") + tape.shape(parts[0]) +
                                   " and " + tape.shape(part));
      rows = kColumns ? from.rows : rows + from.rows;
      cols = kColumns ? cols + from.cols : from.cols;
      needs_gradient = needs_gradient || from.needs_gradient;
    }
    auto made = tape.fresh(rows, cols, parts[0]);
    made.node.needs_gradient = needs_gradient;
    made.node.first = static_cast<std::int32_t>(parts.size());
    auto* operands = tape.arena().template allocate<std::int32_t>(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      operands[k] = parts[k].index;
      ++tape.at(operands[k]).uses;
    }
    made.node.data = operands;
    visit<kColumns>(tape, made.node,
                    [&](std::int32_t operand, std::size_t at, std::size_t offset, std::size_t count) {
                      std::copy_n(tape.at(operand).value + offset, count, made.out + at);
                    });
    made.node.backward = [](Core& core, const Node& node) {
      visit<kColumns>(core, node,
                      [&](std::int32_t operand, std::size_t at, std::size_t offset, std::size_t count) {
                        if (core.wants(operand))
                          add_to(count, node.gradient + at, core.accumulator(operand) + offset);
                      });
    };
    return tape.push(made.node);
  }

  /// Calls f(operand, place in the joined matrix, place in the operand, count) for every contiguous piece.
  template <bool kColumns, class F>
  static void visit(Core& core, const Node& node, const F& f) {
    const auto* operands = static_cast<const std::int32_t*>(node.data);
    const auto width = static_cast<std::size_t>(node.cols);
    std::size_t at = 0;
    for (std::int32_t k = 0; k < node.first; ++k) {
      const Node& operand = core.at(operands[k]);
      if constexpr (kColumns) {
        const auto cols = static_cast<std::size_t>(operand.cols);
        for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r)
          f(operands[k], at + r * width, r * cols, cols);
        at += cols;
      } else {
        f(operands[k], at, std::size_t{0}, operand.size());
        at += operand.size();
      }
    }
  }
};

}  // namespace mara
