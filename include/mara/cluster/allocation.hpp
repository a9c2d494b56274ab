#pragma once
// The ledger behind every decision: it accepts a grant only when all hard limits hold, so that no scheduler,
// learnt or not, can exceed one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/core/extremes.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// Who holds what at one decision. Agents are indices 0..n-1 into the decision's list of active jobs.
/// Invariants, per GPU type: whole grants + devices opened for fractions <= devices; each fraction lives on
/// one device (case S05); host CPU and memory claimed <= those of the type's nodes. A refused claim changes
/// nothing.
///
/// A fraction goes to the opened device with the least room that still holds it (ties: the lowest index);
/// when there is none, a wholly free device is opened. A device whose last fraction leaves is wholly free
/// again. Cost: fits, claim and release of whole GPUs O(1); of fractions O(devices opened on that type).
/// Nothing here allocates except the constructor and a reset() to more agents than ever before.
class Allocation {
 public:
  /// An empty ledger for no agents. The cluster must pass check_cluster; types past kMaxGpuTypes are ignored.
  explicit Allocation(const Cluster& cluster) {
    types_ = smaller(cluster.type_count(), kMaxGpuTypes);
    std::size_t slots = 0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(types_); ++t) {
      const GpuType& type = cluster.types[t];
      Pool& pool = pools_[t];
      pool.first_slot = slots;
      pool.devices = pool.free = type.gpus();
      pool.gpu_memory_mib = type.gpu_memory_mib;
      pool.cpu = pool.free_cpu = type.cpu();
      pool.memory_mib = pool.free_memory_mib = type.memory_mib();
      slots += static_cast<std::size_t>(pool.devices);
    }
    left_.resize(slots);
    for (std::int32_t& left : left_) left = kClosed;
  }

  /// Forgets all claims and makes room for `agents` agents. Allocates only when `agents` exceeds earlier
  /// sizes.
  void reset(std::size_t agents) {
    for (std::size_t t = 0; t < static_cast<std::size_t>(types_); ++t) {
      Pool& pool = pools_[t];
      for (std::int32_t s = 0; s < pool.opened_end; ++s)
        left_[pool.first_slot + static_cast<std::size_t>(s)] = kClosed;
      pool.opened_end = 0;
      pool.free = pool.devices;
      pool.free_cpu = pool.cpu;
      pool.free_memory_mib = pool.memory_mib;
      pool.used = Milli{};
    }
    grants_.resize(agents);
    for (Grant& grant : grants_) grant = Grant{};
    claims_.resize(agents);  // entries are read only where grants_ is not empty
  }

  std::size_t agents() const noexcept { return grants_.size(); }

  /// Whether `grant` could be claimed now. False for NaN-like input: negative, zero, non-whole above one GPU,
  /// unknown type, negative demand; and for a type whose devices have less memory than the demand.
  bool fits(const Demand& demand, Grant grant) const noexcept {
    if (static_cast<std::uint32_t>(grant.type) >= static_cast<std::uint32_t>(types_)) return false;
    const Pool& pool = pools_[static_cast<std::size_t>(grant.type)];
    const std::int64_t gpus = grant.gpus.value;
    if (gpus <= 0 || demand.cpu.value < 0 || demand.memory_mib < 0 || demand.gpu_memory_mib < 0) return false;
    if (demand.gpu_memory_mib > pool.gpu_memory_mib || demand.cpu > pool.free_cpu ||
        demand.memory_mib > pool.free_memory_mib)
      return false;
    if (gpus < kClosed) return pool.free > 0 || best_slot(pool, gpus) != kNoSlot;
    return gpus % 1000 == 0 && gpus / 1000 <= pool.free;
  }

  /// Claims `grant` for an agent that holds nothing. False (and no change) when it does not fit, the agent
  /// holds something already, or there is no such agent.
  bool claim(std::size_t agent, const Demand& demand, Grant grant) noexcept {
    if (agent >= grants_.size() || !grants_[agent].empty() || !fits(demand, grant)) return false;
    Pool& pool = pools_[static_cast<std::size_t>(grant.type)];
    std::int32_t slot = kNoSlot;
    if (grant.gpus.value < kClosed) {
      slot = best_slot(pool, grant.gpus.value);
      if (slot == kNoSlot) slot = open_slot(pool);
      left_[pool.first_slot + static_cast<std::size_t>(slot)] -= static_cast<std::int32_t>(grant.gpus.value);
    } else {
      pool.free -= static_cast<std::int32_t>(grant.gpus.units());
    }
    pool.free_cpu -= demand.cpu;
    pool.free_memory_mib -= demand.memory_mib;
    pool.used += grant.gpus;
    grants_[agent] = grant;
    claims_[agent] = {demand, slot};
    return true;
  }

  /// Gives back what the agent holds; harmless when it holds nothing.
  void release(std::size_t agent) noexcept {
    if (agent >= grants_.size() || grants_[agent].empty()) return;
    const Grant grant = grants_[agent];
    const Claim& claim = claims_[agent];
    Pool& pool = pools_[static_cast<std::size_t>(grant.type)];
    if (claim.slot != kNoSlot) {
      std::int32_t& left = left_[pool.first_slot + static_cast<std::size_t>(claim.slot)];
      left += static_cast<std::int32_t>(grant.gpus.value);
      if (left == kClosed) ++pool.free;
    } else {
      pool.free += static_cast<std::int32_t>(grant.gpus.units());
    }
    pool.free_cpu += claim.demand.cpu;
    pool.free_memory_mib += claim.demand.memory_mib;
    pool.used -= grant.gpus;
    grants_[agent] = Grant{};
  }

  /// What the agent holds; the empty grant for an agent that does not exist.
  Grant grant(std::size_t agent) const noexcept { return agent < grants_.size() ? grants_[agent] : Grant{}; }
  std::span<const Grant> grants() const noexcept { return {grants_.data(), grants_.size()}; }
  /// The demand the agent's claim was made with; all zero when it holds nothing.
  Demand demand(std::size_t agent) const noexcept {
    return grant(agent).empty() ? Demand{} : claims_[agent].demand;
  }
  /// Which opened device of its type the agent's fraction lives on; -1 for whole grants and for nothing.
  int device(std::size_t agent) const noexcept { return grant(agent).empty() ? -1 : claims_[agent].slot; }

  /// Devices of `type` that are wholly free. These four are 0 for an unknown type.
  int free_gpus(int type) const noexcept { return known(type) ? pool_of(type).free : 0; }
  Milli free_cpu(int type) const noexcept { return known(type) ? pool_of(type).free_cpu : Milli{}; }
  std::int64_t free_memory_mib(int type) const noexcept {
    return known(type) ? pool_of(type).free_memory_mib : 0;
  }
  /// Total milli-GPU claimed on `type`.
  Milli used(int type) const noexcept { return known(type) ? pool_of(type).used : Milli{}; }

 private:
  static constexpr std::int32_t kClosed = 1000;  // what is left on a device without fractions
  static constexpr std::int32_t kNoSlot = -1;

  struct Pool {
    std::int32_t free = 0, devices = 0;
    std::int32_t opened_end = 0;  // devices opened for fractions have indices below this
    std::size_t first_slot = 0;   // of this pool in left_
    std::int64_t gpu_memory_mib = 0;
    Milli free_cpu{}, cpu{}, used{};
    std::int64_t free_memory_mib = 0, memory_mib = 0;
  };
  struct Claim {
    Demand demand{};
    std::int32_t slot = kNoSlot;
  };

  bool known(int type) const noexcept { return type >= 0 && type < types_; }
  const Pool& pool_of(int type) const noexcept { return pools_[static_cast<std::size_t>(type)]; }

  std::int32_t best_slot(const Pool& pool, std::int64_t gpus) const noexcept {
    std::int32_t best = kNoSlot, least = kClosed;
    for (std::int32_t s = 0; s < pool.opened_end; ++s) {
      const std::int32_t left = left_[pool.first_slot + static_cast<std::size_t>(s)];
      if (left >= gpus && left < least) {
        least = left;
        best = s;
      }
    }
    return best;
  }
  // The caller knows that a wholly free device exists; the lowest closed index stands for it.
  std::int32_t open_slot(Pool& pool) const noexcept {
    std::int32_t s = 0;
    while (s < pool.opened_end && left_[pool.first_slot + static_cast<std::size_t>(s)] != kClosed) ++s;
    pool.opened_end = larger(pool.opened_end, s + 1);
    --pool.free;
    return s;
  }

  int types_ = 0;
  std::array<Pool, kMaxGpuTypes> pools_{};
  std::vector<std::int32_t> left_;  // milli-GPU left per device, in the order of the pools
  std::vector<Grant> grants_;
  std::vector<Claim> claims_;
};

}  // namespace mara
