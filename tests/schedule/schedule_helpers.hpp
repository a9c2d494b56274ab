#pragma once
// What the tests of the rules share: small clusters, jobs in few words, and random workloads.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/simulation/simulate.hpp"

namespace schedule_test {

using namespace mara;

/// A pool of `gpus` GPUs on one node.
inline GpuType pool(std::string name, int gpus, std::int64_t gpu_memory_mib = 80 * 1024) {
  return {std::move(name), 1, gpus, gpu_memory_mib, Milli::whole(12 * gpus), std::int64_t{128} * 1024 * gpus};
}

/// A job that runs `ideal_s` seconds on its `gpus` requested GPUs of type 0, `slow` times as fast on type 1.
inline Job job(double submit_s, int gpus, double ideal_s, double slow = 0.5, int max_gpus = 0,
               SpeedUp speed_up = {}) {
  Job j;
  j.submit_s = submit_s;
  j.requested = Milli::whole(gpus);
  j.max_gpus = max_gpus > 0 ? max_gpus : gpus;
  j.speed_up = speed_up;
  j.work = ideal_s * speed_up(gpus);
  j.type_speed = {1.0, slow};
  return j;
}

inline std::vector<Job> numbered(std::vector<Job> jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].id = static_cast<std::int64_t>(i);
  return jobs;
}

template <class Rule>
SimulationResult run(const Cluster& cluster, std::vector<Job> jobs, Rule rule, Overheads overheads = {0, 0},
                     double tick_s = 0.0) {
  SimulationConfig config;
  config.overheads = overheads;
  config.tick_s = tick_s;
  config.fixed_interval = tick_s > 0.0;
  config.record_intervals = true;
  auto result = simulate(cluster, std::move(jobs), rule, config);
  INFO((result ? std::string() : result.error().message));
  REQUIRE(result);
  return std::move(*result);
}

/// End times by job, for comparison with those computed on paper.
inline std::vector<double> ends(const SimulationResult& result) {
  std::vector<double> out;
  for (const JobRecord& record : result.records) out.push_back(record.finished ? record.end_s : -1.0);
  return out;
}
inline std::vector<double> starts(const SimulationResult& result) {
  std::vector<double> out;
  for (const JobRecord& record : result.records) out.push_back(record.started ? record.start_s : -1.0);
  return out;
}
inline double mean_jct_s(const SimulationResult& result) {
  double sum = 0.0;
  for (std::size_t i = 0; i < result.records.size(); ++i)
    sum += result.records[i].end_s - result.jobs[i].submit_s;
  return sum / static_cast<double>(result.records.size());
}
inline double restarts_per_job(const SimulationResult& result) {
  double sum = 0.0;
  for (const JobRecord& record : result.records) sum += record.restarts;
  return sum / static_cast<double>(result.records.size());
}

inline void require_times(const std::vector<double>& got, const std::vector<double>& paper) {
  REQUIRE(got.size() == paper.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("job " << i);
    CHECK(got[i] == Approx(paper[i]).epsilon(1e-9));
  }
}

/// Three types that differ in speed and device memory.
inline Cluster three_types(int gpus_each) {
  return Cluster{{pool("fast", gpus_each, 80 * 1024), pool("medium", gpus_each, 32 * 1024),
                  pool("slow", gpus_each, 16 * 1024)}};
}

/// Heavy-tailed jobs with Poisson arrivals, every `mean_gap_s` on average: log-normal run times (median 20
/// min), 1 to 8 GPUs, three memory classes, power-law speed-ups; some fractions of a GPU when `fractions`.
inline std::vector<Job> random_jobs(std::uint64_t seed, std::size_t count, double mean_gap_s,
                                    bool fractions = false) {
  Random random(seed);
  std::vector<Job> jobs(count);
  double now = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    Job& j = jobs[i];
    now += random.exponential(1.0 / mean_gap_s);
    j.id = static_cast<std::int64_t>(i);
    j.submit_s = now;
    const double size = random.uniform();
    const int gpus = size < 0.45 ? 1 : size < 0.65 ? 2 : size < 0.85 ? 4 : 8;
    j.requested = Milli::whole(gpus);
    j.max_gpus = random.uniform() < 0.2 ? gpus : 2 * gpus;
    if (fractions && gpus == 1 && random.uniform() < 0.4) {
      j.requested = Milli{random.uniform() < 0.5 ? 250 : 600};
      j.max_gpus = 1;
    }
    const double kind = random.uniform();
    j.speed_up = kind < 0.1   ? SpeedUp{SpeedUp::Kind::kAmdahl, random.uniform(0.5, 1.0)}
                 : kind < 0.2 ? SpeedUp{SpeedUp::Kind::kPower, 1.0}
                              : SpeedUp{SpeedUp::Kind::kPower, random.uniform(0.6, 0.95)};
    const double ideal_s = std::clamp(random.log_normal(7.09, 1.7), 120.0, 3 * 86400.0);
    j.work = ideal_s * j.speed_up(j.requested.as_double());
    const double memory = random.uniform();
    j.demand.gpu_memory_mib = 1024 * (memory < 0.6 ? 8 : memory < 0.85 ? 24 : 60);
    j.demand.cpu = Milli::whole(4 * gpus);
    j.demand.memory_mib = std::int64_t{32} * 1024 * gpus;
    j.type_speed = {1.0, random.uniform(0.4, 0.8), random.uniform(0.15, 0.5)};
  }
  return jobs;
}

}  // namespace schedule_test
