#pragma once
// Drawing jobs from a workload model.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/portable_math.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/workload_model.hpp"

namespace mara {

/// How arrivals are drawn: as the model has them, or as a Poisson process of the same mean rate with
/// independent jobs (the usual, too gentle assumption).
enum class ArrivalKind : std::uint8_t { kAsFitted, kPoisson };

/// What generate() is to draw: jobs until `horizon_s` or until there are `jobs`, whichever is first; a limit
/// of 0 does not count, and one must be set.
struct GenerateOptions {
  double horizon_s = 0.0;
  std::size_t jobs = 0;
  double rate_scale = 1.0;  ///< arrivals this many times as often, run times unchanged
  ArrivalKind kind = ArrivalKind::kAsFitted;
};

/// An endless sequence of jobs of a model. Numbers depend on the model, the generator's state, rate_scale and
/// kind.
class JobStream {
 public:
  /// `model` must satisfy check_workload_model, rate_scale be positive and finite, and model and random
  /// outlive the stream.
  JobStream(const WorkloadModel& model, Random& random, double rate_scale = 1.0,
            ArrivalKind kind = ArrivalKind::kAsFitted)
      : model_(model), random_(random), rate_scale_(rate_scale), kind_(kind), mean_gap_(model.gaps.mean()) {
    for (const JobShape& shape : model.shapes) shape_weights_.push_back(shape.probability);
    for (const ModelShare& share : model.models) model_weights_.push_back(share.probability);
    for (const PriorityShare& share : model.priorities) priority_weights_.push_back(share.probability);
    regime_ = random_.below(static_cast<std::uint32_t>(model.regimes.size()));
    if (modulated()) {
      day_normal_ = random_.normal();
      rate_ = rate();
    }
  }

  /// The next job; submissions never fall, ids count from 0.
  TraceJob next() {
    bool repeat_shape = false, repeat_duration = false;
    if (kind_ == ArrivalKind::kPoisson) {
      now_s_ += random_.exponential(rate_scale_ / mean_gap_);
    } else {
      const double share =
          (static_cast<double>(regime_) + random_.uniform()) / static_cast<double>(model_.regimes.size());
      advance(model_.gaps.at(share) / rate_scale_);
      const GapRegime& regime = model_.regimes[regime_];
      // Every draw is made in every case: the sequence does not shift when a probability changes.
      repeat_shape = random_.uniform() < regime.repeat_shape && count_ > 0;
      repeat_duration = random_.uniform() < regime.repeat_duration && repeat_shape;
      regime_ = static_cast<std::size_t>(std::max(random_.categorical(regime.next), 0));
    }
    const auto drawn_shape = static_cast<std::size_t>(std::max(random_.categorical(shape_weights_), 0));
    const double drawn_rank = random_.uniform();
    const double jitter = model_.duration_jitter * (2.0 * random_.uniform() - 1.0);
    if (!repeat_shape) shape_ = drawn_shape;
    rank_ = repeat_duration ? reflect(rank_ + jitter) : drawn_rank;

    const JobShape& shape = model_.shapes[shape_];
    TraceJob job;
    job.id = count_++;
    job.submit_s = now_s_;
    job.duration_s = model_.durations[static_cast<std::size_t>(shape.duration_class)].at(rank_);
    job.gpus = shape.gpus;
    job.cpu = shape.cpu;
    job.memory_mib = shape.memory_mib;
    job.model =
        model_.models[static_cast<std::size_t>(std::max(random_.categorical(model_weights_), 0))].model;
    job.priority =
        model_.priorities[static_cast<std::size_t>(std::max(random_.categorical(priority_weights_), 0))]
            .priority;
    return job;
  }

 private:
  static constexpr double kHour = 3600.0;

  bool modulated() const noexcept {
    return kind_ == ArrivalKind::kAsFitted &&
           (model_.modulation.sigma > 0.0 || !model_.modulation.hourly.empty());
  }

