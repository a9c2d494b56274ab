#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/cue_recall.hpp"
#include "mara/environment/dynamic_allocation_game.hpp"
#include "mara/environment/linear_quadratic_team.hpp"
#include "mara/environment/quadratic_team.hpp"
#include "mara/environment/two_step_game.hpp"
#include "toy_game_helpers.hpp"

using namespace mara::test;
using mara::DynamicAllocationGame;
using mara::LinearQuadraticTeam;
using mara::QuadraticTeam;

TEST_CASE("two-step game: all plays", "[games]") {
  mara::TwoStepGame game;
  CHECK(game.step().terminated);  // before a reset there is nothing to step
  CHECK_FALSE(game.present(0));
  CHECK(game.turn_order().empty());
  for (std::int32_t play = 0; play < 16; ++play) {
    const std::int32_t a = play / 8, ignored = play / 4 % 2, b = play / 2 % 2, c = play % 2;
    REQUIRE(game.reset(7));
    CHECK(observations(game) == std::vector<float>{1, 0, 0, 1, 0, 0});
    const auto first = play_options(game, {a, ignored});
    CHECK(first.team_reward == 0.0f);
    CHECK_FALSE(first.terminated);
    CHECK(state_of_game(game) == (a == 0 ? std::vector<float>{0, 1, 0} : std::vector<float>{0, 0, 1}));
    const auto second = play_options(game, {b, c});
    const float expected = a == 0 ? 7.0f : b + c == 2 ? 8.0f : static_cast<float>(b + c);
    CHECK(second.team_reward == expected);
    CHECK(game.rewards()[1] == expected);
    CHECK(second.terminated);
    CHECK_FALSE(second.truncated);
    CHECK(observations(game) == std::vector<float>(6, 0.0f));
  }
}

namespace {

/// The chain as the game plays it, by counting: the exact functions must describe the same game.
void check_dynamics(std::size_t state, std::size_t joint) {
  DynamicAllocationGame game({1, static_cast<int>(state / 3), static_cast<int>(state % 3)});
  std::array<double, 9> counted{};
  constexpr int kPlays = 4000;
  for (int play = 0; play < kPlays; ++play) {
    REQUIRE(game.reset(static_cast<std::uint64_t>(play)));
    REQUIRE(game.state() == state);
    const auto outcome =
        play_options(game, {static_cast<std::int32_t>(joint / 2), static_cast<std::int32_t>(joint % 2)});
    REQUIRE(outcome.team_reward == static_cast<float>(DynamicAllocationGame::reward(state, joint)));
    REQUIRE(outcome.truncated);
    REQUIRE_FALSE(outcome.terminated);
    counted[game.state()] += 1.0 / kPlays;
  }
  const auto exact = DynamicAllocationGame::transition(state, joint);
  double total = 0;
  for (std::size_t next = 0; next < 9; ++next) {
    const double p = exact[next];
    total += p;
    REQUIRE(std::abs(counted[next] - p) <= 4.0 * std::sqrt(p * (1.0 - p) / kPlays) + 1e-12);
  }
  REQUIRE(total == Approx(1.0));
}

}  // namespace

TEST_CASE("dyn-A: the step function is the chain that is solved", "[games]") {
  for (std::size_t state = 0; state < 9; ++state)
    for (std::size_t joint = 0; joint < 4; ++joint) check_dynamics(state, joint);
  CHECK(DynamicAllocationGame::reward(8, 2) == -4.0);  // queue 0 served, from (2, 2)
  CHECK(DynamicAllocationGame::reward(8, 1) == -5.0);
  CHECK(DynamicAllocationGame::reward(8, 3) == -6.0);
  CHECK(DynamicAllocationGame::reward(8, 0) == -6.0);
  CHECK(DynamicAllocationGame::reward(0, 2) == 0.0);
}

