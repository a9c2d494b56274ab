// The same bits on any number of threads, and after a stop and a resume; files that do not fit are refused.
#include <cstdint>
#include <functional>
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

using Trainer = MappoTrainer<SeatGame, critic::Centralised<16>, guidance::None, 16>;

MappoConfig config_of(std::uint64_t seed = 1) {
  MappoConfig config;
  config.seed = seed;
  config.environments = 8;
  config.rollout_steps = 10;
  config.episode_steps = 24;  // resumes in the middle of episodes
  config.group = 4;
  config.total_steps = 2000;
  config.minibatch_rows = 64;
  config.minibatch_states = 32;
  return config;
}

SeatGame make(int) {
  return SeatGame(true, 0.05);
}

std::unique_ptr<Trainer> create(const MappoConfig& config, const std::function<SeatGame(int)>& maker = make) {
  auto trainer = Trainer::create(config, maker);
  REQUIRE(trainer);
  return std::move(*trainer);
}

void update(Trainer& trainer, int times) {
  for (int i = 0; i < times; ++i) REQUIRE(trainer.update());
}

}  // namespace

TEST_CASE("one, two and three threads: the same bits", "[mappo][threads]") {
  MappoConfig config = config_of();
  config.environments = 32;
  config.rollout_steps = 30;  // some 1400 rows a minibatch: three chunks
  config.minibatch_rows = 4096;
  std::vector<std::string> states;
  std::vector<double> losses;
  for (int threads = 1; threads <= 3; ++threads) {
    config.threads = threads;
    const auto trainer = create(config);
    double loss = 0.0;
    for (int i = 0; i < 3; ++i) {
      const auto report = trainer->update();
      REQUIRE(report);
      loss += report->policy_loss + report->value_loss + report->entropy + report->approximate_kl;
    }
    losses.push_back(loss);
    states.push_back(state_of(*trainer));
  }
  CHECK((states[0] == states[1]));
  CHECK((states[0] == states[2]));
  CHECK(losses[0] == losses[1]);
  CHECK(losses[0] == losses[2]);
}

TEST_CASE("the seed decides", "[mappo]") {
  const auto state = [](std::uint64_t seed) {
    const auto trainer = create(config_of(seed));
    update(*trainer, 2);
    return state_of(*trainer);
  };
  CHECK((state(1) == state(1)));
  CHECK((state(1) != state(2)));
}

TEST_CASE("stop and resume is no stop at all", "[mappo][checkpoint]") {
  Random random(3);
  for (int trial = 0; trial < 6; ++trial) {
    const int before = static_cast<int>(random.below(8)), after = 1 + static_cast<int>(random.below(5));
    INFO(before << " updates, then " << after);
    const TemporaryFile file("checkpoint");
    const auto uninterrupted = create(config_of());
    update(*uninterrupted, before);
    REQUIRE(uninterrupted->save(file.path));
    const auto resumed = create(config_of());
    if (trial % 2 == 1) update(*resumed, 3);  // whatever it did before is gone
    REQUIRE(resumed->load(file.path));
    CHECK((state_of(*resumed) == file.read()));
    CHECK(resumed->env_steps() == before * 80);
    for (int i = 0; i < after; ++i) {
      const auto one = uninterrupted->update(), two = resumed->update();
      REQUIRE(one);
      REQUIRE(two);
      CHECK(one->policy_loss == two->policy_loss);
      CHECK(one->value_loss == two->value_loss);
      CHECK(one->team_reward == two->team_reward);
    }
    CHECK((state_of(*uninterrupted) == state_of(*resumed)));
  }
}

TEST_CASE("a resume may use another number of threads", "[mappo][checkpoint]") {
  const TemporaryFile file("checkpoint_threads");
  const auto one = create(config_of());
  update(*one, 2);
  REQUIRE(one->save(file.path));
  MappoConfig config = config_of();
  config.threads = 2;
  const auto two = create(config);
  REQUIRE(two->load(file.path));
  update(*one, 2);
  update(*two, 2);
  CHECK((state_of(*one) == state_of(*two)));
}

