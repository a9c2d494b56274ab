// Properties that hold whatever the jobs, the cluster and the scheduler: thousands of small random runs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "catch.hpp"
#include "mara/simulation/interval_log.hpp"
#include "mara/simulation/metrics.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

bool close(double a, double b) {
  return std::fabs(a - b) <= 1e-9 * std::max({1.0, std::fabs(a), std::fabs(b)});
}

/// The records and the use that an interval log implies, on its own.
SimulationResult replay(const Cluster& cluster, const SimulationResult& run) {
  SimulationResult again;
  again.jobs = run.jobs;
  again.records.resize(run.records.size());
  again.decision_us = run.decision_us;
  again.end_s = run.end_s;
  again.use = add_intervals(cluster, run.jobs, run.intervals).value().use;
  std::vector<std::vector<GrantInterval>> of(run.jobs.size());
  for (const GrantInterval& interval : run.intervals) of[interval.job].push_back(interval);
  for (std::size_t i = 0; i < of.size(); ++i) {
    JobRecord& record = again.records[i];
    record.restarts = run.records[i].restarts;
    record.finished = run.records[i].finished;
    if (of[i].empty()) continue;
    record.started = true;
    record.start_s = of[i].front().start_s;
    if (record.finished) record.end_s = of[i].back().end_s;
    for (const GrantInterval& interval : of[i])
      record.gpu_s += (interval.end_s - interval.start_s) * interval.grant.gpus.as_double();
  }
  return again;
}

void check_run(const Workload& workload, const SimulationResult& result) {
  const Overheads& cost = workload.config.overheads;
  const auto total = add_intervals(workload.cluster, result.jobs, result.intervals);
  if (!total) FAIL(total.error().message);  // over capacity at some time, or before arrival
  std::vector<double> done(result.jobs.size(), 0.0), last(result.jobs.size(), -1.0);
  std::vector<int> stretches(result.jobs.size(), 0);
  for (const GrantInterval& interval : result.intervals) {
    const Job& job = result.jobs[interval.job];
    REQUIRE(accepts(job, interval.grant));
    REQUIRE(interval.start_s >= last[interval.job]);
    const double paid = stretches[interval.job]++ == 0 ? cost.start_s : cost.restart_s;
    done[interval.job] += std::max(0.0, interval.end_s - interval.start_s - paid) * job.rate(interval.grant);
    last[interval.job] = interval.end_s;
  }
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const Job& job = result.jobs[i];
    const JobRecord& record = result.records[i];
    REQUIRE(record.started == (stretches[i] > 0));
    if (record.started) REQUIRE(record.start_s >= job.submit_s);
    if (record.finished) {
      REQUIRE(record.end_s == last[i]);
      REQUIRE(close(done[i], job.work));  // neither more nor less than asked
      REQUIRE(record.restarts == stretches[i] - 1);
    } else {
      REQUIRE(done[i] < job.work * (1.0 + 1e-9));
      REQUIRE(record.restarts <= stretches[i]);
    }
  }

  const Metrics direct = measure(workload.cluster, result);
  const Metrics replayed = measure(workload.cluster, replay(workload.cluster, result));
  REQUIRE(direct.finished == replayed.finished);
  REQUIRE(direct.finished + direct.unfinished == result.jobs.size());
  REQUIRE(direct.mean_jct_s == replayed.mean_jct_s);
  REQUIRE(direct.p99_jct_s == replayed.p99_jct_s);
  REQUIRE(direct.mean_slowdown == replayed.mean_slowdown);
  REQUIRE(direct.jain == replayed.jain);
  REQUIRE(direct.makespan_s == replayed.makespan_s);
  REQUIRE(direct.restarts_per_job == replayed.restarts_per_job);
  REQUIRE(close(direct.gpu_utilisation, replayed.gpu_utilisation));
  REQUIRE(close(direct.cpu_utilisation, replayed.cpu_utilisation));
  REQUIRE(close(direct.memory_utilisation, replayed.memory_utilisation));
  for (std::size_t t = 0; t < direct.type_utilisation.size(); ++t) {
    REQUIRE(close(direct.type_utilisation[t], replayed.type_utilisation[t]));
    REQUIRE((direct.type_utilisation[t] >= 0.0 && direct.type_utilisation[t] <= 1.0));
  }
  if (direct.jain) REQUIRE((*direct.jain > 0.0 && *direct.jain <= 1.0 + 1e-12));
  double gpu_s = 0.0, by_type = 0.0;
  for (const JobRecord& record : result.records) gpu_s += record.gpu_s;
  for (const double type : result.use.gpu_s) by_type += type;
  REQUIRE(close(gpu_s, by_type));
}

}  // namespace

