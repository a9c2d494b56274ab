#pragma once
// Measures of a finished simulation.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/math/statistics.hpp"
#include "mara/simulation/records.hpp"
#include "mara/simulation/validation.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Shorter ideal times count as this long in a slowdown, so that a job of zero work has a finite one.
/// Seconds.
inline constexpr double kShortestIdeal = 1e-3;
/// The threshold of the bounded slowdown, seconds (Feitelson et al., "Theory and practice in parallel job
/// scheduling", JSSPP 1997).
inline constexpr double kSlowdownBound = 10.0;

/// Summary of a run. Times in seconds. JCT of a job: completion - submission, waiting and start costs
/// included. Ideal of a job: see ideal_s. Means and quantiles are over finished jobs; empty optionals when no
/// job finished (never 0 or NaN). Quantiles interpolate between order statistics, as mara::quantile.
struct Metrics {
  std::size_t finished = 0;
  std::size_t unfinished = 0;  ///< waiting, running or not yet submitted at the end of the run
  std::optional<double> mean_jct_s, p50_jct_s, p95_jct_s, p99_jct_s;
  std::optional<double> mean_slowdown;          ///< JCT / max(ideal, kShortestIdeal)
  std::optional<double> mean_bounded_slowdown;  ///< max(1, JCT / max(ideal, kSlowdownBound))
  std::optional<double> jain;                   ///< Jain index of 1/slowdown (share of ideal speed received)
  std::optional<double> makespan_s;             ///< last completion - first submission
  /// Resources held over resources there are, in [0, 1], from the first submission to the end of the run (the
  /// last completion; the horizon when jobs are unfinished). Start costs are held time. 0 for a run of no
  /// length.
  double gpu_utilisation = 0.0;
  std::vector<double> type_utilisation;  ///< the same per GPU type
  double cpu_utilisation = 0.0, memory_utilisation = 0.0;
  double restarts_per_job = 0.0;  ///< over jobs that started; 0 when none did
  std::optional<double> decision_us_p50, decision_us_p99;
};

/// Jain fairness index (sum x)^2 / (n sum x^2), in [1/n, 1] (Jain et al., DEC-TR-301, 1984); 1 for all zeros.
/// Scaled first so that it neither overflows nor underflows. nullopt for empty input (case S16) and for a
/// value that is negative, NaN or infinite.
inline std::optional<double> jain_index(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double largest = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value) || value < 0.0) return std::nullopt;
    largest = std::max(largest, value);
  }
  if (largest == 0.0) return 1.0;
  double sum = 0.0, squares = 0.0;
  for (const double value : values) {
    const double x = value / largest;
    sum += x;
    squares += x * x;
  }
  return sum * sum / (static_cast<double>(values.size()) * squares);
}

/// Seconds the job needs on its requested GPUs of the type where it is fastest, among those that could hold
/// it, without start cost. nullopt when no type of the cluster can.
inline std::optional<double> ideal_s(const Cluster& cluster, const Job& job) noexcept {
  double fastest = 0.0;
  for (int t = 0; t < cluster.type_count(); ++t)
    if (could_run(cluster, job, t)) fastest = std::max(fastest, job.rate(Grant{t, job.requested}));
  if (!(fastest > 0.0)) return std::nullopt;
  return job.work / fastest;
}

/// The measures of a run on the cluster it was run on.
inline Metrics measure(const Cluster& cluster, const SimulationResult& result) {
  Metrics metrics;
  std::vector<double> jct, slowdown, bounded, speed;
  double last_end = 0.0;
  std::size_t started = 0;
  long long restarts = 0;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    const JobRecord& record = result.records[i];
    const Job& job = result.jobs[i];
    if (record.started) ++started;
    restarts += record.restarts;
    if (!record.finished) continue;
    const double took = record.end_s - job.submit_s;
    jct.push_back(took);
    last_end = std::max(last_end, record.end_s);
    const double ideal = ideal_s(cluster, job).value_or(0.0);
    slowdown.push_back(took / std::max(ideal, kShortestIdeal));
    bounded.push_back(std::max(1.0, took / std::max(ideal, kSlowdownBound)));
    // A job of no work that ends as it comes has had all the speed there is.
    speed.push_back(took > 0.0 ? std::max(ideal, kShortestIdeal) / took : 1.0);
  }
  metrics.finished = jct.size();
  metrics.unfinished = result.records.size() - jct.size();
  metrics.mean_jct_s = mean(jct);
  metrics.mean_slowdown = mean(slowdown);
  metrics.mean_bounded_slowdown = mean(bounded);
  metrics.jain = jain_index(speed);
  std::sort(jct.begin(), jct.end());
  metrics.p50_jct_s = quantile_sorted(jct, 0.50);
  metrics.p95_jct_s = quantile_sorted(jct, 0.95);
  metrics.p99_jct_s = quantile_sorted(jct, 0.99);
  if (started > 0) metrics.restarts_per_job = static_cast<double>(restarts) / static_cast<double>(started);

  const double first = result.jobs.empty() ? 0.0 : result.jobs.front().submit_s;
  if (metrics.finished > 0) metrics.makespan_s = last_end - first;
  // Rounding alone can carry a full pool past 1: the ledger lets nobody hold more than there is.
  const double span = result.end_s - first;
  const auto share = [span](double held, double there) {
    return span > 0.0 && there > 0.0 ? std::min(1.0, held / (there * span)) : 0.0;
  };
  double gpu_s = 0.0, cores = 0.0, memory_mib = 0.0;
  for (std::size_t t = 0; t < cluster.types.size() && t < result.use.gpu_s.size(); ++t) {
    const GpuType& type = cluster.types[t];
    metrics.type_utilisation.push_back(share(result.use.gpu_s[t], type.gpus()));
    gpu_s += result.use.gpu_s[t];
    cores += type.cpu().as_double();
    memory_mib += static_cast<double>(type.memory_mib());
  }
  metrics.gpu_utilisation = share(gpu_s, cluster.gpus());
  metrics.cpu_utilisation = share(result.use.cpu_s, cores);
  metrics.memory_utilisation = share(result.use.memory_mib_s, memory_mib);

  metrics.decision_us_p50 = quantile(result.decision_us, 0.50);
  metrics.decision_us_p99 = quantile(result.decision_us, 0.99);
  return metrics;
}

}  // namespace mara
