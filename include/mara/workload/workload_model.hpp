#pragma once
// A generative model of a workload: a few probabilities and quantile tables that stand for a trace.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/quantile_table.hpp"

namespace mara {

/// Arrivals in one regime of gaps. With K regimes, regime k holds the gaps whose rank among all gaps is in
/// [k/K, (k+1)/K): the first regimes are the inside of sessions (bursts of submissions), the last the pauses
/// between them.
struct GapRegime {
  std::vector<double> next;  ///< K probabilities of the regime of the following gap
  double repeat_shape =
      0.0;  ///< probability that the job after such a gap copies the shape of the one before
  double repeat_duration = 0.0;  ///< given that it does: probability that its run time is nearly the same too
};

/// What a job asks for.
struct JobShape {
  Milli gpus{1000};
  Milli cpu{};                  ///< whole job; 0: unknown
  std::int64_t memory_mib = 0;  ///< host memory, whole job; 0: unknown
  double probability = 0.0;
  int duration_class = 0;  ///< index into WorkloadModel::durations
};

/// A name or number and how often it occurs.
struct ModelShare {
  std::string model;
  double probability = 0.0;
};
struct PriorityShare {
  int priority = 0;
  double probability = 0.0;
};

/// Slow change of the arrival rate around its mean. The rate in hour h of day d is multiplied by
/// hourly[h] exp(sigma z_d - sigma^2/2), z a stationary Gaussian AR(1) with this correlation from day to day.
struct RateModulation {
  double sigma = 0.0;
  double correlation = 0.0;
  std::vector<double> hourly;  ///< 24 factors of mean 1, from hour 0 of the time axis; empty: all 1
};

/// How a long sample of the model compares with the trace it was fitted to. KS: largest distance between the
/// distribution functions, 0 best, 1 worst. Ratios are sample / trace, 1 best. Dispersion: variance / mean of
/// the number of arrivals in windows of an hour and of a day (1 for a Poisson process).
struct GoodnessOfFit {
  double ks_duration = 0.0;
  double ks_interarrival = 0.0;
  double tv_gpus = 0.0;  ///< total variation distance of the distribution of GPUs per job
  double ratio_mean_interarrival = 0.0;
  double ratio_mean_work = 0.0;  ///< GPU-seconds per job
  double ratio_dispersion_hour = 0.0;
  double ratio_dispersion_day = 0.0;
  double ratio_repeat_gpus = 0.0;  ///< share of jobs with the GPU count of the one before
  std::size_t sample_jobs = 0;
};

/// Where a model comes from.
struct FitOrigin {
  std::string trace;    ///< file name
  std::string command;  ///< that wrote it; empty when fitted in memory
  std::size_t jobs = 0;
  double from_s = 0.0;  ///< first and last submission used
  double to_s = 0.0;
};

/// A workload model. Arrivals: gap ranks follow a Markov chain over regimes, uniform within one; the gap is
/// the quantile of `gaps` at that rank, in a time whose speed RateModulation changes. Jobs: shape drawn from
/// `shapes` or copied, run time a quantile of its class at a rank drawn or copied (moved by up to
/// +-duration_jitter), model and priority drawn.
struct WorkloadModel {
  std::string name;
  QuantileTable gaps;  ///< seconds between submissions
  std::vector<GapRegime> regimes;
  RateModulation modulation;
  std::vector<JobShape> shapes;
  std::vector<QuantileTable> durations;  ///< seconds, one table per duration class
  double duration_jitter = 0.02;         ///< half-width of a repeated duration's rank
  std::vector<ModelShare> models;        ///< the empty name: no model
  std::vector<PriorityShare> priorities;
  FitOrigin origin;
  GoodnessOfFit fit;
};

namespace detail {

inline Status check_probabilities(const std::vector<double>& values, const std::string& field) {
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (auto ok = check_range(values[i], 0.0, 1.0, field + "[" + std::to_string(i) + "]"); !ok) return ok;
    sum += values[i];
  }
  if (sum > 0.999 && sum < 1.001) return {};
  return Error{ErrorCode::kInvalidArgument, field + ": must sum to 1, sum to " + format_number(sum)};
}

template <class Entry>
Status check_shares(const std::vector<Entry>& entries, const std::string& field) {
  std::vector<double> values;
  for (const Entry& entry : entries) values.push_back(entry.probability);
  return check_probabilities(values, field + ".probability");
}

}  // namespace detail

