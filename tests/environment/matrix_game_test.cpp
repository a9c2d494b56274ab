#include "mara/environment/matrix_game.hpp"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/environment/any_game.hpp"
#include "toy_game_helpers.hpp"

using mara::MatrixGame;
using namespace mara::test;

namespace {

void check_table(const MatrixGame& game, const std::vector<double>& table) {
  REQUIRE(game.payoffs().size() == table.size());
  for (std::size_t i = 0; i < table.size(); ++i) CHECK(game.payoffs()[i] == Approx(table[i]));
}

}  // namespace

TEST_CASE("matrix games: the published tables", "[games]") {
  check_table(MatrixGame::climbing(), {11, -30, 0, -30, 7, 6, 0, 0, 5});
  check_table(MatrixGame::penalty(-25), {-25, 0, 10, 0, 2, 0, 10, 0, -25});
  check_table(MatrixGame::penalty(0), {0, 0, 10, 0, 2, 0, 10, 0, 0});
  check_table(MatrixGame::qtran_matrix(), {8, -12, -12, -12, 0, 0, -12, 0, 0});
  check_table(MatrixGame::nearly_monotone_matrix(), {12, -.1, -.1, -.1, 0, 0, -.1, 0, 0});
  CHECK(MatrixGame::penalty(std::numeric_limits<float>::quiet_NaN()).payoffs()[0] == 0.0f);
}

TEST_CASE("allocation game: optimum, mean, means per option, equilibria", "[games]") {
  const MatrixGame game = MatrixGame::allocation_game();
  double mean = 0;
  std::array<std::array<double, 3>, 3> means{};
  std::vector<float> equilibria;
  std::vector<std::int32_t> best;
  float most = -100;
  for (std::int32_t cell = 0; cell < 27; ++cell) {
    const std::vector<std::int32_t> joint{cell / 9, cell / 3 % 3, cell % 3};
    const float payoff = game.payoff(joint);
    mean += payoff / 27.0;
    bool equilibrium = true;
    for (std::size_t i = 0; i < 3; ++i) {
      means[i][static_cast<std::size_t>(joint[i])] += payoff / 9.0;
      for (std::int32_t other = 0; other < 3; ++other) {
        auto changed = joint;
        changed[i] = other;
        equilibrium = equilibrium && game.payoff(changed) <= payoff;
      }
    }
    if (equilibrium) equilibria.push_back(payoff);
    if (payoff > most) most = payoff, best = joint;
  }
  CHECK(mean == Approx(3.1111111));
  CHECK(most == 8.0f);
  CHECK(best == std::vector<std::int32_t>{2, 1, 0});
  CHECK(game.payoff(std::vector<std::int32_t>{2, 0, 1}) == 7.0f);
  const double expected[3][3] = {
      {1.8889, 3.5556, 3.8889}, {3.5556, 4.2222, 1.5556}, {3.8889, 3.5556, 1.8889}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t a = 0; a < 3; ++a) CHECK(means[i][a] == Approx(expected[i][a]).margin(5e-5));
  std::sort(equilibria.begin(), equilibria.end(), std::greater<>());
  CHECK(equilibria == std::vector<float>{8, 7, 6, 5, 5, 4, 3});
}

TEST_CASE("matrix games: one step, then terminated; everybody gets the payoff", "[games]") {
  mara::AnyGame game = MatrixGame::allocation_game();
  REQUIRE(game.reset(5));
  CHECK(game.shape() == mara::GameShape{3, 1, 1, mara::ActionShape::discrete(3)});
  CHECK(game.arrived(2));
  CHECK(observations(game) == std::vector<float>{1, 1, 1});
  const auto outcome = play_options(game, {2, 1, 0});
  CHECK(outcome.team_reward == 8.0f);
  CHECK(outcome.terminated);
  CHECK_FALSE(outcome.truncated);
  CHECK(std::vector<float>(game.rewards().begin(), game.rewards().end()) == std::vector<float>{8, 8, 8});
  CHECK_FALSE(game.arrived(2));
  CHECK(game.present(2));
  const auto again = game.step();  // nothing happens after the end
  CHECK(again.team_reward == 0.0f);
  CHECK(again.terminated);
  CHECK(game.rewards()[1] == 0.0f);
}

TEST_CASE("matrix games: choices outside the range count as the nearest, who does not choose takes option 0",
          "[games]") {
  MatrixGame game = MatrixGame::climbing();
  REQUIRE(game.reset(1));
  CHECK(play_options(game, {-7, 99}).team_reward == 0.0f);  // (A, C)
  REQUIRE(game.reset(1));
  CHECK(game.step().team_reward == 11.0f);
}

TEST_CASE("matrix games: agents with different numbers of options", "[games]") {
  auto made = MatrixGame::create({2, 3}, {1, 2, 3, 4, 5, 6});
  REQUIRE(made);
  MatrixGame game = *made;
  REQUIRE(game.reset(1));
  CHECK(game.shape().action.heads == std::vector<int>{3});
  CHECK(game.mask(0, 0) == 0b11u);
  CHECK(game.mask(1, 0) == 0b111u);
  CHECK(play_options(game, {1, 2}).team_reward == 6.0f);
  REQUIRE(game.reset(1));
  CHECK(play_options(game, {2, 0}).team_reward == 4.0f);  // forbidden: the last one
}

TEST_CASE("matrix games: bad tables are refused by name", "[games]") {
  const auto message = [](std::vector<int> options, std::vector<float> payoffs) {
    const auto made = MatrixGame::create(std::move(options), std::move(payoffs));
    return made ? std::string() : made.error().message;
  };
  CHECK(message({}, {}).find("agents = 0") != std::string::npos);
  CHECK(message({2, 33}, {}).find("options[1] = 33") != std::string::npos);
  CHECK(message({0}, {}).find("options[0] = 0") != std::string::npos);
  CHECK(message({2, 2}, {1, 2, 3}).find("payoffs = 3, the joint options are 4") != std::string::npos);
  CHECK(message(std::vector<int>(9, 32), {}).find("too many") != std::string::npos);
  CHECK(message({2}, {1, std::numeric_limits<float>::infinity()}).find("payoffs[1] = inf") !=
        std::string::npos);
}
