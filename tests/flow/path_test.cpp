// The straight path: ends, target velocity, noise.
#include "mara/flow/path.hpp"

#include <cmath>

#include "catch.hpp"

using namespace mara;

TEST_CASE("the straight path by hand", "[flow]") {
  const float x0[] = {1.0f, -2.0f}, x1[] = {3.0f, 6.0f};
  float x[2], v[2];
  Random random(1);
  const Random::State before = random.state();
  const LinearPath path;
  path.sample(x0, x1, 0.25f, 2, random, x, v);
  CHECK(x[0] == 1.5f);
  CHECK(x[1] == 0.0f);
  CHECK(v[0] == 2.0f);
  CHECK(v[1] == 8.0f);
  path.sample(x0, x1, 0.0f, 2, random, x, v);
  CHECK(x[1] == -2.0f);
  path.sample(x0, x1, 1.0f, 2, random, x, v);
  CHECK(x[1] == 6.0f);
  CHECK(random.state() == before);  // without noise nothing is drawn
}

TEST_CASE("sigma is the standard deviation around the path, and leaves the target alone", "[flow]") {
  const float x0 = 0.0f, x1 = 2.0f;
  const LinearPath path{0.3f};
  Random random(2);
  double sum = 0.0, squares = 0.0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    float x = 0.0f, v = 0.0f;
    path.sample(&x0, &x1, 0.5f, 1, random, &x, &v);
    REQUIRE(v == 2.0f);
    sum += static_cast<double>(x) - 1.0;
    squares += (static_cast<double>(x) - 1.0) * (static_cast<double>(x) - 1.0);
  }
  CHECK(std::fabs(sum / kDraws) < 3.0 * 0.3 / std::sqrt(kDraws));
  CHECK(std::sqrt(squares / kDraws) == Approx(0.3).epsilon(0.02));
}
