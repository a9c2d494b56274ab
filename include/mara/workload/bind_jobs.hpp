#pragma once
// From a trace to jobs that a given cluster can run.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/device_profile.hpp"
#include "mara/workload/job.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Choices of bind_jobs.
struct BindOptions {
  std::uint64_t seed = 1;  ///< of the class drawn for a job without a known model
  double max_gpus_factor =
      2.0;  ///< max_gpus = requested x this, rounded up, >= requested; 1 for a share of a GPU
  bool check_memory = true;  ///< false: device memory rules out no type
  /// Speeds (a100 = 1, the same for every job) of cluster types that device_profile.hpp does not know.
  std::vector<std::pair<std::string, double>> extra_speeds;
};

/// What bind_jobs had to decide.
struct BindReport {
  std::size_t constraints_ignored = 0;  ///< jobs none of whose allowed types is in the cluster
  std::size_t unknown_models = 0;       ///< jobs that name a model without a profile, treated as having none
};

namespace detail {

/// Which cluster types the names in `allowed` admit: the type of that name (case aside), else those of its
/// family.
inline std::vector<bool> admitted_types(std::string_view allowed, const Cluster& cluster,
                                        const std::vector<const Device*>& devices) {
  std::vector<bool> admitted(cluster.types.size(), false);
  while (!allowed.empty()) {
    const std::size_t bar = std::min(allowed.find('|'), allowed.size());
    const std::string name = lower_case(allowed.substr(0, bar));
    allowed.remove_prefix(std::min(bar + 1, allowed.size()));
    bool exact = false;
    for (std::size_t i = 0; i < admitted.size(); ++i) {
      if (lower_case(cluster.types[i].name) != name) continue;
      admitted[i] = exact = true;
    }
    const Device* device = find_device(name);
    for (std::size_t i = 0; !exact && device != nullptr && i < admitted.size(); ++i)
      if (devices[i] != nullptr && devices[i]->family == device->family) admitted[i] = true;
  }
  return admitted;
}

}  // namespace detail

