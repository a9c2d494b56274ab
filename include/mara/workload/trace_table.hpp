#pragma once
// The numbers of a trace as a table, and statistics of its columns.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>
#include <xtensor/xtensor.hpp>

#include "mara/workload/trace.hpp"

namespace mara {

/// Columns of a trace table.
enum TraceColumn : std::size_t { kSubmitColumn, kDurationColumn, kGpusColumn, kTraceColumns };

/// Jobs x columns: submission (s), duration (s), GPUs.
using TraceTable = xt::xtensor<double, 2>;

/// The table of some jobs, in their order.
inline TraceTable trace_table(std::span<const TraceJob> jobs) {
  TraceTable table({jobs.size(), static_cast<std::size_t>(kTraceColumns)});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    table(i, kSubmitColumn) = jobs[i].submit_s;
    table(i, kDurationColumn) = jobs[i].duration_s;
    table(i, kGpusColumn) = jobs[i].gpus.as_double();
  }
  return table;
}

/// One column as a vector.
inline std::vector<double> column(const TraceTable& table, TraceColumn which) {
  std::vector<double> values(table.shape(0));
  for (std::size_t row = 0; row < values.size(); ++row) values[row] = table(row, which);
  return values;
}

/// Differences between consecutive submissions; one less than the rows.
inline std::vector<double> interarrivals(const TraceTable& table) {
  if (table.shape(0) < 2) return {};
  std::vector<double> gaps(table.shape(0) - 1);
  for (std::size_t row = 0; row < gaps.size(); ++row)
    gaps[row] = table(row + 1, kSubmitColumn) - table(row, kSubmitColumn);
  return gaps;
}

/// Number of times in each whole window of `window_s` from the first to the last time. `times` must not fall.
inline std::vector<double> window_counts(std::span<const double> times, double window_s) {
  if (times.empty()) return {};
  const auto windows = static_cast<std::size_t>((times.back() - times.front()) / window_s);
  std::vector<double> counts(windows, 0.0);
  for (const double t : times) {
    const auto window = static_cast<std::size_t>((t - times.front()) / window_s);
    if (window < windows) counts[window] += 1.0;
  }
  return counts;
}

/// Mean and variance of a sample; zero for an empty one.
struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};
inline Moments moments(std::span<const double> sample) noexcept {
  Moments m;
  const auto n = static_cast<double>(sample.size());
  if (sample.empty()) return m;
  for (const double x : sample) m.mean += x;
  m.mean /= n;
  for (const double x : sample) m.variance += (x - m.mean) * (x - m.mean);
  m.variance /= n;
  return m;
}

/// Index of dispersion of counts: variance / mean of the numbers of arrivals in windows; 0 with fewer than
/// two windows.
inline double dispersion(std::span<const double> times, double window_s) {
  const std::vector<double> counts = window_counts(times, window_s);
  const Moments m = moments(counts);
  return counts.size() < 2 || !(m.mean > 0.0) ? 0.0 : m.variance / m.mean;
}

/// Kolmogorov-Smirnov distance: the largest difference between two samples' distribution functions. Both must
/// not be empty.
inline double ks_distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0.0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    largest = std::max(largest, std::fabs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                          static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

}  // namespace mara
