// Value learners on games of one and two steps whose fixed points under uniform exploration are known.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/environment/congestion_game.hpp"
#include "mara/environment/two_step_game.hpp"
#include "q_learning_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Table = std::vector<double>;

template <class M>
std::unique_ptr<QTrainer<M>> trained(const QLearningConfig& config, const GameMaker& make,
                                     std::int64_t env_steps) {
  auto trainer = QTrainer<M>::create(config, make).value();
  train(*trainer, env_steps);
  return trainer;
}

/// Q_tot of all joint options of two agents with three options in a matrix game.
template <class Trainer>
Table table_of(const Trainer& trainer) {
  Table table;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) table.push_back(team_value(trainer, {1, 1}, {1}, {a, b}));
  return table;
}
double distance(const Table& x, const Table& y) {
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::fabs(x[i] - y[i]));
  return worst;
}
template <class Trainer>
double value_distance(const Trainer& trainer, const Table& expected, std::size_t agents) {
  const std::vector<float> values = agent_values(trainer, std::vector<float>(agents, 1.0f));
  return distance(Table(values.begin(), values.end()), expected);
}

QLearningConfig two_step_config(std::uint64_t seed) {
  QLearningConfig config = small_q_config(seed);
  config.environments = 4;
  config.collect_steps = 2;
  config.replay_pieces = 20000;
  config.learning_start = 512;
  return config;
}
const std::vector<float> kAt1{1, 0, 0, 1, 0, 0}, kAt2A{0, 1, 0, 0, 1, 0}, kAt2B{0, 0, 1, 0, 0, 1};

/// Q_tot of the two-step game in state 2B, then 2A (A, A), then of A and B in state 1.
template <class Trainer>
Table two_step_values(const Trainer& trainer) {
  const auto row = [](const std::vector<float>& both) {
    return std::vector<float>(both.begin(), both.begin() + 3);
  };
  Table table;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) table.push_back(team_value(trainer, kAt2B, row(kAt2B), {a, b}));
  table.push_back(team_value(trainer, kAt2A, row(kAt2A), {0, 0}));
  for (int a = 0; a < 2; ++a) table.push_back(team_value(trainer, kAt1, row(kAt1), {a, 0}));
  return table;
}

}  // namespace

TEST_CASE("two-step game: QMIX finds 8, sums and independent learners stop at 7", "[learning]") {
  if (kSanitized) return;
  const GameMaker make = maker_of(TwoStepGame());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    const auto qmix = trained<critic::MonotonicMixing>(two_step_config(seed), make, 32000);
    CHECK(greedy_return(*qmix, make) == 8.0);
    CHECK(distance(two_step_values(*qmix), {0, 1, 1, 8, 7, 6.93, 7.92}) < 0.1);
    const auto vdn = trained<critic::SumMixing>(two_step_config(seed), make, 20000);
    CHECK(greedy_return(*vdn, make) == 7.0);
    CHECK(distance(two_step_values(*vdn), {-1.5, 2.5, 2.5, 6.5, 7, 6.93, 6.435}) < 0.75);
    const auto iql = trained<critic::NoMixing>(two_step_config(seed), make, 20000);
    CHECK(greedy_return(*iql, make) == 7.0);

    const std::vector<float> second = agent_values(*iql, kAt2B), first = agent_values(*iql, kAt1);
    CHECK(distance({second[0], second[1], second[2], second[3], first[0], first[1]},
                   {0.5, 4.5, 0.5, 4.5, 6.93, 4.455}) < 0.75);
  }
}

TEST_CASE("a matrix that no monotone mixer represents", "[learning]") {
  if (kSanitized) return;
  const GameMaker make = maker_of(MatrixGame::qtran_matrix());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config = matrix_config(seed);
    const auto vdn = trained<critic::SumMixing>(config, make, 40000);
    CHECK(greedy_return(*vdn, make) == 0.0);
    CHECK(distance(table_of(*vdn),
                   {-6.2222, -4.8889, -4.8889, -4.8889, -3.5556, -3.5556, -4.8889, -3.5556, -3.5556}) < 0.75);
    QLearningConfig exact = config;  // a table within .1 needs many samples of each cell
    exact.environments = 64;
    exact.replay_pieces = 200000;
    const auto qmix = trained<critic::MonotonicMixing>(exact, make, 192000);
    const Table table = table_of(*qmix);
    const double local = distance(table, {-8, -8, -8, -8, 0, 0, -8, 0, 0}),
                 best = distance(table, {8, -6, -6, -6, -6, -6, -6, -6, -6});
    CHECK(std::min(local, best) < 0.1);
    const auto optimistic = trained<critic::OptimisticMixing>(config, make, 40000);
    CHECK(greedy_return(*optimistic, make) == 8.0);
    CHECK(std::fabs(team_value(*optimistic, {1, 1}, {1}, {0, 0}) - 8.0) < 0.5);
  }
}

