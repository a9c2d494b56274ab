// The integer linear program at each decision: against all allocations of small cases.

#include "mara/schedule/optimal_dispatcher.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

#include "catch.hpp"
#include "mara/schedule/hesrpt.hpp"
#include "mara/schedule/lower_bound.hpp"
#include "mara/schedule/optimus.hpp"
#include "mara/schedule/srtf.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/simulation/simulate.hpp"
#include "rival_helpers.hpp"
#ifdef MARA_WITH_CBC
#include "mara/interop/cbc.hpp"
#endif

namespace mara {
namespace {

using test::PlatformCase;

// A solver that runs out of time at once.
struct NoTime {
  static constexpr bool kInteger = true;
  static constexpr std::string_view name() noexcept { return "none"; }
  Result<ProgramSolution> solve(const LinearProgram&) { return Error{ErrorCode::kState, "no time"}; }
};

TEST_CASE("Without a solution the greedy order serves, and that is counted", "[ilp]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    Random random(97, seed);
    PlatformCase given;
    given.platform = test::random_platform(random, false);
    given.jobs = test::random_platform_jobs(random, given.platform, 30, true);
    OptimalDispatcher<NoTime> scheduler;
    test::run_checked(given, scheduler);
    const OptimalReport& report = scheduler.rule().report();
    CHECK(report.fallbacks == report.programs);
    CHECK(report.optimal + report.cut_off == 0);
    CHECK(report.mean_gap() == 0.0);
  }
  CHECK_FALSE(check_options(OptimalOptions{.candidates = 0}));
  CHECK_FALSE(check_options(OptimalOptions{.waste_weight = -1.0}));
  CHECK(check_options(OptimalOptions{}));
}

#ifdef MARA_WITH_CBC

TEST_CASE("Solvers: values by hand, and what cannot be solved", "[ilp]") {
  constexpr double kInf = LinearProgram::kInfinity;
  LinearProgram program;
  std::vector<LinearProgram::Term> weight;
  const double values[] = {10, 13, 7, 8, 6.5}, weights[] = {5, 6, 4, 4, 3};
  for (std::size_t i = 0; i < 5; ++i)
    weight.push_back({program.add_variable(values[i], 0.0, 1.0, true), weights[i]});
  program.add_row(weight, -kInf, 10.5);
  CbcSolver cbc;
  const auto whole = cbc.solve(program).value();
  CHECK(whole.objective == Approx(21.0));
  CHECK(whole.bound >= whole.objective);
  CHECK(whole.optimal);
  CHECK(whole.x == std::vector<double>{0, 1, 0, 1, 0});
  CHECK_FALSE(ClpSolver{}.solve(program));
  for (char& integer : program.integer) integer = false;
  const auto fluid = ClpSolver{}.solve(program).value();
  CHECK(fluid.objective == Approx(22.5));
  CHECK(fluid.x[1] == Approx(1.0));
  LinearProgram unbounded;
  unbounded.add_variable(1.0, 0.0, kInf);
  CHECK_FALSE(ClpSolver{}.solve(unbounded));
  LinearProgram infeasible = program;
  infeasible.integer[0] = true;
  infeasible.add_row({{0, 1.0}}, 2.0, 3.0);
  CHECK(cbc.solve(infeasible).error().code == ErrorCode::kInvalidArgument);
  LinearProgram bad = program;
  bad.objective[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK(ClpSolver{}.solve(bad).error().message.find("objective[2]") != std::string::npos);
  bad = program;
  bad.rows[0][0].variable = 99;
  CHECK_FALSE(ClpSolver{}.solve(bad));
  bad = program;
  bad.upper[0] = -1.0;
  CHECK_FALSE(ClpSolver{}.solve(bad));
  CHECK_FALSE(ClpSolver{}.solve(LinearProgram{}));
}

// Compares each decision with the best of all allocations.
struct Compared {
  OptimalAllocation<CbcSolver> rule{CbcSolver{}, {.waste_weight = 0.0}};
  OptionTable table{};
  int decisions = 0;
  std::string_view name() const { return rule.name(); }

  double best(const DecisionView& view, Allocation& allocation, std::size_t agent) {
    if (agent == view.active.size()) return 0.0;
    double most = best(view, allocation, agent + 1);
    for (int type = 0; type < table.types(); ++type)
      for (int tier = 0; tier < kTiers; ++tier) {
        const double seconds = table.seconds(agent, {type, tier});
        if (!(seconds < OptionTable::kNever) || !claim_option(view, table, allocation, agent, {type, tier}))
          continue;
        most = std::max(most, view.job(agent).weight / seconds + best(view, allocation, agent + 1));
        allocation.release(agent);
      }
    return most;
  }
  void decide(const DecisionView& view, Allocation& allocation) {
    table.build(view, allocation, true);
    const double most = best(view, allocation, 0);
    rule.decide(view, allocation);
    double reached = 0.0;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent)
      for (int type = 0; type < table.types(); ++type)
        for (int tier = 0; tier < kTiers; ++tier)
          if (table.gpus(agent, tier).value > 0 &&
              allocation.grant(agent) == table.grant(agent, {type, tier})) {
            reached += view.job(agent).weight / table.seconds(agent, {type, tier});
            tier = kTiers;
          }
    REQUIRE(reached >= most * (1.0 - 1e-5));
    ++decisions;
  }
};

TEST_CASE("Each decision is the best of all", "[ilp]") {
  int decisions = 0;
  std::uint64_t programs = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Random random(98, seed);
    const Platform platform = test::random_platform(random, true);
    auto jobs = test::random_platform_jobs(random, platform, 5, false);
    for (Job& job : jobs) {
      job.submit_s *= 0.2;
      job.weight = 1.0 + random.below(3);
    }
    Compared scheduler;
    SimulationConfig config;
    config.overheads = {3.0, 5.0};
    REQUIRE(simulate(pooled(platform), jobs, scheduler, config));
    decisions += scheduler.decisions;
    programs += scheduler.rule.report().programs;
    CHECK(scheduler.rule.report().refused == 0);
    CHECK(scheduler.rule.report().optimal == scheduler.rule.report().programs);
  }
  CHECK(decisions > 200);
  CHECK(programs > 50);
}

