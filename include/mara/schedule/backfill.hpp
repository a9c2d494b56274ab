#pragma once
// Who may overtake a job that waits for room.

#include <algorithm>
#include <concepts>
#include <limits>
#include <string_view>
#include <vector>

#include "mara/schedule/place.hpp"
#include "mara/schedule/waiting_queue.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// A backfill rule: starts jobs of `queue` that may overtake its blocked head, and takes them out of the
/// queue.
template <class B>
concept BackfillRule = requires(B rule, Dispatch& dispatch, WaitingQueue& queue, JobSlot head,
                                AnyDevices& placing) {
  { rule.name() } -> std::convertible_to<std::string_view>;
  rule.fill(dispatch, queue, head, placing);
  rule.enter(dispatch, head);  // a job has come into the queue
  rule.leave(dispatch, head);  // it has ended
};

/// Nobody overtakes.
struct NoBackfill {
  static constexpr std::string_view name() noexcept { return ""; }
  template <class Placing>
  void fill(Dispatch&, WaitingQueue&, JobSlot, Placing&) const noexcept {}
  void enter(const Dispatch&, JobSlot) const noexcept {}
  void leave(const Dispatch&, JobSlot) const noexcept {}
};

/// EASY (Lifka, "The ANL/IBM SP scheduling system", JSSPP'95; Mu'alem & Feitelson, TPDS 12, 2001): the head
/// alone has a reservation, at the shadow time: the earliest time at which it could be placed if the running
/// jobs end as estimated. A later job starts now if it fits and will have ended by the shadow time, or leaves
/// the reserved devices and host resources alone. A job without an estimate counts as endless. A running job
/// that has outlived its estimate counts as about to end.
struct EasyBackfill {
  /// A job must end before the shadow time, not at it.
  bool strict = false;
  /// Jobs that would outlast the shadow time may use what the reservation leaves over.
  bool may_outlast = true;
  /// The shadow time is computed when the head begins to wait and not again.
  bool frozen = false;
  /// Overtaking jobs are looked at in order of submission, whatever the order of the queue.
  bool by_submission = false;

  static constexpr std::string_view name() noexcept { return "easy"; }

  template <class Placing>
  void fill(Dispatch& dispatch, WaitingQueue& queue, JobSlot head, Placing& placing) {
    if (!frozen && nobody_fits(dispatch, queue)) return;
    if (!frozen || head_ != head) reserve(dispatch, head, placing);
    head_ = head;
    in_time_only_.assign(dispatch.demand_classes(), false);
    if (may_outlast) remeet(dispatch);
    queue.begin([](std::uint32_t) { return true; });
    if (!by_submission) {
      while (const WaitingQueue::Entry* entry = queue.front()) {
        const Answer answer = entry->slot == head ? Answer::kNotThis : ask(dispatch, entry->slot, placing);
        if (answer == Answer::kStarted) {
          queue.take();
        } else if (answer == Answer::kNotThis) {
          queue.skip();
        } else {
          queue.drop_class();
        }
      }
      return;
    }
    candidates_.clear();
    for (; const WaitingQueue::Entry* entry = queue.front(); queue.skip())
      if (entry->slot != head) candidates_.push_back({0.0, dispatch.job(entry->slot).sequence, entry->slot});
    std::sort(candidates_.begin(), candidates_.end());
    for (const Ranked& candidate : candidates_)
      if (ask(dispatch, candidate.slot, placing) == Answer::kStarted) queue.erase(candidate.slot);
  }
  void enter(const Dispatch& dispatch, JobSlot slot) {
    if (slot >= counted_.size()) counted_.resize(slot + std::size_t{1}, false);
    if (counted_[slot] || !(dispatch.job(slot).job.estimate_s < kNever)) return;
    counted_[slot] = true;
    ++estimated_;
  }
  void leave(const Dispatch&, JobSlot slot) noexcept {
    if (head_ == slot) head_ = kNobody;
    if (slot >= counted_.size() || !counted_[slot]) return;
    counted_[slot] = false;
    --estimated_;
  }

