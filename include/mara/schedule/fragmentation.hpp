#pragma once
// How much of a node's free GPU is of no use to the jobs that are to be expected.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform_mig.hpp"

namespace mara {

/// A demand to be expected, and how often.
struct TypicalDemand {
  PlacementDemand demand;
  double weight = 0.0;
};

/// The mix of demands to be expected: the distinct ones of `demands`, the most frequent first, in steps of 10
/// until they make up at least `share` of all; weights add up to 1. Host memory is not looked at. Equal
/// frequencies: in the order of PlacementDemand. (Weng et al., "Beware of fragmentation", ATC'23.)
inline std::vector<TypicalDemand> typical_mix(std::span<const PlacementDemand> demands, double share = 0.95) {
  std::map<PlacementDemand, std::size_t> counts;
  for (PlacementDemand demand : demands) {
    demand.memory_mib = 0;
    ++counts[demand];
  }
  std::vector<TypicalDemand> mix;
  for (const auto& [demand, count] : counts) mix.push_back({demand, static_cast<double>(count)});
  std::stable_sort(mix.begin(), mix.end(),
                   [](const TypicalDemand& a, const TypicalDemand& b) { return a.weight > b.weight; });
  double covered = 0.0;
  std::size_t kept = 0;
  while (kept < mix.size() && covered < share * static_cast<double>(demands.size())) {
    const std::size_t until = std::min(mix.size(), kept + 10);
    for (; kept < until; ++kept) covered += mix[kept].weight;
  }
  mix.resize(kept);
  for (TypicalDemand& typical : mix) typical.weight /= covered;
  return mix;
}

/// A node's free resources as fragmentation sees them.
struct NodeFree {
  std::int64_t cpu = 0;  ///< milli
  std::uint32_t type_bit = 0;
  int devices = 0;
  std::array<std::int16_t, 64> free{};  ///< milli, by device
  const MigTable* mig = nullptr;        ///< how the devices are sliced, of the ledger; null: they are not
  std::array<MigUse, 64> use;           ///< slices in use, by device; with `mig` only

  NodeFree() = default;
  NodeFree(const FreeResources& ledger, std::size_t node)
      : cpu(ledger.cpu(node).value), type_bit(ledger.type_bit(node)), devices(ledger.devices(node)) {
    const auto frees = ledger.device_free(node);
    std::copy(frees.begin(), frees.end(), free.begin());
    mig = ledger.mig_table(node);
    if (mig == nullptr) return;
    for (int d = 0; d < devices; ++d) use[static_cast<std::size_t>(d)] = ledger.mig_use(node, d);
  }

  /// Takes a slice that the ledger would give; host resources aside.
  void take(const NodeShare& slice) noexcept {
    const auto d = static_cast<std::size_t>(std::countr_zero(slice.devices));
    free[d] = static_cast<std::int16_t>(free[d] - slice.share);
    use[d] = mig_with(use[d], mig->profiles[static_cast<std::size_t>(slice.profile)], slice.start);
  }
  /// How many slices of a profile, at most `most`, find a place on a device.
  int slices(int device, std::int32_t profile, int most) const noexcept {
    const auto d = static_cast<std::size_t>(device);
    if (mig == nullptr || static_cast<std::size_t>(profile) >= mig->profiles.size()) return 0;
    const MigProfile& slice = mig->profiles[static_cast<std::size_t>(profile)];
    if (slice.starts.empty() || free[d] < mig_milli(*mig, slice)) return 0;
    return mig_count(*mig, slice, use[d], most);
  }
};

/// Expected fragmentation of a node (Weng et al., ATC'23): the sum over the mix of weight times all its free
/// milli-GPU when the demand cannot run there or wants no GPU, else the free milli on devices that hold less
/// than the demand needs of each. Slices: they can run there when they find places, and need a device where
/// one more does.
class Fragmentation {
 public:
  explicit Fragmentation(std::vector<TypicalDemand> mix) : mix_(std::move(mix)) {
    for (const TypicalDemand& typical : mix_) {
      if (typical.demand.devices == 0) {
        no_gpu_weight_ += typical.weight;
        continue;
      }
      if (typical.demand.profile != kNoMigProfile) {
        slices_.push_back(typical);
        continue;
      }
      const auto at = std::lower_bound(shares_.begin(), shares_.end(), typical.demand.share);
      if (at == shares_.end() || *at != typical.demand.share)
        shares_.insert(at, static_cast<std::int16_t>(typical.demand.share));
    }
    for (const TypicalDemand& typical : mix_) {
      if (typical.demand.devices == 0 || typical.demand.profile != kNoMigProfile) continue;
      const auto at = std::lower_bound(shares_.begin(), shares_.end(), typical.demand.share);
      needs_.push_back({typical.weight, typical.demand.cpu.value, typical.demand.types,
                        static_cast<std::int16_t>(typical.demand.devices),
                        static_cast<std::int16_t>(at - shares_.begin())});
    }
    holding_.resize(shares_.size());
    too_small_.resize(shares_.size());
  }

