#pragma once
// How many jobs were in a system at a time, for measures that compare a job with its contenders.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mara {

/// When a job was in the system: [submit_s, end_s).
struct JobSpan {
  double submit_s = 0.0, end_s = 0.0;
};

/// The number of jobs in the system over time. O(n log n) to make, O(log n) to ask.
class Population {
 public:
  explicit Population(std::span<const JobSpan> jobs) {
    std::vector<std::pair<double, int>> changes;
    changes.reserve(2 * jobs.size());
    for (const JobSpan& job : jobs) {
      changes.emplace_back(job.submit_s, +1);
      changes.emplace_back(job.end_s, -1);
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t present = 0;
    double integral = 0.0;
    for (std::size_t i = 0; i < changes.size();) {
      const double time = changes[i].first;
      if (!steps_.empty()) integral += static_cast<double>(present) * (time - steps_.back().from_s);
      for (; i < changes.size() && changes[i].first == time; ++i)
        changes[i].second > 0 ? ++present : --present;
      steps_.push_back({time, static_cast<double>(present), integral});
    }
  }

  /// Mean number over [from_s, to_s); nothing when that has no length.
  std::optional<double> mean(double from_s, double to_s) const noexcept {
    if (!(to_s > from_s)) return std::nullopt;
    return (until(to_s) - until(from_s)) / (to_s - from_s);
  }

 private:
  struct Step {
    double from_s, jobs, before;  // before: job-seconds until from_s
  };

  double until(double time) const noexcept {
    const auto next = std::upper_bound(steps_.begin(), steps_.end(), time,
                                       [](double t, const Step& step) { return t < step.from_s; });
    if (next == steps_.begin()) return 0.0;
    const Step& step = *(next - 1);
    return step.before + step.jobs * (time - step.from_s);
  }

  std::vector<Step> steps_;
};

}  // namespace mara
