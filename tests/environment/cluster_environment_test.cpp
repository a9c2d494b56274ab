// The scheduling game: rewards by hand and against a simulation of the same decisions, ends, masks and
// errors.
#include "mara/environment/cluster_environment.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "environment_helpers.hpp"
#include "mara/simulation/simulate.hpp"

using namespace mara;
using namespace mara::test;

namespace {

template <class E>
void all_nothing(E& environment) {
  for (const std::uint32_t agent : environment.turn_order()) environment.act(agent, 0);
}

std::function<Result<std::vector<Job>>(std::uint64_t)> always(std::vector<Job> jobs) {
  return [jobs = std::move(jobs)](std::uint64_t) -> Result<std::vector<Job>> { return jobs; };
}

/// One GPU, steps of 100 s, no costs, rewards not scaled.
ClusterEnvironmentConfig one_gpu(std::vector<Job> jobs) {
  ClusterEnvironmentConfig config;
  config.cluster.types = {pool("fast", 1)};
  config.workload = always(std::move(jobs));
  config.time_unit_s = 100.0;
  config.overheads = {0.0, 0.0};
  config.reward_scale = 1.0;
  return config;
}

/// Poisson arrivals of jobs of 1 to 4 GPUs.
std::vector<Job> random_jobs(std::uint64_t seed, int count, double mean_gap_s) {
  Random random(seed);
  std::vector<Job> jobs;
  double now = 0.0;
  for (int i = 0; i < count; ++i) {
    now += random.exponential(1.0 / mean_gap_s);
    Job job = job_of(now, 1 << random.below(3), random.log_normal(6.0, 1.2), 8,
                     SpeedUp{SpeedUp::Kind::kPower, 0.8});
    job.id = i;
    job.type_speed = {1.0, random.uniform(0.3, 0.9)};
    jobs.push_back(job);
  }
  return jobs;
}

ClusterEnvironmentConfig two_types(int jobs = 60) {
  ClusterEnvironmentConfig config;
  config.cluster.types = {pool("fast", 4), pool("slow", 6)};
  config.workload = [jobs](std::uint64_t seed) -> Result<std::vector<Job>> {
    return random_jobs(seed, jobs, 150.0);
  };
  config.episode_steps = 100'000;
  return config;
}

/// One whole episode of random choices, as numbers.
std::vector<double> play_randomly(ClusterEnvironment<2>& environment, std::uint64_t seed, int steps) {
  using Environment2 = ClusterEnvironment<2>;
  std::vector<double> log;
  Random random(seed);
  std::vector<float> rows, state(Environment2::kGlobalState);
  for (int t = 0; t < steps; ++t) {
    rows.resize(environment.agents() * Environment2::kObservation);
    environment.observe(rows.data());
    environment.global_state(state.data());
    log.insert(log.end(), rows.begin(), rows.end());
    log.insert(log.end(), state.begin(), state.end());
    for (const std::uint32_t agent : environment.turn_order()) {
      const OptionMask mask = environment.mask(agent);
      REQUIRE((mask & 1u) == 1u);
      REQUIRE((mask & ~environment.possible(agent)) == 0u);
      int option = static_cast<int>(random.below(Environment2::kOptions));
      if (((mask >> option) & 1u) == 0) option = 0;
      environment.act(agent, option);
      log.push_back(option);
    }
    const std::size_t agents = environment.agents();
    const StepOutcome outcome = environment.step();
    REQUIRE(environment.rewards().size() == agents);
    log.push_back(outcome.team_reward);
    log.insert(log.end(), environment.rewards().begin(), environment.rewards().end());
    if (outcome.terminated || outcome.truncated) break;
  }
  return log;
}

}  // namespace

static_assert(Environment<ClusterEnvironment<1>>);
static_assert(Environment<ClusterEnvironment<3>>);

