#include "mara/nn/mlp.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/mlp_inference.hpp"

using mara::Activation;
using mara::Mlp;
using mara::MlpInference;
using mara::Random;
using mara::Tape;
using mara::Var;

TEST_CASE("shape and parameter layout", "[nn][mlp]") {
  using Net = Mlp<double, 2, 3, 1>;
  STATIC_REQUIRE(Net::kInputs == 2);
  STATIC_REQUIRE(Net::kOutputs == 1);
  STATIC_REQUIRE(Net::kParameters == 2 * 3 + 3 + 3 + 1);
  STATIC_REQUIRE(MlpInference<float, 32, 64, 64, 16>::kParameters == 7312);
  Net net(Activation::kTanh);
  std::vector<double> exact(Net::kParameters);
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = 0.1 * static_cast<double>(i + 1);
  REQUIRE(net.set_parameters(exact));
  CHECK(net.exact_parameters() == exact);
  CHECK(mara::parameter_count(net) == Net::kParameters);
  const double x[2] = {0.5, -1.0};
  // weights[in][out], then bias[out], layer by layer
  double hidden[3], y = 1.3;
  for (int h = 0; h < 3; ++h)
    hidden[h] = std::tanh(0.5 * 0.1 * (h + 1) - 1.0 * 0.1 * (h + 4) + 0.1 * (h + 7));
  for (int h = 0; h < 3; ++h) y += hidden[h] * 0.1 * (h + 10);
  double out = 0.0;
  Net::Workspace workspace;
  net.forward(x, 1, &out, workspace);
  CHECK(out == Approx(y).margin(1e-12));
}

TEMPLATE_TEST_CASE("tape, network and inference copy agree bit for bit", "[nn][mlp]", float, double) {
  using S = TestType;
  using Net = Mlp<S, 7, 33, 64, 5>;
  for (const Activation activation : {Activation::kTanh, Activation::kRelu}) {
    Random random(3);
    Net net(activation);
    net.initialise(random, S(1));
    constexpr std::size_t kRows = 131;  // more than two pieces of the workspace
    std::vector<S> x(kRows * 7), direct(kRows * 5), copied(kRows * 5);
    for (S& v : x) v = static_cast<S>(random.normal());
    typename Net::Workspace workspace;
    net.forward(x.data(), kRows, direct.data(), workspace);
    MlpInference<S, 7, 33, 64, 5> inference(activation);
    REQUIRE(inference.set_storage(net.parameters()));
    inference.forward(x.data(), kRows, copied.data());
    CHECK(direct == copied);
    Tape<S> tape;
    const auto taped = tape.value(net.forward(tape, tape.input(x.data(), kRows, 7)));
    CHECK(std::vector<S>(taped.begin(), taped.end()) == direct);
    S two[10], one[5];
    net.inference().forward(x.data() + 70 * 7, 2, two);
    for (std::size_t i = 0; i < 10; ++i) CHECK(two[i] == direct[70 * 5 + i]);
    // A single row sums in another order.
    net.inference().forward(x.data() + 70 * 7, 1, one);
    for (std::size_t i = 0; i < 5; ++i) CHECK(one[i] == Approx(direct[70 * 5 + i]).margin(1e-5));
  }
}

TEST_CASE("gradients of a network, used twice on one tape", "[nn][mlp]") {
  Random random(8);
  Mlp<double, 4, 6, 5, 3> net;
  net.initialise(random, 1.0);
  std::vector<double> x(6 * 4), z(2 * 4);
  for (double& v : x) v = random.normal();
  for (double& v : z) v = random.normal();
  CHECK(mara::gradient_check(net.parameters(), net.gradients(), [&](Tape<double>& tape) {
          const Var a = tape.mean(tape.square(net.forward(tape, tape.input(x.data(), 6, 4))));
          const Var b = tape.sum(tape.tanh(net.forward(tape, tape.input(z.data(), 2, 4))));
          return tape.add(a, b);
        }) < 1e-6);
}

TEST_CASE("gradients may go to a buffer of the caller", "[nn][mlp]") {
  Random random(8);
  Mlp<double, 4, 6, 3> net;
  net.initialise(random, 1.0);
  const std::vector<double> x(2 * 4, 0.4);
  std::vector<double> gradients(net.kStored, 1.0);
  Tape<double> tape;
  const Var in = tape.input(x.data(), 2, 4);
  tape.backward(tape.sum(net.forward(tape, in, gradients)));
  for (const double g : net.gradients()) CHECK(g == 0.0);
  tape.backward(tape.sum(net.forward(tape, in)));
  for (std::size_t i = 0; i < net.kStored; ++i) CHECK(gradients[i] == Approx(1.0 + net.gradients()[i]));
}

