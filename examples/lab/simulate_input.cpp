// What mara-lab simulate is told: the trace, the cluster and the costs.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "mara/cluster/platform_text.hpp"
#include "mara/core/parse.hpp"
#include "mara/interop/gzip.hpp"
#include "mara/schedule/lower_bound.hpp"
#include "mara/workload/gavel_throughputs.hpp"
#include "mara/workload/read_openb_nodes.hpp"
#include "simulate.hpp"
#include "simulate_option_text.hpp"

namespace lab {
namespace {

using namespace mara;  // NOLINT

/// A platform with the nodes of an openb list, in its order; device types fastest first.
Result<Platform> read_openb_platform(const std::string& path) {
  auto list = read_openb_node_list(path);
  if (!list) return list.error();
  Platform platform;
  for (const OpenbNode& node : *list) {
    if (node.gpus == 0) continue;
    const std::string name = lower_case(node.model);
    const bool known = std::any_of(platform.types.begin(), platform.types.end(),
                                   [&](const DeviceType& type) { return type.name == name; });
    if (!known) platform.types.push_back(mara::detail::known_device_type(name));
  }
  const auto speed = [](const DeviceType& type) {
    const Device* device = find_device(type.name);
    return device != nullptr ? mean_speed(*device) : 0.0;
  };
  std::stable_sort(platform.types.begin(), platform.types.end(), [&](const auto& a, const auto& b) {
    return speed(a) != speed(b) ? speed(a) > speed(b) : a.name < b.name;
  });
  for (const OpenbNode& source : *list) {
    Node node;
    node.name = source.name;
    node.devices = source.gpus;
    node.cpu = Milli{source.cpu_milli};
    node.memory_mib = source.memory_mib;
    for (std::size_t t = 0; t < platform.types.size() && source.gpus > 0; ++t)
      if (platform.types[t].name == lower_case(source.model)) node.type = static_cast<std::int32_t>(t);
    platform.nodes.push_back(std::move(node));
  }
  if (auto sound = check_platform(platform); !sound)
    return Error{sound.error().code, path + ": " + sound.error().message};
  return platform;
}

Result<Platform> read_platform(const std::string& spec) {
  auto platform = spec[0] == '@' ? read_openb_platform(spec.substr(1)) : parse_platform(spec);
  if (!platform) return at_option("cluster", platform.error());
  return platform;
}

/// Speeds by type from "v100=1,p100=0.5".
Result<std::vector<double>> parse_speeds(const std::string& text, const Platform& platform) {
  std::vector<double> speeds(platform.types.size(), 1.0);
  for (const std::string_view part : split_at_commas(text)) {
    const auto bad = [&](const std::string& what) {
      return Error{ErrorCode::kInvalidArgument, "--speed: " + what + ", got '" + std::string(part) + "'"};
    };
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return bad("must be TYPE=SPEED,...");
    const auto number = parse_double(part.substr(equals + 1), "");
    if (!number || !(*number > 0.0) || *number > 1e6) return bad("a speed must be above 0 and at most 1e6");
    const auto type = std::find_if(platform.types.begin(), platform.types.end(),
                                   [&](const DeviceType& t) { return t.name == part.substr(0, equals); });
    if (type == platform.types.end()) return bad("the cluster has no such type");
    speeds[static_cast<std::size_t>(type - platform.types.begin())] = *number;
  }
  return speeds;
}

/// Moves submissions so that `load` GPU-seconds are asked for per second and GPU.
Status set_load(Trace& trace, double gpus, double load) {
  const double present = summarise(trace).load_gpus / gpus;
  if (!(present > 0.0) || !std::isfinite(present))
    return Error{ErrorCode::kInvalidArgument,
                 "--load: all jobs are submitted at the same time, got " + format_exact(load)};
  const double first = trace.jobs.front().submit_s, factor = present / load;
  for (TraceJob& job : trace.jobs) {
    const double submit_s = first + (job.submit_s - first) * factor;
    job.deadline_s = submit_s + (job.deadline_s - job.submit_s);
    job.submit_s = submit_s;
  }
  return {};
}

/// The table of --throughputs; nothing when it is not given.
Result<std::optional<GavelThroughputs>> read_throughputs(const SimulateOptions& options) {
  if (options.throughputs.empty()) return std::optional<GavelThroughputs>{};
  const auto measured = read_text_file_or_gzip(options.throughputs);
  if (!measured) return at_option("throughputs", measured.error());
  auto parsed = parse_gavel_throughputs(*measured, options.throughputs);
  if (!parsed) return at_option("throughputs", parsed.error());
  return std::optional<GavelThroughputs>(std::move(*parsed));
}

Result<Trace> read_trace(const SimulateOptions& options, const GavelThroughputs* throughputs,
                         TraceFormat& format) {
  auto text = read_text_file_or_gzip(options.trace);
  if (!text) return at_option("trace", text.error());
  const auto found = options.format ? Result<TraceFormat>(*options.format) : guess_trace_format(*text);
  if (!found) return Error{found.error().code, options.trace + ": " + found.error().message};
  format = *found;
  TraceReadOptions read;
  read.muri_run_time = options.run_time;
  read.gavel_throughputs = throughputs;
  return parse_trace(std::move(*text), options.trace, format, read);
}

/// rigid_jobs, with errors that say what to do.
Result<RigidJobs> bind(const SimulateOptions& options, const Trace& trace, const Platform& platform,
                       const RigidOptions& rigid) {
  auto jobs = rigid_jobs(trace, platform, rigid);
  if (!jobs) {
    const bool too_large = jobs.error().code == ErrorCode::kCapacityExceeded;
    return Error{jobs.error().code, options.trace + ": " + jobs.error().message +
                                        (too_large ? "; --drop-too-large leaves such jobs out" : "")};
  }
  if (jobs->jobs.empty())
    return Error{ErrorCode::kCapacityExceeded,
                 options.trace + ": no job that the cluster could hold, with --cluster " + options.cluster};
  return jobs;
}

std::string jobs_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " job" : " jobs");
}

}  // namespace