TEST_CASE("delays by hand: a completion inside a step, and its GPU taken over at once", "[environment]") {
  ClusterEnvironment<1> environment(one_gpu({job_of(0, 1, 150), job_of(0, 1, 30)}));
  REQUIRE(environment.reset(1));
  REQUIRE(environment.agents() == 2);
  environment.act(0, TieredRequest<1>::option(0, Tier::kExact));
  CHECK(environment.mask(1) == 1u);
  environment.act(1, 0);
  StepOutcome outcome = environment.step();
  CHECK(outcome.team_reward == Approx(-1.0));  // the second job waited 100 s
  CHECK(environment.rewards()[0] == Approx(0.0).margin(1e-6));
  CHECK(environment.rewards()[1] == Approx(-1.0));
  CHECK_FALSE(outcome.terminated);
  REQUIRE(environment.agents() == 2);
  CHECK(environment.current_option(0) == 2);
  CHECK(environment.current_option(1) == 0);
  environment.act(0, 2);
  outcome = environment.step();  // it ends at 150, the other runs from 150 to 180
  CHECK(outcome.team_reward == Approx(-0.5));
  REQUIRE(environment.rewards().size() == 2);
  CHECK(environment.rewards()[0] == Approx(0.0).margin(1e-6));
  CHECK(environment.rewards()[1] == Approx(-0.5));
  CHECK(outcome.terminated);
  CHECK_FALSE(outcome.truncated);
  CHECK(environment.agents() == 0);
  // Nothing is left to play.
  outcome = environment.step();
  CHECK(outcome.terminated);
  CHECK(outcome.team_reward == 0.0f);
  CHECK(environment.rewards().empty());
}

TEST_CASE("who asks for nothing gives up what it holds to who is before it in turn", "[environment]") {
  ClusterEnvironment<1> environment(one_gpu({job_of(0, 1, 150), job_of(0, 1, 30)}));
  REQUIRE(environment.reset(1));
  environment.act(0, 2);
  environment.step();
  all_nothing(environment);  // the shorter job takes the GPU for 30 s, the other goes on until 180
  const StepOutcome outcome = environment.step();
  CHECK(environment.rewards()[0] == Approx(-0.3));
  CHECK(environment.rewards()[1] == Approx(0.0).margin(1e-6));
  CHECK(outcome.team_reward == Approx(-0.3));
  CHECK(outcome.terminated);
}

TEST_CASE("idle gaps cost nothing, and an arrival inside a step starts at once", "[environment]") {
  ClusterEnvironment<1> environment(one_gpu({job_of(20, 1, 60), job_of(430, 1, 65), job_of(440, 1, 20)}));
  REQUIRE(environment.reset(1));
  CHECK(environment.agents() == 0);  // the first job comes at 20
  std::vector<double> rewards;
  StepOutcome outcome;
  std::vector<float> state(ClusterEnvironment<1>::kGlobalState);
  for (int t = 0; t < 6; ++t) {
    CHECK(environment.turn_order().size() == environment.agents());
    environment.global_state(state.data());
    CHECK(state[0] == (environment.agents() > 0 ? 0.0f : 1.0f));  // share of free GPUs
    all_nothing(environment);
    outcome = environment.step();
    rewards.push_back(static_cast<double>(outcome.team_reward));
    CHECK_FALSE(outcome.truncated);
    CHECK(outcome.terminated == (t == 5));
  }
  // 430..495 the second job runs; the third waits 440..495, runs 495..515.
  const double expected[] = {0.0, 0.0, 0.0, 0.0, -0.55, 0.0};
  for (std::size_t t = 0; t < 6; ++t) CHECK(rewards[t] == Approx(expected[t]).margin(1e-6));
}

