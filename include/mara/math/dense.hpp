#pragma once
// Kernels of a dense layer: y = activation(x W + b) and its gradients. Batches and weights are row-major. The
// bits of a result depend on its operands only: not on threads and, row by row, not on how a batch is cut
// into pieces.

#include <cstddef>

#include "mara/math/activation.hpp"
#include "mara/math/gemm.hpp"
#include "mara/math/simd.hpp"

namespace mara {

/// out[rows x outputs] = activation(in[rows x inputs] weights[inputs x outputs] + bias[outputs]). A null bias
/// is zero. `out` must not overlap the operands. A NaN in a row of `in` makes that row NaN.
/// kOutputs: `outputs` where it is a constant (compiles faster, gives the same bits), else 0.
template <std::size_t kOutputs = 0, class S>
void dense_forward(const S* in, std::size_t rows, std::size_t inputs, std::size_t outputs, const S* weights,
                   const S* bias, Activation activation, S* out) noexcept {
  math::gemm<false, kOutputs>(rows, outputs, inputs, in, inputs, weights, outputs, bias, std::size_t{0}, out,
                              outputs, [activation, outputs](S* block, std::size_t count, std::size_t width) {
                                math::activate_block(activation, count, width, outputs, block);
                              });
}

/// Numbers of workspace that dense_input_gradient needs.
constexpr std::size_t dense_workspace_size(std::size_t inputs, std::size_t outputs) noexcept {
  return inputs * outputs;
}

/// d_in[rows x inputs] = dz[rows x outputs] weights^T, added to what is there when `accumulate`.
/// dz: gradient before the activation (see activation_gradient). workspace: dense_workspace_size numbers.
template <class S>
void dense_input_gradient(const S* dz, std::size_t rows, std::size_t inputs, std::size_t outputs,
                          const S* weights, S* workspace, bool accumulate, S* d_in) noexcept {
  // Transpose in blocks, so that both sides touch few cache lines at a time.
  constexpr std::size_t kBlock = 16;
  for (std::size_t i = 0; i < inputs; i += kBlock)
    for (std::size_t o = 0; o < outputs; o += kBlock) {
      const std::size_t i_end = math::detail::smaller(inputs, i + kBlock),
                        o_end = math::detail::smaller(outputs, o + kBlock);
      for (std::size_t oo = o; oo < o_end; ++oo)
        for (std::size_t ii = i; ii < i_end; ++ii) workspace[oo * inputs + ii] = weights[ii * outputs + oo];
    }
  math::gemm<false, 0>(rows, inputs, outputs, dz, outputs, static_cast<const S*>(workspace), inputs,
                       static_cast<const S*>(accumulate ? d_in : nullptr), inputs, d_in, inputs,
                       [](S*, std::size_t, std::size_t) {});
}

/// d_weights[inputs x outputs] = in^T dz, added to what is there when `accumulate`.
template <class S>
void dense_weight_gradient(const S* in, const S* dz, std::size_t rows, std::size_t inputs,
                           std::size_t outputs, bool accumulate, S* d_weights) noexcept {
  math::gemm<true, 0>(inputs, outputs, rows, in, inputs, dz, outputs,
                      static_cast<const S*>(accumulate ? d_weights : nullptr), outputs, d_weights, outputs,
                      [](S*, std::size_t, std::size_t) {});
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
