// SGD, RMSprop and AdamW: case A14 and the promises that all optimisers make.
#include "mara/nn/optimiser.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/adamw.hpp"
#include "mara/nn/learning_rate.hpp"
#include "mara/nn/rms_prop.hpp"
#include "mara/nn/sgd.hpp"

using mara::Random;

namespace {

constexpr double kGradients[3] = {0.1, -0.2, 0.3};

/// Where an optimiser goes from 1 with the gradients of case A14.
template <class S, class Optimiser>
std::vector<double> walk(Optimiser optimiser) {
  S x = S(1);
  std::vector<double> path;
  for (const double gradient : kGradients) {
    const auto g = static_cast<S>(gradient);
    if (!optimiser.step({&x, 1}, {&g, 1})) return {};
    path.push_back(static_cast<double>(x));
  }
  return path;
}

template <class S>
void check_path(const std::vector<double>& path, const std::vector<double>& expected) {
  REQUIRE(path.size() == expected.size());
  for (std::size_t i = 0; i < path.size(); ++i)
    CHECK(path[i] == Approx(expected[i]).margin(sizeof(S) == 4 ? 1e-6 : 1e-9));
}

/// Every optimiser with a configuration that uses all it has.
template <class S, class F>
void for_each_optimiser(const F& f) {
  f([](std::size_t n) { return mara::Sgd<S>(n, {.learning_rate = 0.03, .max_gradient_norm = 2.0}); });
  f([](std::size_t n) {
    return mara::Sgd<S>(n, {.learning_rate = 0.03, .momentum = 0.9, .max_gradient_norm = 2.0});
  });
  f([](std::size_t n) {
    return mara::Sgd<S>(n,
                        {.learning_rate = 0.03, .momentum = 0.9, .nesterov = true, .max_gradient_norm = 2.0});
  });
  f([](std::size_t n) { return mara::RmsProp<S>(n, {.learning_rate = 0.03, .max_gradient_norm = 2.0}); });
  f([](std::size_t n) { return mara::Adam<S>(n, {.learning_rate = 0.03, .max_gradient_norm = 2.0}); });
  f([](std::size_t n) {
    return mara::AdamW<S>(n, {.learning_rate = 0.03, .weight_decay = 0.1, .max_gradient_norm = 2.0});
  });
}

template <class S>
std::vector<S> copy(std::span<const S> values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("optimisers: known values", "[nn][optimiser]", float, double) {
  using S = TestType;
  check_path<S>(walk<S>(mara::RmsProp<S>(1, {.learning_rate = .01})), {.9000999, .9895921341, .9092631996});
  check_path<S>(walk<S>(mara::Sgd<S>(1, {.learning_rate = .01})), {.999, 1.001, .998});
  // Velocities .1, -.11, .201; with a look ahead the steps are .1 + .9 .1 = .19, -.299, .4809.
  check_path<S>(walk<S>(mara::Sgd<S>(1, {.learning_rate = .01, .momentum = .9})), {.999, 1.0001, .99809});
  check_path<S>(walk<S>(mara::Sgd<S>(1, {.learning_rate = .01, .momentum = .9, .nesterov = true})),
                {.9981, 1.00109, .996281});
  // Without decay AdamW is Adam.
  check_path<S>(walk<S>(mara::AdamW<S>(1, {.learning_rate = .01, .weight_decay = 0.0})),
                {.990000001, .9936610360, .9902286254});
}

TEST_CASE("optimisers agree with their algorithms written out, for every length", "[nn][optimiser]") {
  for (std::size_t n = 1; n <= 40; n += 3) {
    Random random(n);
    mara::RmsProp<double> rms(n, {.learning_rate = 0.02, .alpha = 0.9, .epsilon = 1e-4});
    mara::AdamW<double> adamw(n, {.learning_rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.3});
    mara::Sgd<double> sgd(n, {.learning_rate = 0.02, .momentum = 0.7, .nesterov = true});
    std::vector<double> a(n, 1.0), b(n, 1.0), c(n, 1.0), g(n);
    std::vector<double> ra(n, 1.0), rb(n, 1.0), rc(n, 1.0), square(n), m(n), v(n), w(n);
    for (int step = 1; step <= 5; ++step) {
      for (double& x : g) x = random.normal();
      REQUIRE(rms.step(a, g));
      REQUIRE(adamw.step(b, g));
      REQUIRE(sgd.step(c, g));
      for (std::size_t i = 0; i < n; ++i) {
        square[i] = 0.9 * square[i] + 0.1 * g[i] * g[i];
        ra[i] -= 0.02 * g[i] / (std::sqrt(square[i]) + 1e-4);
        m[i] = 0.8 * m[i] + 0.2 * g[i];
        v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
        rb[i] -=
            0.02 * (m[i] / (1 - std::pow(0.8, step)) / (std::sqrt(v[i] / (1 - std::pow(0.95, step))) + 1e-8) +
                    0.3 * rb[i]);
        w[i] = 0.7 * w[i] + g[i];
        rc[i] -= 0.02 * (g[i] + 0.7 * w[i]);
        CHECK(a[i] == Approx(ra[i]).margin(1e-12));
        CHECK(b[i] == Approx(rb[i]).margin(1e-12));
        CHECK(c[i] == Approx(rc[i]).margin(1e-12));
      }
    }
  }
}

TEMPLATE_TEST_CASE("every optimiser keeps the promises of the concept", "[nn][optimiser]", float, double) {
  using S = TestType;
  for_each_optimiser<S>([](const auto& make) {
    using Made = decltype(make(1));
    STATIC_REQUIRE(mara::Optimiser<Made, S>);
    constexpr std::size_t kSize = 19;
    Made optimiser = make(kSize);
    Random random(3);
    std::vector<S> x(kSize, S(0.5)), g(kSize);
    const auto step = [&](Made& with, std::vector<S>& parameters, Random& source) {
      for (S& v : g) v = static_cast<S>(source.normal());
      return with.step(parameters, std::span<const S>(g));
    };
    for (int i = 0; i < 7; ++i) REQUIRE(step(optimiser, x, random));
    CHECK(optimiser.steps() == 7);
    CHECK(optimiser.gradient_norm() > 2.0);  // clipped, and the norm is the one before

    // A restored optimiser continues with the same bits.
    Made resumed = make(kSize);
    REQUIRE(resumed.restore(optimiser.first_moment(), optimiser.second_moment(), optimiser.steps()));
    std::vector<S> y = x;
    Random other = random;
    for (int i = 0; i < 7; ++i) {
      REQUIRE(step(optimiser, x, random));
      REQUIRE(step(resumed, y, other));
    }
    CHECK(x == y);

    // What is not finite or does not fit is refused and changes nothing.
    const auto first = copy(optimiser.first_moment()), second = copy(optimiser.second_moment());
    const auto before = x;
    for (const S bad : {std::numeric_limits<S>::quiet_NaN(), std::numeric_limits<S>::infinity()}) {
      g[7] = bad;
      const mara::Status status = optimiser.step(x, std::span<const S>(g));
      REQUIRE(!status);
      CHECK(status.error().code == mara::ErrorCode::kNumerical);
      CHECK(status.error().message.find("::step: gradient norm is ") != std::string::npos);
    }
    std::vector<S> three(3);
    const mara::Status status = optimiser.step(three, std::span<const S>(three));
    REQUIRE(!status);
    CHECK(status.error().message.find("::step: 3 parameters and 3 gradients, made for 19") !=
          std::string::npos);
    CHECK(!optimiser.restore(std::span<const S>(three), std::span<const S>(three), 1));
    CHECK(x == before);
    CHECK(copy(optimiser.first_moment()) == first);
    CHECK(copy(optimiser.second_moment()) == second);
    CHECK(optimiser.steps() == 14);

    // A rate of 0 stops; a schedule sets the rate.
    optimiser.set_learning_rate(0.0);
    g[7] = S(1);
    REQUIRE(optimiser.step(x, std::span<const S>(g)));
    CHECK(x == before);
    const mara::LinearRate rate{.first = 0.1, .last = 0.0, .steps = 30};
    optimiser.set_learning_rate(rate(optimiser.steps()));
    CHECK(optimiser.config().learning_rate == Approx(0.05));
  });
}

TEMPLATE_TEST_CASE("every optimiser clips by the global norm without touching the gradient",
                   "[nn][optimiser]", float, double) {
  using S = TestType;
  const std::vector<S> large = {3, 4, 12},
                       small = {S(3) * S(2.0 / 13), S(4) * S(2.0 / 13), S(12) * S(2.0 / 13)};
  for_each_optimiser<S>([&](const auto& make) {
    auto clipped = make(3), plain = make(3);
    std::vector<S> x(3, S(1)), y(3, S(1)), g = large;
    REQUIRE(clipped.step(x, std::span<const S>(g)));
    REQUIRE(plain.step(y, std::span<const S>(small)));
    for (std::size_t i = 0; i < 3; ++i) CHECK(x[i] == Approx(y[i]).margin(1e-6));
    CHECK(g == large);
    CHECK(clipped.gradient_norm() == 13.0);
  });
}

TEST_CASE("SGD and RMSprop: moments of silent units become zero, not subnormal", "[nn][optimiser]") {
  mara::Sgd<float> sgd(1, {.momentum = 0.9});
  mara::RmsProp<float> rms(1, {.alpha = 0.9});
  float x = 0.0f;
  const float once = 1.0f, never = 0.0f;
  REQUIRE(sgd.step({&x, 1}, {&once, 1}));
  REQUIRE(rms.step({&x, 1}, {&once, 1}));
  for (int i = 0; i < 900; ++i) {
    REQUIRE(sgd.step({&x, 1}, {&never, 1}));
    REQUIRE(rms.step({&x, 1}, {&never, 1}));
  }
  CHECK(sgd.first_moment()[0] == 0.0f);
  CHECK(rms.second_moment()[0] == 0.0f);
}
