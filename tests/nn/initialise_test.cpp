// First weights: moments, bounds, seeds.
#include "mara/nn/initialise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "mara/nn/network_inference.hpp"

using mara::Initialiser;
using mara::ParameterView;
using mara::Random;

namespace {

constexpr std::size_t kIn = 150, kOut = 90, kCount = kIn * kOut;

std::vector<double> weights_of(Initialiser kind, double gain, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> w(kCount);
  mara::initialise_weights(random, kind, gain,
                           ParameterView<double>{w.data(), kIn, kOut, mara::Storage::kRowMajor});
  return w;
}

struct Moments {
  double mean = 0, variance = 0, kurtosis = 0, largest = 0;
  explicit Moments(const std::vector<double>& x) {
    const auto n = static_cast<double>(x.size());
    for (const double v : x) mean += v / n;
    for (const double v : x) {
      variance += (v - mean) * (v - mean) / n;
      largest = std::max(largest, std::fabs(v));
    }
    for (const double v : x) kurtosis += std::pow((v - mean) / std::sqrt(variance), 4) / n;
  }
};

}  // namespace

TEST_CASE("first weights have the moments of their distribution", "[nn][initialise]") {
  struct Case {
    Initialiser kind;
    double variance;
    bool uniform;
  };
  for (const Case& c :
       {Case{Initialiser::kXavierUniform, 2.0 / (kIn + kOut), true},
        Case{Initialiser::kXavierNormal, 2.0 / (kIn + kOut), false},
        Case{Initialiser::kHeUniform, 2.0 / kIn, true}, Case{Initialiser::kHeNormal, 2.0 / kIn, false}}) {
    for (const double gain : {1.0, 0.5}) {
      const Moments m(weights_of(c.kind, gain, 7));
      const double deviation = gain * std::sqrt(c.variance), n = kCount;
      CAPTURE(static_cast<int>(c.kind), gain);
      CHECK(mara::initial_deviation(c.kind, kIn, kOut) == Approx(std::sqrt(c.variance)));
      CHECK(std::fabs(m.mean) < 4 * deviation / std::sqrt(n));
      // Standard errors of the variance: sqrt((kurtosis - 1) / n) of it.
      CHECK(m.variance == Approx(deviation * deviation).epsilon(4 * std::sqrt((c.uniform ? 0.8 : 2.0) / n)));
      CHECK(m.kurtosis == Approx(c.uniform ? 1.8 : 3.0).margin(0.2));
      if (c.uniform) {
        CHECK(m.largest <= deviation * std::sqrt(3.0));
        CHECK(m.largest > 0.999 * deviation * std::sqrt(3.0));
      } else {
        CHECK(m.largest > 3 * deviation);
      }
    }
  }
}

TEST_CASE("orthogonal weights through a view", "[nn][initialise]") {
  const auto w = weights_of(Initialiser::kOrthogonal, 2.0, 7);
  for (std::size_t a = 0; a < kOut; a += 7)
    for (std::size_t b = 0; b <= a; b += 7) {
      double inner = 0;
      for (std::size_t r = 0; r < kIn; ++r) inner += w[r * kOut + a] * w[r * kOut + b];
      CHECK(inner == Approx(a == b ? 4.0 : 0.0).margin(1e-12));
    }
  CHECK(std::sqrt(Moments(w).variance) ==
        Approx(2.0 * mara::initial_deviation(Initialiser::kOrthogonal, kIn, kOut)).epsilon(0.01));
}

TEST_CASE("first weights depend on the seed alone, and fill panels without touching the padding",
          "[nn][initialise]") {
  CHECK(weights_of(Initialiser::kHeNormal, 1.0, 3) == weights_of(Initialiser::kHeNormal, 1.0, 3));
  CHECK(weights_of(Initialiser::kHeNormal, 1.0, 3) != weights_of(Initialiser::kHeNormal, 1.0, 4));
  std::vector<float> panels(mara::PanelLayout::size(3, 17), -7.0f), rows(51);
  const ParameterView<float> view{panels.data(), 3, 17, mara::Storage::kPanels};
  Random first(5), second(5);
  mara::initialise_weights(first, Initialiser::kXavierUniform, 1.0, view);
  mara::initialise_weights(second, Initialiser::kXavierUniform, 1.0,
                           ParameterView<float>{rows.data(), 3, 17, mara::Storage::kRowMajor});
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 17; ++c) CHECK(view.at(r, c) == rows[r * 17 + c]);
  CHECK(std::count(panels.begin(), panels.end(), -7.0f) ==
        static_cast<std::ptrdiff_t>(panels.size() - rows.size()));
}