TEST_CASE("On random workloads every limit is kept, and every job finishes", "[ilp]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    Random random(99, seed);
    PlatformCase given;
    given.platform = test::random_platform(random, false);
    given.jobs = test::random_platform_jobs(random, given.platform, 20, true);
    OptimalDispatcher<CbcSolver> scheduler(OptimalAllocation<CbcSolver>{}, {{1.0, 2.0}, seed % 2 == 0});
    test::run_checked(given, scheduler, true, FixedOverhead{1.0, 2.0, 2.0});
    CHECK(scheduler.rule().report().fallbacks == 0);
  }
}

TEST_CASE("64 GPUs under load: the program is ahead of the rules that it is a reference for", "[ilp]") {
  PlatformCase given{make_platform(8, 8), {}};
  Random random(7);
  double clock = 0.0;
  for (int i = 0; i < 200; ++i) {
    Job job;
    job.id = i;
    job.submit_s = clock;
    job.requested = Milli::whole(std::int64_t{1} << random.below(5));
    job.max_gpus = static_cast<int>(2 * job.requested.units());
    job.speed_up = {SpeedUp::Kind::kPower, 0.8};
    job.work = random.log_normal(7.0, 1.5) * job.speed_up(job.requested.as_double());
    job.type_speed.fill(1.0);
    given.jobs.push_back(job);
    clock += random.exponential(1.0 / 120.0);
  }
  const auto mean_jct = [&](auto&& scheduler) {
    return test::run_checked(given, scheduler).mean_jct_s(given.jobs);
  };
  const auto program = [&](OptimalOptions options) {
    const CbcSolver solver({.seconds = 5.0, .nodes = 0, .relative_gap = 1e-4});
    OptimalDispatcher<CbcSolver> best(OptimalAllocation<CbcSolver>(solver, options), {{0.0, 0.0}, true});
    const double reached = mean_jct(best);
    const OptimalReport& report = best.rule().report();
    CHECK(report.programs > 50);
    CHECK(report.optimal == report.programs);
    CHECK(report.worst_gap < 0.01);
    return reached;
  };
  const double rigid = program({.elastic = false, .candidates = 40});
  const double elastic = program({}), wasteful = program({.waste_weight = 0.0});
  CHECK(rigid < mean_jct(PooledDispatcher<Srtf>(Srtf{}, {{0.0, 0.0}, true})));
  CHECK(elastic < wasteful);
  CHECK(elastic < mean_jct(PooledDispatcher<Optimus>(Optimus{}, {{0.0, 0.0}, true})));
  CHECK(elastic < 1.02 * mean_jct(PooledDispatcher<Hesrpt>(Hesrpt{}, {{0.0, 0.0}, true})));
  CHECK(elastic > mean_jct_lower_bound(given.platform, given.jobs).value().mean_s());
  CHECK(rigid > mean_jct_lower_bound(given.platform, given.jobs, SizeFreedom::kRigid).value().mean_s());
}

#else

TEST_CASE("Each decision is the best of all", "[ilp]") {
  std::cout << "skipped: built without COIN-OR Clp and Cbc\n";
}

#endif

}  // namespace
}  // namespace mara
