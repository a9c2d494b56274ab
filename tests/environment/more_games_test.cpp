#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "learning/tiny_games.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/any_game.hpp"
#include "mara/environment/chain_game.hpp"
#include "mara/environment/congestion_game.hpp"
#include "mara/environment/environment_game.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/pendulum_game.hpp"
#include "mara/environment/switch_riddle.hpp"
#include "toy_game_helpers.hpp"

using namespace mara::test;
using mara::ChainConfig;
using mara::ChainGame;
using mara::SwitchAction;
using mara::SwitchDay;
using mara::SwitchRiddle;

namespace {

/// Whoever is in the room on day 0 is marked; later an unmarked visitor switches the lamp on, or tells if it
/// is on.
std::array<double, 3> protocol(std::size_t, std::span<const SwitchDay> days) {
  const SwitchDay& today = days.back();
  bool marked = days.size() == 1;
  for (std::size_t t = 0; t + 1 < days.size(); ++t) marked = marked || days[t].in_room;
  if (marked) return {1, 0, 0};
  return today.lamp ? std::array<double, 3>{0, 0, 1} : std::array<double, 3>{0, 1, 0};
}

/// Mean reward of a policy in the game itself.
template <class Policy>
Sample play_riddle(std::size_t agents, Policy policy, int episodes) {
  SwitchRiddle game(agents);
  mara::Random random(8);
  Sample sample;
  for (int episode = 0; episode < episodes; ++episode) {
    REQUIRE(game.reset(static_cast<std::uint64_t>(episode)));
    std::vector<std::vector<SwitchDay>> seen(agents);
    for (mara::StepOutcome outcome; !outcome.terminated;) {
      const auto rows = observations(game);
      std::vector<std::int32_t> options(agents, 2);  // what those outside choose must not matter
      for (std::size_t i = 0; i < agents; ++i) {
        seen[i].push_back({rows[2 * i] == 1.0f, rows[2 * i + 1] == 1.0f});
        if (!seen[i].back().in_room) continue;
        const std::array<double, 3> p = policy(i, std::span<const SwitchDay>(seen[i]));
        options[i] = random.categorical(p);
        seen[i].back().action = static_cast<SwitchAction>(options[i]);
      }
      outcome = play_options(game, options);
      REQUIRE_FALSE(outcome.truncated);
      if (outcome.terminated) sample.add(static_cast<double>(outcome.team_reward));
    }
  }
  return sample;
}

}  // namespace

TEST_CASE("switch riddle: exact values by enumeration", "[games]") {
  const auto uniform = [](std::size_t, std::span<const SwitchDay>) {
    return std::array<double, 3>{1.0 / 3, 1.0 / 3, 1.0 / 3};
  };
  CHECK(*mara::switch_riddle_value(3, protocol) == Approx(20.0 / 27).epsilon(1e-12));
  CHECK(*mara::switch_riddle_value(3, uniform) == Approx(-1339.0 / 2187).epsilon(1e-12));
  const auto idle = [](std::size_t, std::span<const SwitchDay>) { return std::array<double, 3>{1, 0, 0}; };
  CHECK(*mara::switch_riddle_value(4, idle) == 0.0);
  const auto rash = [](std::size_t, std::span<const SwitchDay>) { return std::array<double, 3>{0, 0, 1}; };
  CHECK(*mara::switch_riddle_value(2, rash) == -1.0);
  // Two agents, two days: telling on day 1 is right when the other one came on day 0.
  const auto second_day = [](std::size_t, std::span<const SwitchDay> days) {
    return days.size() == 2 && !days[0].in_room ? std::array<double, 3>{0, 0, 1}
                                                : std::array<double, 3>{1, 0, 0};
  };
  CHECK(*mara::switch_riddle_value(2, second_day) == Approx(.5));
  CHECK(mara::switch_riddle_value(5, idle).error().message.find("agents = 5") != std::string::npos);

  const Sample told = play_riddle(3, protocol, 6000), random = play_riddle(3, uniform, 6000);
  CHECK(std::abs(told.mean() - 20.0 / 27) < 3 * told.error());
  CHECK(std::abs(random.mean() + 1339.0 / 2187) < 3 * random.error());
}

