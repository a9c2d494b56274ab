#pragma once
// What goes into a simulation besides jobs, and what it writes down.

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "mara/core/resource.hpp"
#include "mara/simulation/decision.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// How a simulation runs. Times in seconds.
struct SimulationConfig {
  Overheads overheads{};
  /// 0: decide at every arrival and completion only. > 0: decide also (or, with fixed_interval, only) at
  /// multiples of it.
  double tick_s = 0.0;
  /// Decide only at multiples of tick_s (the view for learning agents); completions still have their real
  /// times.
  bool fixed_interval = false;
  /// Stop at this time; jobs that have not finished are counted as such. A completion exactly then still
  /// counts.
  double horizon_s = std::numeric_limits<double>::infinity();
  bool record_intervals = false;  ///< keep who ran where and when (Gantt, utilisation over time)
  /// With ticks: the run counts as stalled after this many decisions in a row, all jobs having arrived, in
  /// which no job did any work.
  std::int64_t stall_ticks = 1'000'000;
};

/// What became of one job.
struct JobRecord {
  bool started = false, finished = false;
  double start_s = 0.0, end_s = 0.0;  ///< first start; real completion time
  Grant last_grant{};
  int restarts = 0;    ///< times a grant was taken away or changed
  double gpu_s = 0.0;  ///< GPU-seconds held, all types, start costs included; exact once a grant has ended
};

/// A stretch of time in which a job held one grant. Decisions that leave a grant as it is do not cut it.
struct GrantInterval {
  std::uint32_t job = 0;
  Grant grant{};
  double start_s = 0.0, end_s = 0.0;

  friend bool operator==(const GrantInterval&, const GrantInterval&) noexcept = default;
};

/// Resources held over time, start costs included.
struct ResourceUse {
  std::array<double, kMaxGpuTypes> gpu_s{};  ///< GPU-seconds per GPU type
  double cpu_s = 0.0;                        ///< core-seconds
  double memory_mib_s = 0.0;                 ///< MiB-seconds of host memory
};

/// What a whole run gives.
struct SimulationResult {
  std::vector<Job> jobs;  ///< in simulation order
  std::vector<JobRecord> records;
  std::vector<GrantInterval> intervals;
  std::vector<double> decision_us;  ///< wall time of each decide() call, microseconds
  double end_s = 0.0;               ///< the last completion, or the horizon when jobs are unfinished
  ResourceUse use{};
  std::int64_t refused_grants = 0;  ///< claims that were dropped, see Simulator::commit
  bool stalled = false;             ///< ended because nothing could happen any more
};

}  // namespace mara