/// Success when every number of the model is in its domain; otherwise an error that names the field.
inline Status check_workload_model(const WorkloadModel& model) {
  if (auto ok = check_quantiles(model.gaps, "gaps"); !ok) return ok;
  if (model.regimes.empty() || model.regimes.size() > 64)
    return Error{ErrorCode::kInvalidArgument,
                 "regimes: must be 1 to 64, are " + std::to_string(model.regimes.size())};
  for (std::size_t i = 0; i < model.regimes.size(); ++i) {
    const GapRegime& regime = model.regimes[i];
    const std::string field = "regimes[" + std::to_string(i) + "].";
    if (regime.next.size() != model.regimes.size())
      return Error{ErrorCode::kShapeMismatch, field + "next: " + std::to_string(regime.next.size()) +
                                                  " probabilities, must be " +
                                                  std::to_string(model.regimes.size())};
    if (auto ok = detail::check_probabilities(regime.next, field + "next"); !ok) return ok;
    if (auto ok = check_range(regime.repeat_shape, 0.0, 1.0, field + "repeat_shape"); !ok) return ok;
    if (auto ok = check_range(regime.repeat_duration, 0.0, 1.0, field + "repeat_duration"); !ok) return ok;
  }
  if (auto ok = check_range(model.modulation.sigma, 0.0, 3.0, "modulation.sigma"); !ok) return ok;
  if (auto ok = check_range(model.modulation.correlation, 0.0, 0.999, "modulation.correlation"); !ok)
    return ok;
  const std::vector<double>& hourly = model.modulation.hourly;
  if (!hourly.empty() && hourly.size() != 24)
    return Error{ErrorCode::kShapeMismatch,
                 "modulation.hourly: must have 0 or 24 factors, has " + std::to_string(hourly.size())};
  double hours = 0.0;
  for (std::size_t h = 0; h < hourly.size(); ++h) {
    if (auto ok = check_range(hourly[h], 0.001, 24.0, "modulation.hourly[" + std::to_string(h) + "]"); !ok)
      return ok;
    hours += hourly[h] / 24.0;
  }
  if (!hourly.empty() && !(hours > 0.999 && hours < 1.001))
    return Error{ErrorCode::kInvalidArgument,
                 "modulation.hourly: mean must be 1, is " + format_number(hours)};
  if (auto ok = detail::check_shares(model.shapes, "shapes"); !ok) return ok;
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    const JobShape& shape = model.shapes[i];
    const std::string field = "shapes[" + std::to_string(i) + "].";
    const auto bad = [&](const char* key, std::int64_t value) {
      return Error{ErrorCode::kInvalidArgument, field + key + ": bad value " + std::to_string(value)};
    };
    if (shape.gpus.value <= 0 || shape.gpus > Milli::whole(65536) ||
        (shape.gpus.value > 1000 && !shape.gpus.is_whole()))
      return bad("gpu_milli", shape.gpus.value);
    if (shape.cpu.value < 0) return bad("cpu_milli", shape.cpu.value);
    if (shape.memory_mib < 0) return bad("memory_mib", shape.memory_mib);
    if (shape.duration_class < 0 || static_cast<std::size_t>(shape.duration_class) >= model.durations.size())
      return bad("duration_class", shape.duration_class);
  }
  for (std::size_t i = 0; i < model.durations.size(); ++i) {
    const std::string field = "durations[" + std::to_string(i) + "]";
    if (auto ok = check_quantiles(model.durations[i], field); !ok) return ok;
    if (auto ok = check_positive(model.durations[i].values.front(), field + "[0]"); !ok) return ok;
  }
  if (auto ok = check_range(model.duration_jitter, 0.0, 0.5, "duration_jitter"); !ok) return ok;
  if (auto ok = detail::check_shares(model.models, "models"); !ok) return ok;
  return detail::check_shares(model.priorities, "priorities");
}

/// Mean seconds between submissions.
inline double mean_interarrival_s(const WorkloadModel& model) noexcept {
  return model.gaps.mean();
}

/// Mean requested GPUs x run time of a job.
inline double mean_gpu_seconds(const WorkloadModel& model) noexcept {
  double sum = 0.0, weight = 0.0;
  for (const JobShape& shape : model.shapes) {
    sum += shape.probability * shape.gpus.as_double() *
           model.durations[static_cast<std::size_t>(shape.duration_class)].mean();
    weight += shape.probability;
  }
  return weight > 0.0 ? sum / weight : 0.0;
}

/// GPU-seconds asked for per second: the GPUs that the workload would keep busy.
inline double load_gpus(const WorkloadModel& model) noexcept {
  return mean_gpu_seconds(model) / mean_interarrival_s(model);
}

}  // namespace mara
