// The distributions against theory (fixed seeds), and against themselves on other compilers.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

/// Pearson's statistic for counts of equally or unequally likely cells, as a number of standard deviations of
/// the chi-square distribution above its mean: |z| > 4.5 is a defect, not chance.
double chi_square_z(const std::vector<double>& observed, const std::vector<double>& expected) {
  double statistic = 0.0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    statistic += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
  }
  const double freedom = static_cast<double>(observed.size()) - 1.0;
  return (statistic - freedom) / std::sqrt(2.0 * freedom);
}

/// Kolmogorov's sqrt(n) D of a sample against a continuous distribution function: > 1.95 has probability
/// .001.
double kolmogorov(std::vector<double> sample, const std::function<double(double)>& distribution) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = distribution(sample[i]);
    largest = std::max({largest, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return std::sqrt(n) * largest;
}

template <class Draw>
std::vector<double> sample_of(int count, Draw draw) {
  std::vector<double> sample;
  for (int i = 0; i < count; ++i) sample.push_back(static_cast<double>(draw()));
  return sample;
}

struct Moments {
  double mean, variance, skewness, kurtosis;
};

Moments moments_of(const std::vector<double>& sample) {
  const auto n = static_cast<double>(sample.size());
  double mean = 0.0, m2 = 0.0, m3 = 0.0, m4 = 0.0;
  for (const double x : sample) mean += x / n;
  for (const double x : sample) {
    const double d = x - mean;
    m2 += d * d / n;
    m3 += d * d * d / n;
    m4 += d * d * d * d / n;
  }
  return {mean, m2, m3 / std::pow(m2, 1.5), m4 / (m2 * m2)};
}

double normal_distribution_function(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}

}  // namespace

TEST_CASE("uniform draws are uniform", "[random]") {
  Random random(101);
  CHECK(kolmogorov(sample_of(200000, [&] { return random.uniform(); }), [](double x) { return x; }) < 1.95);
  // Every bit of the mantissa is set half of the time.
  std::vector<double> set(53, 0.0);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint64_t>(random.uniform() * 0x1p53);
    for (std::size_t b = 0; b < 53; ++b) set[b] += static_cast<double>(bits >> b & 1);
  }
  for (const double count : set) CHECK(std::fabs(count - 10000.0) < 4.5 * 70.7);
  // Pairs in sequence: a 32 by 32 grid.
  std::vector<double> cells(1024, 0.0);
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<std::size_t>(random.uniform() * 32.0);
    const auto y = static_cast<std::size_t>(random.uniform() * 32.0);
    cells[x * 32 + y] += 1.0;
  }
  CHECK(std::fabs(chi_square_z(cells, std::vector<double>(1024, 200000.0 / 1024.0))) < 4.5);
}

TEST_CASE("bounded integers are unbiased", "[random]") {
  Random random(102);
  for (const std::uint32_t bound : {2u, 3u, 7u, 10u, 100u}) {
    std::vector<double> seen(bound, 0.0), seen64(bound, 0.0);
    for (int i = 0; i < 50000; ++i) {
      seen[random.below(bound)] += 1.0;
      seen64[static_cast<std::size_t>(random.below64(bound))] += 1.0;
    }
    const std::vector<double> expected(bound, 50000.0 / bound);
    CHECK(chi_square_z(seen, expected) < 4.5);
    CHECK(chi_square_z(seen64, expected) < 4.5);
  }
  // At bound 3 * 2^30 a plain modulo or product would draw each of a third of the values twice as often.
  const std::uint32_t large = 3u << 30;
  std::vector<double> residue(3, 0.0), third(3, 0.0);
  for (int i = 0; i < 60000; ++i) {
    const std::uint32_t value = random.below(large);
    REQUIRE(value < large);
    residue[value % 3] += 1.0;
    third[value >> 30] += 1.0;
  }
  CHECK(chi_square_z(residue, {20000, 20000, 20000}) < 4.5);
  CHECK(chi_square_z(third, {20000, 20000, 20000}) < 4.5);
  std::vector<double> quarter(3, 0.0);
  for (int i = 0; i < 30000; ++i) quarter[static_cast<std::size_t>(random.below64(3ULL << 62) >> 62)] += 1.0;
  CHECK(chi_square_z(quarter, {10000, 10000, 10000}) < 4.5);
  CHECK(random.below64(~0ULL) < ~0ULL);
}

