#pragma once
// The ledger behind every decision: it accepts a grant only when all hard limits hold, so that no scheduler,
// learnt or not, can exceed one.

#include <cstddef>
#include <span>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// Who holds what at one decision. Agents are indices 0..n-1 into the decision's list of active jobs.
/// Invariants, per GPU type: whole grants + devices opened for fractions <= devices; each fraction lives on one
/// device (case S05); host CPU and memory claimed <= those of the type's nodes. A refused claim changes nothing.
class Allocation {
 public:
  explicit Allocation(const Cluster& cluster);

  /// Forgets all claims and makes room for `agents` agents. Allocates only when `agents` exceeds earlier sizes.
  void reset(std::size_t agents);

  std::size_t agents() const noexcept;
  /// Whether `grant` could be claimed now. False for NaN-like input: negative, zero, non-whole above one GPU,
  /// unknown type.
  bool fits(const Demand& demand, Grant grant) const noexcept;
  /// Claims `grant` for an agent that holds nothing. False (and no change) when it does not fit.
  bool claim(std::size_t agent, const Demand& demand, Grant grant) noexcept;
  /// Gives back what the agent holds; harmless when it holds nothing.
  void release(std::size_t agent) noexcept;

  Grant grant(std::size_t agent) const noexcept;
  std::span<const Grant> grants() const noexcept;
  /// Devices of `type` that are wholly free.
  int free_gpus(int type) const noexcept;
  Milli free_cpu(int type) const noexcept;
  std::int64_t free_memory_mib(int type) const noexcept;
  /// Total milli-GPU claimed on `type`.
  Milli used(int type) const noexcept;
};

}  // namespace mara
