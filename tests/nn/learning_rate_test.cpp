// Learning rates as functions of the step.
#include "mara/nn/learning_rate.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

using namespace mara;

TEST_CASE("learning rates at known steps", "[nn][learning_rate]") {
  STATIC_REQUIRE((LearningRate<ConstantRate> && LearningRate<LinearRate> && LearningRate<CosineRate> &&
                  LearningRate<StepRate> && LearningRate<WarmUp<CosineRate>>));
  STATIC_REQUIRE(!LearningRate<double>);
  const ConstantRate constant{0.3};
  CHECK(constant(0) == 0.3);
  CHECK(constant(std::numeric_limits<std::uint64_t>::max()) == 0.3);

  const LinearRate linear{.first = 1.0, .last = 0.1, .steps = 10};
  CHECK(linear(0) == 1.0);
  CHECK(linear(5) == Approx(0.55));
  CHECK(linear(10) == 0.1);
  CHECK(linear(1000) == 0.1);

  const CosineRate cosine{.first = 1.0, .last = 0.2, .steps = 8};
  CHECK(cosine(0) == 1.0);
  CHECK(cosine(2) == Approx(0.2 + 0.4 * (1 + std::sqrt(0.5))));
  CHECK(cosine(4) == Approx(0.6));
  CHECK(cosine(8) == 0.2);
  CHECK(cosine(9) == 0.2);

  const StepRate step{.first = 1.0, .factor = 0.5, .period = 3};
  CHECK(step(0) == 1.0);
  CHECK(step(2) == 1.0);
  CHECK(step(3) == 0.5);
  CHECK(step(11) == 0.125);

  const WarmUp warm{4, cosine};
  CHECK(warm(0) == 0.25);
  CHECK(warm(2) == 0.75);
  CHECK(warm(3) == 1.0);
  CHECK(warm(4) == 1.0);
  CHECK(warm(8) == Approx(0.6));
  CHECK(warm(12) == 0.2);
}

TEST_CASE("learning rates without steps are finite", "[nn][learning_rate]") {
  CHECK(LinearRate{.first = 1.0, .last = 0.1}(0) == 0.1);
  CHECK(CosineRate{.first = 1.0, .last = 0.1}(0) == 0.1);
  CHECK(StepRate{.first = 1.0}(7) == 1.0);
  CHECK(WarmUp{0, ConstantRate{0.5}}(0) == 0.5);
  CHECK(StepRate{.first = 1.0, .factor = 0.5, .period = 1}(std::numeric_limits<std::uint64_t>::max()) == 0.0);
}

TEST_CASE("decaying rates never rise", "[nn][learning_rate]") {
  const LinearRate linear{.first = 1.0, .last = 0.1, .steps = 97};
  const CosineRate cosine{.first = 1.0, .last = 0.1, .steps = 97};
  for (std::uint64_t step = 0; step < 120; ++step) {
    CHECK(linear(step + 1) <= linear(step));
    CHECK(cosine(step + 1) <= cosine(step));
  }
}
