// The simulator against queueing theory: one GPU, Poisson arrivals, no start costs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "batch_means.hpp"
#include "catch.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

/// Response times (FCFS) or waits of a long run, its beginning cut off.
std::vector<double> run(double rate, std::uint64_t seed, bool waits,
                        const std::function<double(Random&)>& size) {
  constexpr std::size_t kJobs = 200'000, kWarmUp = 5'000;
  Random random(seed);
  std::vector<Job> jobs;
  double clock = 0.0;
  for (std::size_t i = 0; i < kJobs; ++i) {
    clock += random.exponential(rate);
    jobs.push_back(job_of(static_cast<std::int64_t>(i), clock, size(random)));
  }
  SimulationConfig config = plain();
  config.record_intervals = false;
  auto scheduler = fcfs();
  const auto result = simulate(parse_cluster("a100:1x1").value(), jobs, scheduler, config).value();
  std::vector<double> values;
  for (std::size_t i = kWarmUp; i < kJobs; ++i) {
    REQUIRE(result.records[i].finished);
    values.push_back((waits ? result.records[i].start_s : result.records[i].end_s) - result.jobs[i].submit_s);
  }
  return values;
}

void check_within(const std::vector<double>& values, double expected) {
  const Estimate estimate = batch_means(values);
  INFO("estimate " << estimate.mean << " +- " << estimate.standard_error << ", theory " << expected);
  CHECK(std::fabs(estimate.mean - expected) < 3.0 * estimate.standard_error);
  CHECK(estimate.standard_error < 0.05 * expected);  // else the test would prove nothing
}

}  // namespace

TEST_CASE("M/M/1 FCFS: mean response 1 / (mu - lambda)", "[queueing]") {
  check_within(run(0.5, 1, false, [](Random& random) { return random.exponential(1.0); }), 2.0);
  check_within(run(0.7, 2, false, [](Random& random) { return random.exponential(1.0); }), 1.0 / 0.3);
  check_within(run(0.8, 3, false, [](Random& random) { return random.exponential(1.0); }), 5.0);
}

TEST_CASE("M/G/1 FCFS: mean wait lambda E[S^2] / (2 (1 - rho)), Pollaczek and Khinchine", "[queueing]") {
  SECTION("constant sizes") {
    check_within(run(0.8, 4, true, [](Random&) { return 1.0; }), 0.8 / (2.0 * 0.2));
  }
  SECTION("two kinds of job: 0.5 with probability .9, else 5.5") {  // E S = 1, E S^2 = 3.25
    check_within(run(0.6, 5, true, [](Random& random) { return random.uniform() < 0.9 ? 0.5 : 5.5; }),
                 0.6 * 3.25 / (2.0 * 0.4));
  }
  SECTION("log-normal, sigma 1, mean 1") {  // E S^2 = e
    check_within(run(0.6, 6, true, [](Random& random) { return random.log_normal(-0.5, 1.0); }),
                 0.6 * std::exp(1.0) / (2.0 * 0.4));
  }
}

namespace {

double mean_response(const SimulationResult& result) {
  double sum = 0.0;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    REQUIRE(result.records[i].finished);
    sum += result.records[i].end_s - result.jobs[i].submit_s;
  }
  return sum / static_cast<double>(result.records.size());
}

/// Completion times under shortest remaining processing time, with a heap instead of a simulator.
std::vector<double> srpt_reference(const std::vector<Job>& jobs) {
  std::vector<double> ends(jobs.size());
  using Entry = std::pair<double, std::size_t>;  // remaining, job
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  double clock = 0.0;
  for (std::size_t next = 0; next < jobs.size() || !waiting.empty();) {
    const double arrival = next < jobs.size() ? jobs[next].submit_s : std::numeric_limits<double>::infinity();
    if (waiting.empty() || clock + waiting.top().first > arrival) {
      if (!waiting.empty()) {
        const auto [remaining, job] = waiting.top();
        waiting.pop();
        waiting.emplace(remaining - (arrival - clock), job);
      }
      clock = arrival;
      waiting.emplace(jobs[next].work, next);
      ++next;
    } else {
      const auto [remaining, job] = waiting.top();
      waiting.pop();
      clock += remaining;
      ends[job] = clock;
    }
  }
  return ends;
}

}  // namespace

TEST_CASE("on one machine SRPT has the least mean response on every sample path", "[queueing]") {
  const Cluster cluster = parse_cluster("a100:1x1").value();
  auto srpt =
      OrderedScheduler{[](const DecisionView& view, std::size_t i) { return view.active[i].remaining_work; }};
  auto shortest = OrderedScheduler{[](const DecisionView& view, std::size_t i) { return view.job(i).work; }};
  auto least_attained =
      OrderedScheduler{[](const DecisionView& view, std::size_t i) { return view.active[i].attained_gpu_s; }};
  auto last_come =
      OrderedScheduler{[](const DecisionView&, std::size_t i) { return -static_cast<double>(i); }};
  int beaten = 0;
  for (std::uint64_t path = 0; path < 300; ++path) {
    Random random(77, path);
    std::vector<Job> jobs;
    double clock = 0.0;
    for (int i = 0; i < 40; ++i) {
      clock += random.exponential(0.8);
      jobs.push_back(job_of(i, clock, random.log_normal(-0.5, 1.0)));
    }
    SimulationConfig config = plain();
    const auto result = simulate(cluster, jobs, srpt, config).value();
    const std::vector<double> ends = srpt_reference(jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      REQUIRE(result.records[i].end_s == Approx(ends[i]).epsilon(1e-12));
    const double best = mean_response(result);

    auto first_come = fcfs();
    auto in_order = Script{[&random](const DecisionView& view, Allocation& allocation) {
      allocation.claim(random.below(static_cast<std::uint32_t>(view.active.size())), {}, whole(1));
    }};
    config.tick_s = 0.5;  // the others may even decide more often
    for (const double other : {mean_response(simulate(cluster, jobs, first_come, config).value()),
                               mean_response(simulate(cluster, jobs, shortest, config).value()),
                               mean_response(simulate(cluster, jobs, least_attained, config).value()),
                               mean_response(simulate(cluster, jobs, last_come, config).value()),
                               mean_response(simulate(cluster, jobs, in_order, config).value())}) {
      REQUIRE(best <= other * (1.0 + 1e-12));
      if (best < other) ++beaten;
    }
  }
  CHECK(beaten > 1200);  // most of 1500 strictly
}
