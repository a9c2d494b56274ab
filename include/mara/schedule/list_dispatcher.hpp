#pragma once
// List scheduling on a platform: an order of service, a placement rule, and what may overtake.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/schedule/backfill.hpp"
#include "mara/schedule/job_order.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/place_keeper.hpp"
#include "mara/schedule/waiting_queue.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// What happens to the jobs behind one that does not fit.
enum class WhenBlocked : std::uint8_t {
  kSkip,  ///< they may start (first fit, no reservation)
  kWait,  ///< they wait behind it, except for what the backfill rule lets through
  kDrop,  ///< it is rejected, they go on (placement studies)
};

/// Whether running jobs can lose their place to waiting ones that come before them in the order.
enum class Preemption : std::uint8_t {
  kNone,
  kKeep,    ///< a job keeps its place unless one before it needs it (PlaceKeeper)
  kRepack,  ///< at each decision all jobs are placed anew in order: running ones may move
};

/// Choices of a ListDispatcher.
struct ListOptions {
  WhenBlocked when_blocked = WhenBlocked::kSkip;
  Preemption preemption = Preemption::kNone;
  /// The first job of the order, once it does not fit, stays the first until it starts, whoever comes.
  bool commit_to_head = false;
};

/// Serves jobs in the order `Order`, places them by `Placement`; behind a blocked head (WhenBlocked::kWait)
/// `Backfill` decides who may overtake. Every combination is a scheduler: SRTF x FGD, FCFS x EASY, ...
/// Without varying keys and backfill a decision costs O(jobs served x placement + demand classes), with
/// kRepack also O(jobs running).
///
/// With kKeep equal keys never displace. Of jobs with equal keys that one stands first which stood before the
/// other at the last decision that changed anything; newcomers stand last.
template <JobOrder Order = ArrivalJobOrder, PlacementRule Placing = Consolidated,
          BackfillRule Backfill = NoBackfill>
class ListDispatcher {
 public:
  explicit ListDispatcher(ListOptions options = {}, Order order = {}, Placing placing = {},
                          Backfill backfill = {})
      : options_(options),
        order_(std::move(order)),
        placing_(std::move(placing)),
        backfill_(std::move(backfill)) {}

  std::string name() const {
    std::string name(order_.name());
    if (options_.preemption == Preemption::kRepack) name += "-repack";
    if (options_.when_blocked == WhenBlocked::kWait)
      name += backfill_.name().empty() ? "-strict" : "-" + std::string(backfill_.name());
    return name;
  }

  void enter(Dispatch& dispatch, JobSlot slot) {
    stand_last(slot);
    queue_.insert(entry_of(dispatch, slot));
    backfill_.enter(dispatch, slot);
  }
  void leave(Dispatch& dispatch, JobSlot slot) {
    queue_.erase(slot);
    if (head_ == slot) head_ = kNobody;
    backfill_.leave(dispatch, slot);
  }

  void decide(Dispatch& dispatch) {
    if constexpr (Order::kVaries) {
      if (nobody_fits(dispatch)) return;
      queue_.rekey([&](JobSlot slot) { return order_.key(dispatch, dispatch.job(slot)); });
    }
    if (options_.preemption != Preemption::kNone) {
      serve_preemptively(dispatch);
    } else if (options_.when_blocked == WhenBlocked::kWait) {
      serve_in_order(dispatch);
    } else {
      serve_what_fits(dispatch);
    }
  }

 private:
  using Entry = WaitingQueue::Entry;
  static constexpr JobSlot kNobody = std::numeric_limits<JobSlot>::max();

  Entry entry_of(const Dispatch& dispatch, JobSlot slot) {
    const ActiveJob& job = dispatch.job(slot);
    return {order_.key(dispatch, job), ties_[slot], slot, job.demand_class};
  }
  void stand_last(JobSlot slot) {
    if (slot >= ties_.size()) ties_.resize(slot + std::size_t{1}, 0);
    ties_[slot] = ++last_tie_;
  }

  // Whether keys need not be known, because whoever is first could not start.
  bool nobody_fits(const Dispatch& dispatch) const {
    if (options_.preemption != Preemption::kNone || options_.when_blocked != WhenBlocked::kSkip) return false;
    const std::int64_t free = dispatch.free().free_milli();
    return !queue_.any_head(
        [&](const Entry& entry) { return dispatch.job(entry.slot).demand.gpus().value <= free; });
  }

  bool start(Dispatch& dispatch, JobSlot slot) {
    return placing_.place(dispatch.free(), dispatch.job(slot).demand, placement_) &&
           dispatch.start(slot, placement_);
  }

