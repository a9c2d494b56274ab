#pragma once
// The openb lists as a platform and demands, for placement studies.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/read_openb.hpp"
#include "mara/workload/read_openb_nodes.hpp"

namespace mara {

/// The nodes as a platform, sorted by name, so that the lowest node is the one that comes first in the
/// alphabet. Device types are those of the list in order of first appearance, in lower case. Errors: those of
/// check_platform.
inline Result<Platform> openb_platform(std::vector<OpenbNode> nodes) {
  std::sort(nodes.begin(), nodes.end(),
            [](const OpenbNode& a, const OpenbNode& b) { return a.name < b.name; });
  Platform platform;
  for (const OpenbNode& listed : nodes) {
    Node node;
    node.name = listed.name;
    node.cpu = Milli{listed.cpu_milli};
    node.memory_mib = listed.memory_mib;
    node.devices = listed.gpus;
    if (listed.gpus > 0) {
      const std::string type = lower_case(listed.model);
      std::size_t t = 0;
      while (t < platform.types.size() && platform.types[t].name != type) ++t;
      if (t == platform.types.size())
        platform.types.push_back(
            {.name = type, .memory_mib = std::max<std::int64_t>(0, detail::known_gpu_memory(type))});
      node.type = static_cast<std::int32_t>(t);
    }
    platform.nodes.push_back(std::move(node));
  }
  if (auto status = check_platform(platform); !status) return status.error();
  return platform;
}

/// Device types that a list of names separated by '|' admits, case aside; all for an empty list. 0 when the
/// platform has none of them.
inline std::uint32_t types_named(const Platform& platform, std::string_view names) {
  if (names.empty()) return ~std::uint32_t{0};
  std::uint32_t types = 0;
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    const std::string name = lower_case(names.substr(0, bar));
    names.remove_prefix(std::min(bar + 1, names.size()));
    for (std::size_t t = 0; t < platform.types.size(); ++t)
      if (platform.types[t].name == name) types |= std::uint32_t{1} << t;
  }
  return types;
}

/// What a pod asks for.
inline PlacementDemand demand_of(const Platform& platform, const PodRequest& pod) {
  PlacementDemand demand;
  demand.devices = pod.num_gpu;
  demand.share = pod.num_gpu > 0 ? pod.gpu_milli : 1000;
  demand.cpu = Milli{pod.cpu_milli};
  demand.memory_mib = pod.memory_mib;
  if (pod.num_gpu > 0) demand.types = types_named(platform, pod.gpu_spec);
  return demand;
}

}  // namespace mara
