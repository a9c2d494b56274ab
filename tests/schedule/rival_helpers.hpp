#pragma once
// Random platforms, jobs for them, and runs that are checked against every limit.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/random.hpp"
#include "mara/simulation/platform_simulator.hpp"

namespace mara::test {

/// What became of the jobs of a run, in order of submission, and where they were.
struct PlatformLog {
  struct Interval {
    std::uint64_t sequence;
    Placement placement;
    double start_s, end_s;
  };
  std::vector<JobOutcome> jobs;
  std::vector<Interval> intervals;
  void job(const JobOutcome& outcome) {
    if (outcome.sequence >= jobs.size()) jobs.resize(outcome.sequence + 1);
    jobs[outcome.sequence] = outcome;
    jobs[outcome.sequence].job = nullptr;
    jobs[outcome.sequence].last = nullptr;
  }
  void interval(const PlacedInterval& interval) {
    intervals.push_back({interval.sequence, *interval.placement, interval.start_s, interval.end_s});
  }
  double mean_jct_s(const std::vector<Job>& submitted) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < jobs.size(); ++i) sum += jobs[i].end_s - submitted[i].submit_s;
    return sum / static_cast<double>(jobs.size());
  }
};

struct PlatformCase {
  Platform platform;
  std::vector<Job> jobs;
};

/// A platform of 1 to 3 types; `one_node`: each is one node, otherwise 1 to 3 nodes of 1 to 8 devices.
inline Platform random_platform(Random& random, bool one_node) {
  Platform platform;
  const std::size_t types = 1 + random.below(3);
  for (std::size_t t = 0; t < types; ++t) {
    DeviceType type;
    type.name = std::string(1, static_cast<char>('a' + t));
    type.memory_mib = 1000 * (1 + random.below(4));
    platform.types.push_back(type);
    const std::size_t nodes = one_node ? 1 : 1 + random.below(3);
    Node node;
    node.type = static_cast<std::int32_t>(t);
    node.devices = static_cast<std::int32_t>(1 + random.below(8));
    node.cpu = Milli::whole(8);
    node.memory_mib = 1000;
    for (std::size_t n = 0; n < nodes; ++n) {
      node.name = type.name + std::to_string(n);
      platform.nodes.push_back(node);
    }
  }
  return platform;
}

/// 1 to `most` jobs, each of which a node of some type can hold at its requested size.
inline std::vector<Job> random_platform_jobs(Random& random, const Platform& platform, std::size_t most,
                                             bool fractions) {
  std::vector<Job> jobs;
  const std::size_t count = 1 + random.below(static_cast<std::uint32_t>(most));
  double clock = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const Node& home = platform.nodes[random.below(static_cast<std::uint32_t>(platform.nodes.size()))];
    const auto type = static_cast<std::size_t>(home.type);
    Job job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = clock;
    job.work = random.uniform(1.0, 400.0);
    const auto gpus = static_cast<std::int64_t>(1 + random.below(static_cast<std::uint32_t>(home.devices)));
    job.requested = fractions && random.below(3) == 0 ? Milli{50 + random.below(900)} : Milli::whole(gpus);
    job.max_gpus = static_cast<int>(std::max<std::int64_t>(1, job.requested.units()) * (1 + random.below(2)));
    job.demand.gpu_memory_mib = random.below(static_cast<std::uint32_t>(platform.types[type].memory_mib));
    job.demand.cpu = Milli{random.below(4000)};
    job.demand.memory_mib = random.below(500);
    job.tenant = static_cast<int>(random.below(4));
    job.speed_up = {SpeedUp::Kind::kAmdahl, random.uniform()};
    for (std::size_t t = 0; t < platform.types.size(); ++t)
      job.type_speed[t] = random.below(5) == 0 ? 0.0 : random.uniform(0.2, 1.0);
    if (job.type_speed[type] == 0.0) job.type_speed[type] = 0.5;
    job.estimate_s =
        random.below(2) == 0 ? std::numeric_limits<double>::infinity() : random.uniform(1.0, 800.0);
    jobs.push_back(job);
    clock += random.below(4) == 0 ? random.uniform(0.0, 300.0) : random.uniform(0.0, 40.0);
  }
  return jobs;
}

/// Nobody holds what another holds or what is not there, at any time; nobody runs before it is submitted.
inline void check_limits(const Platform& platform, const std::vector<Job>& jobs, const PlatformLog& log) {
  struct Edge {
    double time;
    bool begins;
    std::size_t interval;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < log.intervals.size(); ++i) {
    edges.push_back({log.intervals[i].start_s, true, i});
    edges.push_back({log.intervals[i].end_s, false, i});
    REQUIRE(log.intervals[i].start_s >= jobs[log.intervals[i].sequence].submit_s);
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time < b.time || (a.time == b.time && a.begins < b.begins);
  });
  std::vector<std::vector<int>> milli(platform.nodes.size());
  std::vector<std::int64_t> cpu(platform.nodes.size(), 0), memory(platform.nodes.size(), 0);
  std::vector<int> running(jobs.size(), 0);
  for (std::size_t n = 0; n < milli.size(); ++n)
    milli[n].assign(static_cast<std::size_t>(platform.nodes[n].devices), 0);
  for (const Edge& edge : edges) {
    const PlatformLog::Interval& interval = log.intervals[edge.interval];
    const int sign = edge.begins ? 1 : -1;
    running[interval.sequence] += sign;
    REQUIRE(running[interval.sequence] <= 1);
    for (const NodeShare& share : interval.placement.shares) {
      const Node& node = platform.nodes[share.node];
      cpu[share.node] += sign * share.cpu.value;
      memory[share.node] += sign * share.memory_mib;
      REQUIRE(cpu[share.node] <= node.cpu.value);
      REQUIRE(memory[share.node] <= node.memory_mib);
      for (std::size_t d = 0; d < milli[share.node].size(); ++d) {
        if ((share.devices >> d & 1) == 0) continue;
        milli[share.node][d] += sign * share.share;
        REQUIRE(milli[share.node][d] <= 1000);
      }
    }
  }
}

/// Runs to the end and checks the limits and, when `all_finish`, that every job has.
template <class Scheduler, class Overhead = NoOverhead>
PlatformLog run_checked(const PlatformCase& given, Scheduler& scheduler, bool all_finish = true,
                        Overhead overhead = {}, PlatformConfig config = {}) {
  REQUIRE(check_platform(given.platform).has_value());
  PlatformSimulator<Overhead> simulator(given.platform, config, overhead);
  ListSource source(given.jobs);
  PlatformLog log;
  const PlatformRun run = simulator.run(source, scheduler, log);
  REQUIRE(log.jobs.size() == given.jobs.size());
  check_limits(given.platform, given.jobs, log);
  if (all_finish) {
    REQUIRE(run.finished == given.jobs.size());
    REQUIRE_FALSE(run.stalled);
  }
  return log;
}

}  // namespace mara::test
