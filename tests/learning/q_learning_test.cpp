// Value learners as programs: seeds, threads, stop and resume, evaluation, errors, time limits, guidance.

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/environment/fixed_team.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/two_step_game.hpp"
#include "q_learning_helpers.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

/// Everybody sees 1 and has one option; every step pays `reward`. Truncated after `length` steps.
class StillGame : public FixedTeam {
 public:
  StillGame(float reward, int length, std::size_t agents = 1, ActionShape action = ActionShape::discrete(1))
      : FixedTeam(GameShape{agents, 1, 1, std::move(action)}), reward_(reward), length_(length) {}
  Status reset(std::uint64_t) {
    begin();
    return {};
  }
  void observe(float* rows) const { std::fill_n(rows, shape().agents, 1.0f); }
  void global_state(float* row) const { *row = 1.0f; }
  StepOutcome step() { return finish_shared(static_cast<double>(reward_), false, steps() + 1 == length_); }

 private:
  float reward_;
  int length_;
};

const GameMaker kCrowd = [](int e) { return AnyGame(CrowdGame(0.1, 5 + e)); };

/// Everything on: recurrent agents in two groups, priorities, several games.
QLearningConfig busy_config() {
  QLearningConfig config;
  config.seed = 3;
  config.environments = 3;
  config.collect_steps = 3;
  config.updates = 2;
  config.sequence_steps = 4;
  config.burn_in = 1;
  config.n_step = 2;
  config.replay_pieces = 12;  // overwritten early
  config.batch = 6;
  config.learning_start = 20;
  config.priority_alpha = 0.6;
  config.priority_beta_steps = 30;
  config.target_period = 7;
  config.learning_rate = 3e-3;
  config.team.network.hidden = {6};
  config.team.network.recurrence = Recurrence::kGru;
  config.team.network.memory_units = 5;
  config.team.groups = {0, 1, 0};
  config.team.agent_ids = true;
  config.mixer.width = 4;
  config.mixer.central_hidden = {6};
  config.epsilon = EpsilonSchedule::linear(1.0, 0.1, 100);
  return config;
}

template <class M>
std::unique_ptr<QTrainer<M>> made(const QLearningConfig& config, int rounds = 0,
                                  const GameMaker& make = kCrowd) {
  auto trainer = QTrainer<M>::create(config, make).value();
  for (int round = 0; round < rounds; ++round) REQUIRE(trainer->update());
  return trainer;
}

template <class M>
void check_resumes(QLearningConfig config) {
  const std::string whole = state_of(*made<M>(config, 14));
  for (const int stop : {0, 1, 2, 3, 6, 11}) {
    INFO("stopped after round " << stop);
    const TemporaryFile file("q_resume");
    REQUIRE(made<M>(config, stop)->save(file.path));
    config.threads = 2;
    auto again = made<M>(config, 5);
    REQUIRE(again->load(file.path));
    for (int round = stop; round < 14; ++round) REQUIRE(again->update());
    CHECK(state_of(*again) == whole);
  }
}

std::string refusal(void (*change)(QLearningConfig&), const GameMaker& make = kCrowd) {
  QLearningConfig config = busy_config();
  change(config);
  const auto trainer = QTrainer<critic::MonotonicMixing>::create(config, make);
  return trainer ? "accepted" : trainer.error().message;
}

}  // namespace

TEST_CASE("value learners: one seed, one run; any number of threads (C2)", "[learning]") {
  QLearningConfig config = busy_config();
  const std::string first = state_of(*made<critic::MonotonicMixing>(config, 12));
  for (const int threads : {2, 3}) {
    config.threads = threads;
    CHECK(state_of(*made<critic::MonotonicMixing>(config, 12)) == first);
  }
  config.seed = 4;
  CHECK(state_of(*made<critic::MonotonicMixing>(config, 12)) != first);
}

