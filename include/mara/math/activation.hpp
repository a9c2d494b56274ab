#pragma once
// Activation functions that the dense kernels fuse, and their gradients.

#include <cstddef>

#include "mara/math/elementary.hpp"
#include "mara/math/simd.hpp"

namespace mara {

/// What follows the affine map of a dense layer.
enum class Activation { kIdentity, kTanh, kRelu };

namespace math {

/// x[i] = activation(x[i]). NaN stays NaN.
template <class S>
inline void activate(Activation activation, std::size_t count, S* x) noexcept {
  switch (activation) {
    case Activation::kIdentity:
      return;
    case Activation::kTanh:
      return tanh(x, count, x);
    case Activation::kRelu:
      // max gives its second operand where one is NaN.
      return simd::transform(x, count, x, [](simd::Vec<S> v) { return simd::max(simd::Vec<S>{}, v); });
  }
}

/// The same over a block of rows that are `stride` numbers apart.
template <class S>
inline void activate_block(Activation activation, std::size_t rows, std::size_t cols, std::size_t stride,
                           S* x) noexcept {
  if (activation == Activation::kIdentity) return;
  if (cols == stride) return activate(activation, rows * cols, x);
  for (std::size_t r = 0; r < rows; ++r) activate(activation, cols, x + r * stride);
}

}  // namespace math

/// gradient[i] *= activation'(z[i]), where out[i] = activation(z[i]) is all that is left of z. Relu passes
/// nothing where out is 0.
template <class S>
inline void activation_gradient(const S* out, std::size_t count, Activation activation,
                                S* gradient) noexcept {
  using V = simd::Vec<S>;
  const auto each = [&](auto&& slope) __attribute__((always_inline)) {
    constexpr std::size_t kW = simd::kLanes<S>;
    std::size_t i = 0;
    for (; i + kW <= count; i += kW)
      simd::store(gradient + i, slope(simd::load(out + i), simd::load(gradient + i)));
    if (i < count)
      simd::store_partial(
          gradient + i,
          slope(simd::load_partial(out + i, count - i), simd::load_partial(gradient + i, count - i)),
          count - i);
  };
  switch (activation) {
    case Activation::kIdentity:
      return;
    case Activation::kTanh:
      return each([](V y, V g) { return g * (simd::broadcast(S(1)) - y * y); });
    case Activation::kRelu:
      return each([](V y, V g) { return simd::select(y <= V{}, V{}, g); });
  }
}

}  // namespace mara
