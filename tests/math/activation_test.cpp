// Activations over all of float, their gradients, and the fused way back.
#include "mara/math/activation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "float_range.hpp"
#include "mara/core/random.hpp"
#include "mara/math/reduce.hpp"

namespace {

using mara::Activation;

constexpr double kInf = std::numeric_limits<double>::infinity();

double normal_cumulative(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}
double exact(Activation activation, double x) {
  switch (activation) {
    case Activation::kIdentity:
      return x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kRelu:
      return x < 0.0 ? 0.0 : x;
    case Activation::kElu:
      return x > 0.0 ? x : std::expm1(x);
    case Activation::kGelu:
      return x == -kInf ? 0.0 : x * normal_cumulative(x);
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case Activation::kSoftplus:
      return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return 0.0;
}
double exact_slope(Activation activation, double x) {
  switch (activation) {
    case Activation::kIdentity:
      return 1.0;
    case Activation::kTanh:
      return 1.0 - std::tanh(x) * std::tanh(x);
    case Activation::kRelu:
      return x > 0.0 ? 1.0 : 0.0;
    case Activation::kElu:
      return x > 0.0 ? 1.0 : std::exp(x);
    case Activation::kGelu:
      if (std::isinf(x)) return x > 0.0 ? 1.0 : 0.0;
      return normal_cumulative(x) + x * std::exp(-0.5 * x * x) / std::sqrt(8.0 * std::atan(1.0));
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x)) / (1.0 + std::exp(x));
    case Activation::kSoftplus:
      return 1.0 / (1.0 + std::exp(-x));
  }
  return 0.0;
}
std::vector<Activation> all_activations() {
  std::vector<Activation> all;
  for (int i = 0; i < mara::kActivations; ++i) all.push_back(static_cast<Activation>(i));
  return all;
}

template <class Keep>
mara_test::WorstError worst(Activation activation, const Keep& keep) {
  return mara_test::worst_error(
      [activation](const float* x, std::size_t n, float* y) {
        std::copy(x, x + n, y);
        mara::math::activate(activation, n, y);
      },
      [activation](double x) { return exact(activation, x); }, keep);
}

}  // namespace

TEST_CASE("the numbers of the activations are those in files", "[math][activation]") {
  CHECK(static_cast<int>(Activation::kIdentity) == 0);
  CHECK(static_cast<int>(Activation::kTanh) == 1);
  CHECK(static_cast<int>(Activation::kRelu) == 2);
  CHECK(std::string(mara::name_of(Activation::kSoftplus)) == "softplus");
  CHECK(std::string(mara::name_of(static_cast<Activation>(mara::kActivations))) == "unknown");
}

TEST_CASE("activations in float over the whole range", "[math][activation]") {
  const auto everywhere = [](float) { return true; };
  const struct {
    Activation activation;
    double relative;
  } bounds[] = {{Activation::kIdentity, 0.0},
                {Activation::kRelu, 0.0},
                {Activation::kElu, 1.5e-7},
                {Activation::kSigmoid, 2e-7},
                {Activation::kSoftplus, 2e-7}};
  for (const auto& bound : bounds) {
    const auto error = worst(bound.activation, everywhere);
    CAPTURE(mara::name_of(bound.activation), error.at, error.wrong_at);
    CHECK(error.relative <= bound.relative);
    CHECK(error.subnormal <= 1.0);
    CHECK(error.wrong == 0);
  }
  CHECK(worst(Activation::kTanh, everywhere).absolute < 6e-7);
  // Gelu: relative above -1, absolute in the tail.
  CHECK(worst(Activation::kGelu, everywhere).wrong == 0);
  CHECK(worst(Activation::kGelu, [](float x) { return x >= -1.0f; }).relative < 4e-7);
  CHECK(worst(Activation::kGelu, [](float x) { return x < -1.0f; }).absolute < 1e-7);
}

