// Hindsight lower bounds: values by hand, and no scheduler below them.

#include "mara/schedule/lower_bound.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/fair_share_dispatcher.hpp"
#include "mara/schedule/hesrpt.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/optimus.hpp"
#include "mara/schedule/pooled_dispatcher.hpp"
#include "mara/schedule/srtf.hpp"
#include "mara/schedule/tetris_dispatcher.hpp"
#include "mara/simulation/platform_models.hpp"
#include "rival_helpers.hpp"

namespace mara {
namespace {

using test::PlatformCase;

Job gpu_job(double submit, int gpus, double seconds) {
  Job job;
  job.submit_s = submit;
  job.requested = Milli::whole(gpus);
  job.max_gpus = gpus;
  job.work = seconds * gpus;
  job.type_speed.fill(1.0);
  return job;
}

TEST_CASE("Bounds by hand", "[bound]") {
  const Platform one = make_platform(1, 1), two = make_platform(1, 2);
  {  // SRPT on one device: the one of 1 s interrupts; 1 and 11, of 1 and 10 s.
    const std::vector<Job> jobs{gpu_job(0, 1, 10), gpu_job(2, 1, 1)};
    const auto bound = mean_jct_lower_bound(one, jobs).value();
    CHECK(bound.own_s == 5.5);
    CHECK(bound.srpt_s == 6.0);
    CHECK(bound.mean_s() == 6.0);
    // Busy: the long one on [0,2) and [3,11), mean (2 x 1 + 8 x 7) / 10; the short one at 2.5, .5 after it
    // came.
    CHECK(bound.busy_s == Approx((5.8 + 0.5 + 5.5) / 2));
  }
  {  // Two devices and three jobs of one: SRPT on a machine of speed 2 says 5, 10, 15; busy
     // times 2.5, 7.5, 12.5.
    const std::vector<Job> jobs{gpu_job(0, 1, 10), gpu_job(0, 1, 10), gpu_job(0, 1, 10)};
    const auto bound = mean_jct_lower_bound(two, jobs).value();
    CHECK(bound.own_s == 10.0);
    CHECK(bound.srpt_s == 10.0);
    CHECK(bound.busy_s == Approx(12.5));  // the best there is: 10, 15, 15 would need fluid jobs
  }
  {  // An inelastic job of two devices at speed-up 1.5: rigid, it wastes a quarter.
    Job job = gpu_job(0, 2, 0);
    job.speed_up = {SpeedUp::Kind::kAmdahl, 2.0 / 3};
    job.work = 30.0;
    const auto rigid = mean_jct_lower_bound(two, std::vector{job, job}, SizeFreedom::kRigid).value();
    CHECK(rigid.own_s == Approx(20.0));
    CHECK(rigid.srpt_s == Approx((20.0 + 40.0) / 2));
    const auto elastic = mean_jct_lower_bound(two, std::vector{job, job}).value();
    CHECK(elastic.srpt_s == Approx((15.0 + 30.0) / 2));
  }
  {  // A slow type counts by its speed.
    Platform mixed;
    mixed.types = {{.name = "fast"}, {.name = "slow"}};
    mixed.nodes = {{.name = "f", .type = 0, .devices = 1}, {.name = "s", .type = 1, .devices = 2}};
    Job job = gpu_job(0, 1, 10);
    job.type_speed = {1.0, 0.25};
    const auto bound = mean_jct_lower_bound(mixed, std::vector{job, job, job}).value();
    CHECK(bound.own_s == 10.0);
    CHECK(bound.srpt_s == Approx(10.0 / 1.5 * 2));
  }
}

TEST_CASE("Bad numbers are refused, impossible jobs are left out", "[bound]") {
  const Platform one = make_platform(1, 1);
  Job bad = gpu_job(0, 1, 1);
  bad.id = 7;
  bad.work = std::numeric_limits<double>::quiet_NaN();
  const auto refused = mean_jct_lower_bound(one, std::vector{bad});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("job 7: work") != std::string::npos);
  CHECK_FALSE(mean_jct_lower_bound(one, std::vector<Job>{}));
  Job nowhere = gpu_job(0, 1, 1);
  nowhere.type_speed.fill(0.0);
  const auto bound = mean_jct_lower_bound(one, std::vector{gpu_job(0, 1, 4), nowhere}).value();
  CHECK(bound.impossible == 1);
  CHECK(bound.mean_s() == 4.0);
  CHECK(mean_jct_lower_bound(one, std::vector{gpu_job(0, 2, 1), gpu_job(0, 1, 1)}, SizeFreedom::kRigid)
            .value()
            .impossible == 1);
}

TEST_CASE("On one device SRTF reaches the bound", "[bound]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    Random random(95, seed);
    PlatformCase given{make_platform(1, 1), {}};
    double clock = 0.0;
    for (int i = 0; i < 40; ++i) {
      given.jobs.push_back(gpu_job(clock, 1, random.exponential(0.1)));
      clock += random.exponential(0.12);
    }
    ListDispatcher<ShortestRemainingOrder, AnyDevices> srtf({.preemption = Preemption::kKeep});
    const double reached = test::run_checked(given, srtf).mean_jct_s(given.jobs);
    const auto bound = mean_jct_lower_bound(given.platform, given.jobs).value();
    CHECK(bound.srpt_s == Approx(reached).epsilon(1e-9));
    CHECK(bound.mean_s() <= reached * (1 + 1e-9));
  }
}

TEST_CASE("No scheduler is below the bound", "[bound]") {
  double tightest = 0.0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(96, seed);
    PlatformCase given;
    given.platform = test::random_platform(random, seed % 2 == 0);
    given.jobs = test::random_platform_jobs(random, given.platform, 30, true);
    const double any = mean_jct_lower_bound(given.platform, given.jobs).value().mean_s();
    const double rigid =
        mean_jct_lower_bound(given.platform, given.jobs, SizeFreedom::kRigid).value().mean_s();
    REQUIRE(any <= rigid * (1 + 1e-12));
    const auto above = [&](double bound, auto scheduler) {
      const double reached = test::run_checked(given, scheduler).mean_jct_s(given.jobs);
      INFO(scheduler.name());
      REQUIRE(bound <= reached * (1 + 1e-9));
      tightest = std::max(tightest, bound / reached);
    };
    above(rigid, ListDispatcher<>{});
    above(rigid, ListDispatcher<ShortestRemainingOrder>({.preemption = Preemption::kRepack}));
    above(rigid, ListDispatcher<ShortestServiceOrder>({.preemption = Preemption::kKeep}));
    above(rigid, DiscretisedLas<>{});
    above(rigid, FairShareDispatcher<>{});
    above(rigid, TetrisDispatcher{});
    above(rigid, PooledDispatcher<Srtf>(Srtf{}, {{0.0, 0.0}, true}));
    above(any, PooledDispatcher<Optimus>(Optimus{}, {{0.0, 0.0}, true}));
    above(any, PooledDispatcher<Hesrpt>(Hesrpt{}, {{0.0, 0.0}, true}));
  }
  CHECK(tightest > 0.8);
}

}  // namespace
}  // namespace mara
