// Gavel's max-min fairness: optima computed by hand, rounds that carry them out.

#include "mara/schedule/max_min_dispatcher.hpp"

#include <cstdint>
#include <iostream>
#include <vector>

#include "catch.hpp"
#include "mara/simulation/platform_models.hpp"
#include "rival_helpers.hpp"
#ifdef MARA_WITH_CBC
#include "mara/interop/cbc.hpp"
#endif

namespace mara {
namespace {

using test::PlatformCase;

// A solver that never solves: what is left must still run, and be counted.
struct NoSolver {
  static constexpr bool kInteger = false;
  static constexpr std::string_view name() noexcept { return "none"; }
  Result<ProgramSolution> solve(const LinearProgram&) { return Error{ErrorCode::kState, "no solver"}; }
};

MaxMinJob row(double a, double b, double scale = 1.0, double weight = 1.0) {
  MaxMinJob job;
  job.speed = {a, b};
  job.scale = scale;
  job.weight = weight;
  return job;
}

TEST_CASE("Bad numbers do not reach the solver", "[gavel]") {
  NoSolver solver;
  const std::vector<double> devices{1, 1};
  const auto refused = max_min_shares(solver, devices, std::vector{row(1, 1), row(1, -1)});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("job 1: speed") != std::string::npos);
  CHECK_FALSE(max_min_shares(solver, devices, std::vector{row(1, 1, 0)}));
  CHECK_FALSE(max_min_shares(solver, devices, std::vector{row(1, 1, 1, -2)}));
  CHECK_FALSE(max_min_shares(solver, std::vector<double>{-1}, std::vector{row(1, 1)}));
  CHECK_FALSE(check_options(MaxMinOptions{.round_s = 0.0}));
  CHECK(check_options(MaxMinOptions{}));
  // Nobody can run: no program at all.
  CHECK(max_min_shares(solver, devices, std::vector{row(0, 0), row(1, 1, 2)}).value().level == 0.0);
}

TEST_CASE("Without a solver equal shares are used and the failures are counted", "[gavel]") {
  std::uint64_t failures = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    Random random(94, seed);
    PlatformCase given;
    given.platform = test::random_platform(random, false);
    given.jobs = test::random_platform_jobs(random, given.platform, 20, true);
    MaxMinDispatcher<NoSolver> scheduler;
    test::run_checked(given, scheduler);
    CHECK(scheduler.rule().solved() == 0);
    failures += scheduler.rule().failures();
  }
  CHECK(failures > 50);
}

#ifdef MARA_WITH_CBC

TEST_CASE("Optima by hand", "[gavel]") {
  ClpSolver solver;
  const std::vector<double> one_each{1, 1};
  {  // Each is best where the other is not.
    const auto x = max_min_shares(solver, one_each, std::vector{row(1, .25), row(.5, 1)}).value();
    CHECK(x.level == Approx(4.0 / 3));
    CHECK(x.share[0][0] == Approx(1.0));
    CHECK(x.share[1][1] == Approx(1.0));
  }
  {  // Both want the same one: half of each.
    const auto x = max_min_shares(solver, one_each, std::vector{row(1, .25), row(1, .5)}).value();
    CHECK(x.level == Approx(1.0));
    for (const auto& share : x.share)
      for (int t = 0; t < 2; ++t) CHECK(share[static_cast<std::size_t>(t)] == Approx(0.5));
  }
  {  // Two that need the fast one share it, the third leaves them 1/14 each of the slow one.
    const auto x = max_min_shares(solver, one_each, std::vector{row(1, .2), row(1, .2), row(1, 1)}).value();
    CHECK(x.level == Approx(6.0 / 7));
    CHECK(x.share[0][0] == Approx(0.5));
    CHECK(x.share[0][1] == Approx(1.0 / 14));
    CHECK(x.share[2][1] == Approx(6.0 / 7));
  }
  {  // Weights 2 and 1 on one device: 2/3 and 1/3 of its time.
    const auto x =
        max_min_shares(solver, std::vector<double>{1}, std::vector{row(1, 0, 1, 2), row(1, 0, 1, 1)}).value();
    CHECK(x.level == Approx(1.0 / 3));
    CHECK(x.share[0][0] == Approx(2.0 / 3));
  }
  {  // Four devices, a job of four and one of one: the large one a quarter at least, and then what is left.
    const auto x =
        max_min_shares(solver, std::vector<double>{4}, std::vector{row(1, 0, 4), row(1, 0, 1)}).value();
    CHECK(x.level == Approx(1.0));
    CHECK(x.share[0][0] == Approx(0.75));
    CHECK(x.share[1][0] == Approx(1.0));
  }
  {  // Weight 0 has the rest; a job that fits nowhere has nothing.
    const auto x =
        max_min_shares(solver, std::vector<double>{2}, std::vector{row(1, 0), row(1, 0, 1, 0), row(1, 0, 3)})
            .value();
    CHECK(x.share[0][0] == Approx(1.0));
    CHECK(x.share[1][0] == Approx(1.0));
    CHECK(x.share[2][0] == 0.0);
  }
}

