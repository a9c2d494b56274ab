#pragma once
// Kernels of a dense layer: y = activation(x W + b) and its gradients. Batches are row-major. The bits of a
// result depend on its operands only: not on threads and, row by row, not on how a batch is cut into pieces.

#include <cstddef>
#include <type_traits>

#include "mara/math/activation.hpp"
#include "mara/math/gemm.hpp"
#include "mara/math/layer_product.hpp"
#include "mara/math/simd.hpp"
#include "mara/math/transpose.hpp"

namespace mara {

namespace math {

struct TanhEpilogue {
  MARA_INLINE simd::VecF operator()(simd::VecF v, int, const float*) const noexcept { return simd::tanh(v); }
};
struct ReluEpilogue {
  template <class V, class S>
  MARA_INLINE V operator()(V v, int, const S*) const noexcept {
    return simd::max(V{}, v);  // max gives its second operand where one is NaN
  }
};

/// out[rows x m.cols] = in[rows x m.rows] m for row-major in and out.
template <class S>
void product(const S* in, std::size_t rows, Matrix<const S> m, S* out) noexcept {
  gemm<false>(rows, in, m.rows, m, Matrix<const S>{nullptr, 1, m.cols, Storage::kRowMajor},
              Matrix<S>{out, rows, m.cols, Storage::kRowMajor});
}

/// d_in[rows x m.rows] = dz[rows x m.cols] m^T, added to what is there when `accumulate`. workspace:
/// dense_workspace_size(m.rows, m.cols) numbers: m is transposed one panel after the other, which then still
/// is in a near cache when it is used.
template <class S>
void product_with_transpose(const S* dz, std::size_t rows, Matrix<const S> m, S* workspace, bool accumulate,
                            S* d_in) noexcept {
  for (std::size_t first = 0; first < m.rows; first += PanelLayout::kWidth) {
    const std::size_t count = detail::smaller(m.rows - first, PanelLayout::kWidth);
    transpose_to_panels(m, first, count, workspace);
    // The matrices of all columns, of which gemm() sees those of this panel.
    const Matrix<S> to{d_in + first, rows, m.rows, Storage::kRowMajor};
    gemm<false>(rows, dz, m.cols, Matrix<const S>{workspace, m.cols, count, Storage::kPanels},
                Matrix<const S>{accumulate ? to.data : nullptr, rows, m.rows, Storage::kRowMajor}, to);
  }
}

/// to[a_cols x b_cols] = a^T b for row-major a[rows x a_cols] and b[rows x b_cols], added to what is there
/// when `accumulate`.
template <class S>
void transposed_product(const S* a, std::size_t a_cols, const S* b, std::size_t b_cols, std::size_t rows,
                        bool accumulate, Matrix<S> to) noexcept {
  // Odd rows of b cross the lines of the first cache level, and far apart they share few of its sets; a copy
  // pays once many tiles read it. Up to 256 columns the second level keeps up without.
  const bool odd = b_cols % simd::kLanes<S> != 0, far = b_cols > 4 * PanelLayout::kWidth;
  const bool pack = (odd && a_cols >= 16) || (far && a_cols >= 128);
  gemm<true>(a_cols, a, a_cols, Matrix<const S>{b, rows, b_cols, Storage::kRowMajor},
             Matrix<const S>{accumulate ? to.data : nullptr, to.rows, to.cols, to.storage}, to, pack);
}

/// One layer whose shape is constant, with an activation chosen at run time: tanh in float and relu are
/// applied in registers, the others afterwards.
template <std::size_t kInputs, std::size_t kOutputs, class S>
void layer_forward(const S* in, std::size_t rows, const S* weights, const S* bias, Activation activation,
                   S* out) noexcept {
  if constexpr (std::is_same_v<S, float>) {
    if (activation == Activation::kTanh)
      return layer_product<kInputs, kOutputs, false, TanhEpilogue>(rows, in, weights, bias, out);
  }
  if (activation == Activation::kRelu)
    return layer_product<kInputs, kOutputs, false, ReluEpilogue>(rows, in, weights, bias, out);
  layer_product<kInputs, kOutputs, false, NoEpilogue>(rows, in, weights, bias, out);
  if (activation != Activation::kIdentity) activate(activation, rows * kOutputs, out);
}

}  // namespace math

/// out[rows x outputs] = activation(in[rows x inputs] weights + bias[outputs]). `weights` [inputs x outputs]
/// lie in panels (PanelLayout), `in` and `out` are row-major. A null bias is zero. `out` must not overlap the
/// operands. A NaN in a row of `in` makes that row NaN. kInputs, kOutputs: `inputs` and `outputs` where they
/// are constants (faster for few rows, the same bits), else 0.
template <std::size_t kInputs = 0, std::size_t kOutputs = 0, class S>
void dense_forward(const S* in, std::size_t rows, std::size_t inputs, std::size_t outputs, const S* weights,
                   const S* bias, Activation activation, S* out) noexcept {
  if constexpr (kInputs > 0 && kOutputs > 0) {
    math::layer_forward<kInputs, kOutputs>(in, rows, weights, bias, activation, out);
  } else {
    math::gemm<false>(rows, in, inputs, math::Matrix<const S>{weights, inputs, outputs, Storage::kPanels},
                      math::Matrix<const S>{bias, 1, outputs, Storage::kRowMajor},
                      math::Matrix<S>{out, rows, outputs, Storage::kRowMajor});
    math::activate(activation, rows * outputs, out);
  }
}

/// Numbers of workspace that dense_input_gradient needs.
constexpr std::size_t dense_workspace_size(std::size_t inputs, std::size_t outputs) noexcept {
  return PanelLayout::size(outputs, inputs < PanelLayout::kWidth ? inputs : PanelLayout::kWidth);
}

/// d_in[rows x inputs] = dz[rows x outputs] weights^T, added to what is there when `accumulate`. `weights`
/// lie in panels. dz: gradient before the activation (see activation_gradient). workspace:
/// dense_workspace_size numbers.
template <class S>
void dense_input_gradient(const S* dz, std::size_t rows, std::size_t inputs, std::size_t outputs,
                          const S* weights, S* workspace, bool accumulate, S* d_in) noexcept {
  math::product_with_transpose(dz, rows, math::Matrix<const S>{weights, inputs, outputs, Storage::kPanels},
                               workspace, accumulate, d_in);
}

/// d_weights = in^T dz, added to what is there when `accumulate`; in[rows x inputs] and dz[rows x outputs]
/// are row-major, d_weights [inputs x outputs] lies in panels. Padding is not written.
template <class S>
void dense_weight_gradient(const S* in, const S* dz, std::size_t rows, std::size_t inputs,
                           std::size_t outputs, bool accumulate, S* d_weights) noexcept {
  math::transposed_product(in, inputs, dz, outputs, rows, accumulate,
                           math::Matrix<S>{d_weights, inputs, outputs, Storage::kPanels});
}

/// d_bias[outputs] = column sums of dz, added to what is there when `accumulate`.
template <class S>
void dense_bias_gradient(const S* dz, std::size_t rows, std::size_t outputs, bool accumulate,
                         S* d_bias) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  for (std::size_t o = 0; o < outputs; o += kW) {
    const std::size_t lanes = math::detail::smaller(kW, outputs - o);
    const auto row = [&](std::size_t r) { return simd::load_partial(dz + r * outputs + o, lanes); };
    V even = {}, odd = {};
    std::size_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      even += row(r);
      odd += row(r + 1);
    }
    if (r < rows) even += row(r);
    V total = even + odd;
    if (accumulate) total += simd::load_partial(d_bias + o, lanes);
    simd::store_partial(d_bias + o, total, lanes);
  }
}

}  // namespace mara