TEST_CASE("value learners go on where they stopped (C2)", "[learning]") {
  QLearningConfig config = busy_config();
  check_resumes<critic::MonotonicMixing>(config);
  check_resumes<critic::OptimisticMixing>(config);
  config.team.group_networks.assign(2, config.team.network);  // the second group remembers nothing
  config.team.group_networks[1].recurrence = Recurrence::kNone;
  check_resumes<critic::MonotonicMixing>(config);
  config.team.group_networks.clear();
  config.optimiser = OptimiserKind::kRmsProp;
  config.target_tau = 0.1;
  config.team.network.recurrence = Recurrence::kLstm;
  check_resumes<critic::NoMixing>(config);
  config.team.network.recurrence = Recurrence::kNone;
  config.priority_alpha = 0.0;
  config.sequence_steps = 2;
  check_resumes<critic::SumMixing>(config);
  config.parameter_noise.deviation = 0.1;
  config.parameter_noise.period = 20;
  config.parameter_noise.growth = 1.1;
  check_resumes<critic::SumMixing>(config);
}

TEST_CASE("noise on parameters changes what is played, not what is evaluated", "[learning]") {
  QLearningConfig config = busy_config();
  config.epsilon = EpsilonSchedule::constant(0.0);
  config.learning_start = 1'000'000;
  const auto returns = [&](double deviation) {
    config.parameter_noise.deviation = deviation;
    auto trainer = made<critic::SumMixing>(config);
    const auto before = trainer->policy(trainer->weights());
    double sum = 0.0;
    for (int round = 0; round < 60; ++round) {
      const TrainingReport report = trainer->update().value();
      if (report.episodes > 0) sum += report.episode_return * static_cast<double>(report.episodes);
      CHECK((report.values.back().first == "parameter_noise") == (deviation > 0.0));
    }
    CHECK(std::equal(trainer->weights().begin(), trainer->weights().end(),
                     made<critic::SumMixing>(config)->weights().begin()));
    return sum;
  };
  const double plain = returns(0.0);
  CHECK(plain == returns(0.0));
  CHECK(plain == returns(1e-30));  // too small to change a parameter
  CHECK(plain != returns(3.0));
}

TEST_CASE("the noise is steered until so many agents choose otherwise as wanted", "[learning]") {
  TeamConfig config;
  config.network.hidden = {16};
  const AgentTeam team = AgentTeam::create(config, 3, 4, 5).value();
  std::vector<float> weights(team.stored());
  Random random(3);
  team.initialise(random, weights.data());
  SequenceBatch batch;
  batch.count = 200;
  batch.observations.resize(200 * 3 * 4);
  for (float& x : batch.observations) x = static_cast<float>(random.normal());
  batch.present.assign(200 * 3, 1);
  batch.masks.assign(200 * 3, 31u);
  for (const double begin : {1e-4, 3.0}) {
    ParameterNoise noise;
    noise.deviation = begin;
    noise.target = 0.2;
    noise.growth = 1.1;
    noise.period = 10;
    NoisyTeam noisy(7, noise);
    const auto share = [&](std::int64_t at) {
      const std::span<const float> moved = noisy.weights(team, weights, at);
      AgentTeam::Workspace work;
      std::vector<float> a(600 * 5), b(600 * 5);
      team.step(weights.data(), batch.observations.data(), 200, nullptr, nullptr, a.data(), work);
      team.step(moved.data(), batch.observations.data(), 200, nullptr, nullptr, b.data(), work);
      int other = 0;
      for (std::size_t row = 0; row < 600; ++row)
        other += masked_mode(&a[row * 5], 5, 31u) != masked_mode(&b[row * 5], 5, 31u) ? 1 : 0;
      return other / 600.0;
    };
    double late = 0.0;
    for (std::int64_t period = 1; period <= 400; ++period) {
      const double now = share(10 * period);
      CHECK(now == share(10 * period + 9));  // one draw a period
      if (period > 300) late += now / 100.0;
      noisy.adapt(team, weights, batch, true, 10 * period + 5);
      const double steered = noisy.deviation();
      noisy.adapt(team, weights, batch, true, 10 * period + 9);  // once a period
      CHECK(noisy.deviation() == steered);
    }
    CHECK(late == Approx(0.2).margin(0.06));
  }
}

