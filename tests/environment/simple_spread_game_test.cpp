#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/simple_spread.hpp"
#include "toy_game_helpers.hpp"

using mara::SimpleSpread;
using mara::SpreadConfig;
using mara::SpreadReward;
using namespace mara::test;

namespace {

constexpr std::int32_t kNone = 0, kRight = 1, kLeft = 2, kUp = 3, kDown = 4;

/// Everything far apart and at rest.
SimpleSpread spread_out(SpreadConfig config = {}) {
  SimpleSpread game(config);
  REQUIRE(game.reset(1));
  for (std::size_t i = 0; i < config.agents; ++i) {
    REQUIRE(game.set_agent(i, {10.0 * static_cast<double>(i), 0}, {0, 0}));
    REQUIRE(game.set_landmark(i, {10.0 * static_cast<double>(i), 1}));
  }
  return game;
}

/// Agents go to the landmarks of the assignment with the least sum of distances, one axis after the other.
std::vector<std::int32_t> heuristic(const SimpleSpread& game) {
  std::array<std::size_t, 3> order{0, 1, 2}, best = order;
  double least = std::numeric_limits<double>::infinity();
  do {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      sum += std::hypot(game.position(i).x - game.landmark(order[i]).x,
                        game.position(i).y - game.landmark(order[i]).y);
    if (sum < least) least = sum, best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  std::vector<std::int32_t> chosen(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto p = game.position(i), v = game.velocity(i), goal = game.landmark(best[i]);
    // Where the agent would come to rest: the speeds .75 v, .75^2 v, ... sum up to 3 v, each for .1.
    const double dx = goal.x - (p.x + .3 * v.x), dy = goal.y - (p.y + .3 * v.y);
    if (std::max(std::abs(dx), std::abs(dy)) < .1)
      chosen[i] = kNone;
    else if (std::abs(dx) > std::abs(dy))
      chosen[i] = dx > 0 ? kRight : kLeft;
    else
      chosen[i] = dy > 0 ? kUp : kDown;
  }
  return chosen;
}

enum class Who { kRandom, kStill, kHeuristic };

Sample returns_of(Who who, SpreadConfig config, int episodes) {
  SimpleSpread game(config);
  mara::Random random(11);
  Sample sample;
  for (int episode = 0; episode < episodes; ++episode) {
    REQUIRE(game.reset(static_cast<std::uint64_t>(episode) + 1000));
    double total = 0;
    for (mara::StepOutcome outcome; !outcome.truncated;) {
      std::vector<std::int32_t> options(3, kNone);
      if (who == Who::kRandom)
        for (auto& option : options) option = static_cast<std::int32_t>(random.below(5));
      if (who == Who::kHeuristic) options = heuristic(game);
      outcome = play_options(game, options);
      total += static_cast<double>(outcome.team_reward);
    }
    sample.add(total);
  }
  return sample;
}

/// `value` with standard error .4 or less was measured over 20,000 episodes, ours over some.
void check_mean(const Sample& sample, double value, double error) {
  INFO(sample.mean() << " +- " << sample.error() << ", expected " << value);
  CHECK(std::abs(sample.mean() - value) < 3.0 * std::hypot(sample.error(), error));
}

}  // namespace

TEST_CASE("simple_spread: pushed to the right three times, then coasting", "[games]") {
  SimpleSpread game = spread_out();
  const double v[] = {.5, .875, 1.15625}, x[] = {.05, .1375, .253125, .33984375, .40488281};
  for (std::size_t t = 0; t < 5; ++t) {
    play_options(game, {t < 3 ? kRight : kNone, kNone, kNone});
    if (t < 3) CHECK(game.velocity(0).x == Approx(v[t]).epsilon(1e-12));
    CHECK(game.position(0).x == Approx(x[t]).epsilon(1e-7));
    CHECK(game.position(0).y == 0.0);
  }
  const std::array<SimpleSpread::Point, 5> directions{{{0, 0}, {.5, 0}, {-.5, 0}, {0, .5}, {0, -.5}}};
  for (std::int32_t option = 0; option < 5; ++option) {
    SimpleSpread other = spread_out();
    play_options(other, {kNone, option, kNone});
    CHECK(other.velocity(1).x == directions[static_cast<std::size_t>(option)].x);
    CHECK(other.velocity(1).y == directions[static_cast<std::size_t>(option)].y);
  }
}

TEST_CASE("simple_spread: contact", "[games]") {
  CHECK(SimpleSpread::contact_force(.2) == Approx(10.0));
  CHECK(SimpleSpread::contact_force(.3) == Approx(100 * 1e-3 * std::log(2.0)));
  CHECK(SimpleSpread::contact_force(.302) == Approx(100 * 1e-3 * std::log1p(std::exp(-2.0))));
  CHECK(SimpleSpread::contact_force(5) == 0.0);
  SimpleSpread game = spread_out();
  REQUIRE(game.set_agent(0, {0, 0}, {0, 0}));
  REQUIRE(game.set_agent(1, {.12, .16}, {0, 0}));  // .2 away: force 10 along (.6, .8)
  play_options(game, {kNone, kNone, kNone});
  CHECK(game.velocity(0).x == Approx(-.6));
  CHECK(game.velocity(0).y == Approx(-.8));
  CHECK(game.velocity(1).x == Approx(.6));
  CHECK(game.position(1).y == Approx(.16 + .08));
  CHECK(game.velocity(2).x == 0.0);
  REQUIRE(game.set_agent(0, {1, 1}, {0, 0}));
  REQUIRE(game.set_agent(1, {1, 1}, {0, 0}));  // the same place
  play_options(game, {kNone, kNone, kNone});
  CHECK(game.velocity(0).x == Approx(3.0));
  CHECK(game.velocity(1).x == Approx(-3.0));
}

TEST_CASE("simple_spread: rewards of both conventions", "[games]") {
  // Agents 0 and 1 stay in touch during the step; landmark distances 1, 1 and that to agent 2.
  for (const SpreadReward reward : {SpreadReward::kSharedSum, SpreadReward::kLocalRatio}) {
    SpreadConfig config;
    config.reward = reward;
    SimpleSpread game = spread_out(config);
    REQUIRE(game.set_agent(1, {.29, 0}, {-1.5, 0}));
    REQUIRE(game.set_agent(0, {0, 0}, {1.5, 0}));
    const auto outcome = play_options(game, {kNone, kNone, kNone});
    const double between = game.position(1).x - game.position(0).x;
    REQUIRE(std::abs(between) < .3);
    const auto nearest = [&game](std::size_t l) {
      double least = 1e9;
      for (std::size_t i = 0; i < 3; ++i)
        least = std::min(least, std::hypot(game.position(i).x - game.landmark(l).x,
                                           game.position(i).y - game.landmark(l).y));
      return least;
    };
    const double cover = nearest(0) + nearest(1) + nearest(2);
    if (reward == SpreadReward::kSharedSum) {
      CHECK(outcome.team_reward == Approx(-3 * cover - 3 - 2));
      for (const float own : game.rewards()) CHECK(own == outcome.team_reward);
    } else {
      CHECK(game.rewards()[0] == Approx(-.5 * cover - .5));
      CHECK(game.rewards()[1] == Approx(-.5 * cover - .5));
      CHECK(game.rewards()[2] == Approx(-.5 * cover));
      CHECK(outcome.team_reward == Approx(-.5 * cover - 1.0 / 3));
    }
  }
}

TEST_CASE("simple_spread: observation, state, length of an episode", "[games]") {
  SimpleSpread game;
  REQUIRE(game.reset(9));
  CHECK(game.shape() == mara::GameShape{3, 18, 54, mara::ActionShape::discrete(5)});
  play_options(game, {kRight, kUp, kDown});
  const auto rows = observations(game);
  CHECK(state_of_game(game) == rows);
  for (std::size_t i = 0; i < 3; ++i) {
    const float* row = rows.data() + 18 * i;
    CHECK(row[0] == static_cast<float>(game.velocity(i).x));
    CHECK(row[1] == static_cast<float>(game.velocity(i).y));
    CHECK(row[2] == static_cast<float>(game.position(i).x));
    CHECK(row[3] == static_cast<float>(game.position(i).y));
    for (std::size_t l = 0; l < 3; ++l) {
      CHECK(row[4 + 2 * l] == Approx(game.landmark(l).x - game.position(i).x).margin(1e-6));
      CHECK(row[5 + 2 * l] == Approx(game.landmark(l).y - game.position(i).y).margin(1e-6));
    }
    std::size_t column = 10;
    for (std::size_t j = 0; j < 3; ++j) {
      if (j == i) continue;
      CHECK(row[column++] == Approx(game.position(j).x - game.position(i).x).margin(1e-6));
      CHECK(row[column++] == Approx(game.position(j).y - game.position(i).y).margin(1e-6));
    }
    for (; column < 18; ++column) CHECK(row[column] == 0.0f);
  }
  for (int t = 1; t < 25; ++t) {
    const auto outcome = play_options(game, {kNone, kNone, kNone});
    CHECK_FALSE(outcome.terminated);
    CHECK(outcome.truncated == (t == 24));
  }
  CHECK(SimpleSpread({5}).shape().observation == 30);
  CHECK(SimpleSpread({1}).shape().observation == 6);
  SimpleSpread alone({1});
  REQUIRE(alone.reset(2));
  CHECK(play_options(alone, {kNone}).team_reward < -1.0f);  // it touches itself
}

TEST_CASE("simple_spread: bad numbers are refused by name", "[games]") {
  const auto message = [](SpreadConfig config) { return SimpleSpread(config).reset(1).error().message; };
  CHECK(message({0}).find("agents = 0") != std::string::npos);
  CHECK(message({3, 0}).find("steps = 0") != std::string::npos);
  CHECK(message({3, 25, -1}).find("landmark_range = -1") != std::string::npos);
  CHECK(message({3, 25, 1, SpreadReward::kLocalRatio, 2}).find("local_ratio = 2") != std::string::npos);
  SimpleSpread game = spread_out();
  CHECK_FALSE(game.set_agent(3, {0, 0}, {0, 0}));
  CHECK_FALSE(game.set_agent(0, {0, std::nan("")}, {0, 0}));
  CHECK_FALSE(game.set_landmark(0, {std::numeric_limits<double>::infinity(), 0}));
}

TEST_CASE("simple_spread: mean returns of known policies", "[games]") {
  SpreadConfig local;
  local.reward = SpreadReward::kLocalRatio;
  SpreadConfig closer;
  closer.landmark_range = .8;
  constexpr int kEpisodes = 8000;
  check_mean(returns_of(Who::kRandom, {}, kEpisodes), -231.5, .4);
  check_mean(returns_of(Who::kStill, {}, kEpisodes), -217.5, .4);
  check_mean(returns_of(Who::kRandom, local, kEpisodes), -26.1, .05);
  check_mean(returns_of(Who::kStill, local, kEpisodes), -23.8, .05);
  check_mean(returns_of(Who::kRandom, closer, kEpisodes), -218.7, .4);
  check_mean(returns_of(Who::kHeuristic, {}, kEpisodes), -121.1, .4);
  check_mean(returns_of(Who::kHeuristic, local, kEpisodes), -7.7, .05);
  check_mean(returns_of(Who::kHeuristic, closer, kEpisodes), -118.1, .4);
}
