// Conditional flow matching against closed forms, and what it refuses.
#include "mara/flow/matching.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

using Field = VelocityField<1, 1, 32, 32>;

/// N(0, 1) to N(2, 1), drawn independently; the condition is always 0.
void gaussians(std::size_t, Random& random, float* x0, float* x1, float* condition) {
  *x0 = static_cast<float>(random.normal());
  *x1 = 2.0f + static_cast<float>(random.normal());
  *condition = 0.0f;
}

/// E[x1 - x0 | x_t = x].
double best_velocity(double x, double t) {
  return 2.0 + (t - (1.0 - t)) / ((1.0 - t) * (1.0 - t) + t * t) * (x - 2.0 * t);
}

float velocity(const Field& field, float x, float t, Field::Workspace& work) {
  const float condition = 0.0f;
  float v = 0.0f;
  field.velocity(&x, t, &condition, 1, &v, work);
  return v;
}

}  // namespace

TEST_CASE("Gaussian to Gaussian: the loss, the field and both maps of the closed form", "[flow]") {
  Random random(1);
  Field field(random);
  MatchingConfig config;
  config.epochs = 40;
  config.batch = 2048;
  config.learning_rate = 1e-2;
  const auto report = train_matching(field, 60'000, gaussians, config, random);
  REQUIRE(report);
  REQUIRE(report->epoch_loss.size() == 40);
  CHECK(report->samples == 40 * 60'000);

  constexpr double kLeast = 1.5707963267948966;  // s0 s1 pi / 2
  Field::Workspace work;
  constexpr int kDraws = 100'000;
  double loss = 0.0, least = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    float x0, x1, condition;
    gaussians(0, random, &x0, &x1, &condition);
    const auto t = static_cast<float>(random.uniform());
    const float x = (1.0f - t) * x0 + t * x1;
    const double u = static_cast<double>(x1 - x0);
    const double error = static_cast<double>(velocity(field, x, t, work)) - u,
                 best = best_velocity(static_cast<double>(x), static_cast<double>(t)) - u;
    loss += error * error / kDraws;
    least += best * best / kDraws;
  }
  CHECK(least == Approx(kLeast).epsilon(0.01));  // the closed form itself
  CHECK(loss == Approx(kLeast).epsilon(0.03));
  CHECK(report->epoch_loss.back() == Approx(kLeast).epsilon(0.03));

  // Root mean square errors of the maps over the origin's distribution.
  const float condition = 0.0f;
  constexpr int kOrigins = 400;
  double one_error = 0.0, many_error = 0.0;
  for (int i = 0; i < kOrigins; ++i) {
    const double x0 = normal_quantile((i + 0.5) / kOrigins);
    float one = static_cast<float>(x0), many = one;
    euler_endpoint(field, &one, &condition, 1, 1, work);
    euler_endpoint(field, &many, &condition, 1, 100, work);
    one_error +=
        std::pow(static_cast<double>(one) - 2.0, 2) / kOrigins;  // the target's mean, whatever the origin
    many_error += std::pow(static_cast<double>(many) - (2.0 + x0), 2) / kOrigins;
  }
  CHECK(std::sqrt(one_error) < 0.1);
  CHECK(std::sqrt(many_error) < 0.05);
}

TEST_CASE("a deterministic coupling is learnt without loss", "[flow]") {
  using Conditional = VelocityField<2, 2, 32>;
  Random random(3);
  Conditional field(random);
  MatchingConfig config;
  config.epochs = 40;
  config.learning_rate = 5e-3;
  // x0 = 0 and x1 = (c0, -c1): the velocity is a function of the condition alone.
  const auto draw = [](std::size_t, Random& rng, float* x0, float* x1, float* c) {
    c[0] = static_cast<float>(rng.uniform(-1.0, 1.0)), c[1] = static_cast<float>(rng.uniform(-1.0, 1.0));
    x0[0] = x0[1] = 0.0f;
    x1[0] = c[0], x1[1] = -c[1];
  };
  const auto report = train_matching(field, 4000, draw, config, random);
  REQUIRE(report);
  CHECK(report->epoch_loss.back() < 1e-3);
  CHECK(report->epoch_loss.back() < 0.1 * report->epoch_loss.front());
}

TEST_CASE("the same stream trains the same field", "[flow]") {
  const auto train = [](std::uint64_t seed) {
    Random random(seed);
    Field field(random);
    MatchingConfig config;
    config.epochs = 2;
    REQUIRE(train_matching(field, 3000, gaussians, config, random));
    return std::vector<float>(field.network().parameters().begin(), field.network().parameters().end());
  };
  CHECK(train(5) == train(5));
  CHECK(train(5) != train(6));
}

TEST_CASE("every item is drawn once an epoch, and progress is reported", "[flow]") {
  Random random(4);
  Field field(random);
  MatchingConfig config;
  config.epochs = 3;
  config.batch = 7;  // does not divide 100
  std::vector<int> drawn(100, 0);
  const auto draw = [&](std::size_t item, Random& rng, float* x0, float* x1, float* c) {
    ++drawn[item];
    gaussians(item, rng, x0, x1, c);
  };
  std::vector<double> losses;
  const auto report = train_matching(field, 100, draw, config, random, [&](int epoch, double loss) {
    CHECK(epoch == static_cast<int>(losses.size()));
    losses.push_back(loss);
  });
  REQUIRE(report);
  CHECK(losses == report->epoch_loss);
  CHECK(drawn == std::vector<int>(100, 3));
}

TEST_CASE("no items, a bad rate, and numbers that are none", "[flow]") {
  Random random(5);
  Field field(random);
  const std::vector<float> before(field.network().parameters().begin(), field.network().parameters().end());
  const auto unchanged = [&] {
    return std::equal(before.begin(), before.end(), field.network().parameters().begin());
  };
  MatchingConfig config;
  const auto none = train_matching(field, 0, gaussians, config, random);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("no samples") != std::string::npos);
  for (const double rate : {0.0, -1.0, std::nan("")}) {
    MatchingConfig bad = config;
    bad.learning_rate = rate;
    const auto refused = train_matching(field, 10, gaussians, bad, random);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("learning_rate") != std::string::npos);
  }
  const auto broken = [](std::size_t item, Random& rng, float* x0, float* x1, float* c) {
    gaussians(item, rng, x0, x1, c);
    if (item == 3) *x1 = std::numeric_limits<float>::quiet_NaN();
  };
  const auto refused = train_matching(field, 10, broken, config, random);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kNumerical);
  CHECK(unchanged());
}
