// MaddpgTrainer: what it refuses, what it computes, stop and resume, threads, losses that are not finite.

#include "mara/learning/maddpg.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "maddpg_helpers.hpp"
#include "mara/learning/training.hpp"

namespace mara::test {
namespace {

/// Small networks on SeatsGame; three chunks a batch.
MaddpgConfig small_config() {
  MaddpgConfig config;
  config.environments = 3;
  config.actors.network.hidden = {12};
  config.actors.agent_ids = true;
  config.critic_hidden = {16};
  config.learning_rate = config.critic_learning_rate = 1e-3;
  config.batch = 300;
  config.round_steps = 8;
  config.round_updates = 3;
  config.random_steps = 48;
  config.replay = 200;
  config.noise_initial = 0.5;
  config.noise_final = 0.1;
  config.noise_steps = 150;
  return config;
}

struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / name).string()) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
};

/// Everything of a trainer that may differ, as numbers.
std::vector<float> content(const MaddpgTrainer& trainer) {
  std::vector<float> all;
  for (const std::span<const float> part : {trainer.weights(), trainer.target_weights(),
                                            trainer.critic_weights(), trainer.target_critic_weights()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

void rounds(MaddpgTrainer& trainer, int count) {
  for (int i = 0; i < count; ++i) {
    const auto report = trainer.update();
    if (!report) FAIL(report.error().message);
  }
}

double value_of(const TrainingReport& report, const std::string& name) {
  for (const auto& [key, value] : report.values)
    if (key == name) return value;
  FAIL("no value " << name);
  return 0.0;
}

}  // namespace

TEST_CASE("a configuration that cannot be is refused by the name of its field") {
  const auto refusal = [](auto change, const GameMaker& make = seats_game()) {
    MaddpgConfig config = small_config();
    change(config);
    const auto made = MaddpgTrainer::create(config, make);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::kInvalidArgument);
    return made.error().message;
  };
  using Config = MaddpgConfig;
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal([](Config& c) { c.batch = 0; }), Contains("batch = 0"));
  CHECK_THAT(refusal([](Config& c) { c.environments = 0; }), Contains("environments = 0"));
  CHECK_THAT(refusal([](Config& c) { c.policy_delay = -1; }), Contains("policy_delay = -1"));
  CHECK_THAT(refusal([](Config& c) { c.random_steps = -1; }), Contains("random_steps = -1"));
  CHECK_THAT(refusal([](Config& c) { c.gamma = 1.5; }), Contains("gamma = 1.5"));
  CHECK_THAT(refusal([](Config& c) { c.tau = 0.0; }), Contains("tau = 0"));
  CHECK_THAT(refusal([](Config& c) { c.temperature = 0.0; }), Contains("temperature = 0"));
  CHECK_THAT(refusal([](Config& c) { c.learning_rate = std::nan(""); }), Contains("learning_rate"));
  CHECK_THAT(refusal([](Config& c) { c.noise_final = -1.0; }), Contains("noise_final = -1"));
  CHECK_THAT(refusal([](Config& c) { c.final_rate = 0.0; }), Contains("final_rate = 0"));
  CHECK_THAT(refusal([](Config& c) { c.target_noise.deviation = -1.0; }), Contains("target_noise"));
  CHECK_THAT(refusal([](Config& c) { c.replay = 0; }), Contains("replay = 0"));
  CHECK_THAT(refusal([](Config& c) { c.threads = 0; }), Contains("threads = 0"));
  CHECK_THAT(refusal([](Config& c) { c.threads = -3; }), Contains("threads = -3"));
  const auto negative = static_cast<std::size_t>(-1);  // what becomes of -1 in a field of std::size_t
  const std::string large = std::to_string(negative);
  CHECK_THAT(refusal([=](Config& c) { c.replay = negative; }), Contains("replay = 18446744073709551616"));
  CHECK_THAT(refusal([](Config& c) { c.replay = (std::size_t{1} << 31) + 1; }),
             Contains("replay = 2147483649"));
  CHECK_THAT(refusal([=](Config& c) {
               c.critic_hidden = {8, negative};
             }),
             Contains("critic: hidden[1] = " + large));
  CHECK_THAT(refusal([=](Config& c) { c.actors.network.hidden = {negative}; }),
             Contains("actors: hidden[0] = " + large));
  CHECK_THAT(refusal([=](Config& c) { c.actors.network.memory_units = negative; }),
             Contains("actors: memory_units = " + large));
  CHECK_THAT(refusal([](Config& c) { c.critic_hidden = {0}; }), Contains("critic: hidden[0] = 0"));
  CHECK_THAT(refusal([](Config& c) { c.actors.groups = {0}; }), Contains("actors: groups"));
  CHECK_THAT(refusal([](Config& c) { c.actors.network.recurrence = Recurrence::kGru; }),
             Contains("only feed-forward actors"));
  CHECK_THAT(refusal([](Config& c) {
               c.joint_policy_update = true;
               c.rewards = RewardKind::kIndividual;
             }),
             Contains("joint_policy_update"));
}

