#pragma once
// Networks that end in one number, such as value functions: the last hidden layer and the output together.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "mara/autodiff/tape.hpp"
#include "mara/math/activation.hpp"
#include "mara/math/dense.hpp"
#include "mara/math/reduce.hpp"
#include "mara/math/simd.hpp"

namespace mara {

namespace math {
namespace detail {

/// Sums of neighbouring lanes of two vectors: in each block of 2 kHalf lanes the first half is a's, folded,
/// and the second b's.
template <std::size_t kHalf, class V, std::size_t... kLane>
MARA_INLINE V fold_pair(V a, V b, std::index_sequence<kLane...>) noexcept {
  constexpr std::size_t kW = sizeof...(kLane);
  const V low = __builtin_shufflevector(a, b,
                                        static_cast<int>(kLane / (2 * kHalf) * (2 * kHalf) + kLane % kHalf +
                                                         (kLane % (2 * kHalf) < kHalf ? 0 : kW))...);
  const V high =
      __builtin_shufflevector(a, b,
                              static_cast<int>(kLane / (2 * kHalf) * (2 * kHalf) + kHalf + kLane % kHalf +
                                               (kLane % (2 * kHalf) < kHalf ? 0 : kW))...);
  return low + high;
}

/// Lane i of the result is the sum of the lanes of v[i]; v holds as many vectors as there are lanes and is
/// used up.
template <class S, std::size_t kHalf = simd::kLanes<S> / 2>
MARA_INLINE simd::Vec<S> sums_of_vectors(simd::Vec<S>* v) noexcept {
  if constexpr (kHalf == 0) {
    return v[0];
  } else {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kHalf; ++i)
      v[i] = fold_pair<kHalf>(v[i], v[i + kHalf], std::make_index_sequence<simd::kLanes<S>>{});
    return sums_of_vectors<S, kHalf / 2>(v);
  }
}

}  // namespace detail

/// out[r] = start + inner product of row r of x [rows x kInputs] with weights [kInputs], kInputs a multiple
/// of the lanes of a vector. The bits of a row do not depend on the others.
template <std::size_t kInputs, class S>
void row_products(const S* x, std::size_t rows, const S* weights, S start, S* out) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>, kVectors = kInputs / kW;
  static_assert(kInputs % kW == 0);
  for (std::size_t r = 0; r < rows; r += kW) {
    const std::size_t count = rows - r < kW ? rows - r : kW;
    V sums[kW];
    const auto row = [&](std::size_t i) __attribute__((always_inline)) {
      const S* p = x + (r + i) * kInputs;
      V sum = simd::load(p) * simd::load(weights);
#pragma GCC unroll 16
      for (std::size_t v = 1; v < kVectors; ++v)
        sum = simd::fma(simd::load(p + v * kW), simd::load(weights + v * kW), sum);
      return sum;
    };
    if (count == kW) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < kW; ++i) sums[i] = row(i);
    } else {
      for (std::size_t i = 0; i < kW; ++i) sums[i] = i < count ? row(i) : V{};
    }
    simd::store_partial(out + r, detail::sums_of_vectors<S>(sums) + simd::broadcast(start), count);
  }
}

/// True where row_products() and what is below take `hidden` columns.
template <class S>
constexpr bool single_output_fits(std::size_t hidden) noexcept {
  return hidden % simd::kLanes<S> == 0;
}

namespace detail {
/// Way back of a single output y w + c through y = activation(z), y [rows x kHidden], in one sweep, with
/// d[rows] for the output's gradient: dz[r][h] = activation'(z) d[r] w[h]; adds the column sums of dz to
/// d_bias and d^T y to d_weights.
template <std::size_t kHidden, class S, class Slope>
MARA_INLINE void single_output_sweep(const S* y, std::size_t rows, const S* weights, const S* d, S* dz,
                                     S* d_bias, S* d_weights, const Slope& slope) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>, kVectors = kHidden / kW;
  constexpr std::size_t kMost = simd::kRegisters >= 32 ? 4 : 2;
  constexpr std::size_t kBlock = kVectors % kMost == 0 ? kMost : 1;
  for (std::size_t column = 0; column < kHidden; column += kBlock * kW) {
    V w[kBlock], bias[kBlock] = {}, products[kBlock] = {};
    for (std::size_t v = 0; v < kBlock; ++v) w[v] = simd::load(weights + column + v * kW);
    for (std::size_t r = 0; r < rows; ++r) {
      const V upstream = simd::broadcast(d[r]);
      const std::size_t at = r * kHidden + column;
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kBlock; ++v) {
        const V out = simd::load(y + at + v * kW);
        const V g = slope(out, upstream * w[v]);
        simd::store(dz + at + v * kW, g);
        bias[v] += g;
        products[v] = simd::fma(upstream, out, products[v]);
      }
    }
    for (std::size_t v = 0; v < kBlock; ++v) {
      simd::store(d_bias + column + v * kW, simd::load(d_bias + column + v * kW) + bias[v]);
      simd::store(d_weights + column + v * kW, products[v]);
    }
  }
}
}  // namespace detail
}  // namespace math

