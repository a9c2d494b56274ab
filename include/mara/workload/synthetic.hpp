#pragma once
// Workloads by formula: how arrivals, lengths, sizes and dependencies are distributed.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/portable_math.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// When jobs arrive. The mean rate is `rate_per_s` for every kind.
struct ArrivalProcess {
  enum class Kind : std::uint8_t {
    kPoisson,
    kBursty,   ///< Markov-modulated Poisson process with two states (Fischer & Meier-Hellstern, 1993)
    kDiurnal,  ///< Poisson process whose rate swings like a sine with a period of a day
  };
  Kind kind = Kind::kPoisson;
  double rate_per_s = 1.0;
  /// kBursty: the rate in bursts is this many times the rate between them (>= 1); mean length of a burst and
  /// of the time between two, seconds.
  double burst_factor = 10.0, burst_s = 600.0, calm_s = 3000.0;
  /// kDiurnal: the rate is rate_per_s (1 + swing sin(2 pi t / day)), 0 <= swing <= 1.
  double swing = 0.8;
};

/// How long jobs run. The mean is `mean_s` for every kind.
struct DurationDistribution {
  enum class Kind : std::uint8_t {
    kExponential,
    kLogNormal,
    kParetoBounded,     ///< density ~ x^-(shape + 1) between a lowest and a largest value
    kHyperExponential,  ///< a short job with probability `short_share`, else a long one
    kConstant,
  };
  Kind kind = Kind::kExponential;
  double mean_s = 3600.0;
  double sigma = 1.5;         ///< kLogNormal: of the logarithm
  double shape = 1.1;         ///< kParetoBounded
  double spread = 1e4;        ///< kParetoBounded: largest over lowest value, > 1
  double short_share = 0.9;   ///< kHyperExponential
  double long_factor = 30.0;  ///< kHyperExponential: mean of the long over mean of the short ones
};

/// What waits for what. Jobs come in groups of `group`; a group is submitted together.
struct DependencyShape {
  enum class Kind : std::uint8_t {
    kNone,
    kChain,     ///< each job of a group waits for the one before
    kForkJoin,  ///< the first job, then all but the last side by side, then the last
    kLayered,   ///< layers of random width; a job waits for one to three jobs of the layer before
  };
  Kind kind = Kind::kNone;
  std::size_t group = 8;
};

/// A number of GPUs, and how often jobs ask for it: weights need not add up to 1.
struct GpuShare {
  int gpus = 1;
  double weight = 0.0;
};

/// Half of the jobs on one GPU, the others on two, four and eight.
inline constexpr GpuShare kUsualGpus[] = {{1, 0.5}, {2, 0.2}, {4, 0.15}, {8, 0.15}};

/// A workload by formula.
struct SyntheticWorkload {
  std::size_t jobs = 1000;
  ArrivalProcess arrivals{};
  DurationDistribution durations{};
  std::vector<GpuShare> gpus{std::begin(kUsualGpus), std::end(kUsualGpus)};
  DependencyShape dependencies{};
  int tenants = 1;  ///< drawn uniformly
  /// Estimate = duration times a factor uniform in [1, this]; 0: no estimates.
  double estimate_factor = 0.0;
  /// Deadline = submission + duration times a factor uniform in [1.5, this]; 0: no deadlines.
  double deadline_factor = 0.0;
};

