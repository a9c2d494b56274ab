#pragma once
// Event-driven simulation of jobs on the nodes and devices of a platform.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mara/core/indexed_heap.hpp"
#include "mara/simulation/dispatch.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/simulation/platform_records.hpp"

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
class PlatformSimulator : private Dispatch {
 public:
  /// The platform must pass check_platform and outlive the simulator; the configuration must pass
  /// check_config.
  PlatformSimulator(const Platform& platform, PlatformConfig config, Overhead overhead = {},
                    Interference interference = {}, Network network = {})
      : Dispatch(platform),
        config_(std::move(config)),
        overhead_(std::move(overhead)),
        interference_(std::move(interference)),
        network_(std::move(network)) {
    for (const Outage& outage : config_.outages) {
      outages_.push_back({outage.from_s, false, outage});
      outages_.push_back({outage.to_s, true, outage});
    }
    // Repairs first, so that two outages that touch leave the node down.
    std::sort(outages_.begin(), outages_.end(), [](const OutageEvent& a, const OutageEvent& b) {
      if (a.time != b.time) return a.time < b.time;
      if (a.repair != b.repair) return a.repair;
      return a.outage.node < b.outage.node;
    });
    on_node_.resize(kTracksNodes || !outages_.empty() ? platform.nodes.size() : 0);
    dirty_.resize(kTracksNodes ? platform.nodes.size() : 0);
  }

