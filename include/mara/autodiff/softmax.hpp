#pragma once
// Categorical operations of the tape: softmax, its logarithm, legal-option masks, and picking one column a
// row.

#include <cmath>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/softmax.hpp"

namespace mara {

/// Mixin of Tape: each row is one categorical distribution.
template <class Derived, class S>
class SoftmaxOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// Logarithm of softmax, row by row; finite for any finite logits.
  Var log_softmax(Var x) { return masked("log_softmax", x, nullptr); }

  /// log_softmax over the legal options of each row: one 32-bit mask a row, bit a set = column a is legal
  /// (cols <= 32; `masks` stays the caller's until clear()). Illegal entries have VALUE 0 (not -inf), so that
  /// sums such as -sum p log p need no special case when p is 0 or 1 there: use gather() for
  /// log-probabilities, and multiply exp() of it by itself for entropies (1 * 0 = 0). Their logits get
  /// gradient 0. A row without a legal option is all zeros, value and gradient.
  Var masked_log_softmax(Var x, const std::uint32_t* masks) {
    if (self().holds(x) && self().at(x).cols > 32)
      return self().fail("masked_log_softmax", "a mask has 32 bits, operand is " + self().shape(x));
    return masked("masked_log_softmax", x, masks);
  }

  /// e^x / sum e^x, row by row.
  Var softmax(Var x) {
    Derived& tape = self();
    if (!tape.known("softmax", x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, from.cols, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    for (std::size_t r = 0; r < static_cast<std::size_t>(from.rows); ++r)
      math::softmax_row(from.value + r * cols, cols, made.out + r * cols);
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto width = static_cast<std::size_t>(node.cols);
      for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r) {
        const S* y = node.value + r * width;
        const S* up = node.gradient + r * width;
        S inner = S(0);
        for (std::size_t c = 0; c < width; ++c) inner += up[c] * y[c];
        for (std::size_t c = 0; c < width; ++c) gradient[r * width + c] += y[c] * (up[c] - inner);
      }
    };
    return tape.push(made.node);
  }

  /// Element columns[r] of each row r: [rows x cols] -> [rows x 1]. A column outside [0, cols) (say -1 for an
  /// absent agent) gives 0 and no gradient. `columns` stays the caller's until clear().
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

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  Var masked(const char* name, Var x, const std::uint32_t* masks) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, from.cols, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    // Probabilities are kept for the way back, which then needs no exponentials.
    S* probabilities = tape.arena().template allocate<S>(made.node.size());
    for (std::size_t r = 0; r < static_cast<std::size_t>(from.rows); ++r) {
      const std::size_t at = r * cols;
      if (masks == nullptr) {
        math::log_softmax_row(from.value + at, cols, made.out + at, probabilities + at);
      } else {
        math::masked_log_softmax_row(from.value + at, cols, masks[r], made.out + at, probabilities + at);
      }
    }
    made.node.data = masks;
    made.node.extra = probabilities;
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto width = static_cast<std::size_t>(node.cols);
      const auto* row_masks = static_cast<const std::uint32_t*>(node.data);
      for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r) {
        const S* p = node.extra + r * width;
        const S* up = node.gradient + r * width;
        S* g = gradient + r * width;
        if (row_masks == nullptr) {
          const S total = math::sum(up, width);
          for (std::size_t c = 0; c < width; ++c) g[c] += up[c] - p[c] * total;
          continue;
        }
        const std::uint32_t mask = row_masks[r];
        S total = S(0);
        for (std::size_t c = 0; c < width; ++c)
          if ((mask >> c) & 1u) total += up[c];
        for (std::size_t c = 0; c < width; ++c)
          if ((mask >> c) & 1u) g[c] += up[c] - p[c] * total;
      }
    };
    return tape.push(made.node);
  }
};

}  // namespace mara
