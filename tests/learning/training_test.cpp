// The training shell on a trainer whose every round is known: what it keeps, when it stops, how it resumes.

#include "mara/learning/training.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.hpp"

namespace mara::test {
namespace {

/// One agent, options 0 to 7, one step; the option is the reward.
class PickGame {
 public:
  PickGame() { shape_ = {1, 1, 1, ActionShape::discrete(8)}; }
  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t) { return {}; }
  bool present(std::size_t) const { return true; }
  bool arrived(std::size_t) const { return true; }
  void observe(float* rows) const { rows[0] = 1.0f; }
  void global_state(float* row) const { row[0] = 1.0f; }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return 0xffu; }
  void choose(std::size_t, const std::int32_t* options, const float*) { option_ = options[0]; }
  StepOutcome step() {
    reward_[0] = static_cast<float>(option_);
    return {reward_[0], true, false};
  }
  std::span<const float> rewards() const { return reward_; }

 private:
  GameShape shape_;
  std::array<std::uint32_t, 1> order_{0};
  std::array<float, 1> reward_{};
  int option_ = 0;
};

GameMaker pick_game() {
  return [](int) { return AnyGame(PickGame()); };
}

/// Learns nothing: round k makes its one weight script[k]. A negative entry is a loss that is not finite.
class ScriptedTrainer {
 public:
  struct Config {
    std::vector<int> script;
  };
  struct Policy {
    std::span<const float> weights;
    void begin(std::uint64_t) {}
    void look(const GameFrame&) {}
    bool choose(std::size_t, const OptionMask*, std::int32_t* options, float*) {
      options[0] = static_cast<std::int32_t>(weights[0]);
      return true;
    }
  };
  static Result<std::unique_ptr<ScriptedTrainer>> create(const Config& config, const GameMaker&) {
    auto trainer = std::make_unique<ScriptedTrainer>();
    trainer->script_ = config.script;
    return trainer;
  }
  Result<TrainingReport> update() {
    const int next = script_.at(static_cast<std::size_t>(rounds_));
    if (next < 0) return Error{ErrorCode::kNumerical, "policy loss is nan"};
    weight_[0] = static_cast<float>(next);
    ++rounds_;
    TrainingReport report;
    report.env_steps = env_steps();
    report.updates = rounds_;
    report.episodes = next;
    if (next > 0) report.episode_return = 10.0 * next;
    report.values = {{"policy_loss", 0.25 * next}, {"value_loss", std::numeric_limits<double>::quiet_NaN()}};
    return report;
  }
  std::int64_t env_steps() const { return 10 * rounds_; }
  std::span<const float> weights() const { return weight_; }
  Policy policy(std::span<const float> weights) const { return {weights}; }
  Status save(const FilePath& path) const {
    ArchiveWriter out("scripted");
    out.put_value("rounds", rounds_);
    out.put_value("weight", weight_[0]);
    return out.write(path);
  }
  Status load(const FilePath& path) {
    auto in = ArchiveReader::open(path, "scripted");
    if (!in) return in.error();
    std::int64_t rounds = 0;
    float weight = 0.0f;
    Status status = in->get_value("rounds", rounds);
    if (status) status = in->get_value("weight", weight);
    if (!status) return status;
    rounds_ = rounds;
    weight_[0] = weight;
    return {};
  }

 private:
  std::vector<int> script_;
  std::int64_t rounds_ = 0;
  std::array<float, 1> weight_{};
};
static_assert(GameTrainer<ScriptedTrainer>);