  /// Runs everything that `source` submits. A simulator runs once.
  template <JobSource Source, PlatformScheduler Scheduler, SimulationSink Sink>
  PlatformRun run(Source& source, Scheduler& scheduler, Sink& sink) {
    have_next_ = source.next(next_);
    if (have_next_) run_.first_submit_s = next_.job.submit_s;
    for (;;) {
      const double time = next_event();
      if (!(time < config_.horizon_s)) {
        if (config_.horizon_s < kNever) {
          complete_until(config_.horizon_s, scheduler, sink);
          now_ = config_.horizon_s;
        } else {
          run_.stalled = waiting_ > 0 || !pending_.empty();
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
      if (config_.fixed_interval && !tick) continue;
      if (running_.empty() && waiting_ == 0) {
        wake_ = kNever;
        continue;
      }
      decide(scheduler, sink);
      idle_ticks_ = run_.job_events != before || !running_.empty() ? 0 : idle_ticks_ + 1;
      if (idle_ticks_ >= config_.stall_ticks && !have_next_) {
        run_.stalled = true;
        break;
      }
    }
    finish(sink);
    return run_;
  }

 private:
  static constexpr bool kTracksNodes = !Interference::kNone;

  struct OutageEvent {
    double time;
    bool repair;
    Outage outage;
  };

  double tick_time() const noexcept { return tick_ * config_.tick_s; }

  double next_event() {
    double time = ends_.empty() ? kNever : ends_.top().key;
    if (have_next_) time = std::min(time, next_.job.submit_s);
    if (!config_.fixed_interval) time = std::min(time, wake_);
    const bool alive = have_next_ || !running_.empty() || waiting_ > 0;
    if (alive && outage_ < outages_.size()) time = std::min(time, std::max(now_, outages_[outage_].time));
    if (config_.tick_s > 0.0 && alive) {
      // Nobody needs the ticks of an empty system.
      if (running_.empty() && waiting_ == 0) tick_ = std::max(tick_, std::ceil(time / config_.tick_s));
      time = std::min(time, tick_time());
    }
    return time;
  }

  // --- jobs come and go

  template <class Source, class Scheduler>
  void admit(Source& source, Scheduler& scheduler) {
    const JobSlot slot = new_slot();
    ActiveJob& job = jobs_[slot];
    job.job = next_.job;
    job.sequence = run_.submitted++;
    job.remaining_work = job.job.work;
    job.demand = demand_of(*platform_, job.job);
    job.demand_class = demand_class(job.demand);
    ++run_.job_events;
    std::size_t missing = 0;
    if (config_.dependencies)
      for (const std::int64_t id : next_.after)
        if (!finished_.contains(id)) {
          pending_[id].push_back(slot);
          ++missing;
        }
    missing_[slot] = missing;
    if (missing == 0) enter(slot, scheduler);
    have_next_ = source.next(next_);
  }

  template <class Scheduler>
  void enter(JobSlot slot, Scheduler& scheduler) {
    jobs_[slot].entered_s = jobs_[slot].since_s = now_;
    ++waiting_;
    scheduler.enter(static_cast<Dispatch&>(*this), slot);
  }

  JobSlot new_slot() {
    if (free_slots_.empty()) {
      jobs_.emplace_back();
      places_.emplace_back();
      missing_.push_back(0);
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
    leave_nodes(slot, job.placement);
    stop(slot);
    ++run_.finished;
    ++run_.job_events;
    report(slot, end, true, false, sink);
    scheduler.leave(static_cast<Dispatch&>(*this), slot);
    const std::int64_t id = job.job.id;
    free_slots_.push_back(slot);
    if (!config_.dependencies) return;
    finished_.insert(id);
    const auto dependents = pending_.find(id);
    if (dependents == pending_.end()) return;
    const std::vector<JobSlot> slots = std::move(dependents->second);
    pending_.erase(dependents);
    for (const JobSlot dependent : slots)
      if (--missing_[dependent] == 0) enter(dependent, scheduler);
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
    sink.job(outcome);
  }

  // --- progress

  template <class Sink>
  void close_interval(const ActiveJob& job, const Placement& placement, double from, double to, Sink& sink) {
    if (to > from) sink.interval(PlacedInterval{&job.job, job.sequence, &placement, from, to});
  }

  void schedule_end(JobSlot slot) {
    ActiveJob& job = jobs_[slot];
    job.end_s = job.since_s + job.overhead_left_s + job.remaining_work / job.rate;
    ends_.set(slot, job.end_s, job.sequence);
  }

  // --- decisions

  template <class Scheduler, class Sink>
  void decide(Scheduler& scheduler, Sink& sink) {
    if constexpr (Overhead::kChargesDecisions) charge_running();
    ++run_.decisions;
    wake_ = kNever;
    scheduler.decide(static_cast<Dispatch&>(*this));
    for (const JobSlot slot : touched_) commit(slot, sink);
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
      const double lost = std::min(elapsed, static_cast<double>(overhead_.decision_loss_s(job.job)));
      const double remaining = job.remaining_work;
      job.settle(now_);
      job.remaining_work = std::max(0.0, remaining - (elapsed - lost) * job.rate);
      job.overhead_paid_s += lost;
    }
  }

  template <class Sink>
  void commit(JobSlot slot, Sink& sink) {
    ActiveJob& job = jobs_[slot];
    Place& place = places_[slot];
    place.touched = false;
    if (place.was_running && job.running && place.before == job.placement) return;
    double cost = 0.0;
    if (place.was_running) {
      close_interval(job, place.before, place.progress.last_start_s, now_, sink);
      leave_nodes(slot, place.before);
      if (!job.running) {
        ++job.preemptions;
        ++run_.job_events;
        job.overhead_left_s = 0.0;
        job.end_s = kNever;
        ends_.erase(slot);
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
    enter_nodes(slot);
    schedule_end(slot);
  }

  double rate_of(const ActiveJob& job) const noexcept {
    return base_rate(*platform_, job.job, job.placement) *
           network_.factor(*platform_, job.job, job.placement);
  }

  // --- nodes

  void enter_nodes(JobSlot slot) {
    if (on_node_.empty()) return;
    for (const NodeShare& share : jobs_[slot].placement.shares) {
      on_node_[share.node].push_back(slot);
      mark(share.node);
    }
  }
  void leave_nodes(JobSlot slot, const Placement& placement) {
    if (on_node_.empty()) return;
    for (const NodeShare& share : placement.shares) {
      std::erase(on_node_[share.node], slot);
      mark(share.node);
    }
  }
  void mark(std::uint32_t node) {
    if constexpr (kTracksNodes) {
      if (dirty_[node]) return;
      dirty_[node] = true;
      dirty_nodes_.push_back(node);
    }
  }

  // Jobs on nodes whose company has changed go on at another rate.
  void update_rates() {
    affected_.clear();
    for (const std::uint32_t node : dirty_nodes_) {
      dirty_[node] = false;
      affected_.insert(affected_.end(), on_node_[node].begin(), on_node_[node].end());
    }
    dirty_nodes_.clear();
    std::sort(affected_.begin(), affected_.end());
    affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
    for (const JobSlot slot : affected_) {
      ActiveJob& job = jobs_[slot];
      double factor = 1.0;
      for (const NodeShare& share : job.placement.shares) {
        neighbours_.clear();
        for (const JobSlot other : on_node_[share.node])
          if (other != slot) neighbours_.push_back(&jobs_[other]);
        factor = std::min(
            factor, static_cast<double>(interference_.factor(*platform_, job, share.node, neighbours_)));
      }
      const double rate = rate_of(job) * factor;
      if (rate == job.rate) continue;
      job.settle(now_);
      job.rate = rate;
      schedule_end(slot);
    }
  }

  template <class Scheduler, class Sink>
  void change_nodes(double time, Scheduler& scheduler, Sink& sink) {
    for (; outage_ < outages_.size() && outages_[outage_].time <= time; ++outage_) {
      const OutageEvent& event = outages_[outage_];
      const std::uint32_t node = event.outage.node;
      if (!event.repair) {
        const std::vector<JobSlot> victims = on_node_[node];
        for (const JobSlot slot : victims) evict(slot, event.outage.kind, scheduler, sink);
      }
      free_.set_up(node, event.repair);
    }
  }

  template <class Scheduler, class Sink>
  void evict(JobSlot slot, Outage::Kind kind, Scheduler& scheduler, Sink& sink) {
    ActiveJob& job = jobs_[slot];
    job.settle(now_);
    close_interval(job, job.placement, job.last_start_s, now_, sink);
    leave_nodes(slot, job.placement);
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
        const double since = job.executed_s - job.executed_before_s;
        const double lost = std::fmod(since, config_.checkpoint_interval_s);
        lost_s_[slot] += lost;
        job.remaining_work = std::min(job.job.work, job.remaining_work + lost * job.rate);
      }
    }
    ++waiting_;
    scheduler.enter(static_cast<Dispatch&>(*this), slot);
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
  Overhead overhead_;
  Interference interference_;
  Network network_;
  PlatformRun run_;
  Submission next_;
  bool have_next_ = false;
  IndexedHeap ends_;
  std::vector<JobSlot> free_slots_;
  std::vector<std::size_t> missing_;  // dependencies a submitted job still waits for, by slot
  std::vector<double> lost_s_;        // by slot
  std::size_t waiting_ = 0;           // jobs in the queue
  std::set<std::int64_t> finished_;
  std::map<std::int64_t, std::vector<JobSlot>> pending_;
  std::vector<OutageEvent> outages_;
  std::size_t outage_ = 0;
  std::vector<std::vector<JobSlot>> on_node_;
  std::vector<char> dirty_;
  std::vector<std::uint32_t> dirty_nodes_;
  std::vector<JobSlot> affected_;
  std::vector<const ActiveJob*> neighbours_;
  double tick_ = 0.0;
  std::int64_t idle_ticks_ = 0;
};

}  // namespace mara
