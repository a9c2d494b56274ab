#pragma once
// Layer normalisation as a part of a network.

#include <algorithm>
#include <cstddef>
#include <string>

#include "mara/core/random.hpp"
#include "mara/math/layer_norm.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// Each row brought to mean 0 and variance 1 (epsilon 1e-5 beside the variance), times a gain, plus a shift
/// (math::layer_norm). A part of a Network. Parameters: "weight" (the gain), "bias" (the shift).
template <std::size_t Width>
struct LayerNormLayer {
  static_assert(Width > 0, "a LayerNormLayer needs at least one column");
  static constexpr std::size_t kInputs = Width, kOutputs = Width;
  static constexpr std::size_t kParameters = 2 * Width;
  static constexpr std::size_t kShift = PanelLayout::padded(Width);  ///< place of the shift
  static constexpr std::size_t kStored = 2 * kShift;
  static constexpr double kEpsilon = 1e-5;

  /// Gain 1, shift 0; draws nothing.
  template <class S>
  static void initialise(Random&, S* storage, S = S(1)) {
    std::fill_n(storage, Width, S(1));
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    f(prefix + "weight", ParameterView<S>{storage, 1, Width, Storage::kRowMajor});
    f(prefix + "bias", ParameterView<S>{storage + kShift, 1, Width, Storage::kRowMajor});
  }

  /// out[rows x Width] from in[rows x Width]; may be the same.
  template <class S>
  static void evaluate(const S* storage, const S* in, std::size_t rows, S* out) noexcept {
    math::layer_norm(in, rows, Width, storage, storage + kShift, static_cast<S>(kEpsilon), out,
                     static_cast<S*>(nullptr), static_cast<S*>(nullptr));
  }

  /// The layer on a tape; gradients go to `gradients`, storage of the same layout. A null one trains nothing.
  template <class Tape, class Node, class S>
  static Node record(Tape& tape, Node x, const S* storage, S* gradients) {
    return tape.layer_norm(
        x, {storage, storage + kShift, gradients, gradients == nullptr ? nullptr : gradients + kShift, Width,
            static_cast<S>(kEpsilon)});
  }
};

}  // namespace mara
