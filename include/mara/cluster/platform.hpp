#pragma once
// The machines of a cluster, one by one: devices, nodes, racks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/cluster/mig.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The most devices of one node; a node's devices are the bits of one word.
inline constexpr int kMaxDevicesPerNode = 64;
/// The most device types of a platform.
inline constexpr int kMaxDeviceTypes = kMaxGpuTypes;
/// Type of a node without devices.
inline constexpr std::int32_t kNoDeviceType = -1;
/// The most CPU (milli) or memory (MiB) of a node: sums over any platform stay far from overflow.
inline constexpr std::int64_t kMostOfANode = std::int64_t{1} << 40;

/// A kind of accelerator (of a batch platform: processor).
struct DeviceType {
  std::string name;
  std::int64_t memory_mib = 0;  ///< of one device
  double idle_w = 0.0;          ///< power when no job holds the device, watts
  double busy_w = 0.0;          ///< power when jobs hold all of it, watts
  double price_per_hour = 0.0;  ///< of one device, in the user's currency
  double bandwidth_gb_s = 0.0;  ///< memory bandwidth of one device; 0: unknown
  /// How its devices can be sliced (platform_mig.hpp). A device of such a type is given whole, while no slice
  /// of it is in use, or in slices, never in fractions. Nothing: whole or in fractions.
  std::optional<MigTable> mig = {};
};

/// One machine. Devices of a node are of one type and numbered from 0.
struct Node {
  std::string name;
  std::int32_t type = kNoDeviceType;  ///< index into Platform::types
  std::int32_t devices = 0;
  Milli cpu{};
  std::int64_t memory_mib = 0;
  std::int32_t rack = 0;
  std::int32_t numa_domains = 1;  ///< devices and cores are dealt into so many equal runs
  double network_gb_s = 0.0;      ///< of the node's network interface; 0: unknown
  double pcie_gb_s = 0.0;         ///< of the node's PCIe, shared by its devices; 0: unknown

  /// NUMA domain of a device: the first devices / numa_domains devices (rounded up) are in domain 0.
  int domain_of(int device) const noexcept {
    const int each = numa_domains > 0 ? (devices + numa_domains - 1) / numa_domains : devices;
    return each > 0 ? device / each : 0;
  }
};

/// A cluster down to the device. The order of nodes is the order in which placement rules break ties.
struct Platform {
  std::vector<DeviceType> types;
  std::vector<Node> nodes;

  std::int64_t devices() const noexcept {
    std::int64_t sum = 0;
    for (const Node& node : nodes) sum += node.devices;
    return sum;
  }
  /// Devices of one type.
  std::int64_t devices_of(std::int32_t type) const noexcept {
    std::int64_t sum = 0;
    for (const Node& node : nodes)
      if (node.type == type) sum += node.devices;
    return sum;
  }
};

