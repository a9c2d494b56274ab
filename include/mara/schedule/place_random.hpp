#pragma once
// Placement by lot.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/schedule/place.hpp"

namespace mara {

/// A node drawn uniformly from those that can hold the demand, and a device of it from those that can (for
/// several slices: the tightest).
class RandomPlacement {
 public:
  RandomPlacement() : RandomPlacement(1) {}
  explicit RandomPlacement(std::uint64_t seed) : random_(seed, 0x706c616365u) {}

  static constexpr std::string_view name() noexcept { return "random"; }

  bool place(const FreeResources& free, const PlacementDemand& demand, Placement& placement) {
    placement.clear();
    nodes_.clear();
    int largest = 0;
    for (std::size_t node = 0; node < free.size(); ++node) {
      if (free.can_host(node, demand, demand.devices)) nodes_.push_back(node);
      if ((free.type_bit(node) & demand.types) != 0) largest = std::max(largest, free.capacity(node, demand));
    }
    if (nodes_.empty()) {
      if (demand.devices <= largest) return false;
      for (std::size_t node = 0; node < free.size(); ++node) nodes_.push_back(node);
      random_.shuffle(nodes_);
      return detail::gather(free, demand, nodes_, true, placement);
    }
    const std::size_t node = nodes_[random_.below64(nodes_.size())];
    if (demand.profile != kNoMigProfile) {
      free.give(node, demand, demand.devices, placement,
                demand.devices == 1 ? draw_for_slice(free, demand, node) : -1);
      return true;
    }
    NodeShare share = free.lowest(node, demand, demand.devices);
    if (demand.devices > 0) share.devices = draw(free, demand, node);
    placement.shares.push_back(share);
    return true;
  }

 private:
  int draw_for_slice(const FreeResources& free, const PlacementDemand& demand, std::size_t node) {
    devices_.clear();
    for (int d = 0; d < free.devices(node); ++d)
      if (free.slices(node, demand, 1, d) == 1) devices_.push_back(d);
    return devices_[random_.below64(devices_.size())];
  }
  std::uint64_t draw(const FreeResources& free, const PlacementDemand& demand, std::size_t node) {
    devices_.clear();
    for (int d = 0; d < free.devices(node); ++d)
      if (free.device_free(node, d) >= demand.share) devices_.push_back(d);
    random_.shuffle(devices_);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(demand.devices); ++i)
      bits |= std::uint64_t{1} << devices_[i];
    return bits;
  }

  Random random_;
  std::vector<std::size_t> nodes_;
  std::vector<int> devices_;
};

}  // namespace mara
