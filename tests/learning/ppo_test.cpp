// PPO on the pendulum: losses and their gradients, advantages, reproducibility, errors, and that it learns.
#include "mara/learning/ppo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/environment/pendulum.hpp"

using namespace mara;

namespace {

using Trainer = PpoTrainer<Pendulum, 64, 64>;

PpoConfig pendulum_config(std::uint64_t seed) {
  PpoConfig config;
  config.seed = seed;
  config.action_scale = Pendulum::kMaximumTorque;
  config.entropy = 1.0;
  return config;
}

Trainer trainer(const PpoConfig& config, std::size_t environments = 4) {
  auto made = Trainer::create(config, Pendulum(environments, config.seed));
  REQUIRE(made);
  return std::move(*made);
}

/// Undiscounted return of an episode with the most probable actions, mean over 64.
double evaluate(Trainer& trained) {
  Pendulum pendulum(64, 12345);
  std::vector<float> rows(64 * 3), actions(64), rewards(64);
  double total = 0.0;
  for (int step = 0; step < Pendulum::kEpisodeSteps; ++step) {
    pendulum.observe(rows.data());
    trained.act(rows.data(), 64, actions.data());
    REQUIRE(pendulum.step(actions.data(), rewards.data()));
    for (const float r : rewards) total += static_cast<double>(r);
  }
  return total / 64.0;
}

std::vector<float> weights(const Trainer& t) {
  std::vector<float> all(t.actor().parameters().begin(), t.actor().parameters().end());
  all.insert(all.end(), t.critic().parameters().begin(), t.critic().parameters().end());
  all.insert(all.end(), t.log_std().begin(), t.log_std().end());
  return all;
}

/// A policy of two numbers in double: a small network, log_std behind its parameters, and a batch.
struct Problem {
  using Net = Mlp<float, 3, 8, 2>;
  using DoubleNet = Mlp<double, 3, 8, 2>;
  static constexpr std::size_t kRows = 37;
  Net net;
  std::array<float, 2> log_std{-0.4f, 0.3f};
  std::vector<float> inputs, actions, old, advantages;
  float clip = 0.2f, entropy = 0.3f;

  explicit Problem(std::uint64_t seed) {
    Random random(seed);
    net.initialise(random, 1.0f);
    for (std::size_t i = 0; i < kRows * 3; ++i) inputs.push_back(static_cast<float>(random.normal()));
    for (std::size_t i = 0; i < kRows * 2; ++i) actions.push_back(static_cast<float>(random.normal()));
    std::vector<float> means(kRows * 2), now(kRows);
    Net::Workspace workspace;
    net.forward(inputs.data(), kRows, means.data(), workspace);
    DiagonalGaussian<2>::log_probabilities(means.data(), log_std, actions.data(), kRows, now.data());
    for (std::size_t r = 0; r < kRows; ++r) {
      // Ratios from .55 to 1.8, none near the edges of the clip.
      const double ratio = std::array{0.6, 0.9, 1.05, 1.5}[r % 4] * random.uniform(0.95, 1.05);
      old.push_back(now[r] - static_cast<float>(std::log(ratio)));
      advantages.push_back(static_cast<float>(random.normal()));
    }
  }

  /// The loss in double at parameters in exact order, log_std last.
  double loss(const std::vector<double>& parameters) const {
    DoubleNet copy;
    REQUIRE(copy.set_parameters(std::span<const double>(parameters).first(DoubleNet::kParameters)));
    const double* s = parameters.data() + DoubleNet::kParameters;
    std::vector<double> in(inputs.begin(), inputs.end()), means(kRows * 2);
    DoubleNet::Workspace workspace;
    copy.forward(in.data(), kRows, means.data(), workspace);
    double total = 0.0;
    for (std::size_t r = 0; r < kRows; ++r) {
      double log_probability = 0.0;
      for (std::size_t k = 0; k < 2; ++k) {
        const double z = (static_cast<double>(actions[2 * r + k]) - means[2 * r + k]) / std::exp(s[k]);
        log_probability += -0.5 * z * z - s[k] - 0.91893853320467274;
      }
      const double ratio = std::exp(log_probability - static_cast<double>(old[r])), a = advantages[r];
      const double c = clip;
      total += std::min(ratio * a, std::clamp(ratio, 1.0 - c, 1.0 + c) * a);
    }
    return -total / kRows - static_cast<double>(entropy) * (s[0] + s[1] + 2.0 * 1.41893853320467274);
  }

