#pragma once
// Deterministic event-driven simulation of jobs on a heterogeneous cluster.

#include <limits>
#include <span>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

struct SimulationConfig {
  Overheads overheads{};
  /// 0: decide at every arrival and completion only. > 0: decide also (or, with fixed_interval, only) at multiples of it.
  double tick_s = 0.0;
  /// Decide only at multiples of tick_s (the view for learning agents); completions still have their real times.
  bool fixed_interval = false;
  /// Stop at this time; jobs that have not finished are counted as such.
  double horizon_s = std::numeric_limits<double>::infinity();
  bool record_intervals = false;  ///< keep who ran where and when (Gantt, utilisation over time)
};

/// What became of one job.
struct JobRecord {
  bool started = false, finished = false;
  double start_s = 0.0, end_s = 0.0;  ///< first start; real completion time
  Grant last_grant{};
  int restarts = 0;
  double gpu_s = 0.0;  ///< GPU-seconds held, all types
};

/// A stretch of time in which a job held one grant.
struct Interval {
  std::uint32_t job = 0;
  Grant grant{};
  double start_s = 0.0, end_s = 0.0;
};

/// The engine. Loop: while (next_decision()) { fill allocation(); commit(); }
/// Event order at equal times: completions, then arrivals (input order), then one decision.
class Simulator {
 public:
  /// Jobs are sorted stably by submit time. Errors (naming the job id and the field): negative, NaN or infinite
  /// times or work; a job that no type of the cluster could ever hold at its requested size (kCapacityExceeded).
  static Result<Simulator> create(Cluster cluster, std::vector<Job> jobs, SimulationConfig config);

  /// Advances to the next decision point at which at least one job is active (with fixed_interval also to ticks with
  /// none). False when all jobs are done, or the horizon is reached.
  bool next_decision();
  const DecisionView& view() const noexcept;
  /// Empty ledger for the present decision.
  Allocation& allocation() noexcept;
  /// Makes the ledger's claims the running allocation until the next decision.
  void commit();

  double now_s() const noexcept;
  const Cluster& cluster() const noexcept;
  std::span<const Job> jobs() const noexcept;            ///< sorted
  std::span<const JobRecord> records() const noexcept;   ///< by index into jobs()
  std::span<const Interval> intervals() const noexcept;  ///< when recorded
};

/// What a whole run gives.
struct SimulationResult {
  std::vector<Job> jobs;  ///< in simulation order
  std::vector<JobRecord> records;
  std::vector<Interval> intervals;
  std::vector<double> decision_us;  ///< wall time of each decide() call, microseconds
  double end_s = 0.0;
};

/// Runs `scheduler` over `jobs` to the end (or the horizon).
template <Scheduler S>
Result<SimulationResult> simulate(const Cluster& cluster, std::vector<Job> jobs, S& scheduler, const SimulationConfig& config);

}  // namespace mara
