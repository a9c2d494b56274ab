// The PPO family on games with known answers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "catch.hpp"
#include "learning/team_ppo_helpers.hpp"
#include "mara/environment/chain_game.hpp"
#include "mara/environment/congestion_game.hpp"
#include "mara/environment/dynamic_allocation_game.hpp"
#include "mara/environment/joint_game.hpp"
#include "mara/environment/linear_quadratic_team.hpp"
#include "mara/environment/matrix_game.hpp"
#include "mara/environment/quadratic_team.hpp"
#include "mara/environment/two_step_game.hpp"
#include "mara/learning/exact_evaluation.hpp"
#include "sanitized.hpp"

using namespace mara;
using namespace mara::test;

namespace {
constexpr std::uint64_t kSeeds = 5;
}

TEST_CASE("team ppo: the two-step game is won by way of 2B", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = same_game(TwoStepGame());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    auto config = small_config<TeamMappoTrainer>();
    config.seed = seed;
    config.actor.agent_ids = true;
    config.critic.network.hidden = {32};
    config.entropy_initial = 0.1;
    const auto trainer = trained<TeamMappoTrainer>(config, make, 10'000);
    CAPTURE(seed);
    CHECK(evaluated(*trainer, make, 4) == Approx(8.0));
  }
}

TEST_CASE("team ppo: the allocation game, multi-agent and independent", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = same_game(MatrixGame::allocation_game());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    auto config = small_config<TeamMappoTrainer>();
    config.seed = seed;
    config.actor.groups = separate_groups(3);
    config.critic.network.hidden = {32};
    config.entropy_initial = 0.1;
    CHECK(evaluated(*trained<TeamMappoTrainer>(config, make, 10'000), make, 1) == Approx(8.0));
    // Independent learners may stop at any equilibrium, the worst of which pays 3.
    auto independent = small_config<IppoTrainer>();
    independent.seed = seed;
    independent.actor.groups = separate_groups(3);
    independent.critic.network.hidden = {32};
    independent.critic.separate = true;
    independent.entropy_initial = 0.1;
    const double reached = evaluated(*trained<IppoTrainer>(independent, make, 10'000), make, 1);
    std::printf("allocation game, independent, seed %d: %.0f\n", static_cast<int>(seed), reached);
    CHECK(reached >= 3.0);
  }
}

TEST_CASE("team ppo: one agent alone decides for all in the allocation game", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = [](int) {
    auto joint = JointGame::create(AnyGame(MatrixGame::allocation_game()), JointAction::kHeads);
    return AnyGame(std::move(joint.value()));
  };
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    auto config = small_config<IppoTrainer>();
    config.seed = seed;
    config.critic.network.hidden = {32};
    config.entropy_initial = 0.1;
    CHECK(evaluated(*trained<IppoTrainer>(config, make, 10'000), make, 1) == Approx(8.0));
  }
}

TEST_CASE("team ppo: dynamic allocation within 1 % of the best values", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  using Game = DynamicAllocationGame;
  const GameMaker make = same_game(Game());
  const Game::Values best = Game::optimal_values();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    auto config = small_config<TeamMappoTrainer>();
    config.seed = seed;
    config.rollout_steps = 64;
    config.minibatch_steps = 512;
    config.gamma = 0.9;
    config.actor.agent_ids = true;
    config.critic.network.hidden = {32};
    config.entropy_initial = 0.05, config.entropy_final = 0.0;
    const auto trainer = trained<TeamMappoTrainer>(config, make, 60'000);
    auto policy = trainer->policy(trainer->weights());
    const Game::Values values = dynamic_allocation_values(policy, Game().shape()).value();
    for (const std::size_t s : {std::size_t{0}, std::size_t{8}}) {
      CAPTURE(s, values[s], best[s]);
      CHECK(values[s] >= 1.01 * best[s]);
    }
  }
}

TEST_CASE("team ppo: the quadratic team with numbers", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = same_game(QuadraticTeam());
  for (const BoxKind kind : {BoxKind::kGaussian, BoxKind::kTanhGaussian})
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      auto config = small_config<TeamMappoTrainer>();
      config.seed = seed;
      config.box = kind;
      config.actor.groups = separate_groups(2);
      config.critic.network.hidden = {16};
      config.entropy_initial = config.entropy_final = 0.0;
      config.final_rate = 0.1;
      config.initial_log_std = -1.5;  // tanh bends the mean of a wide distribution away from its middle
      const auto trainer = trained<TeamMappoTrainer>(config, make, 20'000);
      auto policy = trainer->policy(trainer->weights());
      const double value = quadratic_team_value(policy, QuadraticTeam().shape()).value();
      CAPTURE(seed, static_cast<int>(kind), value);
      CHECK(value >= QuadraticTeam::kBestValue - 0.005);
    }
}

TEST_CASE("team ppo: the linear-quadratic team within 3 % of the best return", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  using Game = LinearQuadraticTeam;
  const GameMaker make = same_game(Game());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    auto config = small_config<TeamMappoTrainer>();
    config.seed = seed;
    config.rollout_steps = 128;
    config.minibatch_steps = 256;
    config.gamma = Game::kDiscount;
    config.lambda = 0.9;
    config.learning_rate = config.critic_learning_rate = 1e-3;
    config.episode_steps = 8;  // new starts often; values must not depend on it
    config.actor.groups = separate_groups(2);
    config.actor.network.activation = Activation::kTanh;
    config.critic.network.activation = Activation::kTanh;
    config.critic.network.hidden = {32};
    config.entropy_initial = config.entropy_final = 0.0;
    config.final_rate = 0.03;
    config.initial_log_std = -1.0, config.least_log_std = -1.6;
    const auto trainer = trained<TeamMappoTrainer>(config, make, 120'000);
    auto policy = trainer->policy(trainer->weights());
    const auto found = linear_quadratic_value(policy, Game().shape()).value();
    CAPTURE(seed, found.expected_return, found.closed_loop);
    CHECK(found.expected_return >= 1.03 * Game::kBestReturn);
    CHECK(std::abs(found.closed_loop - Game::closed_loop(Game::kBestGains[0], Game::kBestGains[1])) <= 0.05);
  }
}

TEST_CASE("team ppo: staying at home on the chain, with and without a potential", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  using Shaped = TeamPpoTrainer<critic::CentralisedValues, guidance::AuxiliaryReward<>>;
  const GameMaker make = same_game(ChainGame());
  const TeamGuidance source{.potential = [](const AnyGame& game, const GameFrame&) {
    constexpr std::array<float, 5> kPhi{0.0f, 0.25f, 0.5f, 0.75f, 0.0f};
    return kPhi[game.get<ChainGame>()->state()];
  }};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const bool shaped : {false, true}) {
      auto config = small_config<Shaped>();
      config.seed = seed;
      config.rollout_steps = 64;
      config.minibatch_steps = 512;
      config.gamma = 0.95;
      config.critic.network.hidden = {32};
      config.entropy_initial = 0.05, config.entropy_final = 0.0;
      guidance::AuxiliaryReward<> mode;
      mode.weight = shaped ? 1.0f : 0.0f;
      const auto trainer = trained<Shaped>(config, make, 60'000, nullptr, mode, source);
      auto policy = trainer->policy(trainer->weights());
      for (std::size_t s = 0; s < ChainGame::kInner; ++s) {
        std::array<float, ChainGame::kStates> seen{};
        seen[s] = 1.0f;
        CAPTURE(seed, shaped, s);
        CHECK(answer(policy, ChainGame().shape(), seen).value().options[0] == 0);
      }
    }
}

TEST_CASE("team ppo: selfish drivers crowd a road, a team does not", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = same_game(CongestionGame());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    for (const RewardKind kind : {RewardKind::kTeam, RewardKind::kIndividual}) {
      auto config = small_config<IppoTrainer>();
      config.seed = seed;
      config.rewards = kind;
      config.actor.groups = separate_groups(10);
      config.actor.network.hidden = {16};
      config.critic.network.hidden = {16};
      config.critic.agent_ids = true;
      config.entropy_initial = 0.02, config.entropy_final = 0.0;
      const std::int64_t steps = kind == RewardKind::kTeam ? 16'000 : 6'000;
      const double cost = -evaluated(*trained<IppoTrainer>(config, make, steps), make, 1);
      if (kind == RewardKind::kTeam)
        CHECK(cost == Approx(7.5));
      else
        CHECK(cost >= 9.0);
    }
  }
}
