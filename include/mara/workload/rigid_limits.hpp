#pragma once
// Which device types a job of a trace may use, and whether an empty platform could hold it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv_slices.hpp"
#include "mara/workload/device_profile.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

namespace detail {

/// The platform's device types that the names in `allowed` admit, bit t for type t: the type of that name
/// (case aside), else those of its family (device_profile.hpp).
inline std::uint32_t admitted_device_types(std::string_view allowed, const Platform& platform) {
  std::uint32_t admitted = 0;
  while (!allowed.empty()) {
    const std::size_t bar = std::min(allowed.find('|'), allowed.size());
    const std::string name = lower_case(allowed.substr(0, bar));
    allowed.remove_prefix(std::min(bar + 1, allowed.size()));
    std::uint32_t exact = 0, family = 0;
    const Device* device = find_device(name);
    for (std::size_t t = 0; t < platform.types.size(); ++t) {
      const std::string type = lower_case(platform.types[t].name);
      const Device* known = find_device(type);
      if (type == name) exact |= std::uint32_t{1} << t;
      if (device != nullptr && known != nullptr && known->family == device->family)
        family |= std::uint32_t{1} << t;
    }
    admitted |= exact != 0 ? exact : family;
  }
  return admitted;
}

/// The most slices of a profile that a node ever holds.
inline std::int32_t slices_of(const Platform& platform, const Node& node, std::int32_t profile) {
  const MigProfile* slice = mig_profile(platform, node.type, profile);
  if (slice == nullptr) return 0;
  const MigTable& table = *platform.types[static_cast<std::size_t>(node.type)].mig;
  return node.devices * mig_count(table, *slice, {}, kMaxMemorySlices);
}

/// Whether the empty platform could hold the demand on devices of one type: on one node, if any node has so
/// many devices, as most placement rules demand (`spread`: in any case on however many nodes), else on
/// several.
inline bool could_hold(const Platform& platform, const PlacementDemand& demand, bool spread) {
  const auto has_host = [&](const Node& node, std::int32_t count) {
    return demand.cpu_of(count) <= node.cpu && demand.memory_of(count) <= node.memory_mib;
  };
  const auto room = [&](const Node& node) {
    return demand.profile == kNoMigProfile ? node.devices : slices_of(platform, node, demand.profile);
  };
  if (demand.devices == 0)
    return std::any_of(platform.nodes.begin(), platform.nodes.end(),
                       [&](const Node& node) { return has_host(node, 0); });
  std::vector<std::int64_t> held(platform.types.size(), 0);
  bool one_node_is_enough = false;
  for (const Node& node : platform.nodes) {
    if (node.devices == 0 || ((demand.types >> node.type) & 1u) == 0) continue;
    const std::int32_t most = room(node);
    if (most >= demand.devices) {
      if (has_host(node, demand.devices)) return true;
      one_node_is_enough = true;
    }
    std::int32_t count = std::min(most, demand.devices);
    while (count > 0 && !has_host(node, count)) --count;
    held[static_cast<std::size_t>(node.type)] += count;
  }
  if (one_node_is_enough && !spread) return false;
  return std::any_of(held.begin(), held.end(), [&](std::int64_t sum) { return sum >= demand.devices; });
}

/// The slices that a job asks for. Errors (kInvalidArgument) name job, field and value: a profile that no
/// type of the platform has, a number of slices that is not whole.
inline Result<PlacementDemand> slices_asked(const Platform& platform, const TraceJob& source,
                                            std::string_view profile) {
  if (source.gpus.value == 0 || !source.gpus.is_whole())
    return job_error(source, "gpus",
                     format_number(source.gpus.as_double()) + " is no number of slices (mig_profile '" +
                         std::string(profile) + "')");
  const auto demand = slice_demand(platform, profile, static_cast<std::int32_t>(source.gpus.units()));
  if (!demand) return job_error(source, "mig_profile", demand.error().message);
  return demand;
}

/// Why no type can serve a demand that asks for slices, or for a fraction of devices in slices; empty: that
/// is not it.
inline std::string why_not(const Platform& platform, const TraceJob& source, const PlacementDemand& demand) {
  std::uint32_t there = 0;
  for (std::size_t t = 0; t < platform.types.size(); ++t) there |= std::uint32_t{1} << t;
  if ((demand.types & there) != 0 || demand.devices == 0) return {};
  if (demand.profile != kNoMigProfile)
    return "none of the types that it may use has the profile '" +
           std::string(split_slices(source.allowed_types).profile) + "'";
  if (demand.share == 1000) return {};
  return format_number(source.gpus.as_double()) +
         " is a fraction, but the types that it may use are given whole or in slices";
}

}  // namespace detail

}  // namespace mara
