#include "mara/math/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "float_range.hpp"
#include "mara/math/simd.hpp"

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
}  // namespace

TEST_CASE("tanh in float over the whole range: odd and bounded too", "[math][elementary]") {
  const auto worst =
      mara_test::worst_error([](const float* x, std::size_t n, float* y) { mara::math::tanh(x, n, y); },
                             [](double x) { return std::tanh(x); });
  CAPTURE(worst.at, worst.wrong_at);
  CHECK(worst.absolute < 6e-7);
  CHECK(worst.relative < 8e-7);
  CHECK(worst.subnormal < 1e-6);
  CHECK(worst.wrong == 0);
  bool odd = true, bounded = true;
  for (const float x : mara_test::float_range()) {
    if (std::isnan(x)) continue;
    const float in[2] = {x, -x};
    float out[2];
    mara::math::tanh(in, 2, out);
    odd &= out[1] == -out[0];
    bounded &= out[0] <= 1.0f && out[0] >= -1.0f;
  }
  CHECK(odd);
  CHECK(bounded);
}

TEST_CASE("exp in float over the whole range", "[math][elementary]") {
  const auto worst =
      mara_test::worst_error([](const float* x, std::size_t n, float* y) { mara::math::exp(x, n, y); },
                             [](double x) { return std::exp(x); });
  CAPTURE(worst.at, worst.wrong_at);
  CHECK(worst.relative < 1e-7);
  CHECK(worst.subnormal <= 1.0);
  CHECK(worst.wrong == 0);
  const float special[] = {kInf, -kInf, 88.73f, -87.34f, kNan, 0.0f, 1e30f, -1e30f, -0.0f};
  float out[9];
  mara::math::exp(special, 9, out);
  CHECK(out[0] == kInf);
  CHECK(out[1] == 0.0f);
  CHECK(out[2] == kInf);
  CHECK(out[3] == 0.0f);
  CHECK(std::isnan(out[4]));
  CHECK(out[5] == 1.0f);
  CHECK(out[6] == kInf);
  CHECK(out[7] == 0.0f);
  CHECK(out[8] == 1.0f);
}

TEST_CASE("log in float over the whole range", "[math][elementary]") {
  const auto worst =
      mara_test::worst_error([](const float* x, std::size_t n, float* y) { mara::math::log(x, n, y); },
                             [](double x) { return std::log(x); });
  CAPTURE(worst.at, worst.wrong_at);
  CHECK(worst.relative < 1e-7);
  CHECK(worst.wrong == 0);
  const float special[] = {0.0f, -0.0f, -1.0f, kInf, -kInf, kNan, 1.0f, 1e-45f, -1e-45f};
  float out[9];
  mara::math::log(special, 9, out);
  CHECK(out[0] == -kInf);
  CHECK(out[1] == -kInf);
  CHECK(std::isnan(out[2]));
  CHECK(out[3] == kInf);
  CHECK(std::isnan(out[4]));
  CHECK(std::isnan(out[5]));
  CHECK(out[6] == 0.0f);
  CHECK(out[7] == Approx(-103.27893));
  CHECK(std::isnan(out[8]));
}

TEST_CASE("erf in float over the whole range: odd and bounded too", "[math][elementary]") {
  const auto worst =
      mara_test::worst_error([](const float* x, std::size_t n, float* y) { mara::math::erf(x, n, y); },
                             [](double x) { return std::erf(x); });
  CAPTURE(worst.at, worst.wrong_at);
  CHECK(worst.relative < 3.5e-7);
  CHECK(worst.subnormal < 1e-6);
  CHECK(worst.wrong == 0);
  bool odd = true, bounded = true;
  for (const float x : mara_test::float_range()) {
    if (std::isnan(x)) continue;
    const float in[2] = {x, -x};
    float out[2];
    mara::math::erf(in, 2, out);
    odd &= out[1] == -out[0];
    bounded &= out[0] <= 1.0f && out[0] >= -1.0f;
  }
  CHECK(odd);
  CHECK(bounded);
}

TEST_CASE("sigmoid in float over the whole range", "[math][elementary]") {
  const auto worst =
      mara_test::worst_error([](const float* x, std::size_t n, float* y) { mara::math::sigmoid(x, n, y); },
                             [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  CAPTURE(worst.at, worst.wrong_at);
  CHECK(worst.relative < 2e-7);
  CHECK(worst.subnormal <= 1.0);
  CHECK(worst.wrong == 0);
  const float special[] = {kInf, -kInf, kNan, 200.0f, -200.0f, 0.0f};
  float out[6];
  mara::math::sigmoid(special, 6, out);
  CHECK(out[0] == 1.0f);
  CHECK(out[1] == 0.0f);
  CHECK(std::isnan(out[2]));
  CHECK(out[3] == 1.0f);
  CHECK(out[4] == 0.0f);
  CHECK(out[5] == 0.5f);
}

TEST_CASE("double functions are the C library's", "[math][elementary]") {
  for (double x = -5.0; x < 5.0; x += 0.173) {
    double y[4];
    mara::math::tanh(&x, 1, &y[0]);
    mara::math::exp(&x, 1, &y[1]);
    mara::math::sigmoid(&x, 1, &y[2]);
    mara::math::log(&x, 1, &y[3]);
    double erf = 0.0;
    mara::math::erf(&x, 1, &erf);
    CHECK(erf == std::erf(x));
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
  using Function = void (*)(const float*, std::size_t, float*);
  const Function functions[] = {
      [](const float* x, std::size_t n, float* y) { mara::math::tanh(x, n, y); },
      [](const float* x, std::size_t n, float* y) { mara::math::exp(x, n, y); },
      [](const float* x, std::size_t n, float* y) { mara::math::log(x, n, y); },
      [](const float* x, std::size_t n, float* y) { mara::math::erf(x, n, y); },
      [](const float* x, std::size_t n, float* y) { mara::math::sigmoid(x, n, y); }};
  for (const Function f : functions)
    for (std::size_t count = 1; count <= 40; ++count) {
      std::vector<float> in(count), out(count);
      for (std::size_t i = 0; i < count; ++i) in[i] = 0.1f * static_cast<float>(i) - 1.3f;
      f(in.data(), count, out.data());
      for (std::size_t i = 0; i < count; ++i) {
        float alone = 0.0f;
        f(&in[i], 1, &alone);
        CHECK(std::bit_cast<std::uint32_t>(alone) == std::bit_cast<std::uint32_t>(out[i]));
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
