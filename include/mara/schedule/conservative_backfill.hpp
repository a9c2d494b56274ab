#pragma once
// Conservative backfilling: every waiting job has a reservation.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mara/schedule/job_order.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/resource_profile.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// Conservative backfilling (Mu'alem & Feitelson, "Utilization, predictability, workloads, and user runtime
/// estimates in scheduling the IBM SP2 with backfilling", TPDS 12, 2001): a job that arrives is booked into
/// the earliest hole of the length of its estimate, so that nobody booked before is delayed. When a job ends,
/// the waiting ones are booked again one after the other in the order of `Order`, each into its earliest hole
/// while the others keep theirs; none becomes later. Jobs without an estimate count as endless. A job that
/// outlives its estimate counts as about to end; that, or a node that goes down or comes back, makes the plan
/// anew. Cost of a completion: O(jobs waiting x bookings).
template <JobOrder Order = ArrivalJobOrder, PlacementRule Placing = AnyDevices>
class ConservativeBackfill {
 public:
  explicit ConservativeBackfill(Order order = {}, Placing placing = {})
      : order_(std::move(order)), placing_(std::move(placing)) {}

  std::string name() const { return std::string(order_.name()) + "-conservative"; }

  void enter(Dispatch&, JobSlot slot) {
    if (slot < running_.size() && running_[slot].end_s > 0.0) {  // an outage took its place
      running_[slot] = Booking{};
      plan_is_old_ = true;
    }
    arrived_.push_back(slot);
  }
  void leave(Dispatch&, JobSlot slot) {
    if (slot < running_.size() && running_[slot].end_s > 0.0) {
      ended_.push_back(std::exchange(running_[slot], Booking{}));
      return;
    }
    std::erase(arrived_, slot);
    const auto found =
        std::find_if(waiting_.begin(), waiting_.end(), [slot](const Booking& b) { return b.slot == slot; });
    if (found == waiting_.end()) return;
    profile_.release(found->start_s, found->end_s, found->placement);
    waiting_.erase(found);
  }

  /// When a waiting job is to start by the present plan; infinity when no plan tells, or it does not wait.
  double reserved_s(JobSlot slot) const noexcept {
    for (const Booking& booking : waiting_)
      if (booking.slot == slot) return booking.start_s;
    return std::numeric_limits<double>::infinity();
  }

  void decide(Dispatch& dispatch) {
    const double now = dispatch.now_s();
    if (profile_.empty() || plan_fails(dispatch)) {
      plan_anew(dispatch);
    } else {
      profile_.advance(now);
      for (const Booking& booking : ended_) profile_.release(now, booking.end_s, booking.placement);
      if (!ended_.empty()) {
        sort(dispatch);
        for (Booking& booking : waiting_) {
          if (booking.start_s <= now) continue;  // due, late by rounding at most
          profile_.release(booking.start_s, booking.end_s, booking.placement);
          book(dispatch, booking);
        }
      }
    }
    ended_.clear();
    for (const JobSlot slot : arrived_) {
      waiting_.emplace_back().slot = slot;
      book(dispatch, waiting_.back());
    }
    arrived_.clear();
    start_due(dispatch);
  }

 private:
  struct Booking {
    JobSlot slot = 0;
    double start_s = 0.0, end_s = 0.0;
    Placement placement;
    double key = 0.0;
  };

  void book(Dispatch& dispatch, Booking& booking) {
    const ActiveJob& job = dispatch.job(booking.slot);
    if (!profile_.find(job.demand, job.job.estimate_s, placing_, hole_)) {
      // Not even when all have gone: it waits for a node to come back.
      booking.start_s = booking.end_s = std::numeric_limits<double>::infinity();
      booking.placement.clear();
      return;
    }
    booking.start_s = hole_.start_s;
    booking.end_s = std::max(hole_.start_s + job.job.estimate_s, soon(hole_.start_s));
    booking.placement.shares.assign(hole_.placement.shares.begin(), hole_.placement.shares.end());
    profile_.reserve(booking.start_s, booking.end_s, booking.placement);
  }

