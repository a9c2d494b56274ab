// Demonstrations: the expert's labels are its own joint decisions, whoever counts the threads.
#include "mara/expert/demonstrations.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "environment/environment_helpers.hpp"
#include "mara/environment/cluster_environment.hpp"
#include "mara/expert/list_scheduler.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Game2 = ClusterEnvironment<2>;
using Request = Game2::ActionSpace;

std::vector<Job> jobs_of(std::uint64_t seed) {
  Random random(seed);
  std::vector<Job> jobs;
  double now = 0.0;
  for (int i = 0; i < 40; ++i) {
    now += random.exponential(1.0 / 120.0);
    Job job = job_of(now, 1 << random.below(3), random.log_normal(6.5, 1.0), 8,
                     SpeedUp{SpeedUp::Kind::kPower, 0.8});
    job.id = i;
    job.type_speed = {1.0, random.uniform(0.3, 0.9)};
    jobs.push_back(job);
  }
  return jobs;
}

ClusterEnvironmentConfig game(std::function<void(std::uint64_t)> seen = {}) {
  ClusterEnvironmentConfig config;
  config.cluster.types = {pool("fast", 4), pool("slow", 6)};
  config.workload = [seen](std::uint64_t seed) -> Result<std::vector<Job>> {
    if (seen) seen(seed);
    return jobs_of(seed);
  };
  config.episode_steps = 25;
  return config;
}

ListScheduler<2> expert() {
  ListParameters parameters;
  parameters.theta = {0.3, 0.2, 0.1, 0.0, -0.1, 0.4, 0.1};
  return {parameters, 300.0};
}

bool same(const Demonstrations& a, const Demonstrations& b) {
  return a.observations == b.observations && a.masks == b.masks && a.possible == b.possible &&
         a.current == b.current && a.target == b.target && a.env_steps == b.env_steps;
}

/// Plays the episodes with the given seeds, `choose` making the choices, and writes down every turn.
Demonstrations replay(const std::vector<std::uint64_t>& seeds, int steps,
                      const std::function<int(const float*, int, OptionMask)>& choose) {
  Demonstrations log;
  Game2 environment(game());
  auto scheduler = expert();
  std::size_t episode = 0;
  REQUIRE(environment.reset(seeds[episode++]));
  for (int t = 0; t < steps; ++t) {
    const std::size_t agents = environment.agents();
    std::vector<float> rows(agents * Game2::kObservation);
    environment.observe(rows.data());
    std::vector<std::uint8_t> decided(agents, 0);
    std::vector<int> chosen(agents, 0);
    for (const std::uint32_t a : environment.turn_order()) {
      const DecisionView& view = environment.view();
      Allocation rest(environment.cluster());
      rest.reset(agents);
      for (const std::uint32_t b : environment.turn_order())
        if (decided[b] != 0) rest.claim(b, view.job(b).demand, Request::grant(view.job(b), chosen[b]));
      scheduler.prepare(view);
      scheduler.decide_rest(view, decided, rest);
      const int ideal = Request::option_of(view.job(a), rest.grant(a));
      log.observations.insert(log.observations.end(), &rows[a * Game2::kObservation],
                              &rows[a * Game2::kObservation] + Game2::kObservation);
      log.masks.push_back(environment.mask(a));
      log.possible.push_back(environment.possible(a));
      log.current.push_back(static_cast<std::uint8_t>(environment.current_option(a)));
      log.target.push_back(static_cast<std::uint8_t>(ideal));
      chosen[a] =
          choose ? choose(&rows[a * Game2::kObservation], environment.current_option(a), environment.mask(a))
                 : ideal;
      decided[a] = 1;
      environment.act(a, chosen[a]);
    }
    const StepOutcome outcome = environment.step();
    ++log.env_steps;
    if (outcome.terminated || outcome.truncated) REQUIRE(environment.reset(seeds[episode++]));
  }
  return log;
}

}  // namespace

TEST_CASE("undisturbed labels are the expert's joint decisions", "[demonstrations]") {
  std::vector<std::uint64_t> seeds;
  const std::function<Game2(int)> make = [&](int) {
    return Game2(game([&](std::uint64_t seed) { seeds.push_back(seed); }));
  };
  DemonstrationConfig config;
  config.environments = 1;
  config.steps = 60;
  config.labelled_share = 1.0;
  config.disturbance = {0.0};
  const auto data = demonstrate<Game2>(make, expert(), config);
  REQUIRE(data);
  CHECK(data->env_steps == 60);
  REQUIRE(seeds.size() == 3);  // episodes of 25 steps
  CHECK(same(*data, replay(seeds, 60, {})));

  // And these are what decide() says of all agents at once.
  Game2 environment(game());
  REQUIRE(environment.reset(seeds[0]));
  auto scheduler = expert();
  std::size_t row = 0;
  std::set<int> options;
  for (int t = 0; t < 25; ++t) {
    Allocation joint(environment.cluster());
    joint.reset(environment.agents());
    scheduler.decide(environment.view(), joint);
    for (const std::uint32_t a : environment.turn_order()) {
      const int option = Request::option_of(environment.view().job(a), joint.grant(a));
      REQUIRE(data->target[row] == option);
      REQUIRE(((data->masks[row] >> option) & 1u) == 1u);
      options.insert(option);
      ++row;
      environment.act(a, option);
    }
    environment.step();
  }
  CHECK(options.size() >= 4);  // the comparison has seen more than one thing
}

