// The signals by hand.
#include "mara/guidance/signal.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;
using namespace mara::guidance;

namespace {

/// The definitions over whole vectors: df = endpoint - e_current, da = e_sampled - e_current.
struct Vectors {
  double inner = 0.0, df2 = 0.0, da2 = 0.0;
  Vectors(const std::vector<float>& endpoint, int current, int sampled) {
    for (int a = 0; a < static_cast<int>(endpoint.size()); ++a) {
      const double df = static_cast<double>(endpoint[static_cast<std::size_t>(a)]) - (a == current);
      const double da = (a == sampled) - (a == current);
      inner += df * da, df2 += df * df, da2 += da * da;
    }
  }
};

SignalInput input(const std::vector<float>& endpoint, const std::vector<float>& q, int current, int sampled) {
  return {endpoint.data(), q.data(), static_cast<int>(endpoint.size()), current, sampled};
}

}  // namespace

TEST_CASE("distance reduction and cosine against their definitions", "[signal]") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<float> endpoint(5), q(5, 0.2f);
    for (float& y : endpoint) y = static_cast<float>(random.normal());
    const int current = static_cast<int>(random.below(5)), sampled = static_cast<int>(random.below(5));
    const Vectors v(endpoint, current, sampled);
    const SignalInput in = input(endpoint, q, current, sampled);
    CHECK(DistanceReduction::measure(in) == Approx(2.0 * v.inner - v.da2).margin(1e-5));
    const double cosine = v.da2 > 0.0 ? v.inner / std::sqrt(v.df2 * v.da2) : 0.0;
    CHECK(Cosine::measure(in) == Approx(cosine).margin(1e-5));
    CHECK(std::fabs(Cosine::measure(in)) <= 1.00001f);
  }
}

TEST_CASE("moving where the flow points pays, moving against it costs, staying is neutral", "[signal]") {
  const std::vector<float> endpoint{0.0f, 1.0f, 0.0f}, q{0.1f, 0.8f, 0.1f};
  CHECK(DistanceReduction::measure(input(endpoint, q, 0, 1)) == 2.0f);   // 2 <df, da> - |da|^2 = 4 - 2
  CHECK(DistanceReduction::measure(input(endpoint, q, 0, 2)) == 0.0f);   // 2 - 2
  CHECK(DistanceReduction::measure(input(endpoint, q, 1, 0)) == -2.0f);  // away from the endpoint
  CHECK(DistanceReduction::measure(input(endpoint, q, 0, 0)) == 0.0f);
  CHECK(Cosine::measure(input(endpoint, q, 0, 1)) == Approx(1.0));
  CHECK(Cosine::measure(input(endpoint, q, 0, 2)) == Approx(0.5));
  CHECK(LogLikelihood::measure(input(endpoint, q, 0, 1)) == Approx(std::log(0.8)));
}

TEST_CASE("a zero vector has cosine 0, never NaN", "[signal]") {
  const std::vector<float> at_current{0.0f, 1.0f, 0.0f}, q{0.2f, 0.6f, 0.2f};
  CHECK(Cosine::measure(input(at_current, q, 1, 2)) == 0.0f);  // the flow does not move
  CHECK(Cosine::measure(input(at_current, q, 0, 0)) == 0.0f);  // the agent does not move
  const std::vector<float> nearly{1e-8f, 1.0f, 0.0f};
  CHECK(Cosine::measure(input(nearly, q, 1, 2)) == 0.0f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> broken{nan, nan, nan};
  CHECK(Cosine::measure(input(broken, q, 1, 2)) == 0.0f);
}

TEST_CASE("the log likelihood has a floor", "[signal]") {
  const std::vector<float> endpoint{0.0f, 1.0f}, q{0.0f, 1.0f};
  CHECK(LogLikelihood::measure(input(endpoint, q, 1, 0)) == -10.0f);
  CHECK(LogLikelihood::measure(input(endpoint, q, 1, 1)) == 0.0f);
}
