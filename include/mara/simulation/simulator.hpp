#pragma once
// Deterministic event-driven simulation of jobs on a heterogeneous cluster.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mara/cluster/allocation.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/decision.hpp"
#include "mara/simulation/records.hpp"
#include "mara/simulation/simulation_state.hpp"
#include "mara/simulation/validation.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// The engine. Loop: while (next_decision()) { fill allocation(); commit(); }
///
/// Event order at equal times: completions, then arrivals (input order), then one decision. Between decisions
/// nobody gets what a completion freed. While a job pays a start cost it holds its GPUs and does no work. A
/// grant equal to the held one runs on; any other costs restart_s, whole, even when an earlier cost had not
/// been paid off; the very first costs start_s. A completion comes at grant time + cost + remaining work /
/// rate and not a moment later, whatever the ticks.
///
/// Cost: O(active jobs) for each decision; after the first few decisions nothing is allocated beyond growth
/// of the active list and of the interval log. Copies are independent simulations that share the job list.
class Simulator : private detail::SimulationState {
 public:
  /// Jobs are sorted stably by submit time. Errors: those of check_simulation, naming the job id and the
  /// field.
  static Result<Simulator> create(Cluster cluster, std::vector<Job> jobs, SimulationConfig config);

  Simulator(const Simulator& other) : SimulationState(other), view_(other.view_) { view_.active = active_; }
  Simulator& operator=(const Simulator& other) {
    if (this != &other) *this = Simulator(other);
    return *this;
  }
  Simulator(Simulator&&) = default;
  Simulator& operator=(Simulator&&) = default;
  ~Simulator() = default;

  /// Advances to the next decision point at which at least one job is active (with fixed_interval also to
  /// ticks with none, from the first submit time on). False when all jobs are done, the horizon is reached,
  /// or the run has stalled; for ever after too. Without a commit() since the last decision the running
  /// allocation goes on.
  bool next_decision();
  /// The state at the present decision.
  const DecisionView& view() const noexcept { return view_; }
  /// Empty ledger for the present decision.
  Allocation& allocation() noexcept { return ledger_; }
  /// Makes the ledger's claims the running allocation until the next decision; no effect when no decision is
  /// open. A claim that its job could not run under (see accepts), or made with a demand other than the job's
  /// own, is dropped as if not made and counted in refused_grants().
  void commit();

  double now_s() const noexcept { return now_; }
  const Cluster& cluster() const noexcept { return setup_->cluster; }
  const SimulationConfig& config() const noexcept { return setup_->config; }
  std::span<const Job> jobs() const noexcept { return setup_->jobs; }       ///< sorted
  std::span<const JobRecord> records() const noexcept { return records_; }  ///< by index into jobs()
  /// When recorded: in the order in which they ended, none of length zero. Complete when next_decision() has
  /// said false.
  std::span<const GrantInterval> intervals() const noexcept { return intervals_; }
  /// Resources held so far, in grants that have ended; complete when next_decision() has said false.
  const ResourceUse& use() const noexcept { return use_; }
  std::int64_t refused_grants() const noexcept { return refused_grants_; }
  /// Whether the run ended with unfinished jobs because nothing could happen any more: no job held a grant,
  /// no arrival and no tick was to come; or, with ticks, because of SimulationConfig::stall_ticks.
  bool stalled() const noexcept { return stalled_; }
  /// Everything about the run up to now; decision_us is left empty.
  SimulationResult result() const;

 private:
  explicit Simulator(std::shared_ptr<const detail::SimulationSetup> shared);

  static double tick_from(double tick_s, double time, bool after);
  double next_point() const noexcept;
  bool finish(double time);

  DecisionView view_{};
};

inline Simulator::Simulator(std::shared_ptr<const detail::SimulationSetup> shared)
    : SimulationState{.setup_ = shared,
                      .records_ = std::vector<JobRecord>(shared->jobs.size()),
                      .intervals_ = {},
                      .active_ = {},
                      .stretches_ = {},
                      .ledger_ = Allocation(shared->cluster)} {
  view_.cluster = &setup_->cluster;
  view_.jobs = setup_->jobs;
  view_.overheads = setup_->config.overheads;
  if (setup_->config.fixed_interval && !setup_->jobs.empty())
    tick_ = tick_from(setup_->config.tick_s, setup_->jobs.front().submit_s, false);
}

inline Result<Simulator> Simulator::create(Cluster cluster, std::vector<Job> jobs, SimulationConfig config) {
  if (auto status = check_simulation(cluster, jobs, config); !status) return status.error();
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.submit_s < b.submit_s; });
  return Simulator(std::make_shared<const detail::SimulationSetup>(
      detail::SimulationSetup{std::move(cluster), std::move(jobs), config}));
}

