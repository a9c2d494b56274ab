#pragma once
// Mean and maximum over the rows of groups, for evaluation only. Rows that do not count are never read: they
// change no bit of the result.

#include <algorithm>
#include <cstddef>

#include "mara/math/simd.hpp"
#include "mara/nn/row_groups.hpp"

namespace mara {

/// out[groups x cols]: mean of the rows of each group that count, zeros where there is none; x is
/// [groups.rows() x cols]. The same bits as on the tape.
template <class S>
void set_mean(const S* x, std::size_t cols, const RowGroups& groups, S* out) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < groups.count; ++k, out += cols) {
    const std::size_t end = begin + groups.size(k);
    for (std::size_t c = 0; c < cols; c += kW) {
      const std::size_t lanes = cols - c < kW ? cols - c : kW;
      V sums[2] = {};  // even and odd rows apart, as math::column_sums
      std::size_t seen = 0;
      for (std::size_t r = begin; r < end; ++r)
        if (groups.counts(r)) sums[seen++ % 2] += simd::load_partial(x + r * cols + c, lanes);
      const S share = seen == 0 ? S(1) : S(1) / static_cast<S>(seen);
      simd::store_partial(out + c, (sums[0] + sums[1]) * simd::broadcast(share), lanes);
    }
    begin = end;
  }
}

/// out[groups x cols]: largest number of each column among the rows of each group that count, zeros where
/// there is none, NaN where there is one; x is [groups.rows() x cols].
template <class S>
void set_max(const S* x, std::size_t cols, const RowGroups& groups, S* out) noexcept {
  std::size_t begin = 0;
  for (std::size_t k = 0; k < groups.count; ++k, out += cols) {
    const std::size_t end = begin + groups.size(k);
    bool none = true;
    std::fill_n(out, cols, S(0));
    for (std::size_t r = begin; r < end; ++r) {
      if (!groups.counts(r)) continue;
      const S* row = x + r * cols;
      for (std::size_t c = 0; c < cols; ++c) {
        const S v = row[c];
        if (none || v > out[c] || (v != v && out[c] == out[c])) out[c] = v;
      }
      none = false;
    }
    begin = end;
  }
}

}  // namespace mara
