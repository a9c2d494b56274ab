#pragma once
// The variables of a running simulation.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "mara/cluster/allocation.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/simulation/records.hpp"
#include "mara/workload/job.hpp"

namespace mara {
namespace detail {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// What a simulation is about; shared by copies of a simulator, so that views stay valid when one moves.
struct SimulationSetup {
  Cluster cluster;
  std::vector<Job> jobs;
  SimulationConfig config;
};

/// The present grant of an active job. The job's state at any later time follows from these alone, in one
/// step, so that rounding does not grow with the number of decisions.
struct Stretch {
  double since_s = 0.0;
  double remaining_work = 0.0;  // at since_s, as the next two
  double overhead_s = 0.0;
  double attained_gpu_s = 0.0;
  double rate = 0.0;
  double end_s = kNever;  // completion if nothing changes
};

/// All that changes while a simulation runs, and how it moves in time. Simulator decides where to.
struct SimulationState {
  std::shared_ptr<const SimulationSetup> setup_;
  std::vector<JobRecord> records_;
  std::vector<GrantInterval> intervals_;
  std::vector<JobState> active_;
  std::vector<Stretch> stretches_;  // parallel to active_
  Allocation ledger_;
  ResourceUse use_{};
  std::size_t arrived_ = 0;  // jobs before this index have entered
  double now_ = 0.0, last_end_ = 0.0;
  double next_end_ = kNever;  // earliest of the stretches
  double tick_ = 0.0;         // fixed_interval: index of the next tick
  std::int64_t idle_decisions_ = 0, refused_grants_ = 0;
  bool open_ = false;  // a decision has been announced and not committed
  bool done_ = false, stalled_ = false;

  double next_submit() const noexcept {
    return arrived_ < setup_->jobs.size() ? setup_->jobs[arrived_].submit_s : kNever;
  }
  /// Whether no job is in the system and none will come.
  bool exhausted() const noexcept { return active_.empty() && arrived_ == setup_->jobs.size(); }

  /// Brings the active states up to now; says whether any job has worked since the last time.
  bool refresh() noexcept {
    bool worked = false;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      JobState& state = active_[i];
      if (state.held.empty()) continue;
      const detail::Stretch& stretch = stretches_[i];
      const double elapsed = now_ - stretch.since_s;
      const double working = std::max(0.0, elapsed - stretch.overhead_s);
      const double remaining = std::max(0.0, stretch.remaining_work - working * stretch.rate);
      worked = worked || remaining < state.remaining_work;
      state.remaining_work = remaining;
      state.overhead_left_s = std::max(0.0, stretch.overhead_s - elapsed);
      state.attained_gpu_s = stretch.attained_gpu_s + elapsed * state.held.gpus.as_double();
    }
    return worked;
  }

  /// Books what job i held from the beginning of its stretch to `time`.
  void close_stretch(std::size_t i, double time) {
    JobState& state = active_[i];
    const detail::Stretch& stretch = stretches_[i];
    const Demand& demand = setup_->jobs[state.job].demand;
    const double elapsed = time - stretch.since_s;
    const double gpu_s = elapsed * state.held.gpus.as_double();
    state.attained_gpu_s = stretch.attained_gpu_s + gpu_s;
    records_[state.job].gpu_s = state.attained_gpu_s;
    use_.gpu_s[static_cast<std::size_t>(state.held.type)] += gpu_s;
    use_.cpu_s += elapsed * demand.cpu.as_double();
    use_.memory_mib_s += elapsed * static_cast<double>(demand.memory_mib);
    if (setup_->config.record_intervals && time > stretch.since_s)
      intervals_.push_back({state.job, state.held, stretch.since_s, time});
  }

  /// Takes out the jobs that end at or before `time`, each at its own time, and keeps the order of the
  /// others.
  void complete_until(double time) {
    if (next_end_ > time) return;
    next_end_ = kNever;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const double end = stretches_[i].end_s;
      if (end <= time) {
        close_stretch(i, end);
        JobRecord& record = records_[active_[i].job];
        record.finished = true;
        record.end_s = end;
        last_end_ = std::max(last_end_, end);
      } else {
        next_end_ = std::min(next_end_, end);
        if (kept != i) {
          active_[kept] = active_[i];
          stretches_[kept] = stretches_[i];
        }
        ++kept;
      }
    }
    active_.resize(kept);
    stretches_.resize(kept);
  }

  /// Lets in the jobs submitted at or before `time`.
  void admit_until(double time) {
    while (next_submit() <= time) {
      const Job& job = setup_->jobs[arrived_];
      JobState state;
      state.job = static_cast<std::uint32_t>(arrived_++);
      state.remaining_work = job.work;
      active_.push_back(state);
      stretches_.push_back({.since_s = time, .remaining_work = job.work});
    }
  }
};

}  // namespace detail
}  // namespace mara
