#include "mara/math/statistics.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

using namespace mara;
using Sample = std::vector<double>;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("mean", "[statistics]") {
  CHECK(mean(Sample{1, 2, 6}).value() == 3.0);
  CHECK(mean(Sample{-4}).value() == -4.0);
  CHECK_FALSE(mean(Sample{}).has_value());
  CHECK_FALSE(mean(Sample{1, kNan}).has_value());
  CHECK_FALSE(mean(Sample{1, kInfinity}).has_value());
  CHECK_FALSE(mean(Sample{1e308, 1e308}).has_value());
}

TEST_CASE("quantiles interpolate linearly (type 7)", "[statistics]") {
  const Sample values{4, 1, 3, 2};  // (n - 1) q = 3 q
  CHECK(quantile(values, 0.0).value() == 1.0);
  CHECK(quantile(values, 1.0).value() == 4.0);
  CHECK(quantile(values, 0.5).value() == 2.5);
  CHECK(quantile(values, 0.25).value() == 1.75);
  CHECK(quantile(values, 0.95).value() == Approx(3.85).epsilon(1e-14));
  CHECK(quantile(Sample{7}, 0.3).value() == 7.0);
  CHECK(quantile(Sample{0.1, 0.1, 0.1}, 0.37).value() == 0.1);
  CHECK(quantile_sorted(Sample{0, 10}, 0.99).value() == Approx(9.9).epsilon(1e-14));
}

TEST_CASE("quantiles refuse what has none", "[statistics]") {
  CHECK_FALSE(quantile(Sample{}, 0.5).has_value());
  CHECK_FALSE(quantile(Sample{1, kNan, 2}, 0.5).has_value());
  CHECK_FALSE(quantile(Sample{1, -kInfinity}, 0.5).has_value());
  CHECK_FALSE(quantile(Sample{1, 2}, -0.01).has_value());
  CHECK_FALSE(quantile(Sample{1, 2}, 1.01).has_value());
  CHECK_FALSE(quantile(Sample{1, 2}, kNan).has_value());
}

TEST_CASE("interquartile mean and probability of improvement have the published values", "[statistics]") {
  // Runs x tasks; the interquartile mean is over all of them (rliable's test values).
  CHECK(iqm(Sample{1, 2, 2, 2, 1, 1, 2, 1}).value() == 1.5);
  CHECK(iqm(Sample{1, 1, 2, 2, 3, 3}).value() == 2.0);
  const Sample x[2] = {{1, 2, 1, 2}, {2, 2, 1, 1}};  // by task
  const Sample y[2] = {{1, 2, 3}, {1, 2, 3}};
  const double both =
      (probability_of_improvement(x[0], y[0]).value() + probability_of_improvement(x[1], y[1]).value()) / 2;
  CHECK(both == Approx(1.0 / 3.0).epsilon(1e-15));
}

TEST_CASE("interquartile mean ignores outliers", "[statistics]") {
  CHECK(iqm(Sample{-1e9, 4, 5, 6, 5, 1e9, 5, 1e9}).value() == Approx(5.25));
  CHECK(iqm(Sample{3}).value() == 3.0);
  CHECK(iqm(Sample{1, 2, 9}).value() == 4.0);  // fewer than four: nothing is cut
  CHECK_FALSE(iqm(Sample{}).has_value());
  CHECK_FALSE(iqm(Sample{1, kNan}).has_value());
}

TEST_CASE("probability of improvement", "[statistics]") {
  CHECK(probability_of_improvement(Sample{5, 6}, Sample{1, 2, 3}).value() == 1.0);
  CHECK(probability_of_improvement(Sample{1, 2}, Sample{5}).value() == 0.0);
  CHECK(probability_of_improvement(Sample{2, 2}, Sample{2, 2}).value() == 0.5);
  CHECK_FALSE(probability_of_improvement(Sample{}, Sample{1}).has_value());
  CHECK_FALSE(probability_of_improvement(Sample{1}, Sample{}).has_value());
  CHECK_FALSE(probability_of_improvement(Sample{kNan}, Sample{1}).has_value());
}

TEST_CASE("Kolmogorov-Smirnov distance", "[statistics]") {
  CHECK(ks_distance(Sample{1, 2, 3}, Sample{3, 2, 1}).value() == 0.0);
  CHECK(ks_distance(Sample{1, 2}, Sample{3, 4, 5}).value() == 1.0);
  CHECK(ks_distance(Sample{1, 2, 3, 4}, Sample{3, 4, 5, 6}).value() == 0.5);
  // By hand: after 1: 1/2 - 0; after 2: 1/2 - 2/3 (two ties); after 3: 1 - 1.
  CHECK(ks_distance(Sample{1, 3}, Sample{2, 2, 3}).value() == 0.5);
  CHECK(ks_distance(Sample{0, 0, 0, 1}, Sample{0, 1}).value() == 0.25);
  CHECK_FALSE(ks_distance(Sample{}, Sample{1}).has_value());
  CHECK_FALSE(ks_distance(Sample{1}, Sample{kInfinity}).has_value());
}

TEST_CASE("the bootstrap interval of a mean has the width of theory", "[statistics]") {
  Random random(3);
  Sample values(400);
  double sum = 0.0, squares = 0.0;
  for (double& v : values) {
    v = random.normal() * 2.0 + 10.0;
    sum += v;
    squares += v * v;
  }
  const double average = sum / 400.0;
  const double error =
      std::sqrt((squares / 400.0 - average * average) / 400.0);  // of the resampled mean, exactly
  const Interval interval = bootstrap_mean_interval(values, 0.95, 20000, random).value();
  CHECK(interval.estimate == Approx(average).epsilon(1e-12));
  CHECK(interval.low == Approx(average - 1.96 * error).margin(0.06 * error));
  CHECK(interval.high == Approx(average + 1.96 * error).margin(0.06 * error));
  const Interval narrow = bootstrap_mean_interval(values, 0.5, 20000, random).value();
  CHECK(narrow.high - narrow.low == Approx(2 * 0.6745 * error).epsilon(0.05));
}

