// Worked examples: every time below was computed by hand.
#include "mara/simulation/simulator.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

const Cluster kOne = parse_cluster("a100:1x1").value();
const Cluster kTwoTypes = parse_cluster("a100:1x2,t4:1x2").value();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Simulator simulator_of(Cluster cluster, std::vector<Job> jobs, SimulationConfig config) {
  return Simulator::create(std::move(cluster), std::move(jobs), config).value();
}

/// One decision of a hand-driven run: claims `grants` in order of the active jobs.
void decide(Simulator& simulator, std::vector<Grant> grants) {
  REQUIRE(simulator.view().active.size() == grants.size());
  for (std::size_t i = 0; i < grants.size(); ++i)
    if (!grants[i].empty())
      REQUIRE(simulator.allocation().claim(i, simulator.view().job(i).demand, grants[i]));
  simulator.commit();
}

}  // namespace

TEST_CASE("a job waits for its start cost and runs at the speed of its type", "[simulator]") {
  Job job = job_of(1, 5.0, 100.0);
  job.type_speed = {1.0, 0.5};
  SimulationConfig config;
  SECTION("on the reference type") {
    Simulator simulator = simulator_of(kTwoTypes, {job}, config);
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 5.0);
    decide(simulator, {whole(1, 0)});
    CHECK_FALSE(simulator.next_decision());
    CHECK(simulator.records()[0].start_s == 5.0);
    CHECK(simulator.records()[0].end_s == 135.0);  // 5 + 30 + 100
    CHECK(simulator.records()[0].gpu_s == 130.0);
    CHECK(simulator.now_s() == 135.0);
    CHECK_FALSE(simulator.stalled());
  }
  SECTION("on the slow type") {
    Simulator simulator = simulator_of(kTwoTypes, {job}, config);
    REQUIRE(simulator.next_decision());
    decide(simulator, {whole(1, 1)});
    CHECK_FALSE(simulator.next_decision());
    CHECK(simulator.records()[0].end_s == 235.0);  // 5 + 30 + 100 / 0.5
    CHECK(simulator.use().gpu_s[0] == 0.0);
    CHECK(simulator.use().gpu_s[1] == 230.0);
  }
}

TEST_CASE("changes of a grant cost a restart each, paid under the new grant", "[simulator]") {
  // The second job only makes decisions: it arrives, and is served last.
  Job job = job_of(1, 0.0, 200.0);
  job.max_gpus = 2;
  job.type_speed = {1.0, 0.5};
  const Job other = job_of(2, 80.0, 1.0);
  SimulationConfig config = plain();
  config.overheads = {30.0, 90.0};
  Simulator simulator = simulator_of(kTwoTypes, {job, other}, config);
  REQUIRE(simulator.next_decision());
  decide(simulator, {whole(1)});
  REQUIRE(simulator.next_decision());
  CHECK(simulator.now_s() == 80.0);
  CHECK(simulator.view().active[0].remaining_work == 150.0);  // 80 - 30 s of work
  CHECK(simulator.view().active[0].overhead_left_s == 0.0);
  CHECK(simulator.view().active[0].attained_gpu_s == 80.0);
  CHECK_FALSE(simulator.view().active[1].started);

  SECTION("more GPUs") {
    decide(simulator, {whole(2), Grant{}});
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 245.0);  // 80 + 90 + 150 / 2
    CHECK(simulator.records()[0].end_s == 245.0);
    CHECK(simulator.records()[0].restarts == 1);
    CHECK(simulator.records()[0].gpu_s == 80.0 + 2 * 165.0);
    CHECK(simulator.records()[0].last_grant == whole(2));
    decide(simulator, {whole(1)});
    CHECK_FALSE(simulator.next_decision());
    CHECK(simulator.records()[1].start_s == 245.0);
    CHECK(simulator.records()[1].end_s == 276.0);
    REQUIRE(simulator.intervals().size() == 3);
    CHECK(simulator.intervals()[0] == GrantInterval{0, whole(1), 0.0, 80.0});
    CHECK(simulator.intervals()[1] == GrantInterval{0, whole(2), 80.0, 245.0});
    CHECK(simulator.intervals()[2] == GrantInterval{1, whole(1), 245.0, 276.0});
  }
  SECTION("another type") {
    decide(simulator, {whole(1, 1), Grant{}});
    REQUIRE(simulator.next_decision());
    CHECK(simulator.records()[0].end_s == 470.0);  // 80 + 90 + 150 / 0.5
    CHECK(simulator.use().gpu_s[0] == 80.0);
    CHECK(simulator.use().gpu_s[1] == 390.0);
  }
  SECTION("the same grant runs on without cost") {
    decide(simulator, {whole(1), whole(1)});
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 111.0);  // the other job: 80 + 30 + 1
    decide(simulator, {whole(1)});
    CHECK_FALSE(simulator.next_decision());
    CHECK(simulator.records()[0].end_s == 230.0);
    CHECK(simulator.records()[0].restarts == 0);
    REQUIRE(simulator.intervals().size() == 2);  // one stretch for three decisions
    CHECK(simulator.intervals()[1] == GrantInterval{0, whole(1), 0.0, 230.0});
  }
  SECTION("preemption and resumption") {
    decide(simulator, {Grant{}, whole(1)});
    CHECK(simulator.view().active[0].held.empty());
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 111.0);
    REQUIRE(simulator.view().active.size() == 1);
    CHECK(simulator.view().active[0].remaining_work == 150.0);  // nothing lost, nothing gained
    CHECK(simulator.view().active[0].restarts == 1);
    CHECK(simulator.view().active[0].first_start_s == 0.0);
    decide(simulator, {whole(1)});
    CHECK_FALSE(simulator.next_decision());
    CHECK(simulator.records()[0].end_s == 351.0);  // 111 + 90 + 150
    CHECK(simulator.records()[0].restarts == 1);
    CHECK(simulator.records()[0].start_s == 0.0);
  }
}

