#pragma once
// From the intervals of a simulation to rectangles of a Gantt chart: which devices each job may be drawn on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/simulation/records.hpp"

namespace lab {

/// A job on `height` neighbouring devices of a type from `lane` on, both in GPUs, from `start_s` to `end_s`.
struct LaneBox {
  int type = 0;
  double lane = 0.0, height = 1.0;
  double start_s = 0.0, end_s = 0.0;
  std::uint32_t job = 0;
};

/// Assigns devices greedily in order of time: those the job had before when they are free, else the first run
/// of neighbours that is long enough, else the first free ones; fractions share the fullest device that has
/// room for them in one piece. The simulator counts devices and does not name them, so this is one of the
/// possible assignments. When fractions leave no device of a whole grant free (the simulator may have packed
/// them otherwise), the box covers the least used ones.
inline std::vector<LaneBox> assign_lanes(const mara::Cluster& cluster,
                                         std::span<const mara::GrantInterval> intervals) {
  std::vector<std::uint32_t> order(intervals.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::map<std::pair<std::uint32_t, int>, std::vector<int>> last;  // devices a job had on a type
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto &x = intervals[a], &y = intervals[b];
    return x.start_s != y.start_s ? x.start_s < y.start_s : x.grant.gpus > y.grant.gpus;
  });

  struct Slice {
    std::int64_t from, size;
  };
  std::vector<std::vector<std::vector<Slice>>> slices;  // [type][device]: what is taken, in milli-GPU
  for (const mara::GpuType& type : cluster.types) slices.emplace_back(static_cast<std::size_t>(type.gpus()));
  struct Ending {
    double time;
    std::size_t type, device;
    Slice slice;
    bool operator>(const Ending& other) const { return time > other.time; }
  };
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  std::vector<LaneBox> boxes;

