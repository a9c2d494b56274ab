#pragma once
// The one matrix product behind the dense layer: c = f(start + a b), register-blocked.

#include <cstddef>
#include <cstdint>

#include "mara/math/matrix.hpp"
#include "mara/math/simd.hpp"

namespace mara::math {

/// How tiles use the registers.
struct TileShape {
  static constexpr int kPanel = simd::kRegisters >= 32 ? 4 : 2;  ///< vectors of the widest tile
  static constexpr int kAccumulators =
      simd::kRegisters >= 32 ? 24 : 12;  ///< vectors; the rest holds operands
  /// Partial sums over the inner dimension of one element, which hide the latency of fma. They depend on the
  /// columns alone, so that a row has the same bits in every batch of two rows or more.
  static constexpr int split(int vectors) noexcept { return vectors >= 3 || vectors == kPanel ? 2 : 4; }
  /// The same for a batch of one row, where there is nothing else to hide it. Large matrices come from the
  /// second cache level, and one stream of reads with little work in between is fastest.
  static constexpr int row_split(int vectors, bool large) noexcept {
    return vectors >= 3 ? (large ? 1 : 4) : large ? 4 : 8;
  }
  /// The same for a transposed a, the sum over a batch: no bits to keep, and always many rows.
  static constexpr int batch_split(int vectors) noexcept { return vectors == 1 ? 2 : 1; }
  static constexpr int rows(int vectors, int splits) noexcept { return kAccumulators / (vectors * splits); }
  /// Inner steps per pass: a panel of b then stays in the first cache level.
  static constexpr std::size_t kDepth = 128;
};

/// What happens to a finished vector of c on its way to memory: nothing. An epilogue is called with the
/// vector, its number in the row of the tile and its place.
struct NoEpilogue {
  template <class V, class S>
  MARA_INLINE V operator()(V v, int, const S*) const noexcept {
    return v;
  }
};

namespace detail {

constexpr std::size_t smaller(std::size_t a, std::size_t b) noexcept {
  return a < b ? a : b;
}

/// Operands of one panel of c; rows of every matrix are `*_stride` numbers apart.
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
template <class S, int kRows, int kVectors, int kSplit, bool kPartial, bool kTransposed, class Epilogue>
MARA_INLINE void product_tile(const Product<S>& x, Epilogue& epilogue) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  V sum[kSplit][kRows][kVectors];
#pragma GCC unroll 32
  for (int r = 0; r < kRows; ++r) {
    const S* start = x.start != nullptr ? x.start + static_cast<std::size_t>(r) * x.start_stride : nullptr;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sum[0][r][v] = start != nullptr ? load_vector<kVectors, kPartial>(start, v, x.lanes) : V{};
#pragma GCC unroll 8
      for (int s = 1; s < kSplit; ++s) sum[s][r][v] = V{};
    }
  }
  const S* a = x.a;
  const S* b = x.b;
  const std::size_t a_row = kTransposed ? 1 : x.a_stride, a_step = kTransposed ? x.a_stride : 1;
  const auto step = [&](int s) __attribute__((always_inline)) {
    V column[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      column[v] = load_vector<kVectors, kPartial>(b, v, x.lanes);
      if constexpr (kRows > 1) simd::hold(column[v]);
    }
    b += x.b_stride;
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) {
      const V factor = simd::broadcast(a[static_cast<std::size_t>(r) * a_row]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[s][r][v] = simd::fma(factor, column[v], sum[s][r][v]);
    }
    a += a_step;
  };
  std::size_t k = x.depth;
  if constexpr (kRows == 1 && kSplit >= 4) {
    constexpr std::size_t kAtOnce = 4 * kSplit;
    for (; k >= kAtOnce; k -= kAtOnce) {
#pragma GCC unroll 32
      for (std::size_t i = 0; i < kAtOnce; ++i) step(static_cast<int>(i % kSplit));
    }
  }
  for (; k >= kSplit; k -= kSplit) {
#pragma GCC unroll 8
    for (int s = 0; s < kSplit; ++s) step(s);
  }
  if constexpr (kSplit > 1) {
    for (; k > 0; --k) step(0);
  }
  const auto fold = [&](int r, int v) __attribute__((always_inline)) {
    V total = sum[0][r][v];
    if constexpr (kSplit == 2) total += sum[1][r][v];
    if constexpr (kSplit >= 4) total = (total + sum[1][r][v]) + (sum[2][r][v] + sum[3][r][v]);
    if constexpr (kSplit == 8) total += (sum[4][r][v] + sum[5][r][v]) + (sum[6][r][v] + sum[7][r][v]);
    return total;
  };
#pragma GCC unroll 32
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      S* out = x.c + static_cast<std::size_t>(r) * x.c_stride + static_cast<std::size_t>(v) * kW;
      const V total = epilogue(fold(r, v), v, out);
      if (kPartial && v == kVectors - 1) {
        simd::store_partial(out, total, x.lanes);
      } else {
        simd::store(out, total);
      }
    }
  }
}

