#pragma once
// Mean and maximum over the rows of groups on the tape.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mara/autodiff/tape.hpp"
#include "mara/nn/row_groups.hpp"
#include "mara/nn/set_pooling_inference.hpp"

namespace mara {

/// Rows that count, closed up, and how many of them each group has.
struct LiveRows {
  Var rows;
  const std::int32_t* sizes = nullptr;  ///< in the memory of the tape
};

/// Drops the rows of x that do not count. They are never read, and their gradient is exactly 0: whatever they
/// hold, even NaN, changes no bit of what is computed from the rest. Everything is kept as it is when all
/// rows count.
template <class S>
LiveRows live_rows(Tape<S>& tape, Var x, const RowGroups& groups) {
  if (!tape.known("live_rows", x)) return {};
  if (const Status fine = groups.check(std::numeric_limits<std::size_t>::max()); !fine)
    return {tape.fail("live_rows", fine.error().message), nullptr};
  const std::size_t rows = groups.rows();
  if (rows != tape.rows(x))
    return {
        tape.fail("live_rows", "the groups have " + std::to_string(rows) + " rows, x is " + tape.shape(x)),
        nullptr};
  if (groups.alive == nullptr && groups.sizes != nullptr) return {x, groups.sizes};
  auto* sizes = tape.arena().template allocate<std::int32_t>(groups.count);
  auto* indices = tape.arena().template allocate<std::int32_t>(rows);
  std::size_t count = 0, row = 0;
  for (std::size_t k = 0; k < groups.count; ++k) {
    const std::size_t before = count;
    for (const std::size_t end = row + groups.size(k); row < end; ++row)
      if (groups.counts(row)) indices[count++] = static_cast<std::int32_t>(row);
    sizes[k] = static_cast<std::int32_t>(count - before);
  }
  return {count == rows ? x : tape.gather_rows(x, indices, count), sizes};
}

/// The rows of `live` at the places they had among all: [live x cols] -> [groups.rows() x cols], zeros
/// elsewhere.
template <class S>
Var spread_rows(Tape<S>& tape, Var live, const RowGroups& groups) {
  if (!tape.known("spread_rows", live)) return {};
  const std::size_t rows = groups.rows();
  if (tape.rows(live) == rows) return live;
  auto* indices = tape.arena().template allocate<std::int32_t>(rows);
  std::int32_t count = 0;
  for (std::size_t r = 0; r < rows; ++r) indices[r] = groups.counts(r) ? count++ : -1;
  return tape.gather_rows(live, indices, rows);
}

/// Mean of the rows of each group that count: x [groups.rows() x cols] -> [groups x cols], zeros where there
/// is none.
template <class S>
Var set_mean(Tape<S>& tape, Var x, const RowGroups& groups) {
  const LiveRows live = live_rows(tape, x, groups);
  return tape.holds(live.rows) ? tape.segment_mean(live.rows, live.sizes, groups.count) : Var{};
}

/// Largest number of each column among the rows of each group that count: x [groups.rows() x cols] ->
/// [groups x cols], zeros where there is none. The gradient goes to the first of the largest.
template <class S>
Var set_max(Tape<S>& tape, Var x, const RowGroups& groups) {
  const LiveRows live = live_rows(tape, x, groups);
  return tape.holds(live.rows) ? tape.segment_max(live.rows, live.sizes, groups.count) : Var{};
}

}  // namespace mara
