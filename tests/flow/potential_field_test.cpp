// The gradient of a potential: against differences of the potential itself, without curl, its own gradients,
// and training by flow matching.
#include "mara/flow/potential_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/flow/matching.hpp"
#include "mara/flow/velocity_field.hpp"
#include "mara/nn/mlp_inference.hpp"

using mara::Activation;
using mara::PotentialField;
using mara::PotentialNetwork;
using mara::Random;
using mara::Tape;
using mara::Var;

namespace {

std::vector<double> normal_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x(count);
  for (double& v : x) v = random.normal();
  return x;
}

template <class Network>
void randomise(Network& network, std::uint64_t seed) {
  Random random(seed);
  network.initialise(random, 1.0);
  network.visit_parameters([&](const std::string&, mara::ParameterView<double> view) {
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c) view.at(r, c) += 0.2 * random.normal();
  });
}

/// Phi itself: the perceptron that has the same storage.
template <Activation kActivation, std::size_t... Sizes>
void check_against_differences() {
  constexpr std::size_t kInputs = mara::MlpShape<Sizes..., 1>::kInputs, kState = kInputs - 1, kRows = 3;
  PotentialNetwork<double, kState, kActivation, Sizes...> network;
  randomise(network, kInputs);
  mara::MlpInference<double, Sizes..., 1> phi(kActivation);
  REQUIRE(phi.set_storage(network.parameters()));
  auto x = normal_numbers(kRows * kInputs, 2);
  std::vector<double> v(kRows * kState);
  auto inference = network.inference();
  inference.forward(x.data(), kRows, v.data());
  const auto value = [&](std::size_t r) {
    double out = 0;
    phi.forward(x.data() + r * kInputs, 1, &out);
    return out;
  };
  constexpr double kStep = 1e-5;
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t i = 0; i < kState; ++i) {
      double& at = x[r * kInputs + i];
      const double was = at;
      at = was + kStep;
      const double above = value(r);
      at = was - kStep;
      const double below = value(r);
      at = was;
      CHECK(v[r * kState + i] == Approx((above - below) / (2 * kStep)).margin(1e-8));
    }
  // The Jacobian of v is symmetric: there is no curl.
  std::vector<double> jacobian(kState * kState), up(kState), down(kState);
  for (std::size_t i = 0; i < kState; ++i) {
    const double was = x[i];
    x[i] = was + kStep;
    inference.forward(x.data(), 1, up.data());
    x[i] = was - kStep;
    inference.forward(x.data(), 1, down.data());
    x[i] = was;
    for (std::size_t j = 0; j < kState; ++j) jacobian[i * kState + j] = (up[j] - down[j]) / (2 * kStep);
  }
  for (std::size_t i = 0; i < kState; ++i)
    for (std::size_t j = 0; j < i; ++j)
      CHECK(jacobian[i * kState + j] == Approx(jacobian[j * kState + i]).margin(1e-8));
}

template <Activation kActivation, std::size_t kState, std::size_t... Sizes>
void check_gradients() {
  PotentialNetwork<double, kState, kActivation, Sizes...> network;
  constexpr std::size_t kInputs = decltype(network)::kInputs, kRows = 5;
  randomise(network, kState);
  auto x = normal_numbers(kRows * kInputs, 3);
  const auto target = normal_numbers(kRows * kState, 4);
  // The loss of flow matching, and one more use of the network on the same tape.
  const auto loss = [&](Tape<double>& tape, Var in) {
    const Var error = tape.sub(network.forward(tape, in), tape.input(target.data(), kRows, kState));
    return tape.add(tape.mean(tape.square(error)),
                    tape.mean(tape.tanh(network.forward(tape, tape.slice_rows(in, 1, 2)))));
  };
  CAPTURE(mara::name_of(kActivation), kState, kInputs);
  CHECK(mara::gradient_check(network.parameters(), network.gradients(), [&](Tape<double>& tape) {
          return loss(tape, tape.input(x.data(), kRows, kInputs));
        }) < 1e-6);
  CHECK(mara::gradient_check(x, [&](Tape<double>& tape, double* dx) {
          return loss(tape, tape.variable(x.data(), dx, kRows, kInputs));
        }) < 1e-6);
}

}  // namespace

TEST_CASE("the field is the gradient of its potential and has no curl", "[flow][potential]") {
  check_against_differences<Activation::kTanh, 4, 17, 8>();
  check_against_differences<Activation::kSoftplus, 3, 65>();
  check_against_differences<Activation::kSigmoid, 5, 3, 17, 3>();
}