  /// The shadow time computed last; infinity when no estimate tells. It is not computed while nobody fits.
  double shadow_s() const noexcept { return shadow_s_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr JobSlot kNobody = std::numeric_limits<JobSlot>::max();

  static bool nobody_fits(const Dispatch& dispatch, const WaitingQueue& queue) {
    const std::int64_t free = dispatch.free().free_milli();
    return !queue.any_head([&](const WaitingQueue::Entry& entry) {
      return dispatch.job(entry.slot).demand.gpus().value <= free;
    });
  }

  enum class Answer : std::uint8_t { kStarted, kNotThis, kNoneOfItsClass };

  // Starts the job if it may overtake.
  template <class Placing>
  Answer ask(Dispatch& dispatch, JobSlot slot, Placing& placing) {
    const ActiveJob& job = dispatch.job(slot);
    const double end = dispatch.now_s() + job.job.estimate_s;
    const bool in_time = strict ? end < shadow_s_ : end <= shadow_s_ && end < kNever;
    if (!in_time && (!may_outlast || in_time_only_[job.demand_class]))
      // Where nobody has an estimate, nobody will be in time.
      return estimated_ == 0 ? Answer::kNoneOfItsClass : Answer::kNotThis;
    if (!placing.place(dispatch.free(), job.demand, placement_)) return Answer::kNoneOfItsClass;
    if (!in_time) {
      if (!placing.place(left_over_, job.demand, placement_)) {
        in_time_only_[job.demand_class] = true;
        return Answer::kNotThis;
      }
      if (!dispatch.start(slot, placement_)) return Answer::kNotThis;
      at_shadow_.claim(placement_);
    } else if (!dispatch.start(slot, placement_)) {
      return Answer::kNotThis;
    }
    if (may_outlast) remeet(dispatch);
    return Answer::kStarted;
  }

  // The head's reservation: shadow_s_, and at_shadow_ = what is free then beside it.
  template <class Placing>
  void reserve(const Dispatch& dispatch, JobSlot head, Placing& placing) {
    const double now = dispatch.now_s();
    const PlacementDemand& demand = dispatch.job(head).demand;
    ends_.clear();
    for (const JobSlot slot : dispatch.running())
      ends_.push_back({dispatch.job(slot).estimated_end(now), dispatch.job(slot).sequence, slot});
    std::sort(ends_.begin(), ends_.end());
    at_shadow_ = dispatch.free();
    shadow_s_ = kNever;
    for (std::size_t i = 0; i < ends_.size();) {
      const double time = ends_[i].key;
      for (; i < ends_.size() && ends_[i].key == time; ++i)
        at_shadow_.release(dispatch.job(ends_[i].slot).placement);
      if (at_shadow_.free_milli() < demand.gpus().value) continue;
      if (!placing.place(at_shadow_, demand, placement_)) continue;
      shadow_s_ = time;
      at_shadow_.claim(placement_);
      return;
    }
  }
  void remeet(const Dispatch& dispatch) {
    left_over_ = dispatch.free();
    left_over_.meet(at_shadow_);
  }

  struct Ranked {
    double key;
    std::uint64_t sequence;
    JobSlot slot;
    friend bool operator<(const Ranked& a, const Ranked& b) noexcept {
      return a.key < b.key || (a.key == b.key && a.sequence < b.sequence);
    }
  };
  JobSlot head_ = kNobody;
  double shadow_s_ = kNever;
  FreeResources at_shadow_, left_over_;
  std::vector<Ranked> ends_, candidates_;
  std::vector<char> counted_;       // by slot: has an estimate and is here
  std::size_t estimated_ = 0;       // how many do
  std::vector<char> in_time_only_;  // by demand class: does not fit beside the reservation
  Placement placement_;
};

}  // namespace mara