TEST_CASE("value learners refuse foreign and damaged checkpoints and stay as they were", "[learning]") {
  const QLearningConfig config = busy_config();
  const TemporaryFile file("q_damaged");
  REQUIRE(made<critic::MonotonicMixing>(config, 4)->save(file.path));
  const std::string good = file.read();
  auto trainer = made<critic::MonotonicMixing>(config, 6);
  const std::string before = state_of(*trainer);
  for (const std::size_t at : {std::size_t{9}, good.size() / 3, good.size() / 2, good.size() - 3}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    file.write(bad);
    CHECK_FALSE(trainer->load(file.path));
    file.write(good.substr(0, at));
    CHECK_FALSE(trainer->load(file.path));
  }
  file.write(good);
  QLearningConfig other = config;
  other.mixer.width = 5;
  CHECK(made<critic::MonotonicMixing>(other)->load(file.path).error().code == ErrorCode::kShapeMismatch);
  other = config;
  other.environments = 2;
  CHECK(made<critic::MonotonicMixing>(other)->load(file.path).error().code == ErrorCode::kShapeMismatch);
  other = config;
  other.replay_pieces = 3;
  CHECK(made<critic::MonotonicMixing>(other)->load(file.path).error().message.find("replay: size") !=
        std::string::npos);
  CHECK(made<critic::SumMixing>(config)->load(file.path).error().code == ErrorCode::kShapeMismatch);
  CHECK(trainer->load("/nowhere/at/all").error().code == ErrorCode::kIo);
  CHECK(state_of(*trainer) == before);
  CHECK(trainer->load(file.path));
}

TEST_CASE("evaluation changes nothing (C5)", "[learning]") {
  const QLearningConfig config = busy_config();
  auto plain = made<critic::MonotonicMixing>(config), watched = made<critic::MonotonicMixing>(config);
  double first = 0.0;
  for (int round = 0; round < 8; ++round) {
    const auto a = plain->update().value(), b = watched->update().value();
    const double value = greedy_return(*watched, kCrowd, 3);
    if (round == 7) first = value;
    CHECK(a.episodes == b.episodes);
  }
  CHECK(state_of(*plain) == state_of(*watched));
  CHECK(greedy_return(*watched, kCrowd, 3) == first);
}

TEST_CASE("a round reports what it did", "[learning]") {
  QLearningConfig config = small_q_config(1);
  config.environments = 2;
  config.collect_steps = 3;
  config.learning_start = 13;
  const GameMaker make = maker_of(StillGame(2.0f, 4));
  auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
  TrainingReport report = trainer->update().value();
  CHECK(report.env_steps == 6);
  CHECK(report.updates == 0);
  CHECK(report.episodes == 0);
  CHECK(std::isnan(report.episode_return));
  CHECK(std::isnan(report.values[0].second));
  report = trainer->update().value();
  CHECK(report.episodes == 2);  // both games passed their fourth step
  CHECK(report.episode_return == 8.0);
  report = trainer->update().value();
  CHECK(report.env_steps == 18);
  CHECK(report.updates == 1);
  CHECK(report.values[0].first == "td_loss");
  CHECK(report.values[0].second > 0.0);
  CHECK(trainer->replay().size() == 18);
  CHECK(trainer->replay_bytes() == 1000 * SequenceArrays::bytes(trainer->replay().shape(), 1));
}

TEST_CASE("learners bootstrap through time limits (A3)", "[learning]") {
  // Reward 1, gamma .99, cut after 10 steps: 100; 9.17 is what a termination there would give.
  const auto value_of = [](auto trainer, std::size_t agents) {
    train(*trainer, 16000);
    return team_value(*trainer, std::vector<float>(agents, 1.0f), {1.0f}, std::vector<int>(agents, 0));
  };
  QLearningConfig config = small_q_config(1);
  config.team.network.hidden = {};  // linear on a constant: a table of one entry
  config.team.agent_ids = false;
  config.batch = 4;
  config.learning_start = 10;
  config.learning_rate = 0.1;
  config.target_period = 20;
  CHECK(std::fabs(
            value_of(QTrainer<critic::SumMixing>::create(config, maker_of(StillGame(1.0f, 10))).value(), 1) -
            100.0) < 0.1);
  config.learning_rate = 0.05;
  CHECK(
      std::fabs(
          value_of(QTrainer<critic::SumMixing>::create(config, maker_of(StillGame(1.0f, 10, 2))).value(), 2) -
          100.0) < 0.1);
  // A limit of the trainer's own is no end either.
  config.learning_rate = 0.1;
  config.episode_steps = 10;
  auto own = QTrainer<critic::NoMixing>::create(config, maker_of(StillGame(1.0f, 1000))).value();
  train(*own, 16000);
  CHECK(std::fabs(static_cast<double>(agent_values(*own, {1.0f})[0]) - 100.0) < 0.1);
  // A mixer is no table and swings about; it comes to rest with slow targets.
  config.episode_steps = 0;
  config.learning_rate = 0.05;
  config.target_tau = 0.05;
  config.mixer.width = 2;
  auto qmix = QTrainer<critic::MonotonicMixing>::create(config, maker_of(StillGame(1.0f, 10, 2))).value();
  train(*qmix, 32000);
  CHECK(std::fabs(team_value(*qmix, {1, 1}, {1}, {0, 0}) - 100.0) < 1.0);
}

