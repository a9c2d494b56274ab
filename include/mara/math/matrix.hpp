#pragma once
// A matrix in memory as an operand of the kernels.

#include <cstddef>

#include "mara/math/panel_layout.hpp"

namespace mara::math {

/// A matrix [rows x cols] as an operand.
template <class S>
struct Matrix {
  S* data;
  std::size_t rows, cols;
  Storage storage;

  /// First row of `column`.
  S* at(std::size_t column) const noexcept {
    if (storage == Storage::kRowMajor) return data + column;
    const std::size_t begin = column / PanelLayout::kWidth * PanelLayout::kWidth;
    return data + PanelLayout::panel(rows, begin) + (column - begin);
  }
  /// Numbers from a row to the next at `column`.
  std::size_t stride(std::size_t column) const noexcept {
    return storage == Storage::kRowMajor
               ? cols
               : PanelLayout::stride(cols, column / PanelLayout::kWidth * PanelLayout::kWidth);
  }
};

}  // namespace mara::math
