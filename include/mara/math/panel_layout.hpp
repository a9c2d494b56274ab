#pragma once
// How the weights of a dense layer lie in memory: one layout that serves the forward pass, both gradients and
// the optimiser, the same on every instruction set.

#include <cstddef>

namespace mara {

/// How a matrix [rows x cols] lies in memory.
enum class Storage {
  kRowMajor,  ///< rows x cols numbers
  kPanels     ///< see PanelLayout
};

/// Weights [inputs x outputs] in panels of kWidth columns, one panel after the other; within a panel row by
/// row (a row belongs to one input). The last panel is as wide as the columns that are left, rounded up to
/// kAlign. A bias [outputs] is padded to a multiple of kAlign likewise. Padding is zero and stays zero: no
/// kernel reads a value from it, and its gradient is never written. So every row of a panel begins on a
/// 64-byte boundary (float), and a panel is read in one contiguous stream.
struct PanelLayout {
  static constexpr std::size_t kWidth = 64;
  static constexpr std::size_t kAlign = 16;

  /// Columns with their padding.
  static constexpr std::size_t padded(std::size_t outputs) noexcept {
    return (outputs + kAlign - 1) / kAlign * kAlign;
  }
  /// Numbers of storage of a weight matrix.
  static constexpr std::size_t size(std::size_t inputs, std::size_t outputs) noexcept {
    return inputs * padded(outputs);
  }
  /// First number of the panel that begins with `column`, a multiple of kWidth.
  static constexpr std::size_t panel(std::size_t inputs, std::size_t column) noexcept {
    return inputs * column;
  }
  /// Numbers from one row to the next in the panel that begins with `column`.
  static constexpr std::size_t stride(std::size_t outputs, std::size_t column) noexcept {
    const std::size_t left = padded(outputs) - column;
    return left < kWidth ? left : kWidth;
  }
  /// Where weight (input, output) is.
  static constexpr std::size_t index(std::size_t inputs, std::size_t outputs, std::size_t input,
                                     std::size_t output) noexcept {
    const std::size_t column = output / kWidth * kWidth;
    return panel(inputs, column) + input * stride(outputs, column) + (output - column);
  }
};

/// Copies row-major weights [inputs x outputs] into panels; padding becomes zero.
template <class S>
void pack_weights(const S* row_major, std::size_t inputs, std::size_t outputs, S* panels) noexcept {
  for (std::size_t i = 0; i < PanelLayout::size(inputs, outputs); ++i) panels[i] = S(0);
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t o = 0; o < outputs; ++o)
      panels[PanelLayout::index(inputs, outputs, i, o)] = row_major[i * outputs + o];
}

/// Copies weights out of panels, row-major.
template <class S>
void unpack_weights(const S* panels, std::size_t inputs, std::size_t outputs, S* row_major) noexcept {
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t o = 0; o < outputs; ++o)
      row_major[i * outputs + o] = panels[PanelLayout::index(inputs, outputs, i, o)];
}

}  // namespace mara
