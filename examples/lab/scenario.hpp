#pragma once
// What an experiment plays on: a cluster, jobs to be judged on, and an endless supply of jobs to train on.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mara/environment/cluster_environment.hpp"
#include "mara/schedule/rules.hpp"
#include "mara/simulation/metrics.hpp"
#include "mara/simulation/simulate.hpp"
#include "mara/workload/bind_jobs.hpp"
#include "mara/workload/dense_start.hpp"
#include "mara/workload/fit.hpp"
#include "mara/workload/generate.hpp"
#include "mara/workload/read_trace.hpp"
#include "mara/workload/workload_model_json.hpp"

namespace lab {

using namespace mara;  // NOLINT: the experiment speaks mara's words

inline constexpr int kTypes = 3;

/// Choices that make a scenario. `load` is requested GPU-seconds (at the speed of the reference type) per
/// second and GPU of the cluster; 0: as the trace has it on the default cluster.
struct ScenarioOptions {
  std::string trace;
  TraceFormat format = TraceFormat::kMuri;
  std::string model;    ///< file of a workload model, used when there is no trace; empty: the one that ships
  std::string cluster;  ///< empty: sized for the load
  double load = 0.0;
  double train_share = 0.6;  ///< of the trace's time
  std::size_t model_jobs = 400;
  std::uint64_t seed = 1;
};

/// A scenario. Times of `jobs` start at 0.
struct Scenario {
  std::string description;
  Cluster cluster;
  WorkloadModel model;       ///< fitted to the training part (or given)
  std::vector<Job> jobs;     ///< to be judged on; never trained on
  double time_unit_s = 0.0;  ///< half the mean gap between submissions
  double rate_scale = 1.0;   ///< arrivals this many times as often as in the trace
  double load = 0.0;         ///< of the jobs to be judged on
  double train_load = 0.0;   ///< of the model
  std::size_t train_jobs = 0, skipped_rows = 0;

  /// Jobs of a training episode: drawn from the model, at a rate that varies around the trace's.
  Result<std::vector<Job>> draw(std::uint64_t seed, double horizon_s, double low = 0.5,
                                double high = 1.2) const {
    Random random(seed, 0x65706973ull);
    GenerateOptions options;
    options.rate_scale = rate_scale * std::exp(random.uniform(std::log(low), std::log(high)));
    options.horizon_s = horizon_s;
    auto drawn = generate(model, random, options);
    if (!drawn) return drawn.error();
    if (drawn->empty()) {  // a long pause: one job keeps the episode alive
      options.horizon_s = 0.0;
      options.jobs = 1;
      drawn = generate(model, random, options);
      if (!drawn) return drawn.error();
    }
    Trace trace;
    trace.jobs = std::move(*drawn);
    BindOptions bind;
    bind.seed = seed;
    return bind_jobs(trace, cluster, bind);
  }
};

/// The smallest cluster of the default three types, in equal numbers of 8-GPU nodes, on which `gpus` busy
/// GPUs are at most `load` and every job fits a type.
inline Cluster default_cluster(double gpus, double load, Milli largest) {
  const double per_type = gpus / load / kTypes;
  const auto nodes =
      static_cast<int>(std::ceil(std::max({per_type / 8.0 - 0.5, largest.as_double() / 8.0, 1.0})));
  const std::string n = std::to_string(nodes);
  return parse_cluster("a100:" + n + "x8,v100:" + n + "x8,t4:" + n + "x8").value();
}

inline Result<Scenario> make_scenario(const ScenarioOptions& options) {
  Scenario scenario;
  Trace judged, everything;
  if (!options.trace.empty()) {
    auto read = read_trace(options.trace, options.format);
    if (!read) return read.error();
    everything = slice(*read, dense_start(*read), std::numeric_limits<double>::infinity(), true);
    scenario.skipped_rows = read->skipped.total();
    const double cut = time_at_fraction(everything, options.train_share);
    FitOptions fit_options;
    fit_options.to_s = cut;
    auto fitted = fit(everything, fit_options);
    if (!fitted) return fitted.error();
    scenario.model = std::move(*fitted);
    judged = slice(everything, cut, std::numeric_limits<double>::infinity(), true);
    scenario.train_jobs = everything.jobs.size() - judged.jobs.size();
    scenario.description = "the last " + std::to_string(static_cast<int>(100.0 * (1.0 - options.train_share) + 0.5)) + " % of the trace " + everything.source;
  } else {
    auto model = load_workload_model(options.model.empty() ? MARA_SHIPPED_MODEL : options.model);
    if (!model) return model.error();
    scenario.model = std::move(*model);
    auto drawn = trace_from_model(scenario.model, options.seed ^ 0x6a75646765ull, options.model_jobs);
    if (!drawn) return drawn.error();
    everything = judged = std::move(*drawn);
    scenario.description = "jobs drawn from the workload model " + scenario.model.name;
  }
  if (judged.jobs.empty())
    return Error{ErrorCode::kInvalidArgument, "trace: no jobs in the part to be judged on"};
  const double busy = summarise(everything).load_gpus;
  constexpr double kDefaultLoad = 0.5;
  if (options.cluster.empty()) {
    scenario.cluster = default_cluster(busy, options.load > 0.0 ? options.load : kDefaultLoad,
                                       summarise(everything).largest_request);
  } else {
    auto parsed = parse_cluster(options.cluster);
    if (!parsed) return parsed.error();
    scenario.cluster = std::move(*parsed);
  }
  if (scenario.cluster.type_count() != kTypes) {
    return Error{ErrorCode::kInvalidArgument,
                 "cluster: has " + std::to_string(scenario.cluster.type_count()) +
                     " GPU types; this program is compiled for " + std::to_string(kTypes)};
  }
  if (options.load > 0.0) scenario.rate_scale = options.load * scenario.cluster.gpus() / busy;
  for (TraceJob& job : judged.jobs) job.submit_s /= scenario.rate_scale;
  BindOptions bind;
  bind.seed = options.seed;
  auto bound = bind_jobs(judged, scenario.cluster, bind);
  if (!bound) return bound.error();
  scenario.jobs = std::move(*bound);
  scenario.load = summarise(judged).load_gpus / scenario.cluster.gpus();
  scenario.train_load = load_gpus(scenario.model) * scenario.rate_scale / scenario.cluster.gpus();
  scenario.time_unit_s = 0.5 * mean_interarrival_s(scenario.model) / scenario.rate_scale;
  return scenario;
}

}  // namespace lab