TEST_CASE("a preemption during a start cost makes the next grant pay a whole restart", "[simulator]") {
  const Job job = job_of(1, 0.0, 100.0);
  const Job knock = job_of(2, 10.0, 1.0), again = job_of(3, 20.0, 1.0);
  SimulationConfig config;
  config.overheads = {30.0, 90.0};
  Simulator simulator = simulator_of(kOne, {job, knock, again}, config);
  REQUIRE(simulator.next_decision());
  decide(simulator, {whole(1)});
  CHECK(simulator.view().active[0].overhead_left_s == 30.0);
  REQUIRE(simulator.next_decision());  // t = 10
  CHECK(simulator.view().active[0].overhead_left_s == 20.0);
  CHECK(simulator.view().active[0].remaining_work == 100.0);
  CHECK(simulator.view().active[0].attained_gpu_s == 10.0);
  decide(simulator, {Grant{}, Grant{}});
  CHECK(simulator.view().active[0].overhead_left_s == 0.0);
  REQUIRE(simulator.next_decision());  // t = 20
  decide(simulator, {whole(1), Grant{}, Grant{}});
  CHECK(simulator.view().active[0].overhead_left_s == 90.0);
  REQUIRE(simulator.next_decision());
  CHECK(simulator.now_s() == 210.0);  // 20 + 90 + 100
  CHECK(simulator.records()[0].gpu_s == 10.0 + 190.0);
}

TEST_CASE("heterogeneous first fit, worked on paper", "[simulator]") {
  // Two a100 (speed 1), two t4 (speed .5); start 30, restart 90; first come first served without preemption.
  //   j0 (0 s, 2 GPUs, work 200, p = 1)       a100 x2: 0 .. 30 + 100              = 130
  //   j1 (10 s, 2 GPUs, work 100, Amdahl .5)  S(2) = 4/3; t4: 10 + 30 + 100/(2/3) = 190
  //   j2 (20 s, 1 GPU, work 60, not on t4)    a100 at 130: 130 + 30 + 60          = 220
  //   j3 (25 s, 0.5 GPU, work 10)             a100 at 130: 130 + 30 + 10 / .5     = 180
  //   j4 (135 s, 0.75 GPU, work 30)           no a100 device has .75 left until 180: 180 + 30 + 30 / .75 =
  //   250
  std::vector<Job> jobs{job_of(0, 0.0, 200.0), job_of(1, 10.0, 100.0), job_of(2, 20.0, 60.0),
                        job_of(3, 25.0, 10.0), job_of(4, 135.0, 30.0)};
  for (Job& job : jobs) job.type_speed = {1.0, 0.5};
  jobs[0].requested = jobs[1].requested = Milli::whole(2);
  jobs[0].max_gpus = jobs[1].max_gpus = 2;
  jobs[1].speed_up = {SpeedUp::Kind::kAmdahl, 0.5};
  jobs[2].type_speed = {1.0, 0.0};
  jobs[3].requested = Milli{500};
  jobs[4].requested = Milli{750};
  auto held_first = [](const DecisionView& view, Allocation& allocation) {
    for (std::size_t i = 0; i < view.active.size(); ++i)
      if (!view.active[i].held.empty()) allocation.claim(i, view.job(i).demand, view.active[i].held);
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      const Job& job = view.job(i);
      for (int t = 0; t < 2 && allocation.grant(i).empty(); ++t)
        if (job.type_speed[static_cast<std::size_t>(t)] > 0.0)
          allocation.claim(i, job.demand, {t, job.requested});
    }
  };
  Script script{held_first};
  const auto result = simulate(kTwoTypes, jobs, script, SimulationConfig{}).value();
  const double starts[] = {0.0, 10.0, 130.0, 130.0, 180.0};
  const double ends[] = {130.0, 190.0, 220.0, 180.0, 250.0};
  for (std::size_t i = 0; i < 5; ++i) {
    INFO("job " << i);
    CHECK(result.records[i].start_s == starts[i]);
    CHECK(result.records[i].end_s == Approx(ends[i]).epsilon(1e-14));
    CHECK(result.records[i].restarts == 0);
  }
  CHECK(result.records[1].last_grant == whole(2, 1));
  CHECK(result.end_s == result.records[4].end_s);
  CHECK(result.refused_grants == 0);
}

