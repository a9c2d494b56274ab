#include "mara/action/diagonal_gaussian.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "catch.hpp"

using mara::DiagonalGaussian;

namespace {

double log_density(double x, double mean, double log_std) {
  const double std = std::exp(log_std), z = (x - mean) / std;
  return std::log(std::exp(-0.5 * z * z) / (std * std::sqrt(2.0 * 3.14159265358979323846)));
}

}  // namespace

TEST_CASE("log-probability: known values", "[diagonal gaussian]") {
  const std::array<float, 1> standard{0.0f}, wide{std::log(2.0f)};
  const float means[] = {0.0f, 0.0f, 1.0f}, actions[] = {0.0f, 1.0f, 5.0f};
  float out[3];
  DiagonalGaussian<1>::log_probabilities(means, standard, actions, 3, out);
  CHECK(out[0] == Approx(-0.9189385));
  CHECK(out[1] == Approx(-1.4189385));
  CHECK(out[2] == Approx(-8.9189385));
  DiagonalGaussian<1>::log_probabilities(means, wide, actions, 3, out);
  CHECK(out[2] == Approx(-0.9189385 - 0.6931472 - 2.0));
}

TEST_CASE("log-probability of several numbers is the sum over them, any number of rows",
          "[diagonal gaussian]") {
  const std::array<float, 3> log_std{-1.0f, 0.25f, 1.5f};
  mara::Random random(3);
  for (const std::size_t rows : {1u, 15u, 16u, 37u}) {
    std::vector<float> means(rows * 3), actions(rows * 3), out(rows);
    for (float& m : means) m = static_cast<float>(random.normal());
    for (float& a : actions) a = static_cast<float>(random.normal());
    DiagonalGaussian<3>::log_probabilities(means.data(), log_std, actions.data(), rows, out.data());
    for (std::size_t r = 0; r < rows; ++r) {
      double expected = 0.0;
      for (std::size_t k = 0; k < 3; ++k)
        expected += log_density(actions[3 * r + k], means[3 * r + k], log_std[k]);
      REQUIRE(out[r] == Approx(expected).epsilon(2e-6));
    }
  }
}

TEST_CASE("gradient of the log-probability by differences", "[diagonal gaussian]") {
  // d/d mean = z / std, d/d log_std = z^2 - 1: what the policy loss relies on.
  const double x = 0.7, mean = -0.2, s = -0.4, h = 1e-5;
  const double z = (x - mean) / std::exp(s);
  CHECK((log_density(x, mean + h, s) - log_density(x, mean - h, s)) / (2 * h) == Approx(z / std::exp(s)));
  CHECK((log_density(x, mean, s + h) - log_density(x, mean, s - h)) / (2 * h) == Approx(z * z - 1.0));
  const auto at = [&](float m, float log_std) {
    const std::array<float, 1> l{log_std};
    const auto action = static_cast<float>(x);
    float out;
    DiagonalGaussian<1>::log_probabilities(&m, l, &action, 1, &out);
    return static_cast<double>(out);
  };
  CHECK((at(-0.19f, -0.4f) - at(-0.21f, -0.4f)) / 0.02 == Approx(z / std::exp(s)).epsilon(1e-3));
  CHECK((at(-0.2f, -0.39f) - at(-0.2f, -0.41f)) / 0.02 == Approx(z * z - 1.0).epsilon(2e-3));
}

TEST_CASE("entropy is the mean of minus log-probability", "[diagonal gaussian]") {
  const std::array<float, 2> log_std{-0.5f, 0.75f};
  CHECK(DiagonalGaussian<2>::entropy(log_std) == Approx(0.25 + 2.0 * 1.4189385332));
  constexpr std::size_t kRows = 200'000;
  std::vector<float> means(2 * kRows), actions(2 * kRows), log_probabilities(kRows);
  for (std::size_t r = 0; r < kRows; ++r) means[2 * r] = 3.0f, means[2 * r + 1] = -1.0f;
  mara::Random random(2);
  DiagonalGaussian<2>::sample(random, means.data(), log_std, kRows, actions.data(), log_probabilities.data());
  double mean[2] = {}, square[2] = {}, total = 0.0;
  for (std::size_t r = 0; r < kRows; ++r) {
    total -= static_cast<double>(log_probabilities[r]) / kRows;
    for (std::size_t k = 0; k < 2; ++k) {
      const double d = static_cast<double>(actions[2 * r + k] - means[2 * r + k]);
      mean[k] += d / kRows, square[k] += d * d / kRows;
    }
  }
  CHECK(total == Approx(DiagonalGaussian<2>::entropy(log_std)).epsilon(3e-3));
  for (std::size_t k = 0; k < 2; ++k) {
    const double std = std::exp(static_cast<double>(log_std[k]));
    CHECK(std::abs(mean[k]) < 0.01 * std);
    CHECK(std::sqrt(square[k]) == Approx(std).epsilon(0.01));
  }
}

TEST_CASE("a sample's log-probability is that of its action", "[diagonal gaussian]") {
  const std::array<float, 2> log_std{0.3f, -1.2f};
  std::vector<float> means(2 * 21, 0.5f), actions(2 * 21), drawn(21), computed(21);
  mara::Random random(6), same(6);
  DiagonalGaussian<2>::sample(random, means.data(), log_std, 21, actions.data(), drawn.data());
  DiagonalGaussian<2>::log_probabilities(means.data(), log_std, actions.data(), 21, computed.data());
  for (std::size_t r = 0; r < 21; ++r) CHECK(drawn[r] == Approx(computed[r]).margin(2e-5));
  std::vector<float> again(2 * 21);
  DiagonalGaussian<2>::sample(same, means.data(), log_std, 21, again.data(), drawn.data());
  CHECK(again == actions);
}
