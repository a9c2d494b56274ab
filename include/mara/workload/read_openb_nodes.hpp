#pragma once
// Readers for the node lists of the Alibaba GPU cluster trace of 2023 ("openb"; Weng et al., "Beware of
// fragmentation", ATC'23).

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/cluster/cluster_text.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/device_profile.hpp"

namespace mara {

/// One node of an openb node list.
struct OpenbNode {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpus = 0;
  std::string model;  ///< GPU type as the list spells it; empty on a node without GPU

  friend bool operator==(const OpenbNode&, const OpenbNode&) = default;
};

namespace detail {

/// Calls visit(csv, node) -> Status for each row.
template <class Visit>
Status for_each_openb_node(std::string text, const std::string& name, Visit&& visit) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"sn", "cpu_milli", "memory_mib", "gpu", "model"}, {}); !ok) return ok;
  std::set<std::string, std::less<>> seen;
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) return {};
    FieldReader fields(csv);
    OpenbNode node;
    node.name = std::string(csv.text("sn"));
    node.cpu_milli = fields.integer("cpu_milli", 0, 1'000'000'000);
    node.memory_mib = fields.integer("memory_mib", 0, 1'000'000'000);
    node.gpus = static_cast<int>(fields.integer("gpu", 0, 1024));
    node.model = std::string(csv.text("model"));
    if (node.gpus > 0 && node.model.empty()) fields.refuse("model", "is empty on a node with GPUs");
    if (fields.error()) return *fields.error();
    if (!seen.insert(node.name).second) return csv.bad("sn", "appears twice");
    if (const Status good = visit(csv, std::move(node)); !good) return good;
  }
}

}  // namespace detail

/// Reads an openb node list, columns `sn` (name), `cpu_milli`, `memory_mib`, `gpu` (count) and `model`: every
/// row in the order of the file, nodes without GPU included. Errors (file, line, field and value in the
/// message): unknown, missing or repeated column; text that is no whole number; negative or absurd (> 1e9,
/// > 1024 GPUs) values; a GPU node without model; repeated name; no node at all.
inline Result<std::vector<OpenbNode>> parse_openb_node_list(std::string text, const std::string& name) {
  std::vector<OpenbNode> nodes;
  const Status read = detail::for_each_openb_node(std::move(text), name, [&](const Csv&, OpenbNode node) {
    nodes.push_back(std::move(node));
    return Status();
  });
  if (!read) return read.error();
  if (nodes.empty()) return Error{ErrorCode::kParse, name + ": no node in the file"};
  return nodes;
}

/// Reads an openb node list into a Cluster: one GpuType per `model`, named in lower case, fastest first by
/// the relative speeds of device_profile.hpp (equal speeds by name). Nodes without GPU are left out. Nodes of
/// one type differ in size in this trace while GpuType is uniform, so a type's GPUs are dealt into equal
/// nodes of g GPUs, g = the greatest common divisor of its nodes' GPU counts: the number of GPUs is exact,
/// host CPU and memory are the type's totals, rounded down per node. Device memory is that of parse_cluster.
/// Errors: as parse_openb_node_list; kInvalidArgument for a model that has no profile, and for more than
/// kMaxGpuTypes types.
inline Result<Cluster> parse_openb_nodes(std::string text, const std::string& name) {
  struct Pool {
    std::int64_t gpus = 0, common = 0, cpu = 0, memory = 0;
  };
  std::map<std::string, Pool> pools;
  const Status read = detail::for_each_openb_node(
      std::move(text), name, [&](const Csv& csv, const OpenbNode& node) -> Status {
        if (node.gpus == 0) return {};
        const std::string type = lower_case(node.model);
        if (find_device(type) == nullptr || detail::known_gpu_memory(type) < 0)
          return csv.bad("model", "is not a known GPU type");
        Pool& pool = pools[type];
        pool.gpus += node.gpus;
        pool.common = std::gcd(pool.common, std::int64_t{node.gpus});
        pool.cpu += node.cpu_milli;
        pool.memory += node.memory_mib;
        if (pool.gpus > 1'000'000'000) return csv.bad("gpu", "makes the sum too large");
        return {};
      });
  if (!read) return read.error();
  if (pools.empty()) return Error{ErrorCode::kParse, name + ": no node with a GPU in the file"};
  if (pools.size() > static_cast<std::size_t>(kMaxGpuTypes))
    return Error{ErrorCode::kInvalidArgument, name + ": field 'model': " + std::to_string(pools.size()) +
                                                  " GPU types, at most " + std::to_string(kMaxGpuTypes)};
  Cluster cluster;
  for (const auto& [type_name, pool] : pools) {
    GpuType type;
    type.name = type_name;
    type.gpus_per_node = static_cast<int>(pool.common);
    type.nodes = static_cast<int>(pool.gpus / pool.common);
    type.gpu_memory_mib = detail::known_gpu_memory(type_name);
    type.cpu_per_node = Milli{pool.cpu / type.nodes};
    type.memory_mib_per_node = pool.memory / type.nodes;
    cluster.types.push_back(std::move(type));
  }
  std::stable_sort(cluster.types.begin(), cluster.types.end(), [](const GpuType& a, const GpuType& b) {
    return mean_speed(*find_device(a.name)) > mean_speed(*find_device(b.name));
  });
  return cluster;
}

/// parse_openb_node_list of a file. Errors: also those of read_text_file.
inline Result<std::vector<OpenbNode>> read_openb_node_list(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_openb_node_list(std::move(*text), path);
}

/// parse_openb_nodes of a file. Errors: also those of read_text_file.
inline Result<Cluster> read_openb_nodes(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_openb_nodes(std::move(*text), path);
}

}  // namespace mara
