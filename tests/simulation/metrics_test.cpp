#include "mara/simulation/metrics.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {
double jain(std::vector<double> values) {
  return jain_index(values).value();
}

/// A finished job that ran alone on one GPU.
JobRecord record_of(double start_s, double end_s) {
  JobRecord record;
  record.started = record.finished = true;
  record.start_s = start_s;
  record.end_s = end_s;
  record.last_grant = whole(1);
  record.gpu_s = end_s - start_s;
  return record;
}
}  // namespace

TEST_CASE("Jain's index (S16)", "[metrics]") {
  CHECK(jain({1, 1, 1, 1}) == 1.0);
  CHECK(jain({1, 0, 0, 0}) == 0.25);
  CHECK(jain({4, 2, 2}) == Approx(8.0 / 9.0).epsilon(1e-15));
  CHECK(jain({0, 0, 0}) == 1.0);
  CHECK(jain({1e-200, 1e-200}) == 1.0);
  CHECK(jain({1e200, 1e200}) == 1.0);
  CHECK(jain({5e-324, 5e-324}) == 1.0);
  CHECK(jain({1e308, 1e308, 1e308}) == 1.0);
  CHECK(jain({7}) == 1.0);
  CHECK_FALSE(jain_index({}).has_value());
  const double bad[] = {1.0, std::numeric_limits<double>::quiet_NaN()};
  CHECK_FALSE(jain_index(bad).has_value());
  const double negative[] = {1.0, -1.0};
  CHECK_FALSE(jain_index(negative).has_value());
  const double infinite[] = {std::numeric_limits<double>::infinity()};
  CHECK_FALSE(jain_index(infinite).has_value());
}

TEST_CASE("bounded slowdown of waits 100, 0, 30 with runs 0, 5, 60 is 10, 1, 1.5 (S16)", "[metrics]") {
  const Cluster cluster = parse_cluster("a100:1x1").value();
  const double waits[] = {100.0, 0.0, 30.0}, runs[] = {0.0, 5.0, 60.0}, bounded[] = {10.0, 1.0, 1.5};
  for (int i = 0; i < 3; ++i) {
    SimulationResult result;
    result.jobs = {job_of(1, 50.0, runs[i])};
    result.records = {record_of(50.0 + waits[i], 50.0 + waits[i] + runs[i])};
    result.end_s = 50.0 + waits[i] + runs[i];
    const Metrics metrics = measure(cluster, result);
    CHECK(metrics.mean_bounded_slowdown.value() == bounded[i]);
    CHECK(std::isfinite(metrics.mean_slowdown.value()));
    if (runs[i] > 0.0) CHECK(metrics.mean_slowdown.value() == (waits[i] + runs[i]) / runs[i]);
  }
}

TEST_CASE("back to back jobs use a node fully, never twice (S16)", "[metrics]") {
  auto scheduler = fcfs();
  const Cluster cluster = parse_cluster("a100:1x1/1c/1G").value();
  std::vector<Job> jobs{job_of(1, 0.0, 10.0), job_of(2, 0.0, 10.0)};
  jobs[0].demand = {0, Milli{500}, 256};
  const auto result = simulate(cluster, jobs, scheduler, plain()).value();
  const Metrics metrics = measure(cluster, result);
  CHECK(metrics.gpu_utilisation == 1.0);
  CHECK(metrics.type_utilisation == std::vector<double>{1.0});
  CHECK(metrics.cpu_utilisation == 0.25);      // half a core half of the time
  CHECK(metrics.memory_utilisation == 0.125);  // a quarter half of the time
  CHECK(metrics.makespan_s.value() == 20.0);
}

TEST_CASE("a run worked out by hand", "[metrics]") {
  // One a100 and one t4 (half as fast), no costs; three jobs of 10, 20 and 40 s of work at 100 s.
  //   job 1: a100 100..110, JCT 10, slowdown 1;   job 2: t4 100..140, JCT 40, slowdown 2
  //   job 3: a100 110..150, JCT 50, slowdown 1.25
  std::vector<Job> jobs{job_of(1, 100.0, 10.0), job_of(2, 100.0, 20.0), job_of(3, 100.0, 40.0)};
  for (Job& job : jobs) job.type_speed = {1.0, 0.5};
  const Cluster cluster = parse_cluster("a100:1x1,t4:1x1").value();
  Script keep{[](const DecisionView& view, Allocation& allocation) {
    for (std::size_t i = 0; i < view.active.size(); ++i)
      if (!view.active[i].held.empty()) allocation.claim(i, {}, view.active[i].held);
    for (std::size_t i = 0; i < view.active.size(); ++i)
      if (!allocation.claim(i, {}, whole(1, 0))) allocation.claim(i, {}, whole(1, 1));
  }};
  const auto result = simulate(cluster, jobs, keep, plain()).value();
  const Metrics metrics = measure(cluster, result);
  CHECK(metrics.finished == 3);
  CHECK(metrics.unfinished == 0);
  CHECK(metrics.mean_jct_s.value() == Approx(100.0 / 3.0));
  CHECK(metrics.p50_jct_s.value() == 40.0);
  CHECK(metrics.p95_jct_s.value() == Approx(49.0));  // 40 + .9 (50 - 40)
  CHECK(metrics.p99_jct_s.value() == Approx(49.8));
  CHECK(metrics.mean_slowdown.value() == Approx(4.25 / 3.0));
  CHECK(metrics.mean_bounded_slowdown.value() == Approx(4.25 / 3.0));
  const double speeds[] = {1.0, 0.5, 0.8};
  CHECK(metrics.jain.value() == Approx(jain_index(speeds).value()));
  CHECK(metrics.makespan_s.value() == 50.0);
  CHECK(metrics.type_utilisation[0] == 1.0);
  CHECK(metrics.type_utilisation[1] == Approx(0.8));
  CHECK(metrics.gpu_utilisation == Approx(0.9));
  CHECK(metrics.restarts_per_job == 0.0);
  CHECK(metrics.decision_us_p50.has_value());
  CHECK(metrics.decision_us_p99.value() >= metrics.decision_us_p50.value());
}

