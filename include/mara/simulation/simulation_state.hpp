#pragma once
// The variables of a running simulation.

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
  double end_s = std::numeric_limits<double>::infinity();  // completion if nothing changes
};

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
  double next_end_ = std::numeric_limits<double>::infinity();  // earliest of the stretches
  double tick_ = 0.0;                                          // fixed_interval: index of the next tick
  std::int64_t idle_decisions_ = 0, refused_grants_ = 0;
  bool open_ = false;  // a decision has been announced and not committed
  bool done_ = false, stalled_ = false;
};

}  // namespace detail
}  // namespace mara
