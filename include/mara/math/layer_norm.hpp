#pragma once
// Layer normalisation of rows and its gradients.

#include <cmath>
#include <cstddef>

#include "mara/math/reduce.hpp"
#include "mara/math/transform.hpp"

namespace mara::math {

/// out[r][c] = (x[r][c] - mean_r) * inverse_r * gain[c] + shift[c], where mean_r and inverse_r = 1 /
/// sqrt(variance
/// + epsilon) are those of row r (Ba, Kiros and Hinton, "Layer Normalization", 2016, eq. 4). Writes inverse_r
/// and the normalised rows [rows x cols] when the pointers are not null. A NaN in a row makes that row NaN.
/// out may be x; the bits of a row do not depend on the other rows.
template <class S>
void layer_norm(const S* x, std::size_t rows, std::size_t cols, const S* gain, const S* shift, S epsilon,
                S* out, S* normalised, S* inverses) noexcept {
  using V = simd::Vec<S>;
  const S share = S(1) / static_cast<S>(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    const S* in = x + r * cols;
    const V mean = simd::broadcast(sum(in, cols) * share);
    // Squares around the mean: their difference from the mean of squares would lose digits. The lanes beyond
    // the end must count as nothing, so they are summed from numbers that are in memory.
    S* to = out + r * cols;
    simd::map<false>(
        cols, to, [mean](V v) { return v - mean; }, in);
    const S variance = detail::sum_terms<S>(
                           cols, [](V v) { return v * v; }, static_cast<const S*>(to)) *
                       share;
    const S inverse = S(1) / std::sqrt(variance + epsilon);
    const V factor = simd::broadcast(inverse);
    if (inverses != nullptr) inverses[r] = inverse;
    if (normalised != nullptr)
      simd::map<false>(
          cols, normalised + r * cols, [factor](V v) { return v * factor; }, static_cast<const S*>(to));
    simd::map<false>(
        cols, to, [factor](V v, V g, V b) { return simd::fma(v * factor, g, b); }, static_cast<const S*>(to),
        gain, shift);
  }
}

/// Gradient of one row of layer_norm: up[cols] is the gradient of its result, n[cols] the normalised row.
/// d_x[c] = inverse (u_c - mean(u) - n_c mean(u n)) with u = up * gain, added to what is there when kAdd.
template <bool kAdd, class S>
void layer_norm_row_gradient(const S* up, const S* n, S inverse, std::size_t cols, const S* gain,
                             S* d_x) noexcept {
  using V = simd::Vec<S>;
  const S share = S(1) / static_cast<S>(cols);
  const V mean = simd::broadcast(share * inner_product(up, gain, cols));
  const V along = simd::broadcast(share * detail::sum_terms<S>(
                                              cols, [](V u, V g, V v) { return u * g * v; }, up, gain, n));
  const V factor = simd::broadcast(inverse);
  simd::map<kAdd>(
      cols, d_x, [=](V u, V g, V v) { return factor * (u * g - mean - v * along); }, up, gain, n);
}

}  // namespace mara::math
