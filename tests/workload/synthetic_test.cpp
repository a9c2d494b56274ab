// Workloads by formula: moments, burstiness, tails, shapes of dependencies.

#include "mara/workload/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "catch.hpp"
#include "mara/workload/trace_table.hpp"

using namespace mara;

namespace {

std::vector<double> submissions(const Trace& trace) {
  std::vector<double> times;
  for (const TraceJob& job : trace.jobs) times.push_back(job.submit_s);
  return times;
}

SyntheticWorkload hundred_thousand() {
  SyntheticWorkload workload;
  workload.jobs = 100000;
  workload.arrivals.rate_per_s = 0.1;
  return workload;
}

}  // namespace

TEST_CASE("synthetic arrivals have the rate that is asked for, and their own dispersion") {
  SyntheticWorkload workload = hundred_thousand();
  for (const auto kind :
       {ArrivalProcess::Kind::kPoisson, ArrivalProcess::Kind::kBursty, ArrivalProcess::Kind::kDiurnal}) {
    workload.arrivals.kind = kind;
    const auto trace = draw_synthetic(workload, 3);
    REQUIRE(trace);
    const auto times = submissions(*trace);
    REQUIRE(std::is_sorted(times.begin(), times.end()));
    const double rate = static_cast<double>(times.size()) / times.back();
    const double hourly = dispersion(times, 3600.0);
    INFO("kind " << static_cast<int>(kind) << ", rate " << rate << ", dispersion " << hourly);
    if (kind == ArrivalProcess::Kind::kPoisson) {
      CHECK(rate == Approx(0.1).epsilon(0.01));
      CHECK(hourly == Approx(1.0).margin(0.3));
    } else if (kind == ArrivalProcess::Kind::kBursty) {
      CHECK(rate == Approx(0.1).epsilon(0.1));
      CHECK(hourly > 20.0);
    } else {
      CHECK(rate == Approx(0.1).epsilon(0.03));
      // Within a day the rate goes as the sine says: a quarter day up, a quarter day down.
      double up = 0.0, down = 0.0;
      for (const double t : times) {
        const double phase = t / 86400.0 - std::floor(t / 86400.0);
        if (phase > 0.125 && phase < 0.375) up += 1.0;
        if (phase > 0.625 && phase < 0.875) down += 1.0;
      }
      // Mean of 1 +- .8 sin over that quarter: 1 +- .8 x 2 sqrt(2) / pi.
      const double swing = 0.8 * 2.0 * std::sqrt(2.0) / 3.14159265358979;
      CHECK(up / down == Approx((1.0 + swing) / (1.0 - swing)).epsilon(0.1));
    }
  }
}

TEST_CASE("synthetic durations have the mean that is asked for, and the tail of their law") {
  SyntheticWorkload workload = hundred_thousand();
  workload.durations.mean_s = 500.0;
  using Kind = DurationDistribution::Kind;
  for (const Kind kind : {Kind::kExponential, Kind::kLogNormal, Kind::kParetoBounded, Kind::kHyperExponential,
                          Kind::kConstant}) {
    workload.durations.kind = kind;
    const auto trace = draw_synthetic(workload, 5);
    REQUIRE(trace);
    double sum = 0.0, squares = 0.0, largest = 0.0, lowest = 1e300;
    for (const TraceJob& job : trace->jobs) {
      sum += job.duration_s;
      squares += job.duration_s * job.duration_s;
      largest = std::max(largest, job.duration_s);
      lowest = std::min(lowest, job.duration_s);
    }
    const double n = static_cast<double>(trace->jobs.size()), mean = sum / n;
    const double variation = (squares / n - mean * mean) / (mean * mean);  // squared coefficient
    INFO("kind " << static_cast<int>(kind) << ", mean " << mean << ", variation " << variation);
    switch (kind) {
      case Kind::kExponential:
        CHECK(mean == Approx(500.0).epsilon(0.02));
        CHECK(variation == Approx(1.0).epsilon(0.05));
        break;
      case Kind::kLogNormal:  // exp(sigma^2) - 1
        CHECK(mean == Approx(500.0).epsilon(0.05));
        CHECK(variation == Approx(std::exp(2.25) - 1.0).epsilon(0.4));
        break;
      case Kind::kParetoBounded:
        CHECK(mean == Approx(500.0).epsilon(0.1));
        CHECK(variation > 50.0);
        CHECK(largest / lowest <= 1e4);
        CHECK(largest / lowest > 1e3);
        break;
      case Kind::kHyperExponential: {
        // E[S^2] / E[S]^2 - 1 = 2 (p + (1 - p) f^2) / (p + (1 - p) f)^2 - 1, p = .9, f = 30.
        CHECK(mean == Approx(500.0).epsilon(0.04));
        CHECK(variation == Approx(2.0 * (0.9 + 90.0) / (3.9 * 3.9) - 1.0).epsilon(0.1));
        break;
      }
      case Kind::kConstant:
        CHECK(lowest == 500.0);
        CHECK(largest == 500.0);
        break;
    }
  }
}