TEST_CASE("the learning rate of value learners falls along a line", "[learning]") {
  // A linear value under a constant error: Adam moves by the rate in every step.
  QLearningConfig config = small_q_config(1);
  config.team.network.hidden = {};
  config.team.agent_ids = false;
  config.gamma = 0.0;
  config.learning_start = 1;
  config.learning_rate = 0.01;
  config.final_rate = 0.25;
  config.rate_steps = 100;
  auto trainer = QTrainer<critic::SumMixing>::create(config, maker_of(StillGame(1e6f, 10))).value();
  const auto bias = [&] {
    float found = 0.0f;
    trainer->networks().team().visit(trainer->parameters().data(),
                                     [&](const std::string& name, ParameterView<const float> view) {
                                       if (name.find("bias") != std::string::npos) found = view.at(0, 0);
                                     });
    return static_cast<double>(found);
  };
  double before = bias();
  for (int step = 1; step <= 200; ++step) {
    REQUIRE(trainer->update());
    const double rate = 0.01 * (1.0 - std::min(1.0, step / 100.0) * 0.75);
    CHECK(bias() - before == Approx(rate).epsilon(0.01));
    before = bias();
  }
}

TEST_CASE("guidance of weight 0 changes no bit, features of none neither (B11)", "[learning]") {
  const QLearningConfig config = busy_config();
  const std::string plain = state_of(*made<critic::MonotonicMixing>(config, 8));
  QGuidance guidance;
  guidance.value = [](const QMoment&) { return 1e6f; };
  guidance.describe = [](const QMoment&, float* out) { *out = 1.0f; };
  const auto guided = [&] {
    auto trainer = QTrainer<critic::MonotonicMixing>::create(config, kCrowd, guidance).value();
    for (int round = 0; round < 8; ++round) REQUIRE(trainer->update());
    return trainer;
  };
  CHECK(state_of(*guided()) == plain);
  guidance.constraint = 0.1;
  CHECK(state_of(*guided()) != plain);
  guidance.constraint = 0.0;
  guidance.features = 3;
  guidance.describe = [](const QMoment& moment, float* out) {
    for (std::size_t i = 0; i < 3; ++i) out[i] = moment.present[i] != 0 ? moment.observations[2 * i] : -1.0f;
  };
  const auto wider = guided();
  CHECK(wider->networks().stored() > made<critic::MonotonicMixing>(config)->networks().stored());
  // No features, no difference; other features, another mixer.
  const std::string described = state_of(*wider);
  CHECK(state_of(*guided()) == described);
  guidance.describe = [](const QMoment&, float* out) { std::fill_n(out, 3, 0.5f); };
  CHECK(state_of(*guided()) != described);
}

TEST_CASE("the constraint pulls the value to (y + lambda g) / (1 + lambda) (B11)", "[learning]") {
  // One-step episodes that pay 2; the guidance says 5 with weight 1/2: 3.
  const GameMaker make = [](int) { return AnyGame(MatrixGame::create({1, 1}, {2.0f}).value()); };
  QGuidance guidance;
  guidance.constraint = 0.5;
  guidance.value = [](const QMoment& moment) {
    return moment.options.size() == 2 && moment.options[0] == 0 ? 5.0f : 0.0f;
  };
  QLearningConfig config = small_q_config(1);
  config.learning_rate = 0.01;
  const auto learnt = [&](auto trainer) {
    train(*trainer, 2000);
    return team_value(*trainer, {1, 1}, {1}, {0, 0});
  };
  CHECK(std::fabs(learnt(QTrainer<critic::SumMixing>::create(config, make, guidance).value()) - 3.0) < 1e-3);
  CHECK(std::fabs(learnt(QTrainer<critic::MonotonicMixing>::create(config, make, guidance).value()) - 3.0) <
        1e-3);
  guidance.value = [](const QMoment&) { return std::numeric_limits<float>::quiet_NaN(); };  // says nothing
  CHECK(std::fabs(learnt(QTrainer<critic::SumMixing>::create(config, make, guidance).value()) - 2.0) < 1e-3);
}

