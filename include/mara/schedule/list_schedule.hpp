#pragma once
// List scheduling: sort the jobs, then place one after the other on what is still free.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mara/schedule/option_table.hpp"

namespace mara {

/// Agents sorted by a key; lower key first, then lower index (the earlier submitted). Keeps its buffer.
class AgentOrder {
 public:
  void clear() noexcept { entries_.clear(); }
  void add(std::size_t agent, double key) { entries_.push_back({key, static_cast<std::uint32_t>(agent)}); }
  void sort() noexcept {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.key < b.key || (a.key == b.key && a.agent < b.agent);
    });
  }
  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t operator[](std::size_t rank) const noexcept { return entries_[rank].agent; }

 private:
  struct Entry {
    double key;
    std::uint32_t agent;
  };
  std::vector<Entry> entries_;
};

/// An ordering of waiting jobs: key(view, table, agent), lower first; never NaN.
template <class O>
concept JobOrdering = requires(const DecisionView& view, const OptionTable& table, std::size_t agent) {
  { O::key(view, table, agent) } -> std::convertible_to<double>;
};

/// By submit time (the order of the active list).
struct ArrivalOrder {
  static double key(const DecisionView&, const OptionTable&, std::size_t) noexcept { return 0.0; }
};

/// By the run time of the whole job at the requested size on its best type.
struct ShortestTotalOrder {
  static double key(const DecisionView& view, const OptionTable& table, std::size_t agent) noexcept {
    const double remaining = view.active[agent].remaining_work;
    // A job that waits under a non-preemptive rule has all its work before it; the ratio serves the others.
    const double fraction = remaining > 0.0 ? view.job(agent).work / remaining : 1.0;
    const double total = table.ideal_s(agent) * fraction;
    return total >= 0.0 ? total : OptionTable::kNever;
  }
};

/// What happens when the job in turn does not fit.
enum class Blocking {
  kSkip,  ///< later jobs may start (backfill without reservations)
  kStop,  ///< nothing later starts
};

/// Running jobs claim again what they hold. One whose grant is gone (a pool that shrank) waits again.
inline void keep_running(const DecisionView& view, Allocation& allocation) noexcept {
  for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
    const Grant held = view.active[agent].held;
    if (!held.empty()) allocation.claim(agent, view.job(agent).demand, held);
  }
}

/// Non-preemptive list scheduling: running jobs keep their grants; waiting ones start in the order of
/// `Ordering` with exactly the GPUs they request, on the type that completes them soonest among those with
/// room.
template <JobOrdering Ordering, Blocking kBlocking>
class NonPreemptiveList {
 public:
  void decide(const DecisionView& view, Allocation& allocation) {
    table_.build(view, allocation, false);
    keep_running(view, allocation);
    order_.clear();
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      if (allocation.grant(agent).empty()) order_.add(agent, Ordering::key(view, table_, agent));
    }
    order_.sort();
    for (std::size_t rank = 0; rank < order_.size(); ++rank) {
      const std::size_t agent = order_[rank];
      const bool started =
          claim_option(view, table_, allocation, agent, table_.soonest(view, allocation, agent));
      if (!started && kBlocking == Blocking::kStop) return;
    }
  }

 private:
  OptionTable table_;
  AgentOrder order_;
};

}  // namespace mara
