#include "mara/math/trigonometric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

namespace {
/// Angles of many sizes, and those around multiples of pi/2, where the reduction loses most.
std::vector<float> angles() {
  std::vector<float> x;
  for (int i = -100'000; i <= 100'000; ++i) x.push_back(static_cast<float>(i) * 0.06f);
  for (int i = 0; i < 60'000; ++i) x.push_back(static_cast<float>(i) * 1.3e-4f);
  for (int n = -3800; n <= 3800; ++n) {
    const auto near = static_cast<float>(n * 1.57079632679489661923);
    x.push_back(near);
    x.push_back(std::nextafter(near, 1e9f));
    x.push_back(std::nextafter(near, -1e9f));
  }
  for (float tiny = 1e-40f; tiny < 1.0f; tiny *= 3.0f) x.push_back(tiny);
  return x;
}
}  // namespace

TEST_CASE("sine and cosine within 1e-7 of the C library's in double", "[math][trigonometric]") {
  const std::vector<float> x = angles();
  std::vector<float> sine(x.size()), cosine(x.size());
  mara::math::sine_cosine(x.data(), x.size(), sine.data(), cosine.data());
  double worst = 0.0, at = 0.0, beyond_one = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double angle = x[i];
    const double error = std::max(std::abs(static_cast<double>(sine[i]) - std::sin(angle)),
                                  std::abs(static_cast<double>(cosine[i]) - std::cos(angle)));
    if (error > worst) worst = error, at = angle;
    beyond_one = std::max({beyond_one, std::abs(static_cast<double>(sine[i])) - 1.0,
                           std::abs(static_cast<double>(cosine[i])) - 1.0});
  }
  CAPTURE(worst, at);
  CHECK(worst < 1e-7);
  CHECK(beyond_one <= 1.2e-7);
}

TEST_CASE("sine is odd and small angles keep their relative accuracy", "[math][trigonometric]") {
  for (const float x : {1e-38f, 1e-20f, 1e-4f, 0.1f, 0.7f, 2.0f, 3.0f, 100.0f}) {
    const float in[] = {x, -x};
    float sine[2], cosine[2];
    mara::math::sine_cosine(in, 2, sine, cosine);
    CHECK(sine[1] == -sine[0]);
    CHECK(cosine[1] == cosine[0]);
    if (x < 1.0f)
      CHECK(static_cast<double>(sine[0]) == Approx(std::sin(static_cast<double>(x))).epsilon(2e-7));
  }
}

TEST_CASE("what is no angle gives NaN", "[math][trigonometric]") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float in[] = {kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 6001.0f, -1e30f, 0.0f};
  float sine[6], cosine[6], wrapped[6];
  mara::math::sine_cosine(in, 6, sine, cosine);
  mara::math::wrap_angles(in, 6, wrapped);
  for (int i = 0; i < 5; ++i) {
    CHECK(std::isnan(sine[i]));
    CHECK(std::isnan(cosine[i]));
  }
  CHECK(sine[5] == 0.0f);
  CHECK(cosine[5] == 1.0f);
  CHECK(std::isnan(wrapped[2]));
}

TEST_CASE("a wrapped angle is the same angle within half a turn", "[math][trigonometric]") {
  const std::vector<float> x = angles();
  std::vector<float> wrapped(x.size());
  mara::math::wrap_angles(x.data(), x.size(), wrapped.data());
  constexpr double kTurn = 6.28318530717958647693;
  double largest = 0.0, worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turns = (static_cast<double>(x[i]) - static_cast<double>(wrapped[i])) / kTurn;
    largest = std::max(largest, std::abs(static_cast<double>(wrapped[i])));
    worst = std::max(worst, std::abs(turns - std::round(turns)) * kTurn);
  }
  CHECK(largest < 3.14159265 + 5e-4);
  CHECK(worst < 5e-7);
}