  double rate() const noexcept {
    const RateModulation& m = model_.modulation;
    const double hourly = m.hourly.empty() ? 1.0 : m.hourly[static_cast<std::size_t>(hour_ % 24)];
    return hourly * portable_exp(m.sigma * day_normal_ - 0.5 * m.sigma * m.sigma);
  }

  // Moves now_s_ so far that the integral of the rate over the way is `gap`.
  void advance(double gap) noexcept {
    if (!modulated()) {
      now_s_ += gap;
      return;
    }
    for (;;) {
      const double end = static_cast<double>(hour_ + 1) * kHour;
      const double room = (end - now_s_) * rate_;
      if (gap < room) {
        now_s_ += gap / rate_;
        return;
      }
      gap -= room;
      now_s_ = end;
      ++hour_;
      if (hour_ % 24 == 0) {
        const double rho = model_.modulation.correlation;
        day_normal_ = rho * day_normal_ + std::sqrt(1.0 - rho * rho) * random_.normal();
      }
      rate_ = rate();
    }
  }

  static double reflect(double rank) noexcept {
    if (rank < 0.0) return -rank;
    return rank > 1.0 ? 2.0 - rank : rank;
  }

  const WorkloadModel& model_;
  Random& random_;
  double rate_scale_;
  ArrivalKind kind_;
  double mean_gap_;
  std::vector<double> shape_weights_, model_weights_, priority_weights_;
  double now_s_ = 0.0;
  std::int64_t count_ = 0;
  std::int64_t hour_ = 0;
  double day_normal_ = 0.0, rate_ = 1.0;
  std::size_t regime_ = 0;
  std::size_t shape_ = 0;
  double rank_ = 0.5;
};

/// Jobs drawn from `model`, in order of submission from time 0, ids from 0. Errors: a bad model
/// (check_workload_model), no limit set, a horizon or rate_scale that is not finite and positive, more than
/// 10^8 jobs.
inline Result<std::vector<TraceJob>> generate(const WorkloadModel& model, Random& random,
                                              const GenerateOptions& options) {
  constexpr std::size_t kMostJobs = 100'000'000;
  if (auto ok = check_workload_model(model); !ok) return ok.error();
  if (auto ok = check_non_negative(options.horizon_s, "horizon_s"); !ok) return ok.error();
  if (auto ok = check_range(options.rate_scale, 1e-9, 1e9, "rate_scale"); !ok) return ok.error();
  if (options.horizon_s == 0.0 && options.jobs == 0)
    return Error{ErrorCode::kInvalidArgument, "horizon_s, jobs: one must be set, both are 0"};
  if (options.jobs > kMostJobs)
    return Error{ErrorCode::kInvalidArgument, "jobs: at most 100000000, is " + std::to_string(options.jobs)};
  JobStream stream(model, random, options.rate_scale, options.kind);
  std::vector<TraceJob> jobs;
  jobs.reserve(options.jobs);
  for (;;) {
    if (options.jobs > 0 && jobs.size() == options.jobs) break;
    TraceJob job = stream.next();
    if (options.horizon_s > 0.0 && job.submit_s >= options.horizon_s) break;
    if (jobs.size() == kMostJobs)
      return Error{ErrorCode::kInvalidArgument, "horizon_s: more than 100000000 jobs"};
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// A trace of `jobs` jobs drawn from `model` as fitted, for programs that run without a real one. Errors: as
/// generate().
inline Result<Trace> trace_from_model(const WorkloadModel& model, std::uint64_t seed, std::size_t jobs) {
  Random random(seed);
  GenerateOptions options;
  options.jobs = jobs;
  auto drawn = generate(model, random, options);
  if (!drawn) return drawn.error();
  Trace trace;
  trace.jobs = std::move(*drawn);
  trace.source = "model " + model.name;
  return trace;
}

}  // namespace mara