TEST_CASE("at one time: completions, then arrivals, then one decision", "[simulator]") {
  SimulationConfig config = plain();
  config.overheads = {30.0, 90.0};
  Simulator simulator =
      simulator_of(kTwoTypes, {job_of(1, 0.0, 100.0), job_of(2, 0.0, 100.0), job_of(3, 130.0, 1.0)}, config);
  REQUIRE(simulator.next_decision());
  CHECK(simulator.view().active.size() == 2);
  decide(simulator, {whole(1), whole(1)});
  REQUIRE(simulator.next_decision());
  CHECK(simulator.now_s() == 130.0);
  REQUIRE(simulator.view().active.size() == 1);  // both are gone, the third has come
  CHECK(simulator.view().job(0).id == 3);
  CHECK(simulator.records()[0].finished);
  CHECK(simulator.records()[1].finished);
  decide(simulator, {whole(2 - 1)});
  CHECK_FALSE(simulator.next_decision());
  CHECK(simulator.records()[2].end_s == 161.0);
}

TEST_CASE("jobs of one submit time keep their order, and the active list keeps it when some leave",
          "[simulator]") {
  std::vector<Job> jobs{job_of(5, 1.0, 50.0), job_of(4, 0.0, 10.0), job_of(3, 1.0, 20.0),
                        job_of(2, 1.0, 60.0), job_of(1, 0.5, 5.0)};
  Simulator simulator = simulator_of(parse_cluster("a100:1x8").value(), jobs, plain());
  std::vector<std::vector<std::int64_t>> seen;
  while (simulator.next_decision()) {
    seen.emplace_back();
    for (std::size_t i = 0; i < simulator.view().active.size(); ++i) {
      seen.back().push_back(simulator.view().job(i).id);
      simulator.allocation().claim(i, {}, whole(1));
    }
    simulator.commit();
  }
  const std::vector<std::vector<std::int64_t>> expected{
      {4}, {4, 1}, {4, 1, 5, 3, 2}, {4, 5, 3, 2}, {5, 3, 2}, {5, 2}, {2}};
  CHECK(seen == expected);
}

