#pragma once
// Where a trace's record really begins.

#include <cstddef>

#include "mara/core/portable_math.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// The time from which a trace is dense: some records (openb) begin with the few old jobs that were still
/// alive when logging started, months of near silence that would distort rates and splits by time. The most
/// likely change point of a Poisson process with two rates (Raftery and Akman, Biometrika 73, 1986) is
/// returned when the rate before it is below 1 % of the rate after; otherwise the first submission. 0 for an
/// empty trace; jobs must be in order of submission.
inline double dense_start(const Trace& trace) noexcept {
  if (trace.jobs.empty()) return 0.0;
  const double first = trace.jobs.front().submit_s, last = trace.jobs.back().submit_s;
  const auto n = static_cast<double>(trace.jobs.size());
  double best = 0.0, start = first;
  bool found = false;
  for (std::size_t i = 1; i + 1 < trace.jobs.size(); ++i) {
    const double t = trace.jobs[i].submit_s;
    if (!(t > first && t < last)) continue;
    const auto before = static_cast<double>(i);
    const double rate_before = before / (t - first), rate_after = (n - before) / (last - t);
    const double likelihood = before * portable_log(rate_before) + (n - before) * portable_log(rate_after);
    if (found && likelihood <= best) continue;
    best = likelihood;
    found = true;
    start = rate_before < 0.01 * rate_after ? t : first;
  }
  return start;
}

}  // namespace mara