TEST_CASE("random schedulers on random workloads keep every promise", "[random]") {
  std::int64_t refused = 0, finished = 0, unfinished = 0, restarts = 0, decisions = 0;
  for (std::uint64_t seed = 0; seed < 2500; ++seed) {
    INFO("seed " << seed);
    Random random(2024, seed);
    Workload workload = random_workload(random, 12, false);
    RandomScheduler scheduler{Random(5, seed)};
    auto simulator = Simulator::create(workload.cluster, workload.jobs, workload.config).value();
    // What a scheduler sees never runs backwards.
    std::vector<double> remaining(workload.jobs.size()), attained(workload.jobs.size(), 0.0);
    for (std::size_t i = 0; i < remaining.size(); ++i) remaining[i] = simulator.jobs()[i].work;
    double now = -1.0;
    while (simulator.next_decision()) {
      const DecisionView& view = simulator.view();
      REQUIRE(view.now_s >= now);
      now = view.now_s;
      ++decisions;
      if (workload.config.fixed_interval)
        REQUIRE(std::fabs(std::remainder(now, workload.config.tick_s)) <= 1e-9 * std::max(1.0, now));
      else
        REQUIRE_FALSE(view.active.empty());
      for (std::size_t i = 0; i < view.active.size(); ++i) {
        const JobState& state = view.active[i];
        if (i > 0) REQUIRE(view.active[i - 1].job < state.job);
        REQUIRE(view.job(i).submit_s <= now);
        REQUIRE((state.remaining_work >= 0.0 && state.remaining_work <= remaining[state.job]));
        REQUIRE(state.attained_gpu_s >= attained[state.job]);
        REQUIRE(state.overhead_left_s >= 0.0);
        remaining[state.job] = state.remaining_work;
        attained[state.job] = state.attained_gpu_s;
      }
      REQUIRE(simulator.allocation().agents() == view.active.size());
      scheduler.decide(view, simulator.allocation());
      simulator.commit();
    }
    const SimulationResult result = simulator.result();
    check_run(workload, result);
    refused += result.refused_grants;
    for (const JobRecord& record : result.records) {
      (record.finished ? finished : unfinished) += 1;
      restarts += record.restarts;
    }
  }
  CHECK(refused > 1000);  // all of it was exercised
  CHECK(finished > 5000);
  CHECK(unfinished > 1000);
  CHECK(restarts > 5000);
  CHECK(decisions > 50'000);
}

TEST_CASE("the order of the input does not matter when submit times differ", "[random]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(31, seed);
    Workload workload = random_workload(random, 15, false);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
      workload.jobs[i].submit_s += 1e-3 * static_cast<double>(i);  // distinct
    RandomScheduler scheduler{Random(6, seed)}, other{Random(6, seed)};
    const auto straight = simulate(workload.cluster, workload.jobs, scheduler, workload.config).value();
    random.shuffle(workload.jobs);
    const auto shuffled = simulate(workload.cluster, workload.jobs, other, workload.config).value();
    REQUIRE(straight.records.size() == shuffled.records.size());
    REQUIRE(straight.intervals == shuffled.intervals);
    REQUIRE(straight.use.gpu_s == shuffled.use.gpu_s);
    for (std::size_t i = 0; i < straight.records.size(); ++i) {
      REQUIRE(straight.jobs[i].id == shuffled.jobs[i].id);
      REQUIRE(straight.records[i].end_s == shuffled.records[i].end_s);
      REQUIRE(straight.records[i].gpu_s == shuffled.records[i].gpu_s);
    }
  }
}

TEST_CASE("more decision points change nothing when the decisions are the same", "[random]") {
  // First come, first served decides by order alone; ticks in between must not shift a single bit.
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(32, seed);
    Workload workload = random_workload(random, 15, false);
    workload.config.fixed_interval = false;
    workload.config.horizon_s = 1e9;
    workload.config.tick_s = 0.0;
    auto first = fcfs(), second = fcfs();
    // On one type a job that runs keeps its grant, as those before it in the order do.
    workload.cluster.types.resize(1);
    std::erase_if(workload.jobs, [&workload](const Job& job) { return !check_job(workload.cluster, job); });
    const auto coarse = simulate(workload.cluster, workload.jobs, first, workload.config).value();
    workload.config.tick_s = 0.37;
    const auto fine = simulate(workload.cluster, workload.jobs, second, workload.config).value();
    REQUIRE(coarse.records.size() == fine.records.size());
    for (std::size_t i = 0; i < coarse.records.size(); ++i) {
      REQUIRE(coarse.records[i].finished);
      REQUIRE(coarse.records[i].end_s == fine.records[i].end_s);
      REQUIRE(coarse.records[i].gpu_s == fine.records[i].gpu_s);
    }
    REQUIRE(coarse.intervals == fine.intervals);
  }
}

TEST_CASE("completions do not wait for the tick: fixed intervals agree with events when nobody queues",
          "[random]") {
  // A cluster with room for all: with arrivals on ticks both views give the same times.
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(33, seed);
    std::vector<Job> jobs;
    for (int i = 0; i < 30; ++i) {
      const double submit_s = 60.0 * random.below(20);
      jobs.push_back(job_of(i, submit_s, random.uniform(1.0, 500.0)));
      jobs.back().requested = random.below(2) == 0 ? Milli{1 + random.below(999)} : Milli::whole(1);
    }
    const Cluster cluster = parse_cluster("a100:4x8").value();
    SimulationConfig config = plain();
    config.overheads = {30.0, 90.0};
    auto first = fcfs(), second = fcfs();
    const auto events = simulate(cluster, jobs, first, config).value();
    config.tick_s = 60.0;
    config.fixed_interval = true;
    const auto ticks = simulate(cluster, jobs, second, config).value();
    for (std::size_t i = 0; i < jobs.size(); ++i) REQUIRE(events.records[i].end_s == ticks.records[i].end_s);
    REQUIRE(events.end_s == ticks.end_s);
  }
}