  std::vector<double> parameters() const {
    const std::vector<float> exact = net.exact_parameters();
    std::vector<double> all(exact.begin(), exact.end());
    all.insert(all.end(), log_std.begin(), log_std.end());
    return all;
  }
};

}  // namespace

TEST_CASE("gradient of the whole policy loss against central differences in double", "[ppo]") {
  Problem problem(4);
  Tape<float> tape;
  std::array<float, 2> log_std_gradient{};
  const Var means = problem.net.forward(tape, tape.input(problem.inputs.data(), Problem::kRows, 3));
  const Var log_std = tape.variable(problem.log_std.data(), log_std_gradient.data(), 1, 2);
  const auto policy = gaussian_policy_loss<2>(
      tape, means, log_std,
      {problem.actions.data(), problem.old.data(), problem.advantages.data(), Problem::kRows}, problem.clip,
      problem.entropy);
  REQUIRE(tape.status());
  const std::vector<double> at = problem.parameters();
  CHECK(static_cast<double>(tape.scalar(policy.loss)) == Approx(problem.loss(at)).epsilon(1e-5));
  tape.backward(policy.loss);

  std::vector<double> gradient;
  problem.net.visit_gradients([&](const std::string&, auto view) {
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c) gradient.push_back(static_cast<double>(view.at(r, c)));
  });
  gradient.insert(gradient.end(), log_std_gradient.begin(), log_std_gradient.end());
  REQUIRE(gradient.size() == at.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double> up = at, down = at;
    up[i] += 1e-5, down[i] -= 1e-5;
    const double difference = (problem.loss(up) - problem.loss(down)) / 2e-5;
    INFO("parameter " << i);
    CHECK(gradient[i] == Approx(difference).epsilon(1e-4).margin(2e-6));
    largest = std::max(largest, std::abs(difference));
  }
  CHECK(largest > 0.05);
}

TEST_CASE("the clipped surrogate: objective and slope in every case", "[ppo]") {
  const struct {
    float ratio, advantage;
    double objective, slope;  // slope: d objective / d log-probability
  } rows[] = {{1.5f, 2, 2.4, 0},   {1.5f, -2, -3, -3},     {0.5f, 2, 1, 1},
              {0.5f, -2, -1.6, 0}, {1.1f, -1, -1.1, -1.1}, {0.85f, 3, 2.55, 2.55}};
  const float mean = 0.25f, action = 1.0f, log_std = std::log(0.5f);
  const double z = 1.5, log_probability = -0.5 * z * z - std::log(0.5) - 0.9189385332;
  for (const auto& row : rows) {
    INFO("ratio " << row.ratio << ", advantage " << row.advantage);
    const float old = static_cast<float>(log_probability) - std::log(row.ratio);
    float mean_gradient = 0.0f, log_std_gradient = 0.0f;
    Tape<float> tape;
    const auto policy = gaussian_policy_loss<1>(tape, tape.variable(&mean, &mean_gradient, 1, 1),
                                                tape.variable(&log_std, &log_std_gradient, 1, 1),
                                                {&action, &old, &row.advantage, 1}, 0.2f, 0.0f);
    tape.backward(policy.loss);
    CHECK(tape.scalar(policy.loss) == Approx(-row.objective).epsilon(1e-5));
    const double ratio = static_cast<double>(row.ratio);
    CHECK(policy.approximate_kl == Approx(ratio - 1.0 - std::log(ratio)).margin(1e-5));
    CHECK(mean_gradient == Approx(-row.slope * z / 0.5).margin(1e-5));
    CHECK(log_std_gradient == Approx(-row.slope * (z * z - 1.0)).margin(1e-5));
  }
}