TEST_CASE("dyn-A: the best values and those of known policies", "[games]") {
  const auto best = DynamicAllocationGame::optimal_values();
  const std::array<double, 9> expected{-3.116164, -3.116164, -5.424433,  -3.116164, -5.424433,
                                       -7.421086, -6.983113, -10.000777, -11.883951};
  for (std::size_t i = 0; i < 9; ++i) CHECK(best[i] == Approx(expected[i]).margin(1e-6));

  const auto both = [](auto request0, auto request1) {
    std::array<DynamicAllocationGame::Values, 2> request{};
    for (std::size_t s = 0; s < 9; ++s) request[0][s] = request0(s), request[1][s] = request1(s);
    return DynamicAllocationGame::values(DynamicAllocationGame::joint_policy(request));
  };
  const auto serve0 = [](std::size_t s) { return s / 3 > 0 ? 1.0 : 0.0; };
  const auto optimal = both(serve0, [](std::size_t s) { return s / 3 > 0 ? 0.0 : 1.0; });
  for (std::size_t i = 0; i < 9; ++i) CHECK(optimal[i] == Approx(expected[i]).margin(1e-6));
  const auto random = both([](std::size_t) { return .5; }, [](std::size_t) { return .5; });
  CHECK(random[0] == Approx(-24.367929).margin(1e-6));
  CHECK(random[8] == Approx(-40.276177).margin(1e-6));
  const auto always = both([](std::size_t) { return 1.0; }, [](std::size_t) { return 0.0; });
  CHECK(always[0] == Approx(-14.876033).margin(1e-6));
  CHECK(always[8] == Approx(-22.739726).margin(1e-6));
  const auto greedy = both(serve0, [](std::size_t s) { return s % 3 > 0 ? 1.0 : 0.0; });
  CHECK(greedy[0] == Approx(-30.318365).margin(1e-6));
  CHECK(greedy[8] == Approx(-60.0).margin(1e-6));
}

TEST_CASE("dyn-A: starts, observation, time limit, bad configurations", "[games]") {
  DynamicAllocationGame game;
  std::array<int, 9> starts{};
  for (std::uint64_t seed = 0; seed < 1800; ++seed) {
    REQUIRE(game.reset(seed));
    ++starts[game.state()];
  }
  for (const int count : starts) CHECK(std::abs(count - 200) < 60);
  DynamicAllocationGame fixed({50, 2, 1});
  REQUIRE(fixed.reset(3));
  CHECK(state_of_game(fixed) == std::vector<float>{0, 0, 0, 0, 0, 0, 0, 1, 0});
  int steps = 0;
  for (mara::StepOutcome outcome; !outcome.truncated; ++steps) outcome = play_options(fixed, {1, 0});
  CHECK(steps == 50);
  CHECK(DynamicAllocationGame({0}).reset(1).error().message.find("steps = 0") != std::string::npos);
  CHECK(DynamicAllocationGame({5, 3}).reset(1).error().message.find("queue = 3") != std::string::npos);
  CHECK(DynamicAllocationGame({5, 0, -2}).reset(1).error().message.find("queue = -2") != std::string::npos);
}

TEST_CASE("quadratic team: optimum, payoff on the terminal step, bounds", "[games]") {
  CHECK(QuadraticTeam::kBest[0] == Approx(.66176471));
  CHECK(QuadraticTeam::kBest[1] == Approx(-1.02941176));
  CHECK(QuadraticTeam::kBestValue == Approx(.84558824));
  CHECK(QuadraticTeam::value(QuadraticTeam::kBest[0], QuadraticTeam::kBest[1]) ==
        Approx(QuadraticTeam::kBestValue));
  for (const double d : {-.01, .01}) {
    CHECK(QuadraticTeam::value(QuadraticTeam::kBest[0] + d, QuadraticTeam::kBest[1]) <
          QuadraticTeam::kBestValue);
    CHECK(QuadraticTeam::value(QuadraticTeam::kBest[0], QuadraticTeam::kBest[1] + d) <
          QuadraticTeam::kBestValue);
  }
  QuadraticTeam game;
  REQUIRE(game.reset(1));
  const auto outcome = play_numbers(game, {.5f, -1.0f});
  CHECK(outcome.team_reward == Approx(.5 + 1.0 - (2 * .25 - 2 * .8 * .5 + 1.0)));
  CHECK(outcome.terminated);
  REQUIRE(game.reset(1));
  CHECK(play_numbers(game, {std::numeric_limits<float>::quiet_NaN(), 1e30f}).team_reward ==
        Approx(QuadraticTeam::value(0.0, 2.0)));
  CHECK(QuadraticTeam({1.0f, 1.0f}).reset(1).error().message.find("box[0]") != std::string::npos);
}