TEST_CASE("start costs are delay", "[environment]") {
  auto config = one_gpu({job_of(0, 1, 150)});
  config.overheads = {30.0, 90.0};
  config.reward_scale = 0.5;
  ClusterEnvironment<1> environment(config);
  REQUIRE(environment.reset(1));
  all_nothing(environment);
  CHECK(environment.step().team_reward == Approx(-0.15));
  CHECK(environment.rewards()[0] == Approx(-0.3));  // individual rewards are not scaled
  all_nothing(environment);
  const StepOutcome outcome = environment.step();
  CHECK(outcome.team_reward == Approx(0.0).margin(1e-6));
  CHECK(outcome.terminated);
}

TEST_CASE("a time limit truncates; the end of all jobs terminates even then", "[environment]") {
  auto config = one_gpu({job_of(0, 1, 150)});
  config.episode_steps = 1;
  ClusterEnvironment<1> cut(config);
  REQUIRE(cut.reset(1));
  all_nothing(cut);
  StepOutcome outcome = cut.step();
  CHECK(outcome.truncated);
  CHECK_FALSE(outcome.terminated);
  CHECK(cut.agents() == 1);  // the final state can be looked at
  config.episode_steps = 2;
  ClusterEnvironment<1> both(config);
  REQUIRE(both.reset(1));
  all_nothing(both);
  CHECK_FALSE(both.step().truncated);
  all_nothing(both);
  outcome = both.step();
  CHECK(outcome.terminated);
  CHECK_FALSE(outcome.truncated);
}

TEST_CASE("the rewards of an episode add up to minus the total delay of the same decisions in the simulator",
          "[environment]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ClusterEnvironmentConfig config = two_types();
    ClusterEnvironment<2> environment(config);
    REQUIRE(environment.reset(seed));
    double sum = 0.0;
    StepOutcome outcome;
    while (!outcome.terminated) {
      all_nothing(environment);
      outcome = environment.step();
      sum += static_cast<double>(outcome.team_reward);
      REQUIRE_FALSE(outcome.truncated);
    }

    struct Backfill {  // what is left of the environment's decisions when nobody asks for anything
      double unit_s;
      ClusterObservation<2> observation;
      std::string_view name() const { return "backfill"; }
      void decide(const DecisionView& view, Allocation& allocation) {
        observation.prepare(view);
        if (std::fmod(view.now_s, unit_s) != 0.0) claim_held(view, allocation);
        SequentialArbiter<2>::backfill(view, observation.order(), allocation);
      }
    };
    Backfill backfill{config.time_unit_s, ClusterObservation<2>(ObservationConfig{config.time_unit_s})};
    SimulationConfig simulation;
    simulation.overheads = config.overheads;
    simulation.tick_s = config.time_unit_s;
    const auto result = simulate(config.cluster, config.workload(seed).value(), backfill, simulation).value();
    double delay_s = 0.0;
    for (std::size_t j = 0; j < result.jobs.size(); ++j) {
      const Job& job = result.jobs[j];
      REQUIRE(result.records[j].finished);
      delay_s += result.records[j].end_s - job.submit_s - job.work / job.rate(Grant{0, job.requested});
    }
    CHECK(sum == Approx(-config.reward_scale * delay_s / config.time_unit_s).epsilon(1e-4));
    CHECK(delay_s > 0.0);
  }
}

TEST_CASE("the team reward is the scaled sum of the individual ones when nobody arrives", "[environment]") {
  auto jobs = random_jobs(3, 20, 1.0);
  for (Job& job : jobs) job.submit_s = 0.0;
  auto config = two_types();
  config.workload = always(jobs);
  ClusterEnvironment<2> environment(config);
  REQUIRE(environment.reset(1));
  Random random(1);
  StepOutcome outcome;
  while (!outcome.terminated) {
    for (const std::uint32_t agent : environment.turn_order())
      environment.act(agent, random.below(3) == 0 ? static_cast<int>(random.below(7)) : 0);
    outcome = environment.step();
    double sum = 0.0;
    for (const float r : environment.rewards()) sum += static_cast<double>(r);
    CHECK(static_cast<double>(outcome.team_reward) == Approx(0.05 * sum).margin(1e-5));
  }
}

