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

/// One pass over whole vectors of a panel: x.c = slope(out, x.start + a b), and its column sums go to `sums`
/// unless that is null, added to what is there when `accumulate`.
template <class Slope, class S>
[[gnu::noinline]] void slope_pass(const Product<S>& x, std::size_t rows, const S* out, S* sums,
                                  bool accumulate) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  SlopeEpilogue<Slope, S> epilogue{out, x.c};
  product_pass<S, TileShape::kPanel, false, false>(x, rows, epilogue);
  if (sums == nullptr) return;
  for (std::size_t v = 0; v < static_cast<std::size_t>(TileShape::kPanel); ++v)
    simd::store(sums + v * kW, accumulate ? simd::load(sums + v * kW) + epilogue.sums[v] : epilogue.sums[v]);
}

}  // namespace detail

/// d_in = slope(out, dz m^T) and its column sums as in slope_pass(), for m in panels, whose rows are a
/// multiple of the columns of a tile. What one pass over the inner dimension needs of m is transposed right
/// before it.
template <class Slope, class S>
void product_with_transpose_and_slope(const S* dz, std::size_t rows, Matrix<const S> m, S* workspace,
                                      const S* out, S* sums, bool accumulate, S* d_in) noexcept {
  constexpr std::size_t kColumns = simd::kLanes<S> * static_cast<std::size_t>(TileShape::kPanel);
  static_assert(PanelLayout::kWidth % kColumns == 0 && TileShape::kDepth % PanelLayout::kWidth == 0);
  for (std::size_t first = 0; first < m.rows; first += PanelLayout::kWidth) {
    const std::size_t count = detail::smaller(m.rows - first, PanelLayout::kWidth);
    for (std::size_t k = 0; k < m.cols; k += TileShape::kDepth) {
      const std::size_t depth = detail::smaller(m.cols - k, TileShape::kDepth);
      transpose_to_panels(Matrix<const S>{m.at(k), m.rows, depth, m.storage}, first, count, workspace);
      for (std::size_t column = first; column < first + count; column += kColumns) {
        S* c = d_in + column;
        const detail::Product<S> x{depth,
                                   dz + k,
                                   m.cols,
                                   workspace + (column - first),
                                   PanelLayout::stride(count, 0),
                                   k == 0 ? nullptr : c,
                                   m.rows,
                                   c,
                                   m.rows,
                                   simd::kLanes<S>};
        if (k + depth < m.cols) {
          detail::shared_pass<S, TileShape::kPanel, false, false>(x, rows);
        } else {
          detail::slope_pass<Slope>(x, rows, out + column, sums == nullptr ? nullptr : sums + column,
                                    accumulate);
        }
      }
    }
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