TEST_CASE("switch riddle: rules", "[games]") {
  SwitchRiddle game(4);
  CHECK(game.shape() == mara::GameShape{4, 2, 10, mara::ActionShape::discrete(3)});
  REQUIRE(game.reset(2));
  int days = 0;
  std::vector<bool> been(4);
  bool lamp = false;
  for (mara::StepOutcome outcome; !outcome.terminated; ++days) {
    been[game.visitor()] = true;
    const auto rows = observations(game), state = state_of_game(game);
    for (std::size_t i = 0; i < 4; ++i) {
      const bool here = i == game.visitor();
      CHECK(game.mask(i, 0) == (here ? 7u : 1u));
      CHECK(rows[2 * i] == (here ? 1.0f : 0.0f));
      CHECK(rows[2 * i + 1] == (here && lamp ? 1.0f : 0.0f));
      CHECK(state[i] == (been[i] ? 1.0f : 0.0f));
      CHECK(state[4 + i] == (here ? 1.0f : 0.0f));
    }
    CHECK(state[8] == (lamp ? 1.0f : 0.0f));
    CHECK(state[9] == Approx(days / 10.0));
    outcome = play_options(game, {1, 1, 1, 1});  // one toggle, whoever is there
    lamp = !lamp;
    CHECK(outcome.team_reward == 0.0f);
  }
  CHECK(days == 10);
  CHECK(SwitchRiddle(1).reset(1).error().message.find("agents = 1") != std::string::npos);
}

TEST_CASE("chain: exact values, shaping leaves the best policy", "[games]") {
  const auto best = ChainGame::optimal_values();
  const double expected[4][2] = {{2, 1.824}, {1.9, 1.7328}, {1.805, 1.64616}, {1.71475, 1.1258024}};
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t a = 0; a < 2; ++a) CHECK(best[s][a] == Approx(expected[s][a]).margin(5e-6));
  const auto uniform = ChainGame::policy_values({.5, .5, .5, .5});
  const double values[4] = {.677515, .635083, .665606, .79134};
  for (std::size_t s = 0; s < 4; ++s)
    CHECK((uniform[s][0] + uniform[s][1]) / 2 == Approx(values[s]).margin(1e-6));
  ChainConfig shaped;
  shaped.shaped = true;
  const auto q = ChainGame::optimal_values(shaped);
  const auto q_uniform = ChainGame::policy_values({.5, .5, .5, .5}, shaped);
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t a = 0; a < 2; ++a) {
      CHECK(q[s][a] == Approx(best[s][a] - shaped.potential[s]).epsilon(1e-10));
      CHECK(q_uniform[s][a] == Approx(uniform[s][a] - shaped.potential[s]).epsilon(1e-10));
    }
}

