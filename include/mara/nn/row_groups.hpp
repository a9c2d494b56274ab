#pragma once
// Which rows of a batch belong together, and which of them count: the agents of teams.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mara/core/result.hpp"

namespace mara {

/// Rows of a batch in groups, one after the other. Memory belongs to the caller.
///
///     RowGroups{.count = teams, .rows_each = agents}                     all teams alike
///     RowGroups{.count = teams, .rows_each = agents, .alive = mask}      some agents are absent
///     RowGroups{.count = teams, .sizes = sizes}                          teams of varying size
struct RowGroups {
  std::size_t count = 0;                ///< groups
  std::size_t rows_each = 0;            ///< rows of every group, when sizes is null
  const std::int32_t* sizes = nullptr;  ///< rows of each group
  const std::uint8_t* alive =
      nullptr;  ///< one for each row: 0 for a row that does not count; null: all count

  /// Rows of group k, absent ones included.
  std::size_t size(std::size_t k) const noexcept {
    return sizes == nullptr ? rows_each : static_cast<std::size_t>(sizes[k]);
  }
  /// Rows of all groups.
  std::size_t rows() const noexcept {
    std::size_t total = 0;
    for (std::size_t k = 0; k < count; ++k) total += size(k);
    return total;
  }
  bool counts(std::size_t row) const noexcept { return alive == nullptr || alive[row] != 0; }

  /// Error when a size is negative, or when a group has more than `most` rows.
  Status check(std::size_t most) const {
    for (std::size_t k = 0; k < count; ++k) {
      if (sizes != nullptr && sizes[k] < 0)
        return Error{ErrorCode::kInvalidArgument,
                     "sizes[" + std::to_string(k) + "] = " + std::to_string(sizes[k]) + " is negative"};
      if (size(k) > most)
        return Error{ErrorCode::kCapacityExceeded, "group " + std::to_string(k) + " has " +
                                                       std::to_string(size(k)) + " rows, made for " +
                                                       std::to_string(most)};
    }
    return {};
  }
};

namespace detail {

/// Calls f(first, count) for every run of rows of [begin, end) that count.
template <class F>
void each_run(const RowGroups& groups, std::size_t begin, std::size_t end, const F& f) noexcept {
  for (std::size_t r = begin; r < end;) {
    while (r < end && !groups.counts(r)) ++r;
    const std::size_t first = r;
    while (r < end && groups.counts(r)) ++r;
    if (r > first) f(first, r - first);
  }
}

}  // namespace detail
}  // namespace mara
