#pragma once
// The cluster: GPU types with their speed, memory and host resources.

#include <string>
#include <string_view>
#include <vector>

#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// One pool of identical GPUs, and the hosts they sit in.
struct GpuType {
  std::string name;
  int nodes = 0;
  int gpus_per_node = 0;
  std::int64_t gpu_memory_mib = 0;  ///< memory of one device
  Milli cpu_per_node{};
  std::int64_t memory_mib_per_node = 0;

  int gpus() const noexcept { return nodes * gpus_per_node; }
};

/// A heterogeneous cluster. Types are ordered fastest first; type 0 is the reference on which work is measured.
/// Placement is by type: topology below the type (node, rack) is not modelled here.
struct Cluster {
  std::vector<GpuType> types;

  int gpus() const noexcept;
  int type_count() const noexcept { return static_cast<int>(types.size()); }
  /// Index of the type called `name`, or -1.
  int find(std::string_view name) const noexcept;
};

/// Parses the text form "a100:2x8,v100:2x8,t4:2x8" (type:nodes x GPUs per node). Known types carry their device
/// memory (a100 80 GiB, v100 32 GiB, t4 16 GiB, ...); an unknown name needs it: "mygpu@24G:2x8".
/// Errors: kParse with the offending part; kInvalidArgument for more than kMaxGpuTypes types or a zero count.
Result<Cluster> parse_cluster(std::string_view text);

/// The text form that parse_cluster reads back.
std::string to_string(const Cluster& cluster);

}  // namespace mara
