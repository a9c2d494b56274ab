#pragma once
// Event-driven simulation of jobs on the nodes and devices of a platform.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mara/simulation/dispatch.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/simulation/platform_state.hpp"

namespace mara {

/// The engine. Time jumps from event to event: completions at their real times, arrivals, outages, ticks, and
/// wake-ups that the scheduler asked for. At one instant: completions in order of (time, submission),
/// repairs, failures, arrivals in the order of the source, then one decision (EventBatch::kTogether). Jobs
/// whose dependencies have not finished arrive when the last of them does. Memory is that of the jobs alive;
/// what happens goes to the sink. The same input gives the same bits.
///
/// Cost: an event costs O(log jobs running) and the scheduler's decision; with interference also the jobs on
/// the nodes that changed.
template <OverheadModel Overhead = NoOverhead, InterferenceModel Interference = NoInterference,
          NetworkModel Network = FreeNetwork>
class PlatformSimulator : private detail::PlatformState {
 public:
  /// The platform must pass check_platform and outlive the simulator; the configuration must pass
  /// check_config.
  PlatformSimulator(const Platform& platform, PlatformConfig config, Overhead overhead = {},
                    Interference interference = {}, Network network = {})
      : PlatformState(platform, std::move(config)),
        overhead_(std::move(overhead)),
        interference_(std::move(interference)),
        network_(std::move(network)) {
    if (kTracksNodes || !outages_.empty()) company_.reset(platform.nodes.size());
  }

  /// Runs everything that `source` submits. A simulator runs once.
  template <JobSource Source, PlatformScheduler Scheduler, SimulationSink Sink>
  PlatformRun run(Source& source, Scheduler& scheduler, Sink& sink) {
    fetch(source);
    if (have_next_) run_.first_submit_s = next_.job.submit_s;
    while (!run_.error) {
      const double time = next_event();
      if (!(time < config_.horizon_s)) {
        if (config_.horizon_s < kNever) {
          complete_until(config_.horizon_s, scheduler, sink);
          now_ = config_.horizon_s;
        } else {
          run_.stalled = waiting_ > 0 || dependencies_.kept() > 0;
        }
        break;
      }
      const std::uint64_t before = run_.job_events;
      now_ = time;
      if (config_.batch == EventBatch::kTogether) {
        complete_until(time, scheduler, sink);
        change_nodes(time, scheduler, sink);
        while (have_next_ && next_.job.submit_s <= time) admit(source, scheduler);
      } else if (have_next_ && next_.job.submit_s <= time) {
        admit(source, scheduler);
      } else if (!ends_.empty() && ends_.top().key <= time) {
        complete(ends_.top().item, scheduler, sink);
      } else {
        change_nodes(time, scheduler, sink);
      }
      const bool tick = config_.tick_s > 0.0 && tick_time() <= time;
      while (config_.tick_s > 0.0 && tick_time() <= time) tick_ += 1.0;
      if (config_.fixed_interval && !tick) {
        if constexpr (kTracksNodes) update_rates();
        continue;
      }
      if (running_.empty() && waiting_ == 0) {
        wake_ = kNever;
        continue;
      }
      decide(scheduler, sink);
      idle_ticks_ = run_.job_events != before || !running_.empty() ? 0 : idle_ticks_ + 1;
      if (idle_ticks_ >= config_.stall_ticks && !have_next_ && outages_.empty()) {
        run_.stalled = true;
        break;
      }
    }
    finish(sink);
    return run_;
  }

 private:
  static constexpr bool kTracksNodes = !Interference::kNone;

  // --- jobs come and go

  template <class Source, class Scheduler>
  void admit(Source& source, Scheduler& scheduler) {
    const JobSlot slot = new_slot();
    ActiveJob& job = jobs_[slot];
    job.job = next_.job;
    job.sequence = run_.submitted++;
    job.remaining_work = job.job.work;
    job.demand = demand_of(*platform_, job.job, -1, next_.mig_profile);
    job.demand_class = demand_class(job.demand);
    ++run_.job_events;
    if (!config_.dependencies || dependencies_.submit(slot, next_.after)) enter(slot, scheduler);
    fetch(source);
  }

  template <class Scheduler>
  void enter(JobSlot slot, Scheduler& scheduler) {
    jobs_[slot].entered_s = jobs_[slot].since_s = now_;
    ++waiting_;
    scheduler.enter(static_cast<Dispatch&>(*this), slot);
  }

  template <class Scheduler, class Sink>
  void complete_until(double time, Scheduler& scheduler, Sink& sink) {
    while (!ends_.empty() && ends_.top().key <= time) {
      now_ = std::max(now_, ends_.top().key);
      complete(ends_.top().item, scheduler, sink);
    }
  }

  template <class Scheduler, class Sink>
  void complete(JobSlot slot, Scheduler& scheduler, Sink& sink) {
    ActiveJob& job = jobs_[slot];
    const double end = job.end_s;
    ends_.erase(slot);
    job.settle(end);
    job.remaining_work = 0.0;
    close_interval(job, job.placement, job.last_start_s, end, sink);
    company_.leave(slot, job.placement);
    stop(slot);
    depart(slot, end, scheduler, sink);
  }

  template <class Scheduler, class Sink>
  void depart(JobSlot slot, double end, Scheduler& scheduler, Sink& sink) {
    ++run_.finished;
    ++run_.job_events;
    report(slot, end, true, false, sink);
    scheduler.leave(static_cast<Dispatch&>(*this), slot);
    const std::int64_t id = jobs_[slot].job.id;
    free_slots_.push_back(slot);
    if (!config_.dependencies) return;
    dependencies_.release(id, [&](JobSlot dependent) { enter(dependent, scheduler); });
  }

