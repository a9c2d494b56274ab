#pragma once
// Activation functions that follow a dense layer, and their gradients.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mara/math/elementary.hpp"
#include "mara/math/nonlinearity.hpp"
#include "mara/math/simd.hpp"
#include "mara/math/transform.hpp"

namespace mara {

/// What follows the affine map of a dense layer. The numbers are stored in files and never change.
enum class Activation : int {
  kIdentity = 0,
  kTanh = 1,
  kRelu = 2,      ///< max(x, 0)
  kElu = 3,       ///< x where x > 0, e^x - 1 elsewhere
  kGelu = 4,      ///< x times the cumulative normal distribution of x (by erf, not the tanh approximation)
  kSigmoid = 5,   ///< 1 / (1 + e^-x)
  kSoftplus = 6,  ///< ln(1 + e^x)
};
/// Number of activations: 0 <= static_cast<int>(activation) < kActivations.
inline constexpr int kActivations = 7;

/// Its name in lower case ("tanh"); "unknown" for any other number.
constexpr const char* name_of(Activation activation) noexcept {
  switch (activation) {
    case Activation::kIdentity:
      return "identity";
    case Activation::kTanh:
      return "tanh";
    case Activation::kRelu:
      return "relu";
    case Activation::kElu:
      return "elu";
    case Activation::kGelu:
      return "gelu";
    case Activation::kSigmoid:
      return "sigmoid";
    case Activation::kSoftplus:
      return "softplus";
  }
  return "unknown";
}

namespace math {

/// x[i] = activation(x[i]). NaN stays NaN; errors of the float versions as stated for simd::tanh, elu, gelu,
/// sigmoid and softplus.
template <class S>
inline void activate(Activation activation, std::size_t count, S* x) noexcept {
  using V = simd::Vec<S>;
  switch (activation) {
    case Activation::kIdentity:
      return;
    case Activation::kTanh:
      return simd::transform(x, count, x, [](V v) { return simd::tanh(v); });
    case Activation::kRelu:
      // max gives its second operand where one is NaN.
      return simd::transform(x, count, x, [](V v) { return simd::max(V{}, v); });
    case Activation::kElu:
      return simd::transform(x, count, x, [](V v) { return simd::elu(v); });
    case Activation::kGelu:
      return simd::transform(x, count, x, [](V v) { return simd::gelu(v); });
    case Activation::kSigmoid:
      return simd::transform(x, count, x, [](V v) { return simd::sigmoid(v); });
    case Activation::kSoftplus:
      return simd::transform(x, count, x, [](V v) { return simd::softplus(v); });
  }
}

namespace detail {

/// g activation'(z) from y = activation(z).
template <Activation kActivation>
struct Slope {
  template <class V>
  MARA_INLINE V operator()(V y, V g) const noexcept {
    const V one = simd::detail::lanes_like(y, 1.0);
    if constexpr (kActivation == Activation::kTanh) return g * (one - y * y);
    if constexpr (kActivation == Activation::kRelu) return simd::select(y <= V{}, V{}, g);
    if constexpr (kActivation == Activation::kElu) return g * simd::select(y > V{}, one, y + one);
    // Two z have the same gelu(z): a NaN shows the mistake.
    if constexpr (kActivation == Activation::kGelu)
      return simd::detail::lanes_like(y, std::numeric_limits<double>::quiet_NaN());
    if constexpr (kActivation == Activation::kSigmoid) return g * (y * (one - y));
    if constexpr (kActivation == Activation::kSoftplus) return g * simd::softplus_slope(y);
    return g;
  }
};

/// Calls f(Slope<activation>{}).
template <class F>
MARA_INLINE void with_slope(Activation activation, F&& f) noexcept {
  switch (activation) {
    case Activation::kIdentity:
      return f(Slope<Activation::kIdentity>{});
    case Activation::kTanh:
      return f(Slope<Activation::kTanh>{});
    case Activation::kRelu:
      return f(Slope<Activation::kRelu>{});
    case Activation::kElu:
      return f(Slope<Activation::kElu>{});
    case Activation::kGelu:
      return f(Slope<Activation::kGelu>{});
    case Activation::kSigmoid:
      return f(Slope<Activation::kSigmoid>{});
    case Activation::kSoftplus:
      return f(Slope<Activation::kSoftplus>{});
  }
}

/// gradient[r][c] = slope(out[r][c], gradient[r][c]) in kVectors vectors of columns, the last of `lanes`
/// numbers when kPartial, and their sums over all rows. Even and odd rows are summed apart: two chains of
/// additions.
template <int kVectors, bool kPartial, class S, class Slope>
MARA_INLINE void slope_and_sum(const S* out, std::size_t rows, std::size_t stride, std::size_t lanes,
                               S* gradient, S* sums, bool accumulate, const Slope& slope) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  V total[2][kVectors] = {};
  const auto row = [&](std::size_t r, V * into) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t at = r * stride + static_cast<std::size_t>(v) * kW;
      V dz;
      if constexpr (kPartial) {
        dz = slope(simd::load_partial(out + at, lanes), simd::load_partial(gradient + at, lanes));
        simd::store_partial(gradient + at, dz, lanes);
      } else {
        dz = slope(simd::load(out + at), simd::load(gradient + at));
        simd::store(gradient + at, dz);
      }
      into[v] += dz;
    }
  };
  std::size_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    row(r, total[0]);
    row(r + 1, total[1]);
  }
  if (r < rows) row(r, total[0]);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    S* to = sums + static_cast<std::size_t>(v) * kW;
    V sum = total[0][v] + total[1][v];
    if constexpr (kPartial) {
      if (accumulate) sum += simd::load_partial(to, lanes);
      simd::store_partial(to, sum, lanes);
    } else {
      if (accumulate) sum += simd::load(to);
      simd::store(to, sum);
    }
  }
}

}  // namespace detail
}  // namespace math

