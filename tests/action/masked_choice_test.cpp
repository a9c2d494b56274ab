#include "mara/action/masked_choice.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

using namespace mara;

TEST_CASE("the masked mode is that of the distribution", "[action]") {
  Random random(3);
  for (int round = 0; round < 5000; ++round) {
    float logits[10];
    for (float& x : logits) x = static_cast<float>(random.below(5)) - 2.0f;  // many ties
    const auto mask = static_cast<OptionMask>(random.below(1u << 12));
    CHECK(masked_mode(logits, 10, mask) == MaskedCategorical<10>(logits, mask).mode());
  }
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float broken[4] = {1.0f, nan, -inf, 2.0f};
  CHECK(masked_mode(broken, 4, 0b1001) == 3);
  CHECK(masked_mode(broken, 4, 0b1011) == -1);
  CHECK(masked_mode(broken, 4, 0b0101) == -1);
  CHECK(masked_mode(broken, 4, 0) == -1);
  CHECK(masked_mode(broken, 4, 0b10000) == -1);
  std::vector<float> many(32, 0.0f);
  many[31] = 1.0f;
  CHECK(masked_mode(many.data(), 32, ~OptionMask{0}) == 31);
}

TEST_CASE("masked samples follow the distribution and never leave the mask", "[action]") {
  Random random(11);
  for (const int options : {3, 16, 17, 32}) {
    std::vector<float> logits(static_cast<std::size_t>(options));
    for (float& x : logits) x = 1.5f * static_cast<float>(random.normal());
    const OptionMask mask = 0xaaaaaaabu;
    constexpr int kDraws = 40000;
    std::vector<int> count(32);
    for (int i = 0; i < kDraws; ++i)
      ++count[static_cast<std::size_t>(masked_sample(logits.data(), options, mask, random))];
    double sum = 0.0;
    for (int a = 0; a < options; ++a)
      if ((mask >> a) & 1u) sum += std::exp(static_cast<double>(logits[static_cast<std::size_t>(a)]));
    for (int a = 0; a < 32; ++a) {
      const bool legal = a < options && ((mask >> a) & 1u);
      const double p = legal ? std::exp(static_cast<double>(logits[static_cast<std::size_t>(a)])) / sum : 0.0;
      const double deviation = std::sqrt(p * (1.0 - p) / kDraws);
      CAPTURE(options, a, p);
      CHECK(std::fabs(count[static_cast<std::size_t>(a)] / double{kDraws} - p) <= 5.0 * deviation + 1e-12);
    }
  }
  const float broken[2] = {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  Random before(5), after(5);
  CHECK(masked_sample(broken, 2, 0b11, after) == -1);
  CHECK(masked_sample(broken, 2, 0, after) == -1);
  CHECK(before.uniform() == after.uniform());
  // Logits far apart: no overflow, no draw of what has no probability.
  const float far[3] = {-3e38f, 3e38f, 0.0f};
  for (int i = 0; i < 100; ++i) CHECK(masked_sample(far, 3, 0b111, random) == 1);
}
