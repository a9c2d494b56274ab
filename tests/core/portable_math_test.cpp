#include "mara/core/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "mara/core/normal_quantile.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Distance of a from b in units of b's last place.
double ulps(double a, double b) {
  const double size = std::fabs(b);
  return a == b ? 0.0 : std::fabs(a - b) / (std::nextafter(size, kInfinity) - size);
}

}  // namespace

TEST_CASE("portable_log agrees with the C library within 3 ulp", "[portable_math]") {
  Random random(1);
  double worst = 0.0;
  for (int i = 0; i < 200000; ++i) {
    for (const double x :
         {random.uniform(), 1.0 + random.uniform(-0.01, 0.01), std::exp(random.uniform(-740, 709))}) {
      if (x > 0.0) worst = std::max(worst, ulps(portable_log(x), std::log(x)));
    }
  }
  CHECK(worst <= 3.0);
  CHECK(worst > 0.0);  // it is not simply std::log
}

TEST_CASE("portable_log at the edges", "[portable_math]") {
  CHECK(portable_log(1.0) == 0.0);
  CHECK(portable_log(0.0) == -kInfinity);
  CHECK(portable_log(kInfinity) == kInfinity);
  CHECK(std::isnan(portable_log(-1.0)));
  CHECK(std::isnan(portable_log(kNan)));
  CHECK(ulps(portable_log(std::numeric_limits<double>::denorm_min()), -744.44007192138126) <= 1.0);
  CHECK(ulps(portable_log(std::numeric_limits<double>::max()), 709.78271289338397) <= 1.0);
}

TEST_CASE("portable_exp agrees with the C library within 3 ulp", "[portable_math]") {
  Random random(2);
  double worst = 0.0;
  for (int i = 0; i < 200000; ++i) {
    for (const double x : {random.uniform(-1, 1), random.uniform(-708, 709.7)}) {
      worst = std::max(worst, ulps(portable_exp(x), std::exp(x)));
    }
  }
  CHECK(worst <= 3.0);
}

TEST_CASE("portable_exp at the edges", "[portable_math]") {
  CHECK(portable_exp(0.0) == 1.0);
  CHECK(portable_exp(1.0) == Approx(2.718281828459045).epsilon(1e-15));
  CHECK(portable_exp(kInfinity) == kInfinity);
  CHECK(portable_exp(-kInfinity) == 0.0);
  CHECK(portable_exp(709.79) == kInfinity);
  CHECK(portable_exp(1e300) == kInfinity);
  CHECK(portable_exp(-746.0) == 0.0);
  CHECK(portable_exp(-1e300) == 0.0);
  CHECK(portable_exp(-745.0) == std::numeric_limits<double>::denorm_min());
  CHECK(std::isnan(portable_exp(kNan)));
}

TEST_CASE("the normal quantile has its tabulated values", "[portable_math]") {
  CHECK(normal_quantile(0.5) == 0.0);
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-15));
  CHECK(normal_quantile(0.25) == Approx(-0.6744897501960817).epsilon(1e-15));  // Wichura's check values
  CHECK(normal_quantile(0.001) == Approx(-3.090232306167814).epsilon(1e-15));
  CHECK(normal_quantile(1e-20) == Approx(-9.262340089798408).epsilon(1e-15));
  CHECK(normal_quantile(0.0) == 0.0);
  CHECK(normal_quantile(1.0) == 0.0);
  CHECK(normal_quantile(kNan) == 0.0);
}

TEST_CASE("the normal quantile inverts the distribution function", "[portable_math]") {
  double worst = 0.0;
  for (double p = 0.5; p > 1e-300; p *= 0.97) {
    const double q = normal_quantile(p);
    worst = std::max(worst, std::fabs(0.5 * std::erfc(-q * std::sqrt(0.5)) / p - 1.0) / (1.0 + q * q));
    if (1.0 - p < 1.0 && p > 1e-3) CHECK(normal_quantile(1.0 - p) == Approx(-q).epsilon(1e-12).margin(1e-12));
  }
  CHECK(worst < 2e-15);  // one ulp of q moves p by about q^2 ulp
}
