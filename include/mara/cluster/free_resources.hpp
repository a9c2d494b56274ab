#pragma once
// What is free on every node and device, and the only way to take it.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mara/cluster/free_nodes.hpp"
#include "mara/cluster/ledger_print.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"

namespace mara {

/// The ledger of a platform. Invariants: on each device 0 <= free <= 1000 milli, slices never overlap, nor
/// with a claim of the whole device, on each node CPU and memory between 0 and what it has; a claim that
/// would break one, or a release of what is not held, changes nothing and says false. Nodes that are down
/// serve nobody. Copies of equal platforms can be met (see meet), which is how backfilling asks "free now and
/// still free when the reservation begins".
class FreeResources : public FreeNodes {
 public:
  FreeResources() = default;

  /// Everything free. The platform must pass check_platform.
  explicit FreeResources(const Platform& platform) : FreeNodes(platform) {}

  /// Takes all of `placement`, or nothing.
  bool claim(const Placement& placement) noexcept {
    for (std::size_t i = 0; i < placement.shares.size(); ++i) {
      if (claim(placement.shares[i])) continue;
      while (i-- > 0) release(placement.shares[i]);
      return false;
    }
    return true;
  }
  bool claim(const NodeShare& share) noexcept {
    if (share.node >= nodes_.size()) return false;
    const NodeState& state = nodes_[share.node];
    if (!state.up || share.cpu.value < 0 || share.memory_mib < 0 || share.cpu.value > state.cpu ||
        share.memory_mib > state.memory || (share.devices & ~detail::all_devices(state.devices)) != 0)
      return false;
    if (share.profile != kNoMigProfile) {
      if (!room(state, share)) return false;
    } else if (share.share == kWhole) {
      if ((share.devices & ~state.whole) != 0) return false;
    } else {
      if (share.share <= 0 || share.share > kWhole || (state.sliced >= 0 && share.devices != 0)) return false;
      for (std::uint64_t left = share.devices; left != 0; left &= left - 1)
        if (device(state, left) < share.share) return false;
    }
    take(share);
    return true;
  }