Result<SimulationInput> read_simulation_input(const SimulateOptions& options) {
  SimulationInput input;
  auto platform = read_platform(options.cluster);
  if (!platform) return platform.error();
  input.platform = std::move(*platform);
  auto speeds = parse_speeds(options.speed, input.platform);
  if (!speeds) return speeds.error();
  auto network = make_network(options, input.platform);
  if (!network) return network.error();
  input.network = *network;
  const auto checkpoint = parse_checkpoint(options);
  if (!checkpoint) return checkpoint.error();
  input.checkpoint_interval_s = *checkpoint;
  const auto table = read_throughputs(options);
  if (!table) return table.error();
  const GavelThroughputs* throughputs = *table ? &**table : nullptr;
  auto trace = read_trace(options, throughputs, input.format);
  if (!trace) return trace.error();
  input.skipped_rows = trace->skipped.total();
  if (options.limit > 0 && static_cast<std::size_t>(options.limit) < trace->jobs.size()) {
    trace->jobs.resize(static_cast<std::size_t>(options.limit));
    drop_unknown_dependencies(*trace);
  }
  RigidOptions rigid;
  rigid.speeds = std::move(*speeds);
  rigid.throughputs = throughputs;
  rigid.speed_up = {SpeedUp::Kind::kPower, options.speed_up};
  rigid.max_gpus_factor = options.elastic;
  rigid.too_large = options.drop_too_large ? TooLarge::kDrop : TooLarge::kRefuse;
  rigid.spread = options.placement == "any";
  // The load is that of the jobs that are replayed.
  std::size_t dropped = 0;
  if (options.drop_too_large) {
    const auto kept = bind(options, *trace, input.platform, rigid);
    if (!kept) return kept.error();
    dropped = kept->dropped;
    std::set<std::int64_t> ids;
    for (const Job& job : kept->jobs) ids.insert(job.id);
    std::erase_if(trace->jobs, [&](const TraceJob& job) { return !ids.contains(job.id); });
  }
  const auto gpus = static_cast<double>(input.platform.devices());
  if (options.load) {
    if (!(gpus > 0.0))
      return Error{ErrorCode::kInvalidArgument,
                   "--load: the cluster has no device, got " + format_exact(*options.load)};
    if (auto moved = set_load(*trace, gpus, *options.load); !moved) return moved.error();
  }
  if (gpus > 0.0) input.load = summarise(*trace).load_gpus / gpus;
  input.tenants = trace->tenants;
  input.sla_classes = trace->sla_classes;

  auto jobs = bind(options, *trace, input.platform, rigid);
  if (!jobs) return jobs.error();
  input.jobs = std::move(*jobs);
  input.jobs.dropped += dropped;
  std::vector<PlacementDemand> demands;
  for (std::size_t i = 0; i < input.jobs.jobs.size(); ++i)
    demands.push_back(demand_of(input.platform, input.jobs.jobs[i], -1, input.jobs.mig_profile(i)));
  input.mix = typical_mix(demands);
  // Elastic rules may give a job less than it asks for, too.
  const auto bound = mean_jct_lower_bound(input.platform, input.jobs.jobs, SizeFreedom::kElastic);
  if (bound && bound->impossible == 0 && bound->mean_s() > 0.0) input.lower_bound_s = bound->mean_s();
  auto overhead = make_overhead(options, input.jobs);
  if (!overhead) return overhead.error();
  input.overhead = std::move(*overhead);
  auto outages = make_outages(options, input.platform, input.jobs);
  if (!outages) return outages.error();
  input.outages = std::move(*outages);
  auto interference = make_interference(options, input.jobs, throughputs, input.platform, input.notes);
  if (!interference) return interference.error();
  input.interference = std::move(*interference);
  // Alone on a device, a job then runs as fast as on a whole one, and measured pairs add up to more than it.
  if (options.interference == "measured" ||
      (options.interference.starts_with("sharing") && options.speed_up != 1.0)) {
    input.lower_bound_s.reset();
    input.notes.push_back("no bound: it takes jobs to run at the speed of their share, and --interference " +
                          options.interference + " lets them run faster");
  }

  if (input.skipped_rows > 0)
    input.notes.push_back(std::to_string(input.skipped_rows) +
                          " rows of the trace describe no job to replay and were skipped");
  if (input.jobs.dropped > 0)
    input.notes.push_back(jobs_text(input.jobs.dropped) +
                          " that the empty cluster could not hold, or that wait for one, were left out");
  if (input.jobs.constraints_ignored > 0)
    input.notes.push_back("the device types that " + jobs_text(input.jobs.constraints_ignored) +
                          " would take are none of the cluster's; any type serves");
  if (input.jobs.cpu_ignored || input.jobs.memory_ignored)
    input.notes.push_back("the cluster does not say what " +
                          std::string(!input.jobs.memory_ignored ? "CPU"
                                      : !input.jobs.cpu_ignored  ? "memory"
                                                                 : "CPU and memory") +
                          " its nodes have; what jobs ask of it is ignored");
  const auto other_rack = [&](const Node& node) { return node.rack != input.platform.nodes.front().rack; };
  if (input.network.across_racks < 1.0 &&
      std::none_of(input.platform.nodes.begin(), input.platform.nodes.end(), other_rack))
    input.notes.push_back(
        "all nodes are in one rack (NODESxDEVICES/N makes racks of N nodes): rack in "
        "--topology has no effect");
  return input;
}

}  // namespace lab
