#pragma once
// What the commands of mara-lab can be told; each struct is reflected, so that a member is an option of the
// same name.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/core/result.hpp"
#include "mara/interop/reflect.hpp"
#include "mara/workload/trace_format.hpp"

namespace lab {

/// Options of `mara-lab compare`.
struct CompareOptions {
  std::string trace;
  std::optional<mara::TraceFormat> format;
  std::string model;
  std::string cluster;
  std::optional<double> load;
  std::int64_t steps = 150000;
  int flow_steps = 800;
  int seeds = 1;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string expert;
  std::string out = "mara-report";
  bool json = false;
};

/// Options of `mara-lab tune`.
struct TuneOptions {
  std::string trace;
  std::optional<mara::TraceFormat> format;
  std::string model;
  std::string cluster;
  std::optional<double> load;
  int iterations = 20;
  int population = 48;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string expert;
  std::string out = "expert.json";
  bool json = false;
};

/// Options of `mara-lab trace`.
struct TraceOptions {
  std::string file;
  std::optional<mara::TraceFormat> format;
  std::string throughputs;
  std::string fit;
  std::string out;
  bool json = false;
};

namespace detail {

inline constexpr std::uint64_t kLargestSeed = 2'000'000'000;  // with --seeds added an int still holds it

inline mara::Error bad_option(const std::string& option, const std::string& rule, const std::string& value) {
  return mara::Error{mara::ErrorCode::kInvalidArgument, "--" + option + ": " + rule + ", got " + value};
}

/// What the options of compare and tune have in common.
template <class Options>
mara::Status check_workload_options(const Options& options) {
  if (!options.trace.empty() && !options.model.empty())
    return bad_option("model", "cannot be combined with --trace", "'" + options.model + "'");
  if (options.load && !(std::isfinite(*options.load) && *options.load > 0.0 && *options.load <= 10.0))
    return bad_option("load", "must be above 0 and at most 10", format_exact(*options.load));
  if (options.seed > kLargestSeed)
    return bad_option("seed", "must be from 0 to " + std::to_string(kLargestSeed),
                      std::to_string(options.seed));
  if (options.threads < 0 || options.threads > 1024)
    return bad_option("threads", "must be from 0 to 1024", std::to_string(options.threads));
  if (options.out.empty()) return bad_option("out", "must not be empty", "''");
  if (!options.cluster.empty()) {
    if (const auto cluster = mara::parse_cluster(options.cluster); !cluster)
      return mara::Error{cluster.error().code, "--cluster: " + cluster.error().message};
  }
  return {};
}

}  // namespace detail

/// Whether the values make sense; the error names the option and the value.
inline mara::Status validate(const CompareOptions& options) {
  if (options.steps < 1 || options.steps > 1'000'000'000)
    return detail::bad_option("steps", "must be from 1 to 1000000000", std::to_string(options.steps));
  if (options.flow_steps < 1 || options.flow_steps > 1'000'000)
    return detail::bad_option("flow-steps", "must be from 1 to 1000000", std::to_string(options.flow_steps));
  if (options.seeds < 1 || options.seeds > 1000)
    return detail::bad_option("seeds", "must be from 1 to 1000", std::to_string(options.seeds));
  return detail::check_workload_options(options);
}

inline mara::Status validate(const TuneOptions& options) {
  if (options.iterations < 1 || options.iterations > 100000)
    return detail::bad_option("iterations", "must be from 1 to 100000", std::to_string(options.iterations));
  if (options.population < 4 || options.population > 100000)
    return detail::bad_option("population", "must be from 4 to 100000", std::to_string(options.population));
  return detail::check_workload_options(options);
}

inline mara::Status validate(const TraceOptions& options) {
  if (options.file.empty()) return detail::bad_option("file", "a trace file is needed", "''");
  return {};
}

}  // namespace lab

template <>
struct mara::EnumNames<mara::TraceFormat> {
  static constexpr auto kNames = [] {
    std::array<mara::EnumName<mara::TraceFormat>, mara::kTraceFormats.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i)
      names[i] = {mara::kTraceFormats[i].format, mara::kTraceFormats[i].name};
    return names;
  }();
};