TEST_CASE("linear-quadratic team: closed form", "[games]") {
  using G = LinearQuadraticTeam;
  CHECK(G::expected_return(G::kBestGains[0], G::kBestGains[1]) == Approx(-.66168862).margin(1e-8));
  CHECK(G::closed_loop(G::kBestGains[0], G::kBestGains[1]) == Approx(.22009921).margin(1e-8));
  CHECK(G::curvature(G::kBestGains[0], G::kBestGains[1]) == Approx(1.26437315).margin(1e-8));
  CHECK(G::expected_return(0, 0) == Approx(-10.46666667).margin(1e-8));
  CHECK(G::curvature(.5, .5) == Approx(1.63373860).margin(1e-8));
  CHECK(G::expected_return(.5, .5) == Approx(-.85498987).margin(1e-8));
  CHECK(G::expected_return(G::kBestGains[0], G::kBestGains[1], .2) == Approx(-1.22840264).margin(1e-8));
  constexpr double h = 1e-6;
  CHECK((G::expected_return(.5 + h, .5) - G::expected_return(.5 - h, .5)) / (2 * h) ==
        Approx(.66111078).margin(1e-6));
  CHECK((G::expected_return(.5, .5 + h) - G::expected_return(.5, .5 - h)) / (2 * h) ==
        Approx(.28531895).margin(1e-6));
  CHECK(std::isinf(G::curvature(-1, 0)));
  CHECK(G::expected_return(-1, 0) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("linear-quadratic team: the game earns what the closed form says", "[games]") {
  using G = LinearQuadraticTeam;
  struct Case {
    double k0, k1, exploration;
  };
  for (const Case& c : {Case{G::kBestGains[0], G::kBestGains[1], 0}, Case{0, 0, 0}, Case{.5, .5, 0},
                        Case{G::kBestGains[0], G::kBestGains[1], .2}}) {
    G game({300, {-8.0f, 8.0f}});
    mara::Random random(4);
    Sample returns;
    for (std::uint64_t episode = 0; episode < 4000; ++episode) {
      REQUIRE(game.reset(episode));
      double total = 0, weight = 1;
      for (mara::StepOutcome outcome; !outcome.truncated; weight *= G::kDiscount) {
        const double x = game.x();
        outcome = play_numbers(game, {static_cast<float>(-c.k0 * x + c.exploration * random.normal()),
                                      static_cast<float>(-c.k1 * x + c.exploration * random.normal())});
        total += weight * outcome.team_reward;
      }
      returns.add(total);
    }
    INFO(c.k0 << " " << c.k1 << " " << c.exploration << ": " << returns.mean() << " +- " << returns.error());
    CHECK(std::abs(returns.mean() - G::expected_return(c.k0, c.k1, c.exploration)) < 3 * returns.error());
  }
  CHECK(G({0}).reset(1).error().message.find("steps = 0") != std::string::npos);
  CHECK(G({5, {1.0f, -1.0f}}).reset(1).error().message.find("box[0]") != std::string::npos);
}

TEST_CASE("cue recall: the cue is seen once and counts at the end", "[games]") {
  mara::CueRecall game;
  double without = 0;
  int ups = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    REQUIRE(game.reset(seed));
    const float cue = observations(game)[0];
    REQUIRE(std::abs(cue) == 1.0f);
    ups += cue > 0 ? 1 : 0;
    const bool remember = seed % 2 == 0;
    for (int t = 0; t <= 5; ++t) {
      if (t > 0) REQUIRE(observations(game)[0] == 0.0f);
      REQUIRE(state_of_game(game)[0] == cue);
      REQUIRE(state_of_game(game)[1] == Approx(t / 5.0));
      const std::int32_t option = t < 5      ? static_cast<std::int32_t>(seed % 3 % 2)
                                  : remember ? (cue > 0 ? 1 : 0)
                                             : 1;
      const auto outcome = play_options(game, {option});
      REQUIRE(outcome.terminated == (t == 5));
      if (t < 5) REQUIRE(outcome.team_reward == 0.0f);
      if (t == 5 && remember) REQUIRE(outcome.team_reward == 1.0f);
      if (t == 5 && !remember) REQUIRE(outcome.team_reward == cue);
      if (!remember) without += outcome.team_reward;
    }
  }
  CHECK(std::abs(ups - 500) < 60);
  CHECK(std::abs(without / 500) < .15);
}
