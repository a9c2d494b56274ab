#pragma once
// Measures of a finished simulation.

#include <optional>
#include <span>
#include <vector>

#include "mara/simulation/simulator.hpp"

namespace mara {

/// Summary of a run. Means over finished jobs; empty optionals when no job finished (never 0 or NaN).
struct Metrics {
  std::size_t finished = 0, unfinished = 0;
  std::optional<double> mean_jct_s, p50_jct_s, p95_jct_s, p99_jct_s;
  std::optional<double> mean_slowdown;          ///< JCT / ideal (requested GPUs on the job's fastest type, no start cost)
  std::optional<double> mean_bounded_slowdown;  ///< max(1, JCT / max(ideal, 10 s))
  std::optional<double> jain;                   ///< Jain index of 1/slowdown per job (share of ideal speed received)
  std::optional<double> makespan_s;             ///< last end - first submit
  double gpu_utilisation = 0.0;                 ///< GPU-seconds held / (GPUs x time from first submit to last end), in [0, 1]
  std::vector<double> type_utilisation;         ///< per GPU type
  double cpu_utilisation = 0.0, memory_utilisation = 0.0;
  double restarts_per_job = 0.0;
  std::optional<double> decision_us_p50, decision_us_p99;
};

Metrics measure(const Cluster& cluster, const SimulationResult& result);
/// Jain fairness index; 1 for all zeros, scaled first so that it cannot overflow; empty input: nullopt (case S16).
std::optional<double> jain_index(std::span<const double> values);

}  // namespace mara
