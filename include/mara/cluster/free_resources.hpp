#pragma once
// What is free on every node and device, and the only way to take it.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// The ledger of a platform. Invariants: on each device 0 <= free <= 1000 milli, on each node CPU and memory
/// between 0 and what it has; a claim that would break one, or a release of what is not held, changes nothing
/// and says false. Nodes that are down serve nobody. Copies of equal platforms can be met (see meet), which
/// is how backfilling asks "free now and still free when the reservation begins".
class FreeResources {
 public:
  FreeResources() = default;

  /// Everything free. The platform must pass check_platform.
  explicit FreeResources(const Platform& platform) {
    nodes_.resize(platform.nodes.size());
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = platform.nodes[n];
      NodeState& state = nodes_[n];
      state.first_device = static_cast<std::uint32_t>(device_free_.size());
      state.devices = static_cast<std::int16_t>(node.devices);
      state.type_bit = node.type >= 0 ? std::uint32_t{1} << node.type : 0;
      state.set_whole(all_devices(node.devices));
      state.cpu = state.cpu_capacity = node.cpu.value;
      state.memory = state.memory_capacity = node.memory_mib;
      for (int d = 0; d < node.devices; ++d)
        state.fingerprint += weight(static_cast<std::uint64_t>(d)) * std::uint64_t{kWhole};
      state.fingerprint += kCpuWeight * static_cast<std::uint64_t>(state.cpu) +
                           kMemoryWeight * static_cast<std::uint64_t>(state.memory);
      device_free_.resize(device_free_.size() + static_cast<std::size_t>(node.devices), kWhole);
      whole_devices_ += node.devices;
      free_milli_ += std::int64_t{node.devices} * kWhole;
    }
  }

  std::size_t size() const noexcept { return nodes_.size(); }
  /// Devices of `node` that are wholly free, as bits; 0 when the node is down.
  std::uint64_t whole(std::size_t node) const noexcept { return nodes_[node].whole; }
  int whole_count(std::size_t node) const noexcept { return nodes_[node].whole_count; }
  int devices(std::size_t node) const noexcept { return nodes_[node].devices; }
  /// Free milli of one device.
  int device_free(std::size_t node, int device) const noexcept {
    return device_free_[nodes_[node].first_device + static_cast<std::size_t>(device)];
  }
  std::span<const std::int16_t> device_free(std::size_t node) const noexcept {
    return {device_free_.data() + nodes_[node].first_device, static_cast<std::size_t>(nodes_[node].devices)};
  }
  Milli cpu(std::size_t node) const noexcept { return Milli{nodes_[node].cpu}; }
  std::int64_t memory_mib(std::size_t node) const noexcept { return nodes_[node].memory; }
  Milli cpu_capacity(std::size_t node) const noexcept { return Milli{nodes_[node].cpu_capacity}; }
  std::int64_t memory_capacity(std::size_t node) const noexcept { return nodes_[node].memory_capacity; }
  std::uint32_t type_bit(std::size_t node) const noexcept { return nodes_[node].type_bit; }
  bool up(std::size_t node) const noexcept { return nodes_[node].up; }
  /// A fingerprint of what is free on the node: equal amounts on the same devices give equal fingerprints, in
  /// every ledger of the platform, and different ones practically never do. For caches of scores.
  std::uint64_t fingerprint(std::size_t node) const noexcept {
    return nodes_[node].up ? nodes_[node].fingerprint : 0;
  }
  /// Wholly free devices of all nodes that are up.
  std::int64_t whole_devices() const noexcept { return whole_devices_; }
  /// Free milli of all devices of nodes that are up, shared devices included.
  std::int64_t free_milli() const noexcept { return free_milli_; }

  /// Whether the node may serve the demand at all: up, and of an allowed type when devices are asked for.
  bool admits(std::size_t node, const PlacementDemand& demand) const noexcept {
    const NodeState& state = nodes_[node];
    return state.up && (demand.devices == 0 || (state.type_bit & demand.types) != 0);
  }
  /// Whether the node has the host resources for `count` of the demand's devices.
  bool has_host(std::size_t node, const PlacementDemand& demand, std::int32_t count) const noexcept {
    const NodeState& state = nodes_[node];
    return demand.cpu_of(count).value <= state.cpu && demand.memory_of(count) <= state.memory;
  }
  /// Whether `count` devices of the demand could be claimed on this node now.
  bool can_host(std::size_t node, const PlacementDemand& demand, std::int32_t count) const noexcept {
    const bool whole = count > 0 && demand.share == kWhole;
    if (whole && whole_count(node) < count) return false;  // mostly this decides
    if (!admits(node, demand) || !has_host(node, demand, count)) return false;
    return whole || count == 0 || tightest_device(node, demand.share) >= 0;
  }
  /// The device with the least free milli that still has `share` (ties: the lowest number); -1 when none has.
  int tightest_device(std::size_t node, int share) const noexcept {
    const NodeState& state = nodes_[node];
    if (!state.up) return -1;
    int best = -1, least = kWhole + 1;
    for (int d = 0; d < state.devices; ++d) {
      const int left = device_free_[state.first_device + static_cast<std::size_t>(d)];
      if (left >= share && left < least) {
        least = left;
        best = d;
      }
    }
    return best;
  }
  /// A share of `node` with the `count` lowest wholly free devices (fractions: the tightest device). Only
  /// after can_host.
  NodeShare lowest(std::size_t node, const PlacementDemand& demand, std::int32_t count) const noexcept {
    NodeShare share;
    share.node = static_cast<std::uint32_t>(node);
    share.share = demand.share;
    share.cpu = demand.cpu_of(count);
    share.memory_mib = demand.memory_of(count);
    if (count > 0 && demand.share < kWhole) {
      share.devices = std::uint64_t{1} << tightest_device(node, demand.share);
      return share;
    }
    std::uint64_t left = nodes_[node].whole;
    for (std::int32_t i = 0; i < count; ++i) {
      share.devices |= left & (~left + 1);
      left &= left - 1;
    }
    return share;
  }

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
        share.memory_mib > state.memory || (share.devices & ~all_devices(state.devices)) != 0)
      return false;
    if (share.share == kWhole) {
      if ((share.devices & ~state.whole) != 0) return false;
    } else {
      if (share.share <= 0 || share.share > kWhole) return false;
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
        (share.devices & ~all_devices(state.devices)) != 0)
      return false;
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1)
      if (device(state, left) > kWhole - share.share) return false;
    std::uint64_t closed = 0;
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      std::int16_t& free = device(state, left);
      free = static_cast<std::int16_t>(free + share.share);
      if (free == kWhole) closed |= left & (~left + 1);
      state.fingerprint += device_weight(left) * static_cast<std::uint64_t>(share.share);
    }
    if (state.up) {
      state.set_whole(state.whole | closed);
      whole_devices_ += std::popcount(closed);
      free_milli_ += std::int64_t{share.device_count()} * share.share;
    }
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
        state.fingerprint -= device_weight(std::uint64_t{1} << d) * static_cast<std::uint64_t>(free - less);
        free = less;
        if (state.up) free_milli_ += free;
      }
      whole_devices_ += state.whole_count;
    }
  }

 private:
  static constexpr std::int16_t kWhole = 1000;
  // Odd numbers without structure.
  static constexpr std::uint64_t kCpuWeight = 0xd1b54a32d192ed03u, kMemoryWeight = 0x8bb84b93962eacc9u;

  struct NodeState {
    std::uint64_t whole = 0;
    std::uint64_t fingerprint = 0;  // a sum of amounts, each times a constant of its own
    std::int64_t cpu = 0, memory = 0, cpu_capacity = 0, memory_capacity = 0;
    std::uint32_t first_device = 0;
    std::uint32_t type_bit = 0;
    std::uint32_t claims = 0;  // shares held
    std::int16_t devices = 0;
    bool up = true;

    // Counting bits is slow where the processor is not asked to do it.
    std::int16_t whole_count = 0;
    void set_whole(std::uint64_t bits) noexcept {
      whole = bits;
      whole_count = static_cast<std::int16_t>(std::popcount(bits));
    }
  };

  static std::uint64_t all_devices(int count) noexcept {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  // The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA'14), made odd.
  static std::uint64_t weight(std::uint64_t of) noexcept {
    of = (of + 1) * 0x9e3779b97f4a7c15u;
    of = (of ^ (of >> 30)) * 0xbf58476d1ce4e5b9u;
    of = (of ^ (of >> 27)) * 0x94d049bb133111ebu;
    return (of ^ (of >> 31)) | 1;
  }
  static std::uint64_t device_weight(std::uint64_t bits) noexcept {
    return weight(static_cast<std::uint64_t>(std::countr_zero(bits)));
  }
  // What is known to be free.
  void take(const NodeShare& share) noexcept {
    NodeState& state = nodes_[share.node];
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      std::int16_t& free = device(state, left);
      free = static_cast<std::int16_t>(free - share.share);
      state.fingerprint -= device_weight(left) * static_cast<std::uint64_t>(share.share);
    }
    if (state.up) {
      const std::uint64_t opened = share.devices & state.whole;
      state.set_whole(state.whole & ~opened);
      whole_devices_ -= std::popcount(opened);
      free_milli_ -= std::int64_t{share.device_count()} * share.share;
    }
    take_host(state, share.cpu.value, share.memory_mib);
    ++state.claims;
  }
  static void take_host(NodeState& state, std::int64_t cpu, std::int64_t memory) noexcept {
    state.cpu -= cpu;
    state.memory -= memory;
    state.fingerprint -=
        kCpuWeight * static_cast<std::uint64_t>(cpu) + kMemoryWeight * static_cast<std::uint64_t>(memory);
  }
  // The device of the lowest bit.
  std::int16_t& device(const NodeState& state, std::uint64_t bits) noexcept {
    return device_free_[state.first_device + static_cast<std::size_t>(std::countr_zero(bits))];
  }

  std::vector<NodeState> nodes_;
  std::vector<std::int16_t> device_free_;  // milli, node after node
  std::int64_t whole_devices_ = 0, free_milli_ = 0;
};

}  // namespace mara
