#pragma once
// Where a job runs: nodes, devices and host resources.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mara/core/resource.hpp"

namespace mara {

/// Profile of what is no slice.
inline constexpr std::int32_t kNoMigProfile = -1;

/// A demand that placement rules can judge: jobs with equal demands fit or do not fit together.
struct PlacementDemand {
  std::int32_t devices = 1;   ///< number of devices; 0: CPU and memory alone
  std::int32_t share = 1000;  ///< of each device, milli; below 1000 only with one device
  Milli cpu{};                ///< of the whole job, dealt to its nodes by devices, rounded up
  std::int64_t memory_mib = 0;
  /// Device types that may serve, bit t for type t. Nodes without devices serve demands without devices.
  std::uint32_t types = ~std::uint32_t{0};
  /// Not kNoMigProfile: `devices` slices of this profile, a number of mig_profiles() (platform_mig.hpp), each
  /// on one device; `share` is then below 1000 and no more than what a slice counts. slice_demand() makes
  /// such demands.
  std::int32_t profile = kNoMigProfile;

  friend constexpr auto operator<=>(const PlacementDemand&, const PlacementDemand&) noexcept = default;

  /// GPUs held.
  constexpr Milli gpus() const noexcept { return Milli{std::int64_t{devices} * share}; }
  /// CPU of a node that holds `count` of the devices: the whole job's, in proportion and rounded up.
  constexpr Milli cpu_of(std::int32_t count) const noexcept { return Milli{dealt(cpu.value, count)}; }
  constexpr std::int64_t memory_of(std::int32_t count) const noexcept { return dealt(memory_mib, count); }

 private:
  constexpr std::int64_t dealt(std::int64_t amount, std::int32_t count) const noexcept {
    if (devices <= 1 || count == devices || amount == 0) return amount;
    // In two parts, so that no amount overflows.
    return amount / devices * count + (amount % devices * count + devices - 1) / devices;
  }
};

/// What a job holds of one node: whole devices, a fraction of one, or one slice.
struct NodeShare {
  std::uint32_t node = 0;
  std::int32_t share = 1000;  ///< of each device, milli; of a slice its compute slices, rounded down
  std::uint64_t devices = 0;  ///< bit d: device d
  Milli cpu{};
  std::int64_t memory_mib = 0;
  std::int32_t profile = kNoMigProfile;  ///< of a slice, a number of mig_profiles() (platform_mig.hpp)
  std::int32_t start = 0;                ///< memory slice at which the slice begins

  int device_count() const noexcept { return std::popcount(devices); }
  friend bool operator==(const NodeShare&, const NodeShare&) noexcept = default;
};

/// What a job holds, in ascending order of nodes, each once; of several slices on a node each is a share of
/// its own, and the first has the host resources. Empty: nothing.
struct Placement {
  std::vector<NodeShare> shares;

  bool empty() const noexcept { return shares.empty(); }
  void clear() noexcept { shares.clear(); }
  /// Devices; each slice counts as one.
  std::int64_t device_count() const noexcept {
    std::int64_t sum = 0;
    for (const NodeShare& share : shares) sum += share.device_count();
    return sum;
  }
  Milli gpus() const noexcept {
    Milli sum{};
    for (const NodeShare& share : shares) sum += Milli{std::int64_t{share.device_count()} * share.share};
    return sum;
  }
  friend bool operator==(const Placement&, const Placement&) noexcept = default;
};

}  // namespace mara