/// All rows of one panel and one pass over the inner dimension: tiles of full height, then lower ones.
/// Inlined where the strides are constants.
template <class S, int kVectors, bool kPartial, bool kTransposed, class Epilogue>
MARA_INLINE void product_pass(Product<S> x, std::size_t rows, Epilogue& epilogue) noexcept {
  constexpr int kSplit = kTransposed ? TileShape::batch_split(kVectors) : TileShape::split(kVectors);
  constexpr int kRows = TileShape::rows(kVectors, kSplit);
  const auto advance = [&](std::size_t count) __attribute__((always_inline)) {
    x.a += kTransposed ? count : count * x.a_stride;
    if (x.start != nullptr) x.start += count * x.start_stride;
    x.c += count * x.c_stride;
    rows -= count;
  };
  while (rows >= kRows) {
    product_tile<S, kRows, kVectors, kSplit, kPartial, kTransposed>(x, epilogue);
    advance(kRows);
  }
  if constexpr (kRows > 6) {
    while (rows >= kRows / 2) {
      product_tile<S, kRows / 2, kVectors, kSplit, kPartial, kTransposed>(x, epilogue);
      advance(kRows / 2);
    }
  }
  if constexpr (kTransposed && kRows > 4) {  // many widths are multiples of 4, not of 6
    while (rows >= 4) {
      product_tile<S, 4, kVectors, kSplit, kPartial, kTransposed>(x, epilogue);
      advance(4);
    }
  }
  if constexpr (kRows > 2) {
    while (rows >= 2) {
      product_tile<S, 2, kVectors, kSplit, kPartial, kTransposed>(x, epilogue);
      advance(2);
    }
  }
  if (rows >= 1) product_tile<S, 1, kVectors, kSplit, kPartial, kTransposed>(x, epilogue);
}

/// The same as a function that all callers share.
template <class S, int kVectors, bool kPartial, bool kTransposed, class Epilogue = NoEpilogue>
[[gnu::noinline]] void shared_pass(const Product<S>& x, std::size_t rows) noexcept {
  Epilogue epilogue;
  product_pass<S, kVectors, kPartial, kTransposed>(x, rows, epilogue);
}

/// shared_pass for a panel of `vectors` vectors, kVectors at most. Narrow panels always take the path for
/// partial vectors: it gives the same bits, and there are fewer functions to compile.
template <int kVectors, bool kTransposed, class S>
void choose_pass(const Product<S>& x, std::size_t vectors, std::size_t rows) noexcept {
  if constexpr (kVectors == TileShape::kPanel) {
    if (vectors == static_cast<std::size_t>(kVectors) && x.lanes == simd::kLanes<S>)
      return shared_pass<S, kVectors, false, kTransposed>(x, rows);
  }
  if (vectors == static_cast<std::size_t>(kVectors))
    return shared_pass<S, kVectors, true, kTransposed>(x, rows);
  if constexpr (kVectors > 1) choose_pass<kVectors - 1, kTransposed>(x, vectors, rows);
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

}  // namespace detail

/// c[rows x cols] = start + a b, where b is [depth x cols] (start and c may have more columns) and a is [rows
/// x depth], or [depth x rows] when kTransposed; a is row-major, its rows a_stride numbers apart. `start`:
/// first values of the sums: data null for zeros, rows == 1 for one row used by all, c itself to accumulate.
/// c must not overlap a or b. `pack`: copy the panels of a wide row-major b to contiguous memory first. The
/// bits of an element depend on depth, cols, its row of a and its column of b, not on the number of rows.
template <bool kTransposed, class S>
void gemm(std::size_t rows, const S* a, std::size_t a_stride, Matrix<const S> b, Matrix<const S> start,
          Matrix<S> c, bool pack = false) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  constexpr std::size_t kPanelWidth = kW * static_cast<std::size_t>(TileShape::kPanel);
  alignas(64) S packed[TileShape::kDepth * kPanelWidth];
  const std::size_t depth = b.rows;
  for (std::size_t column = 0; column < b.cols; column += kPanelWidth) {
    const std::size_t width = detail::smaller(b.cols - column, kPanelWidth);
    const std::size_t vectors = (width + kW - 1) / kW;
    const std::size_t b_stride = b.stride(column);
    detail::Product<S> x;
    x.lanes = width - (vectors - 1) * kW;
    x.a_stride = a_stride;
    x.c = c.at(column);
    x.c_stride = c.stride(column);
    x.start = start.data == nullptr ? nullptr : start.at(column);
    x.start_stride = start.rows == 1 ? 0 : start.stride(column);
    std::size_t k = 0;
    do {
      x.depth = detail::smaller(TileShape::kDepth, depth - k);
      if (x.depth > 0) {
        x.a = a + (kTransposed ? k * a_stride : k);
        x.b = b.at(column) + k * b_stride;
        x.b_stride = b_stride;
        if (pack) detail::pack_panel(x, vectors, packed);
      } else {  // a and b may be null: point somewhere, nothing is read
        x.a = x.b = x.c;
        x.a_stride = x.b_stride = 0;
      }
      detail::choose_pass<TileShape::kPanel, kTransposed>(x, vectors, rows);
      x.start = x.c;
      x.start_stride = x.c_stride;
      k += x.depth;
    } while (k < depth);
  }
}

}  // namespace mara::math
