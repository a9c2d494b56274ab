#pragma once
// Policies of a platform simulation: what starting and moving costs, what neighbours and distance cost.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// What starting, resuming and moving costs a job, in seconds that it holds its devices without working; and
/// what each decision costs every running job.
template <class M>
concept OverheadModel = requires(const M& model, const Job& job, const Placement& placement) {
  { model.start_s(job, placement) } -> std::convertible_to<double>;   // the first start
  { model.resume_s(job, placement) } -> std::convertible_to<double>;  // after a preemption
  {
    model.migrate_s(job, placement, placement)
    } -> std::convertible_to<double>;  // moved or resized, old and new
  { M::kChargesDecisions } -> std::convertible_to<bool>;
  // With kChargesDecisions: seconds of its last stretch of progress that a running job loses at each
  // decision, whether it is preempted or not.
  { model.decision_loss_s(job) } -> std::convertible_to<double>;
};

/// Nothing costs anything.
struct NoOverhead {
  static constexpr bool kChargesDecisions = false;
  double start_s(const Job&, const Placement&) const noexcept { return 0.0; }
  double resume_s(const Job&, const Placement&) const noexcept { return 0.0; }
  double migrate_s(const Job&, const Placement&, const Placement&) const noexcept { return 0.0; }
  double decision_loss_s(const Job&) const noexcept { return 0.0; }
};

/// The same costs for every job. `decision_s`: the time a decision takes before it comes into effect; every
/// start, resumption and move waits for it.
struct FixedOverhead {
  double start = 0.0, resume = 0.0, migrate = 0.0, decision_s = 0.0;

  static constexpr bool kChargesDecisions = false;
  double start_s(const Job&, const Placement&) const noexcept { return decision_s + start; }
  double resume_s(const Job&, const Placement&) const noexcept { return decision_s + resume; }
  double migrate_s(const Job&, const Placement&, const Placement&) const noexcept {
    return decision_s + migrate;
  }
  double decision_loss_s(const Job&) const noexcept { return 0.0; }
};

/// What a running job's neighbours cost it.
template <class M>
concept InterferenceModel = requires(const M& model, const Platform& platform, const ActiveJob& job,
                                     std::span<const ActiveJob* const> neighbours) {
  { M::kNone } -> std::convertible_to<bool>;  // true: the engine does not ask
  // Factor above 0 on the job's rate; of several nodes the lowest counts. `neighbours`: the other running
  // jobs on `node`, each once.
  { model.factor(platform, job, std::uint32_t{}, neighbours) } -> std::convertible_to<double>;
};

/// Jobs do not feel each other.
struct NoInterference {
  static constexpr bool kNone = true;
  double factor(const Platform&, const ActiveJob&, std::uint32_t,
                std::span<const ActiveJob* const>) const noexcept {
    return 1.0;
  }
};

/// What the distance between a job's devices costs it.
template <class M>
concept NetworkModel = requires(const M& model, const Platform& platform, const Job& job,
                                const Placement& placement) {
  // Factor in (0, 1] on the job's rate.
  { model.factor(platform, job, placement) } -> std::convertible_to<double>;
};

/// Distance costs nothing.
struct FreeNetwork {
  double factor(const Platform&, const Job&, const Placement&) const noexcept { return 1.0; }
};

/// The farthest boundary that a placement crosses sets the factor: NUMA domains of one node, nodes of one
/// rack, racks.
struct TopologyNetwork {
  double across_domains = 1.0, across_nodes = 1.0, across_racks = 1.0;  ///< each in (0, 1]

  double factor(const Platform& platform, const Job&, const Placement& placement) const noexcept {
    if (placement.shares.size() > 1 && placement.shares.front().node != placement.shares.back().node) {
      const std::int32_t rack = platform.nodes[placement.shares.front().node].rack;
      for (const NodeShare& share : placement.shares)
        if (platform.nodes[share.node].rack != rack) return across_racks;
      return across_nodes;
    }
    int first = -1;
    for (const NodeShare& share : placement.shares) {
      const Node& node = platform.nodes[share.node];
      for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
        const int domain = node.domain_of(std::countr_zero(left));
        if (first >= 0 && domain != first) return across_domains;
        first = domain;
      }
    }
    return 1.0;
  }
};

}  // namespace mara