TEST_CASE("shapes that do not agree are the tape's error", "[ppo]") {
  const float numbers[4] = {};
  float gradient[4] = {};
  Tape<float> tape;
  const Var means = tape.variable(numbers, gradient, 2, 2), log_std = tape.variable(numbers, gradient, 1, 2);
  const auto loss = gaussian_policy_loss<2>(tape, means, log_std, {numbers, numbers, numbers, 3}, 0.2f, 0.0f);
  CHECK_FALSE(loss.loss.valid());
  REQUIRE_FALSE(tape.status());
  CHECK(tape.status().error().message.find("means 2 x 2") != std::string::npos);
}

TEST_CASE("advantages of a batch are those of its environments one by one", "[ppo]") {
  constexpr std::size_t kSteps = 23, kEnvironments = 19;
  Random random(1);
  std::vector<float> deltas(kSteps * kEnvironments), keep(deltas.size(), 1.0f);
  for (float& d : deltas) d = static_cast<float>(random.normal());
  for (float& k : keep) k = random.uniform() < 0.1 ? 0.0f : 1.0f;
  std::vector<float> batch = deltas;
  accumulate_advantages_of_batch(batch.data(), keep.data(), kSteps, kEnvironments, 0.9f, 0.8f);
  for (std::size_t e = 0; e < kEnvironments; ++e) {
    std::vector<float> one;
    std::vector<StepEnd> ends;
    for (std::size_t t = 0; t < kSteps; ++t) {
      one.push_back(deltas[t * kEnvironments + e]);
      ends.push_back(keep[t * kEnvironments + e] == 0.0f ? StepEnd::kTruncated : StepEnd::kContinues);
    }
    accumulate_advantages(one, ends, 0.9f, 0.8f);
    for (std::size_t t = 0; t < kSteps; ++t)
      CHECK(batch[t * kEnvironments + e] == Approx(one[t]).margin(1e-6));
  }
}

TEST_CASE("normalised advantages have mean 0 and deviation 1; equal ones become 0", "[ppo]") {
  std::vector<float> x{1, 2, 3, 4, 10};
  normalise(x.data(), x.size());
  double mean = 0, square = 0;
  for (const float v : x) mean += static_cast<double>(v) / 5, square += static_cast<double>(v) * v / 5;
  CHECK(mean == Approx(0.0).margin(1e-6));
  CHECK(square == Approx(1.0).epsilon(1e-5));
  CHECK(x[4] == Approx(6.0 / std::sqrt(10.0)));
  std::vector<float> equal(20, 3.0f);
  normalise(equal.data(), equal.size());
  CHECK(equal == std::vector<float>(20, 0.0f));
}

TEST_CASE("the same seed gives the same bits, another one others", "[ppo]") {
  PpoConfig config = pendulum_config(3);
  config.rollout_steps = 256;
  Trainer first = trainer(config), second = trainer(config);
  config.seed = 4;
  Trainer other = trainer(config);
  for (int update = 0; update < 3; ++update) {
    const auto a = first.update(), b = second.update();
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->policy_loss == b->policy_loss);
    CHECK(a->reward == b->reward);
    REQUIRE(other.update());
  }
  CHECK(weights(first) == weights(second));
  CHECK(weights(first) != weights(other));
  CHECK(first.env_steps() == 3 * 4 * 256);
}

