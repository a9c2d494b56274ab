#pragma once
// How well a demand packs onto a node.

#include <cstddef>
#include <cstdint>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"

namespace mara {

/// How well `count` devices of a demand align with what is free on a node: the dot product of asked and free,
/// each divided by the node's capacity, over GPUs, CPU and memory; a resource of which the node has none
/// counts 0 (case S14). Grandl et al., "Multi-resource packing for cluster schedulers", SIGCOMM'14, section
/// 3.2.
inline double node_alignment(const FreeResources& free, const PlacementDemand& demand, std::size_t node,
                             std::int32_t count) noexcept {
  const auto term = [](std::int64_t asked, std::int64_t left, std::int64_t there) {
    if (there <= 0) return 0.0;
    const double capacity = static_cast<double>(there);
    return (static_cast<double>(asked) / capacity) * (static_cast<double>(left) / capacity);
  };
  std::int64_t gpu = 0;
  for (const std::int16_t left : free.device_free(node)) gpu += left;
  return term(std::int64_t{count} * demand.share, gpu, std::int64_t{1000} * free.devices(node)) +
         term(demand.cpu_of(count).value, free.cpu(node).value, free.cpu_capacity(node).value) +
         term(demand.memory_of(count), free.memory_mib(node), free.memory_capacity(node));
}

}  // namespace mara