TEST_CASE("decisions on a fixed interval, completions in between at their own time (S16)", "[simulator]") {
  SimulationConfig config = plain();
  config.tick_s = 60.0;
  config.fixed_interval = true;
  SECTION("a job that ends at 61 ends at 61, and its GPU is given out at 120") {
    Simulator simulator = simulator_of(kOne, {job_of(1, 0.0, 61.0), job_of(2, 0.0, 10.0)}, config);
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 0.0);
    decide(simulator, {whole(1), Grant{}});
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 60.0);
    CHECK(simulator.view().active[0].remaining_work == 1.0);
    decide(simulator, {whole(1), Grant{}});
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 120.0);
    CHECK(simulator.records()[0].end_s == 61.0);
    decide(simulator, {whole(1)});
    CHECK_FALSE(simulator.next_decision());
    CHECK(simulator.records()[1].start_s == 120.0);
    CHECK(simulator.records()[1].end_s == 130.0);
    CHECK(simulator.now_s() == 130.0);
  }
  SECTION(
      "the first tick is the first multiple not before the first submit; ticks without jobs are offered") {
    Simulator simulator = simulator_of(kOne, {job_of(1, 70.0, 5.0), job_of(2, 300.0, 5.0)}, config);
    std::vector<double> times;
    std::vector<std::size_t> active;
    while (simulator.next_decision()) {
      times.push_back(simulator.now_s());
      active.push_back(simulator.view().active.size());
      for (std::size_t i = 0; i < active.back(); ++i) simulator.allocation().claim(i, {}, whole(1));
      simulator.commit();
    }
    CHECK(times == std::vector<double>{120.0, 180.0, 240.0, 300.0});
    CHECK(active == std::vector<std::size_t>{1, 0, 0, 1});
    CHECK(simulator.records()[0].end_s == 125.0);
    CHECK(simulator.records()[1].end_s == 305.0);
  }
  SECTION("a submit on a tick is seen on it") {
    Simulator simulator = simulator_of(kOne, {job_of(1, 120.0, 5.0)}, config);
    REQUIRE(simulator.next_decision());
    CHECK(simulator.now_s() == 120.0);
  }
  SECTION("ticks are multiples, not sums: no drift") {
    config.tick_s = 0.1;
    Simulator simulator = simulator_of(kOne, {job_of(1, 0.0, 1000.0)}, config);
    for (int k = 0; k < 5000; ++k) {
      REQUIRE(simulator.next_decision());
      REQUIRE(simulator.now_s() == k * 0.1);
      decide(simulator, {whole(1)});
    }
    CHECK(simulator.view().active[0].remaining_work == 1000.0 - 4999 * 0.1);
  }
}

TEST_CASE("ticks beside events, only while a job is active", "[simulator]") {
  SimulationConfig config = plain();
  config.tick_s = 10.0;
  Simulator simulator = simulator_of(kOne, {job_of(1, 3.0, 20.0), job_of(2, 95.0, 10.0)}, config);
  std::vector<double> times;
  while (simulator.next_decision()) {
    times.push_back(simulator.now_s());
    simulator.allocation().claim(0, {}, whole(1));
    simulator.commit();
  }
  CHECK(times == std::vector<double>{3.0, 10.0, 20.0, 95.0, 100.0});
  CHECK(simulator.records()[0].end_s == 23.0);
  CHECK(simulator.records()[1].end_s == 105.0);
}

TEST_CASE("the horizon cuts the run", "[simulator]") {
  SimulationConfig config = plain();
  const std::vector<Job> jobs{job_of(1, 0.0, 40.0), job_of(2, 10.0, 40.0), job_of(3, 90.0, 1.0)};
  SECTION("in the middle") {
    config.horizon_s = 55.0;
    auto scheduler = fcfs();
    const auto result = simulate(kOne, jobs, scheduler, config).value();
    CHECK(result.end_s == 55.0);
    CHECK(result.records[0].end_s == 40.0);
    CHECK_FALSE(result.records[1].finished);
    CHECK(result.records[1].start_s == 40.0);
    CHECK(result.records[1].gpu_s == 15.0);
    CHECK_FALSE(result.records[2].started);
    CHECK(result.use.gpu_s[0] == 55.0);
    REQUIRE(result.intervals.size() == 2);
    CHECK(result.intervals[1] == GrantInterval{1, whole(1), 40.0, 55.0});
    CHECK_FALSE(result.stalled);
  }
  SECTION("a completion exactly then counts, a decision then does not come") {
    config.horizon_s = 40.0;
    auto scheduler = fcfs();
    const auto result = simulate(kOne, jobs, scheduler, config).value();
    CHECK(result.records[0].finished);
    CHECK_FALSE(result.records[1].started);
    CHECK(result.decision_us.size() == 2);
  }
  SECTION("with ticks, a completion between the last tick and the horizon counts") {
    config.tick_s = 30.0;
    config.fixed_interval = true;
    config.horizon_s = 45.0;
    auto scheduler = fcfs();
    const auto result = simulate(kOne, jobs, scheduler, config).value();
    CHECK(result.records[0].end_s == 40.0);
    CHECK(result.end_s == 45.0);
  }
  SECTION("a run that is done before ends when it is done") {
    config.horizon_s = 1000.0;
    auto scheduler = fcfs();
    CHECK(simulate(kOne, jobs, scheduler, config).value().end_s == 91.0);
  }
  SECTION("before anything") {
    config.horizon_s = 0.0;
    auto scheduler = fcfs();
    const auto result = simulate(kOne, jobs, scheduler, config).value();
    CHECK(result.decision_us.empty());
    CHECK(result.end_s == 0.0);
  }
}