/// An empty folder that goes with the object.
struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name) : path(std::filesystem::temp_directory_path() / ("mara_" + name)) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string read(const std::string& name) const {
    std::ifstream in(path / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

TrainingConfig every_round(std::int64_t rounds) {
  TrainingConfig config;
  config.steps = 10 * rounds;
  config.evaluate_every = 10;
  config.evaluation.episodes = 3;
  return config;
}

std::vector<double> means(const TrainingResult& result) {
  std::vector<double> all;
  for (const EvaluationPoint& point : result.evaluations) all.push_back(point.mean);
  return all;
}

TEST_CASE("training keeps the first of the best weights") {
  auto trainer = ScriptedTrainer::create({{1, 5, 2, 5, 4}}, pick_game()).value();
  const auto result = train(*trainer, pick_game(), every_round(5));
  REQUIRE(result);
  CHECK(means(*result) == std::vector<double>{1, 5, 2, 5, 4});
  CHECK(result->best.mean == 5.0);
  CHECK(result->best.env_steps == 20);
  CHECK(result->best_weights == std::vector<float>{5.0f});
  CHECK(result->end == TrainingEnd::kSteps);
  CHECK(result->env_steps == 50);
}

TEST_CASE("training stops when a return is reached, without progress, or when told to") {
  const GameMaker make = pick_game();
  auto config = every_round(6);
  auto trainer = ScriptedTrainer::create({{1, 3, 6, 7, 1, 1}}, make).value();
  config.stop_at = 6.0;
  auto result = train(*trainer, make, config);
  REQUIRE(result);
  CHECK(result->end == TrainingEnd::kReached);
  CHECK(result->env_steps == 30);

  trainer = ScriptedTrainer::create({{1, 3, 2, 3, 7, 1}}, make).value();
  config = every_round(6);
  config.patience = 2;
  result = train(*trainer, make, config);
  REQUIRE(result);
  CHECK(result->end == TrainingEnd::kNoProgress);
  CHECK(result->env_steps == 40);

  trainer = ScriptedTrainer::create({{1, 3, 2, 3, 7, 1}}, make).value();
  int rounds = 0;
  TrainingCallbacks callbacks;
  callbacks.round = [&](const TrainingReport& report) { rounds += report.updates > 0 ? 1 : 0; };
  callbacks.evaluation = [](const EvaluationPoint& point) { return point.env_steps < 20; };
  result = train(*trainer, make, every_round(6), callbacks);
  REQUIRE(result);
  CHECK(result->end == TrainingEnd::kCallback);
  CHECK(rounds == 2);
}

TEST_CASE("an evaluation is held at the end even when none is due") {
  auto trainer = ScriptedTrainer::create({{1, 3, 2}}, pick_game()).value();
  auto config = every_round(3);
  config.evaluate_every = 0;
  const auto result = train(*trainer, pick_game(), config);
  REQUIRE(result);
  CHECK(means(*result) == std::vector<double>{2});
}

TEST_CASE("a killed training resumes to the same result and the same metrics") {
  const ScriptedTrainer::Config script{{1, 5, 2, 3, 6, 4, 6, 0}};
  const GameMaker make = pick_game();
  const Folder whole("training_whole"), cut("training_cut");
  const bool lines_of_three = GENERATE(false, true);
  auto config = every_round(8);
  config.checkpoint_every = 30;
  if (lines_of_three) {
    config.log_every = 30;
    config.evaluate_every = 40;
  }
  config.folder = whole.path.string();
  auto trainer = ScriptedTrainer::create(script, make).value();
  const auto expected = train(*trainer, make, config);
  REQUIRE(expected);

  // The callback throws the run away in round 5, after the checkpoint at step 30 and two more evaluations.
  config.folder = cut.path.string();
  trainer = ScriptedTrainer::create(script, make).value();
  struct Killed {};
  TrainingCallbacks callbacks;
  callbacks.round = [](const TrainingReport& report) {
    if (report.env_steps == 60) throw Killed{};
  };
  CHECK_THROWS_AS(train(*trainer, make, config, callbacks), Killed);

  config.resume = true;
  trainer = ScriptedTrainer::create(script, make).value();
  const auto resumed = train(*trainer, make, config);
  REQUIRE(resumed);
  CHECK(means(*resumed) == means(*expected));
  CHECK(resumed->best.env_steps == expected->best.env_steps);
  CHECK(resumed->best_weights == expected->best_weights);
  for (const char* name : {"metrics.jsonl", "metrics.csv", "best.mara", "checkpoint.mara"})
    CHECK(cut.read(name) == whole.read(name));
  CHECK(whole.read("metrics.jsonl").find("\"value_loss\":null") != std::string::npos);
  CHECK(whole.read("metrics.jsonl").find("\"return_convention\":\"team, unshaped") != std::string::npos);
  CHECK(whole.read("metrics.csv").find("policy_loss,value_loss\n") != std::string::npos);
}

/// The lines of a text that hold `part`.
std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(part) != std::string::npos) lines.push_back(line);
  return lines;
}

