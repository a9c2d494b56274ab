#pragma once
// From a trace to jobs of fixed size for the node-level engine.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv_slices.hpp"
#include "mara/workload/gavel_throughputs.hpp"
#include "mara/workload/job.hpp"
#include "mara/workload/rigid_limits.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// What to do with a job that the empty platform could not hold.
enum class TooLarge : std::uint8_t {
  kRefuse,  ///< an error
  kDrop,    ///< it is left out and counted
};

/// Choices of rigid_jobs.
struct RigidOptions {
  /// Speed of each device type of the platform for every job, type 0 usually 1; empty: 1 each.
  std::vector<double> speeds;
  /// Measured throughputs by type, model and GPUs; nothing: `speeds` alone. A job that the table knows has,
  /// on a type that the table knows, the speed measured there over that on `reference`, and cannot run where
  /// it is 0. Must outlive the call.
  const GavelThroughputs* throughputs = nullptr;
  std::string reference = "v100";
  /// How rules that resize jobs see them; the run time at the requested size does not depend on it.
  SpeedUp speed_up{};
  /// max_gpus = requested x this, rounded up; 1 for a share of a GPU. At least 1.
  double max_gpus_factor = 1.0;
  TooLarge too_large = TooLarge::kRefuse;
  /// The placement rule may spread a job over nodes although one node has devices enough (AnyDevices).
  bool spread = false;
};

/// The jobs of a trace as the engine takes them, and what they refer to.
struct RigidJobs {
  std::vector<Job> jobs;                         ///< in the order of the trace
  std::vector<std::vector<std::int64_t>> after;  ///< by index into jobs: ids of jobs that must finish first
  /// By index into jobs: number of the profile of the slices that it asks for (mig_profiles()), or
  /// kNoMigProfile; empty: no job asks for slices.
  std::vector<std::int32_t> mig_profiles;
  std::vector<std::string> models;      ///< names by Job::profile, in order of first use; "" has no index
  std::size_t dropped = 0;              ///< too large (TooLarge::kDrop), or waiting for one that is
  std::size_t constraints_ignored = 0;  ///< jobs none of whose allowed types is in the platform
  bool cpu_ignored = false;             ///< some job asks for CPU, but no node of the platform has any
  bool memory_ignored = false;          ///< the same of memory

  /// The profile that job i asks for, or kNoMigProfile.
  std::int32_t mig_profile(std::size_t i) const noexcept {
    return mig_profiles.empty() ? kNoMigProfile : mig_profiles[i];
  }
  bool has_dependencies() const noexcept {
    return std::any_of(after.begin(), after.end(), [](const auto& ids) { return !ids.empty(); });
  }
};

/// The jobs of a RigidJobs, which must outlive the source, one by one with what they wait for: a JobSource of
/// the engine.
class RigidSource {
 public:
  explicit RigidSource(const RigidJobs& jobs) noexcept : jobs_(&jobs) {}

  template <class Submission>
  bool next(Submission& next) {
    if (at_ == jobs_->jobs.size()) return false;
    next.job = jobs_->jobs[at_];
    if constexpr (requires { next.mig_profile; }) next.mig_profile = jobs_->mig_profile(at_);
    next.after = jobs_->after[at_++];
    return true;
  }

 private:
  const RigidJobs* jobs_;
  std::size_t at_ = 0;
};

namespace detail {

/// Fills in what the table knows of the job's speeds.
inline void measure_speeds(const GavelThroughputs& table, const std::string& reference,
                           const Platform& platform, const TraceJob& source, Job& job) {
  const int scale = static_cast<int>(source.gpus.units());
  const auto there = table.isolated(reference, source.model, scale);
  if (!there || !(*there > 0.0)) return;
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    const auto here = table.isolated(platform.types[t].name, source.model, scale);
    if (here && job.type_speed[t] > 0.0) job.type_speed[t] = *here / *there;
  }
}

}  // namespace detail

