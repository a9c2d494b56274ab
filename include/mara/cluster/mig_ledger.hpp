#pragma once
// Which slices of which device are in use, for the ledger of a platform.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mara/cluster/mig.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"

namespace mara {

/// Where a slice could be put on a node.
struct MigSite {
  int device = 0;
  int start = 0;
};

/// The slices in use on all devices of a platform; part of FreeResources, which keeps the milli of devices.
/// Devices are numbered over all nodes. Profiles by their numbers on the platform. Costs nothing when no
/// type of the platform is sliced.
class MigLedger {
 public:
  MigLedger() = default;
  explicit MigLedger(const Platform& platform) {
    const std::vector<std::string> names = mig_profiles(platform);
    if (names.empty()) return;
    std::vector<Type> types(platform.types.size());
    for (std::size_t t = 0; t < types.size(); ++t) {
      const auto& mig = platform.types[t].mig;
      if (!mig) continue;
      MigTable& table = types[t].table;
      table = *mig;
      // In the order of the platform's numbers; what the type has not may begin nowhere.
      table.profiles.assign(names.size(), MigProfile{});
      for (std::size_t p = 0; p < names.size(); ++p) {
        if (const int at = mig->find(names[p]); at >= 0)
          table.profiles[p] = mig->profiles[static_cast<std::size_t>(at)];
        types[t].most.push_back(mig_count(table, table.profiles[p], {}, kMaxMemorySlices));
      }
    }
    types_ = std::make_shared<const std::vector<Type>>(std::move(types));
    devices_.resize(static_cast<std::size_t>(platform.devices()));
  }

  bool none() const noexcept { return devices_.empty(); }
  /// How devices of a sliced type are sliced, profiles in the order of their numbers.
  const MigTable& table(int type) const noexcept { return (*types_)[static_cast<std::size_t>(type)].table; }
  /// Most slices of a profile that a device of the type ever holds; 0 for profiles that it has not.
  int most(int type, std::int32_t profile) const noexcept {
    if (profile < 0 || static_cast<std::size_t>(profile) >= table(type).profiles.size()) return 0;
    return (*types_)[static_cast<std::size_t>(type)].most[static_cast<std::size_t>(profile)];
  }
  /// Milli that a slice counts.
  int milli(int type, std::int32_t profile) const noexcept {
    return mig_milli(table(type), profile_of(type, profile));
  }
  const MigUse& use(std::size_t device) const noexcept { return devices_[device].use; }

  /// Whether the slices of `share` may begin where it says, by the table alone.
  bool legal(int type, const NodeShare& share) const noexcept {
    if (share.devices == 0 || most(type, share.profile) == 0 || share.share != milli(type, share.profile))
      return false;
    for (const int start : profile_of(type, share.profile).starts)
      if (start == share.start) return true;
    return false;
  }
  /// Whether a legal slice could be taken on a device that is not held whole.
  bool room(int type, std::size_t device, const NodeShare& share) const noexcept {
    return mig_room(table(type), profile_of(type, share.profile), share.start, use(device));
  }
  /// Whether that very slice is in use.
  bool holds(std::size_t device, const NodeShare& share) const noexcept {
    return share.start >= 0 && share.start < kMaxMemorySlices && share.profile >= 0 &&
           devices_[device].held[static_cast<std::size_t>(share.start)] == share.profile;
  }
  /// Takes a slice that has room, or with `back` gives back one that is held; what has changed.
  MigUse change(int type, std::size_t device, const NodeShare& share, bool back) noexcept {
    const MigProfile& profile = profile_of(type, share.profile);
    Device& state = devices_[device];
    const std::uint32_t bits = mig_bits(profile, share.start);
    state.use.memory ^= bits;
    state.use.compute += back ? -profile.compute : profile.compute;
    state.held[static_cast<std::size_t>(share.start)] =
        static_cast<std::int16_t>(back ? kNoMigProfile : share.profile);
    return {bits, profile.compute};
  }
  /// Becomes what is free both here and in `other`; what is more in use than it was.
  MigUse meet(std::size_t device, const MigLedger& other) noexcept {
    MigUse& mine = devices_[device].use;
    const MigUse before = mine, theirs = other.use(device);
    mine.memory |= theirs.memory;
    if (theirs.compute > mine.compute) mine.compute = theirs.compute;
    return {mine.memory ^ before.memory, mine.compute - before.compute};
  }

  /// How many slices of a profile fit on a node's devices, one after another where sites() puts them, at most
  /// `most`. `free`: milli of each device.
  int count(int type, std::size_t first, std::span<const std::int16_t> free, std::int32_t profile,
            int most) const noexcept {
    if (this->most(type, profile) == 0) return 0;
    const int least = milli(type, profile);
    int count = 0;
    for (std::size_t d = 0; d < free.size() && count < most; ++d)
      if (free[d] >= least)
        count += mig_count(table(type), profile_of(type, profile), use(first + d), most - count);
    return count;
  }

  /// Places for slices of a profile on a node, one after another: each on the device with the least free
  /// milli that has room (ties: the lowest number; `only`: on that device), where it leaves most for later
  /// (mig_best_start). put(site) is told of each. False when they do not all fit.
  template <class Put>
  bool sites(int type, std::size_t first, std::span<const std::int16_t> free, std::int32_t profile,
             int slices, int only, Put&& put) const {
    if (most(type, profile) == 0) return slices == 0;
    const MigTable& table = this->table(type);
    const MigProfile& wanted = profile_of(type, profile);
    const int counts = milli(type, profile);
    std::array<MigUse, kMaxDevicesPerNode> uses;
    std::array<int, kMaxDevicesPerNode> left;
    for (std::size_t d = 0; d < free.size(); ++d) {
      uses[d] = use(first + d);
      left[d] = only < 0 || d == static_cast<std::size_t>(only) ? free[d] : 0;
    }
    for (int slice = 0; slice < slices; ++slice) {
      std::size_t best = free.size();
      for (std::size_t d = 0; d < free.size(); ++d)
        if (left[d] >= counts && (best == free.size() || left[d] < left[best]) &&
            mig_fits(table, wanted, uses[d]))
          best = d;
      if (best == free.size()) return false;
      const int start = mig_best_start(table, wanted, uses[best]).start;
      uses[best] = mig_with(uses[best], wanted, start);
      left[best] -= counts;
      put(MigSite{static_cast<int>(best), start});
    }
    return true;
  }

 private:
  struct Type {
    MigTable table;
    std::vector<int> most;  // by profile
  };
  struct Device {
    Device() noexcept { held.fill(kNoMigProfile); }
    MigUse use{};
    std::array<std::int16_t, kMaxMemorySlices> held;  // profile by the memory slice at which it begins
  };

  const MigProfile& profile_of(int type, std::int32_t profile) const noexcept {
    return table(type).profiles[static_cast<std::size_t>(profile)];
  }

  std::shared_ptr<const std::vector<Type>> types_;  // by type; shared by copies
  std::vector<Device> devices_;
};

}  // namespace mara