TEST_CASE("saving and looking change nothing", "[mappo][checkpoint]") {
  const auto quiet = create(config_of()), watched = create(config_of());
  for (int i = 0; i < 4; ++i) {
    update(*quiet, 1);
    update(*watched, 1);
    state_of(*watched);
    std::vector<float> observation(SeatGame::kObservation, 0.5f), logits(SeatGame::kOptions), value(1);
    Trainer::Actor::Workspace actor_work;
    watched->actor().forward(observation.data(), 1, logits.data(), actor_work);
    Trainer::Critic::Network::Workspace critic_work;
    watched->critic().values(observation.data(), 1, value.data(), critic_work);
  }
  CHECK((state_of(*quiet) == state_of(*watched)));
}

TEST_CASE("damaged and foreign checkpoints are refused, and the trainer is as before",
          "[mappo][checkpoint]") {
  const TemporaryFile file("checkpoint_damaged");
  const auto trainer = create(config_of()), reference = create(config_of());
  update(*trainer, 2);
  update(*reference, 2);
  REQUIRE(trainer->save(file.path));
  const std::string whole = file.read();
  update(*trainer, 1);
  update(*reference, 1);
  const std::string state = state_of(*trainer);
  const auto refused = [&](const char* what) {
    INFO(what);
    const Status loaded = trainer->load(file.path);
    REQUIRE_FALSE(loaded);
    CHECK((state_of(*trainer) == state));
    return loaded.error().message;
  };

  Random random(4);
  for (int i = 0; i < 40; ++i) {
    file.write(whole.substr(0, random.below(static_cast<std::uint32_t>(whole.size()))));
    refused("truncated");
    std::string flipped = whole;
    flipped[random.below(static_cast<std::uint32_t>(whole.size()))] ^=
        static_cast<char>(1 << random.below(8));
    file.write(flipped);
    refused("flipped");
  }
  file.write("");
  refused("empty");
  std::filesystem::remove(file.path);
  refused("missing");

  ArchiveWriter other("actor");
  other.put_value("env_steps", std::int64_t{5});
  REQUIRE(other.write(file.path));
  CHECK(refused("another kind").find("expected 'mappo'") != std::string::npos);

  ArchiveWriter beginning("mappo");
  beginning.put_value("env_steps", std::int64_t{5});
  REQUIRE(beginning.write(file.path));
  CHECK(refused("only the beginning").find("shuffle") != std::string::npos);

  MappoConfig more = config_of();
  more.environments = 9;
  REQUIRE(create(more)->save(file.path));
  CHECK(refused("another number of environments").find("environments = 9") != std::string::npos);

  using Wider = MappoTrainer<SeatGame, critic::Centralised<16>, guidance::None, 17>;
  REQUIRE((*Wider::create(config_of(), make))->save(file.path));
  CHECK(refused("another actor").find("actor") != std::string::npos);

  const auto two_agents = create(config_of(), [](int) { return SeatGame(false, 0.0, 2); });
  update(*two_agents, 1);
  REQUIRE(two_agents->save(file.path));
  CHECK(refused("another game").find("history") != std::string::npos);

  file.write(whole);
  const auto never_disturbed = state_of(*reference);
  CHECK((state == never_disturbed));
  update(*trainer, 1);
  update(*reference, 1);
  CHECK((state_of(*trainer) == state_of(*reference)));
  REQUIRE(trainer->load(file.path));  // and a whole file is still welcome
  CHECK((state_of(*trainer) == whole));
}

TEST_CASE("a checkpoint cannot be written where there is no folder", "[mappo][checkpoint]") {
  const auto trainer = create(config_of());
  const Status saved = trainer->save(std::filesystem::temp_directory_path() / "mara_no_such_folder" / "file");
  REQUIRE_FALSE(saved);
  CHECK(saved.error().code == ErrorCode::kIo);
}

TEST_CASE("an environment that cannot begin is an error of create()", "[mappo]") {
  using Constant = MappoTrainer<ConstantGame, critic::Centralised<4>, guidance::None, 4>;
  struct Refusing : ConstantGame {
    Status reset(std::uint64_t) { return Error{ErrorCode::kIo, "no jobs"}; }
  };
  using RefusingTrainer = MappoTrainer<Refusing, critic::Centralised<4>, guidance::None, 4>;
  CHECK(Constant::create(config_of(), [](int) { return ConstantGame(); }));
  const auto refused = RefusingTrainer::create(config_of(), [](int) { return Refusing(); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "no jobs");
}
