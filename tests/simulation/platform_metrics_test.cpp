// Measures of a platform simulation against values worked out by hand (case S16), and Muri's overheads.

#include "mara/simulation/platform_metrics.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/simulation/muri_overhead.hpp"
#include "mara/simulation/platform_simulator.hpp"

using namespace mara;

namespace {

Job one_gpu_job(std::int64_t id, double submit_s, double work) {
  Job job;
  job.id = id;
  job.submit_s = submit_s;
  job.work = work;
  job.type_speed[0] = 1.0;
  return job;
}

Placement on_device(std::uint32_t node, int device, std::int32_t share = 1000) {
  Placement placement;
  placement.shares.push_back({node, share, std::uint64_t{1} << device, {}, 0});
  return placement;
}

/// Tells the meter about a job that waited and then ran on `placement` to its end.
void ran(PlatformMeter& meter, const Job& job, double start_s, double end_s, const Placement& placement) {
  JobOutcome outcome;
  outcome.job = &job;
  outcome.started = outcome.finished = true;
  outcome.entered_s = job.submit_s;
  outcome.start_s = start_s;
  outcome.end_s = end_s;
  outcome.executed_s = end_s - start_s;
  outcome.attained_gpu_s = outcome.executed_s * placement.gpus().as_double();
  outcome.last = &placement;
  if (end_s > start_s) meter.interval({&job, 0, &placement, start_s, end_s});
  meter.job(outcome);
}

PlatformMetrics measured(const PlatformMeter& meter) {
  auto metrics = meter.measure();
  INFO((metrics ? "" : metrics.error().message));
  REQUIRE(metrics.has_value());
  return *metrics;
}

}  // namespace

TEST_CASE("platform metrics: bounded slowdown, case S16") {
  const Platform platform = make_platform(3, 1);
  PlatformMeter meter(platform);
  ran(meter, one_gpu_job(0, 0, 0), 100, 100, on_device(0, 0));   // waits 100 s, runs 0 s: 10
  ran(meter, one_gpu_job(1, 95, 5), 95, 100, on_device(1, 0));   // waits 0 s, runs 5 s: 1
  ran(meter, one_gpu_job(2, 10, 60), 40, 100, on_device(2, 0));  // waits 30 s, runs 60 s: 1.5
  const PlatformMetrics m = measured(meter);
  CHECK(m.finished == 3);
  CHECK(*m.mean_bounded_slowdown == Approx(12.5 / 3.0).epsilon(1e-15));
  CHECK(std::isfinite(*m.mean_slowdown));  // a zero-length job counts as 1 ms
  CHECK(*m.mean_slowdown == Approx((100.0 / 1e-3 + 1.0 + 1.5) / 3.0));
  CHECK(*m.jct_s.mean == Approx((100.0 + 5.0 + 90.0) / 3.0));
  CHECK(*m.jct_s.p50 == 90.0);
  CHECK(*m.jct_s.p95 == Approx(99.0));
  CHECK(*m.queueing_s.mean == Approx(130.0 / 3.0));
  CHECK(*m.queueing_s.p50 == 30.0);
  CHECK(*m.makespan_s == 100.0);
  CHECK(*m.gpu_utilisation == Approx(65.0 / 300.0));
}

TEST_CASE("platform metrics: utilisation is over [start, end), case S16") {
  const Platform platform = make_platform(1, 1);
  PlatformMeter meter(platform);
  ran(meter, one_gpu_job(0, 0, 10), 0, 10, on_device(0, 0));
  ran(meter, one_gpu_job(1, 0, 10), 10, 20, on_device(0, 0));
  CHECK(*measured(meter).gpu_utilisation == 1.0);
  CHECK(!measured(meter).cpu_utilisation.has_value());  // there is none
  CHECK(*measured(meter).mean_jobs == 1.5);             // two for 10 s, one for 10 s

  PlatformMeter over(platform);
  ran(over, one_gpu_job(0, 0, 10), 0, 10, on_device(0, 0));
  ran(over, one_gpu_job(1, 0, 10), 0, 10, on_device(0, 0));
  const auto refused = over.measure();
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == ErrorCode::kCapacityExceeded);
  CHECK(refused.error().message == "node '0': over-committed: 20 GPU-seconds held of 10");

  // Also when another node is idle.
  const Platform two = make_platform(2, 1);
  PlatformMeter hidden(two);
  ran(hidden, one_gpu_job(0, 0, 10), 0, 10, on_device(1, 0));
  ran(hidden, one_gpu_job(1, 0, 10), 0, 10, on_device(1, 0));
  CHECK(!hidden.measure().has_value());
}

