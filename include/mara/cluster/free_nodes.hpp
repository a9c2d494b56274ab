#pragma once
// What is free on every node and device, and where a demand would go.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mara/cluster/ledger_print.hpp"
#include "mara/cluster/mig_ledger.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// The questions that a ledger of a platform answers; FreeResources is the one to use, and changes it.
class FreeNodes {
 public:
  FreeNodes() = default;

  /// Everything free. The platform must pass check_platform.
  explicit FreeNodes(const Platform& platform) : mig_(platform) {
    nodes_.resize(platform.nodes.size());
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = platform.nodes[n];
      NodeState& state = nodes_[n];
      state.first_device = static_cast<std::uint32_t>(device_free_.size());
      state.devices = static_cast<std::int16_t>(node.devices);
      state.type_bit = node.type >= 0 ? std::uint32_t{1} << node.type : 0;
      if (node.type >= 0 && platform.types[static_cast<std::size_t>(node.type)].mig && !mig_.none())
        state.sliced = static_cast<std::int8_t>(node.type);
      state.set_whole(detail::all_devices(node.devices));
      state.cpu = state.cpu_capacity = node.cpu.value;
      state.memory = state.memory_capacity = node.memory_mib;
      for (int d = 0; d < node.devices; ++d)
        state.fingerprint += detail::weight(static_cast<std::uint64_t>(d)) * std::uint64_t{kWhole};
      state.fingerprint += detail::kCpuWeight * static_cast<std::uint64_t>(state.cpu) +
                           detail::kMemoryWeight * static_cast<std::uint64_t>(state.memory);
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
    // Mostly this decides: it is apart from the rest, so that it is quick.
    if (count > 0 && demand.share == kWhole && whole_count(node) < count) return false;
    return can_host_otherwise(node, demand, count);
  }
  /// How many slices of the demand's profile could be claimed on this node now, at most `most`, host
  /// resources aside; unless `device` is -1, on that device alone.
  MARA_FOR_SLICES int slices(std::size_t node, const PlacementDemand& demand, int most,
                             int device = -1) const noexcept {
    const NodeState& state = nodes_[node];
    if (state.sliced < 0 || !admits(node, demand)) return 0;
    const std::size_t from = device < 0 ? 0 : static_cast<std::size_t>(device);
    const std::size_t count = device < 0 ? static_cast<std::size_t>(state.devices) : 1;
    return mig_.count(state.sliced, state.first_device + from, device_free(node).subspan(from, count),
                      demand.profile, most);
  }
  /// The most of the demand's devices, or slices, that the node could ever hold; host resources aside.
  int capacity(std::size_t node, const PlacementDemand& demand) const noexcept {
    const NodeState& state = nodes_[node];
    if (demand.profile == kNoMigProfile) return state.devices;
    return state.sliced < 0 ? 0 : state.devices * mig_.most(state.sliced, demand.profile);
  }
  /// How the node's devices are sliced, profiles in the order of their numbers; null when they are not.
  const MigTable* mig_table(std::size_t node) const noexcept {
    return nodes_[node].sliced < 0 ? nullptr : &mig_.table(nodes_[node].sliced);
  }
  /// Slices in use on a device of a node that is sliced.
  MigUse mig_use(std::size_t node, int device) const noexcept {
    return mig_.use(nodes_[node].first_device + static_cast<std::size_t>(device));
  }
  /// The device with the least free milli that still has `share` (ties: the lowest number); -1 when none has,
  /// or the node gives no fractions.
  int tightest_device(std::size_t node, int share) const noexcept {
    const NodeState& state = nodes_[node];
    if (!state.up || state.sliced >= 0) return -1;
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
  /// A share of `node` with the `count` lowest wholly free devices (fractions: the tightest device; slices:
  /// the first of those that give() adds). Only after can_host.
  NodeShare lowest(std::size_t node, const PlacementDemand& demand, std::int32_t count) const noexcept {
    NodeShare share;
    share.node = static_cast<std::uint32_t>(node);
    share.share = demand.share;
    if (demand.profile != kNoMigProfile) {
      share = first_slice(node, demand);
    } else if (count > 0 && demand.share < kWhole) {
      share.devices = std::uint64_t{1} << tightest_device(node, demand.share);
    } else {
      std::uint64_t left = nodes_[node].whole;
      for (std::int32_t i = 0; i < count; ++i) {
        share.devices |= left & (~left + 1);
        left &= left - 1;
      }
    }
    share.cpu = demand.cpu_of(count);
    share.memory_mib = demand.memory_of(count);
    return share;
  }

  /// Adds to `placement` what lowest() says, or the `count` slices of the demand, each on the tightest device
  /// and there where it leaves most for later (MigLedger::sites). Unless `device` is -1, a fraction or slices
  /// of that device alone. Only after can_host.
  void give(std::size_t node, const PlacementDemand& demand, std::int32_t count, Placement& placement,
            int device = -1) const {
    if (demand.profile == kNoMigProfile) {
      placement.shares.push_back(lowest(node, demand, count));
      if (device >= 0) placement.shares.back().devices = std::uint64_t{1} << device;
      return;
    }
    give_slices(node, demand, count, placement, device);
  }

 protected:
  static constexpr std::int16_t kWhole = 1000;

  struct NodeState {
    std::uint64_t whole = 0;
    std::uint64_t fingerprint = 0;  // a sum of amounts, each times a constant of its own
    // What loops over nodes look at comes first, in one line of the cache for most nodes.
    bool up = true;
    std::int8_t sliced = -1;  // its type, when that has a MIG table
    std::int16_t devices = 0;
    std::int16_t whole_count = 0;  // counting bits is slow where the processor is not asked to do it
    std::uint32_t type_bit = 0;
    std::int64_t cpu = 0, memory = 0, cpu_capacity = 0, memory_capacity = 0;
    std::uint32_t first_device = 0;
    std::uint32_t claims = 0;  // shares held

    void set_whole(std::uint64_t bits) noexcept {
      whole = bits;
      whole_count = static_cast<std::int16_t>(std::popcount(bits));
    }
  };

  static std::size_t index(const NodeState& state, std::uint64_t bits) noexcept {
    return state.first_device + static_cast<std::size_t>(std::countr_zero(bits));
  }

  std::vector<NodeState> nodes_;
  std::vector<std::int16_t> device_free_;  // milli, node after node
  MigLedger mig_;
  std::int64_t whole_devices_ = 0, free_milli_ = 0;

 private:
  // With whole devices enough, if it asks for those.
  MARA_OUT_OF_LINE bool can_host_otherwise(std::size_t node, const PlacementDemand& demand,
                                           std::int32_t count) const noexcept {
    if (!admits(node, demand) || !has_host(node, demand, count)) return false;
    if (count == 0 || demand.share == kWhole) return true;
    return demand.profile == kNoMigProfile ? tightest_device(node, demand.share) >= 0
                                           : slices(node, demand, count) == count;
  }
  MARA_FOR_SLICES NodeShare first_slice(std::size_t node, const PlacementDemand& demand) const noexcept {
    NodeShare first;
    put_slices(node, demand, 1, -1, [&](const NodeShare& slice) { first = slice; });
    return first;
  }
  MARA_FOR_SLICES void give_slices(std::size_t node, const PlacementDemand& demand, std::int32_t count,
                                   Placement& placement, int device) const {
    const std::size_t first = placement.shares.size();
    put_slices(node, demand, count, device,
               [&](const NodeShare& slice) { placement.shares.push_back(slice); });
    placement.shares[first].cpu = demand.cpu_of(count);
    placement.shares[first].memory_mib = demand.memory_of(count);
  }
  template <class Put>
  void put_slices(std::size_t node, const PlacementDemand& demand, int count, int only, Put&& put) const {
    const NodeState& state = nodes_[node];
    NodeShare slice;
    slice.node = static_cast<std::uint32_t>(node);
    slice.profile = demand.profile;
    slice.share = mig_.milli(state.sliced, demand.profile);
    mig_.sites(state.sliced, state.first_device, device_free(node), demand.profile, count, only,
               [&](const MigSite& site) {
                 slice.devices = std::uint64_t{1} << site.device;
                 slice.start = site.start;
                 put(slice);
               });
  }
};

}  // namespace mara
