#pragma once
// The variables of a running platform simulation.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mara/core/indexed_heap.hpp"
#include "mara/simulation/dependencies.hpp"
#include "mara/simulation/dispatch.hpp"
#include "mara/simulation/node_company.hpp"
#include "mara/simulation/outage.hpp"
#include "mara/simulation/platform_check.hpp"
#include "mara/simulation/platform_records.hpp"

namespace mara::detail {

/// All that changes while a platform simulation runs, and what does not depend on its policies.
/// PlatformSimulator decides what happens when.
class PlatformState : protected Dispatch {
 protected:
  PlatformState(const Platform& platform, PlatformConfig config)
      : Dispatch(platform), config_(std::move(config)), outages_(config_.outages) {}

  double tick_time() const noexcept { return tick_ * config_.tick_s; }

  double next_event() {
    double time = ends_.empty() ? kNever : ends_.top().key;
    if (have_next_) time = std::min(time, next_.job.submit_s);
    if (!config_.fixed_interval) time = std::min(time, wake_);
    const bool alive = have_next_ || !running_.empty() || waiting_ > 0;
    if (alive && !outages_.empty()) time = std::min(time, std::max(now_, outages_.front().time));
    if (config_.tick_s > 0.0 && alive) {
      // Nobody needs the ticks of an empty system.
      if (running_.empty() && waiting_ == 0) tick_ = std::max(tick_, std::ceil(time / config_.tick_s));
      time = std::min(time, tick_time());
    }
    return time;
  }

  // Takes the next submission, if it makes sense.
  template <class Source>
  void fetch(Source& source) {
    const double last = have_next_ ? next_.job.submit_s : 0.0;
    next_.mig_profile = kNoMigProfile;
    have_next_ = source.next(next_);
    if (!have_next_) return;
    if (const Status good = check_submission(*platform_, next_, last); !good) {
      run_.error = good.error();
      have_next_ = false;
    }
  }

  JobSlot new_slot() {
    if (free_slots_.empty()) {
      jobs_.grow();
      places_.grow();
      lost_s_.push_back(0.0);
      return static_cast<JobSlot>(jobs_.size() - 1);
    }
    const JobSlot slot = free_slots_.back();
    free_slots_.pop_back();
    Placement kept = std::move(jobs_[slot].placement);  // keeps its memory
    kept.clear();
    jobs_[slot] = ActiveJob{};
    jobs_[slot].placement = std::move(kept);
    places_[slot].rejected = false;
    lost_s_[slot] = 0.0;
    return slot;
  }

  template <class Sink>
  void report(JobSlot slot, double end, bool finished, bool rejected, Sink& sink) {
    const ActiveJob& job = jobs_[slot];
    JobOutcome outcome;
    outcome.job = &job.job;
    outcome.sequence = job.sequence;
    outcome.started = job.started;
    outcome.finished = finished;
    outcome.rejected = rejected;
    outcome.entered_s = job.entered_s;
    outcome.start_s = job.first_start_s;
    outcome.end_s = end;
    outcome.executed_s = job.executed_s;
    outcome.attained_gpu_s = job.attained_gpu_s;
    outcome.overhead_s = job.overhead_paid_s;
    outcome.lost_s = lost_s_[slot];
    outcome.preemptions = job.preemptions;
    outcome.migrations = job.migrations;
    outcome.failures = job.failures;
    outcome.last = &job.placement;
    outcome.mig_profile = job.demand.profile;
    sink.job(outcome);
  }

  template <class Sink>
  void close_interval(const ActiveJob& job, const Placement& placement, double from, double to, Sink& sink) {
    if (to > from) sink.interval(PlacedInterval{&job.job, job.sequence, &placement, from, to});
  }

  void schedule_end(JobSlot slot) {
    ActiveJob& job = jobs_[slot];
    job.end_s = job.since_s + job.overhead_left_s + job.remaining_work / job.rate;
    ends_.set(slot, job.end_s, job.sequence);
  }

  template <class Sink>
  void finish(Sink& sink) {
    run_.end_s = now_;
    std::vector<JobSlot> left;
    for (JobSlot slot = 0; slot < jobs_.size(); ++slot) left.push_back(slot);
    for (const JobSlot slot : free_slots_) left[slot] = ~JobSlot{0};
    std::erase(left, ~JobSlot{0});
    std::sort(left.begin(), left.end(),
              [this](JobSlot a, JobSlot b) { return jobs_[a].sequence < jobs_[b].sequence; });
    for (const JobSlot slot : left) {
      if (jobs_[slot].running) {
        ActiveJob& job = jobs_[slot];
        job.settle(now_);
        close_interval(job, job.placement, job.last_start_s, now_, sink);
      }
      ++run_.unfinished;
      report(slot, now_, false, false, sink);
    }
  }

  PlatformConfig config_;
  PlatformRun run_;
  Submission next_;
  bool have_next_ = false;
  IndexedHeap ends_;
  std::vector<JobSlot> free_slots_;
  std::vector<double> lost_s_;  // by slot
  std::size_t waiting_ = 0;     // jobs in the queue
  Dependencies dependencies_;
  OutageSchedule outages_;
  NodeCompany company_;
  double tick_ = 0.0;
  std::int64_t idle_ticks_ = 0;
};

}  // namespace mara::detail