TEST_CASE("chain: what is played is what is solved", "[games]") {
  // Discounted sums telescope: shaped = unshaped + gamma^T Phi(final) - Phi(0), Phi(final) = 0 at
  // termination.
  ChainConfig config;
  config.shaped = true;
  config.potential = {.3, .25, .5, .75};
  config.steps = 12;
  ChainGame game(config);
  mara::Random random(3);
  int terminated = 0, truncated = 0, tried = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    REQUIRE(game.reset(seed));
    double shaped = 0, plain = 0, undiscounted = 0, weight = 1;
    for (mara::StepOutcome outcome; !outcome.terminated && !outcome.truncated; weight *= config.discount) {
      const std::size_t from = game.state();
      const auto option = static_cast<std::int32_t>(random.uniform() < .7);
      REQUIRE(observations(game)[from] == 1.0f);
      outcome = play_options(game, {option});
      const std::size_t to = game.state();
      if (option == 0) {
        REQUIRE(to == (from == 0 ? 0 : from - 1));
        REQUIRE(game.unshaped_reward() == (from == 0 ? .1 : 0.0));
      } else {
        ++tried;
        moved += to == from + 1 ? 1 : 0;
        REQUIRE((to == from || to == from + 1));
        REQUIRE(game.unshaped_reward() == (to == 4 ? 1.0 : 0.0));
      }
      REQUIRE(outcome.terminated == (to == 4));
      shaped += weight * static_cast<double>(outcome.team_reward);
      plain += weight * game.unshaped_reward();
      undiscounted += game.unshaped_reward();
      (outcome.terminated ? terminated : truncated) += outcome.terminated || outcome.truncated ? 1 : 0;
    }
    const double last = game.state() == 4 ? 0.0 : config.potential[game.state()];
    REQUIRE(shaped == Approx(plain + weight * last - .3).margin(1e-6));
    REQUIRE(game.unshaped_return() == Approx(undiscounted));
  }
  CHECK(terminated > 100);
  CHECK(truncated > 100);
  CHECK(std::abs(moved - .8 * tried) < 4 * std::sqrt(.16 * tried));
}

TEST_CASE("chain: without shaping rewards are the plain ones; bad configurations", "[games]") {
  ChainGame game;
  REQUIRE(game.reset(1));
  CHECK(play_options(game, {0}).team_reward == .1f);
  ChainConfig config;
  config.steps = 0;
  CHECK(ChainGame(config).reset(1).error().message.find("steps = 0") != std::string::npos);
  config = {};
  config.discount = 1;
  CHECK(ChainGame(config).reset(1).error().message.find("discount = 1") != std::string::npos);
  config = {};
  config.potential[2] = std::nan("");
  CHECK(ChainGame(config).reset(1).error().message.find("potential[2]") != std::string::npos);
}

TEST_CASE("congestion: totals, own costs, optimum and equilibria", "[games]") {
  mara::CongestionGame game;
  double least = 1e9;
  std::size_t at = 99;
  std::vector<std::size_t> equilibria;
  for (std::size_t users = 0; users <= 10; ++users) {
    REQUIRE(game.reset(1));
    std::vector<std::int32_t> options(10, 1);
    std::fill_n(options.begin(), users, 0);
    const auto outcome = play_options(game, options);
    const double total = mara::CongestionGame::total_cost(users);
    CHECK(outcome.team_reward == Approx(-total));
    CHECK(outcome.terminated);
    CHECK(game.users() == users);
    double sum = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK(game.rewards()[i] == Approx(i < users ? -static_cast<double>(users) / 10 : -1.0));
      sum += static_cast<double>(game.rewards()[i]);
    }
    CHECK(sum == Approx(-total));
    if (total < least) least = total, at = users;
    // Nobody gains by changing: users pay at most 1, the others would pay at least 1.
    const bool stay = users == 0 || static_cast<double>(users) / 10 <= 1.0;
    const bool keep_off = users == 10 || static_cast<double>(users + 1) / 10 >= 1.0;
    if (stay && keep_off) equilibria.push_back(users);
  }
  CHECK(least == Approx(7.5));
  CHECK(at == 5);
  CHECK(equilibria == std::vector<std::size_t>{9, 10});
  CHECK(mara::CongestionGame::total_cost(9) == Approx(9.1));
  CHECK(mara::CongestionGame::total_cost(10) == Approx(10.0));
  CHECK(mara::CongestionGame(0).reset(1).error().message.find("agents = 0") != std::string::npos);
}

