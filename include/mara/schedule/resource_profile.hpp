#pragma once
// What will be free when: the plan behind reservations.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/schedule/place.hpp"

namespace mara {

/// Free resources of a platform over time, from now to the end of time, piecewise constant. Reservations are
/// [start, end). Cost: finding a hole O(pieces x nodes) at worst, pieces that are too full O(1) each.
class ResourceProfile {
 public:
  struct Hole {
    double start_s = 0.0;
    Placement placement;
  };

  /// Everything as `free` for ever from `now` on.
  void reset(double now, const FreeResources& free) {
    pieces_.clear();
    pieces_.push_back({now, 0, free});
  }
  bool empty() const noexcept { return pieces_.empty(); }

  /// Forgets what lies before `now`.
  void advance(double now) {
    std::size_t current = 0;
    while (current + 1 < pieces_.size() && pieces_[current + 1].from <= now) ++current;
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(current));
    pieces_.front().from = now;
  }

  /// The earliest time from which `demand` can be placed for `length` seconds without moving; never past the
  /// last piece. False when the demand cannot be placed even there.
  template <PlacementRule Placing>
  bool find(const PlacementDemand& demand, double length, Placing& placing, Hole& hole) {
    for (std::size_t first = 0; first < pieces_.size(); ++first) {
      if (pieces_[first].free.free_milli() < demand.gpus().value) continue;
      const double start = pieces_[first].from, end = start + length;
      bool full = false;
      std::size_t last = first + 1;
      for (; last < pieces_.size() && pieces_[last].from < end; ++last) {
        full = pieces_[last].free.free_milli() < demand.gpus().value;
        if (full) break;
      }
      if (full) {
        first = last;  // every start up to there would run into it
        continue;
      }
      common_ = pieces_[first].free;
      for (std::size_t i = first + 1; i < last; ++i) common_.meet(pieces_[i].free);
      if (!placing.place(common_, demand, hole.placement)) continue;
      hole.start_s = start;
      return true;
    }
    return false;
  }

  /// Books `placement` in [start, end), which find() said is free.
  void reserve(double start, double end, const Placement& placement) {
    change(start, end, [&](FreeResources& free) { free.claim(placement); });
  }
  /// Takes a booking back; what of it lies before now is ignored.
  void release(double start, double end, const Placement& placement) {
    const double now = pieces_.front().from;
    start = std::max(start, now);
    if (!(start < end)) return;
    const std::size_t first = piece_at(start);
    for (std::size_t i = first; i < pieces_.size() && pieces_[i].from < end; ++i)
      pieces_[i].free.release(placement);
    drop_edge(end);
    if (start > now) drop_edge(start);
  }

 private:
  struct Piece {
    double from;
    int edges;  // starts and ends of bookings at `from`
    FreeResources free;
  };

  std::size_t piece_at(double time) const noexcept {
    const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), time,
                                        [](double t, const Piece& piece) { return t < piece.from; });
    return static_cast<std::size_t>(after - pieces_.begin()) - 1;
  }
  void add_edge(double time) {
    if (!(time < std::numeric_limits<double>::infinity())) return;
    std::size_t at = piece_at(time);
    if (pieces_[at].from != time) {
      Piece piece = pieces_[at];
      piece.from = time;
      piece.edges = 0;
      pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(++at), std::move(piece));
    }
    ++pieces_[at].edges;
  }
  void drop_edge(double time) {
    if (!(time < std::numeric_limits<double>::infinity())) return;
    const std::size_t at = piece_at(time);
    if (pieces_[at].from != time || --pieces_[at].edges > 0 || at == 0) return;
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  template <class Change>
  void change(double start, double end, Change&& apply) {
    if (!(start < end)) return;
    if (start > pieces_.front().from) add_edge(start);
    add_edge(end);
    for (std::size_t i = piece_at(start); i < pieces_.size() && pieces_[i].from < end; ++i)
      apply(pieces_[i].free);
  }

  std::vector<Piece> pieces_;
  FreeResources common_;
};

}  // namespace mara
