// The node-level engine and its rules: events a second, placements a second, and how the cost grows.
// Workloads are drawn; with MARA_TRACES set also the real lists of openb and Philly.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "mara/core/random.hpp"
#include "mara/interop/gzip.hpp"
#include "mara/schedule/conservative_backfill.hpp"
#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/simulation/platform_simulator.hpp"
#include "mara/workload/openb_platform.hpp"
#include "mara/workload/read_trace.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "report.hpp"

namespace {

using namespace mara;   // NOLINT
using namespace bench;  // NOLINT

/// One run: seconds of processor time, and what happened.
struct Measured {
  double seconds = 0.0;
  PlatformRun run;
};

template <class Scheduler>
Measured measure(const Platform& platform, std::span<const Job> jobs, Scheduler scheduler,
                 const PlatformConfig& config = {}) {
  ListSource source(jobs);
  NullSink sink;
  PlatformSimulator<> simulator(platform, config);
  const double begin = processor_seconds();
  Measured measured;
  measured.run = simulator.run(source, scheduler, sink);
  measured.seconds = processor_seconds() - begin;
  return measured;
}

using Rule = std::pair<std::string, std::function<Measured(const Platform&, std::span<const Job>)>>;

/// The rules of a table; `all` adds those whose cost depends on how many jobs wait.
std::vector<Rule> rules(bool all) {
  ListOptions skip, wait, keep;
  wait.when_blocked = WhenBlocked::kWait;
  keep.preemption = Preemption::kKeep;
  std::vector<Rule> list;
  const auto add = [&](const std::string& name, auto scheduler) {
    list.push_back({name, [scheduler](const Platform& platform, std::span<const Job> jobs) {
                      return measure(platform, jobs, scheduler);
                    }});
  };
  add("fcfs", ListDispatcher<ArrivalJobOrder>(skip));
  add("fcfs, head blocks", ListDispatcher<ArrivalJobOrder>(wait));
  add("sjf", ListDispatcher<ShortestJobOrder>(skip));
  add("srtf, preemptive", ListDispatcher<ShortestRemainingOrder>(keep));
  add("srsf, preemptive", ListDispatcher<ShortestServiceOrder>(keep));
  add("las (Tiresias)", DiscretisedLas<>());
  if (!all) return list;
  add("fcfs, EASY", ListDispatcher<ArrivalJobOrder, Consolidated, EasyBackfill>(wait));
  add("fcfs, conservative", ConservativeBackfill<ArrivalJobOrder, Consolidated>());
  add("f1", ListDispatcher<F1Order>(skip));
  add("wfp3", ListDispatcher<Wfp3Order>(skip));
  add("unicef", ListDispatcher<UnicefOrder>(skip));
  add("themis", ListDispatcher<FinishTimeFairOrder>(skip));
  add("random order", ListDispatcher<RandomJobOrder>(skip));
  add("sjf, best fit", ListDispatcher<ShortestJobOrder, ScoredPlacement<BestFitScoring>>(
                           skip, {}, ScoredPlacement<BestFitScoring>{}));
  add("sjf, packing", ListDispatcher<ShortestJobOrder, ScoredPlacement<PackingScoring>>(
                          skip, {}, ScoredPlacement<PackingScoring>{}));
  add("sjf, random place", ListDispatcher<ShortestJobOrder, RandomPlacement>(skip));
  return list;
}

/// Poisson arrivals of jobs of 1 to 8 GPUs and exponential length that keep `gpus` busy to `load`.
std::vector<Job> drawn_jobs(std::size_t count, int gpus, double load) {
  constexpr int kSizes[] = {1, 1, 1, 2, 2, 4, 4, 8};
  constexpr double kMeanGpus = 23.0 / 8.0, kMeanSeconds = 1000.0;
  Random random(7, 0x706c6174u);
  std::vector<Job> jobs;
  double now = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    now += random.exponential(load * gpus / (kMeanGpus * kMeanSeconds));
    Job job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = now;
    const int size = kSizes[random.below(8)];
    job.requested = Milli::whole(size);
    job.max_gpus = size;
    job.work = size * random.exponential(1.0 / kMeanSeconds);
    job.type_speed[0] = 1.0;
    jobs.push_back(job);
  }
  return jobs;
}

template <class Measure>
std::vector<Measured> rounds(int count, Measure&& once) {
  std::vector<Measured> all;
  for (int i = 0; i < count; ++i) all.push_back(once());
  return all;
}
double median_seconds(const std::vector<Measured>& runs) {
  std::vector<double> seconds;
  for (const Measured& run : runs) seconds.push_back(run.seconds);
  return median(std::move(seconds));
}

