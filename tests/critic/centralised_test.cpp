// The centralised critic: one value per global state, the same on the tape and without it.
#include "mara/critic/centralised.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {
struct Game {
  static constexpr int kGlobalState = 3;
};
using Model = critic::Centralised<8, 8>::Model<Game>;
}  // namespace

TEST_CASE("values on the tape are those without it, one per state", "[critic]") {
  STATIC_REQUIRE(Model::kInputs == 3);
  STATIC_REQUIRE(Model::Network::kOutputs == 1);
  Random random(1);
  Model model(random);
  std::vector<float> states(5 * 3);
  for (float& s : states) s = static_cast<float>(random.normal());
  std::vector<float> values(5);
  Model::Network::Workspace work;
  model.values(states.data(), 5, values.data(), work);
  Tape<float> tape;
  const Var on_tape = model.values(tape, tape.input(states.data(), 5, 3));
  REQUIRE(tape.status());
  REQUIRE(tape.rows(on_tape) == 5);
  REQUIRE(tape.cols(on_tape) == 1);
  for (std::size_t r = 0; r < 5; ++r) {
    CHECK(tape.value(on_tape)[r] == Approx(values[r]).margin(1e-6));
    float alone = 0.0f;  // a row's value does not depend on its neighbours
    model.values(&states[r * 3], 1, &alone, work);
    CHECK(alone == Approx(values[r]).margin(1e-6));
  }
  CHECK(values[0] != values[1]);
}

TEST_CASE("gradients reach the critic's parameters", "[critic]") {
  Random random(2);
  Model model(random);
  const std::vector<float> states{0.5f, -1.0f, 2.0f, 0.1f, 0.2f, 0.3f};
  const auto loss = [&] {
    float v[2];
    Model::Network::Workspace work;
    model.values(states.data(), 2, v, work);
    return static_cast<double>(v[0]) + 2.0 * static_cast<double>(v[1]);
  };
  Tape<float> tape;
  model.network().zero_gradients();
  const float weights[] = {1.0f, 2.0f};
  tape.backward(tape.dot(model.values(tape, tape.input(states.data(), 2, 3)), weights));
  for (std::size_t p = 0; p < Model::Network::kStored; p += 7) {
    const std::span<float> parameters = model.network().parameters();
    const float before = parameters[p];
    parameters[p] = before + 1e-2f;
    const double above = loss();
    parameters[p] = before - 1e-2f;
    const double below = loss();
    parameters[p] = before;
    CHECK(model.network().gradients()[p] == Approx((above - below) / 2e-2).margin(2e-3));
  }
}

TEST_CASE("one stream, one critic", "[critic]") {
  Random a(3), b(3), c(4);
  const Model one(a), two(b), other(c);
  CHECK(std::equal(one.network().parameters().begin(), one.network().parameters().end(),
                   two.network().parameters().begin()));
  CHECK_FALSE(std::equal(one.network().parameters().begin(), one.network().parameters().end(),
                         other.network().parameters().begin()));
}
