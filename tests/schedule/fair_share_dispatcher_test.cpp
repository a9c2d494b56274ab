// Dominant resource fairness among tenants on nodes.

#include "mara/schedule/fair_share_dispatcher.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "catch.hpp"
#include "mara/schedule/place_scored.hpp"
#include "rival_helpers.hpp"

namespace mara {
namespace {

using test::PlatformCase;

Job host_job(int tenant, std::int64_t cpu, std::int64_t memory, double seconds) {
  Job job;
  job.requested = Milli{};
  job.demand.cpu = Milli::whole(cpu);
  job.demand.memory_mib = memory;
  job.work = seconds;
  job.tenant = tenant;
  return job;
}
Job gpu_job(int tenant, int gpus, double seconds) {
  Job job;
  job.requested = Milli::whole(gpus);
  job.max_gpus = gpus;
  job.work = seconds * gpus;
  job.type_speed.fill(1.0);
  job.tenant = tenant;
  return job;
}
int started_at(const test::PlatformLog& log, const std::vector<Job>& jobs, int tenant, double time) {
  int count = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    count += jobs[i].tenant == tenant && log.jobs[i].started && log.jobs[i].start_s == time;
  return count;
}

TEST_CASE("S01, S02: tenants' jobs start as progressive filling says", "[drf]") {
  PlatformCase given;
  given.platform.nodes.push_back({.name = "n", .cpu = Milli::whole(9), .memory_mib = 18});
  for (int i = 0; i < 10; ++i) {
    given.jobs.push_back(host_job(0, 1, 4, 10.0));
    given.jobs.push_back(host_job(1, 3, 1, 10.0));
  }
  FairShareDispatcher<> equal;
  auto log = test::run_checked(given, equal);
  CHECK(started_at(log, given.jobs, 0, 0.0) == 3);
  CHECK(started_at(log, given.jobs, 1, 0.0) == 2);
  CHECK(equal.share(0) == 0.0);  // all has been given back
  FairShareDispatcher<> weighted({.weights = {{0, 2.0}}});
  log = test::run_checked(given, weighted);
  CHECK(started_at(log, given.jobs, 0, 0.0) == 4);
  CHECK(started_at(log, given.jobs, 1, 0.0) == 1);
}

TEST_CASE("S02: ratios of weights on GPUs, weight 0 last", "[drf]") {
  PlatformCase given{make_platform(3, 3), {}};
  for (int i = 0; i < 20; ++i) {
    given.jobs.push_back(gpu_job(3, 1, 10.0));
    given.jobs.push_back(gpu_job(5, 1, 10.0));
  }
  for (const auto& [a, b] : {std::pair{0.6, 0.3}, {2.0, 1.0}, {600.0, 300.0}}) {
    FairShareDispatcher<> scheduler({.weights = {{3, a}, {5, b}}});
    const auto log = test::run_checked(given, scheduler);
    CHECK(started_at(log, given.jobs, 3, 0.0) == 6);
    CHECK(started_at(log, given.jobs, 5, 0.0) == 3);
  }
  FairShareDispatcher<> last({.weights = {{3, 0.0}}});
  const auto log = test::run_checked(given, last);
  CHECK(started_at(log, given.jobs, 3, 0.0) == 0);
  CHECK(started_at(log, given.jobs, 5, 0.0) == 9);
  CHECK_FALSE(check_options({.weights = {{3, -1.0}}}));
  CHECK_FALSE(check_options({.weights = {{3, std::numeric_limits<double>::quiet_NaN()}}}));
  CHECK(check_options({.weights = {{3, -1.0}}}).error().message.find("tenant 3") != std::string::npos);
}

TEST_CASE("S01: what can never start is set aside and holds up nobody", "[drf]") {
  PlatformCase given{make_platform(1, 2), {}};
  given.jobs = {gpu_job(0, 3, 10.0), gpu_job(0, 1, 10.0), gpu_job(1, 1, 10.0)};
  FairShareDispatcher<> scheduler;
  const auto log = test::run_checked(given, scheduler, false);
  CHECK(scheduler.unsatisfiable() == 1);
  CHECK_FALSE(log.jobs[0].started);
  CHECK(log.jobs[1].end_s == 10.0);
  CHECK(log.jobs[2].end_s == 10.0);
}

TEST_CASE("A tenant whose next job does not fit drops out, or looks further", "[drf]") {
  PlatformCase given{make_platform(1, 4), {}};
  given.jobs = {gpu_job(0, 2, 10.0), gpu_job(0, 3, 10.0), gpu_job(0, 1, 10.0), gpu_job(1, 1, 50.0)};
  FairShareDispatcher<> strict;
  auto log = test::run_checked(given, strict);
  CHECK(log.jobs[2].start_s == 20.0);  // behind the one of three GPUs, which starts at 10
  FairShareDispatcher<> further({.weights = {}, .look_further = true});
  log = test::run_checked(given, further);
  CHECK(log.jobs[2].start_s == 0.0);
  CHECK(strict.name() == "drf");
  CHECK(further.name() == "drf-further");
}

TEST_CASE("Orders within a tenant: shortest first", "[drf]") {
  PlatformCase given{make_platform(1, 1), {}};
  given.jobs = {gpu_job(0, 1, 30.0), gpu_job(0, 1, 20.0), gpu_job(0, 1, 10.0)};
  FairShareDispatcher<ShortestJobOrder> scheduler;
  const auto log = test::run_checked(given, scheduler);
  CHECK(log.jobs[2].start_s == 0.0);
  CHECK(log.jobs[1].start_s == 10.0);
  CHECK(log.jobs[0].start_s == 30.0);
}

// Progressive filling written down once more, slowly: at each decision a loop over all tenants.
template <class Placing>
struct PlainFairShare {
  std::vector<JobSlot> waiting;
  Placing placing;
  Placement placement;
  std::string_view name() const { return "plain"; }
  void enter(Dispatch&, JobSlot slot) { waiting.push_back(slot); }
  void leave(Dispatch&, JobSlot slot) { std::erase(waiting, slot); }
  void decide(Dispatch& dispatch) {
    std::set<int> dropped;
    double capacity[3] = {0, 0, 0};
    for (const Node& node : dispatch.platform().nodes) {
      capacity[0] += 1000.0 * node.devices;
      capacity[1] += static_cast<double>(node.cpu.value);
      capacity[2] += static_cast<double>(node.memory_mib);
    }
    for (;;) {
      int best = -1;
      double lowest = 0.0;
      for (int tenant = 0; tenant < 4; ++tenant) {
        bool waits = false;
        for (const JobSlot slot : waiting) waits = waits || dispatch.job(slot).job.tenant == tenant;
        if (!waits || dropped.count(tenant) > 0) continue;
        double used[3] = {0, 0, 0}, share = 0.0;
        for (const JobSlot slot : dispatch.running())
          if (dispatch.job(slot).job.tenant == tenant)
            for (const NodeShare& part : dispatch.job(slot).placement.shares) {
              used[0] += static_cast<double>(part.device_count() * part.share);
              used[1] += static_cast<double>(part.cpu.value);
              used[2] += static_cast<double>(part.memory_mib);
            }
        for (int r = 0; r < 3; ++r)
          if (capacity[r] > 0.0) share = std::max(share, used[r] / capacity[r]);
        if (best >= 0 && share >= lowest) continue;
        best = tenant;
        lowest = share;
      }
      if (best < 0) return;
      const auto first = std::min_element(waiting.begin(), waiting.end(), [&](JobSlot a, JobSlot b) {
        const ActiveJob &x = dispatch.job(a), &y = dispatch.job(b);
        if ((x.job.tenant == best) != (y.job.tenant == best)) return x.job.tenant == best;
        return x.sequence < y.sequence;
      });
      if (placing.place(dispatch.free(), dispatch.job(*first).demand, placement) &&
          dispatch.start(*first, placement)) {
        waiting.erase(first);
      } else {
        dropped.insert(best);
      }
    }
  }
};

TEST_CASE("Fair shares on random workloads equal plain progressive filling and keep every limit", "[drf]") {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    INFO("seed " << seed);
    Random random(91, seed);
    PlatformCase given;
    given.platform = test::random_platform(random, false);
    given.jobs = test::random_platform_jobs(random, given.platform, 40, true);
    FairShareDispatcher<> fast;
    PlainFairShare<Consolidated> plain;
    const auto log = test::run_checked(given, fast), expected = test::run_checked(given, plain);
    for (std::size_t i = 0; i < given.jobs.size(); ++i) {
      REQUIRE(log.jobs[i].start_s == expected.jobs[i].start_s);
      REQUIRE(log.jobs[i].preemptions == 0);
    }
    FairShareDispatcher<Wfp3Order, ScoredPlacement<BestFitScoring>> varied(
        {.weights = {{0, 3.0}, {1, 0.0}}, .look_further = true});
    test::run_checked(given, varied);
    PlatformConfig failing;
    failing.outages.push_back({.node = 0, .from_s = 50.0, .to_s = 200.0});
    FairShareDispatcher<> through_failure({.weights = {}, .look_further = true});
    test::run_checked(given, through_failure, true, NoOverhead{}, failing);
    for (int tenant = 0; tenant < 4; ++tenant) REQUIRE(through_failure.share(tenant) == 0.0);
  }
}

}  // namespace
}  // namespace mara