TEST_CASE("a time limit is no end: the critic learns 100, not 9.17 (case A3)") {
  MaddpgConfig config;
  config.episode_steps = 10;
  config.gamma = 0.99;
  config.critic_hidden = {};
  config.critic_learning_rate = 0.3;
  config.final_rate = 0.01;
  config.rate_steps = 8000;
  config.max_gradient_norm = 0.0;
  config.tau = 1.0;
  config.policy_delay = 1;
  config.batch = 16;
  config.round_steps = 10;
  config.round_updates = 5;
  config.random_steps = 20;
  const auto trainer = made_trainer(config, [](int) { return AnyGame(PayGame()); });
  double value = 0.0;
  while (trainer->env_steps() < 8000) {
    const auto report = trainer->update();
    REQUIRE(report);
    CHECK(report->episodes == 1);
    CHECK(report->episode_return == 10.0);
    value = value_of(*report, "mean_q");
  }
  CHECK(value == Approx(100.0).epsilon(1e-3));
}

TEST_CASE("random steps first, then delayed actor steps with soft targets") {
  MaddpgConfig config = small_config();
  config.round_updates = 1;
  config.tau = 0.25;
  const auto trainer = made_trainer(config, seats_game());
  const std::vector<float> first = content(*trainer);
  for (int i = 0; i < 2; ++i) {
    const auto report = trainer->update();
    REQUIRE(report);
    CHECK(report->env_steps == 24 * (i + 1));
    CHECK(report->updates == 0);
    CHECK(std::isnan(value_of(*report, "critic_loss")));
  }
  CHECK(content(*trainer) == first);
  CHECK(copy_of(trainer->target_weights()) == copy_of(trainer->weights()));

  auto report = trainer->update();
  REQUIRE(report);
  CHECK(report->updates == 1);
  CHECK(std::isfinite(value_of(*report, "critic_loss")));
  CHECK(std::isnan(value_of(*report, "actor_loss")));
  CHECK(value_of(*report, "noise") == Approx(0.5 - 0.4 * 48 / 150));
  CHECK(value_of(*report, "replay") == 72.0);
  const std::size_t actors = trainer->weights().size(), critics = trainer->critic_weights().size();
  CHECK(std::equal(trainer->weights().begin(), trainer->weights().end(), first.begin()));
  CHECK(copy_of(trainer->target_critic_weights()) ==
        std::vector<float>(first.begin() + static_cast<std::ptrdiff_t>(2 * actors + critics), first.end()));
  CHECK(copy_of(trainer->critic_weights()) != copy_of(trainer->target_critic_weights()));

  report = trainer->update();
  REQUIRE(report);
  CHECK(std::isfinite(value_of(*report, "actor_loss")));
  CHECK(value_of(*report, "actor_gradient_norm") > 0.0);
  CHECK(value_of(*report, "critic_gradient_norm") > 0.0);
  for (std::size_t i = 0; i < actors; ++i) {
    const float old = first[i], now = trainer->weights()[i];
    CHECK(trainer->target_weights()[i] == old + 0.25f * (now - old));
  }
  CHECK(copy_of(trainer->weights()) !=
        std::vector<float>(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(actors)));
}

TEST_CASE("the same bits on one, two and three threads; another seed, other bits") {
  for (const RewardKind rewards : {RewardKind::kTeam, RewardKind::kIndividual}) {
    std::vector<std::vector<float>> runs;
    for (const int threads : {1, 2, 3}) {
      MaddpgConfig config = small_config();
      config.rewards = rewards;
      config.threads = threads;
      const auto trainer = made_trainer(config, seats_game());
      rounds(*trainer, 8);
      runs.push_back(content(*trainer));
    }
    CHECK(runs[0] == runs[1]);
    CHECK(runs[0] == runs[2]);
    MaddpgConfig config = small_config();
    config.rewards = rewards;
    config.seed = 2;
    const auto trainer = made_trainer(config, seats_game());
    rounds(*trainer, 8);
    CHECK(content(*trainer) != runs[0]);
  }
}

