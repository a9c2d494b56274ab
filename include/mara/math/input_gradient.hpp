#pragma once
// The way back from one dense layer to the dense layer below it in one sweep.

#include <cstddef>

#include "mara/math/dense.hpp"

namespace mara {

namespace math {

namespace detail {

/// Carries the gradient of out = activation(z), a vector on its way to memory, to z, and sums it by column.
/// `out` is laid out like the matrix from `first` on.
template <class Slope, class S>
struct SlopeEpilogue {
  const S* out;
  const S* first;
  simd::Vec<S> sums[TileShape::kPanel] = {};

  MARA_INLINE simd::Vec<S> operator()(simd::Vec<S> gradient, int v, const S* place) noexcept {
    const simd::Vec<S> dz = Slope{}(simd::load(out + (place - first)), gradient);
    sums[v] += dz;
    return dz;
  }
};

/// Whole vectors of a panel: x.c = slope(out, a b), and its column sums go to `sums` unless that is null,
/// added to what is there when `accumulate`. The inner dimension in the same passes as in gemm().
template <class Slope, class S>
[[gnu::noinline]] void slope_pass(Product<S> x, std::size_t rows, const S* out, S* sums,
                                  bool accumulate) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  std::size_t left = x.depth;
  for (; left > TileShape::kDepth; left -= TileShape::kDepth) {
    x.depth = TileShape::kDepth;
    shared_pass<S, TileShape::kPanel, false, false>(x, rows);
    x.a += TileShape::kDepth;
    x.b += TileShape::kDepth * x.b_stride;
    x.start = x.c;
    x.start_stride = x.c_stride;
  }
  x.depth = left;
  SlopeEpilogue<Slope, S> epilogue{out, x.c};
  product_pass<S, TileShape::kPanel, false, false>(x, rows, epilogue);
  if (sums == nullptr) return;
  for (std::size_t v = 0; v < static_cast<std::size_t>(TileShape::kPanel); ++v)
    simd::store(sums + v * kW, accumulate ? simd::load(sums + v * kW) + epilogue.sums[v] : epilogue.sums[v]);
}

}  // namespace detail

/// d_in = dz m^T as in product_with_transpose(), then slope and column sums as in slope_pass(). m.rows must
/// be a multiple of the columns of a tile.
template <class Slope, class S>
void product_with_transpose_and_slope(const S* dz, std::size_t rows, Matrix<const S> m, S* workspace,
                                      const S* out, S* sums, bool accumulate, S* d_in) noexcept {
  constexpr std::size_t kColumns = simd::kLanes<S> * static_cast<std::size_t>(TileShape::kPanel);
  static_assert(PanelLayout::kWidth % kColumns == 0);
  for (std::size_t column = 0; column < m.rows; column += kColumns) {
    const std::size_t first = column / PanelLayout::kWidth * PanelLayout::kWidth;
    const std::size_t count = detail::smaller(m.rows - first, PanelLayout::kWidth);
    if (column == first) transpose_to_panels(m, first, count, workspace);
    const std::size_t b_stride = PanelLayout::stride(count, 0);
    detail::slope_pass<Slope>(detail::Product<S>{m.cols, dz, m.cols, workspace + (column - first), b_stride,
                                                 nullptr, 0, d_in + column, m.rows, simd::kLanes<S>},
                              rows, out + column, sums == nullptr ? nullptr : sums + column, accumulate);
  }
}

}  // namespace math

/// dense_input_gradient(), then activation_bias_gradient() of the layer below, whose outputs in =
/// activation(z) [rows x inputs] are this layer's inputs: d_in becomes the gradient of z, and its column sums
/// go to d_bias[inputs] as in activation_bias_gradient().
template <class S>
void dense_input_gradient_through(const S* dz, std::size_t rows, std::size_t inputs, std::size_t outputs,
                                  const S* weights, S* workspace, const S* in, Activation activation,
                                  S* d_bias, bool accumulate, S* d_in) noexcept {
  using math::detail::Slope;
  const math::Matrix<const S> m{weights, inputs, outputs, Storage::kPanels};
  if (inputs % (simd::kLanes<S> * static_cast<std::size_t>(math::TileShape::kPanel)) == 0 && outputs > 0) {
    if (activation == Activation::kTanh)
      return math::product_with_transpose_and_slope<Slope<Activation::kTanh>>(dz, rows, m, workspace, in,
                                                                              d_bias, accumulate, d_in);
    if (activation == Activation::kRelu)
      return math::product_with_transpose_and_slope<Slope<Activation::kRelu>>(dz, rows, m, workspace, in,
                                                                              d_bias, accumulate, d_in);
  }
  dense_input_gradient(dz, rows, inputs, outputs, weights, workspace, false, d_in);
  activation_bias_gradient(in, rows, inputs, activation, d_in, d_bias, accumulate);
}

}  // namespace mara