/// gradient[i] *= activation'(z[i]), where out[i] = activation(z[i]) is all that is left of z. Relu passes
/// nothing where out is 0. Gelu cannot be inverted: the gradient becomes NaN; use gelu_gradient().
template <class S>
inline void activation_gradient(const S* out, std::size_t count, Activation activation,
                                S* gradient) noexcept {
  if (activation == Activation::kIdentity) return;
  math::detail::with_slope(activation, [&](auto&& slope) {
    simd::map<false>(count, gradient, slope, out, static_cast<const S*>(gradient));
  });
}

/// gradient[i] *= gelu'(z[i]), where z is the value before the activation.
template <class S>
inline void gelu_gradient(const S* z, std::size_t count, S* gradient) noexcept {
  using V = simd::Vec<S>;
  simd::map<false>(
      count, gradient, [](V x, V g) { return g * simd::gelu_slope(x); }, z, static_cast<const S*>(gradient));
}

/// One sweep for a dense layer's way back: activation_gradient() over out and gradient [rows x cols], and the
/// column sums of the new gradient to d_bias[cols], added to what is there when `accumulate`. The order of
/// summation depends on the shape alone. A null d_bias is not computed. kGelu as in activation_gradient().
template <class S>
inline void activation_bias_gradient(const S* out, std::size_t rows, std::size_t cols, Activation activation,
                                     S* gradient, S* d_bias, bool accumulate) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  constexpr int kBlock = 4;
  if (d_bias == nullptr) return activation_gradient(out, rows * cols, activation, gradient);
  math::detail::with_slope(activation, [&](auto&& slope) {
    std::size_t c = 0;
    for (; c + kBlock * kW <= cols; c += kBlock * kW)
      math::detail::slope_and_sum<kBlock, false>(out + c, rows, cols, kW, gradient + c, d_bias + c,
                                                 accumulate, slope);
    for (; c < cols; c += kW)
      math::detail::slope_and_sum<1, true>(out + c, rows, cols, cols - c < kW ? cols - c : kW, gradient + c,
                                           d_bias + c, accumulate, slope);
  });
}

}  // namespace mara
