#pragma once
// What an experiment plays on: a cluster, jobs to be judged on, and an endless supply of jobs to train on.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/environment/cluster_environment.hpp"
#include "mara/interop/gzip.hpp"
#include "mara/schedule/rules.hpp"
#include "mara/simulation/metrics.hpp"
#include "mara/simulation/simulate.hpp"
#include "mara/workload/bind_jobs.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/dense_start.hpp"
#include "mara/workload/fit.hpp"
#include "mara/workload/generate.hpp"
#include "mara/workload/trace_format.hpp"
#include "mara/workload/workload_model_json.hpp"

namespace lab {

using namespace mara;  // NOLINT: the experiment speaks mara's words

inline constexpr int kTypes = 3;

/// Choices that make a scenario. `load` is requested GPU-seconds (at the speed of the reference type) per
/// second and GPU of the cluster; 0: as the trace has it on the default cluster.
struct ScenarioOptions {
  std::string trace;
  std::optional<TraceFormat> format;  ///< empty: guessed from the first line of the trace
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

  /// Jobs of a training episode: drawn from the model, at a rate that varies around the trace's. The model
  /// draws GPU counts and kinds of jobs apart; a job that no type of the cluster can hold does not occur.
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
    auto bound = bind_jobs(trace, cluster, bind);
    if (bound || bound.error().code != ErrorCode::kCapacityExceeded) return bound;
    std::erase_if(trace.jobs, [&](const TraceJob& job) {
      return !bind_jobs(Trace{{job}, {}, {}}, cluster, bind);
    });
    if (!trace.jobs.empty()) return bind_jobs(trace, cluster, bind);
    return Error{bound.error().code, "workload model " + model.name + ": " + bound.error().message};
  }
};

/// "60 %".
inline std::string percent(double share) {
  return std::to_string(static_cast<int>(100.0 * share + 0.5)) + " %";
}

/// The smallest cluster of the default three types, in equal numbers of 8-GPU nodes, on which `gpus` busy
/// GPUs are at most `load` and every job fits a type. Errors: kInvalidArgument when it would be too large.
inline Result<Cluster> default_cluster(double gpus, double load, Milli largest) {
  const double per_type = gpus / load / kTypes;
  const double nodes = std::ceil(std::max({per_type / 8.0 - 0.5, largest.as_double() / 8.0, 1.0}));
  if (!(nodes * 8.0 <= kMaxGpusPerType))
    return Error{ErrorCode::kInvalidArgument, "a load of " + format_number(load) + " would take more than " +
                                                  std::to_string(kMaxGpusPerType) +
                                                  " GPUs of each type; name a --cluster"};
  const std::string n = std::to_string(static_cast<int>(nodes));
  return parse_cluster("a100:" + n + "x8,v100:" + n + "x8,t4:" + n + "x8");
}

/// "file:line" of the row that describes job `id`; the file alone when it is not found, or the format has no
/// column of ids.
inline std::string place_in_trace(const std::string& path, std::optional<TraceFormat> format,
                                  std::int64_t id) {
  auto text = read_text_file_or_gzip(path);
  if (!text) return path;
  if (const auto guessed = guess_trace_format(*text); !format && guessed) format = *guessed;
  const std::string_view column = format ? id_column(*format) : std::string_view{};
  if (column.empty()) return path;
  auto csv = Csv::parse(std::move(*text), path);
  while (csv) {
    const auto row = csv->next();
    if (!row || !*row) break;
    const std::string_view field = csv->text(column);
    const std::string_view digits =
        field.substr(std::min(field.size(), field.find_last_not_of("0123456789") + 1));
    std::int64_t value = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (value == id) return path + ":" + std::to_string(csv->line());
  }
  return path;
}

/// Whether the cluster can hold every job; the error names --cluster or the row of the trace.
inline Status check_fits(const Trace& trace, const Cluster& cluster, const ScenarioOptions& options) {
  BindOptions bind;
  bind.seed = options.seed;
  if (const auto none = bind_jobs(Trace{}, cluster, bind); !none)
    return Error{none.error().code, "--cluster: " + none.error().message};
  if (bind_jobs(trace, cluster, bind)) return {};
  for (const TraceJob& job : trace.jobs) {
    const auto bound = bind_jobs(Trace{{job}, {}, {}}, cluster, bind);
    if (bound) continue;
    const std::string place = !options.trace.empty()   ? place_in_trace(options.trace, options.format, job.id)
                              : !options.model.empty() ? options.model
                                                       : "the workload model that ships";
    return Error{bound.error().code, place + ": " + bound.error().message};
  }
  return {};
}

inline Result<Scenario> make_scenario(const ScenarioOptions& options) {
  Scenario scenario;
  Trace judged, everything;
  if (!options.trace.empty()) {
    auto read = read_trace_file(options.trace, options.format);
    if (!read) return read.error();
    everything = slice(*read, dense_start(*read), std::numeric_limits<double>::infinity(), true);
    if (!(everything.jobs.back().submit_s > everything.jobs.front().submit_s))
      return Error{ErrorCode::kInvalidArgument, options.trace + ": all jobs are submitted at the same time"};
    scenario.skipped_rows = read->skipped.total();
    const double cut = time_at_fraction(everything, options.train_share);
    FitOptions fit_options;
    fit_options.to_s = cut;
    auto fitted = fit(everything, fit_options);
    if (!fitted)
      return Error{fitted.error().code, options.trace + ": the first " + percent(options.train_share) +
                                            " of its time, to train on: " + fitted.error().message};
    scenario.model = std::move(*fitted);
    judged = slice(everything, cut, std::numeric_limits<double>::infinity(), true);
    scenario.train_jobs = everything.jobs.size() - judged.jobs.size();
    scenario.description =
        "the last " + percent(1.0 - options.train_share) + " of the trace " + everything.source;
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
    auto sized = default_cluster(busy, options.load > 0.0 ? options.load : kDefaultLoad,
                                 summarise(everything).largest_request);
    if (!sized) return Error{sized.error().code, "--load: " + sized.error().message};
    scenario.cluster = std::move(*sized);
  } else {
    auto parsed = parse_cluster(options.cluster);
    if (!parsed) return parsed.error();
    scenario.cluster = std::move(*parsed);
  }
  if (scenario.cluster.type_count() != kTypes) {
    return Error{ErrorCode::kInvalidArgument,
                 "--cluster: has " + std::to_string(scenario.cluster.type_count()) +
                     " GPU types; this program is compiled for " + std::to_string(kTypes)};
  }
  if (const Status fits = check_fits(everything, scenario.cluster, options); !fits) return fits.error();
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