TEST_CASE("a line of the metrics holds the means of the rounds since the last one") {
  const Folder folder("training_lines");
  auto config = every_round(5);
  config.evaluate_every = 0;
  config.log_every = 20;
  config.folder = folder.path.string();
  auto trainer = ScriptedTrainer::create({{1, 5, 0, 0, 4}}, pick_game()).value();
  REQUIRE(train(*trainer, pick_game(), config));
  const auto rounds = lines_with(folder.read("metrics.jsonl"), "\"event\":\"round\"");
  REQUIRE(rounds.size() == 3);
  // Returns 10 and 50 over 1 and 5 episodes: 260 / 6. Losses 0.25 and 1.25.
  CHECK(rounds[0].find("\"env_steps\":20,") != std::string::npos);
  CHECK(rounds[0].find("\"updates\":2,\"episodes\":6,\"episode_return\":43.333333333333336,"
                       "\"policy_loss\":0.75,\"value_loss\":null}") != std::string::npos);
  CHECK(rounds[1].find("\"updates\":4,\"episodes\":0,\"episode_return\":null,\"policy_loss\":0,") !=
        std::string::npos);
  // The end is no multiple of log_every; its line comes before the evaluation.
  CHECK(rounds[2].find("\"env_steps\":50,") != std::string::npos);
  CHECK(rounds[2].find("\"episodes\":4,\"episode_return\":40,") != std::string::npos);
  const std::string csv = folder.read("metrics.csv");
  CHECK(lines_with(csv, "evaluation,50,").size() == 1);
  CHECK(csv.find("round,50,") < csv.find("evaluation,50,"));
}

TEST_CASE("an evaluation and a failure leave no round without its line") {
  const Folder folder("training_early_lines");
  auto config = every_round(4);
  config.evaluate_every = 20;
  config.log_every = 1000;
  config.folder = folder.path.string();
  auto trainer = ScriptedTrainer::create({{1, 2, 3, -1}}, pick_game()).value();
  REQUIRE(!train(*trainer, pick_game(), config));
  const std::string json = folder.read("metrics.jsonl");
  const auto rounds = lines_with(json, "\"event\":\"round\"");
  REQUIRE(rounds.size() == 2);
  CHECK(rounds[0].find("\"env_steps\":20,") != std::string::npos);
  CHECK(rounds[1].find("\"env_steps\":30,") != std::string::npos);
}

TEST_CASE("an evaluation says how many episodes it had, how long, how good, and what each agent got") {
  const Folder folder("training_evaluation_line");
  auto config = every_round(1);
  config.folder = folder.path.string();
  auto trainer = ScriptedTrainer::create({{6}}, pick_game()).value();
  REQUIRE(train(*trainer, pick_game(), config));
  CHECK(folder.read("metrics.jsonl")
            .find("\"evaluation_return\":6,\"evaluation_sd\":0,\"evaluation_return_min\":6,"
                  "\"evaluation_return_max\":6,\"evaluation_steps\":1,\"evaluation_episodes\":3,"
                  "\"evaluation_return_agent_0\":6}") != std::string::npos);
  const std::string csv = folder.read("metrics.csv");
  CHECK(csv.find("return_convention,evaluation_return,evaluation_sd,evaluation_return_min,"
                 "evaluation_return_max,evaluation_steps,evaluation_episodes,updates") != std::string::npos);
}

TEST_CASE("what an evaluation's line says, from episodes of two and of many agents") {
  std::vector<EpisodeReturn> episodes(2);
  episodes[0] = {3.0, 0.0, {1.0, 2.0}, 4, true};
  episodes[1] = {-1.0, 0.0, {0.0, -1.0}, 7, true};
  const EvaluationPoint point = detail::summary(10, episodes);
  using Values = std::vector<std::pair<std::string, double>>;
  const Values values = detail::evaluation_values(point, episodes);
  const Values expected = {{"evaluation_return", 1.0},        {"evaluation_sd", std::sqrt(8.0)},
                           {"evaluation_return_min", -1.0},   {"evaluation_return_max", 3.0},
                           {"evaluation_steps", 5.5},         {"evaluation_episodes", 2.0},
                           {"evaluation_return_agent_0", .5}, {"evaluation_return_agent_1", .5}};
  CHECK(values == expected);
  for (EpisodeReturn& e : episodes) e.agents.assign(17, 0.0);
  CHECK(detail::evaluation_values(point, episodes).size() == 6);
}