/// Binds a trace to a cluster: fills each Job from the job's profile (device_profile.hpp; by model, or a
/// class drawn from seed and id).
/// - work = duration x S(requested): the trace's durations are taken as run times on type 0 of the cluster.
/// - type_speed[i] = table speed on type i / table speed on type 0, also when the job itself cannot run on
/// type 0; 0
///   where the device memory is too small or the job's allowed types exclude it. "v100" stands for V100M16
///   and V100M32 when the cluster has no type of that very name, and so for every family.
/// - If none of a job's allowed types is in the cluster, the constraint is ignored and counted. If some are,
/// the
///   job's memory need is capped by the largest device among them: the trace says that it runs there.
/// - A job that asks for a share of one GPU needs that share of its profile's device memory.
/// - Demand: host CPU and memory as in the trace (0 when it does not say).
/// The jobs keep the order of the trace. Errors name job, field and value: kInvalidArgument for a bad number
/// or a cluster type with no known speed, kCapacityExceeded for a job that no type of the cluster can hold.
inline Result<std::vector<Job>> bind_jobs(const Trace& trace, const Cluster& cluster,
                                          const BindOptions& options = {}, BindReport* report = nullptr) {
  const std::size_t types = cluster.types.size();
  if (types == 0 || types > static_cast<std::size_t>(kMaxGpuTypes))
    return Error{ErrorCode::kInvalidArgument, "cluster: " + std::to_string(types) +
                                                  " GPU types, must be 1 to " + std::to_string(kMaxGpuTypes)};
  if (!(options.max_gpus_factor >= 1.0 && options.max_gpus_factor <= 1e6))
    return Error{ErrorCode::kInvalidArgument,
                 "max_gpus_factor: must be in [1, 1e6], got " + std::to_string(options.max_gpus_factor)};
  std::vector<const Device*> devices;
  std::vector<double> fixed_speed(types, 0.0);
  for (std::size_t i = 0; i < types; ++i) {
    devices.push_back(find_device(lower_case(cluster.types[i].name)));
    for (const auto& [name, speed] : options.extra_speeds)
      if (name == cluster.types[i].name) fixed_speed[i] = speed;
    if (devices[i] == nullptr && !(fixed_speed[i] > 0.0 && std::isfinite(fixed_speed[i])))
      return Error{ErrorCode::kInvalidArgument,
                   "cluster: GPU type '" + cluster.types[i].name + "' has no known speed (see extra_speeds)"};
  }

  BindReport counts;
  std::vector<Job> jobs;
  jobs.reserve(trace.jobs.size());
  for (const TraceJob& source : trace.jobs) {
    if (auto ok = check_trace_job(source); !ok) return ok.error();
    const JobProfile profile = profile_of(source.model, source.id, options.seed);
    if (!source.model.empty() && find_model_profile(source.model) == nullptr) ++counts.unknown_models;

    std::int64_t need = options.check_memory ? profile.gpu_memory_mib : 0;
    if (source.gpus.value < 1000) need = need * source.gpus.value / 1000;
    std::vector<bool> admitted(types, true);
    if (!source.allowed_types.empty()) {
      admitted = detail::admitted_types(source.allowed_types, cluster, devices);
      std::int64_t largest = -1;
      for (std::size_t i = 0; i < types; ++i)
        if (admitted[i]) largest = std::max(largest, cluster.types[i].gpu_memory_mib);
      if (largest < 0) {
        ++counts.constraints_ignored;
        admitted.assign(types, true);
      } else {
        need = std::min(need, largest);
      }
    }

    Job job;
    job.id = source.id;
    job.submit_s = source.submit_s;
    job.requested = source.gpus;
    job.max_gpus = source.gpus.value < 1000
                       ? 1
                       : static_cast<int>(std::ceil(source.gpus.as_double() * options.max_gpus_factor));
    job.demand = {need, source.cpu, source.memory_mib};
    job.priority = source.priority;
    job.tenant = source.tenant;
    job.speed_up = {SpeedUp::Kind::kPower, profile.speed_up_exponent};
    job.work = source.duration_s * job.speed_up(source.gpus.as_double());
    const auto table = [&](std::size_t i) {
      return fixed_speed[i] > 0.0 ? fixed_speed[i] : profile.speed_on(*devices[i]);
    };
    bool has_memory = false, has_gpus = false, has_host = false;
    for (std::size_t i = 0; i < types; ++i) {
      const GpuType& type = cluster.types[i];
      if (!admitted[i] || type.gpu_memory_mib < need) continue;
      job.type_speed[i] = table(i) / table(0);
      has_memory = true;
      if (Milli::whole(type.gpus()) < source.gpus) continue;
      has_gpus = true;
      has_host = has_host || (type.cpu_per_node.value * type.nodes >= source.cpu.value &&
                              type.memory_mib_per_node * type.nodes >= source.memory_mib);
    }
    constexpr auto kTooLarge = ErrorCode::kCapacityExceeded;
    if (!has_memory)
      return job_error(source, "gpu_memory_mib",
                       std::to_string(need) + " MiB (" + std::string(profile.name) +
                           ") is more than any GPU type of the cluster that it may use has",
                       kTooLarge);
    if (!has_gpus)
      return job_error(source, "num_gpu",
                       std::to_string(source.gpus.units()) +
                           " GPUs are more than any GPU type of the cluster that it may use has",
                       kTooLarge);
    if (!has_host)
      return job_error(source, "cpu, memory_mib",
                       std::to_string(source.cpu.value) + " milli-CPU, " + std::to_string(source.memory_mib) +
                           " MiB are more than the hosts of any GPU type that it may use have",
                       kTooLarge);
    jobs.push_back(job);
  }
  if (report != nullptr) *report = counts;
  return jobs;
}

}  // namespace mara
