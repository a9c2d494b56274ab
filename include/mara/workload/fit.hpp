#pragma once
// Fitting a workload model to a trace.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/fit_arrivals.hpp"
#include "mara/workload/fit_jobs.hpp"
#include "mara/workload/goodness_of_fit.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_table.hpp"
#include "mara/workload/workload_model.hpp"

namespace mara {

/// Choices of fit(): the jobs submitted in [from_s, to_s) are used.
struct FitOptions {
  double from_s = 0.0;
  double to_s = std::numeric_limits<double>::infinity();
  std::size_t regimes = 6;            ///< of gaps, 1 to 16; 1: gaps are independent
  std::size_t sample_jobs = 200'000;  ///< length of the samples that calibrate and judge the fit
  std::uint64_t seed = 1;             ///< of those samples
};

namespace detail {

/// Six significant digits: what the file shows is what was judged.
inline double six_digits(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 5);
  double rounded = 0.0;
  std::from_chars(buffer, end.ptr, rounded);
  return rounded;
}

template <class Model>
void round_model(Model& model) {
  const auto round = [](double& value) { value = six_digits(value); };
  const auto round_all = [&](std::vector<double>& values) {
    std::for_each(values.begin(), values.end(), round);
  };
  round_all(model.gaps.values);
  for (GapRegime& regime : model.regimes) {
    round_all(regime.next);
    round(regime.repeat_shape);
    round(regime.repeat_duration);
  }
  round(model.modulation.sigma);
  round(model.modulation.correlation);
  round_all(model.modulation.hourly);
  for (JobShape& shape : model.shapes) round(shape.probability);
  for (QuantileTable& table : model.durations) round_all(table.values);
  for (ModelShare& share : model.models) round(share.probability);
  for (PriorityShare& share : model.priorities) round(share.probability);
}

}  // namespace detail

/// Fits a workload model to the jobs of `trace` in [from_s, to_s), which must be in order of submission, and
/// judges it on a long sample (WorkloadModel::fit). Deterministic. Every number is rounded to six digits.
/// Errors: kInvalidArgument for a bad option, fewer than 30 jobs in the window, jobs out of order, or all at
/// one time; and bad jobs, named by id. A template, so that only programs that fit a model compile this.
template <class Model = WorkloadModel>
Result<Model> fit(const Trace& trace, const FitOptions& options = {}) {
  if (!(options.from_s < options.to_s))
    return Error{ErrorCode::kInvalidArgument, "from_s: must be below to_s, are " +
                                                  format_number(options.from_s) + " and " +
                                                  format_number(options.to_s)};
  if (options.regimes < 1 || options.regimes > 16)
    return Error{ErrorCode::kInvalidArgument,
                 "regimes: must be 1 to 16, is " + std::to_string(options.regimes)};
  if (options.sample_jobs < 100)
    return Error{ErrorCode::kInvalidArgument,
                 "sample_jobs: must be at least 100, is " + std::to_string(options.sample_jobs)};
  const Trace window = slice(trace, options.from_s, options.to_s);
  const std::vector<TraceJob>& jobs = window.jobs;
  if (jobs.size() < 30)
    return Error{
        ErrorCode::kInvalidArgument,
        "trace: a fit needs at least 30 jobs in [from_s, to_s), there are " + std::to_string(jobs.size())};
  for (const TraceJob& job : jobs)
    if (auto ok = check_trace_job(job); !ok) return ok.error();
  const TraceTable table = trace_table(jobs);
  const std::vector<double> submit = column(table, kSubmitColumn);
  if (!std::is_sorted(submit.begin(), submit.end()))
    return Error{ErrorCode::kInvalidArgument, "trace: jobs must be in order of submission"};
  if (!(submit.back() > submit.front()))
    return Error{ErrorCode::kInvalidArgument, "trace: all jobs are submitted at the same time"};

  Model model;
  model.name = trace.source;
  const std::vector<std::size_t> shape_of = detail::fit_shapes(jobs, model);
  detail::fit_durations(jobs, model);
  std::map<std::string, double> models;
  std::map<int, double> priorities;
  for (const TraceJob& job : jobs) {
    models[job.model] += 1.0;
    priorities[job.priority] += 1.0;
  }
  const auto total = static_cast<double>(jobs.size());
  for (const auto& [name, count] : models) model.models.push_back({name, count / total});
  for (const auto& [priority, count] : priorities) model.priorities.push_back({priority, count / total});

  const auto regime_of =
      detail::fit_arrivals(submit, options.regimes, options.sample_jobs, options.seed, model);
  if (!regime_of) return regime_of.error();
  detail::fit_repeats(*regime_of, shape_of, detail::duration_ranks(jobs, shape_of, model), model);
  detail::round_model(model);
  model.origin = {trace.source, "", jobs.size(), submit.front(), submit.back()};
  auto judged = goodness_of_fit(model, jobs, options.sample_jobs, options.seed + 1);
  if (!judged) return judged.error();
  model.fit = *judged;
  GoodnessOfFit& g = model.fit;
  for (double* value :
       {&g.ks_duration, &g.ks_interarrival, &g.tv_gpus, &g.ratio_mean_interarrival, &g.ratio_mean_work,
        &g.ratio_dispersion_hour, &g.ratio_dispersion_day, &g.ratio_repeat_gpus})
    *value = detail::six_digits(*value);
  return model;
}

}  // namespace mara