// Index k of the first tick with k * tick_s >= time (> time when `after`). The product is what the clock will
// show, so it decides, not the quotient.
inline double Simulator::tick_from(double tick_s, double time, bool after) {
  double k = std::max(0.0, std::floor(time / tick_s) - 1.0);
  while (after ? k * tick_s <= time : k * tick_s < time) {
    if (k + 1.0 == k) return detail::kNever;  // past 2^53 ticks are not to be told apart
    k += 1.0;
  }
  return k;
}

inline double Simulator::next_point() const noexcept {
  const SimulationConfig& config = setup_->config;
  if (config.fixed_interval) return tick_ * config.tick_s;
  double time = std::min(next_end_, next_submit());
  if (config.tick_s > 0.0 && !active_.empty())
    time = std::min(time, tick_from(config.tick_s, now_, true) * config.tick_s);
  return time;
}

inline bool Simulator::next_decision() {
  const SimulationConfig& config = setup_->config;
  if (done_) return false;
  open_ = false;
  for (;;) {
    if (exhausted()) return finish(std::max(now_, last_end_));
    const double time = next_point();
    if (!(time < config.horizon_s)) {
      if (config.horizon_s == detail::kNever) {
        stalled_ = true;
        return finish(now_);
      }
      complete_until(config.horizon_s);
      return finish(exhausted() ? last_end_ : config.horizon_s);
    }
    const std::size_t before = active_.size();
    complete_until(time);
    if (exhausted()) return finish(last_end_);
    bool happened = active_.size() != before || arrived_ < setup_->jobs.size();
    admit_until(time);
    now_ = time;
    if (config.fixed_interval) tick_ += 1.0;
    if (active_.empty() && !config.fixed_interval) continue;
    happened = refresh() || happened;
    idle_decisions_ = happened ? 0 : idle_decisions_ + 1;
    if (config.tick_s > 0.0 && idle_decisions_ >= config.stall_ticks) {
      stalled_ = true;
      return finish(time);
    }
    ledger_.reset(active_.size());
    view_.now_s = time;
    view_.active = active_;
    open_ = true;
    return true;
  }
}

inline void Simulator::commit() {
  if (!open_) return;
  open_ = false;
  const double now = now_;
  next_end_ = detail::kNever;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    JobState& state = active_[i];
    detail::Stretch& stretch = stretches_[i];
    const Job& job = setup_->jobs[state.job];
    Grant grant = ledger_.grant(i);
    // What it holds it was found able to use before.
    const bool usable = (grant == state.held || accepts(job, grant)) && ledger_.demand(i) == job.demand;
    if (!grant.empty() && !usable) {
      ++refused_grants_;
      grant = Grant{};
    }
    if (grant != state.held) {
      JobRecord& record = records_[state.job];
      if (!state.held.empty()) {
        close_stretch(i, now);
        ++state.restarts;
        ++record.restarts;
      }
      stretch = {
          .since_s = now, .remaining_work = state.remaining_work, .attained_gpu_s = state.attained_gpu_s};
      state.held = grant;
      state.overhead_left_s = 0.0;
      if (!grant.empty()) {
        const Overheads& cost = setup_->config.overheads;
        stretch.overhead_s = state.started ? cost.restart_s : cost.start_s;
        stretch.rate = job.rate(grant);
        stretch.end_s = now + stretch.overhead_s + stretch.remaining_work / stretch.rate;
        state.overhead_left_s = stretch.overhead_s;
        record.last_grant = grant;
        if (!state.started) {
          state.started = record.started = true;
          state.first_start_s = record.start_s = now;
        }
      }
    }
    next_end_ = std::min(next_end_, stretch.end_s);
  }
}

// Ends the run: what is still held is booked up to `time`.
inline bool Simulator::finish(double time) {
  now_ = time;
  refresh();
  for (std::size_t i = 0; i < active_.size(); ++i)
    if (!active_[i].held.empty()) close_stretch(i, time);
  view_.now_s = time;
  view_.active = active_;
  done_ = true;
  return false;
}

inline SimulationResult Simulator::result() const {
  SimulationResult result;
  result.jobs = setup_->jobs;
  result.records = records_;
  result.intervals = intervals_;
  result.end_s = now_;
  result.use = use_;
  result.refused_grants = refused_grants_;
  result.stalled = stalled_;
  return result;
}

}  // namespace mara
