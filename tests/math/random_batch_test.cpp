#include "mara/math/random_batch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "catch.hpp"

using mara::Random;

TEST_CASE("words are those of the stream, block by block", "[math][random batch]") {
  for (const std::size_t count : {1u, 3u, 4u, 31u, 32u, 33u, 1000u}) {
    Random batch(0x123456789abcdefull, 0xfedcba987654321ull);
    Random single = batch;
    for (int skipped = 0; skipped < 5; ++skipped) batch(), single();  // in the middle of the second block
    while (single.state().position % 4 != 0) single();
    std::vector<std::uint32_t> words(count);
    mara::math::fill_words(batch, words.data(), count);
    bool same = true;
    for (const std::uint32_t word : words) same &= word == single();
    CHECK(same);
    while (single.state().position % 4 != 0) single();
    CHECK(batch.state() == single.state());
    CHECK(batch() == single());
  }
}

TEST_CASE("a block index above 32 bits carries over", "[math][random batch]") {
  Random batch(Random::State{7, 9, 4 * 0xffffffffull}), single = batch;
  std::vector<std::uint32_t> words(64);
  mara::math::fill_words(batch, words.data(), words.size());
  bool same = true;
  for (const std::uint32_t word : words) same &= word == single();
  CHECK(same);
}

TEST_CASE("normals: moments, tails, quantiles", "[math][random batch]") {
  constexpr std::size_t kCount = 1'000'003;
  std::vector<float> x(kCount);
  Random random(5);
  mara::math::fill_normals(random, x.data(), kCount);
  double mean = 0, square = 0, third = 0, fourth = 0, lag = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double v = x[i];
    mean += v, square += v * v, third += v * v * v, fourth += v * v * v * v;
    if (i > 0) lag += v * static_cast<double>(x[i - 1]);
  }
  const double n = kCount;
  CHECK(std::abs(mean / n) < 4e-3);
  CHECK(square / n == Approx(1.0).margin(6e-3));
  CHECK(std::abs(third / n) < 0.02);
  CHECK(fourth / n == Approx(3.0).margin(0.05));
  CHECK(std::abs(lag / n) < 4e-3);
  std::sort(x.begin(), x.end());
  // Kolmogorov-Smirnov: 1.95 / sqrt(n) is the 0.1 % point.
  double distance = 0.0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double p = 0.5 * std::erfc(-static_cast<double>(x[i]) * 0.70710678118654752);
    distance = std::max(distance, std::abs(p - (static_cast<double>(i) + 0.5) / n));
  }
  CHECK(distance < 1.95 / std::sqrt(n));
  CHECK(x.back() > 4.2f);
  CHECK(x.back() < 6.7f);
}

TEST_CASE("normals do not depend on what follows them", "[math][random batch]") {
  std::vector<float> few(37), many(1000);
  Random first(3), second(3);
  mara::math::fill_normals(first, few.data(), few.size());
  mara::math::fill_normals(second, many.data(), many.size());
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("shuffle: every permutation of 4 is equally likely", "[math][random batch]") {
  Random random(11);
  std::vector<int> seen(256, 0);
  constexpr int kTrials = 48'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::uint32_t values[4] = {0, 1, 2, 3}, words[4];
    mara::math::shuffle(random, values, 4, words);
    ++seen[values[0] * 64 + values[1] * 16 + values[2] * 4 + values[3]];
  }
  double chi = 0.0;
  int kinds = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++kinds;
    chi += std::pow(count - kTrials / 24.0, 2) / (kTrials / 24.0);
  }
  CHECK(kinds == 24);
  CHECK(chi < 49.7);  // 0.1 % point with 23 degrees of freedom
}
