#pragma once
// Transposition of weights, block by block in registers.

#include <cstddef>
#include <utility>

#include "mara/math/matrix.hpp"
#include "mara/math/simd.hpp"

namespace mara::math {

namespace detail {

/// The halves of a step of the butterfly: blocks of kStep lanes change places between two rows.
template <int kStep, class V, std::size_t... Lane>
MARA_INLINE void exchange(V& upper, V& lower, std::index_sequence<Lane...>) noexcept {
  constexpr int kLanes = static_cast<int>(sizeof...(Lane));
  const V low = __builtin_shufflevector(
      upper, lower,
      (static_cast<int>(Lane) & kStep ? kLanes + static_cast<int>(Lane) - kStep : static_cast<int>(Lane))...);
  const V high = __builtin_shufflevector(
      upper, lower,
      (static_cast<int>(Lane) & kStep ? kLanes + static_cast<int>(Lane) : static_cast<int>(Lane) + kStep)...);
  upper = low;
  lower = high;
}

/// Transposes kLanes rows of kLanes numbers in place (Eklundh, "A fast computer method for matrix
/// transposing", 1972).
template <int kStep, class V, std::size_t kLanes>
MARA_INLINE void transpose_block(V (&rows)[kLanes]) noexcept {
  if constexpr (kStep < static_cast<int>(kLanes)) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kLanes; ++i)
      if ((i & static_cast<std::size_t>(kStep)) == 0)
        exchange<kStep>(rows[i], rows[i + static_cast<std::size_t>(kStep)],
                        std::make_index_sequence<kLanes>{});
    transpose_block<2 * kStep>(rows);
  }
}

}  // namespace detail

/// Panels of the transpose of `count` rows of m from row `first` on: PanelLayout::size(m.cols, count)
/// numbers, padding included.
template <class S>
void transpose_to_panels(Matrix<const S> m, std::size_t first, std::size_t count, S* transposed) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  static_assert(PanelLayout::kAlign % kW == 0, "a padded row is made of whole vectors");
  const Matrix<S> to{transposed, m.cols, count, Storage::kPanels};
  for (std::size_t o = 0; o < m.cols; o += kW) {
    const std::size_t outputs = m.cols - o < kW ? m.cols - o : kW;
    const std::size_t from_stride = m.stride(o);
    for (std::size_t i = 0; i < PanelLayout::padded(count); i += kW) {
      const S* from = m.at(o) + (first + i) * from_stride;
      const std::size_t to_stride = to.stride(i);
      S* into = to.at(i) + o * to_stride;
      V block[kW];
      if (i + kW <= count && outputs == kW) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < kW; ++r) block[r] = simd::load(from + r * from_stride);
      } else {
        for (std::size_t r = 0; r < kW; ++r)
          block[r] = i + r < count ? simd::load_partial(from + r * from_stride, outputs) : V{};
      }
      detail::transpose_block<1>(block);
      if (outputs == kW) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < kW; ++r) simd::store(into + r * to_stride, block[r]);
      } else {
        for (std::size_t r = 0; r < outputs; ++r) simd::store(into + r * to_stride, block[r]);
      }
    }
  }
}

}  // namespace mara::math