TEST_CASE("the bootstrap covers the true mean as often as it says", "[statistics]") {
  Random random(4);
  int covered = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Sample values(60);
    for (double& v : values) v = random.exponential(0.5);
    const Interval interval = bootstrap_mean_interval(values, 0.9, 400, random).value();
    covered += interval.low <= 2.0 && 2.0 <= interval.high;
  }
  CHECK(covered > 336);  // 84 %; the percentile interval of a skewed sample covers a little less than 90 %
  CHECK(covered < 380);
}

TEST_CASE("the bootstrap is a function of the random state", "[statistics]") {
  const Sample values{1, 5, 2, 8, 3};
  Random first(5, 1), second(5, 1), third(5, 2);
  const Interval a = bootstrap_mean_interval(values, 0.9, 101, first).value();
  const Interval b = bootstrap_mean_interval(values, 0.9, 101, second).value();
  const Interval c = bootstrap_mean_interval(values, 0.9, 101, third).value();
  CHECK(a.low == b.low);
  CHECK(a.high == b.high);
  CHECK((a.low != c.low || a.high != c.high));
  CHECK(first.state() == second.state());
}

TEST_CASE("a constant sample has an interval of no width", "[statistics]") {
  Random random(6);
  const Interval interval = bootstrap_mean_interval(Sample(8, 0.5), 0.95, 100, random).value();
  CHECK(interval.low == 0.5);
  CHECK(interval.high == 0.5);
}

TEST_CASE("paired ratios keep the pairs together", "[statistics]") {
  Random random(7);
  Sample a(200), b(200);
  for (std::size_t i = 0; i < a.size(); ++i) {
    b[i] = random.log_normal(0.0, 2.0);  // heavy: unpaired resampling would give a wide interval
    a[i] = 0.8 * b[i];
  }
  const Interval exact = paired_ratio_interval(a, b, 0.95, 1000, random).value();
  CHECK(exact.estimate == Approx(-0.2).epsilon(1e-12));
  CHECK(exact.low == Approx(-0.2).epsilon(1e-12));
  CHECK(exact.high == Approx(-0.2).epsilon(1e-12));

  for (double& v : a) v *= random.uniform(0.9, 1.1);
  const Interval noisy = paired_ratio_interval(a, b, 0.95, 1000, random).value();
  CHECK(noisy.estimate == Approx(mean(a).value() / mean(b).value() - 1.0).epsilon(1e-12));
  CHECK(noisy.low < noisy.estimate);
  CHECK(noisy.estimate < noisy.high);
  CHECK(noisy.low > -0.25);
  CHECK(noisy.high < -0.15);
}

TEST_CASE("any statistic can be bootstrapped", "[statistics]") {
  const Sample values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Random random(8);
  const auto largest = [&](std::span<const std::uint32_t> units) {
    double most = values[units[0]];
    for (const std::uint32_t unit : units) most = std::max(most, values[unit]);
    return most;
  };
  // P(the resample holds the 9) = 1 - .9^10 = .65, so the upper half of the replicates are 9.
  const Interval interval = bootstrap_interval(values.size(), largest, 0.95, 2000, random).value();
  CHECK(interval.estimate == 9.0);
  CHECK(interval.high == 9.0);
  CHECK(interval.low >= 6.0);
  CHECK(interval.low <= 8.0);
}

TEST_CASE("bootstrap intervals refuse bad input by name", "[statistics]") {
  Random random(9);
  const Sample good{1, 2, 3};
  const auto message = [&](const Sample& values, double level, int replicates) {
    return bootstrap_mean_interval(values, level, replicates, random).error().message;
  };
  CHECK(message({}, 0.95, 10) == "bootstrap: sample size must be in [1, 4294967295], is 0");
  CHECK(message(good, 0.0, 10) == "bootstrap: level must be in (0, 1), is 0");
  CHECK(message(good, 1.0, 10) == "bootstrap: level must be in (0, 1), is 1");
  CHECK(message(good, kNan, 10) == "bootstrap: level must be in (0, 1), is nan");
  CHECK(message(good, 0.95, 0) == "bootstrap: replicates must be positive, is 0");
  CHECK(message({1, kNan}, 0.95, 10) == "values[1]: must be finite, is nan");
  CHECK(bootstrap_mean_interval(Sample{1e308, 1e308}, 0.95, 10, random).error().code ==
        ErrorCode::kNumerical);

  const auto pair = [&](const Sample& a, const Sample& b) {
    return paired_ratio_interval(a, b, 0.95, 10, random).error();
  };
  CHECK(pair({1, 2}, {1}).code == ErrorCode::kShapeMismatch);
  CHECK(pair({1, 2}, {1}).message == "paired samples: a has 2 values, b has 1");
  CHECK(pair({kInfinity}, {1}).message == "a[0]: must be finite, is inf");
  CHECK(pair({1, 1}, {1, 0}).message == "b[1]: must be positive, is 0");
  CHECK(pair({1, 1}, {-3, 1}).message == "b[0]: must be positive, is -3");
  CHECK(pair({1}, {kNan}).code == ErrorCode::kNumerical);
  CHECK(pair({}, {}).code == ErrorCode::kInvalidArgument);
}
