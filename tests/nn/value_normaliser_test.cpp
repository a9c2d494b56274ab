#include "mara/nn/value_normaliser.hpp"

#include <limits>
#include <vector>

#include "catch.hpp"

TEST_CASE("value normaliser: known values", "[nn][normaliser]") {  // case A6
  mara::ValueNormaliser<double> n(0.9);
  CHECK(n.normalize(5.0) == 5.0);  // nothing seen: identity
  const std::vector<double> first = {1, 2, 3}, second = {10, 20};
  REQUIRE(n.update(first));
  CHECK(n.mean() == Approx(2.0).margin(1e-12));
  CHECK(n.variance() == Approx(2.0 / 3.0).margin(1e-12));
  CHECK(n.normalize(5.0) == Approx(3.6742346142).margin(1e-9));
  CHECK(n.denormalize(0.3) == Approx(2.2449489743).margin(1e-9));
  REQUIRE(n.update(second));
  CHECK(n.mean() == Approx(8.8421052632).margin(1e-9));
  CHECK(n.variance() == Approx(55.6066481994).margin(1e-9));
  CHECK(n.normalize(5.0) == Approx(-0.5152356).margin(1e-7));
  CHECK(n.denormalize(0.3) == Approx(11.0792012).margin(1e-7));
  for (double x = -100.0; x < 100.0; x += 7.3) CHECK(n.denormalize(n.normalize(x)) == Approx(x).margin(1e-9));
  std::vector<double> many = {5.0, -3.0};
  n.normalize(std::span<double>(many));
  CHECK(many[0] == Approx(n.normalize(5.0)));
  n.denormalize(std::span<double>(many));
  CHECK(many[1] == Approx(-3.0));
}

TEST_CASE("value normaliser: floor, bad batches, state", "[nn][normaliser]") {
  mara::ValueNormaliser<float> n(0.5);
  const std::vector<float> constant(5, 4.0f);
  REQUIRE(n.update(constant));
  CHECK(n.variance() == mara::ValueNormaliser<float>::kVarianceFloor);
  CHECK(n.normalize(4.0f) == 0.0f);
  const auto state = n.state();
  const std::vector<float> bad = {1.0f, std::numeric_limits<float>::quiet_NaN()};
  const mara::Status status = n.update(bad);
  REQUIRE(!status);
  CHECK(status.error().message.find("batch[1] is ") != std::string::npos);
  CHECK(n.state() == state);
  REQUIRE(n.update(std::span<const float>{}));
  CHECK(n.state() == state);
  mara::ValueNormaliser<float> copy(0.5);
  copy.set_state(state);
  const std::vector<float> next = {1.0f, 2.0f};
  REQUIRE(copy.update(next));
  REQUIRE(n.update(next));
  CHECK(copy.state() == n.state());
}
