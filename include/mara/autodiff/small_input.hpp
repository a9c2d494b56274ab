#pragma once
// The first layer of a network with few inputs.

#include <cstddef>
#include <cstdint>
#include <string>

#include "mara/autodiff/tape.hpp"
#include "mara/math/activation.hpp"
#include "mara/math/dense.hpp"
#include "mara/math/simd.hpp"

namespace mara {

namespace math {

/// True where small_input_sweep() takes a layer of this shape.
template <class S>
constexpr bool small_input_fits(std::size_t inputs, std::size_t outputs) noexcept {
  return inputs <= 4 && outputs % simd::kLanes<S> == 0 && outputs <= PanelLayout::kWidth;
}

namespace detail {
/// Way back of y = activation(x W + b), x [rows x kInputs], y [rows x kOutputs], in one sweep, nothing stored
/// in between: with dz = activation'(z) gradient, adds x^T dz to d_weights (one panel) and the column sums of
/// dz to d_bias.
template <std::size_t kInputs, std::size_t kOutputs, class S, class Slope>
MARA_INLINE void small_input_sweep(const S* x, const S* y, const S* gradient, std::size_t rows, S* d_weights,
                                   S* d_bias, const Slope& slope) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>, kVectors = kOutputs / kW;
  constexpr std::size_t kMost = simd::kRegisters >= 32 ? 4 : 2;
  constexpr std::size_t kBlock = kVectors % kMost == 0 ? kMost : 1;
  constexpr std::size_t kStride = PanelLayout::stride(kOutputs, 0);
  for (std::size_t column = 0; column < kOutputs; column += kBlock * kW) {
    V bias[kBlock] = {}, weights[kInputs][kBlock] = {};
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t at = r * kOutputs + column;
      V dz[kBlock];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kBlock; ++v) {
        dz[v] = slope(simd::load(y + at + v * kW), simd::load(gradient + at + v * kW));
        bias[v] += dz[v];
      }
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kInputs; ++i) {
        const V factor = simd::broadcast(x[r * kInputs + i]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kBlock; ++v) weights[i][v] = simd::fma(factor, dz[v], weights[i][v]);
      }
    }
    for (std::size_t v = 0; v < kBlock; ++v) {
      const std::size_t at = column + v * kW;
      simd::store(d_bias + at, simd::load(d_bias + at) + bias[v]);
      for (std::size_t i = 0; i < kInputs; ++i)
        simd::store(d_weights + i * kStride + at, simd::load(d_weights + i * kStride + at) + weights[i][v]);
    }
  }
}
}  // namespace detail
}  // namespace math

/// activation(x W + b) for few inputs that want no gradient themselves, such as observations: x [rows x
/// kInputs] -> [rows x kOutputs] as Tape::dense does it, the way back in one sweep. Shapes that
/// math::small_input_fits takes; not for Activation::kGelu. backward() adds to the layer's gradient buffers,
/// none of which may be null.
template <std::size_t kInputs, std::size_t kOutputs, class S>
Var dense_of_small_input(Tape<S>& tape, Var x, const DenseParameters<S>& layer, Activation activation) {
  static_assert(math::small_input_fits<S>(kInputs, kOutputs));
  if (!tape.known("dense_of_small_input", x)) return {};
  if (tape.cols(x) != kInputs || activation == Activation::kGelu || tape.at(x).needs_gradient)
    return tape.fail("dense_of_small_input",
                     "x " + tape.shape(x) + ", the layer has " + std::to_string(kInputs) +
                         " inputs, which want no gradient, and activation " + name_of(activation));
  auto made = tape.fresh(static_cast<std::int32_t>(tape.rows(x)), static_cast<std::int32_t>(kOutputs), x);
  auto* kept = tape.arena().template allocate<DenseParameters<S>>(1);
  *kept = layer;
  made.node.data = kept;
  made.node.activation = activation;
  made.node.needs_gradient = true;
  math::layer_forward<kInputs, kOutputs>(tape.at(x).value, tape.rows(x), layer.weights, layer.bias,
                                         activation, made.out);
  made.node.backward = [](TapeCore<S>& core, const typename TapeCore<S>::Node& node) {
    const auto& kept = *static_cast<const DenseParameters<S>*>(node.data);
    math::detail::with_slope(node.activation, [&](auto&& slope) {
      math::detail::small_input_sweep<kInputs, kOutputs>(
          core.at(node.a).value, node.value, static_cast<const S*>(node.gradient),
          static_cast<std::size_t>(node.rows), kept.weights_gradient, kept.bias_gradient, slope);
    });
  };
  return tape.push(made.node);
}

}  // namespace mara
