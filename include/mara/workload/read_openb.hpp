#pragma once
// Readers for the Alibaba GPU cluster trace of 2023 ("openb"; Weng et al., "Beware of fragmentation",
// ATC'23).

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "mara/cluster/cluster.hpp"
#include "mara/cluster/cluster_text.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/device_profile.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads an openb pod list (the files with the columns `gpu_spec`, `qos`, `pod_phase`, `creation_time`,
/// `deletion_time`, `scheduled_time`). One pod is one job: submitted at its creation, running from
/// `scheduled_time` to `deletion_time`, GPUs = num_gpu x gpu_milli, `gpu_spec` as the allowed types, id = the
/// number that ends its name, priority by class of service: BE 0, Burstable 1, LS 2, Guaranteed 3. The time
/// axis is the file's. Pods without GPU, never scheduled, or with deletion <= scheduled are skipped and
/// counted. Errors (file, line, field and value in the message): unknown, missing or repeated column (the
/// multigpu20 file has no times and is refused for its missing column); text that is no whole number;
/// negative values; gpu_milli above 1000, or below 1000 with several GPUs; unknown qos; repeated name; no job
/// at all; and those of read_text_file.
inline Result<Trace> read_openb(const std::string& path) {
  constexpr std::int64_t kMaxSeconds = 10'000'000'000;
  auto opened = Csv::open(path);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec",
                                    "qos", "creation_time", "deletion_time", "scheduled_time"},
                                   {"pod_phase"});
      !ok)
    return ok.error();

  Trace trace;
  trace.source = file_name(path);
  std::set<std::int64_t> seen;
  for (;;) {
    auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    TraceJob job;

    const std::string_view name = csv.text("name");
    const std::string_view digits =
        name.substr(std::min(name.size(), name.find_last_not_of("0123456789") + 1));
    if (digits.empty() ||
        std::from_chars(digits.data(), digits.data() + digits.size(), job.id).ec != std::errc{})
      return csv.bad("name", "does not end in a number");
    if (!seen.insert(job.id).second) return csv.bad("name", "appears twice");

    auto cpu = csv.integer("cpu_milli", 0, 1'000'000'000);
    if (!cpu) return cpu.error();
    auto memory = csv.integer("memory_mib", 0, 1'000'000'000);
    if (!memory) return memory.error();
    auto gpus = csv.integer("num_gpu", 0, 65536);
    if (!gpus) return gpus.error();
    auto share = csv.integer("gpu_milli", 0, 1000);
    if (!share) return share.error();
    auto created = csv.integer("creation_time", 0, kMaxSeconds);
    if (!created) return created.error();
    auto deleted = csv.integer("deletion_time", 0, kMaxSeconds);
    if (!deleted) return deleted.error();

    const std::string_view qos = csv.text("qos");
    constexpr std::string_view kClasses[] = {"BE", "Burstable", "LS", "Guaranteed"};
    const auto found = std::find(std::begin(kClasses), std::end(kClasses), qos);
    if (found == std::end(kClasses)) return csv.bad("qos", "is not one of BE, Burstable, LS, Guaranteed");

    if (*gpus == 0 || *share == 0) {
      ++trace.skipped.no_gpu;
      continue;
    }
    if (*gpus > 1 && *share != 1000) return csv.bad("gpu_milli", "is a share, but num_gpu is above 1");
    if (csv.text("scheduled_time").empty()) {
      ++trace.skipped.never_scheduled;
      continue;
    }
    auto scheduled = csv.integer("scheduled_time", 0, kMaxSeconds);
    if (!scheduled) return scheduled.error();
    if (*deleted <= *scheduled) {
      ++trace.skipped.no_duration;
      continue;
    }
    job.submit_s = static_cast<double>(*created);
    job.duration_s = static_cast<double>(*deleted - *scheduled);
    job.gpus = Milli{*gpus * *share};
    job.allowed_types = std::string(csv.text("gpu_spec"));
    job.cpu = Milli{*cpu};
    job.memory_mib = *memory;
    job.priority = static_cast<int>(found - std::begin(kClasses));
    trace.jobs.push_back(std::move(job));
  }
  if (trace.jobs.empty()) return Error{ErrorCode::kParse, path + ": no job in the file"};
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit_s < b.submit_s; });
  return trace;
}

/// Reads an openb node list into a Cluster: one GpuType per `model`, named in lower case, fastest first by
/// the relative speeds of device_profile.hpp (equal speeds by name). Nodes without GPU are left out. Nodes of
/// one type differ in size in this trace while GpuType is uniform, so a type's GPUs are dealt into equal
/// nodes of g GPUs, g = the greatest common divisor of its nodes' GPU counts: the number of GPUs is exact,
/// host CPU and memory are the type's totals, rounded down per node. Device memory is that of parse_cluster.
/// Errors: as read_openb; kInvalidArgument for a GPU node without model or with one that has no profile, and
/// for more than kMaxGpuTypes types.
inline Result<Cluster> read_openb_nodes(const std::string& path) {
  auto opened = Csv::open(path);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"sn", "cpu_milli", "memory_mib", "gpu", "model"}, {}); !ok)
    return ok.error();

  struct Pool {
    std::int64_t gpus = 0, common = 0, cpu = 0, memory = 0;
  };
  std::map<std::string, Pool> pools;
  for (;;) {
    auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    auto cpu = csv.integer("cpu_milli", 0, 1'000'000'000);
    if (!cpu) return cpu.error();
    auto memory = csv.integer("memory_mib", 0, 1'000'000'000);
    if (!memory) return memory.error();
    auto gpus = csv.integer("gpu", 0, 1024);
    if (!gpus) return gpus.error();
    if (*gpus == 0) continue;
    const std::string type = lower_case(csv.text("model"));
    if (type.empty()) return csv.bad("model", "is empty on a node with GPUs");
    if (find_device(type) == nullptr || detail::known_gpu_memory(type) < 0)
      return csv.bad("model", "is not a known GPU type");
    Pool& pool = pools[type];
    pool.gpus += *gpus;
    pool.common = std::gcd(pool.common, *gpus);
    pool.cpu += *cpu;
    pool.memory += *memory;
    if (pool.gpus > 1'000'000'000) return csv.bad("gpu", "makes the sum too large");
  }
  if (pools.empty()) return Error{ErrorCode::kParse, path + ": no node with a GPU in the file"};
  if (pools.size() > static_cast<std::size_t>(kMaxGpuTypes))
    return Error{ErrorCode::kInvalidArgument, path + ": field 'model': " + std::to_string(pools.size()) +
                                                  " GPU types, at most " + std::to_string(kMaxGpuTypes)};
  Cluster cluster;
  for (const auto& [name, pool] : pools) {
    GpuType type;
    type.name = name;
    type.gpus_per_node = static_cast<int>(pool.common);
    type.nodes = static_cast<int>(pool.gpus / pool.common);
    type.gpu_memory_mib = detail::known_gpu_memory(name);
    type.cpu_per_node = Milli{pool.cpu / type.nodes};
    type.memory_mib_per_node = pool.memory / type.nodes;
    cluster.types.push_back(std::move(type));
  }
  std::stable_sort(cluster.types.begin(), cluster.types.end(), [](const GpuType& a, const GpuType& b) {
    return mean_speed(*find_device(a.name)) > mean_speed(*find_device(b.name));
  });
  return cluster;
}

}  // namespace mara
