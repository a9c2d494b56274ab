// Pooled rules on nodes: the same as on pools where every type is one node, and within limits elsewhere.

#include "mara/schedule/pooled_dispatcher.hpp"

#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/schedule/hesrpt.hpp"
#include "mara/schedule/optimus.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/schedule/sjf.hpp"
#include "mara/schedule/srtf.hpp"
#include "mara/schedule/tetris.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/simulation/simulate.hpp"
#include "rival_helpers.hpp"

namespace mara {
namespace {

using test::PlatformCase;

template <class Rule>
void equals_simulator(std::uint64_t seed, Overheads cost) {
  INFO("seed " << seed);
  Random random(77, seed);
  PlatformCase given;
  given.platform = test::random_platform(random, true);
  given.jobs = test::random_platform_jobs(random, given.platform, 25, false);
  SimulationConfig config;
  config.overheads = cost;
  Rule pooled_rule;
  const auto pools = simulate(pooled(given.platform), given.jobs, pooled_rule, config).value();
  PooledDispatcher<Rule> nodes(Rule{}, {cost, false});
  const auto log = test::run_checked(
      given, nodes, true,
      FixedOverhead{.start = cost.start_s, .resume = cost.restart_s, .migrate = cost.restart_s});
  for (std::size_t i = 0; i < given.jobs.size(); ++i) {
    REQUIRE(log.jobs[i].start_s == pools.records[i].start_s);
    REQUIRE(log.jobs[i].end_s == pools.records[i].end_s);
    REQUIRE(log.jobs[i].attained_gpu_s == Approx(pools.records[i].gpu_s).epsilon(1e-9));
  }
  CHECK(nodes.scattered() == 0);
}

TEST_CASE("Where every type is one node, a run equals that of the pooled simulator", "[pooled]") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    for (const Overheads cost : {Overheads{0.0, 0.0}, Overheads{5.0, 15.0}}) {
      equals_simulator<Optimus>(seed, cost);
      equals_simulator<Hesrpt>(seed, cost);
      equals_simulator<Srtf>(seed, cost);
      equals_simulator<Sjf>(seed, cost);
      equals_simulator<Tetris>(seed, cost);
    }
  }
}

template <class Rule, class Placing>
void keeps_limits(std::uint64_t seed, bool repack) {
  INFO("seed " << seed << " repack " << repack);
  Random random(78, seed);
  PlatformCase given;
  given.platform = test::random_platform(random, false);
  given.jobs = test::random_platform_jobs(random, given.platform, 30, true);
  PooledDispatcher<Rule, Placing> nodes(Rule{}, {{1.0, 2.0}, repack});
  test::run_checked(given, nodes, true, FixedOverhead{1.0, 2.0, 2.0});
}

TEST_CASE("Pooled rules on nodes keep every limit, and every job finishes", "[pooled]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const bool repack : {false, true}) {
      keeps_limits<Optimus, Consolidated>(seed, repack);
      keeps_limits<Hesrpt, AnyDevices>(seed, repack);
      keeps_limits<Srtf, Consolidated>(seed, repack);
      keeps_limits<Tetris, ScoredPlacement<BestFitScoring>>(seed, repack);
    }
  }
}

TEST_CASE("On 8 nodes of 8 GPUs jobs that span nodes get them, and repacking helps", "[pooled]") {
  PlatformCase given{make_platform(8, 8), {}};
  Random random(5);
  double clock = 0.0;
  for (int i = 0; i < 300; ++i) {
    Job job;
    job.id = i;
    job.submit_s = clock;
    job.requested = Milli::whole(std::int64_t{1} << random.below(6));
    job.max_gpus = static_cast<int>(2 * job.requested.units());
    job.work = random.exponential(1.0 / 2000.0) * job.requested.as_double();
    job.type_speed.fill(1.0);
    job.speed_up = {SpeedUp::Kind::kPower, 0.9};
    given.jobs.push_back(job);
    clock += random.exponential(1.0 / 180.0);
  }
  Srtf rule;
  SimulationConfig config;
  config.overheads = {0.0, 0.0};
  double ideal = 0.0;
  const auto pools = simulate(pooled(given.platform), given.jobs, rule, config).value();
  for (std::size_t i = 0; i < given.jobs.size(); ++i)
    ideal += (pools.records[i].end_s - given.jobs[i].submit_s) / static_cast<double>(given.jobs.size());
  PooledDispatcher<Srtf> kept, repacked(Srtf{}, {{0.0, 0.0}, true});
  const double stays = test::run_checked(given, kept).mean_jct_s(given.jobs);
  const double moves = test::run_checked(given, repacked).mean_jct_s(given.jobs);
  CHECK(kept.scattered() > 0);
  CHECK(moves == Approx(ideal).epsilon(0.02));
  CHECK(stays >= moves * 0.999);
  CHECK(stays < 1.5 * ideal);
}

TEST_CASE("A grant that no idle node could hold is not shown as possible", "[pooled]") {
  // Type 0 has the GPUs but, node by node, not the CPUs; type 1 is slow but can.
  PlatformCase given;
  given.platform.types = {{.name = "fast"}, {.name = "slow"}};
  for (int n = 0; n < 3; ++n)
    given.platform.nodes.push_back({.name = "n" + std::to_string(n),
                                    .type = n < 2 ? 0 : 1,
                                    .devices = 2,
                                    .cpu = Milli::whole(n < 2 ? 4 : 8)});
  Job job;
  job.work = 10.0;
  job.demand.cpu = Milli::whole(6);
  job.type_speed = {1.0, 0.5};
  given.jobs.assign(2, job);
  PooledDispatcher<Srtf> scheduler;
  const auto log = test::run_checked(given, scheduler);
  CHECK(log.jobs[0].end_s == 20.0);
  CHECK(log.jobs[1].end_s == 40.0);
}

TEST_CASE("Nodes that fail leave the pool, jobs without devices run beside", "[pooled]") {
  PlatformCase given{make_platform(2, 2), {}};
  for (Node& node : given.platform.nodes) node.cpu = Milli::whole(4);
  Job job;
  job.work = 100.0;
  job.requested = Milli::whole(2);
  job.max_gpus = 2;
  job.type_speed.fill(1.0);
  given.jobs.assign(2, job);
  given.jobs[1].work = 90.0;
  Job host;
  host.requested = Milli{};
  host.work = 30.0;
  host.demand.cpu = Milli::whole(3);
  given.jobs.push_back(host);
  PlatformConfig config;
  config.outages.push_back({.node = 0, .from_s = 10.0, .to_s = 60.0});
  PooledDispatcher<Srtf> scheduler;
  const auto log = test::run_checked(given, scheduler, true, NoOverhead{}, config);
  CHECK(log.jobs[1].end_s == 45.0);  // on the node that stays, two GPUs at linear speed-up
  CHECK(log.jobs[0].failures == 1);
  CHECK(log.jobs[0].end_s == 85.0);  // 10 s before, resumed at 45 on the other node
  CHECK(log.jobs[2].end_s >= 30.0);
}

}  // namespace
}  // namespace mara