namespace lab::detail {
inline constexpr std::string_view kFormatHelp =
    "format of the trace: muri, openb, swf, philly-jobs, gavel, shockwave, batsim, tiresias, chronus, "
    "elasticflow, "
    "azure, mooncake or csv (mara's own); empty: guessed from the first line";
}  // namespace lab::detail

template <>
struct mara::Descriptions<lab::CompareOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"trace",
       "file of the trace to replay, compressed with gzip or not: a workload model is fitted to its first 60 "
       "% and every policy is "
       "measured on its last 40 %. Without it, workloads come from --model",
       "FILE"},
      {"format", lab::detail::kFormatHelp, "FORMAT"},
      {"model",
       "workload model (JSON, written by `mara-lab trace --fit`) to generate jobs from when there is no "
       "--trace; empty: the Philly model that ships with mara",
       "FILE"},
      {"cluster",
       "GPU types, fastest first, as type:nodes x GPUs per node, such as a100:2x8,v100:2x8,t4:2x8; empty: "
       "these three types, sized for the load",
       "SPEC"},
      {"load",
       "requested GPU-seconds that arrive per second and GPU of the cluster, over the whole workload; the "
       "arrivals are "
       "stretched or squeezed to it; empty: arrivals as they are, on a cluster for about 0.5"},
      {"steps", "environment steps that each learner trains for"},
      {"flow_steps", "steps of each of the 48 environments in each of the 5 rounds that teach the flow"},
      {"seeds", "trainings of each learner, with consecutive seeds; more seeds give intervals"},
      {"seed", "first seed; the same seed gives the same report, whatever the number of threads"},
      {"threads", "threads to use; 0: one per processor"},
      {"expert",
       "parameters of the tuned list scheduler (JSON, written by `mara-lab tune`); empty: those that ship",
       "FILE"},
      {"out", "folder of the report; an earlier report there is replaced when the new one is complete",
       "DIR"},
      {"json", "print the results as one JSON object on stdout instead of the table"},
  });
};

template <>
struct mara::Descriptions<lab::TuneOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"trace",
       "file of a trace, compressed with gzip or not: the workload model to tune on is fitted to its first "
       "60 %",
       "FILE"},
      {"format", lab::detail::kFormatHelp, "FORMAT"},
      {"model",
       "workload model (JSON) to tune on when there is no --trace; empty: the Philly model that ships",
       "FILE"},
      {"cluster",
       "GPU types, fastest first, such as a100:2x8,v100:2x8,t4:2x8; empty: these three types, sized for "
       "the load",
       "SPEC"},
      {"load",
       "requested GPU-seconds that arrive per second and GPU of the cluster; empty: as the workload has it"},
      {"iterations", "iterations of the cross-entropy method"},
      {"population", "candidates of each iteration"},
      {"seed", "seed; the same seed gives the same parameters, whatever the number of threads"},
      {"threads", "threads to use; 0: one per processor"},
      {"expert", "parameters to start from (JSON); empty: those that ship", "FILE"},
      {"out", "file to write the best parameters to (JSON)", "FILE"},
      {"json", "print the results as one JSON object on stdout"},
  });
};

template <>
struct mara::Descriptions<lab::TraceOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"file", "file of the trace; may be compressed with gzip", "FILE"},
      {"format", lab::detail::kFormatHelp, "FORMAT"},
      {"throughputs",
       "table of measured throughputs (simulation_throughputs.json of Gavel), from which the run times of a "
       "gavel trace on a v100 follow",
       "FILE"},
      {"fit", "fit a workload model to the trace and write it to this file (JSON)", "OUT.json"},
      {"out",
       "folder for figures of arrivals, run times, GPUs and load (SVG); they replace those of an earlier run",
       "DIR"},
      {"json", "print the summary as one JSON object on stdout"},
  });
};

BOOST_HANA_ADAPT_STRUCT(lab::CompareOptions, trace, format, model, cluster, load, steps, flow_steps, seeds,
                        seed, threads, expert, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::TuneOptions, trace, format, model, cluster, load, iterations, population, seed,
                        threads, expert, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::TraceOptions, file, format, throughputs, fit, out, json);