TEST_CASE("a run that is stopped and resumed has the bits of one that is not") {
  const TemporaryFile file("maddpg_resume_test.mara"), last("maddpg_resume_last.mara"),
      other("maddpg_resume_other.mara");
  for (const int stop : {1, 3, 6, 11}) {
    MaddpgConfig config = small_config();
    config.joint_policy_update = stop == 3;
    config.final_rate = 0.1;
    config.rate_steps = 200;
    config.parameter_noise = {.deviation = stop == 1 ? 0.0 : 0.05, .growth = 1.2, .period = 30};
    const auto whole = made_trainer(config, seats_game());
    rounds(*whole, stop);
    REQUIRE(whole->save(file.path));
    rounds(*whole, 12 - stop);
    const auto resumed = made_trainer(config, seats_game());
    REQUIRE(resumed->load(file.path));
    CHECK(resumed->env_steps() == 24 * stop);
    rounds(*resumed, 12 - stop);
    CHECK(content(*resumed) == content(*whole));
    // Replay, optimisers and games too: the checkpoints agree byte for byte.
    REQUIRE(whole->save(last.path));
    REQUIRE(resumed->save(other.path));
    std::string a, b;
    REQUIRE(read_file(last.path, a));
    REQUIRE(read_file(other.path, b));
    CHECK(a == b);
  }
}

TEST_CASE("noise on parameters: off by default, what is played otherwise, steered") {
  const auto played = [](double deviation, int count) {
    MaddpgConfig config = small_config();
    config.noise_initial = config.noise_final = 0.0;
    config.parameter_noise = {.deviation = deviation, .target = 0.3, .growth = 1.5, .period = 24};
    const auto trainer = made_trainer(config, seats_game());
    Result<TrainingReport> report = trainer->update();
    for (int i = 1; i < count; ++i) report = trainer->update();
    return std::pair(content(*trainer), report.value());
  };
  CHECK(played(0.0, 6).first == played(1e-30, 6).first);  // too small to change a parameter
  CHECK(played(0.0, 6).first != played(0.5, 6).first);
  CHECK(played(0.0, 3).second.values.back().first == "replay");
  CHECK(value_of(played(1e-6, 8).second, "parameter_noise") > 1e-6);  // no action differs by .3
  CHECK(value_of(played(50.0, 8).second, "parameter_noise") < 50.0);
}

TEST_CASE("a checkpoint that is damaged or of another trainer is refused and changes nothing") {
  const TemporaryFile file("maddpg_refuse_test.mara"), damaged("maddpg_refuse_damaged.mara"),
      state("maddpg_refuse_state.mara");
  const auto trainer = made_trainer(small_config(), seats_game());
  rounds(*trainer, 4);
  REQUIRE(trainer->save(file.path));
  std::string bytes, before, after;
  REQUIRE(read_file(file.path, bytes));
  const auto refused = [&](const MaddpgConfig& config, const std::string& path, const std::string& why) {
    const auto victim = made_trainer(config, seats_game());
    rounds(*victim, 3);
    REQUIRE(victim->save(state.path));
    REQUIRE(read_file(state.path, before));
    const Status loaded = victim->load(path);
    REQUIRE_FALSE(loaded);
    CHECK_THAT(loaded.error().message, Catch::Matchers::Contains(why));
    CHECK(loaded.error().message.starts_with(path + ": "));
    REQUIRE(victim->save(state.path));
    REQUIRE(read_file(state.path, after));
    CHECK(before == after);
  };
  for (const std::size_t at : {std::size_t{40}, bytes.size() / 2, bytes.size() - 9}) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 1);
    std::ofstream(damaged.path, std::ios::binary) << broken;
    refused(small_config(), damaged.path, "checksum");
  }
  std::ofstream(damaged.path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  refused(small_config(), damaged.path, "checksum");
  refused(small_config(), "/no/such/file", "/no/such/file");
  MaddpgConfig wider = small_config();
  wider.critic_hidden = {17};
  refused(wider, file.path, "critic");
  MaddpgConfig more = small_config();
  more.environments = 2;
  refused(more, file.path, "environments = 3");
  MaddpgConfig shorter = small_config();
  shorter.replay = 50;
  refused(shorter, file.path, "replay");
}