TEST_CASE("a loss that is not finite stops the run, the weights stay", "[learning]") {
  QLearningConfig config = small_q_config(1);
  config.learning_start = 5;
  config.batch = 4;
  const GameMaker make = maker_of(StillGame(1e30f, 3));  // its square is no float
  auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
  const std::vector<float> before(trainer->weights().begin(), trainer->weights().end());
  Result<TrainingReport> report = trainer->update();
  while (report) report = trainer->update();
  CHECK(report.error().code == ErrorCode::kNumerical);
  CHECK(report.error().message == "q learning: td_loss = inf");
  CHECK(std::vector<float>(trainer->weights().begin(), trainer->weights().end()) == before);
}

TEST_CASE("value learners refuse what they cannot learn", "[learning]") {
  using C = QLearningConfig;
  const auto starts = [](const std::string& text, const std::string& with) { return text.find(with) == 0; };
  CHECK(refusal([](C&) {}) == "accepted");
  CHECK(starts(refusal([](C& c) { c.threads = 0; }), "q learning: threads = 0"));
  CHECK(starts(refusal([](C& c) { c.environments = 0; }), "q learning: environments = 0"));
  CHECK(starts(refusal([](C& c) { c.episode_steps = -1; }), "q learning: episode_steps = -1"));
  CHECK(starts(refusal([](C& c) { c.sequence_steps = 0; }), "q learning: sequence_steps = 0"));
  CHECK(starts(refusal([](C& c) { c.replay_pieces = 0; }), "q learning: replay_pieces = 0"));
  CHECK(starts(refusal([](C& c) { c.batch = 0; }), "q learning: batch = 0"));
  CHECK(starts(refusal([](C& c) { c.n_step = 0; }), "q learning: n_step = 0"));
  CHECK(starts(refusal([](C& c) { c.burn_in = 4; }), "q learning: burn_in = 4"));
  CHECK(starts(refusal([](C& c) { c.gamma = 1.5; }), "q learning: gamma = 1.5"));
  CHECK(starts(refusal([](C& c) { c.lambda = std::nan(""); }), "q learning: lambda = nan"));
  CHECK(starts(refusal([](C& c) { c.learning_rate = 0.0; }), "q learning: learning_rate = 0"));
  CHECK(starts(refusal([](C& c) { c.reward_scale = 0.0; }), "q learning: reward_scale = 0"));
  CHECK(starts(refusal([](C& c) { c.environments = static_cast<std::size_t>(-1); }),
               "q learning: environments = 18446744073709551616.000000 must be at most 2^31"));
  CHECK(starts(refusal([](C& c) { c.batch = static_cast<std::size_t>(-1); }), "q learning: batch = 1844"));
  CHECK(starts(refusal([](C& c) { c.sequence_steps = static_cast<std::size_t>(-1); }),
               "q learning: sequence_steps = 1844"));
  CHECK(refusal([](C& c) { c.n_step = 5; }) ==
        "q learning: n_step = 5.000000 does not fit into a piece, sequence_steps = 4");
  CHECK(refusal([](C& c) { c.lambda = 0.8, c.sequence_steps = 1, c.burn_in = 0, c.n_step = 1; }) ==
        "q learning: lambda = 0.800000 needs pieces of several steps, sequence_steps = 1");
  CHECK(refusal([](C& c) { c.sequence_steps = 1, c.burn_in = 0, c.n_step = 1; }) ==
        "q learning: sequence_steps = 1, recurrent agents need pieces of several steps");
  CHECK(starts(refusal([](C& c) { c.final_rate = 2.0; }), "q learning: final_rate = 2"));
  CHECK(starts(refusal([](C& c) { c.rate_steps = 0; }), "q learning: rate_steps = 0"));
  CHECK(starts(refusal([](C& c) { c.huber = -1.0; }), "q learning: huber = -1"));
  CHECK(starts(refusal([](C& c) { c.target_period = 0; }), "q learning: target_period = 0"));
  CHECK(starts(refusal([](C& c) { c.priority_alpha = -0.1; }), "q learning: priority_alpha = -0.1"));
  CHECK(starts(refusal([](C& c) { c.optimistic_alpha = 2.0; }), "q learning: optimistic_alpha = 2"));
  CHECK(starts(refusal([](C& c) { c.reward = static_cast<RewardKind>(7); }), "q learning: reward = 7"));
  CHECK(starts(refusal([](C& c) { c.epsilon.start = 2.0; }), "epsilon start = 2"));
  CHECK(refusal([](C& c) { c.parameter_noise.deviation = -1.0; }) ==
        "q learning: parameter noise: deviation = -1.000000 must not be negative");
  CHECK(starts(refusal([](C& c) { c.parameter_noise.growth = 1.0; }),
               "q learning: parameter noise: growth = 1"));
  CHECK(starts(refusal([](C& c) { c.parameter_noise.target = std::nan(""); }),
               "q learning: parameter noise: target = nan"));
  CHECK(
      starts(refusal([](C& c) { c.parameter_noise.period = 0; }), "q learning: parameter noise: period = 0"));
  CHECK(
      starts(refusal([](C& c) { c.team.groups = {0}; }), "q learning: team: groups: 1 numbers for 3 slots"));
  CHECK(starts(refusal([](C& c) { c.mixer.width = 0; }), "q learning: mixer: outputs = 0"));
  const GameMaker heads = [](int) {
    return AnyGame(StillGame(1.0f, 3, 3, ActionShape::multi_discrete({2, 3})));
  };
  CHECK(refusal([](C&) {}, heads) == "accepted");
  const GameMaker many = [](int) {
    return AnyGame(StillGame(1.0f, 3, 3, ActionShape::multi_discrete({8, 5})));
  };
  CHECK(refusal([](C&) {}, many) ==
        "q learning: actions of more than 32 combinations of the options of 2 heads");
  const GameMaker box = [](int) { return AnyGame(StillGame(1.0f, 3, 3, ActionShape::numbers_within({{}}))); };
  CHECK(starts(refusal([](C&) {}, box), "q learning: actions with 1 numbers have no list of options"));

  const auto guided = [](QGuidance guidance) {
    return QTrainer<critic::MonotonicMixing>::create(busy_config(), kCrowd, std::move(guidance))
        .error()
        .message;
  };
  QGuidance guidance;
  guidance.features = 1;
  CHECK(starts(guided(guidance), "q learning: guidance.describe is missing"));
  guidance = {};
  guidance.constraint = 1.0;
  CHECK(starts(guided(guidance), "q learning: guidance.value is missing"));
  guidance.constraint = -1.0;
  CHECK(starts(guided(guidance), "q learning: guidance.constraint = -1"));
}

