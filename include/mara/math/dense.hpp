#pragma once
// Dense layer kernels.

#include <cmath>
#include <cstddef>

#include "mara/math/activation.hpp"

namespace mara {

/// out[rows x outputs] = activation(in[rows x inputs] * weights[inputs x outputs] + bias[outputs]).
template <class S>
void dense_forward(const S* in, std::size_t rows, std::size_t inputs, std::size_t outputs, const S* weights,
                   const S* bias, Activation activation, S* out) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    S* y = out + r * outputs;
    for (std::size_t o = 0; o < outputs; ++o) y[o] = bias != nullptr ? bias[o] : S(0);
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t o = 0; o < outputs; ++o) y[o] += in[r * inputs + i] * weights[i * outputs + o];
    for (std::size_t o = 0; o < outputs; ++o) {
      if (activation == Activation::kTanh) y[o] = std::tanh(y[o]);
      if (activation == Activation::kRelu) y[o] = y[o] < S(0) ? S(0) : y[o];
    }
  }
}

/// Numbers of workspace that dense_input_gradient needs.
inline std::size_t dense_workspace_size(std::size_t inputs, std::size_t outputs) noexcept {
  return inputs * outputs;
}

/// gradient[i] *= activation'(.) written with the layer's output.
template <class S>
void activation_gradient(const S* out, std::size_t count, Activation activation, S* gradient) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (activation == Activation::kTanh) gradient[i] *= S(1) - out[i] * out[i];
    if (activation == Activation::kRelu) gradient[i] = out[i] <= S(0) ? S(0) : gradient[i];
  }
}

/// d_in[rows x inputs] (+)= dz[rows x outputs] * weights^T. workspace: inputs * outputs numbers.
template <class S>
void dense_input_gradient(const S* dz, std::size_t rows, std::size_t inputs, std::size_t outputs,
                          const S* weights, S* /*workspace*/, bool accumulate, S* d_in) noexcept {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < inputs; ++i) {
      S sum = accumulate ? d_in[r * inputs + i] : S(0);
      for (std::size_t o = 0; o < outputs; ++o) sum += dz[r * outputs + o] * weights[i * outputs + o];
      d_in[r * inputs + i] = sum;
    }
}

/// d_weights[inputs x outputs] (+)= in^T * dz.
template <class S>
void dense_weight_gradient(const S* in, const S* dz, std::size_t rows, std::size_t inputs, std::size_t outputs,
                           bool accumulate, S* d_weights) noexcept {
  if (!accumulate)
    for (std::size_t i = 0; i < inputs * outputs; ++i) d_weights[i] = S(0);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t o = 0; o < outputs; ++o)
        d_weights[i * outputs + o] += in[r * inputs + i] * dz[r * outputs + o];
}

/// d_bias[outputs] (+)= column sums of dz.
template <class S>
void dense_bias_gradient(const S* dz, std::size_t rows, std::size_t outputs, bool accumulate, S* d_bias) noexcept {
  if (!accumulate)
    for (std::size_t o = 0; o < outputs; ++o) d_bias[o] = S(0);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t o = 0; o < outputs; ++o) d_bias[o] += dz[r * outputs + o];
}

}  // namespace mara