/// Whether the numbers make sense; errors name the field and the value.
inline Status check_synthetic(const SyntheticWorkload& w) {
  const auto in = [](const char* field, double value, double low, double high) -> Status {
    if (value >= low && value <= high) return {};
    return Error{std::isfinite(value) ? ErrorCode::kInvalidArgument : ErrorCode::kNumerical,
                 std::string("synthetic workload: ") + field + " is " + format_number(value) +
                     ", must be in [" + format_number(low) + ", " + format_number(high) + "]"};
  };
  const struct {
    const char* field;
    double value, low, high;
  } checks[] = {{"jobs", static_cast<double>(w.jobs), 1.0, 1e9},
                {"arrivals.rate_per_s", w.arrivals.rate_per_s, 1e-9, 1e9},
                {"arrivals.burst_factor", w.arrivals.burst_factor, 1.0, 1e6},
                {"arrivals.burst_s", w.arrivals.burst_s, 1e-6, 1e9},
                {"arrivals.calm_s", w.arrivals.calm_s, 1e-6, 1e9},
                {"arrivals.swing", w.arrivals.swing, 0.0, 1.0},
                {"durations.mean_s", w.durations.mean_s, 1e-6, 1e9},
                {"durations.sigma", w.durations.sigma, 0.0, 5.0},
                {"durations.shape", w.durations.shape, 0.1, 10.0},
                {"durations.spread", w.durations.spread, 1.0 + 1e-9, 1e12},
                {"durations.short_share", w.durations.short_share, 0.0, 1.0},
                {"durations.long_factor", w.durations.long_factor, 1.0, 1e6},
                {"dependencies.group", static_cast<double>(w.dependencies.group), 1.0, 1e6},
                {"tenants", static_cast<double>(w.tenants), 1.0, 1e6},
                {"estimate_factor", w.estimate_factor, 0.0, 1e6},
                {"deadline_factor", w.deadline_factor, 0.0, 1e6}};
  for (const auto& check : checks)
    if (auto ok = in(check.field, check.value, check.low, check.high); !ok) return ok;
  if (w.estimate_factor != 0.0)
    if (auto ok = in("estimate_factor", w.estimate_factor, 1.0, 1e6); !ok) return ok;
  if (w.deadline_factor != 0.0)
    if (auto ok = in("deadline_factor", w.deadline_factor, 1.5, 1e6); !ok) return ok;
  double sum = 0.0;
  for (const auto& [gpus, weight] : w.gpus) {
    if (auto ok = in("gpus", gpus, 1.0, 65536.0); !ok) return ok;
    if (auto ok = in("weight of gpus", weight, 0.0, 1e9); !ok) return ok;
    sum += weight;
  }
  return in("weights of gpus, added up", sum, 1e-12, 1e12);
}

namespace detail {

/// Times of an arrival process, one after the other.
class ArrivalClock {
 public:
  ArrivalClock(const ArrivalProcess& process, Random& random) : process_(process), random_(random) {
    // Mean rate = (burst share x factor + calm share) x calm rate.
    const double share = process.burst_s / (process.burst_s + process.calm_s);
    calm_rate_ = process.rate_per_s / (share * process.burst_factor + (1.0 - share));
    burst_ = random.uniform() < share;
    if (process.kind == ArrivalProcess::Kind::kBursty) switch_ = random.exponential(1.0 / length());
  }

  double next() {
    switch (process_.kind) {
      case ArrivalProcess::Kind::kPoisson:
        return now_ += random_.exponential(process_.rate_per_s);
      case ArrivalProcess::Kind::kDiurnal:
        // Thinning (Lewis & Shedler, "Simulation of nonhomogeneous Poisson processes by thinning", 1979).
        for (const double most = process_.rate_per_s * (1.0 + process_.swing);;) {
          now_ += random_.exponential(most);
          if (random_.uniform() * most < rate_at(now_)) return now_;
        }
      case ArrivalProcess::Kind::kBursty:
        break;
    }
    for (;;) {
      const double at = now_ + random_.exponential(burst_ ? calm_rate_ * process_.burst_factor : calm_rate_);
      if (at <= switch_) return now_ = at;
      now_ = switch_;  // the exponential law has no memory: draw again in the other state
      burst_ = !burst_;
      switch_ = now_ + random_.exponential(1.0 / length());
    }
  }

 private:
  double length() const noexcept { return burst_ ? process_.burst_s : process_.calm_s; }
  double rate_at(double time) const noexcept {
    constexpr double kDay = 86400.0;
    const double phase = time / kDay - std::floor(time / kDay);
    return process_.rate_per_s * (1.0 + process_.swing * std::sin(2.0 * std::numbers::pi * phase));
  }