/// Makes jobs of fixed size of a trace, for a platform.
/// - work = duration x speed_up(requested) on the reference, that is a type of speed 1; a job without devices
///   has its duration as work. A job that asks for slices (csv_slices.hpp) has its duration on them: the work
///   is times their part of the device, of the first type that it may use.
/// - type_speed = options.speeds, or as measured (options.throughputs), 0 where the job's allowed types
/// exclude the type. "v100" stands for v100m16
///   and v100m32 when the platform has no type of that very name, and so for every family. When none of the
///   allowed types is in the platform, the constraint is ignored and counted.
/// - CPU and memory as in the trace; when no node of the platform has CPU (memory), it does not say, and the
///   demand for it is left out.
/// - Estimate, deadline, tenant, class of service, weight and priority are carried over; profile is an index
///   into `models`.
/// The trace must be in order of submission. Errors name job, field and value: those of check_trace_job and
/// check_platform, kInvalidArgument for a bad option, a trace out of order, slices of an unknown profile or
/// in a number that is not whole, kCapacityExceeded for a job that the empty platform could not hold (with
/// TooLarge::kRefuse), also for a fraction of devices that are given whole or in slices.
inline Result<RigidJobs> rigid_jobs(const Trace& trace, const Platform& platform,
                                    const RigidOptions& options = {}) {
  if (auto ok = check_platform(platform); !ok) return ok.error();
  if (!options.speeds.empty() && options.speeds.size() != platform.types.size())
    return Error{ErrorCode::kInvalidArgument, "speeds: " + std::to_string(options.speeds.size()) +
                                                  " values for " + std::to_string(platform.types.size()) +
                                                  " device types"};
  for (const double speed : options.speeds)
    if (auto ok = check_positive(speed, "speeds"); !ok) return ok.error();
  if (auto ok = check_range(options.max_gpus_factor, 1.0, 1e6, "max_gpus_factor"); !ok) return ok.error();
  bool has_cpu = false, has_memory = false;
  for (const Node& node : platform.nodes) {
    has_cpu = has_cpu || node.cpu.value > 0;
    has_memory = has_memory || node.memory_mib > 0;
  }

  RigidJobs result;
  result.jobs.reserve(trace.jobs.size());
  result.after.reserve(trace.jobs.size());
  std::map<std::string, int, std::less<>> model_index;
  std::vector<std::int64_t> dropped;
  std::map<PlacementDemand, bool> holds;  // most jobs ask for what others ask for
  double last_submit_s = 0.0;
  for (const TraceJob& source : trace.jobs) {
    TraceJob checked = source;
    if (checked.gpus.value == 0) checked.gpus = Milli::whole(1);  // CPU alone is fine here
    if (auto ok = check_trace_job(checked); !ok) return ok.error();
    if (source.submit_s < last_submit_s)
      return job_error(source, "submit_s",
                       "value " + format_number(source.submit_s) + " is before that of the job before it, " +
                           format_number(last_submit_s));
    last_submit_s = source.submit_s;

    Job job;
    job.id = source.id;
    job.submit_s = source.submit_s;
    job.requested = source.gpus;
    job.speed_up = options.speed_up;
    const double gpus = source.gpus.as_double();
    job.max_gpus = source.gpus.value < 1000
                       ? 1
                       : static_cast<int>(std::min(std::ceil(gpus * options.max_gpus_factor), 1e9));
    job.work = source.gpus.value == 0 ? source.duration_s : source.duration_s * job.speed_up(gpus);
    if (auto ok = check_positive(job.work, "work"); !ok)
      return job_error(source, "duration_s", ok.error().message, ok.error().code);
    job.demand = {0, source.cpu, source.memory_mib};
    if (!has_cpu && source.cpu.value > 0) {
      job.demand.cpu = {};
      result.cpu_ignored = true;
    }
    if (!has_memory && source.memory_mib > 0) {
      job.demand.memory_mib = 0;
      result.memory_ignored = true;
    }
    job.priority = source.priority;
    job.tenant = source.tenant;
    job.sla = source.sla;
    job.weight = source.weight;
    job.estimate_s = source.estimate_s;
    job.deadline_s = source.deadline_s;
    if (!source.model.empty()) {
      const auto [at, fresh] = model_index.try_emplace(source.model, static_cast<int>(result.models.size()));
      if (fresh) result.models.push_back(source.model);
      job.profile = at->second;
    }
    const AllowedTypes allowed = split_slices(source.allowed_types);
    std::uint32_t admitted = ~std::uint32_t{0};
    if (!allowed.types.empty()) {
      admitted = detail::admitted_device_types(allowed.types, platform);
      if (admitted == 0) {
        admitted = ~std::uint32_t{0};
        ++result.constraints_ignored;
      }
    }
    for (std::size_t t = 0; t < platform.types.size(); ++t)
      if (((admitted >> t) & 1u) != 0) job.type_speed[t] = options.speeds.empty() ? 1.0 : options.speeds[t];
    if (options.throughputs != nullptr)
      detail::measure_speeds(*options.throughputs, options.reference, platform, source, job);
    for (std::size_t t = 0; t < platform.types.size(); ++t)
      if (!(job.type_speed[t] > 0.0)) admitted &= ~(std::uint32_t{1} << t);

    PlacementDemand demand;
    if (!allowed.profile.empty()) {
      const auto slices = detail::slices_asked(platform, source, allowed.profile);
      if (!slices) return slices.error();
      demand = *slices;
      job.max_gpus = demand.devices;
    }
    const bool fraction = job.requested.value > 0 && job.requested.value < 1000;
    if (fraction)
      demand.share = static_cast<std::int32_t>(job.requested.value);
    else
      demand.devices = static_cast<std::int32_t>(job.requested.units());
    for (std::size_t t = 0; t < platform.types.size(); ++t)
      if (fraction ? platform.types[t].mig.has_value() : ((demand.types >> t) & 1u) == 0)
        admitted &= ~(std::uint32_t{1} << t);
    if (demand.profile != kNoMigProfile && (admitted & demand.types) != 0)
      job.work *= mig_speed(platform, std::countr_zero(admitted & demand.types), demand.profile);
    demand.cpu = job.demand.cpu;
    demand.memory_mib = job.demand.memory_mib;
    demand.types = admitted;
    const auto [known, unseen] = holds.try_emplace(demand, false);
    if (unseen) known->second = detail::could_hold(platform, demand, options.spread);
    if (!known->second) {
      if (options.too_large == TooLarge::kRefuse) {
        if (const std::string why = detail::why_not(platform, source, demand); !why.empty())
          return job_error(source, demand.profile != kNoMigProfile ? "mig_profile" : "gpus", why,
                           ErrorCode::kCapacityExceeded);
        demand.cpu = {};
        demand.memory_mib = 0;
        const bool host = detail::could_hold(platform, demand, options.spread);
        return job_error(
            source, host ? "cpu, memory_mib" : "gpus",
            host ? std::to_string(source.cpu.value) + " milli-CPU, " + std::to_string(source.memory_mib) +
                       " MiB are more than the platform's nodes have for it"
                 : format_number(gpus) + " GPUs are more than any type of the platform that it may use has",
            ErrorCode::kCapacityExceeded);
      }
      dropped.push_back(source.id);
      continue;
    }
    result.jobs.push_back(job);
    result.mig_profiles.push_back(demand.profile);
    result.after.push_back(source.after);
  }

  // Whoever waits for a job that was dropped would wait for ever.
  std::sort(dropped.begin(), dropped.end());
  for (bool again = result.has_dependencies() && !dropped.empty(); again;) {
    again = false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < result.jobs.size(); ++i) {
      const auto& after = result.after[i];
      const bool lost = std::any_of(after.begin(), after.end(), [&](std::int64_t id) {
        return std::binary_search(dropped.begin(), dropped.end(), id);
      });
      if (lost) {
        dropped.insert(std::upper_bound(dropped.begin(), dropped.end(), result.jobs[i].id),
                       result.jobs[i].id);
        again = true;
        continue;
      }
      if (kept != i) {
        result.jobs[kept] = result.jobs[i];
        result.mig_profiles[kept] = result.mig_profiles[i];
        result.after[kept] = std::move(result.after[i]);
      }
      ++kept;
    }
    result.jobs.resize(kept);
    result.mig_profiles.resize(kept);
    result.after.resize(kept);
  }
  if (std::all_of(result.mig_profiles.begin(), result.mig_profiles.end(),
                  [](std::int32_t profile) { return profile == kNoMigProfile; }))
    result.mig_profiles.clear();
  result.dropped = dropped.size();
  return result;
}

}  // namespace mara
