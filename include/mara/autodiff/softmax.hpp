#pragma once
// Categorical operations of the tape: softmax and its logarithm, plain and with legal-option masks, and
// log-sum-exp. Rows with infinities or NaN: see math/softmax.hpp.

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/softmax.hpp"

namespace mara {

/// Mixin of Tape: each row is one categorical distribution. Masks: one of 32 bits a row, bit a set = column a
/// is legal (cols <= 32); they stay the caller's until clear(). Gradients stay on the legal columns.
template <class Derived, class S>
class SoftmaxOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// Logarithm of softmax, row by row; finite for any finite logits.
  Var log_softmax(Var x) { return record<true>("log_softmax", x, nullptr); }

  /// log_softmax over the legal options of each row. Illegal entries have VALUE 0 (not -inf), so that sums
  /// such as -sum p log p need no special case when p is 0 or 1 there: use gather() for log-probabilities,
  /// and multiply exp() of it by itself for entropies (1 * 0 = 0). Their logits get gradient 0. A row without
  /// a legal option is all zeros, value and gradient.
  Var masked_log_softmax(Var x, const std::uint32_t* masks) {
    return masked<true>("masked_log_softmax", x, masks);
  }

  /// e^x / sum e^x, row by row.
  Var softmax(Var x) { return record<false>("softmax", x, nullptr); }

  /// softmax over the legal options of each row, exactly 0 for the others. A row without a legal option is
  /// all zeros, value and gradient.
  Var masked_softmax(Var x, const std::uint32_t* masks) { return masked<false>("masked_softmax", x, masks); }

  /// log(sum e^x) of each row, without overflow: [rows x cols] -> [rows x 1].
  Var log_sum_exp(Var x) {
    Derived& tape = self();
    if (!tape.known("log_sum_exp", x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, 1, x);
    const auto cols = static_cast<std::size_t>(from.cols);
    S* probabilities = tape.arena().template allocate<S>(from.size());
    for (std::size_t r = 0; r < made.node.size(); ++r)
      made.out[r] = math::log_sum_exp_row(from.value + r * cols, cols, probabilities + r * cols);
    made.node.extra = probabilities;
    made.node.backward = [](Core& core, const Node& node) {
      const auto width = static_cast<std::size_t>(core.at(node.a).cols);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < node.size(); ++r) {
          const V g = simd::broadcast(node.gradient[r]);
          simd::map<decltype(add)::value>(
              width, gradient + r * width, [g](V p) { return p * g; }, node.extra + r * width);
        }
      });
    };
    return tape.push(made.node);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  template <bool kLog>
  Var masked(const char* name, Var x, const std::uint32_t* masks) {
    if (self().holds(x) && self().at(x).cols > 32)
      return self().fail(name, "a mask has 32 bits, operand is " + self().shape(x));
    return record<kLog>(name, x, masks);
  }

  template <bool kLog>
  Var record(const char* name, Var x, const std::uint32_t* masks) {
    Derived& tape = self();
    if (!tape.known(name, x)) return {};
    const Node from = tape.at(x);
    auto made = tape.fresh(from.rows, from.cols, x);
    const auto rows = static_cast<std::size_t>(from.rows), cols = static_cast<std::size_t>(from.cols);
    // Probabilities are kept for the way back, which then needs no exponentials.
    S* probabilities = kLog ? tape.arena().template allocate<S>(made.node.size()) : made.out;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t at = r * cols;
      if (masks == nullptr) {
        math::detail::normalise<kLog>(from.value + at, cols, math::detail::EveryColumn{cols}, made.out + at,
                                      probabilities + at);
      } else {
        math::detail::normalise<kLog>(from.value + at, cols, math::detail::legal_columns(masks[r], cols),
                                      made.out + at, probabilities + at);
      }
    }
    made.node.data = masks;
    made.node.extra = probabilities;
    made.node.backward = [](Core& core, const Node& node) {
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        constexpr bool kAdd = decltype(add)::value;
        const auto width = static_cast<std::size_t>(node.cols);
        const auto* row_masks = static_cast<const std::uint32_t*>(node.data);
        for (std::size_t r = 0; r < static_cast<std::size_t>(node.rows); ++r) {
          const std::size_t at = r * width;
          if (row_masks == nullptr) {
            row_gradient<kLog, kAdd>(width, math::detail::EveryColumn{width}, node.extra + at,
                                     node.gradient + at, gradient + at);
          } else {
            row_gradient<kLog, kAdd>(width, math::detail::legal_columns(row_masks[r], width), node.extra + at,
                                     node.gradient + at, gradient + at);
          }
        }
      });
    };
    return tape.push(made.node);
  }

  /// With probabilities p and upstream gradient u, sums over legal columns: u - p sum(u) for the logarithm,
  /// p (u - sum(p u)) for softmax itself.
  template <bool kLog, bool kAdd, class Columns>
  static void row_gradient(std::size_t count, const Columns& columns, const S* p, const S* up,
                           S* gradient) noexcept {
    constexpr std::size_t kW = simd::kLanes<S>;
    const auto lanes = [count](std::size_t i) { return count - i < kW ? count - i : kW; };
    V total = {};
    for (std::size_t i = 0; i < count; i += kW) {
      const V u = simd::load_partial(up + i, lanes(i));
      const V term = kLog ? u : u * simd::load_partial(p + i, lanes(i));
      total += simd::select(columns.template lanes<S>(i), term, V{});
    }
    total = math::detail::sum_lanes_everywhere<S>(total);
    for (std::size_t i = 0; i < count; i += kW) {
      const V u = simd::load_partial(up + i, lanes(i)), share = simd::load_partial(p + i, lanes(i));
      V g = simd::select(columns.template lanes<S>(i), kLog ? u - share * total : share * (u - total), V{});
      if constexpr (kAdd) g = simd::load_partial(gradient + i, lanes(i)) + g;
      simd::store_partial(gradient + i, g, lanes(i));
    }
  }
};

}  // namespace mara