  const ArrivalProcess& process_;
  Random& random_;
  double now_ = 0.0, switch_ = 0.0, calm_rate_ = 0.0;
  bool burst_ = false;
};

inline double draw_duration(const DurationDistribution& law, Random& random) {
  switch (law.kind) {
    case DurationDistribution::Kind::kExponential:
      return random.exponential(1.0 / law.mean_s);
    case DurationDistribution::Kind::kLogNormal:
      return random.log_normal(portable_log(law.mean_s) - 0.5 * law.sigma * law.sigma, law.sigma);
    case DurationDistribution::Kind::kHyperExponential: {
      const double short_mean = law.mean_s / (law.short_share + (1.0 - law.short_share) * law.long_factor);
      const bool is_short = random.uniform() < law.short_share;
      return random.exponential(1.0 / (is_short ? short_mean : short_mean * law.long_factor));
    }
    case DurationDistribution::Kind::kParetoBounded: {
      // Inversion; the lowest value follows from the mean.
      const double a = law.shape, tail = portable_exp(-a * portable_log(law.spread));
      const double mean_of_unit = a == 1.0 ? portable_log(law.spread) / (1.0 - tail)
                                           : a / (a - 1.0) * (1.0 - tail * law.spread) / (1.0 - tail);
      const double u = random.uniform();
      return law.mean_s / mean_of_unit * portable_exp(-portable_log(1.0 - u * (1.0 - tail)) / a);
    }
    case DurationDistribution::Kind::kConstant:
      break;
  }
  return law.mean_s;
}

/// Who waits for whom in a group of `size` jobs: indices within the group, all smaller than the job's own.
inline std::vector<std::vector<std::size_t>> draw_dependencies(DependencyShape::Kind kind, std::size_t size,
                                                               Random& random) {
  std::vector<std::vector<std::size_t>> after(size);
  switch (kind) {
    case DependencyShape::Kind::kNone:
      break;
    case DependencyShape::Kind::kChain:
      for (std::size_t i = 1; i < size; ++i) after[i] = {i - 1};
      break;
    case DependencyShape::Kind::kForkJoin:
      for (std::size_t i = 1; i + 1 < size; ++i) after[i] = {0};
      if (size == 2) after[1] = {0};
      for (std::size_t i = 1; i + 1 < size; ++i) after[size - 1].push_back(i);
      break;
    case DependencyShape::Kind::kLayered: {
      std::size_t begin = 0, end = 0;  // of the layer before
      for (std::size_t first = 0; first < size;) {
        const std::size_t width = std::min<std::size_t>(size - first, 1 + random.below(4));
        for (std::size_t i = first; i < first + width && end > begin; ++i) {
          const std::size_t wanted = std::min<std::size_t>(end - begin, 1 + random.below(3));
          std::vector<std::size_t> layer;
          for (std::size_t j = begin; j < end; ++j) layer.push_back(j);
          random.shuffle(layer);
          layer.resize(wanted);
          std::sort(layer.begin(), layer.end());
          after[i] = std::move(layer);
        }
        begin = first;
        end = first += width;
      }
      break;
    }
  }
  return after;
}

}  // namespace detail

/// Draws a workload. Ids count from 0 in order of submission; the same seed gives the same jobs. Errors:
/// those of check_synthetic.
inline Result<Trace> draw_synthetic(const SyntheticWorkload& workload, std::uint64_t seed) {
  if (auto ok = check_synthetic(workload); !ok) return ok.error();
  Random random(seed, 0x73796e7468u);
  detail::ArrivalClock clock(workload.arrivals, random);
  std::vector<double> weights;
  for (const auto& [gpus, weight] : workload.gpus) weights.push_back(weight);
  Trace trace;
  trace.source = "synthetic";
  const bool grouped = workload.dependencies.kind != DependencyShape::Kind::kNone;
  while (trace.jobs.size() < workload.jobs) {
    const std::size_t first = trace.jobs.size();
    const std::size_t size =
        grouped ? std::min(workload.dependencies.group, workload.jobs - first) : std::size_t{1};
    double submit = clock.next();
    // The rate counts jobs, so groups come as much more seldom.
    for (std::size_t i = 1; i < size; ++i) submit = clock.next();
    const auto after = detail::draw_dependencies(workload.dependencies.kind, size, random);
    for (std::size_t i = 0; i < size; ++i) {
      TraceJob job;
      job.id = static_cast<std::int64_t>(first + i);
      job.submit_s = submit;
      job.duration_s = std::max(1e-6, detail::draw_duration(workload.durations, random));
      job.gpus = Milli::whole(workload.gpus[static_cast<std::size_t>(random.categorical(weights))].gpus);
      job.tenant = static_cast<int>(random.below(static_cast<std::uint32_t>(workload.tenants)));
      if (workload.estimate_factor > 0.0)
        job.estimate_s = job.duration_s * random.uniform(1.0, workload.estimate_factor);
      if (workload.deadline_factor > 0.0)
        job.deadline_s = submit + job.duration_s * random.uniform(1.5, workload.deadline_factor);
      for (const std::size_t j : after[i]) job.after.push_back(static_cast<std::int64_t>(first + j));
      trace.jobs.push_back(std::move(job));
    }
  }
  return trace;
}

}  // namespace mara