TEST_CASE("one seed is one episode, also after other episodes and in another object", "[environment]") {
  ClusterEnvironment<2> environment(two_types()), other(two_types());
  REQUIRE(environment.reset(11));
  const auto first = play_randomly(environment, 5, 200);
  CHECK(first.size() > 1000);
  REQUIRE(environment.reset(12));
  CHECK(play_randomly(environment, 5, 200) != first);
  REQUIRE(environment.reset(11));
  CHECK(play_randomly(environment, 5, 200) == first);
  REQUIRE(other.reset(11));
  ClusterEnvironment<2> moved = std::move(other);
  CHECK(play_randomly(moved, 5, 200) == first);
}

TEST_CASE("hostile options are the same as nothing", "[environment]") {
  ClusterEnvironment<2> environment(two_types()), reference(two_types());
  REQUIRE(environment.reset(2));
  REQUIRE(reference.reset(2));
  for (int t = 0; t < 30; ++t) {
    REQUIRE(environment.agents() == reference.agents());
    for (const std::uint32_t agent : environment.turn_order())
      for (const int option : {-1, 7, 1 << 30, -(1 << 30)}) environment.act(agent, option);
    all_nothing(reference);
    REQUIRE(environment.step().team_reward == reference.step().team_reward);
  }
}

TEST_CASE("what reset() refuses", "[environment]") {
  const auto message = [](ClusterEnvironmentConfig config) {
    ClusterEnvironment<2> environment(std::move(config));
    const Status status = environment.reset(1);
    REQUIRE_FALSE(status);
    CHECK(environment.agents() == 0);
    CHECK(environment.step().terminated);
    return status.error().message;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  auto config = two_types();
  config.cluster.types.pop_back();
  CHECK(has(message(config), "1 GPU types"));
  config = two_types();
  config.workload = nullptr;
  CHECK(has(message(config), "workload"));
  config = two_types();
  config.workload = [](std::uint64_t seed) -> Result<std::vector<Job>> {
    return Error{ErrorCode::kIo, "no jobs for seed " + std::to_string(seed)};
  };
  CHECK(has(message(config), "no jobs for seed 1"));
  for (const double bad : {0.0, -300.0, std::nan("")}) {
    config = two_types();
    config.time_unit_s = bad;
    CHECK(has(message(config), "time_unit_s"));
  }
  config = two_types();
  config.reward_scale = INFINITY;
  CHECK(has(message(config), "reward_scale"));
  config = two_types();
  config.episode_steps = 0;
  CHECK(has(message(config), "episode_steps"));
  config = two_types();
  config.overheads.restart_s = -1.0;
  CHECK(has(message(config), "restart_s"));
  config = two_types();
  config.workload = always({job_of(0, 100, 10)});
  CHECK(has(message(config), "requested"));
}

TEST_CASE("a reset that fails ends the game that was being played", "[environment]") {
  auto config = two_types();
  config.workload = [](std::uint64_t seed) -> Result<std::vector<Job>> {
    if (seed == 2) return Error{ErrorCode::kIo, "gone"};
    return random_jobs(seed, 10, 10.0);
  };
  ClusterEnvironment<2> environment(config);
  CHECK(environment.step().terminated);  // before the first reset too
  REQUIRE(environment.reset(1));
  all_nothing(environment);
  CHECK_FALSE(environment.step().terminated);
  REQUIRE_FALSE(environment.reset(2));
  CHECK(environment.agents() == 0);
  CHECK(environment.step().terminated);
  REQUIRE(environment.reset(1));
  CHECK_FALSE(environment.step().terminated);
}

TEST_CASE("an episode without jobs is over at once", "[environment]") {
  ClusterEnvironment<1> environment(one_gpu({}));
  REQUIRE(environment.reset(1));
  CHECK(environment.agents() == 0);
  CHECK(environment.step().terminated);
}
