// MAPPO learns games whose optimum is known, and values what it should: time limits are no ends.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/learning/mappo.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

template <class Game>
using Trainer = MappoTrainer<Game, critic::Centralised<16>, guidance::None, 16>;

/// Mean team reward per step of the greedy policy.
template <class Game>
double greedy_reward(const Trainer<Game>& trainer, Game game, int steps) {
  typename Trainer<Game>::Actor::Workspace work;
  REQUIRE(game.reset(12345));
  double sum = 0.0;
  for (int t = 0; t < steps; ++t) {
    std::vector<float> rows(game.agents() * Game::kObservation), logits(game.agents() * Game::kOptions);
    game.observe(rows.data());
    trainer.actor().forward(rows.data(), game.agents(), logits.data(), work);
    for (const std::uint32_t agent : game.turn_order())
      game.act(agent,
               MaskedCategorical<Game::kOptions>(&logits[agent * Game::kOptions], game.mask(agent)).mode());
    sum += static_cast<double>(game.step().team_reward);
  }
  return sum / steps;
}

template <class Game>
std::unique_ptr<Trainer<Game>> trained(const MappoConfig& config, const std::function<Game(int)>& make,
                                       int updates) {
  auto trainer = Trainer<Game>::create(config, make);
  REQUIRE(trainer);
  for (int u = 0; u < updates; ++u) {
    const auto report = (*trainer)->update();
    REQUIRE(report);
    REQUIRE(report->env_steps == (u + 1) * std::int64_t{config.environments} * config.rollout_steps);
  }
  return std::move(*trainer);
}

MappoConfig small(std::uint64_t seed) {
  MappoConfig config;
  config.seed = seed;
  config.environments = 8;
  config.rollout_steps = 16;
  config.episode_steps = 50;
  config.group = 1;
  config.minibatch_rows = 128;
  config.minibatch_states = 64;
  config.learning_rate = 3e-3;
  config.critic_learning_rate = 3e-3;
  config.epochs = 4;
  config.gamma = 0.9;
  return config;
}

/// The critic's value of the only state of a ConstantGame with this mark, in units of the reward.
double value_of(const Trainer<ConstantGame>& trainer, float mark) {
  const TemporaryFile file("value");
  trainer.save(file.path).value();
  auto in = ArchiveReader::open(file.path, "mappo").value();
  // The statistics of the value normaliser follow these in the checkpoint.
  std::vector<std::int64_t> env_steps;
  std::vector<Random::State> shuffle;
  std::vector<float> numbers;
  std::vector<std::uint64_t> updates;
  in.get("env_steps", env_steps).value();
  in.get("shuffle", shuffle).value();
  for (const char* name : {"actor", "critic"}) in.get(name, numbers).value();
  for (const std::string name : {"actor", "critic"}) {
    in.get(name + "_first", numbers).value();
    in.get(name + "_second", numbers).value();
    in.get(name + "_updates", updates).value();
  }
  ValueNormaliser<float>::State state;
  in.get_value("value_normaliser", state).value();
  ValueNormaliser<float> normaliser;
  normaliser.set_state(state);
  float value = 0.0f;
  Trainer<ConstantGame>::Critic::Network::Workspace work;
  trainer.critic().values(&mark, 1, &value, work);
  return static_cast<double>(normaliser.denormalize(value));
}

MappoConfig constant_game() {
  MappoConfig config = small(1);
  config.environments = 4;
  config.rollout_steps = 20;
  config.episode_steps = 0;
  config.gamma = 0.99;
  config.value_normaliser_decay = 0.9;
  config.minibatch_states = 80;
  config.critic_learning_rate = 1e-2;
  return config;
}

}  // namespace

TEST_CASE("three agents learn to take three seats", "[mappo]") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto trainer = trained<SeatGame>(
        small(seed), [](int) { return SeatGame(); }, 60);
    INFO("seed " << seed);
    CHECK(greedy_reward(*trainer, SeatGame(), 20) >= 0.95);
  }
}

TEST_CASE("agents that come and go learn it too", "[mappo]") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    MappoConfig config = small(seed);
    config.gamma = 0.0;  // every step pays at once
    const auto trainer = trained<SeatGame>(
        config, [](int) { return SeatGame(true, 0.05); }, 200);
    // Steps without agents pay nothing: the best mean is their complement, 7/8.
    double best = 0.0;
    SeatGame reference(true, 0.0);
    REQUIRE(reference.reset(12345));
    for (int t = 0; t < 400; ++t) {
      best += reference.agents() > 0 ? 1.0 : 0.0;
      reference.step();
    }
    INFO("seed " << seed);
    CHECK(greedy_reward(*trainer, SeatGame(true, 0.0), 400) >= 0.95 * best / 400.0);
  }
}

TEST_CASE("a reward four steps away is worth more than one at hand", "[mappo]") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto trainer = trained<Corridor>(
        small(seed), [](int) { return Corridor(); }, 60);
    INFO("seed " << seed);
    CHECK(greedy_reward(*trainer, Corridor(), 40) >= 0.95 * 0.25);
  }
}

