#pragma once
// The one matrix product behind the dense layer: c = start + a b, register-blocked.

#include <cstddef>
#include <cstdint>

#include "mara/math/simd.hpp"

namespace mara::math {

/// How tiles use the registers. A panel is the widest group of columns that a tile of several rows covers.
struct TileShape {
  static constexpr int kPanel = simd::kRegisters >= 32 ? 4 : 2;  ///< vectors
  static constexpr int kAccumulators =
      simd::kRegisters >= 32 ? 24 : 12;  ///< vectors; the rest holds operands
  /// Partial sums over the inner dimension of one element. Narrow tiles need them to hide the latency of fma
  /// when there are few rows; they depend on the columns alone, so that a row has the same bits in every
  /// batch.
  static constexpr int split(int vectors) noexcept { return vectors >= 3 || vectors == kPanel ? 2 : 4; }
  static constexpr int rows(int vectors, int splits) noexcept { return kAccumulators / (vectors * splits); }
  /// Inner steps per pass: a panel of b then stays in the first cache level.
  static constexpr std::size_t kDepth = 128;
  /// From this many rows on a panel is worth copying to one contiguous, aligned piece.
  static constexpr std::size_t kPackRows = 48;
  /// Finished rows to gather before the caller's function sees them: its loop gets longer, they still are in
  /// cache.
  static constexpr std::size_t kDoneRows = 24;
};

namespace detail {

constexpr std::size_t smaller(std::size_t a, std::size_t b) noexcept {
  return a < b ? a : b;
}

/// Operands of a product; rows of every matrix are `*_stride` numbers apart.
template <class S>
struct Product {
  std::size_t depth;
  const S* a;
  std::size_t a_stride;
  const S* b;
  std::size_t b_stride;
  const S* start;  ///< first value of the sums: null for 0
  std::size_t start_stride;
  S* c;
  std::size_t c_stride;
  std::size_t lanes;  ///< of the last vector, when it is partial
};

/// Vector v of a row of kVectors vectors, the last of which may have fewer lanes.
template <int kVectors, bool kPartial, class S>
MARA_INLINE simd::Vec<S> load_vector(const S* row, int v, std::size_t lanes) noexcept {
  const S* p = row + static_cast<std::size_t>(v) * simd::kLanes<S>;
  if constexpr (kPartial) {
    if (v == kVectors - 1) return simd::load_partial(p, lanes);
  }
  return simd::load(p);
}

/// One tile of kRows x kVectors vectors. kTransposed: a is stored [depth x rows].
template <class S, int kRows, int kVectors, int kSplit, bool kPartial, bool kTransposed>
void product_tile(const Product<S>& x) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  const S* const a = x.a;
  const std::size_t a_stride = x.a_stride, depth = x.depth, lanes = x.lanes;
  V sum[kSplit][kRows][kVectors];
#pragma GCC unroll 32
  for (int r = 0; r < kRows; ++r) {
    const S* start = x.start != nullptr ? x.start + static_cast<std::size_t>(r) * x.start_stride : nullptr;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sum[0][r][v] = start != nullptr ? load_vector<kVectors, kPartial>(start, v, lanes) : V{};
#pragma GCC unroll 8
      for (int s = 1; s < kSplit; ++s) sum[s][r][v] = V{};
    }
  }
  const S* b = x.b;
  const auto step = [&](std::size_t k, int s) __attribute__((always_inline)) {
    V column[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) column[v] = load_vector<kVectors, kPartial>(b, v, lanes);
    b += x.b_stride;
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) {
      const std::size_t row = static_cast<std::size_t>(r);
      const V factor = simd::broadcast(kTransposed ? a[k * a_stride + row] : a[row * a_stride + k]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[s][r][v] = simd::fma(factor, column[v], sum[s][r][v]);
    }
  };
  std::size_t k = 0;
  for (; k + kSplit <= depth; k += kSplit) {
#pragma GCC unroll 8
    for (int s = 0; s < kSplit; ++s) step(k + static_cast<std::size_t>(s), s);
  }
  if constexpr (kSplit > 1) {
    for (; k < depth; ++k) step(k, 0);
  }
#pragma GCC unroll 32
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      V total = sum[0][r][v];
      if constexpr (kSplit == 2) total += sum[1][r][v];
      if constexpr (kSplit == 4) total = (total + sum[1][r][v]) + (sum[2][r][v] + sum[3][r][v]);
      S* out = x.c + static_cast<std::size_t>(r) * x.c_stride + static_cast<std::size_t>(v) * kW;
      if (kPartial && v == kVectors - 1) {
        simd::store_partial(out, total, lanes);
      } else {
        simd::store(out, total);
      }
    }
  }
}

/// All rows of one panel: tiles of full height, then lower ones.
template <class S, int kVectors, int kSplit, bool kPartial, bool kTransposed, class Done>
void product_panel(Product<S> x, std::size_t rows, const Done& done) noexcept {
  constexpr int kRows = TileShape::rows(kVectors, kSplit);
  std::size_t pending = 0;
  const auto advance = [&](std::size_t count) {
    pending += count;
    x.a += kTransposed ? count : count * x.a_stride;
    if (x.start != nullptr) x.start += count * x.start_stride;
    x.c += count * x.c_stride;
    rows -= count;
    if (pending >= TileShape::kDoneRows || rows == 0) {
      done(x.c - pending * x.c_stride, pending);
      pending = 0;
    }
  };
  while (rows >= kRows) {
    product_tile<S, kRows, kVectors, kSplit, kPartial, kTransposed>(x);
    advance(kRows);
  }
  if constexpr (kSplit == 1) {
    while (rows >= 2) {
      product_tile<S, 2, kVectors, kSplit, kPartial, kTransposed>(x);
      advance(2);
    }
  }
  while (rows >= 1) {
    product_tile<S, 1, kVectors, kSplit, kPartial, kTransposed>(x);
    advance(1);
  }
}