TEST_CASE("a run that is stopped and resumed ends with the same bits", "[ppo]") {
  const std::string path = (std::filesystem::temp_directory_path() / "mara_ppo_test.archive").string();
  PpoConfig config = pendulum_config(5);
  config.rollout_steps = 150;  // 200 steps an episode: stops in the middle of one
  Trainer whole = trainer(config), resumed = trainer(config);
  for (int update = 0; update < 2; ++update) REQUIRE(whole.update());
  REQUIRE(whole.save(path));
  REQUIRE(resumed.load(path));
  CHECK(weights(resumed) == weights(whole));
  for (int update = 0; update < 3; ++update) {
    const auto a = whole.update(), b = resumed.update();
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->env_steps == b->env_steps);
    CHECK(a->value_loss == b->value_loss);
    if (a->episodes > 0) CHECK(a->episode_return == b->episode_return);
  }
  CHECK(weights(resumed) == weights(whole));

  Trainer larger = trainer(config, 5);
  const std::vector<float> before = weights(larger);
  CHECK_FALSE(larger.load(path));
  CHECK_FALSE(larger.load(path + ".not_there"));
  CHECK(weights(larger) == before);
  std::filesystem::remove(path);
}

TEST_CASE("a configuration outside its domain names the field", "[ppo]") {
  const auto message = [](auto change) {
    PpoConfig config = pendulum_config(1);
    change(config);
    const auto made = Trainer::create(config, Pendulum(4));
    return made ? std::string() : made.error().message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message([](PpoConfig&) {}).empty());
  CHECK(message([](PpoConfig& c) { c.epochs = 0; }).find("epochs = 0") != std::string::npos);
  CHECK(message([](PpoConfig& c) { c.minibatch_rows = 5000; }).find("minibatch_rows = 5000") !=
        std::string::npos);
  CHECK(message([](PpoConfig& c) { c.gamma = 1.5; }).find("gamma = 1.5") != std::string::npos);
  CHECK(message([&](PpoConfig& c) { c.lambda = nan; }).find("lambda = nan") != std::string::npos);
  CHECK(message([](PpoConfig& c) { c.clip = -0.1; }).find("clip = -0.1") != std::string::npos);
  CHECK(message([&](PpoConfig& c) { c.learning_rate = nan; }).find("learning_rate") != std::string::npos);
  CHECK(message([](PpoConfig& c) { c.initial_std = 0; }).find("initial_std") != std::string::npos);
  CHECK(message([](PpoConfig& c) { c.entropy = -1; }).find("entropy") != std::string::npos);
}

namespace {
/// A pendulum whose rewards are `reward` from some step on.
struct Poisoned : Pendulum {
  float poison = 0.0f;
  std::int64_t from = 0, steps = 0;
  using Pendulum::Pendulum;
  Result<std::size_t> step(const float* torques, float* rewards) {
    auto ended = Pendulum::step(torques, rewards);
    if (++steps > from) rewards[0] = poison;
    return ended;
  }
};
}  // namespace

TEST_CASE("a loss that is not finite is an error with its name; the weights stay good", "[ppo]") {
  using PoisonedTrainer = PpoTrainer<Poisoned, 16>;
  for (const float poison :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    Poisoned environment(4);
    environment.poison = poison;
    environment.from = 500;
    PpoConfig config = pendulum_config(1);
    config.rollout_steps = 256;
    auto made = PoisonedTrainer::create(config, environment);
    REQUIRE(made);
    REQUIRE(made->update());
    const auto failed = made->update();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == ErrorCode::kNumerical);
    CHECK(failed.error().message.find(" loss") != std::string::npos);
    for (const float w : made->actor().parameters()) REQUIRE(std::isfinite(w));
    for (const float w : made->critic().parameters()) REQUIRE(std::isfinite(w));
  }
  Trainer broken = trainer(pendulum_config(1));
  broken.actor().parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  const auto failed = broken.update();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("policy") != std::string::npos);
}

TEST_CASE("PPO swings the pendulum up within 300,000 steps", "[ppo]") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Trainer learner = trainer(pendulum_config(seed));
    double score = evaluate(learner);
    CHECK(score < -900.0);  // nothing is learned yet
    while (score < -250.0 && learner.env_steps() + 8 * 4096 <= 300'000) {
      for (int update = 0; update < 8; ++update) REQUIRE(learner.update());
      score = evaluate(learner);
    }
    INFO("seed " << seed << ", " << learner.env_steps() << " steps");
    CHECK(score > -250.0);
  }
}