TEST_CASE("a network used once overwrites its gradients with the same bits", "[nn][mlp]") {
  Random random(8);
  Mlp<float, 4, 64, 64, 3> net;
  net.initialise(random, 1.0f);
  const std::vector<float> x(5 * 4, 0.4f);
  Tape<float> tape;
  tape.backward(tape.sum(tape.square(net.forward(tape, tape.input(x.data(), 5, 4)))));
  const std::vector<float> expected(net.gradients().begin(), net.gradients().end());
  for (int step = 0; step < 2; ++step) {
    tape.clear();
    tape.backward(tape.sum(tape.square(net.forward_once(tape, tape.input(x.data(), 5, 4)))));
    CHECK(std::vector<float>(net.gradients().begin(), net.gradients().end()) == expected);
  }
}

TEST_CASE("orthogonal initialisation", "[nn][initialise]") {
  constexpr std::size_t kIn = 12, kOut = 7;
  for (const bool tall : {true, false}) {
    const std::size_t rows = tall ? kIn : kOut, cols = tall ? kOut : kIn;
    Random random(21);
    std::vector<double> w(rows * cols);
    mara::orthogonal_initialise(random, rows, cols, 1.5, w.data());
    // The shorter side's vectors are orthogonal with length 1.5.
    for (std::size_t a = 0; a < kOut; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double inner = 0.0;
        for (std::size_t k = 0; k < kIn; ++k)
          inner += tall ? w[k * cols + a] * w[k * cols + b] : w[a * cols + k] * w[b * cols + k];
        CHECK(inner == Approx(a == b ? 2.25 : 0.0).margin(1e-12));
      }
  }
  Random first(5), second(5), other(6);
  Mlp<float, 3, 8, 2> a, b, c;
  a.initialise(first, 0.01f);
  b.initialise(second, 0.01f);
  c.initialise(other, 0.01f);
  CHECK(std::equal(a.parameters().begin(), a.parameters().end(), b.parameters().begin()));
  CHECK(!std::equal(a.parameters().begin(), a.parameters().end(), c.parameters().begin()));
  const std::vector<float> exact = a.exact_parameters();
  for (std::size_t i = 0; i < 8; ++i) CHECK(exact[3 * 8 + i] == 0.0f);  // biases
  float largest = 0.0f;
  for (std::size_t i = 32; i < 48; ++i) largest = std::max(largest, std::fabs(exact[i]));
  CHECK(largest > 0.0f);
  CHECK(largest <= 0.01f);
}

TEST_CASE("a wrong number of parameters is refused", "[nn][mlp]") {
  MlpInference<float, 2, 2> net;
  const std::vector<float> five(5, 1.0f);
  const mara::Status status = net.set_parameters(five);
  REQUIRE(!status);
  CHECK(status.error().message == "parameters: 5 numbers, the network has 6");
  CHECK(net.parameters()[0] == 0.0f);
}

TEST_CASE("a NaN observation makes its own row NaN and no other", "[nn][mlp]") {
  Random random(2);
  Mlp<float, 6, 32, 32, 4> net;
  net.initialise(random, 1.0f);
  std::vector<float> x(20 * 6, 0.3f), y(20 * 4);
  x[7 * 6 + 2] = std::numeric_limits<float>::quiet_NaN();
  decltype(net)::Workspace workspace;
  net.forward(x.data(), 20, y.data(), workspace);
  for (std::size_t r = 0; r < 20; ++r)
    for (std::size_t c = 0; c < 4; ++c) CHECK(std::isnan(y[r * 4 + c]) == (r == 7));
}

TEST_CASE("a small network learns a curve", "[nn][mlp]") {
  Random random(1);
  Mlp<float, 1, 32, 32, 1> net;
  net.initialise(random, 1.0f);
  mara::Adam<float> adam(net.kStored, {.learning_rate = 5e-3, .max_gradient_norm = 1.0});
  std::vector<float> x(64), target(64);
  for (std::size_t i = 0; i < 64; ++i) {
    x[i] = static_cast<float>(i) / 32.0f - 1.0f;
    target[i] = std::sin(3.0f * x[i]);
  }
  Tape<float> tape;
  float loss = 0.0f;
  for (int step = 0; step < 400; ++step) {
    tape.clear();
    net.zero_gradients();
    const Var error =
        tape.sub(net.forward(tape, tape.input(x.data(), 64, 1)), tape.input(target.data(), 64, 1));
    const Var root = tape.mean(tape.square(error));
    loss = tape.scalar(root);
    tape.backward(root);
    REQUIRE(adam.step(net.parameters(), net.gradients()));
  }
  CHECK(loss < 1e-3f);
}
