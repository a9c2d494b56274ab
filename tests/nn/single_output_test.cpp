#include "mara/nn/single_output.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

template <class S>
std::vector<S> normals(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<S> x(count);
  for (S& v : x) v = static_cast<S>(random.normal());
  return x;
}

/// Loss and gradients of mean((network(x) - target)^2), by one way or the other.
template <class Net, class S>
S train(Net& net, bool fused, const std::vector<S>& x, const std::vector<S>& target) {
  Tape<S> tape;
  const std::size_t rows = target.size();
  const Var in = tape.input(x.data(), rows, Net::kInputs);
  const Var y = fused ? forward_to_output(net, tape, in) : net.forward(tape, in);
  const Var loss = tape.mean_squared_error(y, tape.input(target.data(), rows, 1));
  REQUIRE(tape.status());
  tape.backward(loss);
  return tape.scalar(loss);
}

template <class Net, class S>
void compare(Activation activation, std::size_t rows, S tolerance) {
  CAPTURE(name_of(activation), rows);
  Random random(rows);
  Net plain(activation);
  plain.initialise(random, S(1));
  Net fused = plain;
  const std::vector<S> x = normals<S>(rows * Net::kInputs, 1), target = normals<S>(rows, 2);
  for (int pass = 0; pass < 2; ++pass) {  // the second adds to what is there
    const S a = train(plain, false, x, target), b = train(fused, true, x, target);
    CHECK(std::abs(a - b) <= tolerance * std::abs(a));
  }
  S largest = S(0), worst = S(0);
  for (std::size_t i = 0; i < Net::kStored; ++i) {
    largest = std::max(largest, std::abs(plain.gradients()[i]));
    worst = std::max(worst, std::abs(plain.gradients()[i] - fused.gradients()[i]));
  }
  CHECK(worst <= tolerance * largest);
  CHECK(largest > S(0));

  typename Net::Workspace workspace;
  std::vector<S> one(rows), other(rows);
  plain.forward(x.data(), rows, one.data(), workspace);
  const OutputEvaluation<Net> evaluation(plain);
  evaluation.forward(x.data(), rows, other.data(), workspace);
  for (std::size_t r = 0; r < rows; ++r)
    REQUIRE(std::abs(one[r] - other[r]) <= tolerance * (S(1) + std::abs(one[r])));
  // A row has the same bits whatever stands beside it.
  S alone;
  evaluation.forward(x.data() + (rows - 1) * Net::kInputs, 1, &alone, workspace);
  CHECK(std::abs(alone - other[rows - 1]) <= tolerance * (S(1) + std::abs(alone)));
}

}  // namespace

TEST_CASE("one output: fused and plain agree in value and gradient", "[nn][single output]") {
  for (const std::size_t rows : {1u, 2u, 15u, 16u, 33u, 100u})
    for (const Activation activation : {Activation::kTanh, Activation::kRelu, Activation::kElu,
                                        Activation::kSigmoid, Activation::kSoftplus, Activation::kGelu}) {
      compare<Mlp<float, 3, 64, 64, 1>, float>(activation, rows, 2e-5f);
      compare<Mlp<float, 17, 32, 48, 1>, float>(activation, rows, 2e-5f);
      compare<Mlp<double, 3, 64, 64, 1>, double>(activation, rows, 1e-12);
    }
  compare<Mlp<float, 4, 16, 1>, float>(Activation::kTanh, 20, 2e-5f);     // one hidden layer
  compare<Mlp<float, 3, 64, 5, 1>, float>(Activation::kTanh, 20, 2e-5f);  // a width that fits no vector
  compare<Mlp<float, 3, 1>, float>(Activation::kTanh, 20, 2e-5f);         // none
}

TEST_CASE("one output: gradients against central differences in double", "[nn][single output]") {
  using Net = Mlp<double, 3, 16, 16, 1>;
  Net net(Activation::kTanh);
  Random random(3);
  net.initialise(random, 1.0);
  const std::vector<double> x = normals<double>(21 * 3, 1), target = normals<double>(21, 2);
  train(net, true, x, target);
  for (std::size_t i = 0; i < Net::kStored; ++i) {
    Net up = net, down = net;
    if (net.parameters()[i] == 0.0 && net.gradients()[i] == 0.0) continue;  // padding
    up.parameters()[i] += 1e-6;
    down.parameters()[i] -= 1e-6;
    const double difference = (train(up, true, x, target) - train(down, true, x, target)) / 2e-6;
    REQUIRE(net.gradients()[i] == Approx(difference).epsilon(1e-6).margin(1e-8));
  }
}

TEST_CASE("one output: a gradient for the input goes the plain way", "[nn][single output]") {
  using Net = Mlp<float, 3, 64, 64, 1>;
  Net net(Activation::kTanh);
  Random random(4);
  net.initialise(random, 1.0f);
  const std::vector<float> x = normals<float>(6, 5);
  std::vector<float> fused(6, 0.0f), plain(6, 0.0f);
  for (const bool way : {true, false}) {
    Tape<float> tape;
    const Var in = tape.variable(x.data(), way ? fused.data() : plain.data(), 2, 3);
    tape.backward(tape.sum(way ? forward_to_output(net, tape, in) : net.forward(tape, in)));
    REQUIRE(tape.status());
  }
  for (std::size_t i = 0; i < 6; ++i) CHECK(fused[i] == Approx(plain[i]).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("one output: a wrong width is the tape's error", "[nn][single output]") {
  Mlp<float, 3, 16, 1> net;
  const std::vector<float> x(8);
  Tape<float> tape;
  CHECK_FALSE(forward_to_output(net, tape, tape.input(x.data(), 2, 4)).valid());
  REQUIRE_FALSE(tape.status());
  CHECK(tape.status().error().message.find("x 2 x 4") != std::string::npos);
}