TEST_CASE("synthetic dependencies have no circle and the shape that is asked for") {
  SyntheticWorkload workload;
  workload.jobs = 803;
  using Kind = DependencyShape::Kind;
  for (const Kind kind : {Kind::kNone, Kind::kChain, Kind::kForkJoin, Kind::kLayered}) {
    workload.dependencies = {kind, 8};
    const auto trace = draw_synthetic(workload, 9);
    REQUIRE(trace);
    REQUIRE(trace->jobs.size() == 803);
    std::size_t edges = 0, roots = 0;
    for (const TraceJob& job : trace->jobs) {
      edges += job.after.size();
      roots += job.after.empty() ? 1u : 0u;
      for (const std::int64_t id : job.after) {
        CHECK(id < job.id);
        CHECK(id / 8 == job.id / 8);  // within the group, which was submitted together
        CHECK(trace->jobs[static_cast<std::size_t>(id)].submit_s == job.submit_s);
      }
      CHECK(std::set<std::int64_t>(job.after.begin(), job.after.end()).size() == job.after.size());
    }
    if (kind == Kind::kNone) CHECK(edges == 0);
    if (kind == Kind::kChain) CHECK(edges == 100 * 7 + 2);
    if (kind == Kind::kForkJoin) CHECK(edges == 100 * 12 + 2);
    if (kind == Kind::kChain || kind == Kind::kForkJoin) CHECK(roots == 101);
    if (kind == Kind::kLayered) CHECK((edges > 300 && roots >= 101 && roots <= 404));
  }
}

TEST_CASE("a synthetic workload repeats, and refuses what makes no sense") {
  SyntheticWorkload workload;
  workload.estimate_factor = 3.0;
  workload.deadline_factor = 4.0;
  workload.tenants = 5;
  CHECK(draw_synthetic(workload, 1)->jobs == draw_synthetic(workload, 1)->jobs);
  CHECK_FALSE(draw_synthetic(workload, 1)->jobs == draw_synthetic(workload, 2)->jobs);
  std::set<int> tenants;
  const auto trace = draw_synthetic(workload, 1);
  for (const TraceJob& job : trace->jobs) {
    tenants.insert(job.tenant);
    CHECK(check_trace_job(job));
    CHECK((job.estimate_s >= job.duration_s && job.estimate_s <= 3.0 * job.duration_s));
    CHECK((job.deadline_s >= job.submit_s + 1.5 * job.duration_s));
  }
  CHECK(tenants.size() == 5);
  const auto refused = [](auto&& change, const char* field) {
    SyntheticWorkload bad;
    change(bad);
    const auto drawn = draw_synthetic(bad, 1);
    REQUIRE_FALSE(drawn);
    CHECK(drawn.error().message.find(field) != std::string::npos);
  };
  refused([](auto& w) { w.arrivals.rate_per_s = 0.0; }, "arrivals.rate_per_s is 0");
  refused([](auto& w) { w.arrivals.rate_per_s = std::nan(""); }, "arrivals.rate_per_s is nan");
  refused([](auto& w) { w.durations.mean_s = -1.0; }, "durations.mean_s is -1");
  refused([](auto& w) { w.durations.spread = 1.0; }, "durations.spread");
  refused([](auto& w) { w.gpus = {}; }, "weights of gpus");
  refused([](auto& w) { w.gpus = {{0, 1.0}}; }, "gpus is 0");
  refused([](auto& w) { w.deadline_factor = 1.0; }, "deadline_factor is 1");
}
