// The masked categorical distribution against hand-computed values, and against everything that is not a
// number.
#include "mara/action/masked_categorical.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"

using namespace mara;

namespace {
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
}  // namespace

TEST_CASE("logits 1..4 with two legal options", "[categorical]") {
  const float logits[] = {1, 2, 3, 4};
  const MaskedCategorical<4> p(logits, 0b0101);
  REQUIRE(p.valid());
  CHECK(p.probability(0) == Approx(0.1192029).epsilon(1e-6));
  CHECK(p.probability(1) == 0.0f);
  CHECK(p.probability(2) == Approx(0.8807971).epsilon(1e-6));
  CHECK(p.probability(3) == 0.0f);
  CHECK(p.entropy() == Approx(0.3653338851).epsilon(1e-6));
  CHECK(p.log_probability(2) == Approx(-0.1269280110).epsilon(1e-5));
  CHECK(p.log_probability(3) == -kInf);
  CHECK(p.mode() == 2);
}

TEST_CASE("an illegal logit may be anything", "[categorical]") {
  const float plain[] = {0.5f, 0.0f, -1.0f};
  const MaskedCategorical<3> expected(plain, 0b101);
  for (const float bad : {kNan, kInf, -kInf, 3e38f}) {
    const float logits[] = {0.5f, bad, -1.0f};
    const MaskedCategorical<3> p(logits, 0b101);
    REQUIRE(p.valid());
    for (int a = 0; a < 3; ++a) CHECK(p.probability(a) == expected.probability(a));
    CHECK(p.entropy() == expected.entropy());
    CHECK(p.mode() == 0);
  }
}

TEST_CASE("a legal logit that is not finite, and an empty mask, make it invalid", "[categorical]") {
  Random random(1);
  const auto invalid = [&](const MaskedCategorical<3>& p) {
    CHECK_FALSE(p.valid());
    CHECK(p.mode() == -1);
    CHECK(p.sample(random) == -1);
    CHECK(p.entropy() == 0.0f);
    for (int a = 0; a < 3; ++a) {
      CHECK(p.probability(a) == 0.0f);
      CHECK(p.log_probability(a) == -kInf);
    }
  };
  for (const float bad : {kNan, kInf, -kInf}) {
    for (int at = 0; at < 3; ++at) {
      float logits[] = {1.0f, 2.0f, 3.0f};
      logits[at] = bad;
      invalid(MaskedCategorical<3>(logits, 0b111));
    }
  }
  const float logits[] = {1.0f, 2.0f, 3.0f};
  invalid(MaskedCategorical<3>(logits, 0));
  invalid(MaskedCategorical<3>(logits, 0b111000));  // bits of options that do not exist
}

TEST_CASE("ties have one mode, the lowest index", "[categorical]") {
  const float logits[] = {0.0f, 7.0f, 7.0f, 7.0f};
  CHECK(MaskedCategorical<4>(logits, 0b1111).mode() == 1);
  CHECK(MaskedCategorical<4>(logits, 0b1100).mode() == 2);
  CHECK(MaskedCategorical<4>(logits, 0b1000).mode() == 3);
}

TEST_CASE("huge differences neither overflow nor make NaN", "[categorical]") {
  const float logits[] = {3e38f, -3e38f, 0.0f};
  const MaskedCategorical<3> p(logits, 0b111);
  REQUIRE(p.valid());
  CHECK(p.probability(0) == 1.0f);
  CHECK(p.probability(1) == 0.0f);
  CHECK(p.entropy() == 0.0f);
  CHECK(p.log_probability(0) == 0.0f);
  Random random(3);
  for (int i = 0; i < 1000; ++i) REQUIRE(p.sample(random) == 0);
}

TEST_CASE("one constant added to all logits changes nothing that matters", "[categorical]") {
  const float logits[] = {0.5f, -1.25f, 2.0f, 0.0f};
  float shifted[4];
  for (int a = 0; a < 4; ++a) shifted[a] = logits[a] + 64.0f;  // exact in float
  const MaskedCategorical<4> p(logits, 0b1111), q(shifted, 0b1111);
  for (int a = 0; a < 4; ++a) CHECK(p.log_probability(a) == q.log_probability(a));
}

TEST_CASE("frequencies agree with the probabilities, and illegal options never come", "[categorical]") {
  const float logits[] = {1.0f, 0.0f, 5.0f, -1.0f};
  const MaskedCategorical<4> p(logits, 0b1011);
  CHECK(p.probability(0) == Approx(0.66524096).epsilon(1e-6));
  constexpr int kDraws = 100'000;
  std::array<int, 4> count{};
  Random random(7);
  for (int i = 0; i < kDraws; ++i) {
    const int a = p.sample(random);
    REQUIRE(a >= 0);
    REQUIRE(a < 4);
    ++count[static_cast<std::size_t>(a)];
  }
  CHECK(count[2] == 0);
  for (int a = 0; a < 4; ++a) {
    const double expected = static_cast<double>(p.probability(a));
    const double error = std::sqrt(expected * (1.0 - expected) / kDraws);
    CHECK(std::fabs(count[static_cast<std::size_t>(a)] / double{kDraws} - expected) <= 3.0 * error);
  }
}

TEST_CASE("an option whose probability underflows is never drawn, not even by the largest uniform number",
          "[categorical]") {
  const float logits[] = {0.0f, -500.0f};
  const MaskedCategorical<2> p(logits, 0b11);
  REQUIRE(p.probability(1) == 0.0f);
  // A place of this stream whose number rounds to 1 as a float, and so is above any sum of probabilities.
  const Random::State place{0, 11, 103412830};
  REQUIRE(static_cast<float>(Random(place).uniform()) == 1.0f);
  Random random(place);
  CHECK(p.sample(random) == 0);
}

TEST_CASE("32 options use every bit of the mask", "[categorical]") {
  std::array<float, 32> logits{};
  const MaskedCategorical<32> all(logits.data(), ~OptionMask{0});
  CHECK(all.probability(31) == Approx(1.0 / 32));
  CHECK(all.entropy() == Approx(std::log(32.0)));
  const MaskedCategorical<32> last(logits.data(), OptionMask{1} << 31);
  CHECK(last.mode() == 31);
  CHECK(last.probability(31) == 1.0f);
}