TEST_CASE("a run in which nothing can happen any more ends", "[simulator]") {
  int decisions = 0;
  Script idle{[&decisions](const DecisionView&, Allocation&) { ++decisions; }};
  SimulationConfig config = plain();
  const std::vector<Job> jobs{job_of(1, 0.0, 40.0), job_of(2, 10.0, 40.0)};
  SECTION("without ticks") {
    const auto result = simulate(kOne, jobs, idle, config).value();
    CHECK(result.stalled);
    CHECK(decisions == 2);
    CHECK(result.end_s == 10.0);
    CHECK_FALSE(result.records[0].finished);
  }
  SECTION("with ticks, after stall_ticks decisions without work") {
    config.tick_s = 1.0;
    config.stall_ticks = 100;
    const auto result = simulate(kOne, jobs, idle, config).value();
    CHECK(result.stalled);
    CHECK(decisions == 110);  // ticks 0 to 10 with an arrival to come, then 99 more
    CHECK(result.end_s == 110.0);
  }
  SECTION("a scheduler that moves a job at every tick never lets it work") {
    config.tick_s = 1.0;
    config.fixed_interval = true;
    config.overheads = {5.0, 5.0};
    config.stall_ticks = 1000;
    Script thrash{[&decisions](const DecisionView& view, Allocation& allocation) {
      allocation.claim(0, view.job(0).demand, whole(1, decisions++ % 2));
    }};
    const auto result = simulate(kTwoTypes, {job_of(1, 0.0, 40.0)}, thrash, config).value();
    CHECK(result.stalled);
    CHECK(decisions <= 1001);
  }
  SECTION("slow work is not a stall") {
    config.tick_s = 1.0;
    config.fixed_interval = true;
    config.stall_ticks = 2;
    auto scheduler = fcfs();
    const auto result = simulate(kOne, jobs, scheduler, config).value();
    CHECK_FALSE(result.stalled);
    CHECK(result.records[1].end_s == 80.0);
  }
  SECTION("no jobs at all") {
    const auto result = simulate(kOne, {}, idle, config).value();
    CHECK_FALSE(result.stalled);
    CHECK(result.end_s == 0.0);
    config.tick_s = 1.0;
    config.fixed_interval = true;
    CHECK(simulate(kOne, {}, idle, config).value().decision_us.empty());
  }
}

TEST_CASE("claims a job cannot use are dropped and counted", "[simulator]") {
  Job job = job_of(1, 0.0, 10.0);
  job.max_gpus = 2;
  job.type_speed = {1.0, 0.0};
  Job fraction = job_of(2, 0.0, 10.0);
  fraction.requested = Milli{400};
  fraction.demand = {0, Milli::whole(1), 0};
  const auto refused = [&](Grant grant, const Demand& demand, bool fractional) {
    Simulator simulator =
        simulator_of(parse_cluster("a100:1x4,t4:1x4").value(), {fractional ? fraction : job}, plain());
    REQUIRE(simulator.next_decision());
    REQUIRE(simulator.allocation().claim(0, demand, grant));
    simulator.commit();
    CHECK(simulator.records()[0].started == (simulator.refused_grants() == 0));
    CHECK(simulator.result().refused_grants == simulator.refused_grants());
    const bool over = !simulator.next_decision();
    CHECK(simulator.stalled() == (simulator.refused_grants() == 1));
    return over && simulator.refused_grants() == 1;
  };
  CHECK_FALSE(refused(whole(1), {}, false));
  CHECK_FALSE(refused(whole(2), {}, false));
  CHECK(refused(whole(3), {}, false));               // above max_gpus
  CHECK(refused(whole(1, 1), {}, false));            // cannot run there
  CHECK(refused({0, Milli{500}}, {}, false));        // a fraction for a job of whole GPUs
  CHECK(refused(whole(1), {1, Milli{}, 0}, false));  // not its demand
  CHECK_FALSE(refused({0, Milli{400}}, fraction.demand, true));
  CHECK(refused({0, Milli{399}}, fraction.demand, true));
  CHECK(refused({0, Milli{401}}, fraction.demand, true));
  CHECK(refused(whole(1), fraction.demand, true));
  CHECK(refused({0, Milli{400}}, {}, true));  // would use CPU that the ledger does not know of
}