  // --- decisions

  template <class Scheduler, class Sink>
  void decide(Scheduler& scheduler, Sink& sink) {
    if constexpr (Overhead::kChargesDecisions) charge_running();
    ++run_.decisions;
    wake_ = kNever;
    scheduler.decide(static_cast<Dispatch&>(*this));
    for (const JobSlot slot : touched_) commit(slot, scheduler, sink);
    touched_.clear();
    for (const JobSlot slot : rejected_) {
      if (jobs_[slot].running) continue;  // started after all
      --waiting_;
      ++run_.rejected;
      report(slot, now_, false, true, sink);
      scheduler.leave(static_cast<Dispatch&>(*this), slot);
      free_slots_.push_back(slot);
    }
    rejected_.clear();
    if constexpr (kTracksNodes) update_rates();
    if constexpr (Overhead::kChargesDecisions)
      for (const JobSlot slot : running_) schedule_end(slot);
  }

  void charge_running() noexcept {
    for (const JobSlot slot : running_) {
      ActiveJob& job = jobs_[slot];
      const double elapsed = now_ - job.since_s;
      const double working = std::max(0.0, elapsed - job.overhead_left_s);
      const double lost = std::min(working, static_cast<double>(overhead_.decision_loss_s(job.job)));
      const double remaining = job.remaining_work;
      job.settle(now_);
      job.remaining_work = std::max(0.0, remaining - (working - lost) * job.rate);
      job.overhead_paid_s += lost;
    }
  }

  template <class Scheduler, class Sink>
  void commit(JobSlot slot, Scheduler& scheduler, Sink& sink) {
    ActiveJob& job = jobs_[slot];
    Place& place = places_[slot];
    place.touched = false;
    if (place.was_running && job.running && place.before == job.placement) return;
    double cost = 0.0;
    if (place.was_running) {
      close_interval(job, place.before, place.progress.last_start_s, now_, sink);
      company_.leave(slot, place.before);
      if (!job.running) {
        ends_.erase(slot);
        // The work is done, but for rounding, and a decision at the same time came first.
        if (job.end_s <= now_ + 1e-12 * (1.0 + now_)) {
          depart(slot, now_, scheduler, sink);
          return;
        }
        ++job.preemptions;
        ++run_.job_events;
        job.overhead_left_s = 0.0;
        job.end_s = kNever;
        ++waiting_;
        return;
      }
      ++job.migrations;
      cost = overhead_.migrate_s(job.job, place.before, job.placement);
    } else {
      if (!job.running) return;  // started and given up again
      cost = job.started ? overhead_.resume_s(job.job, job.placement)
                         : overhead_.start_s(job.job, job.placement);
      --waiting_;
      if (!job.started) {
        job.started = true;
        job.first_start_s = now_;
      }
    }
    ++run_.job_events;
    job.overhead_left_s = cost;
    job.rate = rate_of(job);
    company_.enter(slot, job.placement);
    schedule_end(slot);
  }

  double rate_of(const ActiveJob& job) const noexcept {
    return base_rate(*platform_, job.job, job.placement) *
           network_.factor(*platform_, job.job, job.placement);
  }

  // --- nodes

  // Jobs on nodes whose company has changed go on at another rate.
  void update_rates() {
    for (const JobSlot slot : company_.affected()) {
      ActiveJob& job = jobs_[slot];
      double factor = kNever;
      for (const NodeShare& share : job.placement.shares) {
        neighbours_.clear();
        for (const JobSlot other : company_.on(share.node))
          if (other != slot) neighbours_.push_back(&jobs_[other]);
        factor = std::min(
            factor, static_cast<double>(interference_.factor(*platform_, job, share.node, neighbours_)));
      }
      const double rate = rate_of(job) * (factor < kNever ? factor : 1.0);
      if (rate == job.rate) continue;
      job.settle(now_);
      job.rate = rate;
      schedule_end(slot);
    }
  }

  template <class Scheduler, class Sink>
  void change_nodes(double time, Scheduler& scheduler, Sink& sink) {
    for (; !outages_.empty() && outages_.front().time <= time; outages_.pop()) {
      const OutageSchedule::Event& event = outages_.front();
      if (!event.repair) {
        const auto on_it = company_.on(event.outage.node);
        const std::vector<JobSlot> victims(on_it.begin(), on_it.end());
        for (const JobSlot slot : victims) evict(slot, event.outage.kind, scheduler, sink);
      }
      free_.set_up(event.outage.node, event.repair);
    }
  }

  template <class Scheduler, class Sink>
  void evict(JobSlot slot, Outage::Kind kind, Scheduler& scheduler, Sink& sink) {
    ActiveJob& job = jobs_[slot];
    job.settle(now_);
    close_interval(job, job.placement, job.last_start_s, now_, sink);
    company_.leave(slot, job.placement);
    stop(slot);
    job.placement.clear();
    ends_.erase(slot);
    job.end_s = kNever;
    job.overhead_left_s = 0.0;
    ++run_.job_events;
    if (kind == Outage::Kind::kMaintenance) {
      ++job.preemptions;
    } else {
      ++job.failures;
      if (config_.checkpoint_interval_s > 0.0) {
        lost_s_[slot] += job.fall_back(config_.checkpoint_interval_s);
      }
    }
    ++waiting_;
    scheduler.enter(static_cast<Dispatch&>(*this), slot);
  }

  Overhead overhead_;
  Interference interference_;
  Network network_;
  std::vector<const ActiveJob*> neighbours_;
};

}  // namespace mara
