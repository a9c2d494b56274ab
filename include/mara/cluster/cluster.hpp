#pragma once
// The cluster: GPU types with their speed, memory and host resources.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/extremes.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Host resources of a node when nobody says otherwise: 96 cores and 1 TiB, those of a usual 8-GPU server.
inline constexpr Milli kDefaultCpuPerNode = Milli::whole(96);
inline constexpr std::int64_t kDefaultMemoryMibPerNode = std::int64_t{1024} * 1024;
/// The most GPUs of one type in a valid cluster.
inline constexpr int kMaxGpusPerType = 1'000'000;

/// One pool of identical GPUs, and the hosts they sit in.
struct GpuType {
  std::string name;
  int nodes = 0;
  int gpus_per_node = 0;
  std::int64_t gpu_memory_mib = 0;  ///< memory of one device
  Milli cpu_per_node{};
  std::int64_t memory_mib_per_node = 0;

  /// Devices of the pool; 0 for counts that are not positive, and never more than an int holds.
  int gpus() const noexcept {
    if (nodes <= 0 || gpus_per_node <= 0) return 0;
    const std::int64_t product = std::int64_t{nodes} * gpus_per_node;
    return static_cast<int>(smaller<std::int64_t>(product, std::numeric_limits<int>::max()));
  }
  /// Host CPU of all nodes together.
  Milli cpu() const noexcept { return Milli{saturating_product(nodes, cpu_per_node.value)}; }
  /// Host memory of all nodes together, MiB.
  std::int64_t memory_mib() const noexcept { return saturating_product(nodes, memory_mib_per_node); }

  /// Whether the empty pool could hold `gpus` (whole, or a fraction of one) with `demand`.
  bool could_hold(const Demand& demand, Milli gpus_asked) const noexcept {
    if (gpus_asked.value <= 0 || (gpus_asked.value > 1000 && !gpus_asked.is_whole())) return false;
    if (demand.gpu_memory_mib < 0 || demand.cpu.value < 0 || demand.memory_mib < 0) return false;
    const std::int64_t devices = gpus_asked.value < 1000 ? 1 : gpus_asked.units();
    return devices <= gpus() && demand.gpu_memory_mib <= gpu_memory_mib && demand.cpu <= cpu() &&
           demand.memory_mib <= memory_mib();
  }

 private:
  // A pool of 10^18 cores a node stays huge instead of wrapping round to something small.
  static std::int64_t saturating_product(std::int64_t count, std::int64_t each) noexcept {
    if (count <= 0 || each <= 0) return 0;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    return each > kMost / count ? kMost : count * each;
  }
};

/// A heterogeneous cluster. Types are ordered fastest first; type 0 is the reference on which work is
/// measured. Placement is by type: topology below the type (node, rack) is not modelled here.
struct Cluster {
  std::vector<GpuType> types;

  int gpus() const noexcept {
    std::int64_t sum = 0;
    for (const GpuType& type : types) sum += type.gpus();
    return static_cast<int>(smaller<std::int64_t>(sum, std::numeric_limits<int>::max()));
  }
  int type_count() const noexcept { return static_cast<int>(types.size()); }
  /// Index of the type called `name`, or -1.
  int find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < types.size(); ++i)
      if (types[i].name == name) return static_cast<int>(i);
    return -1;
  }
};

/// Whether a cluster can be simulated. Errors (kInvalidArgument, naming the type and the field): no type or
/// more than kMaxGpuTypes; an empty or repeated name; a count below 1; more than kMaxGpusPerType GPUs; a
/// negative memory or CPU amount.
inline Status check_cluster(const Cluster& cluster) {
  const auto bad = [](const GpuType& type, const char* field, std::int64_t value) {
    return Error{ErrorCode::kInvalidArgument,
                 "cluster type '" + type.name + "': " + field + " is " + std::to_string(value)};
  };
  if (cluster.types.empty()) return Error{ErrorCode::kInvalidArgument, "cluster: no GPU type"};
  if (cluster.types.size() > static_cast<std::size_t>(kMaxGpuTypes))
    return Error{ErrorCode::kInvalidArgument, "cluster: " + std::to_string(cluster.types.size()) +
                                                  " GPU types, at most " + std::to_string(kMaxGpuTypes)};
  for (std::size_t i = 0; i < cluster.types.size(); ++i) {
    const GpuType& type = cluster.types[i];
    if (type.name.empty())
      return Error{ErrorCode::kInvalidArgument, "cluster: type " + std::to_string(i) + " has no name"};
    if (cluster.find(type.name) != static_cast<int>(i))
      return Error{ErrorCode::kInvalidArgument, "cluster: type '" + type.name + "' appears twice"};
    if (type.nodes < 1) return bad(type, "nodes", type.nodes);
    if (type.gpus_per_node < 1) return bad(type, "gpus_per_node", type.gpus_per_node);
    if (type.gpus() > kMaxGpusPerType) return bad(type, "number of GPUs", type.gpus());
    if (type.gpu_memory_mib < 0) return bad(type, "gpu_memory_mib", type.gpu_memory_mib);
    if (type.cpu_per_node.value < 0) return bad(type, "cpu_per_node (milli)", type.cpu_per_node.value);
    if (type.memory_mib_per_node < 0) return bad(type, "memory_mib_per_node", type.memory_mib_per_node);
  }
  return {};
}

}  // namespace mara

// parse_cluster and to_string.
#include "mara/cluster/cluster_text.hpp"
