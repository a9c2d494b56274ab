#pragma once
// What a scheduler sees and how it answers: the one interface of rules, expert and learnt actors.

#include <concepts>
#include <span>
#include <string_view>

#include "mara/cluster/allocation.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Costs of starting and moving, seconds.
struct Overheads {
  double start_s = 30.0;    ///< first start
  double restart_s = 90.0;  ///< any later change of a grant: resize, move, resume after preemption
};

/// The state of the system at a decision point. Valid during the decision only.
struct DecisionView {
  double now_s = 0.0;
  const Cluster* cluster = nullptr;
  std::span<const Job> jobs;         ///< all jobs of the run
  std::span<const JobState> active;  ///< jobs in the system, in order of (submit time, input index)
  Overheads overheads{};

  const Job& job(std::size_t agent) const noexcept { return jobs[active[agent].job]; }
};

/// A scheduler decides the whole allocation at each decision point: `allocation` arrives empty with
/// active.size() agents; what the scheduler claims is what the jobs hold until the next decision. A job whose
/// grant is unchanged runs on without cost; one that claims nothing is preempted.
template <class S>
concept Scheduler = requires(S scheduler, const DecisionView& view, Allocation& allocation) {
  { scheduler.name() } -> std::convertible_to<std::string_view>;
  { scheduler.decide(view, allocation) } -> std::same_as<void>;
};

}  // namespace mara