Table growth(const Options& options) {
  const std::vector<std::size_t> sizes = options.quick
                                             ? std::vector<std::size_t>{1000, 10000}
                                             : std::vector<std::size_t>{1000, 10000, 100000, 1000000};
  Table table{
      "Jobs drawn at a load of 0.9 on 8 nodes of 8 GPUs: job events (arrivals, starts, preemptions, moves, "
      "completions) a second, and the exponent of the cost between 1,000 jobs and the most",
      {"rule"},
      {}};
  for (const std::size_t size : sizes) table.columns.push_back(std::to_string(size) + " jobs: events/s");
  table.columns.push_back("exponent");
  const Platform platform = make_platform(8, 8);
  std::vector<std::vector<Job>> jobs;
  for (const std::size_t size : sizes) jobs.push_back(drawn_jobs(size, 64, 0.9));
  for (const Rule& entry : rules(false)) {
    const auto& name = entry.first;
    const auto& rule = entry.second;
    std::vector<Cell> row{name};
    std::vector<double> seconds;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const int repeats = sizes[i] >= 1000000 ? std::min(options.rounds, 3) : options.rounds;
      const auto runs = rounds(repeats, [&] { return rule(platform, jobs[i]); });
      seconds.push_back(median_seconds(runs));
      row.push_back(Number{static_cast<double>(runs.front().run.job_events) / seconds.back(), 0});
    }
    row.push_back(Number{std::log(seconds.back() / seconds.front()) /
                             std::log(static_cast<double>(sizes.back()) / static_cast<double>(sizes.front())),
                         2});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Every rule on a list of jobs.
Table every_rule(const std::string& title, const Platform& platform, std::span<const Job> jobs) {
  Table table{title, {"rule", "seconds", "job events/s"}, {}};
  double all = 0.0;
  for (const auto& [name, rule] : rules(true)) {
    const Measured measured = rule(platform, jobs);
    all += measured.seconds;
    table.rows.push_back({name, Number{measured.seconds, 3},
                          Number{static_cast<double>(measured.run.job_events) / measured.seconds, 0}});
  }
  table.rows.push_back({std::string("all"), Number{all, 3}, std::string("-")});
  return table;
}

Result<std::vector<Table>> on_traces(const std::string& folder, const Options& options) {
  std::vector<Table> tables;
  const auto nodes = read_openb_node_list(folder + "/openb/openb_node_list_gpu_node.csv");
  if (!nodes) return nodes.error();
  const auto platform = openb_platform(*nodes);
  if (!platform) return platform.error();
  const auto pods = read_openb_pods(folder + "/openb/openb_pod_list_default.csv");
  if (!pods) return pods.error();
  std::vector<PlacementDemand> demands;
  std::vector<Job> jobs;
  for (const PodRequest& pod : *pods) {
    demands.push_back(demand_of(*platform, pod));
    Job job;
    job.id = static_cast<std::int64_t>(jobs.size());
    job.submit_s = static_cast<double>(jobs.size());
    job.work = 1e15;
    job.requested = demands.back().gpus();
    job.max_gpus = std::max(1, pod.num_gpu);
    job.demand.cpu = demands.back().cpu;
    job.demand.memory_mib = demands.back().memory_mib;
    job.type_speed.fill(1.0);
    jobs.push_back(job);
  }
  Table placement{
      std::string("Placing the ") + std::to_string(jobs.size()) +
          " pods of openb on its 1,213 nodes with GPUs",
      {"rule", "pods/s", "times a plain C++ placer (11,000 pods/s)", "times FGD's simulator (18 pods/s)"},
      {}};
  ListOptions drop;
  drop.when_blocked = WhenBlocked::kDrop;
  PlatformConfig config;
  config.horizon_s = 1e9;
  const auto place = [&]<class Placing>(const std::string& name, Placing placing) {
    const auto runs = rounds(options.rounds, [&] {
      return measure(*platform, jobs, ListDispatcher<ArrivalJobOrder, Placing>(drop, {}, placing), config);
    });
    const double rate = static_cast<double>(jobs.size()) / median_seconds(runs);
    placement.rows.push_back({name, Number{rate, 0}, ratio(rate / 11000.0), ratio(rate / 18.0)});
  };
  place("fgd", ScoredPlacement<FragmentationScoring>(FragmentationScoring(typical_mix(demands))));
  place("best fit", ScoredPlacement<BestFitScoring>{});
  place("tetris", ScoredPlacement<TetrisScoring>{});
  place("random", RandomPlacement{});
  tables.push_back(std::move(placement));

  TraceReadOptions as_muri;
  as_muri.muri_run_time = MuriRunTime::kIterations;
  const auto muri = read_trace(folder + "/philly/muri_trace1.csv", TraceFormat::kMuri, as_muri);
  if (!muri) return muri.error();
  const Platform small = make_platform(8, 8);
  const auto muri_jobs = rigid_jobs(*muri, small);
  if (!muri_jobs) return muri_jobs.error();
  ListOptions repack;
  repack.preemption = Preemption::kRepack;
  const auto srtf = rounds(options.rounds, [&] {
    return measure(small, muri_jobs->jobs, ListDispatcher<ShortestRemainingOrder>(repack));
  });
  tables.push_back({"SRTF as in Muri's simulator, 1,494 jobs of Philly on 64 GPUs",
                    {"seconds", "times as fast as Muri's simulator (1.9 s)"},
                    {{Number{median_seconds(srtf), 4}, ratio(1.9 / median_seconds(srtf))}}});

  const auto philly =
      read_trace_file(folder + "/philly/philly_jobs_20170904_20171015.csv.gz", TraceFormat::kPhillyJobs);
  if (!philly) return philly.error();
  const Platform large = make_platform(64, 8);
  const auto philly_jobs = rigid_jobs(*philly, large);
  if (!philly_jobs) return philly_jobs.error();
  tables.push_back(every_rule(std::string("Every rule on the ") + std::to_string(philly_jobs->jobs.size()) +
                                  " jobs of Philly, 64 nodes of 8 GPUs, one run each",
                              large, philly_jobs->jobs));
  return tables;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(
      count, arguments, "platform_benchmark: the node-level engine and its rules", {.rounds = 7});
  std::vector<Table> tables{growth(options)};
  const char* folder = std::getenv("MARA_TRACES");
  if (folder != nullptr && !options.quick) {
    auto traced = on_traces(folder, options);
    if (!traced) {
      std::fprintf(stderr, "platform_benchmark: %s\n", traced.error().message.c_str());
      return 2;
    }
    for (Table& table : *traced) tables.push_back(std::move(table));
  }
  print(tables, options.json);
}
