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
#include <vector>

#include "format.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/core/result.hpp"
#include "mara/interop/reflect.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/workload/read_options.hpp"
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

/// Who may overtake a job that waits for room (`--backfill`).
enum class BackfillKind : std::uint8_t { kNone, kEasy, kConservative };

/// Options of `mara-lab simulate`.
struct SimulateOptions {
  std::string trace;
  std::optional<mara::TraceFormat> format;
  std::string throughputs;
  mara::MuriRunTime run_time = mara::MuriRunTime::kLogged;
  std::string cluster;
  std::vector<std::string> policy = {"fcfs", "sjf", "srtf", "srsf", "las"};
  std::string placement = "consolidated";
  std::optional<BackfillKind> backfill;
  std::optional<mara::Preemption> preempt;
  std::string overhead = "none";
  double decision_time = 0.0;
  std::string failures;
  std::string checkpoint;
  std::string maintenance;
  std::string topology;
  std::string interference = "none";
  std::string bandwidth;
  std::string speed;
  double elastic = 1.0;
  double speed_up = 1.0;
  std::optional<double> load;
  std::int64_t limit = 0;
  bool drop_too_large = false;
  std::uint64_t seed = 1;
  int threads = 0;
  bool intervals = false;
  std::string out;
  bool json = false;
};