TEST_CASE("nothing finished: none, not 0 and not NaN (S16)", "[metrics]") {
  const Cluster cluster = parse_cluster("a100:1x2").value();
  SimulationConfig config = plain();
  config.horizon_s = 10.0;
  auto scheduler = fcfs();
  const auto result = simulate(cluster, {job_of(1, 0.0, 100.0)}, scheduler, config).value();
  const Metrics metrics = measure(cluster, result);
  CHECK(metrics.finished == 0);
  CHECK(metrics.unfinished == 1);
  CHECK_FALSE(metrics.mean_jct_s.has_value());
  CHECK_FALSE(metrics.p50_jct_s.has_value());
  CHECK_FALSE(metrics.p95_jct_s.has_value());
  CHECK_FALSE(metrics.p99_jct_s.has_value());
  CHECK_FALSE(metrics.mean_slowdown.has_value());
  CHECK_FALSE(metrics.mean_bounded_slowdown.has_value());
  CHECK_FALSE(metrics.jain.has_value());
  CHECK_FALSE(metrics.makespan_s.has_value());
  CHECK(metrics.gpu_utilisation == 0.5);

  const Metrics empty = measure(cluster, SimulationResult{});
  CHECK(empty.finished == 0);
  CHECK(empty.gpu_utilisation == 0.0);
  CHECK_FALSE(empty.mean_jct_s.has_value());
  CHECK_FALSE(empty.decision_us_p50.has_value());
}

TEST_CASE("the mean is over finished jobs, beside the number of the others", "[metrics]") {
  const Cluster cluster = parse_cluster("a100:1x1").value();
  SimulationConfig config = plain();
  config.horizon_s = 30.0;
  auto scheduler = fcfs();
  const auto result = simulate(cluster, {job_of(1, 0.0, 10.0), job_of(2, 5.0, 100.0), job_of(3, 99.0, 1.0)},
                               scheduler, config)
                          .value();
  const Metrics metrics = measure(cluster, result);
  CHECK(metrics.finished == 1);
  CHECK(metrics.unfinished == 2);
  CHECK(metrics.mean_jct_s.value() == 10.0);
  CHECK(metrics.makespan_s.value() == 10.0);
  CHECK(metrics.gpu_utilisation == 1.0);
}

TEST_CASE("ideal time: requested GPUs on the fastest type that could hold them", "[metrics]") {
  const Cluster cluster = parse_cluster("a100:1x2,v100:1x8,t4:1x8").value();
  Job job = job_of(1, 0.0, 100.0);
  job.type_speed = {1.0, 0.6, 0.8};  // this one likes the t4 better than the v100
  CHECK(ideal_s(cluster, job).value() == 100.0);
  job.requested = Milli::whole(4);
  job.max_gpus = 4;
  CHECK(ideal_s(cluster, job).value() == Approx(100.0 / 3.2));  // there are but two a100
  job.demand.gpu_memory_mib = 20000;
  CHECK(ideal_s(cluster, job).value() == Approx(100.0 / 2.4));  // too much for a t4
  job.requested = Milli{500};
  CHECK(ideal_s(cluster, job).value() == 200.0);
  job.type_speed = {};
  CHECK_FALSE(ideal_s(cluster, job).has_value());
}

TEST_CASE("restarts per started job", "[metrics]") {
  SimulationResult result;
  result.jobs = {job_of(1, 0.0, 1.0), job_of(2, 0.0, 1.0), job_of(3, 0.0, 1.0)};
  result.records = {record_of(0.0, 5.0), record_of(0.0, 5.0), JobRecord{}};
  result.records[0].restarts = 3;
  result.end_s = 5.0;
  CHECK(measure(parse_cluster("a100:1x2").value(), result).restarts_per_job == 1.5);
}