TEST_CASE("gradients of a loss on the field", "[flow][potential][gradient]") {
  check_gradients<Activation::kTanh, 2, 4, 17, 8>();
  check_gradients<Activation::kTanh, 1, 1, 1>();
  check_gradients<Activation::kSoftplus, 3, 3, 9>();
  check_gradients<Activation::kSigmoid, 2, 3, 3, 17, 3>();
}

TEST_CASE("tape, evaluation and inference copy of a potential agree bit for bit", "[flow][potential]") {
  PotentialNetwork<float, 2, Activation::kTanh, 4, 17, 33> network;
  Random random(1);
  network.initialise(random);
  constexpr std::size_t kRows = 97;  // pieces of 48 would leave one row behind
  std::vector<float> x(kRows * 4), direct(kRows * 2), copied(kRows * 2);
  for (float& v : x) v = static_cast<float>(random.normal());
  decltype(network)::Workspace workspace;
  network.forward(x.data(), kRows, direct.data(), workspace);
  network.inference().forward(x.data(), kRows, copied.data());
  CHECK(direct == copied);
  Tape<float> tape;
  const auto taped = tape.value(network.forward(tape, tape.input(x.data(), kRows, 4)));
  CHECK(std::equal(taped.begin(), taped.end(), direct.begin(), direct.end()));
  x[5 * 4] = std::numeric_limits<float>::quiet_NaN();
  network.forward(x.data(), kRows, copied.data(), workspace);
  for (std::size_t r = 0; r < kRows; ++r) CHECK(std::isnan(copied[r * 2]) == (r == 5));
  tape.clear();
  CHECK(!network.forward(tape, tape.input(x.data(), 8, 3)).valid());
  CHECK(tape.status().error().message == "potential: x 8 x 3, the potential has 4 inputs");
}

TEST_CASE("a potential field is trained by flow matching like a velocity field", "[flow][potential]") {
  // Noise goes to a point cloud at (2, -1), or to its mirror image: the condition tells which.
  using Field = PotentialField<2, 1, 32, 32>;
  STATIC_REQUIRE(Field::kInputs == 4);
  const auto draw = [](std::size_t item, Random& random, float* x0, float* x1, float* condition) {
    const float sign = item % 2 == 0 ? 1.0f : -1.0f;
    condition[0] = sign;
    for (int i = 0; i < 2; ++i) x0[i] = static_cast<float>(random.normal());
    x1[0] = sign * 2.0f + 0.1f * static_cast<float>(random.normal());
    x1[1] = sign * -1.0f + 0.1f * static_cast<float>(random.normal());
  };
  const auto train = [&](std::uint64_t seed, Field& field) {
    Random random(seed);
    field = Field(random);
    mara::MatchingConfig config;
    config.epochs = 30;
    config.batch = 64;
    config.learning_rate = 5e-3;
    return mara::train_matching(field, 2048, draw, config, random);
  };
  Field field, again;
  const auto report = train(1, field);
  REQUIRE(report);
  // Knowing the end leaves the spread of the noise: E |x1 - x0 - v|^2 per dimension falls well below its
  // start.
  CHECK(report->epoch_loss.back() < 0.5 * report->epoch_loss.front());
  const auto repeated = train(1, again);
  REQUIRE(repeated);
  CHECK(repeated->epoch_loss == report->epoch_loss);

  constexpr std::size_t kRows = 200;
  Random random(9);
  std::vector<float> x(kRows * 2), condition(kRows);
  for (float& v : x) v = static_cast<float>(random.normal());
  for (std::size_t r = 0; r < kRows; ++r) condition[r] = r % 2 == 0 ? 1.0f : -1.0f;
  Field::Workspace work;
  mara::euler_endpoint(field, x.data(), condition.data(), kRows, 20, work);
  double mean[2][2] = {}, spread = 0;
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t i = 0; i < 2; ++i) mean[r % 2][i] += static_cast<double>(x[r * 2 + i]) / 100.0;
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t i = 0; i < 2; ++i) {
      const double away = static_cast<double>(x[r * 2 + i]) - mean[r % 2][i];
      spread += away * away / (2.0 * kRows);
    }
  CHECK(mean[0][0] == Approx(2.0).margin(0.25));
  CHECK(mean[0][1] == Approx(-1.0).margin(0.25));
  CHECK(mean[1][0] == Approx(-2.0).margin(0.25));
  CHECK(mean[1][1] == Approx(1.0).margin(0.25));
  CHECK(std::sqrt(spread) < 0.4);
}