  std::span<const TypicalDemand> mix() const noexcept { return mix_; }

  /// Milli-GPU. Cost: O(devices x distinct shares + mix).
  double operator()(const NodeFree& node) const noexcept {
    return node.mig != nullptr || !slices_.empty() ? with_slices(node) : measure<false>(node);
  }

 private:
  template <bool kSlices>
  double measure(const NodeFree& node) const noexcept {
    int total = 0;
    for (int d = 0; d < node.devices; ++d) total += node.free[static_cast<std::size_t>(d)];
    if (total == 0) return 0.0;
    for (std::size_t s = 0; s < shares_.size(); ++s) {
      int holding = 0, too_small = 0;
      for (int d = 0; d < node.devices; ++d) {
        const int free = node.free[static_cast<std::size_t>(d)];
        const bool holds = free >= shares_[s];
        holding += holds ? 1 : 0;
        too_small += holds ? 0 : free;
      }
      holding_[s] = holding;
      too_small_[s] = too_small;
    }
    if constexpr (kSlices)  // a fraction runs on no device that is given in slices
      for (std::size_t s = 0; node.mig != nullptr && s < shares_.size(); ++s)
        if (shares_[s] < 1000) holding_[s] = 0;
    double sum = no_gpu_weight_ * total;
    for (const Need& need : needs_) {
      const auto s = static_cast<std::size_t>(need.share);
      const bool runs =
          (need.types & node.type_bit) != 0 && need.cpu <= node.cpu && holding_[s] >= need.devices;
      sum += need.weight * (runs ? too_small_[s] : total);
    }
    if constexpr (kSlices)
      for (const TypicalDemand& slices : slices_)
        sum += slices.weight * of_no_use(node, slices.demand, total);
    return sum;
  }
  MARA_FOR_SLICES double with_slices(const NodeFree& node) const noexcept { return measure<true>(node); }
  // Free milli that slices of a demand cannot use.
  static int of_no_use(const NodeFree& node, const PlacementDemand& demand, int total) noexcept {
    if ((demand.types & node.type_bit) == 0 || demand.cpu.value > node.cpu) return total;
    int found = 0, too_small = 0;
    for (int d = 0; d < node.devices; ++d) {
      const int here = node.slices(d, demand.profile, std::max(1, demand.devices - found));
      found += here;
      too_small += here > 0 ? 0 : node.free[static_cast<std::size_t>(d)];
    }
    return found >= demand.devices ? too_small : total;
  }

  struct Need {
    double weight;
    std::int64_t cpu;
    std::uint32_t types;
    std::int16_t devices, share;  // share: index into shares_
  };
  std::vector<TypicalDemand> mix_;
  std::vector<Need> needs_;
  std::vector<TypicalDemand> slices_;  // those of the mix that ask for slices
  std::vector<std::int16_t> shares_;   // distinct, ascending, milli
  double no_gpu_weight_ = 0.0;
  mutable std::vector<int> holding_,
      too_small_;  // by share: devices that hold it; milli on those that do not
};

}  // namespace mara