TEST_CASE("platform metrics: nothing finished is nothing, not 0 and not NaN, case S16") {
  const Platform platform = make_platform(1, 1);
  const PlatformMeter empty(platform);
  PlatformMetrics m = measured(empty);
  CHECK(m.finished + m.unfinished + m.rejected == 0);
  for (const auto& value :
       {m.jct_s.mean, m.jct_s.p99, m.queueing_s.mean, m.mean_slowdown, m.mean_bounded_slowdown, m.jain,
        m.mean_rho, m.max_rho, m.mean_jobs, m.makespan_s, m.gpu_utilisation, m.goodput, m.overhead_share,
        m.preemptions_per_job, m.deadline_miss_rate, m.tenant_jain})
    CHECK(!value.has_value());

  PlatformMeter waiting(platform);
  const Job job = one_gpu_job(0, 5, 10);
  const Placement none;
  JobOutcome outcome;
  outcome.job = &job;
  outcome.entered_s = 5;
  outcome.end_s = 15;
  outcome.last = &none;
  waiting.job(outcome);
  outcome.rejected = true;
  waiting.job(outcome);
  m = measured(waiting);
  CHECK(m.finished == 0);
  CHECK(m.unfinished == 1);
  CHECK(m.rejected == 1);
  CHECK(!m.jct_s.mean.has_value());
  CHECK(!m.jain.has_value());
  CHECK(!m.goodput.has_value());
  CHECK(*m.gpu_utilisation == 0.0);
  CHECK(*m.mean_jobs == 2.0);
  REQUIRE(m.classes.size() == 1);
  CHECK(!m.classes[0].p99_jct_s.has_value());
}

TEST_CASE("platform metrics: fairness") {
  // Ideals of 10 s; completions after 10, 20 and 20 s: speeds 1, 1/2, 1/2. Jain (2)^2 / (3 x 1.5) = 8/9.
  const Platform platform = make_platform(2, 1);
  PlatformMeter meter(platform);
  std::vector<Job> jobs = {one_gpu_job(0, 0, 10), one_gpu_job(1, 0, 10), one_gpu_job(2, 0, 10)};
  jobs[1].tenant = jobs[2].tenant = 4;
  ran(meter, jobs[0], 0, 10, on_device(0, 0));
  ran(meter, jobs[1], 10, 20, on_device(0, 0));
  ran(meter, jobs[2], 10, 20, on_device(1, 0));
  const PlatformMetrics m = measured(meter);
  CHECK(*m.jain == Approx(8.0 / 9.0).epsilon(1e-15));
  CHECK(*m.mean_slowdown == Approx(5.0 / 3.0));
  REQUIRE(m.tenants.size() == 2);
  CHECK(m.tenants[0].tenant == 0);
  CHECK(m.tenants[1].tenant == 4);
  CHECK(m.tenants[1].jobs == 2);
  CHECK(*m.tenants[1].mean_jct_s == 20.0);
  CHECK(m.tenants[1].gpu_hours == Approx(20.0 / 3600.0));
  CHECK(*m.tenants[1].mean_speed == 0.5);
  CHECK(*m.tenant_jain == Approx(1.5 * 1.5 / (2.0 * 1.25)));
  // Three jobs for 10 s, then two. The first: N = 3 on 2 GPUs, T = 10 x 3/2, rho = 10/15. The others: N
  // = 2.5, T = 10 x 2.5/2, rho = 20/12.5.
  CHECK(*m.max_rho == Approx(1.6));
  CHECK(*m.mean_rho == Approx((2.0 / 3.0 + 1.6 + 1.6) / 3.0));
}

TEST_CASE("platform metrics: alone in the system is fair, whatever the size of the cluster") {
  const Platform platform = make_platform(8, 8);
  PlatformMeter meter(platform);
  ran(meter, one_gpu_job(0, 0, 10), 0, 10, on_device(0, 0));
  ran(meter, one_gpu_job(1, 50, 10), 50, 60, on_device(0, 0));
  CHECK(*measured(meter).mean_rho == 1.0);
  CHECK(*measured(meter).max_rho == 1.0);
}