namespace detail {
template <class S>
struct SingleOutput {
  DenseParameters<S> hidden, head;
  const S* weights;  ///< of the head, beside each other
  const S* y;        ///< values of the hidden layer
  Activation activation;
};
}  // namespace detail

/// activation(x W + b) w + c: x [rows x kInputs] -> [rows x 1], the last hidden layer of kHidden units and an
/// output of one number as one operation. backward() adds to both layers' gradient buffers, none of which may
/// be null. kHidden must be one that math::single_output_fits; not for Activation::kGelu, whose slope needs
/// more than its value. The memory that the layers point to must stay as it is until backward() is done.
template <std::size_t kInputs, std::size_t kHidden, class S>
Var dense_to_single_output(Tape<S>& tape, Var x, const DenseParameters<S>& hidden,
                           const DenseParameters<S>& head, Activation activation) {
  static_assert(math::single_output_fits<S>(kHidden));
  if (!tape.known("dense_to_single_output", x)) return {};
  if (tape.cols(x) != kInputs || activation == Activation::kGelu)
    return tape.fail("dense_to_single_output", "x " + tape.shape(x) + ", the layer has " +
                                                   std::to_string(kInputs) + " inputs and activation " +
                                                   name_of(activation));
  const std::size_t rows = tape.rows(x);
  auto made = tape.fresh(static_cast<std::int32_t>(rows), 1, x);
  auto* kept = tape.arena().template allocate<detail::SingleOutput<S>>(1);
  S* weights = tape.arena().template allocate<S>(kHidden);
  S* y = tape.arena().template allocate<S>(rows * kHidden);
  for (std::size_t h = 0; h < kHidden; ++h) weights[h] = head.weights[PanelLayout::index(kHidden, 1, h, 0)];
  *kept = {hidden, head, weights, y, activation};
  made.node.data = kept;
  made.node.needs_gradient = true;
  math::layer_forward<kInputs, kHidden>(tape.at(x).value, rows, hidden.weights, hidden.bias, activation, y);
  math::row_products<kHidden>(y, rows, weights, head.bias[0], made.out);
  made.node.backward = [](TapeCore<S>& core, const typename TapeCore<S>::Node& node) {
    const auto& layer = *static_cast<const detail::SingleOutput<S>*>(node.data);
    const auto count = static_cast<std::size_t>(node.rows);
    S* dz = core.arena().template allocate<S>(count * kHidden);
    alignas(64) S d_weights[kHidden];
    math::detail::with_slope(layer.activation, [&](auto&& slope) {
      math::detail::single_output_sweep<kHidden>(layer.y, count, layer.weights, node.gradient, dz,
                                                 layer.hidden.bias_gradient, d_weights, slope);
    });
    for (std::size_t h = 0; h < kHidden; ++h)
      layer.head.weights_gradient[PanelLayout::index(kHidden, 1, h, 0)] += d_weights[h];
    layer.head.bias_gradient[0] += math::sum(node.gradient, count);
    dense_weight_gradient(core.at(node.a).value, dz, count, kInputs, kHidden, true,
                          layer.hidden.weights_gradient);
    if (!core.wants(node.a)) return;
    S* d_in = core.gradient_buffer(node.a);
    S* workspace = core.arena().template allocate<S>(dense_workspace_size(kInputs, kHidden));
    dense_input_gradient(dz, count, kInputs, kHidden, layer.hidden.weights, workspace,
                         core.at(node.a).written, d_in);
    core.at(node.a).written = true;
  };
  return tape.push(made.node);
}

}  // namespace mara
