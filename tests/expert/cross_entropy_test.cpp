// The cross-entropy method on functions whose minimum is known.
#include "mara/expert/cross_entropy.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

const std::vector<double> kTarget{1.5, -2.0, 0.25, 4.0};

double quadratic(std::span<const double> x, int) {
  double sum = 3.0;
  for (std::size_t d = 0; d < x.size(); ++d)
    sum += static_cast<double>(d + 1) * (x[d] - kTarget[d]) * (x[d] - kTarget[d]);
  return sum;
}

const std::vector<double> kMean(4, 0.0), kSd(4, 2.0);

}  // namespace

TEST_CASE("the minimum of a shifted quadratic", "[cross-entropy]") {
  CrossEntropyConfig config;
  config.iterations = 40;
  config.minimum_sd = 1e-3;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    config.seed = seed;
    const auto found = minimise_cross_entropy(kMean, kSd, quadratic, config);
    REQUIRE(found);
    for (std::size_t d = 0; d < kTarget.size(); ++d) CHECK((*found)[d] == Approx(kTarget[d]).margin(0.02));
  }
}

TEST_CASE("the same numbers on one thread and on three", "[cross-entropy]") {
  CrossEntropyConfig config;
  config.iterations = 15;
  const auto one = minimise_cross_entropy(kMean, kSd, quadratic, config);
  config.threads = 3;
  const auto three = minimise_cross_entropy(kMean, kSd, quadratic, config);
  REQUIRE(one);
  REQUIRE(three);
  CHECK(*one == *three);
  config.seed = 2;
  CHECK(*minimise_cross_entropy(kMean, kSd, quadratic, config) != *one);
}

TEST_CASE("reports: every iteration, falling elite means, and the best is at most the mean",
          "[cross-entropy]") {
  CrossEntropyConfig config;
  config.iterations = 20;
  std::vector<CrossEntropyProgress> reports;
  std::vector<double> last;
  const auto found = minimise_cross_entropy(kMean, kSd, quadratic, config,
                                            [&](const CrossEntropyProgress& p, std::span<const double> mean) {
                                              reports.push_back(p);
                                              last.assign(mean.begin(), mean.end());
                                            });
  REQUIRE(found);
  CHECK(last == *found);
  REQUIRE(reports.size() == 20);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CHECK(reports[i].iteration == static_cast<int>(i));
    CHECK(reports[i].best <= reports[i].elite_mean);
    CHECK(reports[i].best >= 3.0);
  }
  CHECK(reports.back().elite_mean < 0.2 * reports.front().elite_mean + 3.0);
}

TEST_CASE("one iteration by hand: smoothing towards the elite", "[cross-entropy]") {
  // Two candidates, the mean (0) and a sample s; cost -|x| makes s the elite, so that the new mean is
  // smoothing * s.
  CrossEntropyConfig config;
  config.population = 2;
  config.elite = 1;
  config.iterations = 1;
  config.smoothing = 0.25;
  const std::vector<double> mean{0.0}, sd{1.0};
  double sample = 0.0;
  const auto cost = [&](std::span<const double> x, int) {
    if (x[0] != 0.0) sample = x[0];
    return -std::fabs(x[0]);
  };
  const auto found = minimise_cross_entropy(mean, sd, cost, config);
  REQUIRE(found);
  REQUIRE(sample != 0.0);
  CHECK((*found)[0] == Approx(0.25 * sample).epsilon(1e-12));
}

TEST_CASE("costs that are not finite rank last, and only a population of them is an error",
          "[cross-entropy]") {
  CrossEntropyConfig config;
  config.iterations = 40;
  config.minimum_sd = 1e-3;
  const auto half_nan = [](std::span<const double> x, int) {
    if (x[0] < 0.5) return std::numeric_limits<double>::quiet_NaN();
    if (x[1] > 0.0) return -std::numeric_limits<double>::infinity();
    return quadratic(x, 0);
  };
  const auto found = minimise_cross_entropy(kMean, kSd, half_nan, config);
  REQUIRE(found);
  for (std::size_t d = 0; d < kTarget.size(); ++d) CHECK((*found)[d] == Approx(kTarget[d]).margin(0.05));

  const auto later = [](std::span<const double> x, int iteration) {
    return iteration == 3 ? std::numeric_limits<double>::infinity() : quadratic(x, 0);
  };
  const auto none = minimise_cross_entropy(kMean, kSd, later, config);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kNumerical);
  CHECK(none.error().message.find("iteration 3") != std::string::npos);
}

TEST_CASE("errors of the configuration name what is wrong", "[cross-entropy]") {
  CrossEntropyConfig config;
  const std::vector<double> short_sd(3, 1.0);
  const auto extents = minimise_cross_entropy(kMean, short_sd, quadratic, config);
  REQUIRE_FALSE(extents);
  CHECK(extents.error().code == ErrorCode::kShapeMismatch);
  for (const int elite : {0, -1, 65}) {
    config.elite = elite;
    const auto refused = minimise_cross_entropy(kMean, kSd, quadratic, config);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("elite = " + std::to_string(elite)) != std::string::npos);
  }
  config.elite = 1;
  config.population = -5;
  CHECK_FALSE(minimise_cross_entropy(kMean, kSd, quadratic, config));
}