TEST_CASE("normal draws are normal", "[random]") {
  Random random(103);
  const std::vector<double> sample = sample_of(200000, [&] { return random.normal(); });
  CHECK(kolmogorov(sample, normal_distribution_function) < 1.95);
  const Moments m = moments_of(sample);
  const double root = std::sqrt(200000.0);
  CHECK(std::fabs(m.mean) < 4.0 / root);
  CHECK(std::fabs(m.variance - 1.0) < 4.0 * std::sqrt(2.0) / root);
  CHECK(std::fabs(m.skewness) < 4.0 * std::sqrt(6.0) / root);
  CHECK(std::fabs(m.kurtosis - 3.0) < 4.0 * std::sqrt(24.0) / root);
  const auto beyond =
      std::count_if(sample.begin(), sample.end(), [](double x) { return std::fabs(x) > 3.0; });
  CHECK(std::fabs(static_cast<double>(beyond) - 540.0) < 4.0 * 23.2);  // 200000 * .0026998
  double lagged = 0.0;
  for (std::size_t i = 1; i < sample.size(); ++i) lagged += sample[i] * sample[i - 1];
  CHECK(std::fabs(lagged) / root < 4.0);
}

TEST_CASE("exponential draws are exponential", "[random]") {
  Random random(104);
  for (const double rate : {0.01, 1.0, 250.0}) {
    const std::vector<double> sample = sample_of(100000, [&] { return random.exponential(rate); });
    CHECK(kolmogorov(sample, [&](double x) { return -std::expm1(-rate * x); }) < 1.95);
    CHECK(moments_of(sample).mean * rate == Approx(1.0).margin(4.0 / std::sqrt(100000.0)));
    CHECK(*std::min_element(sample.begin(), sample.end()) >= 0.0);
  }
}

TEST_CASE("log-normal draws are log-normal", "[random]") {
  Random random(105);
  const std::vector<double> sample = sample_of(100000, [&] { return random.log_normal(1.5, 0.7); });
  CHECK(kolmogorov(sample, [](double x) { return normal_distribution_function((std::log(x) - 1.5) / 0.7); }) <
        1.95);
  const double mean = std::exp(1.5 + 0.245);
  const double deviation = mean * std::sqrt(std::expm1(0.49));
  CHECK(moments_of(sample).mean == Approx(mean).margin(4.0 * deviation / std::sqrt(100000.0)));
  CHECK(random.log_normal(0.0, 0.0) == 1.0);
}

TEST_CASE("Poisson draws have Poisson frequencies", "[random]") {
  Random random(106);
  for (const double mean : {0.02, 0.7, 4.0, 9.999, 10.0, 12.5, 35.0, 400.0, 5000.0}) {
    INFO("mean " << mean);
    constexpr int kDraws = 200000;
    std::map<std::uint64_t, double> counts;
    for (int i = 0; i < kDraws; ++i) counts[random.poisson(mean)] += 1.0;
    // Cells of at least 20 expected draws, from k = 0 upwards; what is left over joins the last.
    std::vector<double> observed, expected;
    double seen = 0.0, due = 0.0, total = 0.0;
    const auto last = static_cast<std::uint64_t>(mean + 8.0 * std::sqrt(mean) + 10.0);
    for (std::uint64_t k = 0; k <= last; ++k) {
      const auto x = static_cast<double>(k);
      const double probability = std::exp(x * std::log(mean) - mean - std::lgamma(x + 1.0));
      due += kDraws * probability;
      total += probability;
      if (const auto at = counts.find(k); at != counts.end()) seen += at->second;
      if (due >= 20.0) {
        observed.push_back(std::exchange(seen, 0.0));
        expected.push_back(std::exchange(due, 0.0));
      }
    }
    REQUIRE(total == Approx(1.0).epsilon(1e-9));
    REQUIRE(counts.rbegin()->first <= last);
    observed.back() += seen;
    expected.back() += due;
    REQUIRE(observed.size() >= 2);
    CHECK(chi_square_z(observed, expected) < 4.5);
  }
}

TEST_CASE("Poisson draws of huge means keep their moments", "[random]") {
  Random random(107);
  for (const double mean : {1e5, 1e8, 1e12, 1e15}) {
    INFO("mean " << mean);
    const std::vector<double> z = sample_of(
        40000, [&] { return (static_cast<double>(random.poisson(mean)) - mean) / std::sqrt(mean); });
    const Moments m = moments_of(z);
    CHECK(std::fabs(m.mean) < 4.0 / 200.0);
    CHECK(std::fabs(m.variance - 1.0) < 4.0 * std::sqrt(2.0) / 200.0);
    if (mean > 1e6) CHECK(kolmogorov(z, normal_distribution_function) < 1.95);
  }
}

