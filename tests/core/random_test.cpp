#include "mara/core/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {
using Block = std::array<std::uint32_t, 4>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

// The known-answer vectors of Random123 (kat_vectors, philox 4x32 10).
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
static_assert(std::uniform_random_bit_generator<Random>);

TEST_CASE("philox has its known answers at run time", "[random]") {
  volatile std::uint32_t zero = 0;  // keeps the compiler from answering
  CHECK(philox4x32({zero, 0, 0, 0}, {zero, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_CASE("a stream is philox of (position / 4, stream) under the seed", "[random]") {
  Random zero(0);
  CHECK(zero() == 0x6627e8d5);
  CHECK(zero() == 0xe169c58d);
  CHECK(zero.next64() == 0xbc57ac4c9b00dbd8ULL);
  CHECK(zero() == philox4x32({1, 0, 0, 0}, {0, 0})[0]);

  const std::uint64_t seed = 0x299f31d0a4093822ULL, stream = 0x0370734413198a2eULL;
  const std::uint64_t block = 0x05a308d3243f6a88ULL;  // a position has 64 bits, a block index 62
  Random far(Random::State{seed, stream, block * 4 + 2});
  const Block expected =
      philox4x32({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  CHECK(far() == expected[2]);
  CHECK(far() == expected[3]);
  CHECK(far() == philox4x32({0x243f6a89, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})[0]);
}

TEST_CASE("the block index carries into its upper word", "[random]") {
  Random random(Random::State{1, 2, (std::uint64_t{1} << 34) - 1});
  CHECK(random() == philox4x32({0xffffffff, 0, 2, 0}, {1, 0})[3]);
  CHECK(random() == philox4x32({0, 1, 2, 0}, {1, 0})[0]);
}

TEST_CASE("a saved state continues with the same numbers", "[random]") {
  for (int drawn = 0; drawn < 9; ++drawn) {
    Random random(42, 7);
    for (int i = 0; i < drawn; ++i) random();
    const Random::State saved = random.state();
    CHECK(saved == Random::State{42, 7, static_cast<std::uint64_t>(drawn)});
    Random restored(saved);
    Random copy = random;
    for (int i = 0; i < 10; ++i) {
      const std::uint32_t next = random();
      CHECK(restored() == next);
      CHECK(copy() == next);
    }
    CHECK(restored.state() == random.state());
  }
}

TEST_CASE("a state saved between draws of any distribution continues bit by bit", "[random]") {
  Random random(43);
  const std::vector<double> weights{1, 2, 3};
  for (int i = 0; i < 50; ++i) {
    Random restored(random.state());
    CHECK(restored.normal() == random.normal());
    CHECK(restored.below(10) == random.below(10));
    CHECK(restored.poisson(50) == random.poisson(50));
    CHECK(restored.exponential(2) == random.exponential(2));
    CHECK(restored.categorical(weights) == random.categorical(weights));
    CHECK(restored.state() == random.state());
  }
}

TEST_CASE("draws of fixed length use the number of words they say", "[random]") {
  const std::vector<double> weights{1, 2, 3}, none{0, 0};
  Random random(44);
  std::uint64_t before = 0;
  const auto words = [&] { return random.state().position - std::exchange(before, random.state().position); };
  for (int i = 0; i < 200; ++i) {
    random.uniform();
    CHECK(words() == 2);
    random.uniform(kNan, 1);
    CHECK(words() == 2);
    random.normal();
    CHECK(words() == 2);
    random.exponential(1.0);
    CHECK(words() == 2);
    random.log_normal(0.0, 1.0);
    CHECK(words() == 2);
    random.poisson(3.0);
    CHECK(words() == 2);
    random.categorical(weights);
    CHECK(words() == 2);
    random.categorical(none);
    CHECK(words() == 2);
  }
}

TEST_CASE("seeds and streams give different, uncorrelated numbers", "[random]") {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t stream = 0; stream < 100; ++stream) first.insert(Random(seed, stream).next64());
  }
  CHECK(first.size() == 10000);

  const auto correlation = [](Random a, Random b) {
    double sum = 0.0;
    for (int i = 0; i < 40000; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    return sum * 12.0 / 40000.0;  // standard deviation 1/200
  };
  CHECK(std::fabs(correlation(Random(1, 0), Random(1, 1))) < 0.02);
  CHECK(std::fabs(correlation(Random(1, 0), Random(2, 0))) < 0.02);
  CHECK(std::fabs(correlation(Random(1, 0), Random(1, std::uint64_t{1} << 32))) < 0.02);
  CHECK(std::fabs(correlation(Random(0, 1), Random(1, 0))) < 0.02);
  CHECK(correlation(Random(1, 0), Random(1, 0)) > 0.98);  // the measure sees a copy
}

TEST_CASE("uniform draws stay in their interval", "[random]") {
  Random random(45);
  double least = 1.0, most = 0.0;
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    least = std::min(least, u);
    most = std::max(most, u);
    const double v = random.uniform(-3.0, 5.0);
    if (!(v >= -3.0 && v < 5.0)) FAIL("uniform(-3, 5) gave " << v);
    const double next = std::nextafter(1.0, 2.0);
    if (random.uniform(1.0, next) != 1.0) FAIL("the upper end must not be drawn");
    const double wide = random.uniform(-1.7e308, 1.7e308);
    if (!(wide >= -1.7e308 && wide < 1.7e308))
      FAIL("an interval wider than the largest double gave " << wide);
  }
  CHECK(least >= 0.0);
  CHECK(least < 1e-4);
  CHECK(most < 1.0);
  CHECK(most > 1.0 - 1e-4);
  CHECK(random.uniform(2.0, 2.0) == 2.0);
}

TEST_CASE("bad parameters give 0 or -1, never NaN", "[random]") {
  Random random(46);
  CHECK(random.below(0) == 0);
  CHECK(random.below64(0) == 0);
  CHECK(random.below(1) == 0);
  CHECK(random.below64(1) == 0);
  CHECK(random.uniform(kNan, 1.0) == 0.0);
  CHECK(random.uniform(0.0, kInfinity) == 0.0);
  CHECK(random.uniform(2.0, 1.0) == 0.0);
  CHECK(random.exponential(0.0) == 0.0);
  CHECK(random.exponential(-1.0) == 0.0);
  CHECK(random.exponential(kNan) == 0.0);
  CHECK(random.exponential(kInfinity) == 0.0);
  CHECK(random.log_normal(kNan, 1.0) == 0.0);
  CHECK(random.log_normal(0.0, kNan) == 0.0);
  CHECK(random.log_normal(0.0, -1.0) == 0.0);
  CHECK(random.poisson(0.0) == 0);
  CHECK(random.poisson(-1.0) == 0);
  CHECK(random.poisson(kNan) == 0);
  CHECK(std::isfinite(random.log_normal(1e9, 1.0)));
  CHECK(random.log_normal(-1e9, 1.0) == 0.0);
  CHECK(std::isfinite(random.exponential(5e-324)));
  CHECK(static_cast<double>(random.poisson(kInfinity)) == Approx(0x1p53).epsilon(1e-6));
  CHECK(random.categorical(std::vector<double>{}) == -1);
  CHECK(random.categorical(std::vector<double>{0, -1, kNan, kInfinity}) == -1);
}

TEST_CASE("categorical draws skip weights that are not positive and finite", "[random]") {
  Random random(47);
  const std::vector<double> weights{0, 1, -5, kNan, 1, kInfinity, 0};
  for (int i = 0; i < 1000; ++i) {
    const int index = random.categorical(weights);
    if (index != 1 && index != 4) FAIL("drew " << index);
  }
  const std::vector<double> huge{1.7e308, 0.0, 1.7e308, 1.7e308};
  std::array<int, 4> seen{};
  for (int i = 0; i < 3000; ++i) ++seen[static_cast<std::size_t>(random.categorical(huge))];
  CHECK(seen[1] == 0);
  for (const std::size_t i : {0u, 2u, 3u}) CHECK(std::abs(seen[i] - 1000) < 110);
  CHECK(random.categorical(std::vector<double>{5e-324}) == 0);
}

TEST_CASE("categorical draws are the same for float and double weights", "[random]") {
  const std::vector<float> single{0.5f, 0.0f, 0.1f, 2.0f};
  const std::vector<double> twice(single.begin(), single.end());
  Random a(48), b(48);
  for (int i = 0; i < 1000; ++i) {
    if (a.categorical(single) != b.categorical(twice)) FAIL("draw " << i);
  }
  CHECK(a.state() == b.state());
}

TEST_CASE("shuffle permutes", "[random]") {
  Random random(49);
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> before = values;
  random.shuffle(values);
  CHECK(values != before);
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == before);

  std::span<int> view(values);
  random.shuffle(view.first(0));
  random.shuffle(view.first(1));
  random.shuffle(view);
  std::array<bool, 3> flags{true, false, true};
  random.shuffle(flags);
  CHECK(std::count(flags.begin(), flags.end(), true) == 2);
}