/// Options of `mara-lab validate`.
struct ValidateOptions {
  std::string traces;
  std::string golden;
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

inline mara::Status validate(const SimulateOptions& options) {
  if (options.trace.empty()) return detail::bad_option("trace", "a trace file is needed", "''");
  if (options.cluster.empty()) return detail::bad_option("cluster", "a cluster is needed, such as 8x8", "''");
  if (options.policy.empty()) return detail::bad_option("policy", "a policy is needed", "''");
  if (options.load && !(std::isfinite(*options.load) && *options.load > 0.0 && *options.load <= 100.0))
    return detail::bad_option("load", "must be above 0 and at most 100", format_exact(*options.load));
  if (!(options.elastic >= 1.0 && options.elastic <= 1000.0))
    return detail::bad_option("elastic", "must be from 1 to 1000", format_exact(options.elastic));
  if (!(options.speed_up > 0.0 && options.speed_up <= 1.0))
    return detail::bad_option("speed-up", "must be above 0 and at most 1", format_exact(options.speed_up));
  if (!(options.decision_time >= 0.0 && options.decision_time <= 1e9))
    return detail::bad_option("decision-time", "must be from 0 to 1e9", format_exact(options.decision_time));
  if (options.limit < 0)
    return detail::bad_option("limit", "must be at least 0", std::to_string(options.limit));
  if (options.intervals && options.out.empty())
    return detail::bad_option("intervals", "needs a folder to write to, --out", "none");
  if (options.seed > detail::kLargestSeed)
    return detail::bad_option("seed", "must be from 0 to " + std::to_string(detail::kLargestSeed),
                              std::to_string(options.seed));
  if (options.threads < 0 || options.threads > 1024)
    return detail::bad_option("threads", "must be from 0 to 1024", std::to_string(options.threads));
  return {};
}

inline mara::Status validate(const ValidateOptions&) {
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

template <>
struct mara::EnumNames<mara::MuriRunTime> {
  static constexpr auto kNames = std::to_array<mara::EnumName<mara::MuriRunTime>>(
      {{mara::MuriRunTime::kLogged, "logged"}, {mara::MuriRunTime::kIterations, "iterations"}});
};

template <>
struct mara::EnumNames<mara::Preemption> {
  static constexpr auto kNames =
      std::to_array<mara::EnumName<mara::Preemption>>({{mara::Preemption::kNone, "none"},
                                                       {mara::Preemption::kKeep, "keep"},
                                                       {mara::Preemption::kRepack, "repack"}});
};

template <>
struct mara::EnumNames<lab::BackfillKind> {
  static constexpr auto kNames =
      std::to_array<mara::EnumName<lab::BackfillKind>>({{lab::BackfillKind::kNone, "none"},
                                                        {lab::BackfillKind::kEasy, "easy"},
                                                        {lab::BackfillKind::kConservative, "conservative"}});
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

template <>
struct mara::Descriptions<lab::SimulateOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"trace", "file of the trace to replay; may be compressed with gzip", "FILE"},
      {"format", lab::detail::kFormatHelp, "FORMAT"},
      {"throughputs",
       "table of measured throughputs (simulation_throughputs.json of Gavel): speeds on each device type for "
       "the "
       "jobs that it knows, and run times of a gavel trace",
       "FILE"},
      {"run_time",
       "where the run times of a muri trace come from: logged or iterations (as in Muri's simulator)",
       "logged|iterations"},
      {"cluster",
       "nodes x devices per node, such as 8x8 or v100:8x8,p100:4x4:16c64G/2: an optional type and ':' "
       "before; cores and memory of a node, and '/' with the nodes of a rack, behind; or @FILE with a node "
       "list of openb; a100%mig:2x4 gives devices whole or in MIG slices, which jobs of the csv format ask "
       "for with mig_profile",
       "SPEC"},
      {"policy",
       "policies to run, separated by commas: fcfs, fcfs-strict, sjf, ljf, srtf, srsf, las, las-exact, "
       "smallest, f1, wfp3, unicef, edf, priority, themis, random, drf, tetris, optimus, hesrpt, gavel, ilp",
       "NAME,..."},
      {"placement",
       "which nodes a job gets: consolidated, any, bestfit, packing, spreading, tetris, fgd or random",
       "NAME"},
      {"backfill",
       "who may overtake a job that waits for room: none, easy or conservative; with it nobody is preempted. "
       "Empty: everybody who fits",
       "RULE"},
      {"preempt",
       "whether waiting jobs take the place of running ones: none, keep (no more lose theirs than must) or "
       "repack (all are placed anew). Empty: keep for srtf, srsf and las-exact. las, drf, tetris, optimus, "
       "hesrpt, gavel and ilp have a way of their own and take neither this nor --backfill",
       "MODE"},
      {"overhead",
       "what starting and moving costs: none, muri (Muri's table by model), or seconds of a first start, a "
       "resumption and a move as fixed:START,RESUME,MIGRATE",
       "MODEL"},
      {"decision_time",
       "seconds that a decision takes: every start, resumption and move holds its devices for so long "
       "before the work begins, on top of --overhead"},
      {"failures",
       "nodes fail at random, each by itself: mean seconds from a repair to the next failure and mean "
       "seconds to repair (both exponential, from --seed), such as 864000,3600; the first failure counts "
       "from the first submission. What runs on a node that fails waits again. Empty: none",
       "MTBF,MTTR"},
      {"checkpoint",
       "seconds of work after which a job saves it, which takes no time: a failure loses what came after "
       "the last save; or never: all since the job got its place. Empty: a failure loses nothing",
       "SECONDS"},
      {"maintenance",
       "nodes are taken down as planned, in seconds: the first node FIRST after the first submission, for "
       "LENGTH, again EVERY so long (0: once), each next node STAGGER later. What runs there is preempted "
       "and loses nothing. Empty: none",
       "FIRST,LENGTH[,EVERY[,STAGGER]]"},
      {"topology",
       "speed (1: as fast) of a job whose devices are in different NUMA domains, nodes or racks, by the "
       "farthest, such as node=0.9,rack=0.7 or domains=2,numa=0.95; domains: NUMA domains of each node; "
       "racks: see --cluster. Empty: distance costs nothing",
       "WHERE=X,..."},
      {"interference",
       "what jobs cost each other. none; sharing: jobs on shares of one device take turns, and one that is "
       "alone has all of it; sharing:QUANTUM,SWITCH: turns of QUANTUM seconds, with SWITCH seconds lost at "
       "each change; measured: such jobs go at the speed of their pair in --throughputs (half, if it is not "
       "there); bandwidth:MODEL=X[/Y],...: a job of that model (*: of any other) needs X GB/s of the memory "
       "of each of its devices and Y GB/s of the node's PCIe for it, and jobs slow down where that is more "
       "than the --bandwidth",
       "MODEL"},
      {"bandwidth",
       "GB/s of memory of a device of each type, and of a node's PCIe, for --interference bandwidth, such as "
       "v100=900,pcie=32; what is not said bounds nobody",
       "TYPE=X,..."},
      {"speed", "speeds of device types for every job, such as v100=1,p100=0.5; the others have 1",
       "TYPE=X,..."},
      {"elastic",
       "elastic policies (optimus, hesrpt, ilp) choose among half, once and twice the GPUs that a job asks "
       "for, and give it no more than this many times (rounded up)"},
      {"speed_up",
       "how jobs speed up with their GPUs, for elastic policies: as this power of the number; 1: linear"},
      {"load",
       "requested GPU-seconds that arrive per second and GPU of the cluster; the arrivals are stretched or "
       "squeezed to it; empty: arrivals as they are"},
      {"limit", "replay this many jobs from the first on; 0: all"},
      {"drop_too_large",
       "leave out jobs that the empty cluster could not hold, instead of refusing the trace"},
      {"seed",
       "seed of what is random; the same seed gives the same results, whatever the number of threads"},
      {"threads", "threads to use, a policy each; 0: one per processor"},
      {"intervals", "also write intervals.csv: which job held which devices from when to when"},
      {"out",
       "folder for jobs.csv, summary.json and figures (SVG); those of an earlier run are replaced or "
       "removed, other files stay. Empty: the table alone",
       "DIR"},
      {"json", "print the summary as one JSON object on stdout instead of the table"},
  });
};

template <>
struct mara::Descriptions<lab::ValidateOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"traces", "folder of the traces (philly/, hpc/, openb/, tiresias/); empty: $MARA_TRACES", "DIR"},
      {"golden", "folder of the peers' outputs; empty: $MARA_GOLDEN", "DIR"},
      {"json", "print the comparison as one JSON object on stdout"},
  });
};

BOOST_HANA_ADAPT_STRUCT(lab::CompareOptions, trace, format, model, cluster, load, steps, flow_steps, seeds,
                        seed, threads, expert, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::TuneOptions, trace, format, model, cluster, load, iterations, population, seed,
                        threads, expert, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::TraceOptions, file, format, throughputs, fit, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::SimulateOptions, trace, format, throughputs, run_time, cluster, policy,
                        placement, backfill, preempt, overhead, decision_time, failures, checkpoint,
                        maintenance, topology, interference, bandwidth, speed, elastic, speed_up, load, limit,
                        drop_too_large, seed, threads, intervals, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::ValidateOptions, traces, golden, json);
