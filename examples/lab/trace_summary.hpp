#pragma once
// What `mara-lab trace` finds out about a trace.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mara/workload/trace.hpp"

namespace lab {

/// Jobs that have something in common: a tenant, a class of service.
struct JobGroup {
  std::string name;
  std::size_t jobs = 0;
  double gpu_hours = 0.0;
  double duration_s = 0.0;  ///< sum

  void add(const mara::TraceJob& job) {
    ++jobs;
    gpu_hours += job.gpus.as_double() * job.duration_s / 3600.0;
    duration_s += job.duration_s;
  }
  void add(const JobGroup& other) {
    jobs += other.jobs;
    gpu_hours += other.gpu_hours;
    duration_s += other.duration_s;
  }
  double mean_duration_s() const { return duration_s / static_cast<double>(std::max<std::size_t>(jobs, 1)); }
};

/// The trace in numbers.
struct TraceSummary {
  mara::WorkloadSummary workload;
  mara::SkippedRows skipped;
  double gpu_hours = 0.0;
  std::vector<double> durations_s, interarrivals_s, gpus;
  std::map<std::int64_t, std::size_t> gpu_counts;  ///< jobs by milli-GPU; all fractions under 0
  std::size_t estimates = 0, deadlines = 0,
              dependent = 0;          ///< jobs that have an estimate, a deadline, wait for others
  std::vector<JobGroup> tenants;      ///< most GPU-hours first; none when the trace tells no tenants apart
  std::vector<JobGroup> sla_classes;  ///< in order of first use; none when the trace tells no classes apart
};

inline constexpr std::size_t kShownTenants = 20;

/// Tenants beyond the first kShownTenants, as one.
inline JobGroup other_tenants(const TraceSummary& summary) {
  JobGroup rest;
  for (std::size_t i = kShownTenants; i < summary.tenants.size(); ++i) rest.add(summary.tenants[i]);
  return rest;
}

namespace detail {
/// Jobs by an index of theirs. None for one group without a name.
inline std::vector<JobGroup> group_jobs(const mara::Trace& trace, const std::vector<std::string>& names,
                                        int mara::TraceJob::*member) {
  std::map<int, JobGroup> groups;
  for (const mara::TraceJob& job : trace.jobs) groups[job.*member].add(job);
  std::vector<JobGroup> list;
  if (names.empty() && groups.size() < 2) return list;
  for (auto& [index, group] : groups) {
    const auto place = static_cast<std::size_t>(index);
    group.name = place < names.size() ? names[place] : std::to_string(index);
    list.push_back(group);
  }
  return list;
}
}  // namespace detail

inline TraceSummary summarise_trace(const mara::Trace& trace) {
  TraceSummary summary;
  summary.workload = mara::summarise(trace);
  summary.skipped = trace.skipped;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const mara::TraceJob& job = trace.jobs[i];
    summary.gpu_hours += job.gpus.as_double() * job.duration_s / 3600.0;
    summary.durations_s.push_back(job.duration_s);
    summary.gpus.push_back(job.gpus.as_double());
    if (i > 0) summary.interarrivals_s.push_back(job.submit_s - trace.jobs[i - 1].submit_s);
    ++summary.gpu_counts[job.gpus.is_whole() ? job.gpus.value : 0];
    if (job.estimate_s != mara::kUnknownTime) ++summary.estimates;
    if (job.deadline_s != mara::kUnknownTime) ++summary.deadlines;
    if (!job.after.empty()) ++summary.dependent;
  }
  summary.tenants = detail::group_jobs(trace, trace.tenants, &mara::TraceJob::tenant);
  std::stable_sort(summary.tenants.begin(), summary.tenants.end(),
                   [](const JobGroup& a, const JobGroup& b) { return a.gpu_hours > b.gpu_hours; });
  summary.sla_classes = detail::group_jobs(trace, trace.sla_classes, &mara::TraceJob::sla);
  return summary;
}

}  // namespace lab
