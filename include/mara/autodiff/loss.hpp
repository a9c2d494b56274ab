#pragma once
// Whole losses as one operation of the tape.

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/simd.hpp"

namespace mara {

/// Mixin of Tape: losses that would otherwise pass several times over their operands.
template <class Derived, class S>
class LossOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// Mean over all numbers of (x - y)^2: two matrices of one shape -> 1 x 1. The same as
  /// mean(square(sub(x, y))) up to rounding, in one sweep each way. The mean of nothing is NaN.
  Var mean_squared_error(Var x, Var y) {
    Derived& tape = static_cast<Derived&>(*this);
    if (!tape.same_shape("mean_squared_error", x, y)) return {};
    auto made = tape.fresh(1, 1, x, y);
    const Node a = tape.at(x), b = tape.at(y);
    const std::size_t count = a.size();
    const S* p = a.value;
    const S* q = b.value;
    constexpr std::size_t kW = simd::kLanes<S>;
    simd::Vec<S> sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 * kW <= count; i += 4 * kW) {
#pragma GCC unroll 4
      for (std::size_t c = 0; c < 4; ++c) {
        const auto e = simd::load(p + i + c * kW) - simd::load(q + i + c * kW);
        sums[c] = simd::fma(e, e, sums[c]);
      }
    }
    S total = S(0);
    for (; i < count; ++i) total += (p[i] - q[i]) * (p[i] - q[i]);
    const auto sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (std::size_t lane = 0; lane < kW; ++lane) total += sum[lane];
    made.out[0] = total / static_cast<S>(count);
    made.node.backward = [](Core& core, const Node& node) {
      const Node left = core.at(node.a), right = core.at(node.b);
      const S factor = node.gradient[0] * S(2) / static_cast<S>(left.size());
      if (core.wants(node.a)) add_difference(core, node.a, left, right, factor);
      if (core.wants(node.b)) add_difference(core, node.b, right, left, factor);
    };
    return tape.push(made.node);
  }

 private:
  /// gradient of node `to` += factor * (left - right).
  static void add_difference(Core& core, std::int32_t to, const Node& left, const Node& right, S factor) {
    S* gradient = core.gradient_buffer(to);
    const bool add = core.at(to).written;
    const std::size_t count = left.size();
    const auto f = simd::broadcast(factor);
    for (std::size_t i = 0; i < count; i += simd::kLanes<S>) {
      const std::size_t lanes = count - i < simd::kLanes<S> ? count - i : simd::kLanes<S>;
      auto change =
          f * (simd::load_partial(left.value + i, lanes) - simd::load_partial(right.value + i, lanes));
      if (add) change += simd::load_partial(gradient + i, lanes);
      simd::store_partial(gradient + i, change, lanes);
    }
    core.at(to).written = true;
  }
};

}  // namespace mara