TEST_CASE("identity: doing what is seen pays 1 a step, for any action space", "[games]") {
  mara::ActionShape hybrid;
  hybrid.heads = {3, 5};
  hybrid.box = {{-2.0f, 4.0f}};
  for (const mara::ActionShape& action :
       {mara::ActionShape::discrete(4), mara::ActionShape::multi_discrete({2, 7}),
        mara::ActionShape::numbers_within({{-1.0f, 1.0f}, {0.0f, 9.0f}}), hybrid}) {
    mara::IdentityGame game({action, 100, .05f});
    CHECK(game.shape().observation == action.outputs());
    REQUIRE(game.reset(6));
    double right = 0, wrong = 0;
    int steps = 0;
    std::vector<float> before;
    int changes = 0;
    for (mara::StepOutcome outcome; !outcome.truncated; ++steps) {
      const auto row = observations(game);
      REQUIRE(row == state_of_game(game));
      changes += row != before ? 1 : 0;
      before = row;
      std::vector<std::int32_t> options;
      std::vector<float> numbers;
      const float* at = row.data();
      for (const int count : action.heads) {
        options.push_back(static_cast<std::int32_t>(std::find(at, at + count, 1.0f) - at));
        REQUIRE(options.back() < count);
        at += count;
      }
      for (const auto bounds : action.box) {
        REQUIRE(*at >= bounds.low);
        REQUIRE(*at <= bounds.high);
        numbers.push_back(*at++);
      }
      if (steps % 2 == 1 && !options.empty()) options.back() = options.back() == 0 ? 1 : 0;
      if (steps % 2 == 1 && options.empty()) numbers.back() += numbers.back() > 4 ? -.06f : .06f;
      game.choose(0, options.data(), numbers.data());
      outcome = game.step();
      REQUIRE_FALSE(outcome.terminated);
      (steps % 2 == 0 ? right : wrong) += static_cast<double>(outcome.team_reward);
    }
    CHECK(steps == 100);
    CHECK(right == 50.0);
    CHECK(wrong == 0.0);
    CHECK(changes > 40);
  }
  CHECK_FALSE(mara::IdentityGame({mara::ActionShape{}, 100, .05f}).reset(1));
  CHECK_FALSE(mara::IdentityGame({mara::ActionShape::discrete(2), 0, .05f}).reset(1));
  CHECK_FALSE(mara::IdentityGame({mara::ActionShape::discrete(2), 5, std::nanf("")}).reset(1));
}

TEST_CASE("pendulum: the batch's dynamics, 200 steps", "[games]") {
  mara::PendulumGame game;
  CHECK(observations(game) == std::vector<float>{0, 0, 0});
  REQUIRE(game.reset(3));
  mara::Pendulum batch(1, 3);
  mara::Random random(1);
  int steps = 0;
  for (mara::StepOutcome outcome; !outcome.truncated; ++steps) {
    const auto torque = static_cast<float>(random.uniform(-2, 2));
    std::vector<float> row(3);
    batch.observe(row.data());
    REQUIRE(observations(game) == row);
    REQUIRE(state_of_game(game) == row);
    float reward = 0;
    REQUIRE(batch.step(&torque, &reward));
    outcome = play_numbers(game, {torque});
    REQUIRE(outcome.team_reward == reward);
    REQUIRE(game.rewards()[0] == reward);
    REQUIRE_FALSE(outcome.terminated);
  }
  CHECK(steps == 200);
  REQUIRE(game.reset(3));
  REQUIRE(game.set_state(0, 0));
  CHECK(play_numbers(game, {50.0f}).team_reward == Approx(-.004));  // the torque is cut to 2
  CHECK(game.pendulum().omega(0) == Approx(.3));
}

