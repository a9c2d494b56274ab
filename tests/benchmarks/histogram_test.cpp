#include "../../benchmarks/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using bench::Histogram;

TEST_CASE("an empty histogram has no quantiles", "[histogram]") {
  const Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.quantile(0.5) == 0);
  CHECK(empty.largest() == 0);
}

TEST_CASE("small values are exact", "[histogram]") {
  Histogram h;
  for (std::uint64_t v = 1; v <= 100; ++v) h.add(v);
  CHECK(h.count() == 100);
  CHECK(h.quantile(0.0) == 1);
  CHECK(h.quantile(0.01) == 1);
  CHECK(h.quantile(0.5) == 50);
  CHECK(h.quantile(0.501) == 51);
  CHECK(h.quantile(0.99) == 99);
  CHECK(h.quantile(0.999) == 100);
  CHECK(h.quantile(1.0) == 100);
  CHECK(h.quantile(-1.0) == 1);
  CHECK(h.quantile(2.0) == 100);
}

TEST_CASE("a single value is every quantile, exactly", "[histogram]") {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{127}, std::uint64_t{128},
        std::uint64_t{12345678901}, std::numeric_limits<std::uint64_t>::max()}) {
    Histogram h;
    h.add(value);
    CHECK(h.quantile(0.001) == value);
    CHECK(h.quantile(1.0) == value);
  }
}

TEST_CASE("every value is within a sixty-fourth below its quantile", "[histogram]") {
  // One value and one huge one: the quantile at one half is the upper end of the first one's bucket.
  for (std::uint64_t value = 1; value < (std::uint64_t{1} << 62); value += 1 + value / 7) {
    Histogram h;
    h.add(value);
    h.add(std::numeric_limits<std::uint64_t>::max());
    const std::uint64_t q = h.quantile(0.5);
    CAPTURE(value, q);
    REQUIRE(q >= value);
    REQUIRE(static_cast<double>(q - value) <= static_cast<double>(value) / 64.0);
  }
}

TEST_CASE("buckets follow one another without gap or overlap", "[histogram]") {
  std::uint64_t before = 0;
  for (std::uint64_t value = 1; value < 5000; ++value) {
    Histogram h;
    h.add(value);
    h.add(std::numeric_limits<std::uint64_t>::max());
    const std::uint64_t q = h.quantile(0.5);
    REQUIRE(q >= before);                              // upper ends never fall
    if (before < value) REQUIRE(before == value - 1);  // a new bucket begins right after the last
    before = q;
  }
}

TEST_CASE("quantiles of many values agree with sorting them", "[histogram]") {
  mara::Random random(7);
  Histogram h;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(random.log_normal(10.0, 2.0)));
    h.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[rank - 1]);
    const auto found = static_cast<double>(h.quantile(q));
    CAPTURE(q);
    CHECK(found >= exact);
    CHECK(found <= exact * (1.0 + 1.0 / 64.0));
  }
  CHECK(h.quantile(1.0) == values.back());
}

TEST_CASE("histograms add up", "[histogram]") {
  Histogram a, b, both;
  for (std::uint64_t v = 0; v < 1000; ++v) {
    (v % 3 == 0 ? a : b).add(v * v);
    both.add(v * v);
  }
  a.add(b);
  CHECK(a.count() == both.count());
  CHECK(a.largest() == both.largest());
  for (const double q : {0.0, 0.25, 0.5, 0.99, 1.0}) CHECK(a.quantile(q) == both.quantile(q));
}
