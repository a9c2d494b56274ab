#include "mara/math/reduce.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

TEMPLATE_TEST_CASE("sums of every length", "[math][reduce]", float, double) {
  using S = TestType;
  const double tolerance = sizeof(S) == 4 ? 1e-5 : 1e-13;
  mara::Random random(3);
  for (std::size_t count = 0; count <= 90; ++count) {
    std::vector<S> x(count), w(count);
    double sum = 0.0, weighted = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = static_cast<S>(random.normal());
      w[i] = static_cast<S>(random.uniform());
      sum += static_cast<double>(x[i]);
      weighted += static_cast<double>(x[i]) * static_cast<double>(w[i]);
      squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    CAPTURE(count);
    CHECK(mara::math::sum(x.data(), count) == Approx(sum).margin(tolerance));
    CHECK(mara::math::weighted_sum(x.data(), w.data(), count) == Approx(weighted).margin(tolerance));
    CHECK(mara::math::sum_of_squares(x.data(), count) == Approx(squares).margin(1e-12));
  }
}

TEMPLATE_TEST_CASE("inner products and column sums", "[math][reduce]", float, double) {
  using S = TestType;
  const double tolerance = sizeof(S) == 4 ? 1e-5 : 1e-13;
  mara::Random random(4);
  for (const std::size_t rows : std::initializer_list<std::size_t>{0, 1, 2, 5, 12})
    for (const std::size_t cols : std::initializer_list<std::size_t>{1, 2, 7, 16, 17, 40}) {
      std::vector<S> x(rows * cols), y(rows * cols), sums(cols, S(2)), added(cols, S(2));
      std::vector<double> expected(cols, 0.0);
      double inner = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<S>(random.normal());
        y[i] = static_cast<S>(random.normal());
        expected[i % cols] += static_cast<double>(x[i]);
        inner += static_cast<double>(x[i]) * static_cast<double>(y[i]);
      }
      mara::math::column_sums(x.data(), rows, cols, false, sums.data());
      mara::math::column_sums(x.data(), rows, cols, true, added.data());
      CAPTURE(rows, cols);
      CHECK(mara::math::inner_product(x.data(), y.data(), x.size()) == Approx(inner).margin(10 * tolerance));
      for (std::size_t c = 0; c < cols; ++c) {
        CHECK(sums[c] == Approx(expected[c]).margin(tolerance));
        CHECK(added[c] == Approx(expected[c] + 2.0).margin(tolerance));
      }
    }
}

TEST_CASE("a weight of zero removes NaN, any other keeps it", "[math][reduce]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[3] = {1.0f, nan, 2.0f}, none[3] = {1.0f, 0.0f, 1.0f}, some[3] = {1.0f, 1e-9f, 1.0f};
  CHECK(mara::math::weighted_sum(x, none, 3) == 3.0f);
  CHECK(std::isnan(mara::math::weighted_sum(x, some, 3)));
  CHECK(std::isnan(mara::math::sum(x, 3)));
}

TEST_CASE("sums of squares of many floats are precise at every magnitude", "[math][reduce]") {
  mara::Random random(5);
  for (const std::size_t count : {1024u, 5000u})
    for (const double scale : {1e-30, 1e-15, 1e-3, 1.0, 1e4, 1e18, 1e30}) {
      CAPTURE(count, scale);
      std::vector<float> x(count);
      double squares = 0.0;
      for (float& v : x) {
        v = static_cast<float>(scale * random.normal());
        squares += static_cast<double>(v) * static_cast<double>(v);
      }
      CHECK(std::fabs(mara::math::sum_of_squares(x.data(), count) / squares - 1.0) < 2e-6);
      x[count / 2] = std::numeric_limits<float>::quiet_NaN();
      CHECK(std::isnan(mara::math::sum_of_squares(x.data(), count)));
    }
}

TEST_CASE("squares of large floats do not overflow, infinities show", "[math][reduce]") {
  const std::vector<float> large(33, 1e30f);
  CHECK(mara::math::sum_of_squares(large.data(), 33) == Approx(33e60).epsilon(1e-6));
  const float infinite[2] = {std::numeric_limits<float>::infinity(), 1.0f};
  CHECK(std::isinf(mara::math::sum_of_squares(infinite, 2)));
}