TEST_CASE("resuming a finished training changes nothing") {
  const GameMaker make = pick_game();
  const Folder folder("training_finished");
  auto config = every_round(4);
  config.folder = folder.path.string();
  config.log_every = 20;
  SECTION("all steps done") {
    config.evaluate_every = 0;
  }
  SECTION("a return reached") {
    config.stop_at = 3.0;
  }
  SECTION("no progress") {
    config.patience = 2;
  }
  const ScriptedTrainer::Config script{{2, 1, 3, 1}};
  auto trainer = ScriptedTrainer::create(script, make).value();
  const auto first = train(*trainer, make, config);
  REQUIRE(first);
  const char* names[] = {"metrics.jsonl", "metrics.csv", "best.mara", "checkpoint.mara"};
  std::vector<std::string> before;
  for (const char* name : names) {
    before.push_back(folder.read(name));
    std::filesystem::last_write_time(folder.path / name, {});
  }
  config.resume = true;
  trainer = ScriptedTrainer::create(script, make).value();
  const auto again = train(*trainer, make, config);
  REQUIRE(again);
  CHECK(again->end == first->end);
  CHECK(again->env_steps == first->env_steps);
  CHECK(means(*again) == means(*first));
  CHECK(again->best_weights == first->best_weights);
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(folder.read(names[i]) == before[i]);
    CHECK(std::filesystem::last_write_time(folder.path / names[i]) == std::filesystem::file_time_type{});
  }
}

TEST_CASE("a loss that is not finite stops the run and leaves the last checkpoint") {
  const GameMaker make = pick_game();
  const Folder folder("training_nan");
  auto config = every_round(8);
  config.checkpoint_every = 20;
  config.folder = folder.path.string();
  auto trainer = ScriptedTrainer::create({{1, 2, 3, -1}}, make).value();
  const auto result = train(*trainer, make, config);
  REQUIRE(!result);
  CHECK(result.error().message.find("policy loss") != std::string::npos);
  auto again = ScriptedTrainer::create({{1, 2, 3, 4}}, make).value();
  REQUIRE(again->load(folder.path / "checkpoint.mara"));
  CHECK(again->env_steps() == 20);
}

TEST_CASE("what cannot be resumed is refused and says why") {
  const GameMaker make = pick_game();
  const Folder folder("training_refused");
  auto config = every_round(3);
  config.resume = true;
  auto trainer = ScriptedTrainer::create({{1, 2, 3, 4}}, make).value();
  CHECK(train(*trainer, make, config).error().message == "training: resume without a folder");
  config.folder = folder.path.string();
  CHECK(train(*trainer, make, config).error().message.find("best.mara: no such file") != std::string::npos);
  config.resume = false;
  REQUIRE(train(*trainer, make, config));
  config.resume = true;
  config.steps = 40;
  {
    std::ofstream damage(folder.path / "checkpoint.mara", std::ios::binary | std::ios::in | std::ios::out);
    damage.seekp(20);
    damage.put('!');
  }
  auto fresh = ScriptedTrainer::create({{1, 2, 3, 4}}, make).value();
  const auto refused = train(*fresh, make, config);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("checksum") != std::string::npos);
  CHECK(fresh->env_steps() == 0);
}

TEST_CASE("a training names the field that makes no sense") {
  const GameMaker make = pick_game();
  auto trainer = ScriptedTrainer::create({{1}}, make).value();
  const auto message = [&](auto change) {
    auto config = every_round(1);
    change(config);
    return train(*trainer, make, config).error().message;
  };
  CHECK(message([](TrainingConfig& c) { c.steps = 0; }) == "training: steps = 0, must be at least 1");
  CHECK(message([](TrainingConfig& c) { c.evaluate_every = -1; }) == "training: evaluate_every = -1");
  CHECK(message([](TrainingConfig& c) { c.log_every = -3; }) == "training: log_every = -3");
  CHECK(message([](TrainingConfig& c) { c.patience = -2; }) == "training: patience = -2");
  CHECK(message([](TrainingConfig& c) { c.evaluation.episodes = 0; }) == "training: evaluation.episodes = 0");
  CHECK(message([](TrainingConfig& c) { c.folder = "/nowhere/at/all"; }).find("cannot be written") !=
        std::string::npos);
}

}  // namespace
}  // namespace mara::test