/// Whether a platform can be simulated. Errors (kInvalidArgument or kNumerical, naming the type or node and
/// the field): no node; more than kMaxDeviceTypes types; a device count outside [0, kMaxDevicesPerNode], or a
/// type that does not match it; CPU or memory outside [0, kMostOfANode]; a NUMA count outside [1,
/// kMaxDevicesPerNode]; a negative or non-finite power, price or bandwidth; a MIG table that check_mig_table
/// refuses.
inline Status check_platform(const Platform& platform) {
  const auto bad = [](const std::string& what, const char* field, const std::string& value) {
    return Error{ErrorCode::kInvalidArgument, what + ": " + field + " is " + value};
  };
  const auto number = [](const std::string& what, const char* field, double value) -> Status {
    if (std::isfinite(value) && value >= 0.0) return {};
    return Error{std::isfinite(value) ? ErrorCode::kInvalidArgument : ErrorCode::kNumerical,
                 what + ": " + field + " is " + format_number(value)};
  };
  if (platform.nodes.empty()) return Error{ErrorCode::kInvalidArgument, "platform: no node"};
  if (platform.types.size() > static_cast<std::size_t>(kMaxDeviceTypes))
    return Error{ErrorCode::kInvalidArgument, "platform: " + std::to_string(platform.types.size()) +
                                                  " device types, at most " +
                                                  std::to_string(kMaxDeviceTypes)};
  for (const DeviceType& type : platform.types) {
    const std::string what = "device type '" + type.name + "'";
    if (type.memory_mib < 0) return bad(what, "memory_mib", std::to_string(type.memory_mib));
    if (auto ok = number(what, "idle_w", type.idle_w); !ok) return ok;
    if (auto ok = number(what, "busy_w", type.busy_w); !ok) return ok;
    if (auto ok = number(what, "price_per_hour", type.price_per_hour); !ok) return ok;
    if (auto ok = number(what, "bandwidth_gb_s", type.bandwidth_gb_s); !ok) return ok;
    if (!type.mig) continue;
    if (auto ok = check_mig_table(*type.mig); !ok)
      return Error{ok.error().code, what + ": " + ok.error().message};
  }
  for (const Node& node : platform.nodes) {
    const std::string what = "node '" + node.name + "'";
    if (node.devices < 0 || node.devices > kMaxDevicesPerNode)
      return bad(what, "devices", std::to_string(node.devices));
    const bool typed = node.type >= 0 && node.type < static_cast<std::int32_t>(platform.types.size());
    if (node.devices > 0 ? !typed : node.type != kNoDeviceType)
      return bad(what, "type", std::to_string(node.type));
    if (node.cpu.value < 0 || node.cpu.value > kMostOfANode)
      return bad(what, "cpu (milli)", std::to_string(node.cpu.value));
    if (node.memory_mib < 0 || node.memory_mib > kMostOfANode)
      return bad(what, "memory_mib", std::to_string(node.memory_mib));
    if (node.numa_domains < 1 || node.numa_domains > kMaxDevicesPerNode)
      return bad(what, "numa_domains", std::to_string(node.numa_domains));
    if (auto ok = number(what, "network_gb_s", node.network_gb_s); !ok) return ok;
    if (auto ok = number(what, "pcie_gb_s", node.pcie_gb_s); !ok) return ok;
  }
  return {};
}

/// Equal nodes of one device type: what batch systems and most papers have. `devices` 1 makes one-processor
/// machines.
inline Platform make_platform(int nodes, int devices, std::string type = "gpu") {
  Platform platform;
  platform.types.push_back({.name = std::move(type)});
  for (int n = 0; n < nodes; ++n) {
    Node node;
    node.name = std::to_string(n);
    node.type = 0;
    node.devices = devices;
    platform.nodes.push_back(std::move(node));
  }
  return platform;
}

/// The nodes of a pooled cluster, type by type, named "<type>-<index>"; a node of more than
/// kMaxDevicesPerNode devices is an error (kInvalidArgument), and so is what check_cluster refuses.
inline Result<Platform> make_platform(const Cluster& cluster) {
  if (auto status = check_cluster(cluster); !status) return status.error();
  Platform platform;
  for (std::size_t t = 0; t < cluster.types.size(); ++t) {
    const GpuType& type = cluster.types[t];
    platform.types.push_back({.name = type.name, .memory_mib = type.gpu_memory_mib});
    for (int n = 0; n < type.nodes; ++n) {
      Node node;
      node.name = type.name + "-" + std::to_string(n);
      node.type = static_cast<std::int32_t>(t);
      node.devices = type.gpus_per_node;
      node.cpu = type.cpu_per_node;
      node.memory_mib = type.memory_mib_per_node;
      platform.nodes.push_back(std::move(node));
    }
  }
  if (auto status = check_platform(platform); !status) return status.error();
  return platform;
}

/// The pooled view of a platform: a GPU type per device type, its nodes' devices and host resources added up
/// and dealt into nodes of one device each. Rules and actors that decide by type see this.
inline Cluster pooled(const Platform& platform) {
  Cluster cluster;
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    GpuType type;
    type.name = platform.types[t].name;
    type.gpu_memory_mib = platform.types[t].memory_mib;
    type.gpus_per_node = 1;
    std::int64_t cpu = 0, memory = 0, devices = 0;
    for (const Node& node : platform.nodes) {
      if (node.type != static_cast<std::int32_t>(t)) continue;
      devices += node.devices;
      cpu += node.cpu.value;
      memory += node.memory_mib;
    }
    type.nodes = static_cast<int>(std::min<std::int64_t>(devices, kMaxGpusPerType));
    if (type.nodes > 0) {
      type.cpu_per_node = Milli{cpu / type.nodes};
      type.memory_mib_per_node = memory / type.nodes;
    }
    cluster.types.push_back(std::move(type));
  }
  return cluster;
}

}  // namespace mara