  const auto used = [](const std::vector<Slice>& device) {
    std::int64_t sum = 0;
    for (const Slice& slice : device) sum += slice.size;
    return sum;
  };
  // Where `size` has room in one piece, as low as possible; -1 when nowhere.
  const auto lowest_gap = [](std::vector<Slice> device, std::int64_t size) {
    std::sort(device.begin(), device.end(), [](const Slice& a, const Slice& b) { return a.from < b.from; });
    std::int64_t from = 0;
    for (const Slice& slice : device) {
      if (slice.from - from >= size) break;
      from = std::max(from, slice.from + slice.size);
    }
    return from + size <= 1000 ? from : -1;
  };
  const auto place = [&](const mara::GrantInterval& interval) {
    const auto type = static_cast<std::size_t>(interval.grant.type);
    auto& devices = slices[type];
    const auto take = [&](std::size_t device, Slice slice) {
      devices[device].push_back(slice);
      endings.push({interval.end_s, type, device, slice});
    };
    LaneBox box{interval.grant.type, 0.0, 1.0, interval.start_s, interval.end_s, interval.job};
    auto& previous = last[{interval.job, interval.grant.type}];
    if (!interval.grant.gpus.is_whole()) {
      const std::int64_t size = interval.grant.gpus.value;
      std::size_t chosen = 0;
      std::int64_t from = -1, fullest = -1;
      for (std::size_t d = 0; d < devices.size(); ++d) {
        const std::int64_t gap = lowest_gap(devices[d], size);
        if (gap < 0) continue;
        const bool again = !previous.empty() && previous.front() == static_cast<int>(d);
        const std::int64_t taken = again ? 1000 : used(devices[d]);
        if (taken <= fullest) continue;
        fullest = taken;
        chosen = d;
        from = gap;
      }
      if (from < 0) {  // room nowhere in one piece: on top of the others of the emptiest device
        for (std::size_t d = 1; d < devices.size(); ++d)
          if (used(devices[d]) < used(devices[chosen])) chosen = d;
        from = 1000 - size;
      }
      take(chosen, {from, size});
      previous = {static_cast<int>(chosen)};
      box.lane = static_cast<double>(chosen) + static_cast<double>(from) / 1000.0;
      box.height = static_cast<double>(size) / 1000.0;
      boxes.push_back(box);
      return;
    }
    const auto count = std::min(static_cast<std::size_t>(interval.grant.gpus.units()), devices.size());
    std::vector<std::size_t> chosen;
    for (const int d : previous)
      if (chosen.size() < count && devices[static_cast<std::size_t>(d)].empty())
        chosen.push_back(static_cast<std::size_t>(d));
    if (chosen.size() < count) {
      if (chosen.empty()) {  // a run of neighbours
        std::size_t run = 0;
        for (std::size_t d = 0; d < devices.size() && chosen.empty(); ++d) {
          run = devices[d].empty() ? run + 1 : 0;
          if (run == count)
            for (std::size_t k = 0; k < count; ++k) chosen.push_back(d + 1 - count + k);
        }
      }
      const auto missing = [&](std::size_t d) {
        return std::find(chosen.begin(), chosen.end(), d) == chosen.end();
      };
      for (std::size_t d = 0; d < devices.size() && chosen.size() < count; ++d)
        if (devices[d].empty() && missing(d)) chosen.push_back(d);
      while (chosen.size() < count) {
        std::size_t least = devices.size();
        for (std::size_t d = 0; d < devices.size(); ++d)
          if (missing(d) && (least == devices.size() || used(devices[d]) < used(devices[least]))) least = d;
        chosen.push_back(least);
      }
    }
    std::sort(chosen.begin(), chosen.end());
    previous.assign(chosen.begin(), chosen.end());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      take(chosen[i], {0, 1000});
      if (i > 0 && chosen[i] == chosen[i - 1] + 1) {
        boxes.back().height += 1.0;
      } else {
        box.lane = static_cast<double>(chosen[i]);
        boxes.push_back(box);
      }
    }
  };

  for (std::size_t begin = 0; begin < order.size();) {
    const double now = intervals[order[begin]].start_s;
    std::size_t end = begin;
    while (end < order.size() && intervals[order[end]].start_s == now) ++end;
    while (!endings.empty() && endings.top().time <= now) {
      const Ending ending = endings.top();
      endings.pop();
      auto& device = slices[ending.type][ending.device];
      const auto slice = std::find_if(device.begin(), device.end(), [&](const Slice& s) {
        return s.from == ending.slice.from && s.size == ending.slice.size;
      });
      if (slice != device.end()) device.erase(slice);
    }
    // Jobs that were here before choose first.
    std::stable_partition(order.begin() + static_cast<std::ptrdiff_t>(begin),
                          order.begin() + static_cast<std::ptrdiff_t>(end), [&](std::uint32_t i) {
                            return last.count({intervals[i].job, intervals[i].grant.type}) > 0;
                          });
    for (std::size_t i = begin; i < end; ++i) {
      const mara::Grant grant = intervals[order[i]].grant;
      if (grant.type < 0 || grant.type >= cluster.type_count() || grant.gpus.value <= 0) continue;
      if (!slices[static_cast<std::size_t>(grant.type)].empty()) place(intervals[order[i]]);
    }
    begin = end;
  }
  return boxes;
}

/// At most about `limit` boxes that look the same at a width of `columns` pixels: while there are too many,
/// those shorter than a cell of time are joined with their neighbours on the same devices, in the colour of
/// the longest. A cell is one pixel wide at first and doubles.
inline std::vector<LaneBox> thin_boxes(std::vector<LaneBox> boxes, double span_s, std::size_t limit,
                                       double columns = 1000.0) {
  for (double cell = span_s / columns; boxes.size() > limit && cell < span_s; cell *= 2.0) {
    struct Joined {
      std::size_t index;
      double longest_s;
    };
    std::vector<LaneBox> kept;
    std::map<std::tuple<int, double, double, std::int64_t>, Joined> joined;  // by type, lane, height and cell
    for (const LaneBox& box : boxes) {
      const double length = box.end_s - box.start_s;
      if (length >= cell) {
        kept.push_back(box);
        continue;
      }
      const auto column = static_cast<std::int64_t>(0.5 * (box.start_s + box.end_s) / cell);
      const auto [found, first] =
          joined.try_emplace({box.type, box.lane, box.height, column}, Joined{kept.size(), length});
      if (first) {
        kept.push_back(box);
        continue;
      }
      LaneBox& other = kept[found->second.index];
      other.start_s = std::min(other.start_s, box.start_s);
      other.end_s = std::max(other.end_s, box.end_s);
      if (length > found->second.longest_s) {
        found->second.longest_s = length;
        other.job = box.job;
      }
    }
    boxes = std::move(kept);
  }
  return boxes;
}

}  // namespace lab
