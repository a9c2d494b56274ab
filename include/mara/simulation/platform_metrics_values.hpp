#pragma once
// The measures of a platform simulation.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/math/statistics.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/simulation/metrics.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Mean and quantiles (type 7, as mara::quantile) of a time over the jobs that finished, seconds; nothing
/// when none did.
struct TimeSummary {
  std::optional<double> mean, p50, p95, p99;
};

/// The summary of `values`, which are finite; sorts them.
inline TimeSummary summarise_times(std::vector<double>& values) {
  TimeSummary summary;
  summary.mean = mean(values);
  std::sort(values.begin(), values.end());
  summary.p50 = quantile_sorted(values, 0.50);
  summary.p95 = quantile_sorted(values, 0.95);
  summary.p99 = quantile_sorted(values, 0.99);
  return summary;
}

/// What one class of service got (Job::sla).
struct ClassMetrics {
  int sla = 0;
  std::uint64_t jobs = 0, finished = 0;
  std::optional<double> mean_jct_s, p99_jct_s;
  std::uint64_t deadline_jobs = 0, deadline_misses = 0;  ///< as in PlatformMetrics
};

/// What one tenant got (Job::tenant).
struct TenantMetrics {
  int tenant = 0;
  std::uint64_t jobs = 0, finished = 0;
  double gpu_hours = 0.0;  ///< held, by finished and other jobs
  std::optional<double> mean_jct_s;
  std::optional<double> mean_speed;  ///< mean of 1 / slowdown
};

/// Summary of a run. Times in seconds.
///
/// JCT of a job: end - submission. Ideal of a job: see ideal_s. Means and quantiles are
/// over the jobs that finished, and nothing (never 0 or NaN) when none did.
struct PlatformMetrics {
  std::uint64_t finished = 0;
  std::uint64_t unfinished = 0;  ///< submitted, but waiting or running when the run ended
  std::uint64_t rejected = 0;
  TimeSummary jct_s;
  TimeSummary queueing_s;                       ///< first start - entry into the queue
  std::optional<double> mean_slowdown;          ///< JCT / max(ideal, kShortestIdeal)
  std::optional<double> mean_bounded_slowdown;  ///< max(1, JCT / max(ideal, kSlowdownBound)): case S16
  std::optional<double> jain;                   ///< Jain's index of 1 / slowdown

  /// Finish-time fairness (Mahajan et al., "Themis", NSDI'20): rho = JCT / T, where T is what the job would
  /// have needed on its own 1/N part of the platform and N is the mean number of jobs in the system, itself
  /// included, from its submission to its end. A job of fixed size takes turns on its part: T = max(ideal,
  /// kShortestIdeal) x max(1, N x GPUs it asks for / GPUs of the platform); slices are parts of a GPU. 1 or
  /// less: no worse than a part of its own. A job is in the system from its submission to its end, its
  /// rejection or the end of the run.
  std::optional<double> mean_rho, max_rho;
  std::optional<double> mean_jobs;  ///< in the system, over the span

  double first_submit_s = 0.0, end_s = 0.0;  ///< the span: to the end of the last job or of the run
  std::optional<double> makespan_s;          ///< last completion - first submission

  /// Held over there is, over the span, in [0, 1]; nothing when there is none of it or the span has no
  /// length. Shares of a device count in part; start costs are held time; nodes that are down are there.
  std::optional<double> gpu_utilisation, cpu_utilisation, memory_utilisation;
  std::vector<std::optional<double>> type_utilisation;  ///< of the GPUs of each device type

  double gpu_hours = 0.0;         ///< held
  std::optional<double> goodput;  ///< GPU-seconds of work done and not lost / GPU-seconds held
  /// Seconds of start, resumption, migration and decision costs / seconds executed, over all jobs.
  std::optional<double> overhead_share;
  /// Per job that started.
  std::optional<double> preemptions_per_job, migrations_per_job, failures_per_job;
  std::uint64_t preemptions = 0, migrations = 0, failures = 0;

  /// Jobs with a deadline of which it is known whether they met it: finished, rejected, or still there when
  /// it passed.
  std::uint64_t deadline_jobs = 0;
  std::uint64_t deadline_misses = 0;
  std::optional<double> deadline_miss_rate;  ///< misses / deadline_jobs

  /// Devices draw DeviceType::idle_w when free and busy_w when held, in proportion for a share, over the
  /// span.
  double energy_kwh = 0.0;
  double cost = 0.0;  ///< DeviceType::price_per_hour x device-hours held

  std::vector<ClassMetrics> classes;   ///< in order of Job::sla
  std::vector<TenantMetrics> tenants;  ///< in order of Job::tenant
  /// Jain's index over tenants of the mean of 1 / slowdown; of those that finished a job.
  std::optional<double> tenant_jain;
};

/// Seconds the job needs on its requested GPUs (with `profile`, a number of mig_profiles(), slices) of the
/// type where it is fastest, without overhead, neighbours and distance; its work when it asks for no GPU.
/// Nothing when no type of the platform serves it.
inline std::optional<double> ideal_s(const Platform& platform, const Job& job,
                                     std::int32_t profile = kNoMigProfile) noexcept {
  if (job.requested.value <= 0) return job.work;
  double fastest = 0.0;
  const std::uint32_t types = device_types(platform, job, profile);
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    if (((types >> t) & 1u) == 0) continue;
    double speed = job.type_speed[t];
    if (profile != kNoMigProfile) speed *= mig_speed(platform, static_cast<std::int32_t>(t), profile);
    fastest = std::max(fastest, speed);
  }
  const double rate = fastest * job.speed_up(job.requested.as_double());
  if (!(rate > 0.0)) return std::nullopt;
  return job.work / rate;
}

/// GPUs the job asks for; of slices the part of their devices that they count.
inline double asked_gpus(const Platform& platform, const Job& job,
                         std::int32_t profile = kNoMigProfile) noexcept {
  return profile == kNoMigProfile ? job.requested.as_double()
                                  : demand_of(platform, job, -1, profile).gpus().as_double();
}

}  // namespace mara
