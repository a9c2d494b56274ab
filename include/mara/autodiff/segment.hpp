#pragma once
// Operations of the tape over groups of rows: sums, means, maxima, softmax.

#include <limits>
#include <string>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/elementary.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// Mixin of Tape: rows in groups, the first sizes[0] rows, then sizes[1] rows, and so on, all rows in all.
/// For pooling over the agents of a team. `sizes` stays the caller's until clear().
template <class Derived, class S>
class SegmentOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;
  static constexpr S kLeast = -std::numeric_limits<S>::infinity();

 public:
  /// Sum of the rows of each group: [rows x cols] -> [groups x cols]; zeros for an empty group.
  Var segment_sum(Var x, const std::int32_t* sizes, std::size_t groups) {
    return pool<false>("segment_sum", x, sizes, groups);
  }

  /// Mean of the rows of each group: [rows x cols] -> [groups x cols]; zeros for an empty group.
  Var segment_mean(Var x, const std::int32_t* sizes, std::size_t groups) {
    return pool<true>("segment_mean", x, sizes, groups);
  }

  /// Largest of the rows of each group, column by column: [rows x cols] -> [groups x cols]; zeros for an
  /// empty group, NaN where the column has one. The gradient goes to the first of the largest.
  Var segment_max(Var x, const std::int32_t* sizes, std::size_t groups) {
    Derived& tape = self();
    if (!valid("segment_max", x, sizes, groups)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(static_cast<std::int32_t>(groups), from.cols, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    auto* places = tape.arena().template allocate<std::int32_t>(made.node.size());
    std::size_t row = 0;
    for (std::size_t k = 0; k < groups; ++k) {
      const std::size_t end = row + static_cast<std::size_t>(sizes[k]);
      for (std::size_t c = 0; c < cols; ++c) {
        S top = row < end ? from.value[row * cols + c] : S(0);
        std::size_t place = row;
        for (std::size_t r = row + 1; r < end; ++r) {
          const S v = from.value[r * cols + c];
          if (v > top || (v != v && top == top)) {
            top = v;
            place = r;
          }
        }
        made.out[k * cols + c] = top;
        places[k * cols + c] = row < end && top == top ? static_cast<std::int32_t>(place) : -1;
      }
      row = end;
    }
    made.node.data = places;
    made.node.backward = [](Core& core, const Node& node) {
      S* gradient = core.accumulator(node.a);
      const auto* chosen = static_cast<const std::int32_t*>(node.data);
      const auto width = static_cast<std::size_t>(node.cols);
      for (std::size_t i = 0; i < node.size(); ++i)
        if (chosen[i] >= 0)
          gradient[static_cast<std::size_t>(chosen[i]) * width + i % width] += node.gradient[i];
    };
    return tape.push(made.node);
  }

  /// Softmax over the rows of each group, column by column: [rows x cols] -> [rows x cols]. A score of
  /// -infinity (an absent agent) gets 0; a group that has nothing else is all zeros, value and gradient. One
  /// NaN or +infinity makes its column of the group NaN.
  Var segment_softmax(Var x, const std::int32_t* sizes, std::size_t groups) {
    Derived& tape = self();
    if (!valid("segment_softmax", x, sizes, groups)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, from.cols, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    each_column(sizes, groups, cols, [&](std::size_t first, std::size_t end) {
      S top = kLeast;
      for (std::size_t i = first; i < end; i += cols) top = from.value[i] > top ? from.value[i] : top;
      for (std::size_t i = first; i < end; i += cols) {
        const S v = from.value[i];
        made.out[i] = v == kLeast ? v : v - top;
      }
    });
    math::exp(made.out, made.node.size(), made.out);
    each_column(sizes, groups, cols, [&](std::size_t first, std::size_t end) {
      S total = S(0);
      for (std::size_t i = first; i < end; i += cols) total += made.out[i];
      if (total == S(0)) return;
      for (std::size_t i = first; i < end; i += cols) made.out[i] /= total;
    });
    made.node.data = sizes;
    made.node.first = static_cast<std::int32_t>(groups);
    made.node.backward = [](Core& core, const Node& node) {
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        const auto width = static_cast<std::size_t>(node.cols);
        each_column(static_cast<const std::int32_t*>(node.data), static_cast<std::size_t>(node.first), width,
                    [&](std::size_t first, std::size_t end) {
                      S inner = S(0);
                      for (std::size_t i = first; i < end; i += width)
                        inner += node.value[i] * node.gradient[i];
                      for (std::size_t i = first; i < end; i += width) {
                        const S g = node.value[i] * (node.gradient[i] - inner);
                        gradient[i] = decltype(add)::value ? gradient[i] + g : g;
                      }
                    });
      });
    };
    return tape.push(made.node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  /// Calls f(first, end) for each column of each group: its elements are first, first + cols, ... below end.
  template <class F>
  static void each_column(const std::int32_t* sizes, std::size_t groups, std::size_t cols, const F& f) {
    std::size_t begin = 0;
    for (std::size_t k = 0; k < groups; ++k) {
      const std::size_t end = begin + static_cast<std::size_t>(sizes[k]) * cols;
      for (std::size_t c = 0; c < cols; ++c) f(begin + c, end);
      begin = end;
    }
  }

  bool valid(const char* name, Var x, const std::int32_t* sizes, std::size_t groups) {
    Derived& tape = self();
    if (!tape.known(name, x)) return false;
    std::int64_t total = 0;
    for (std::size_t k = 0; k < groups; ++k) {
      if (sizes[k] < 0) {
        tape.fail(name, "sizes[" + std::to_string(k) + "] = " + std::to_string(sizes[k]) + " is negative");
        return false;
      }
      total += sizes[k];
    }
    if (total == tape.at(x).rows) return true;
    tape.fail(name, "the sizes sum to " + std::to_string(total) + ", x is " + tape.shape(x));
    return false;
  }

  template <bool kMean>
  Var pool(const char* name, Var x, const std::int32_t* sizes, std::size_t groups) {
    Derived& tape = self();
    if (!valid(name, x, sizes, groups)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(static_cast<std::int32_t>(groups), from.cols, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    const S* row = from.value;
    for (std::size_t k = 0; k < groups; ++k) {
      const auto size = static_cast<std::size_t>(sizes[k]);
      S* out = made.out + k * cols;
      math::column_sums(row, size, cols, false, out);
      const V factor = simd::broadcast(factor_of<kMean>(size));
      if (kMean) simd::transform(out, cols, out, [factor](V v) { return v * factor; });
      row += size * cols;
    }
    made.node.data = sizes;
    made.node.backward = [](Core& core, const Node& node) {
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        const auto* counts = static_cast<const std::int32_t*>(node.data);
        const auto width = static_cast<std::size_t>(node.cols);
        for (std::size_t k = 0; k < static_cast<std::size_t>(node.rows); ++k) {
          const auto size = static_cast<std::size_t>(counts[k]);
          const V factor = simd::broadcast(factor_of<kMean>(size));
          for (std::size_t r = 0; r < size; ++r, gradient += width)
            simd::map<decltype(add)::value>(
                width, gradient, [factor](V g) { return g * factor; }, node.gradient + k * width);
        }
      });
    };
    return tape.push(made.node);
  }

  template <bool kMean>
  static S factor_of(std::size_t size) noexcept {
    return kMean && size > 0 ? S(1) / static_cast<S>(size) : S(1);
  }
};

}  // namespace mara
