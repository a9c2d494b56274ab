#pragma once
// The matrix product of gemm.hpp for layers whose shape is constant.

#include <cstddef>

#include "mara/math/gemm.hpp"

namespace mara::math {

namespace detail {

/// Part of layer_product(): the panel of kVectors vectors from `column` on.
template <std::size_t kDepth, std::size_t kCols, int kVectors, std::size_t kLanesOfLast, bool kSingleRow,
          class Epilogue, class S>
MARA_INLINE void layer_panel(std::size_t rows, const S* a, const S* weights, const S* bias, S* c,
                             std::size_t column) noexcept {
  constexpr bool kPartial = kLanesOfLast != simd::kLanes<S>;
  // Within a panel of the layout all columns have one stride; narrow registers take it in several parts.
  const std::size_t panel = column / PanelLayout::kWidth * PanelLayout::kWidth;
  Product<S> x;
  x.lanes = kLanesOfLast;
  x.depth = kDepth;
  x.a = a;
  x.a_stride = kDepth;
  x.b = weights + PanelLayout::panel(kDepth, panel) + (column - panel);
  x.b_stride = kCols <= PanelLayout::kWidth || kCols % PanelLayout::kWidth == 0
                   ? PanelLayout::stride(kCols, 0)
                   : PanelLayout::stride(kCols, panel);
  x.start = bias == nullptr ? nullptr : bias + column;
  x.start_stride = 0;
  x.c = c + column;
  x.c_stride = kCols;
  if constexpr (kSingleRow) {
    constexpr int kSplit = TileShape::row_split(kVectors, kDepth >= TileShape::kDepth);
    Epilogue epilogue;
    product_tile<S, 1, kVectors, kSplit, kPartial, false>(x, epilogue);
  } else {
    if constexpr (kDepth > TileShape::kDepth) {
      std::size_t left = kDepth;
      for (; left > TileShape::kDepth; left -= TileShape::kDepth) {
        x.depth = TileShape::kDepth;
        shared_pass<S, kVectors, kPartial, false>(x, rows);
        x.a += TileShape::kDepth;
        x.b += TileShape::kDepth * x.b_stride;
        x.start = x.c;
        x.start_stride = kCols;
      }
      x.depth = left;
      shared_pass<S, kVectors, kPartial, false, Epilogue>(x, rows);
    } else {
      Epilogue epilogue;
      product_pass<S, kVectors, kPartial, false>(x, rows, epilogue);
    }
  }
}

}  // namespace detail

/// c[rows x kCols] = epilogue(bias + a w): a is row-major [rows x kDepth], w [kDepth x kCols] lies in panels,
/// a null bias is zero. The same bits as gemm(), except for kSingleRow (rows == 1), which sums in an order of
/// its own. Inlined: put it into a function of its own for each layer, or all layers into one.
template <std::size_t kDepth, std::size_t kCols, bool kSingleRow, class Epilogue, class S>
MARA_INLINE void layer_product(std::size_t rows, const S* a, const S* weights, const S* bias, S* c) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  constexpr std::size_t kPanelWidth = kW * static_cast<std::size_t>(TileShape::kPanel);
  constexpr std::size_t kFull = kCols / kPanelWidth * kPanelWidth, kRest = kCols - kFull;
  for (std::size_t column = 0; column < kFull; column += kPanelWidth)
    detail::layer_panel<kDepth, kCols, TileShape::kPanel, kW, kSingleRow, Epilogue>(rows, a, weights, bias, c,
                                                                                    column);
  if constexpr (kRest > 0) {
    constexpr std::size_t kVectors = (kRest + kW - 1) / kW;
    detail::layer_panel<kDepth, kCols, static_cast<int>(kVectors), kRest - (kVectors - 1) * kW, kSingleRow,
                        Epilogue>(rows, a, weights, bias, c, kFull);
  }
}

}  // namespace mara::math
