#pragma once
// Times in which nodes cannot be used.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// A time in which a node cannot be used. A failure kills what runs there; maintenance preempts it.
struct Outage {
  enum class Kind : std::uint8_t { kFailure, kMaintenance };
  std::uint32_t node = 0;
  double from_s = 0.0, to_s = 0.0;
  Kind kind = Kind::kFailure;
};

/// Whether the outages make sense for `nodes` nodes: known nodes, 0 <= from_s < to_s, no two of one node that
/// overlap. Errors name the node, the field and the value.
inline Status check_outages(std::span<const Outage> outages, std::size_t nodes) {
  std::vector<Outage> sorted(outages.begin(), outages.end());
  const auto bad = [](const Outage& outage, const std::string& what, ErrorCode code) {
    return Error{code, "outage of node " + std::to_string(outage.node) + ": " + what};
  };
  for (const Outage& outage : sorted) {
    if (outage.node >= nodes) return bad(outage, "there is no such node", ErrorCode::kInvalidArgument);
    if (!std::isfinite(outage.from_s) || outage.from_s < 0.0)
      return bad(outage, "from_s is " + format_number(outage.from_s),
                 std::isfinite(outage.from_s) ? ErrorCode::kInvalidArgument : ErrorCode::kNumerical);
    if (!(outage.to_s > outage.from_s))
      return bad(outage, "to_s is " + format_number(outage.to_s),
                 std::isnan(outage.to_s) ? ErrorCode::kNumerical : ErrorCode::kInvalidArgument);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Outage& a, const Outage& b) {
    return a.node != b.node ? a.node < b.node : a.from_s < b.from_s;
  });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].node == sorted[i].node && sorted[i - 1].to_s > sorted[i].from_s)
      return bad(sorted[i], "overlaps another at " + format_number(sorted[i].from_s),
                 ErrorCode::kInvalidArgument);
  return {};
}

/// The beginnings and ends of outages in order of time; at one time ends first, then lower nodes, so that an
/// outage that follows another leaves the node down.
class OutageSchedule {
 public:
  struct Event {
    double time = 0.0;
    bool repair = false;
    Outage outage;
  };

  OutageSchedule() = default;
  explicit OutageSchedule(std::span<const Outage> outages) {
    for (const Outage& outage : outages) {
      events_.push_back({outage.from_s, false, outage});
      if (std::isfinite(outage.to_s)) events_.push_back({outage.to_s, true, outage});
    }
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      if (a.time != b.time) return a.time < b.time;
      if (a.repair != b.repair) return a.repair;
      return a.outage.node < b.outage.node;
    });
  }

  bool empty() const noexcept { return next_ == events_.size(); }
  const Event& front() const noexcept { return events_[next_]; }
  void pop() noexcept { ++next_; }

 private:
  std::vector<Event> events_;
  std::size_t next_ = 0;
};

}  // namespace mara