TEST_CASE("a loss that is not finite is named, and the weights stay") {
  const auto failing = [](const GameMaker& make, const std::string& what) {
    const auto trainer = made_trainer(small_config(), make);
    std::vector<float> before;
    for (int i = 0; i < 20; ++i) {
      before = content(*trainer);
      const auto report = trainer->update();
      if (report) continue;
      CHECK(report.error().code == ErrorCode::kNumerical);
      CHECK_THAT(report.error().message, Catch::Matchers::Contains("maddpg: " + what));
      CHECK(content(*trainer) == before);
      for (const float w : before) REQUIRE(std::isfinite(w));
      return;
    }
    FAIL("no error");
  };
  failing(
      [](int) {
        SeatsGame game;
        game.state_break_ = true;
        return AnyGame(std::move(game));
      },
      "number 0 of the global state is nan after step 3 of environment ");
  failing(
      [](int) {
        SeatsGame game;
        game.scale_ = 1e30f;
        return AnyGame(std::move(game));
      },
      "critic loss is inf");
  failing(
      [](int) {
        SeatsGame game;
        game.scale_ = std::numeric_limits<float>::infinity();
        return AnyGame(std::move(game));
      },
      "the reward of ");
}

TEST_CASE("evaluation changes nothing that trains, and its policy does not explore (case C5)") {
  const auto plain = made_trainer(small_config(), seats_game());
  const auto watched = made_trainer(small_config(), seats_game());
  std::vector<double> returns;
  for (int i = 0; i < 6; ++i) {
    rounds(*plain, 1);
    rounds(*watched, 1);
    for (int again = 0; again < 2; ++again) {
      auto policy = watched->policy(watched->weights());
      const auto played = evaluate_policy(seats_game(), policy, {.episodes = 3});
      REQUIRE(played);
      returns.push_back(mean_team_return(*played));
    }
    CHECK(returns[returns.size() - 1] == returns[returns.size() - 2]);
  }
  CHECK(content(*plain) == content(*watched));
}

TEST_CASE("agents that come and go, seats that are taken: numbers stay within bounds and returns rise") {
  for (const RewardKind rewards : {RewardKind::kTeam, RewardKind::kIndividual}) {
    MaddpgConfig config = small_config();
    config.rewards = rewards;
    config.replay = 20'000;
    config.batch = 128;
    config.learning_rate = config.critic_learning_rate = 3e-3;
    config.noise_initial = config.noise_final = 0.2;
    const auto trainer = made_trainer(config, seats_game());
    const auto score = [&] {
      auto policy = trainer->policy(trainer->weights());
      const auto played = evaluate_policy(seats_game(), policy, {.episodes = 200});
      REQUIRE(played);
      double sum = 0.0, steps = 0.0;
      for (const EpisodeReturn& e : *played) sum += e.team, steps += static_cast<double>(e.steps);
      return sum / steps;
    };
    const double before = score();
    rounds(*trainer, 200);
    const double after = score();
    INFO("per step before " << before << ", after " << after);
    // Two agents on average: both on paying seats with numbers near .5 give about 2.5 a step.
    CHECK(after > before + 0.1);
    CHECK(after > 2.2);
  }
}

TEST_CASE("train() drives it, and resumes from its folder") {
  const auto folder = std::filesystem::temp_directory_path() / "maddpg_train_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  TrainingConfig how;
  how.steps = 240;
  how.evaluate_every = 120;
  how.evaluation.episodes = 4;
  const auto whole = made_trainer(small_config(), seats_game());
  const auto straight = train(*whole, seats_game(), how);
  REQUIRE(straight);
  how.folder = folder.string();
  how.steps = 120;
  const auto half = made_trainer(small_config(), seats_game());
  REQUIRE(train(*half, seats_game(), how));
  how.steps = 240;
  how.resume = true;
  const auto second = made_trainer(small_config(), seats_game());
  const auto resumed = train(*second, seats_game(), how);
  REQUIRE(resumed);
  CHECK(content(*second) == content(*whole));
  CHECK(resumed->best.mean == straight->best.mean);
  CHECK(resumed->best_weights == straight->best_weights);
  std::filesystem::remove_all(folder);
}

}  // namespace mara::test