  /// Gives back all of `placement`. False, and no change, when any of it is not held.
  bool release(const Placement& placement) noexcept {
    for (std::size_t i = 0; i < placement.shares.size(); ++i) {
      if (release(placement.shares[i])) continue;
      while (i-- > 0) take(placement.shares[i]);  // also on nodes that are down
      return false;
    }
    return true;
  }
  bool release(const NodeShare& share) noexcept {
    if (share.node >= nodes_.size()) return false;
    NodeState& state = nodes_[share.node];
    if (state.claims == 0 || share.share <= 0 || share.cpu.value < 0 || share.memory_mib < 0 ||
        share.cpu.value > state.cpu_capacity - state.cpu ||
        share.memory_mib > state.memory_capacity - state.memory ||
        (share.devices & ~detail::all_devices(state.devices)) != 0)
      return false;
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1)
      if (device(state, left) > kWhole - share.share) return false;
    if ((state.sliced >= 0 || share.profile != kNoMigProfile) && !holds(state, share)) return false;
    std::uint64_t closed = 0;
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      std::int16_t& free = device(state, left);
      free = static_cast<std::int16_t>(free + share.share);
      if (free == kWhole) closed |= left & (~left + 1);
      state.fingerprint += detail::device_weight(left) * static_cast<std::uint64_t>(share.share);
    }
    if (state.up) {
      state.set_whole(state.whole | closed);
      whole_devices_ += std::popcount(closed);
      free_milli_ += std::int64_t{share.device_count()} * share.share;
    }
    if (share.profile != kNoMigProfile) change_slices(state, share, true);
    take_host(state, -share.cpu.value, -share.memory_mib);
    --state.claims;
    return true;
  }

  /// Takes a node out of service or puts it back; what is held there stays booked until it is released.
  void set_up(std::size_t node, bool up) noexcept {
    NodeState& state = nodes_[node];
    if (state.up == up) return;
    state.up = up;
    std::int64_t milli = 0;
    std::uint64_t whole = 0;
    for (int d = 0; d < state.devices; ++d) {
      const int free = device_free_[state.first_device + static_cast<std::size_t>(d)];
      milli += free;
      if (free == kWhole) whole |= std::uint64_t{1} << d;
    }
    state.set_whole(up ? whole : 0);
    whole_devices_ += up ? std::popcount(whole) : -std::popcount(whole);
    free_milli_ += up ? milli : -milli;
  }

  /// Becomes what is free both here and in `other`, a ledger of the same platform. What is met can be claimed
  /// from but not released to.
  void meet(const FreeResources& other) noexcept {
    whole_devices_ = free_milli_ = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      NodeState& state = nodes_[n];
      const NodeState& theirs = other.nodes_[n];
      state.up = state.up && theirs.up;
      state.set_whole(state.up ? state.whole & theirs.whole : 0);
      take_host(state, state.cpu - std::min(state.cpu, theirs.cpu),
                state.memory - std::min(state.memory, theirs.memory));
      for (std::size_t d = 0; d < static_cast<std::size_t>(state.devices); ++d) {
        std::int16_t& free = device_free_[state.first_device + d];
        const std::int16_t less = std::min(free, other.device_free_[theirs.first_device + d]);
        state.fingerprint -=
            detail::device_weight(std::uint64_t{1} << d) * static_cast<std::uint64_t>(free - less);
        free = less;
        if (state.up) free_milli_ += free;
      }
      if (state.sliced >= 0) meet_slices(state, other.mig_);
      whole_devices_ += state.whole_count;
    }
  }

 private:
  // What is known to be free.
  void take(const NodeShare& share) noexcept {
    NodeState& state = nodes_[share.node];
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      std::int16_t& free = device(state, left);
      free = static_cast<std::int16_t>(free - share.share);
      state.fingerprint -= detail::device_weight(left) * static_cast<std::uint64_t>(share.share);
    }
    if (state.up) {
      const std::uint64_t opened = share.devices & state.whole;
      state.set_whole(state.whole & ~opened);
      whole_devices_ -= std::popcount(opened);
      free_milli_ -= std::int64_t{share.device_count()} * share.share;
    }
    if (share.profile != kNoMigProfile) change_slices(state, share, false);
    take_host(state, share.cpu.value, share.memory_mib);
    ++state.claims;
  }
  static void take_host(NodeState& state, std::int64_t cpu, std::int64_t memory) noexcept {
    state.cpu -= cpu;
    state.memory -= memory;
    state.fingerprint -= detail::kCpuWeight * static_cast<std::uint64_t>(cpu) +
                         detail::kMemoryWeight * static_cast<std::uint64_t>(memory);
  }
  // Whether the slices of `share` may be taken.
  MARA_FOR_SLICES bool room(const NodeState& state, const NodeShare& share) noexcept {
    if (state.sliced < 0 || !mig_.legal(state.sliced, share)) return false;
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1)
      if (device(state, left) < share.share || !mig_.room(state.sliced, index(state, left), share))
        return false;
    return true;
  }
  MARA_FOR_SLICES void meet_slices(NodeState& state, const MigLedger& other) noexcept {
    for (std::size_t d = 0; d < static_cast<std::size_t>(state.devices); ++d)
      state.fingerprint -= detail::mig_print(d, mig_.meet(state.first_device + d, other));
  }
  // On a sliced node: whether just this is held.
  MARA_FOR_SLICES bool holds(const NodeState& state, const NodeShare& share) const noexcept {
    if (share.devices == 0) return share.profile == kNoMigProfile;
    if (state.sliced < 0) return false;
    if (share.profile != kNoMigProfile && !mig_.legal(state.sliced, share)) return false;
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      const std::size_t at = index(state, left);
      if (share.profile != kNoMigProfile ? !mig_.holds(at, share)
                                         : share.share != kWhole || mig_.use(at) != MigUse{})
        return false;
    }
    return true;
  }
  MARA_FOR_SLICES void change_slices(NodeState& state, const NodeShare& share, bool back) noexcept {
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      const MigUse change = mig_.change(state.sliced, index(state, left), share, back);
      const std::uint64_t print = detail::mig_print(static_cast<std::size_t>(std::countr_zero(left)), change);
      state.fingerprint += back ? print : ~print + 1;
    }
  }
  // The device of the lowest bit.
  std::int16_t& device(const NodeState& state, std::uint64_t bits) noexcept {
    return device_free_[index(state, bits)];
  }
};

}  // namespace mara
