#pragma once
// Placement rules: which nodes and devices a job gets.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"

namespace mara {

/// A placement rule: fills `placement` with what it would give the demand of what is free, claims nothing.
/// False: it gives nothing, now. What it gives can be claimed.
template <class P>
concept PlacementRule = requires(P rule, const FreeResources& free, const PlacementDemand& demand,
                                 Placement& placement) {
  { rule.name() } -> std::convertible_to<std::string_view>;
  { rule.place(free, demand, placement) } -> std::same_as<bool>;
};

namespace detail {

/// Gathers slices of one profile over several nodes of one type: of each node, in the order given, as many as
/// fit. Types are tried in ascending order.
template <class Nodes>
bool gather_slices(const FreeResources& free, const PlacementDemand& demand, const Nodes& order,
                   Placement& placement) {
  for (std::uint32_t types = demand.types; types != 0; types &= types - 1) {
    const std::uint32_t type = types & (~types + 1);
    placement.clear();
    std::int32_t left = demand.devices;
    for (const std::size_t node : order) {
      if (left == 0) break;
      if (free.type_bit(node) != type) continue;
      std::int32_t count = free.slices(node, demand, left);
      while (count > 0 && !free.has_host(node, demand, count)) --count;
      if (count == 0) continue;
      free.give(node, demand, count, placement);
      left -= count;
    }
    if (left > 0) continue;
    std::stable_sort(placement.shares.begin(), placement.shares.end(),
                     [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    return true;
  }
  placement.clear();
  return false;
}

/// Gathers devices of one type over several nodes. `order` lists nodes as they are to be tried; with `whole`
/// only nodes all of whose devices are free count, and for what is left over one with room. Types are tried
/// in ascending order, so that a job never mixes types. Slices: as gather_slices.
template <class Nodes>
bool gather(const FreeResources& free, const PlacementDemand& demand, const Nodes& order, bool whole,
            Placement& placement) {
  if (demand.profile != kNoMigProfile) return gather_slices(free, demand, order, placement);
  for (std::uint32_t types = demand.types; types != 0; types &= types - 1) {
    const std::uint32_t type = types & (~types + 1);
    placement.clear();
    std::int32_t left = demand.devices;
    bool seen = false;
    for (const std::size_t node : order) {
      if (left == 0) break;
      if (free.type_bit(node) != type || !free.up(node)) continue;
      seen = true;
      std::int32_t count = std::min<std::int32_t>(left, free.whole_count(node));
      if (whole && count < std::min<std::int32_t>(left, free.devices(node))) continue;
      if (whole && free.whole_count(node) < free.devices(node) && left >= free.devices(node)) continue;
      while (count > 0 && !free.has_host(node, demand, count)) --count;
      if (count == 0 || (whole && count < std::min<std::int32_t>(left, free.devices(node)))) continue;
      placement.shares.push_back(free.lowest(node, demand, count));
      left -= count;
    }
    for (const std::size_t node : order) {  // the node with room may be one that was passed over
      if (left == 0 || !whole) break;
      const bool taken = std::any_of(placement.shares.begin(), placement.shares.end(),
                                     [node](const NodeShare& share) { return share.node == node; });
      if (taken || free.type_bit(node) != type || !free.can_host(node, demand, left)) continue;
      placement.shares.push_back(free.lowest(node, demand, left));
      left = 0;
    }
    if (left == 0) {
      std::sort(placement.shares.begin(), placement.shares.end(),
                [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
      return true;
    }
    if (!seen && (types & ~type) > 0xffffu) break;  // no type beyond those a platform can have
  }
  placement.clear();
  return false;
}

/// 0, 1, 2, ...
struct IndexRange {
  std::size_t count = 0;
  struct Iterator {
    std::size_t at;
    std::size_t operator*() const noexcept { return at; }
    Iterator& operator++() noexcept {
      ++at;
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return at != other.at; }
  };
  Iterator begin() const noexcept { return {0}; }
  Iterator end() const noexcept { return {count}; }
};

}  // namespace detail

/// Any free devices, those of the lowest nodes first: what counts is how many are free. The placement of
/// batch systems with identical processors.
struct AnyDevices {
  static constexpr std::string_view name() noexcept { return "any"; }

  bool place(const FreeResources& free, const PlacementDemand& demand, Placement& placement) const {
    placement.clear();
    if (demand.devices > 1) {
      if (demand.profile == kNoMigProfile && free.whole_devices() < demand.devices) return false;
      return detail::gather(free, demand, detail::IndexRange{free.size()}, false, placement);
    }
    for (std::size_t node = 0; node < free.size(); ++node) {
      if (!free.can_host(node, demand, demand.devices)) continue;
      free.give(node, demand, demand.devices, placement);
      return true;
    }
    return false;
  }
};

/// Consolidated: on the lowest node with room; a job that no node could ever hold gets wholly free nodes, the
/// lowest first, and for what is left over a node with room (Gu et al., "Tiresias", NSDI'19; the "yarn"
/// scheme of its simulator).
class Consolidated {
 public:
  static constexpr std::string_view name() noexcept { return "consolidated"; }

  bool place(const FreeResources& free, const PlacementDemand& demand, Placement& placement) {
    placement.clear();
    if (demand.devices > 0 && free.free_milli() < demand.gpus().value) return false;
    if (demand.devices <= largest(free, demand)) {
      for (std::size_t node = 0; node < free.size(); ++node) {
        if (!free.can_host(node, demand, demand.devices)) continue;
        free.give(node, demand, demand.devices, placement);
        return true;
      }
      return false;
    }
    return detail::gather(free, demand, detail::IndexRange{free.size()}, true, placement);
  }

 private:
  // Devices, or slices, of the largest node of the allowed types.
  int largest(const FreeResources& free, const PlacementDemand& demand) {
    const std::uint32_t types = demand.types;
    if (types == types_ && nodes_ == free.size() && demand.profile == profile_) return largest_;
    types_ = types;
    profile_ = demand.profile;
    nodes_ = free.size();
    largest_ = 0;
    for (std::size_t node = 0; node < free.size(); ++node)
      if ((free.type_bit(node) & types) != 0) largest_ = std::max(largest_, free.capacity(node, demand));
    return largest_;
  }
  std::uint32_t types_ = 0;
  std::int32_t profile_ = kNoMigProfile;
  std::size_t nodes_ = 0;
  int largest_ = 0;
};

}  // namespace mara