/// Copies a panel of b to `packed`, row after row of whole vectors.
template <class S>
void pack_panel(Product<S>& x, std::size_t vectors, S* packed) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  for (std::size_t k = 0; k < x.depth; ++k) {
    const S* from = x.b + k * x.b_stride;
    S* to = packed + k * vectors * kW;
    for (std::size_t v = 0; v + 1 < vectors; ++v) simd::store(to + v * kW, simd::load(from + v * kW));
    simd::store(to + (vectors - 1) * kW, simd::load_partial(from + (vectors - 1) * kW, x.lanes));
  }
  x.b = packed;
  x.b_stride = vectors * kW;
}

/// Whether a matrix of kCols columns (0: any) has a panel for the narrow tile of `vectors` vectors: the rest
/// after all full panels, or the only full one.
template <class S, std::size_t kCols>
constexpr bool needs_narrow(int vectors) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  constexpr std::size_t kPanelWidth = kW * static_cast<std::size_t>(TileShape::kPanel);
  return kCols == 0 || (kCols % kPanelWidth + kW - 1) / kW == static_cast<std::size_t>(vectors) ||
         (vectors == TileShape::kPanel && kCols / kPanelWidth == 1);
}

/// Columns that are no full panel of a wide matrix: the tile of `vectors` vectors, kVectors at most.
template <int kVectors, std::size_t kCols, bool kTransposed, class S, class Done>
void narrow_panel(const Product<S>& x, std::size_t vectors, std::size_t rows, const Done& done) noexcept {
  if constexpr (needs_narrow<S, kCols>(kVectors)) {
    if (vectors == static_cast<std::size_t>(kVectors))
      return product_panel<S, kVectors, TileShape::split(kVectors), true, kTransposed>(x, rows, done);
  }
  if constexpr (kVectors > 1) narrow_panel<kVectors - 1, kCols, kTransposed>(x, vectors, rows, done);
}

}  // namespace detail

/// c[rows x cols] = start + a b, where b is [depth x cols] and a is [rows x depth], or [depth x rows] when
/// kTransposed. Row r of start begins at start + r * start_stride (0: one row for all; null: zeros; c itself
/// with c's stride: accumulate). c must not overlap a or b. When a block of c is final, done(pointer, rows,
/// cols) is called on it. The bits of an element depend on depth, cols, its row of a and its column of b, not
/// on the number of rows. Fastest when the rows of b and c begin on 64-byte boundaries. kCols: the value of
/// cols where it is a constant, else 0; it saves the compiler the tiles that cannot occur.
template <bool kTransposed, std::size_t kCols, class S, class Done>
void gemm(std::size_t rows, std::size_t cols, std::size_t depth, const S* a, std::size_t a_stride, const S* b,
          std::size_t b_stride, const S* start, std::size_t start_stride, S* c, std::size_t c_stride,
          const Done& done) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  constexpr int kPanel = TileShape::kPanel;
  constexpr std::size_t kPanelWidth = kW * static_cast<std::size_t>(kPanel);
  constexpr bool kMayBeWide = kCols == 0 || kCols >= 2 * kPanelWidth;
  constexpr bool kMayBeSingle = kCols == 0 || kCols >= 4 * kPanelWidth;
  const bool wide = cols >= 2 * kPanelWidth;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(b) | (b_stride * sizeof(S))) % simd::kBytes == 0;
  const bool pack = rows >= TileShape::kPackRows && (!aligned || (kTransposed && wide));
  alignas(64) S packed[TileShape::kDepth * kPanelWidth];
  std::size_t column = 0;
  while (column < cols) {
    // A single row of a wide b covers several panels at once: more sums in flight, longer contiguous reads.
    std::size_t width = detail::smaller(cols - column, kPanelWidth);
    const bool single = rows == 1 && cols - column >= 4 * kPanelWidth;
    if (single) width = 4 * kPanelWidth;
    const std::size_t vectors = (width + kW - 1) / kW;
    std::size_t k = 0;
    do {
      detail::Product<S> x;
      x.depth = single ? depth : detail::smaller(TileShape::kDepth, depth - k);
      x.a = a + (kTransposed ? k * a_stride : k);
      x.a_stride = a_stride;
      x.b = b + k * b_stride + column;
      x.b_stride = b_stride;
      x.start = k > 0 ? c + column : start != nullptr ? start + column : nullptr;
      x.start_stride = k > 0 ? c_stride : start_stride;
      x.c = c + column;
      x.c_stride = c_stride;
      x.lanes = width - (vectors - 1) * kW;
      k += x.depth;
      const auto finished = [&](S* block, std::size_t count) {
        if (k >= depth) done(block, count, width);
      };
      if (pack) detail::pack_panel(x, vectors, packed);
      if (kMayBeSingle && single) {
        if constexpr (kMayBeSingle) detail::product_tile<S, 1, 4 * kPanel, 1, false, kTransposed>(x);
        finished(x.c, 1);
      } else if (kMayBeWide && wide && width == kPanelWidth) {
        if constexpr (kMayBeWide) detail::product_panel<S, kPanel, 1, false, kTransposed>(x, rows, finished);
      } else {
        detail::narrow_panel<kPanel, kCols, kTransposed>(x, vectors, rows, finished);
      }
    } while (k < depth);
    column += width;
  }
}

}  // namespace mara::math
