#pragma once
// How well a workload model stands for a trace.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/generate.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_table.hpp"
#include "mara/workload/workload_model.hpp"

namespace mara {

namespace detail {

inline double ratio_or_zero(double a, double b) noexcept {
  return b > 0.0 ? a / b : 0.0;
}

inline double repeat_share(std::span<const TraceJob> jobs) noexcept {
  std::size_t repeats = 0;
  for (std::size_t i = 1; i < jobs.size(); ++i) repeats += jobs[i].gpus == jobs[i - 1].gpus ? 1u : 0u;
  return jobs.size() < 2 ? 0.0 : static_cast<double>(repeats) / static_cast<double>(jobs.size() - 1);
}

}  // namespace detail

/// Compares two workloads (each in order of submission, at least two jobs): `sample` against `trace`. A ratio
/// whose denominator is 0 is given as 0.
inline GoodnessOfFit compare_workloads(std::span<const TraceJob> sample, std::span<const TraceJob> trace) {
  const TraceTable a = trace_table(sample), b = trace_table(trace);
  const std::vector<double> submit_a = column(a, kSubmitColumn), submit_b = column(b, kSubmitColumn);
  const auto work = [](std::span<const TraceJob> jobs) {
    double sum = 0.0;
    for (const TraceJob& job : jobs) sum += job.gpus.as_double() * job.duration_s;
    return sum / static_cast<double>(jobs.size());
  };
  GoodnessOfFit fit;
  fit.sample_jobs = sample.size();
  fit.ks_duration = ks_distance(column(a, kDurationColumn), column(b, kDurationColumn));
  fit.ks_interarrival = ks_distance(interarrivals(a), interarrivals(b));
  std::map<std::int64_t, double> difference;
  for (const TraceJob& job : sample) difference[job.gpus.value] += 1.0 / static_cast<double>(sample.size());
  for (const TraceJob& job : trace) difference[job.gpus.value] -= 1.0 / static_cast<double>(trace.size());
  for (const auto& [gpus, d] : difference) fit.tv_gpus += 0.5 * std::fabs(d);
  const auto mean_gap = [](const std::vector<double>& submit) {
    return (submit.back() - submit.front()) / static_cast<double>(submit.size() - 1);
  };
  fit.ratio_mean_interarrival = detail::ratio_or_zero(mean_gap(submit_a), mean_gap(submit_b));
  fit.ratio_mean_work = detail::ratio_or_zero(work(sample), work(trace));
  fit.ratio_dispersion_hour =
      detail::ratio_or_zero(dispersion(submit_a, 3600.0), dispersion(submit_b, 3600.0));
  fit.ratio_dispersion_day =
      detail::ratio_or_zero(dispersion(submit_a, 86400.0), dispersion(submit_b, 86400.0));
  fit.ratio_repeat_gpus = detail::ratio_or_zero(detail::repeat_share(sample), detail::repeat_share(trace));
  return fit;
}

/// Draws `sample_jobs` jobs from `model` (seed as given) and compares them with `trace`. Errors:
/// kInvalidArgument for fewer than two jobs on either side, and those of generate().
inline Result<GoodnessOfFit> goodness_of_fit(const WorkloadModel& model, std::span<const TraceJob> trace,
                                             std::size_t sample_jobs, std::uint64_t seed) {
  if (trace.size() < 2 || sample_jobs < 2)
    return Error{ErrorCode::kInvalidArgument, "goodness_of_fit: needs at least two jobs on each side, has " +
                                                  std::to_string(sample_jobs) + " and " +
                                                  std::to_string(trace.size())};
  Random random(seed);
  GenerateOptions options;
  options.jobs = sample_jobs;
  auto sample = generate(model, random, options);
  if (!sample) return sample.error();
  return compare_workloads(*sample, trace);
}

}  // namespace mara