Job endless(double weight, std::array<double, kMaxGpuTypes> speed) {
  Job job;
  job.work = 1e7;
  job.weight = weight;
  job.type_speed = speed;
  return job;
}

TEST_CASE("Rounds carry the shares out", "[gavel]") {
  PlatformConfig config;
  config.horizon_s = 360.0 * 3000;
  {
    PlatformCase given{make_platform(1, 1), {endless(2, {1}), endless(1, {1})}};
    MaxMinDispatcher<ClpSolver> scheduler;
    const auto log = test::run_checked(given, scheduler, false, NoOverhead{}, config);
    CHECK(log.jobs[0].executed_s == Approx(720000).margin(720));
    CHECK(log.jobs[1].executed_s == Approx(360000).margin(720));
    CHECK(scheduler.rule().solved() == 1);
    CHECK(scheduler.rule().failures() == 0);
  }
  {  // The third case above, in time on types.
    PlatformCase given;
    given.platform.types = {{.name = "fast"}, {.name = "slow"}};
    given.platform.nodes = {{.name = "f", .type = 0, .devices = 1}, {.name = "s", .type = 1, .devices = 1}};
    given.jobs = {endless(1, {1, .2}), endless(1, {1, .2}), endless(1, {1, 1})};
    MaxMinDispatcher<ClpSolver> scheduler;
    const auto log = test::run_checked(given, scheduler, false, NoOverhead{}, config);
    double on[3][2] = {};
    for (const auto& interval : log.intervals)
      on[interval.sequence][interval.placement.shares[0].node] += interval.end_s - interval.start_s;
    const double whole = config.horizon_s;
    CHECK(on[0][0] / whole == Approx(0.5).margin(0.01));
    CHECK(on[1][0] / whole == Approx(0.5).margin(0.01));
    CHECK(on[2][1] / whole == Approx(6.0 / 7).margin(0.01));
  }
}

TEST_CASE("Max-min fairness on random workloads keeps every limit, and every job finishes", "[gavel]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Random random(93, seed);
    PlatformCase given;
    given.platform = test::random_platform(random, false);
    given.jobs = test::random_platform_jobs(random, given.platform, 25, true);
    for (Job& job : given.jobs) job.weight = random.below(4);
    MaxMinDispatcher<ClpSolver> scheduler(MaxMinFair<ClpSolver>({}, {.round_s = 20.0}), {{1.0, 2.0}, true});
    test::run_checked(given, scheduler, true, FixedOverhead{1.0, 2.0, 2.0});
    CHECK(scheduler.rule().failures() == 0);
    PlatformConfig failing;
    failing.outages.push_back({.node = 0, .from_s = 50.0, .to_s = 200.0});
    MaxMinDispatcher<ClpSolver> through_failure(MaxMinFair<ClpSolver>({}, {.round_s = 20.0}));
    test::run_checked(given, through_failure, true, NoOverhead{}, failing);
  }
}

#else

TEST_CASE("Optima by hand", "[gavel]") {
  std::cout << "skipped: built without COIN-OR Clp and Cbc\n";
}

#endif

}  // namespace
}  // namespace mara