TEST_CASE("platform metrics: deadlines and classes") {
  const Platform platform = make_platform(4, 1);
  PlatformMeter meter(platform);
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(one_gpu_job(i, 0, 10));
  jobs[0].deadline_s = 10;  // met exactly
  jobs[1].deadline_s = 9.5;
  jobs[1].sla = 2;
  for (std::uint32_t i = 0; i < 3; ++i) ran(meter, jobs[i], 0, 10, on_device(i, 0));
  const Placement none;
  JobOutcome left;
  left.job = &jobs[3];
  left.end_s = 10;
  left.last = &none;
  jobs[3].deadline_s = 11;  // may yet be met: not counted
  meter.job(left);
  jobs[3].deadline_s = 10;  // can no more be met
  meter.job(left);
  jobs[3].deadline_s = 20;
  left.rejected = true;  // will not be met
  meter.job(left);
  const PlatformMetrics m = measured(meter);
  CHECK(m.deadline_jobs == 4);
  CHECK(m.deadline_misses == 3);
  CHECK(*m.deadline_miss_rate == 0.75);
  REQUIRE(m.classes.size() == 2);
  CHECK(m.classes[0].jobs == 5);
  CHECK(m.classes[0].finished == 2);
  CHECK(*m.classes[0].p99_jct_s == 10.0);
  CHECK(m.classes[0].deadline_misses == 2);
  CHECK(m.classes[1].sla == 2);
  CHECK(m.classes[1].deadline_jobs == 1);
  CHECK(m.classes[1].deadline_misses == 1);
}

TEST_CASE("platform metrics: energy, cost, host resources, types") {
  Platform platform = make_platform(1, 2, "fast");
  platform.types.push_back({.name = "slow"});
  platform.types[0].idle_w = 50;
  platform.types[0].busy_w = 250;
  platform.types[0].price_per_hour = 3;
  platform.types[1].idle_w = platform.types[1].busy_w = 100;
  Node slow;
  slow.name = "s";
  slow.type = 1;
  slow.devices = 1;
  slow.cpu = Milli::whole(10);
  slow.memory_mib = 1000;
  platform.nodes.push_back(slow);
  REQUIRE(check_platform(platform).has_value());
  PlatformMeter meter(platform);
  Job job = one_gpu_job(0, 0, 3600);
  job.type_speed[1] = 0.5;
  ran(meter, job, 0, 3600, on_device(0, 1, 500));  // half a device for an hour
  Placement host = on_device(1, 0);
  host.shares[0].cpu = Milli{2500};
  host.shares[0].memory_mib = 500;
  ran(meter, one_gpu_job(1, 0, 3600), 0, 3600, host);
  const PlatformMetrics m = measured(meter);
  CHECK(m.energy_kwh == Approx(0.1 + 0.1 + 0.1));  // two idle of 50 W, half of the 200 W more, one of 100 W
  CHECK(m.cost == Approx(1.5));
  CHECK(m.gpu_hours == Approx(1.5));
  CHECK(*m.gpu_utilisation == Approx(0.5));
  CHECK(*m.type_utilisation[0] == Approx(0.25));
  CHECK(*m.type_utilisation[1] == 1.0);
  CHECK(*m.cpu_utilisation == Approx(0.25));
  CHECK(*m.memory_utilisation == Approx(0.5));
  CHECK(*ideal_s(platform, job) == 3600.0);  // on the faster type
}

TEST_CASE("platform metrics: goodput, overhead, preemptions of a run worked out by hand") {
  // One GPU. A (100 s) starts at 0; B (10 s) comes at 20 and preempts it: start 2 s, resumption 4 s.
  // A: 2 s of cost, 18 s of work; B: 20 to 32; A: 32, 4 s of cost, 82 s of work, ends at 118.
  const Platform platform = make_platform(1, 1);
  const std::vector<Job> jobs = {one_gpu_job(0, 0, 100), one_gpu_job(1, 20, 10)};
  PlatformMeter meter(platform);
  ListSource source(jobs);
  ListOptions options;
  options.preemption = Preemption::kKeep;
  ListDispatcher<ShortestRemainingOrder, AnyDevices> scheduler(options);
  PlatformSimulator<FixedOverhead> simulator(platform, {}, FixedOverhead{2.0, 4.0, 7.0, 0.0});
  simulator.run(source, scheduler, meter);
  const PlatformMetrics m = measured(meter);
  CHECK(m.finished == 2);
  CHECK(*m.makespan_s == 118.0);
  CHECK(*m.jct_s.mean == (118.0 + 12.0) / 2.0);
  CHECK(*m.gpu_utilisation == 1.0);
  CHECK(*m.goodput == Approx(110.0 / 118.0));
  CHECK(*m.overhead_share == Approx(8.0 / 118.0));
  CHECK(m.preemptions == 1);
  CHECK(*m.preemptions_per_job == 0.5);
  CHECK(*m.migrations_per_job == 0.0);
}