TEST_CASE("another player is followed, and the expert says what it would do now", "[demonstrations]") {
  std::vector<std::uint64_t> seeds;
  const std::function<Game2(int)> make = [&](int) {
    return Game2(game([&](std::uint64_t seed) { seeds.push_back(seed); }));
  };
  DemonstrationConfig config;
  config.environments = 1;
  config.steps = 30;
  config.labelled_share = 1.0;
  config.disturbance = {};
  // Now the last legal option (the largest tier on the slowest type), now nothing.
  const auto erratic = [](const float* observation, int, OptionMask mask) {
    return static_cast<int>(std::fabs(observation[0]) * 1000.0f) % 2 == 0 ? 0 : 31 - std::countl_zero(mask);
  };
  const auto data = demonstrate<Game2>(make, expert(), config, [&](int) { return erratic; });
  REQUIRE(data);
  CHECK(same(*data, replay(seeds, 30, erratic)));
}

TEST_CASE("the same bits on one thread and on two", "[demonstrations]") {
  const std::function<Game2(int)> make = [](int) { return Game2(game()); };
  DemonstrationConfig config;
  config.environments = 7;
  config.steps = 40;
  config.rows = 1400;
  const auto one = demonstrate<Game2>(make, expert(), config);
  config.threads = 2;
  const auto two = demonstrate<Game2>(make, expert(), config);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->rows() > 700);
  CHECK(same(*one, *two));
  config.seed = 2;
  CHECK_FALSE(same(*demonstrate<Game2>(make, expert(), config), *one));
}

TEST_CASE("at most as many rows as asked for, a sample of all there were", "[demonstrations]") {
  const std::function<Game2(int)> make = [](int) { return Game2(game()); };
  DemonstrationConfig config;
  config.environments = 2;
  config.steps = 40;
  config.labelled_share = 1.0;
  config.disturbance = {0.3};
  const auto all = demonstrate<Game2>(make, expert(), config);
  REQUIRE(all);
  config.rows = 60;
  const auto sample = demonstrate<Game2>(make, expert(), config);
  REQUIRE(sample);
  CHECK(all->rows() > 300);
  REQUIRE(sample->rows() == 60);
  CHECK(sample->observations.size() == 60 * static_cast<std::size_t>(Game2::kObservation));
  CHECK(sample->env_steps == 80);
  for (std::size_t r = 0; r < sample->rows(); ++r) {
    CHECK(((sample->masks[r] >> sample->target[r]) & 1u) == 1u);
    CHECK((sample->masks[r] & ~sample->possible[r]) == 0u);
    CHECK(sample->current[r] < Game2::kOptions);
  }
}

TEST_CASE("labels of a share of the agents", "[demonstrations]") {
  const std::function<Game2(int)> make = [](int) { return Game2(game()); };
  DemonstrationConfig config;
  config.environments = 4;
  config.steps = 50;
  config.disturbance = {0.0};
  config.labelled_share = 1.0;
  const double all = static_cast<double>(demonstrate<Game2>(make, expert(), config)->rows());
  config.labelled_share = 0.25;
  const double some = static_cast<double>(demonstrate<Game2>(make, expert(), config)->rows());
  CHECK(some / all > 0.15);
  CHECK(some / all < 0.35);
  config.labelled_share = 0.0;
  CHECK(demonstrate<Game2>(make, expert(), config)->rows() == 0);
}

TEST_CASE("errors of demonstrate()", "[demonstrations]") {
  const std::function<Game2(int)> make = [](int i) {
    auto config = game();
    if (i == 1) config.time_unit_s = -1.0;
    return Game2(config);
  };
  DemonstrationConfig config;
  config.environments = 2;
  config.steps = 3;
  const auto from_reset = demonstrate<Game2>(make, expert(), config);
  REQUIRE_FALSE(from_reset);
  CHECK(from_reset.error().message.find("time_unit_s") != std::string::npos);
  config.environments = -1;
  CHECK_FALSE(demonstrate<Game2>(make, expert(), config));
  config.environments = 1;
  config.labelled_share = std::nan("");
  const auto share = demonstrate<Game2>(make, expert(), config);
  REQUIRE_FALSE(share);
  CHECK(share.error().message.find("labelled_share") != std::string::npos);
}

TEST_CASE("append() joins two collections", "[demonstrations]") {
  const std::function<Game2(int)> make = [](int) { return Game2(game()); };
  DemonstrationConfig config;
  config.environments = 1;
  config.steps = 10;
  const Demonstrations one = *demonstrate<Game2>(make, expert(), config);
  Demonstrations two = one;
  two.append(one);
  CHECK(two.rows() == 2 * one.rows());
  CHECK(two.observations.size() == 2 * one.observations.size());
  CHECK(two.env_steps == 20);
  CHECK(two.target.back() == one.target.back());
}
