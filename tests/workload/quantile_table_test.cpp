#include "mara/workload/quantile_table.hpp"

#include <limits>

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/core/random.hpp"

using mara::quantiles_of;
using mara::QuantileTable;
using workload_test::contains;
using workload_test::log_uniform;

TEST_CASE("a quantile table gives its values at its levels and is geometric between") {
  const QuantileTable table = log_uniform(1.0, 10'000.0);
  CHECK(table.at(0.0) == 1.0);
  CHECK(table.at(1.0) == Approx(10'000.0));
  CHECK(table.at(0.5) == Approx(100.0));
  CHECK(table.at(0.52) == Approx(std::pow(10.0, 4 * 0.52)));
  CHECK(table.at(0.9999) == Approx(std::pow(10.0, 4 * 0.9999)));
  // Mean of a log-uniform distribution: (b - a) / ln(b / a).
  CHECK(table.mean() == Approx(9999.0 / std::log(10'000.0)));
}

TEST_CASE("zeros and equal neighbours interpolate linearly") {
  QuantileTable table;
  table.values.assign(33, 0.0);
  table.values[32] = 10.0;
  CHECK(table.at(0.3) == 0.0);
  CHECK(table.at(0.9975) == Approx(5.0));
  CHECK(table.mean() == Approx(5.0 * 0.005));
}

TEST_CASE("the table of a sample keeps its mean and its quantiles") {
  mara::Random random(1);
  std::vector<double> sample;
  double mean = 0.0;
  for (int i = 0; i < 5000; ++i) {
    sample.push_back(random.log_normal(6.0, 2.0));
    mean += sample.back() / 5000.0;
  }
  const QuantileTable table = quantiles_of(sample);
  REQUIRE(mara::check_quantiles(table, "t"));
  CHECK(table.mean() == Approx(mean).epsilon(1e-9));
  std::sort(sample.begin(), sample.end());
  for (const double u : {0.05, 0.25, 0.5, 0.75, 0.9})
    CHECK(table.at(u) == Approx(sample[static_cast<std::size_t>(u * 4999)]).epsilon(0.1));
}

TEST_CASE("a small sample is summarised, not copied") {
  std::vector<double> sample;
  for (int i = 0; i < 33; ++i) sample.push_back(1.0 + i * i);
  const QuantileTable table = quantiles_of(sample);
  REQUIRE(mara::check_quantiles(table, "t"));
  int copied = 0;
  for (const double value : table.values) copied += std::count(sample.begin(), sample.end(), value) > 0;
  CHECK(copied <= 9);
  CHECK(quantiles_of({7.0}).at(0.3) == 7.0);
  CHECK(quantiles_of({0.0, 0.0, 3.0}).mean() == Approx(1.0));
}

TEST_CASE("bad tables are refused by entry") {
  QuantileTable table = log_uniform(1.0, 10.0);
  const auto message = [&](std::size_t i, double value) {
    QuantileTable bad = table;
    bad.values[i] = value;
    return mara::check_quantiles(bad, "t").error().message;
  };
  CHECK(contains(message(4, 0.5), "t[4]: quantiles must not fall, 0.5 follows"));
  CHECK(contains(message(4, -1.0), "t[4]: must be in"));
  CHECK(contains(message(4, std::numeric_limits<double>::quiet_NaN()), "t[4]: must be finite"));
  CHECK(contains(message(32, 1e13), "t[32]: must be in"));
  table.values.pop_back();
  CHECK(contains(mara::check_quantiles(table, "t").error().message, "t: 32 quantiles, must be 33"));
  table.values.assign(33, 0.0);
  CHECK(contains(mara::check_quantiles(table, "t").error().message, "t[32]: must be positive"));
}