TEST_CASE("activations at the ends of float", "[math][activation]") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto at = [](Activation activation, float x) {
    mara::math::activate(activation, 1, &x);
    return x;
  };
  CHECK(at(Activation::kSigmoid, -inf) == 0.0f);
  CHECK(at(Activation::kSigmoid, inf) == 1.0f);
  CHECK(at(Activation::kElu, -inf) == -1.0f);
  CHECK(at(Activation::kElu, inf) == inf);
  CHECK(at(Activation::kGelu, -inf) == 0.0f);
  CHECK(at(Activation::kGelu, inf) == inf);
  CHECK(at(Activation::kSoftplus, -inf) == 0.0f);
  CHECK(at(Activation::kSoftplus, inf) == inf);
  CHECK(at(Activation::kRelu, -inf) == 0.0f);
  for (const Activation activation : all_activations())
    CHECK(std::isnan(at(activation, std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("activations in double are the C library's", "[math][activation]") {
  for (const Activation activation : all_activations()) {
    CAPTURE(mara::name_of(activation));
    for (const double x :
         {-kInf, -1e300, -50.0, -38.0, -3.0, -0.4, -1e-9, 0.0, 1e-9, 0.4, 3.0, 38.0, 800.0, kInf}) {
      double y = x;
      mara::math::activate(activation, 1, &y);
      CAPTURE(x);
      if (std::isinf(exact(activation, x))) {
        CHECK(y == exact(activation, x));
      } else {
        CHECK(y == Approx(exact(activation, x)).epsilon(1e-14).margin(1e-300));
      }
    }
    double nan = std::numeric_limits<double>::quiet_NaN();
    mara::math::activate(activation, 1, &nan);
    CHECK(std::isnan(nan));
  }
}

TEMPLATE_TEST_CASE("gradients from the output", "[math][activation]", float, double) {
  using S = TestType;
  // Near saturation the output alone tells the slope to a few units of its own rounding.
  const double tolerance = sizeof(S) == 4 ? 4e-6 : 1e-12;
  for (const Activation activation : all_activations())
    for (double x = -20.0; x < 20.0; x += 0.0917) {
      S y = static_cast<S>(x), gradient = S(-1.5);
      mara::math::activate(activation, 1, &y);
      if (activation == Activation::kGelu) {
        const S z = static_cast<S>(x);
        mara::gelu_gradient(&z, 1, &gradient);
        CHECK(gradient == Approx(-1.5 * exact_slope(activation, x)).margin(tolerance));
        mara::activation_gradient(&y, 1, activation, &gradient);
        CHECK(std::isnan(gradient));
      } else {
        mara::activation_gradient(&y, 1, activation, &gradient);
        CHECK(gradient == Approx(-1.5 * exact_slope(activation, x)).margin(tolerance));
      }
    }
}

TEST_CASE("slopes of softplus and gelu over the whole range", "[math][activation]") {
  const auto softplus = mara_test::worst_error(
      [](const float* y, std::size_t n, float* g) {
        std::fill_n(g, n, 1.0f);
        mara::activation_gradient(y, n, Activation::kSoftplus, g);
      },
      [](double y) { return -std::expm1(-y); }, [](float y) { return !(y < 0.0f); });
  CHECK(softplus.relative < 1.5e-7);
  CHECK(softplus.wrong == 0);
  const auto gelu = mara_test::worst_error(
      [](const float* z, std::size_t n, float* g) {
        std::fill_n(g, n, 1.0f);
        mara::gelu_gradient(z, n, g);
      },
      [](double z) { return exact_slope(Activation::kGelu, z); });
  CHECK(gelu.absolute < 3e-7);
  CHECK(gelu.wrong == 0);
}

TEMPLATE_TEST_CASE("the fused way back equals its parts, bit for bit", "[math][activation]", float, double) {
  using S = TestType;
  mara::Random random(5);
  for (const std::size_t rows : std::initializer_list<std::size_t>{0, 1, 2, 3, 33})
    for (const std::size_t cols : std::initializer_list<std::size_t>{1, 3, 15, 16, 17, 64, 65, 130})
      for (const Activation activation : all_activations())
        for (const bool accumulate : {false, true}) {
          if (activation == Activation::kGelu) continue;
          // Exactly as many numbers as needed, on the heap: the sanitizer sees any access beyond.
          std::vector<S> out(rows * cols), gradient(out.size()), bias(cols, S(0.25));
          for (S& v : out) v = static_cast<S>(random.normal());
          mara::math::activate(activation, out.size(), out.data());
          for (S& v : gradient) v = static_cast<S>(random.normal());
          std::vector<S> dz = gradient, sums = bias;
          mara::activation_gradient(out.data(), out.size(), activation, dz.data());
          mara::math::column_sums(dz.data(), rows, cols, accumulate, sums.data());
          mara::activation_bias_gradient(out.data(), rows, cols, activation, gradient.data(), bias.data(),
                                         accumulate);
          CAPTURE(rows, cols, mara::name_of(activation), accumulate);
          REQUIRE(gradient == dz);
          REQUIRE(bias == sums);
        }
  S y[2] = {S(0.5), S(-0.5)}, g[2] = {S(1), S(2)};
  mara::activation_bias_gradient(y, 2, 1, Activation::kTanh, g, static_cast<S*>(nullptr), true);
  CHECK(g[0] == S(0.75));
  CHECK(g[1] == S(1.5));
}

TEST_CASE("bits of activations and gradients do not depend on place or alignment", "[math][activation]") {
  constexpr std::size_t kCount = 70;
  mara::Random random(6);
  for (const Activation activation : all_activations()) {
    std::vector<float> x(kCount), y(kCount);
    for (float& v : x) v = static_cast<float>(3.0 * random.normal());
    y = x;
    mara::math::activate(activation, kCount, y.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      float alone = x[i];
      mara::math::activate(activation, 1, &alone);
      REQUIRE(std::bit_cast<std::uint32_t>(alone) == std::bit_cast<std::uint32_t>(y[i]));
    }
    if (activation == Activation::kGelu) continue;
    std::vector<float> first;
    for (std::size_t shift = 0; shift < 17; ++shift) {
      std::vector<float> moved(kCount + shift), gradient(kCount + shift), bias(shift + 14);
      std::copy(y.begin(), y.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
      for (std::size_t i = 0; i < kCount; ++i) gradient[shift + i] = x[kCount - 1 - i];
      mara::activation_bias_gradient(moved.data() + shift, 5, 14, activation, gradient.data() + shift,
                                     bias.data() + shift, false);
      std::vector<float> now(gradient.begin() + static_cast<std::ptrdiff_t>(shift), gradient.end());
      now.insert(now.end(), bias.begin() + static_cast<std::ptrdiff_t>(shift), bias.end());
      if (shift == 0) first = now;
      REQUIRE(now == first);
    }
  }
}