TEST_CASE("scaled rewards teach what larger ones would, and reports show them as they are", "[learning]") {
  const auto trained = [](float payoff, double scale) {
    QLearningConfig config = small_q_config(3);
    config.reward_scale = scale;
    const auto game = MatrixGame::create({2, 2}, {payoff, 0.0f, 0.0f, 3.0f * payoff}).value();
    auto trainer = QTrainer<critic::MonotonicMixing>::create(config, maker_of(game)).value();
    double paid = 0.0;
    while (trainer->env_steps() < 300) paid += trainer->update().value().episode_return;
    return std::pair(std::vector<float>(trainer->parameters().begin(), trainer->parameters().end()), paid);
  };
  const auto small = trained(1.0f, 4.0), large = trained(4.0f, 1.0);
  CHECK(small.first == large.first);
  CHECK(4.0 * small.second == large.second);
}

TEST_CASE("games of several choices are learnt by their combinations", "[learning]") {
  // 1 for every step in which both heads say what is seen.
  const GameMaker make = maker_of(IdentityGame({ActionShape::multi_discrete({2, 3}), 50, 0.0f}));
  QLearningConfig config = small_q_config(1);
  config.gamma = 0.4;
  config.learning_rate = 3e-3;
  auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
  CHECK(trainer->networks().team().outputs() == 6);
  const auto score = [&] {
    auto policy = trainer->policy(trainer->weights());
    EvaluationConfig evaluation;
    evaluation.episodes = 10;
    return mean_team_return(evaluate_policy(make, policy, evaluation).value());
  };
  CHECK(score() < 40.0);
  train(*trainer, 3000);
  CHECK(score() == 50.0);
}
