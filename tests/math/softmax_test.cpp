// Case A7 (masked categorical) and the stability of softmax.
#include "mara/math/softmax.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

TEMPLATE_TEST_CASE("masked categorical: known values", "[math][softmax]", float, double) {
  using S = TestType;
  const double tolerance = sizeof(S) == 4 ? 1e-6 : 1e-9;
  const S logits[4] = {S(1), S(2), S(3), S(4)};
  S log_p[4], p[4];
  mara::math::masked_log_softmax_row(logits, 4, 0b0101u, log_p, p);
  CHECK(p[0] == Approx(0.1192029220).margin(tolerance));
  CHECK(p[1] == S(0));
  CHECK(p[2] == Approx(0.8807970780).margin(tolerance));
  CHECK(p[3] == S(0));
  CHECK(log_p[2] == Approx(-0.1269280110).margin(tolerance));
  CHECK(log_p[1] == S(0));
  CHECK(log_p[3] == S(0));
  double entropy = 0.0;
  for (int i = 0; i < 4; ++i) entropy -= static_cast<double>(p[i]) * static_cast<double>(log_p[i]);
  CHECK(entropy == Approx(0.3653338851).margin(tolerance));
  S only[4];
  mara::math::masked_softmax_row(logits, 4, 0b0101u, only);
  for (int i = 0; i < 4; ++i) CHECK(only[i] == p[i]);
}

TEMPLATE_TEST_CASE("softmax: shifts, overflow, no legal option, NaN", "[math][softmax]", float, double) {
  using S = TestType;
  S log_p[3], p[3];
  const S large[2] = {S(1000), S(0)};
  mara::math::log_softmax_row(large, 2, log_p, p);
  CHECK(log_p[0] == S(0));
  CHECK(log_p[1] == S(-1000));
  CHECK(p[0] == S(1));

  const S x[3] = {S(0.2), S(-0.5), S(1)};
  mara::math::softmax_row(x, 3, p);
  CHECK(p[0] == Approx(0.26866364).margin(1e-7));
  CHECK(p[1] == Approx(0.13341442).margin(1e-7));
  CHECK(p[2] == Approx(0.59792194).margin(1e-7));

  mara::math::masked_log_softmax_row(x, 3, 0u, log_p, p);
  for (int i = 0; i < 3; ++i) {
    CHECK(log_p[i] == S(0));
    CHECK(p[i] == S(0));
  }
  mara::math::masked_log_softmax_row(x, 3, 0b010u, log_p, p);
  CHECK(p[1] == S(1));
  CHECK(log_p[1] == S(0));

  const S nan[3] = {S(0), std::numeric_limits<S>::quiet_NaN(), S(1)};
  mara::math::log_softmax_row(nan, 3, log_p, p);
  for (int i = 0; i < 3; ++i) CHECK(std::isnan(log_p[i]));
  // An illegal option may hold anything.
  mara::math::masked_log_softmax_row(nan, 3, 0b101u, log_p, p);
  CHECK(p[0] + p[2] == Approx(1.0));
  CHECK(p[1] == S(0));
  CHECK(log_p[1] == S(0));
}