TEST_CASE("the log probability of a Poisson count is that of the gamma function", "[random]") {
  for (const double mean : {0.5, 10.0, 33.0, 700.0}) {
    for (const double k : {0.0, 1.0, 5.0, 15.0, 16.0, 17.0, 33.0, 500.0, 700.0, 1400.0}) {
      const double expected = k * std::log(mean) - mean - std::lgamma(k + 1.0);
      CHECK(detail::log_poisson(k, mean) == Approx(expected).epsilon(1e-12).margin(1e-11));
    }
  }
}

TEST_CASE("categorical draws follow the weights", "[random]") {
  Random random(108);
  const std::vector<float> weights{1.0f, 0.0f, 2.5f, 0.25f, 6.25f};
  std::vector<double> seen(5, 0.0);
  for (int i = 0; i < 100000; ++i) seen[static_cast<std::size_t>(random.categorical(weights))] += 1.0;
  CHECK(seen[1] == 0.0);
  CHECK(chi_square_z({seen[0], seen[2], seen[3], seen[4]}, {10000, 25000, 2500, 62500}) < 4.5);
}

TEST_CASE("all permutations are equally likely after a shuffle", "[random]") {
  Random random(109);
  std::map<std::string, double> counts;
  for (int i = 0; i < 48000; ++i) {
    std::string letters = "abcd";
    random.shuffle(letters);
    counts[letters] += 1.0;
  }
  REQUIRE(counts.size() == 24);
  std::vector<double> seen;
  for (const auto& [letters, count] : counts) seen.push_back(count);
  CHECK(chi_square_z(seen, std::vector<double>(24, 2000.0)) < 4.5);
}

// FNV-1a over the bits of 10^5 draws. The constants are the same for g++ and clang++ at every optimisation
// level with -ffp-contract=off, on every processor; a change here breaks the reproducibility of earlier runs.
TEST_CASE("draws have the same bits on every compiler", "[random][golden]") {
  const auto hash_of = [](auto draw) {
    Random random(2024, 6);
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (int i = 0; i < 100000; ++i) {
      std::uint64_t bits = std::bit_cast<std::uint64_t>(draw(random));
      for (int byte = 0; byte < 8; ++byte, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 0x100000001b3ULL;
    }
    return hash;
  };
  const auto hex = [](std::uint64_t value) {
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
    return text;
  };
  const std::array<double, 6> weights{0.1, 3.0, 0.0, 1e-3, 0.7, 2.2};
  const std::array<float, 4> float_weights{0.1f, 3.0f, 0.0f, 1.7f};
  CHECK(hex(hash_of([](Random& r) { return std::uint64_t{r()}; })) == "3e54178526a93165");
  CHECK(hex(hash_of([](Random& r) { return r.uniform(); })) == "1c69e8a82cf7b717");
  CHECK(hex(hash_of([](Random& r) { return r.uniform(-0.3, 7.1); })) == "b570bcf938072752");
  CHECK(hex(hash_of([](Random& r) { return std::uint64_t{r.below(1000003)}; })) == "9cafc0e7e00d5e6d");
  CHECK(hex(hash_of([](Random& r) { return r.below64(1000000000039ULL); })) == "ce53c76a8ed741e3");
  CHECK(hex(hash_of([](Random& r) { return r.normal(); })) == "ab5105bc17233ca1");
  CHECK(hex(hash_of([](Random& r) { return r.exponential(0.37); })) == "596b9e46b9e397f9");
  CHECK(hex(hash_of([](Random& r) { return r.log_normal(7.3, 2.1); })) == "25a1a4506fa1c64f");
  CHECK(hex(hash_of([](Random& r) { return r.poisson(3.3); })) == "b372a2badd2c08ad");
  CHECK(hex(hash_of([](Random& r) { return r.poisson(12.7); })) == "03efba3367c68f2d");
  CHECK(hex(hash_of([](Random& r) { return r.poisson(1e9 / 7); })) == "4dbe47e87c1a1f2f");
  CHECK(hex(hash_of([&](Random& r) { return std::int64_t{r.categorical(weights)}; })) == "58dee252793277e5");
  CHECK(hex(hash_of([&](Random& r) { return std::int64_t{r.categorical(float_weights)}; })) ==
        "eda67885435708e6");
  CHECK(hex(hash_of([](Random& r) {
          std::array<std::uint8_t, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
          r.shuffle(order);
          std::uint64_t digits = 0;
          for (const std::uint8_t digit : order) digits = digits << 8 | digit;
          return digits;
        })) == "3d3bfb333bc411db");
}