TEST_CASE("climbing and penalty: independent learners at uniform exploration", "[learning]") {
  if (kSanitized) return;
  const GameMaker climbing = maker_of(MatrixGame::climbing()), penalty = maker_of(MatrixGame::penalty(-25));
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config = matrix_config(seed);
    const auto iql = trained<critic::NoMixing>(config, climbing, 40000);
    CHECK(value_distance(*iql, {-6.3333, -5.6667, 1.6667, -6.3333, -7.6667, 3.6667}, 2) < 1.0);
    CHECK(greedy_return(*iql, climbing) == 5.0);
    const auto vdn = trained<critic::SumMixing>(config, climbing, 40000);
    CHECK(greedy_return(*vdn, climbing) == 5.0);
    CHECK(std::fabs(team_value(*vdn, {1, 1}, {1}, {2, 2}) - 8.7778) < 1.0);
    const auto careful = trained<critic::NoMixing>(config, penalty, 40000);
    CHECK(value_distance(*careful, {-5, 0.6667, -5, -5, 0.6667, -5}, 2) < 1.0);
    CHECK(greedy_return(*careful, penalty) == 2.0);
    const auto sum = trained<critic::SumMixing>(config, penalty, 40000);
    CHECK(std::fabs(team_value(*sum, {1, 1}, {1}, {1, 1}) - 4.4444) < 1.0);
  }
}

TEST_CASE("a nearly monotone matrix", "[learning]") {
  if (kSanitized) return;
  const GameMaker make = maker_of(MatrixGame::nearly_monotone_matrix());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    const auto qmix = trained<critic::MonotonicMixing>(matrix_config(seed), make, 40000);
    CHECK(std::fabs(greedy_return(*qmix, make) - 12.0) < 1e-6);
    CHECK(distance(table_of(*qmix), {12, -0.1, -0.1, -0.1, 0, 0, -0.1, 0, 0}) < 0.25);
    const auto vdn = trained<critic::SumMixing>(matrix_config(seed), make, 40000);
    CHECK(std::fabs(greedy_return(*vdn, make) - 12.0) < 1e-6);
    CHECK(std::fabs(team_value(*vdn, {1, 1}, {1}, {0, 0}) - 6.5778) < 0.75);
  }
}

TEST_CASE("allocation game: three agents share a capacity", "[learning]") {
  if (kSanitized) return;
  const GameMaker make = maker_of(MatrixGame::allocation_game());
  const std::vector<float> seen{1, 1, 1};
  std::string stops;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    const auto iql = trained<critic::NoMixing>(matrix_config(seed), make, 40000);
    CHECK(value_distance(*iql, {1.8889, 3.5556, 3.8889, 3.5556, 4.2222, 1.5556, 3.8889, 3.5556, 1.8889}, 3) <
          0.3);
    CHECK(greedy_return(*iql, make) == 8.0);
    const auto vdn = trained<critic::SumMixing>(matrix_config(seed), make, 40000);
    CHECK(greedy_return(*vdn, make) == 8.0);
    CHECK(std::fabs(team_value(*vdn, seen, {1}, {2, 1, 0}) - 5.7778) < 0.3);
    // Exploring less and less, independent learners stop at any of the pure equilibria.
    QLearningConfig fading = matrix_config(seed);
    fading.replay_pieces = 2000;
    fading.epsilon = EpsilonSchedule::linear(1.0, 0.05, 20000);
    const double stop = greedy_return(*trained<critic::NoMixing>(fading, make, 40000), make);
    CHECK((stop == 8.0 || stop == 7.0 || stop == 6.0 || stop == 5.0 || stop == 4.0 || stop == 3.0));
    stops += " " + std::to_string(static_cast<int>(stop));
    CHECK(greedy_return(*trained<critic::MonotonicMixing>(fading, make, 40000), make) >= 7.0);
  }
  WARN("allocation game: returns at which independent learners stopped:" << stops);
}

TEST_CASE("congestion: selfish agents crowd the link, a team shares it (B12)", "[learning]") {
  if (kSanitized) return;
  const GameMaker make = [](int) { return AnyGame(CongestionGame(10)); };
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config = small_q_config(seed);
    config.environments = 4;
    config.replay_pieces = 2000;
    config.batch = 32;
    config.learning_rate = 2e-3;
    config.team.network.hidden = {16};
    config.epsilon = EpsilonSchedule::linear(1.0, 0.02, 10000);
    const double shared = -greedy_return(*trained<critic::NoMixing>(config, make, 20000), make);
    const double sum = -greedy_return(*trained<critic::SumMixing>(config, make, 20000), make);
    config.reward = RewardKind::kIndividual;
    const double selfish = -greedy_return(*trained<critic::NoMixing>(config, make, 20000), make);
    CHECK(selfish >= 9.1 - 1e-5);  // the equilibria: 9 or 10 users
    CHECK(shared < 7.6 + 1e-5);    // 5 users are best, 4 or 6 cost 7.6
    CHECK(sum < 7.6 + 1e-5);
  }
}