TEST_CASE("a refused grant preempts what the job held", "[simulator]") {
  Simulator simulator =
      simulator_of(parse_cluster("a100:1x4").value(), {job_of(1, 0.0, 10.0), job_of(2, 4.0, 1.0)}, plain());
  REQUIRE(simulator.next_decision());
  decide(simulator, {whole(1)});
  REQUIRE(simulator.next_decision());
  REQUIRE(simulator.allocation().claim(0, {}, whole(4)));
  simulator.commit();
  CHECK(simulator.refused_grants() == 1);
  CHECK(simulator.view().active[0].held.empty());
  CHECK(simulator.view().active[0].restarts == 1);
  CHECK(simulator.records()[0].gpu_s == 4.0);
}

TEST_CASE("without a commit the running allocation goes on", "[simulator]") {
  Simulator simulator = simulator_of(kOne, {job_of(1, 0.0, 10.0), job_of(2, 4.0, 1.0)}, plain());
  REQUIRE(simulator.next_decision());
  decide(simulator, {whole(1)});
  simulator.commit();                  // no decision is open: no effect
  REQUIRE(simulator.next_decision());  // t = 4, left alone
  REQUIRE(simulator.next_decision());
  CHECK(simulator.now_s() == 10.0);
  CHECK(simulator.records()[0].end_s == 10.0);
  decide(simulator, {whole(1)});
  CHECK_FALSE(simulator.next_decision());
  CHECK_FALSE(simulator.next_decision());
  simulator.commit();
  CHECK(simulator.records()[1].end_s == 11.0);
}

TEST_CASE("zero work needs a grant and its start cost, and no time beyond", "[simulator]") {
  SimulationConfig config = plain();
  Simulator simulator = simulator_of(kOne, {job_of(1, 2.0, 0.0), job_of(2, 2.0, 0.0)}, config);
  REQUIRE(simulator.next_decision());
  decide(simulator, {whole(1), Grant{}});
  REQUIRE(simulator.next_decision());
  CHECK(simulator.now_s() == 2.0);
  CHECK(simulator.records()[0].end_s == 2.0);
  decide(simulator, {whole(1)});
  CHECK_FALSE(simulator.next_decision());
  CHECK(simulator.records()[1].end_s == 2.0);
  CHECK(simulator.intervals().empty());  // none of length zero
}

TEST_CASE("views survive a move and copies part ways", "[simulator]") {
  Simulator first = simulator_of(kOne, {job_of(1, 0.0, 10.0), job_of(2, 4.0, 1.0)}, plain());
  REQUIRE(first.next_decision());
  Simulator moved = std::move(first);
  CHECK(moved.view().active.size() == 1);
  CHECK(moved.view().cluster->types[0].name == "a100");
  CHECK(moved.view().job(0).id == 1);
  Simulator copy = moved;
  decide(moved, {whole(1)});
  CHECK(copy.view().active[0].held.empty());
  CHECK(copy.view().active.data() != moved.view().active.data());
  copy.commit();  // nothing for anybody
  REQUIRE(copy.next_decision());
  REQUIRE(moved.next_decision());
  CHECK(copy.view().active[0].remaining_work == 10.0);
  CHECK(moved.view().active[0].remaining_work == 6.0);
  moved = copy;
  CHECK(moved.view().active[0].remaining_work == 10.0);
  CHECK(moved.view().active.data() != copy.view().active.data());
}

TEST_CASE("numbers so large that time cannot hold them end the run, not the program", "[simulator]") {
  Job job = job_of(1, 0.0, 1e300);
  job.type_speed = {1e-300};
  auto scheduler = fcfs();
  const auto result = simulate(kOne, {job}, scheduler, plain()).value();
  CHECK(result.stalled);
  CHECK_FALSE(result.records[0].finished);
  CHECK(result.end_s == 0.0);
  job.work = 1e-300;
  job.type_speed = {1e300};
  CHECK(simulate(kOne, {job}, scheduler, plain()).value().records[0].end_s == 0.0);
  SimulationConfig config = plain();
  config.horizon_s = kInfinity;
  config.tick_s = 1e-3;
  config.stall_ticks = 1000;
  job.work = 1e300;
  job.type_speed = {1e-300};
  CHECK(simulate(kOne, {job}, scheduler, config).value().stalled);
}
