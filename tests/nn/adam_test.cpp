// Case A14 and the promises of Adam.
#include "mara/nn/adam.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using mara::Adam;
using mara::AdamConfig;

TEST_CASE("Adam: known values", "[nn][adam]") {
  Adam<double> adam(1, AdamConfig{.learning_rate = 0.01});
  Adam<float> single(1, AdamConfig{.learning_rate = 0.01});
  double x = 1.0;
  float y = 1.0f;
  const double gradients[3] = {0.1, -0.2, 0.3};
  const double expected[3] = {0.990000001, 0.9936610360, 0.9902286254};
  for (int i = 0; i < 3; ++i) {
    const auto g = static_cast<float>(gradients[i]);
    REQUIRE(adam.step({&x, 1}, {&gradients[i], 1}));
    REQUIRE(single.step({&y, 1}, {&g, 1}));
    CHECK(x == Approx(expected[i]).margin(1e-10));
    CHECK(y == Approx(expected[i]).epsilon(1e-6));
  }
  CHECK(adam.steps() == 3);
}

TEMPLATE_TEST_CASE("Adam agrees with the algorithm written out, for every length", "[nn][adam]", float,
                   double) {
  using S = TestType;
  for (std::size_t n = 1; n <= 40; n += 3) {
    mara::Random random(n);
    const AdamConfig config{.learning_rate = 0.03, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-5};
    Adam<S> adam(n, config);
    std::vector<S> x(n, S(1)), g(n);
    std::vector<double> y(n, 1.0), m(n), v(n);
    for (int step = 1; step <= 5; ++step) {
      for (S& value : g) value = static_cast<S>(random.normal());
      REQUIRE(adam.step(x, std::span<const S>(g)));
      for (std::size_t i = 0; i < n; ++i) {
        const auto gi = static_cast<double>(g[i]);
        m[i] = 0.8 * m[i] + 0.2 * gi;
        v[i] = 0.95 * v[i] + 0.05 * gi * gi;
        y[i] -=
            0.03 * (m[i] / (1 - std::pow(0.8, step))) / (std::sqrt(v[i] / (1 - std::pow(0.95, step))) + 1e-5);
        CHECK(static_cast<double>(x[i]) == Approx(y[i]).margin(sizeof(S) == 4 ? 3e-6 : 1e-12));
      }
    }
  }
}

TEST_CASE("Adam clips by the global norm without touching the gradient", "[nn][adam]") {
  const std::vector<double> g = {3.0, 4.0, 12.0}, small = {1.5, 2.0, 6.0};
  Adam<double> clipped(3, AdamConfig{.learning_rate = 0.1, .max_gradient_norm = 6.5});
  Adam<double> plain(3, AdamConfig{.learning_rate = 0.1});
  std::vector<double> x(3, 1.0), y(3, 1.0);
  REQUIRE(clipped.step(x, std::span<const double>(g)));
  REQUIRE(plain.step(y, std::span<const double>(small)));
  CHECK(x == y);
  CHECK(clipped.first_moment()[2] == plain.first_moment()[2]);
  CHECK(clipped.gradient_norm() == 13.0);
}

TEMPLATE_TEST_CASE("Adam refuses what is not finite and changes nothing", "[nn][adam]", float, double) {
  using S = TestType;
  Adam<S> adam(2);
  std::vector<S> x = {S(1), S(2)}, g = {S(0.5), S(0.5)};
  REQUIRE(adam.step(x, std::span<const S>(g)));
  const std::vector<S> before = x, first(adam.first_moment().begin(), adam.first_moment().end());
  for (const S bad : {std::numeric_limits<S>::quiet_NaN(), std::numeric_limits<S>::infinity()}) {
    g[1] = bad;
    const mara::Status status = adam.step(x, std::span<const S>(g));
    REQUIRE(!status);
    CHECK(status.error().code == mara::ErrorCode::kNumerical);
    CHECK(status.error().message.find("gradient norm is ") != std::string::npos);
    CHECK(x == before);
    CHECK(adam.steps() == 1);
    CHECK(std::vector<S>(adam.first_moment().begin(), adam.first_moment().end()) == first);
  }
  std::vector<S> three(3);
  const mara::Status status = adam.step(three, std::span<const S>(three));
  REQUIRE(!status);
  CHECK(status.error().message == "Adam::step: 3 parameters and 3 gradients, made for 2");
}

TEST_CASE("a restored Adam continues with the same bits", "[nn][adam]") {
  mara::Random random(6);
  std::vector<float> x(19, 0.5f), g(19);
  Adam<float> adam(19);
  const auto step = [&](Adam<float>& optimiser, std::vector<float>& parameters, mara::Random& source) {
    for (float& v : g) v = static_cast<float>(source.normal());
    REQUIRE(optimiser.step(parameters, std::span<const float>(g)));
  };
  for (int i = 0; i < 7; ++i) step(adam, x, random);
  Adam<float> resumed(19);
  REQUIRE(resumed.restore(adam.first_moment(), adam.second_moment(), adam.steps()));
  std::vector<float> y = x;
  mara::Random copy = random;
  for (int i = 0; i < 7; ++i) step(adam, x, random);
  for (int i = 0; i < 7; ++i) step(resumed, y, copy);
  CHECK(x == y);
  const std::vector<float> wrong(4);
  CHECK(!resumed.restore(wrong, wrong, 1));
}

TEST_CASE("moments of silent units become zero, not subnormal", "[nn][adam]") {
  Adam<float> adam(1);
  float x = 0.0f;
  const float once = 1.0f, never = 0.0f;
  REQUIRE(adam.step({&x, 1}, {&once, 1}));
  for (int i = 0; i < 800; ++i) REQUIRE(adam.step({&x, 1}, {&never, 1}));
  CHECK(adam.first_moment()[0] == 0.0f);
}