TEST_CASE("a group's common baseline does not keep it from learning, and one alone needs none", "[mappo]") {
  MappoConfig config = small(1);
  config.group = 4;
  CHECK(greedy_reward(*trained<SeatGame>(
                          config, [](int) { return SeatGame(); }, 60),
                      SeatGame(), 20) >= 0.95);
  config.environments = 1;
  config.rollout_steps = 64;
  config.group = 16;  // more than there are
  CHECK(greedy_reward(*trained<SeatGame>(
                          config, [](int) { return SeatGame(); }, 100),
                      SeatGame(), 20) >= 0.95);
}

TEST_CASE("a time limit is no end: the value of a constant reward is 1 / (1 - gamma)", "[mappo]") {
  using End = ConstantGame::End;
  MappoConfig config = constant_game();
  const auto value = [&](End end) {
    return value_of(*trained<ConstantGame>(
                        config, [end](int) { return ConstantGame(1.0f, end, 10); }, 500),
                    1.0f);
  };
  CHECK(value(End::kTruncated) == Approx(100.0).epsilon(0.03));  // by the environment
  CHECK(value(End::kNever) == Approx(100.0).epsilon(0.03));
  config.episode_steps = 10;
  CHECK(value(End::kNever) == Approx(100.0).epsilon(0.03));  // by the trainer
  config.episode_steps = 0;
  // A real end after ten steps: the state does not tell how many are left, so the value is a mean over them.
  CHECK(value(End::kTerminated) < 11.0);
  CHECK(value(End::kTerminated) > 4.0);
}

TEST_CASE("states and rewards of several environments stay together", "[mappo]") {
  // Environment e pays e for ever, and its state says e: values e / (1 - gamma).
  MappoConfig config = constant_game();
  config.gamma = 0.5;
  const auto trainer = trained<ConstantGame>(
      config,
      [](int e) {
        return ConstantGame(static_cast<float>(e), ConstantGame::End::kNever, 0, static_cast<float>(e), 2);
      },
      200);
  for (int e = 0; e < 4; ++e)
    CHECK(value_of(*trainer, static_cast<float>(e)) == Approx(2.0 * e).margin(0.15));
}

TEST_CASE("rewards that are no numbers end the update with the name of the loss, and the weights stay",
          "[mappo]") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto trainer = Trainer<ConstantGame>::create(constant_game(), [bad](int) { return ConstantGame(bad); });
    REQUIRE(trainer);
    const auto& actor = (*trainer)->actor();
    const auto& critic = (*trainer)->critic().network();
    const std::vector<float> before(actor.parameters().begin(), actor.parameters().end());
    const std::vector<float> critic_before(critic.parameters().begin(), critic.parameters().end());
    for (int i = 0; i < 2; ++i) {
      const auto report = (*trainer)->update();
      REQUIRE_FALSE(report);
      CHECK(report.error().code == ErrorCode::kNumerical);
      CHECK(report.error().message.find("policy loss") != std::string::npos);
    }
    CHECK(std::equal(before.begin(), before.end(), actor.parameters().begin()));
    CHECK(std::equal(critic_before.begin(), critic_before.end(), critic.parameters().begin()));
  }
  // Without agents there is no policy loss to notice it.
  auto trainer = Trainer<ConstantGame>::create(constant_game(), [](int) {
    return ConstantGame(std::nanf(""), ConstantGame::End::kNever, 0, 1.0f, 0);
  });
  REQUIRE(trainer);
  const auto report = (*trainer)->update();
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::kNumerical);
  CHECK(report.error().message.find("value loss") != std::string::npos);
}

TEST_CASE("rollouts without any agent: no policy loss, the actor stays, the critic goes on", "[mappo]") {
  auto trainer = Trainer<ConstantGame>::create(
      constant_game(), [](int) { return ConstantGame(1.0f, ConstantGame::End::kNever, 0, 1.0f, 0); });
  REQUIRE(trainer);
  const auto& actor = (*trainer)->actor();
  const std::vector<float> before(actor.parameters().begin(), actor.parameters().end());
  const auto report = (*trainer)->update();
  REQUIRE(report);
  CHECK(report->agents == 0.0);
  CHECK(report->policy_loss == 0.0);
  CHECK(report->entropy == 0.0);
  CHECK(report->team_reward == Approx(1.0));
  CHECK(std::isfinite(report->value_loss));
  CHECK(std::equal(before.begin(), before.end(), actor.parameters().begin()));
}

TEST_CASE("what an update reports", "[mappo]") {
  auto trainer = Trainer<SeatGame>::create(small(1), [](int) { return SeatGame(); });
  REQUIRE(trainer);
  CHECK((*trainer)->env_steps() == 0);
  const auto report = (*trainer)->update();
  REQUIRE(report);
  CHECK(report->agents == Approx(3.0));
  CHECK(report->entropy == Approx(std::log(3.0)).epsilon(0.05));  // a nearly uniform first policy
  CHECK(report->team_reward ==
        Approx(19.0 / 27.0).margin(0.06));  // whose mean of distinct seats is 19/9 of 3
  CHECK(report->shaped_reward == report->team_reward);
  CHECK((*trainer)->env_steps() == 128);
  CHECK_FALSE((*trainer)->finished());
  MappoConfig config = small(1);
  config.total_steps = 128;
  auto short_run = Trainer<SeatGame>::create(config, [](int) { return SeatGame(); });
  REQUIRE((*short_run)->update());
  CHECK((*short_run)->finished());
}