TEST_CASE("platform metrics: work that a failure threw away is no goodput") {
  // Checkpoints each 10 s; the node fails from 25 to 30: 5 s are lost. 25 + 80 s executed for 100 s of work.
  const Platform platform = make_platform(1, 1);
  const std::vector<Job> jobs = {one_gpu_job(0, 0, 100)};
  PlatformConfig config;
  config.outages.push_back({0, 25.0, 30.0, Outage::Kind::kFailure});
  config.checkpoint_interval_s = 10.0;
  PlatformMeter meter(platform);
  ListSource source(jobs);
  ListDispatcher<> scheduler;
  PlatformSimulator<> simulator(platform, config);
  simulator.run(source, scheduler, meter);
  const PlatformMetrics m = measured(meter);
  CHECK(*m.makespan_s == 110.0);
  CHECK(*m.goodput == Approx(100.0 / 105.0));
  CHECK(*m.failures_per_job == 1.0);
  CHECK(*m.gpu_utilisation == Approx(105.0 / 110.0));
}

TEST_CASE("platform metrics: bad numbers are refused by name, case S17") {
  const Platform platform = make_platform(1, 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Placement none;
  const auto with = [&](auto&& change) {
    PlatformMeter meter(platform);
    const Job job = one_gpu_job(3, 10, 10);
    JobOutcome outcome;
    outcome.job = &job;
    outcome.started = outcome.finished = true;
    outcome.entered_s = 10;
    outcome.start_s = 11;
    outcome.end_s = 21;
    outcome.last = &none;
    change(outcome);
    meter.job(outcome);
    const auto metrics = meter.measure();
    return metrics ? std::string() : metrics.error().message;
  };
  CHECK(with([](JobOutcome&) {}).empty());
  CHECK(with([&](JobOutcome& o) { o.end_s = nan; }) == "job 3: end_s is nan");
  CHECK(with([&](JobOutcome& o) { o.end_s = 9; }) == "job 3: end_s - submit_s is -1");
  CHECK(with([&](JobOutcome& o) { o.executed_s = -1; }) == "job 3: executed_s is -1");
  CHECK(with([&](JobOutcome& o) { o.overhead_s = nan; }) == "job 3: overhead_s is nan");
  CHECK(with([&](JobOutcome& o) { o.start_s = 9; }) == "job 3: start_s - entered_s is -1");
  PlatformMeter meter(platform);
  const Job job = one_gpu_job(0, 0, 1);
  const Placement outside = on_device(1, 0);
  meter.interval({&job, 0, &outside, 0.0, 1.0});
  REQUIRE(!meter.measure().has_value());
  CHECK(meter.measure().error().message == "an interval: node is 1");
}

TEST_CASE("population: means over any span") {
  const std::vector<JobSpan> jobs = {{0, 10}, {5, 15}, {5, 5}, {20, 30}};
  const Population population(jobs);
  CHECK(*population.mean(0, 10) == 1.5);
  CHECK(*population.mean(5, 10) == 2.0);
  CHECK(*population.mean(-10, 40) == 0.6);
  CHECK(*population.mean(16, 19) == 0.0);
  CHECK(!population.mean(5, 5).has_value());
  CHECK(*Population({}).mean(0, 1) == 0.0);
}

TEST_CASE("Muri's overheads: by model and GPUs") {
  const std::vector<std::string> models = {"dqn", "a2c"};
  const auto overhead = MuriOverhead::make(models);
  REQUIRE(overhead.has_value());
  Job job = one_gpu_job(0, 0, 1);
  const auto loss = [&](int profile, int gpus) {
    job.profile = profile;
    job.requested = Milli::whole(gpus);
    return overhead->decision_loss_s(job);
  };
  CHECK(loss(0, 1) == 5.0);
  CHECK(loss(0, 4) == 6.0);
  CHECK(loss(0, 32) == 8.0);
  CHECK(loss(0, 64) == 8.0);
  CHECK(loss(1, 1) == 38.0);
  CHECK(loss(1, 2) == 39.0);
  CHECK(loss(1, 3) == 39.0);
  CHECK(loss(1, 8) == 46.0);
  CHECK(loss(-1, 1) == 0.0);
  const std::vector<std::string> unknown = {"resnet18", "resnet50"};
  const auto refused = MuriOverhead::make(unknown);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message.find("model 'resnet50'") != std::string::npos);
}