  void start_due(Dispatch& dispatch) {
    const double now = dispatch.now_s();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      Booking& booking = waiting_[i];
      if (booking.start_s <= now && dispatch.start(booking.slot, booking.placement)) {
        if (booking.slot >= running_.size()) running_.resize(booking.slot + std::size_t{1});
        running_[booking.slot] = booking;
      } else {
        if (booking.start_s > now && !overdue_) dispatch.wake_at(booking.start_s);
        if (kept != i) waiting_[kept] = std::move(booking);
        ++kept;
      }
    }
    waiting_.resize(kept);
    if (!overdue_) return;
    // What is booked behind an overdue job begins with its end, which nobody knows. The plan fails next when
    // another estimate runs out.
    for (const JobSlot slot : dispatch.running())
      if (running_[slot].end_s > soon(now)) dispatch.wake_at(running_[slot].end_s);
  }

  // Ends by the estimate and real ends that would be equal without rounding.
  static constexpr double kRounding = 1e-12;

  static double soon(double now) noexcept { return std::nextafter(now, std::numeric_limits<double>::max()); }

  // Whether reality has left the plan: somebody outlives the estimate or lost its node, a decision comes
  // late, or a node changed.
  bool plan_fails(Dispatch& dispatch) {
    const double now = dispatch.now_s();
    const double past = now - kRounding * (1.0 + now);
    overdue_ = false;
    for (const JobSlot slot : dispatch.running()) {
      const double end = running_[slot].end_s;
      overdue_ = overdue_ || end <= past;
      if (end > past && end <= now)
        dispatch.wake_at(now + 2.0 * kRounding * (1.0 + now));  // if it is not rounding
    }
    bool fails = std::exchange(plan_is_old_, false) || overdue_;
    for (const Booking& booking : waiting_) fails = fails || booking.start_s < past;  // decisions come late
    for (std::size_t n = 0; n < up_.size(); ++n) fails = fails || up_[n] != dispatch.free().up(n);
    return fails;
  }

  void plan_anew(Dispatch& dispatch) {
    const double now = dispatch.now_s();
    const FreeResources& free = dispatch.free();
    up_.resize(free.size());
    for (std::size_t n = 0; n < up_.size(); ++n) up_[n] = free.up(n);
    // From what will be free at the end of time back to now.
    FreeResources eventually = free;
    for (const JobSlot slot : dispatch.running()) eventually.release(dispatch.job(slot).placement);
    profile_.reset(now, eventually);
    for (Booking& booking : running_) booking = Booking{};
    overdue_ = false;
    for (const JobSlot slot : dispatch.running()) {
      const ActiveJob& job = dispatch.job(slot);
      const double estimated = job.estimated_end(now);
      overdue_ = overdue_ || estimated <= now;
      const double end = std::max(estimated, soon(now));
      if (slot >= running_.size()) running_.resize(slot + std::size_t{1});
      running_[slot] = {slot, now, end, job.placement, 0.0};
      profile_.reserve(now, end, job.placement);
    }
    sort(dispatch);
    for (Booking& booking : waiting_) book(dispatch, booking);
  }

  void sort(Dispatch& dispatch) {
    for (Booking& booking : waiting_) booking.key = order_.key(dispatch, dispatch.job(booking.slot));
    std::sort(waiting_.begin(), waiting_.end(), [&](const Booking& a, const Booking& b) {
      if (a.key != b.key) return a.key < b.key;
      return dispatch.job(a.slot).sequence < dispatch.job(b.slot).sequence;
    });
  }

  Order order_;
  Placing placing_;
  ResourceProfile profile_;
  ResourceProfile::Hole hole_;
  std::vector<JobSlot> arrived_;
  std::vector<Booking> waiting_;
  std::vector<Booking> running_;  // by slot; end_s 0: does not run
  std::vector<Booking> ended_;
  std::vector<char> up_;
  bool overdue_ = false;  // somebody outlives the estimate
  bool plan_is_old_ = false;
};

}  // namespace mara
