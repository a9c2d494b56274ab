#include "mara/math/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/math/simd.hpp"

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
}  // namespace

TEST_CASE("tanh in float: error below 4e-7 everywhere, odd, bounded", "[math][elementary]") {
  double worst = 0.0;
  bool odd = true, bounded = true;
  // Every 211th float from 0 to 32 and beyond.
  for (std::uint32_t bits = 0; bits < std::bit_cast<std::uint32_t>(40.0f); bits += 211) {
    const float x = std::bit_cast<float>(bits);
    const float in[2] = {x, -x};
    float out[2];
    mara::math::tanh(in, 2, out);
    worst = std::max(worst, std::fabs(static_cast<double>(out[0]) - std::tanh(static_cast<double>(x))));
    odd &= out[1] == -out[0];
    bounded &= out[0] <= 1.0f && out[0] >= 0.0f;
  }
  CHECK(worst < 4e-7);
  CHECK(odd);
  CHECK(bounded);
  const float special[] = {kInf, -kInf, 3e38f, -3e38f, kNan, 1e-38f, 0.0f};
  float out[7];
  mara::math::tanh(special, 7, out);
  CHECK(out[0] == 1.0f);
  CHECK(out[1] == -1.0f);
  CHECK(out[2] == 1.0f);
  CHECK(out[3] == -1.0f);
  CHECK(std::isnan(out[4]));
  CHECK(out[5] == 1e-38f);
  CHECK(out[6] == 0.0f);
}

TEST_CASE("exp in float: relative error below 2e-7", "[math][elementary]") {
  double worst = 0.0;
  for (float x = -86.9f; x < 88.72f; x += 0.00137f) {
    float y = 0.0f;
    mara::math::exp(&x, 1, &y);
    const double expected = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::fabs(static_cast<double>(y) - expected) / expected);
  }
  CHECK(worst < 2e-7);
  const float special[] = {kInf, -kInf, 88.73f, -86.91f, kNan, 0.0f, 1e30f, -1e30f};
  float out[8];
  mara::math::exp(special, 8, out);
  CHECK(out[0] == kInf);
  CHECK(out[1] == 0.0f);
  CHECK(out[2] == kInf);
  CHECK(out[3] == 0.0f);
  CHECK(std::isnan(out[4]));
  CHECK(out[5] == 1.0f);
  CHECK(out[6] == kInf);
  CHECK(out[7] == 0.0f);
}

TEST_CASE("sigmoid in float", "[math][elementary]") {
  for (float x = -30.0f; x < 30.0f; x += 0.37f) {
    float y = 0.0f;
    mara::math::sigmoid(&x, 1, &y);
    const double expected = 1.0 / (1.0 + std::exp(-static_cast<double>(x)));
    CHECK(std::fabs(static_cast<double>(y) - expected) < 3e-7 * expected);
  }
  const float special[] = {kInf, -kInf, kNan, 200.0f, -200.0f};
  float out[5];
  mara::math::sigmoid(special, 5, out);
  CHECK(out[0] == 1.0f);
  CHECK(out[1] == 0.0f);
  CHECK(std::isnan(out[2]));
  CHECK(out[3] == 1.0f);
  CHECK(out[4] == 0.0f);
}

TEST_CASE("double functions are the C library's", "[math][elementary]") {
  for (double x = -5.0; x < 5.0; x += 0.173) {
    double y[4];
    mara::math::tanh(&x, 1, &y[0]);
    mara::math::exp(&x, 1, &y[1]);
    mara::math::sigmoid(&x, 1, &y[2]);
    mara::math::log(&x, 1, &y[3]);
    CHECK(y[0] == std::tanh(x));
    CHECK(y[1] == std::exp(x));
    CHECK(y[2] == 1.0 / (1.0 + std::exp(-x)));
    if (x > 0) {
      CHECK(y[3] == std::log(x));
    } else {
      CHECK(std::isnan(y[3]));
    }
  }
}

TEST_CASE("an element has the same bits wherever it stands", "[math][elementary]") {
  for (std::size_t count = 1; count <= 40; ++count) {
    std::vector<float> in(count), out(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = 0.1f * static_cast<float>(i) - 1.3f;
    mara::math::tanh(in.data(), count, out.data());
    for (std::size_t i = 0; i < count; ++i) {
      float alone = 0.0f;
      mara::math::tanh(&in[i], 1, &alone);
      CHECK(alone == out[i]);
    }
  }
}

TEMPLATE_TEST_CASE("vectors: partial access stays inside, fma and select", "[math][simd]", float, double) {
  using S = TestType;
  namespace simd = mara::simd;
  constexpr std::size_t kW = simd::kLanes<S>;
  for (std::size_t count = 1; count <= kW; ++count) {
    // Exactly `count` numbers on the heap: the sanitizer sees any access beyond them.
    std::vector<S> in(count, S(3)), out(count, S(0));
    const simd::Vec<S> v = simd::load_partial(in.data(), count);
    for (std::size_t i = 0; i < kW; ++i) CHECK(v[i] == (i < count ? S(3) : S(0)));
    simd::store_partial(out.data(), v, count);
    CHECK(out == in);
  }
  const simd::Vec<S> two = simd::broadcast(S(2)), three = simd::broadcast(S(3));
  CHECK(simd::fma(two, three, two)[0] == S(8));
  if (simd::kFused) {
    const S e = std::numeric_limits<S>::epsilon();
    const simd::Vec<S> a = simd::broadcast(S(1) + e), b = simd::broadcast(S(1) - e);
    CHECK(simd::fma(a, b, simd::broadcast(S(-1)))[0] == -e * e);
  }
  const simd::Vec<S> nan = simd::broadcast(std::numeric_limits<S>::quiet_NaN());
  CHECK(std::isnan(simd::min(two, nan)[0]));
  CHECK(std::isnan(simd::max(two, nan)[0]));
  CHECK(simd::min(two, three)[kW - 1] == S(2));
  CHECK(simd::max(two, three)[kW - 1] == S(3));
  CHECK(simd::select(two < three, two, three)[0] == S(2));
  CHECK(simd::sqrt(simd::broadcast(S(2)))[kW - 1] == std::sqrt(S(2)));
}