  void serve_what_fits(Dispatch& dispatch) {
    queue_.begin([](std::uint32_t) { return true; });
    while (const Entry* entry = queue_.front()) {
      const JobSlot slot = entry->slot;
      if (start(dispatch, slot)) {
        queue_.take();
      } else if (options_.when_blocked == WhenBlocked::kDrop) {
        dispatch.reject(slot);
        queue_.take();
      } else {
        queue_.drop_class();
      }
    }
  }

  void serve_in_order(Dispatch& dispatch) {
    for (;;) {
      if (head_ == kNobody || !options_.commit_to_head) {
        queue_.begin([](std::uint32_t) { return true; });
        const Entry* first = queue_.front();
        if (first == nullptr) {
          head_ = kNobody;
          return;
        }
        head_ = first->slot;
      }
      if (!start(dispatch, head_)) break;
      queue_.erase(head_);
      head_ = kNobody;
    }
    backfill_.fill(dispatch, queue_, head_, placing_);
  }

  // --- with preemption

  void serve_preemptively(Dispatch& dispatch) {
    running_.clear();
    double last_key = -std::numeric_limits<double>::infinity();
    for (const JobSlot slot : in_former_order(dispatch.running(), dispatch)) {
      running_.push_back(entry_of(dispatch, slot));
      last_key = std::max(last_key, running_.back().key);
    }
    if (options_.preemption == Preemption::kKeep) {
      // Mostly nobody can start: the best of no class fits, nor comes before anyone who runs.
      const std::int64_t free = dispatch.free().free_milli();
      if (!queue_.any_head([&](const Entry& entry) {
            return entry.key < last_key || dispatch.job(entry.slot).demand.gpus().value <= free;
          }))
        return;
    }
    sort_nearly_sorted(running_);
    slots_.clear();
    for (const Entry& entry : running_) slots_.push_back(entry.slot);
    keeper_.begin(dispatch, slots_, options_.preemption == Preemption::kRepack);
    queue_.begin([](std::uint32_t) { return true; });
    for (std::size_t next = 0;;) {
      const Entry* waiting = queue_.front();
      if (next < running_.size() && (waiting == nullptr || !(*waiting < running_[next]))) {
        keeper_.keep(dispatch, placing_, next, first_behind(running_[next], next + 1));
        stand_last(running_[next].slot);
        ++next;
      } else if (waiting == nullptr) {
        break;
      } else if (keeper_.start(dispatch, placing_, waiting->slot, first_behind(*waiting, next))) {
        stand_last(waiting->slot);
        queue_.take();
      } else {
        queue_.drop_class();
      }
    }
    for (Entry& entry : running_) {
      entry.tie = ties_[entry.slot];
      if (!dispatch.job(entry.slot).running) queue_.insert(entry);
    }
  }

  // The running jobs, those that ran at the last pass in its order: little is left to sort.
  std::span<const JobSlot> in_former_order(std::span<const JobSlot> running, const Dispatch& dispatch) {
    former_.clear();
    ++pass_;
    for (const JobSlot slot : slots_) {
      if (slot >= seen_.size() || !dispatch.job(slot).running || seen_[slot] == pass_) continue;
      seen_[slot] = pass_;
      former_.push_back(slot);
    }
    for (const JobSlot slot : running) {
      if (slot >= seen_.size()) seen_.resize(slot + std::size_t{1}, 0);
      if (std::exchange(seen_[slot], pass_) != pass_) former_.push_back(slot);
    }
    return former_;
  }

  // Insertion sort, unless it turns out that much has to move.
  static void sort_nearly_sorted(std::vector<Entry>& entries) {
    std::size_t moves = 0;
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const Entry entry = entries[i];
      std::size_t at = i;
      for (; at > 0 && entry < entries[at - 1]; --at, ++moves) entries[at] = entries[at - 1];
      entries[at] = entry;
      if (moves > 8 * entries.size()) return std::sort(entries.begin(), entries.end());
    }
  }

  // The first running job from `next` on that `waiting` may displace.
  std::size_t first_behind(const Entry& waiting, std::size_t next) const noexcept {
    if (options_.preemption != Preemption::kKeep) return running_.size();
    while (next < running_.size() && !(waiting.key < running_[next].key)) ++next;
    return next;
  }

  ListOptions options_;
  Order order_;
  Placing placing_;
  Backfill backfill_;
  WaitingQueue queue_;
  Placement placement_;
  JobSlot head_ = kNobody;
  std::vector<std::uint64_t> ties_;  // by slot: where it stood among equals
  std::uint64_t last_tie_ = 0;
  std::vector<Entry> running_;
  std::vector<JobSlot> slots_;  // of running_
  std::vector<JobSlot> former_;
  std::vector<std::uint64_t> seen_;  // by slot: the last pass that has met it
  std::uint64_t pass_ = 0;
  PlaceKeeper<Placing> keeper_;
};

}  // namespace mara