TEST_CASE("an environment as a game: the same play", "[games]") {
  SeatGame plain(true, .1);
  mara::EnvironmentGame<SeatGame> game(SeatGame(true, .1), 3);
  static_assert(mara::Game<mara::EnvironmentGame<SeatGame>>);
  CHECK(game.shape() == mara::GameShape{3, 4, 4, mara::ActionShape::discrete(3)});
  CHECK_FALSE(game.present(0));
  mara::Random random(2);
  int absent = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    REQUIRE(plain.reset(seed));
    REQUIRE(game.reset(seed));
    for (mara::StepOutcome outcome; !outcome.terminated;) {
      const std::size_t n = plain.agents();
      std::vector<float> rows(12, 0.0f);
      plain.observe(rows.data());
      REQUIRE(observations(game) == rows);
      for (std::size_t slot = 0; slot < 3; ++slot) {
        REQUIRE(game.present(slot) == (slot < n));
        REQUIRE(game.arrived(slot) == (slot < n));
        absent += slot < n ? 0 : 1;
      }
      REQUIRE(std::equal(game.turn_order().begin(), game.turn_order().end(), plain.turn_order().begin(),
                         plain.turn_order().end()));
      for (const std::uint32_t slot : plain.turn_order()) {
        REQUIRE(game.mask(slot, 0) == plain.mask(slot));
        const auto option = static_cast<std::int32_t>(random.below(3));
        plain.act(slot, option);
        game.choose(slot, &option, nullptr);
      }
      const auto expected = plain.step();
      outcome = game.step();
      REQUIRE(outcome.team_reward == expected.team_reward);
      REQUIRE(outcome.terminated == expected.terminated);
      REQUIRE(game.rewards().size() == 3);
      for (std::size_t slot = 0; slot < 3; ++slot)
        REQUIRE(game.rewards()[slot] == (slot < n ? plain.rewards()[slot] : 0.0f));
    }
    CHECK(game.step().terminated);
  }
  CHECK(absent > 20);
}

TEST_CASE("an environment as a game: more agents than slots", "[games]") {
  mara::EnvironmentGame<SeatGame> always(SeatGame(), 2);
  CHECK(always.reset(1).error().message.find("3 agents, only 2 slots") != std::string::npos);
  CHECK_FALSE(always.present(0));
  CHECK_FALSE(always.reset(1));  // every time

  mara::EnvironmentGame<SeatGame> sometimes(SeatGame(true), 2);
  std::uint64_t seed = 1;
  while (!sometimes.reset(seed)) ++seed;
  mara::StepOutcome outcome;
  for (int step = 0; step < 1000 && !outcome.truncated; ++step) {
    CHECK(sometimes.status());
    outcome = play_options(sometimes, {0, 1});
  }
  REQUIRE(outcome.truncated);
  CHECK_FALSE(outcome.terminated);
  CHECK_FALSE(sometimes.present(0));
  CHECK(sometimes.turn_order().empty());
  CHECK(sometimes.rewards()[0] == 0.0f);
  CHECK(observations(sometimes) == std::vector<float>(8, 0.0f));
  CHECK_FALSE(sometimes.status());
  CHECK(sometimes.reset(seed).error().code == mara::ErrorCode::kCapacityExceeded);
  CHECK(sometimes.reset(seed));  // said once
}

TEST_CASE("an environment as a game: errors and time limits pass through", "[games]") {
  using End = ConstantGame::End;
  mara::AnyGame game = mara::EnvironmentGame<ConstantGame>(ConstantGame(2.0f, End::kBoth, 3, 1.0f, 2), 4);
  CHECK(game.reset(0).error().message == "no episode has this seed");
  REQUIRE(game.reset(1));
  CHECK(observations(game) == std::vector<float>{1, 1, 0, 0});
  play_options(game, {0, 0, 0, 0});
  play_options(game, {0, 0, 0, 0});
  const auto outcome = play_options(game, {0, 0, 0, 0});
  CHECK(outcome.terminated);
  CHECK(outcome.truncated);
  CHECK(game.rewards()[1] == 2.0f);
  CHECK(game.rewards()[2] == 0.0f);

  mara::EnvironmentGame<Corridor> corridor(Corridor(), 1);
  REQUIRE(corridor.reset(1));
  for (int step = 0; step < 3; ++step) CHECK(play_options(corridor, {1}).team_reward == 0.0f);
  CHECK(play_options(corridor, {1}).team_reward == 1.0f);
  CHECK(corridor.environment().agents() == 1);
}
