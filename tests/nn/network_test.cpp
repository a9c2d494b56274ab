// Networks of layers: against a double reference, against Mlp, against central differences.
#include "mara/nn/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/mlp.hpp"
#include "numbers.hpp"

using mara::Activation;
using mara::DenseLayer;
using mara::LayerNormLayer;
using mara::Network;
using mara::Random;
using mara::Tape;
using mara::Var;
using mara_test::copy_of;
using mara_test::normal_numbers;

namespace {

double reference(Activation activation, double z) {
  switch (activation) {
    case Activation::kIdentity:
      return z;
    case Activation::kTanh:
      return std::tanh(z);
    case Activation::kRelu:
      return z > 0 ? z : 0;
    case Activation::kElu:
      return z > 0 ? z : std::expm1(z);
    case Activation::kGelu:
      return z * 0.5 * std::erfc(-z / std::sqrt(2.0));
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-z));
    case Activation::kSoftplus:
      return std::log1p(std::exp(z));
  }
  return 0;
}

template <class S, std::size_t kIn, std::size_t kOut, Activation kActivation>
void check_dense() {
  Random random(kIn * 100 + kOut);
  mara::Dense<S, kIn, kOut, kActivation> layer;
  layer.initialise(random);
  mara_test::set_parameter(layer, "0.bias", normal_numbers<S>(kOut, 5));
  constexpr std::size_t kRows = 49;  // one more than pass through the layers together
  const auto x = normal_numbers<S>(kRows * kIn, 6);
  const auto z = mara_test::affine({x.begin(), x.end()}, mara_test::parameter<S>(layer, "0.weight"),
                                   mara_test::parameter<S>(layer, "0.bias"));
  std::vector<S> y(kRows * kOut), copied(kRows * kOut);
  auto workspace = typename decltype(layer)::Workspace{};
  layer.forward(x.data(), kRows, y.data(), workspace);
  layer.inference().forward(x.data(), kRows, copied.data());
  Tape<S> tape;
  const auto taped = copy_of(tape.value(layer.forward(tape, tape.input(x.data(), kRows, kIn))));
  CHECK(taped == y);
  CHECK(copied == y);
  double worst = 0;
  for (std::size_t i = 0; i < z.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(y[i]) - reference(kActivation, z[i])));
  CAPTURE(kIn, kOut, mara::name_of(kActivation));
  CHECK(worst < (sizeof(S) == 4 ? 1e-5 : 1e-12));
}

template <class S>
void check_sizes() {
  check_dense<S, 1, 3, Activation::kIdentity>();
  check_dense<S, 3, 17, Activation::kTanh>();
  check_dense<S, 17, 3, Activation::kRelu>();
  check_dense<S, 65, 1, Activation::kElu>();
  check_dense<S, 3, 17, Activation::kGelu>();
  check_dense<S, 17, 3, Activation::kSigmoid>();
  check_dense<S, 3, 17, Activation::kSoftplus>();
}

}  // namespace

TEST_CASE("one dense layer against a double reference, odd sizes, every activation", "[nn][network]") {
  check_sizes<float>();
  check_sizes<double>();
}

TEMPLATE_TEST_CASE("a network of dense layers is the Mlp of the same sizes", "[nn][network]", float, double) {
  using S = TestType;
  Random first(3), second(3);
  mara::Mlp<S, 7, 33, 64, 5> mlp;
  Network<S, DenseLayer<7, 33, Activation::kTanh>, DenseLayer<33, 64, Activation::kTanh>, DenseLayer<64, 5>>
      network;
  STATIC_REQUIRE(decltype(network)::kStored == mara::MlpShape<7, 33, 64, 5>::kStored);
  STATIC_REQUIRE(decltype(network)::kParameters == mara::MlpShape<7, 33, 64, 5>::kParameters);
  mlp.initialise(first, S(0.01));
  network.initialise(second, S(0.01));
  CHECK(std::equal(mlp.parameters().begin(), mlp.parameters().end(), network.parameters().begin()));
  std::vector<std::string> names, others;
  mlp.visit_parameters([&](const std::string& name, auto) { names.push_back(name); });
  network.visit_parameters([&](const std::string& name, auto) { others.push_back(name); });
  CHECK(names == others);
  constexpr std::size_t kRows = 131;
  const auto x = normal_numbers<S>(kRows * 7, 4);
  std::vector<S> a(kRows * 5), b(kRows * 5);
  typename decltype(mlp)::Workspace mlp_workspace;
  typename decltype(network)::Workspace workspace;
  mlp.forward(x.data(), kRows, a.data(), mlp_workspace);
  network.forward(x.data(), kRows, b.data(), workspace);
  CHECK(a == b);
  // The gradients have the same bits too.
  Tape<S> tape;
  const Var in = tape.input(x.data(), kRows, 7);
  tape.backward(tape.mean(tape.square(mlp.forward(tape, in))));
  tape.clear();
  const Var again = tape.input(x.data(), kRows, 7);
  tape.backward(tape.mean(tape.square(network.forward(tape, again))));
  CHECK(std::equal(mlp.gradients().begin(), mlp.gradients().end(), network.gradients().begin()));
}

TEMPLATE_TEST_CASE("tape, evaluation and inference copy agree bit for bit", "[nn][network]", float, double) {
  using S = TestType;
  Network<S, LayerNormLayer<3>, DenseLayer<3, 65, Activation::kGelu>, LayerNormLayer<65>,
          DenseLayer<65, 17, Activation::kElu>, DenseLayer<17, 1>>
      network;
  Random random(9);
  network.initialise(random);
  constexpr std::size_t kRows = 131;
  const auto x = normal_numbers<S>(kRows * 3, 4);
  std::vector<S> direct(kRows), copied(kRows), one(1);
  typename decltype(network)::Workspace workspace;
  network.forward(x.data(), kRows, direct.data(), workspace);
  auto inference = network.inference();
  inference.forward(x.data(), kRows, copied.data());
  CHECK(direct == copied);
  Tape<S> tape;
  CHECK(copy_of(tape.value(network.forward(tape, tape.input(x.data(), kRows, 3)))) == direct);
  inference.forward(x.data() + 70 * 3, 1, one.data());
  CHECK(one[0] == direct[70]);
  // Exact parameters there and back.
  typename decltype(network)::Inference other;
  REQUIRE(other.set_parameters(inference.exact_parameters()));
  CHECK(std::equal(other.parameters().begin(), other.parameters().end(), inference.parameters().begin()));
  const auto few = std::vector<S>(4);
  CHECK(other.set_parameters(few).error().message ==
        "parameters: 4 numbers, the network has " + std::to_string(other.kParameters));
  CHECK(!other.set_storage(few));
}

TEST_CASE("gradients of a network with an activation for each layer", "[nn][network][gradient]") {
  Network<double, DenseLayer<4, 9, Activation::kTanh>, LayerNormLayer<9>,
          DenseLayer<9, 17, Activation::kGelu>, DenseLayer<17, 5, Activation::kSoftplus>, LayerNormLayer<5>,
          DenseLayer<5, 3>>
      network;
  Random random(2);
  network.initialise(random);
  for (double& p : network.parameters()) p += 0.1 * random.normal();
  auto x = normal_numbers<double>(6 * 4, 8);
  std::vector<double> weights, more;
  CHECK(mara::gradient_check(network.parameters(), network.gradients(), [&](Tape<double>& tape) {
          // Used twice: gradients add up.
          const Var a = mara_test::weigh(tape, network.forward(tape, tape.input(x.data(), 6, 4)), weights);
          const Var b = tape.mean(tape.square(network.forward(tape, tape.input(x.data() + 4, 3, 4))));
          return tape.add(a, b);
        }) < 1e-6);
  CHECK(mara::gradient_check(x, [&](Tape<double>& tape, double* dx) {
          const Var in = tape.variable(x.data(), dx, 6, 4);
          return tape.add(mara_test::weigh(tape, network.forward(tape, in), weights),
                          mara_test::weigh(tape, in, more));
        }) < 1e-6);
  // Constant parameters: the gradient passes through to x, and nowhere else.
  network.zero_gradients();
  std::vector<double> dx(x.size());
  Tape<double> tape;
  tape.backward(tape.sum(network.forward(tape, tape.variable(x.data(), dx.data(), 6, 4), {})));
  CHECK(std::all_of(network.gradients().begin(), network.gradients().end(), [](double g) { return g == 0; }));
  CHECK(std::any_of(dx.begin(), dx.end(), [](double g) { return g != 0; }));
}

TEMPLATE_TEST_CASE("layer norm: known values", "[nn][layer_norm]", float, double) {
  using S = TestType;
  mara::LayerNorm<S, 3> layer;
  Random random(1);
  layer.initialise(random);
  const S x[9] = {1, 2, 4, 1001, 1002, 1004, 5, 5, 5};
  S y[9];
  typename decltype(layer)::Workspace workspace;
  layer.forward(x, 3, y, workspace);
  const double expected[3] = {-1.0690415, -.2672604, 1.3363019};
  for (int i = 0; i < 3; ++i) {
    CHECK(y[i] == Approx(expected[i]).margin(5e-7));
    CHECK(y[3 + i] == Approx(expected[i]).margin(1e-4));  // a large mean does not drown the variance
    CHECK(y[6 + i] == S(0));                              // no variance at all
  }
  mara_test::set_parameter(layer, "0.weight", std::vector<S>{2, 3, -1});
  mara_test::set_parameter(layer, "0.bias", std::vector<S>{1, 0, 5});
  layer.forward(x, 1, y, workspace);
  CHECK(y[0] == Approx(2 * -1.0690415 + 1).margin(1e-6));
  CHECK(y[1] == Approx(3 * -.2672604).margin(1e-6));
  CHECK(y[2] == Approx(5 - 1.3363019).margin(1e-6));
}

TEST_CASE("layer norm: gradients for odd widths", "[nn][layer_norm][gradient]") {
  const auto check = [](auto layer, std::size_t width) {
    Random random(width);
    layer.initialise(random);
    for (double& p : layer.parameters()) p += 0.3 * random.normal();
    auto x = normal_numbers<double>(5 * width, width);
    std::vector<double> weights, more;
    CAPTURE(width);
    CHECK(mara::gradient_check(layer.parameters(), layer.gradients(), [&](Tape<double>& tape) {
            return mara_test::weigh(tape, layer.forward(tape, tape.input(x.data(), 5, width)), weights);
          }) < 1e-6);
    CHECK(mara::gradient_check(x, [&](Tape<double>& tape, double* dx) {
            const Var in = tape.variable(x.data(), dx, 5, width);
            return tape.add(mara_test::weigh(tape, layer.forward(tape, in), weights),
                            mara_test::weigh(tape, in, more));
          }) < 1e-6);
  };
  check(mara::LayerNorm<double, 3>{}, 3);
  check(mara::LayerNorm<double, 17>{}, 17);
  check(mara::LayerNorm<double, 65>{}, 65);
  Tape<double> tape;
  const double x[4] = {1, 2, 3, 4};
  mara::LayerNorm<double, 3> three;
  CHECK(!three.forward(tape, tape.input(x, 1, 4)).valid());
  CHECK(tape.status().error().message == "layer_norm: x 1 x 4, the layer has 3 columns");
}

TEST_CASE("a NaN observation makes its own row NaN and no other; padding stays zero", "[nn][network]") {
  using Net = Network<float, DenseLayer<6, 19, Activation::kTanh>, LayerNormLayer<19>, DenseLayer<19, 4>>;
  Net network;
  Random random(2);
  network.initialise(random);
  std::vector<float> x(20 * 6, 0.3f), y(20 * 4);
  x[7 * 6 + 2] = std::numeric_limits<float>::quiet_NaN();
  Net::Workspace workspace;
  network.forward(x.data(), 20, y.data(), workspace);
  for (std::size_t r = 0; r < 20; ++r)
    for (std::size_t c = 0; c < 4; ++c) CHECK(std::isnan(y[r * 4 + c]) == (r == 7));

  x[7 * 6 + 2] = 0.0f;
  mara::Adam<float> adam(Net::kStored);
  Tape<float> tape;
  for (int i = 0; i < 5; ++i) {
    tape.clear();
    network.zero_gradients();
    tape.backward(tape.mean(tape.square(network.forward(tape, tape.input(x.data(), 20, 6)))));
    REQUIRE(adam.step(network.parameters(), network.gradients()));
  }
  std::size_t zeros = Net::kStored - Net::kParameters;
  std::vector<float> exact(Net::kStored);
  Net clean;
  clean.visit_parameters([&](const std::string& name, mara::ParameterView<float> view) {
    network.visit_parameters([&](const std::string& other, mara::ParameterView<float> from) {
      if (name != other) return;
      std::vector<float> numbers(view.size());
      from.copy_to(numbers.data());
      view.copy_from(numbers.data());
    });
  });
  CHECK(zeros > 0);
  // What is not padding was copied; the rest is zero in both.
  CHECK(std::equal(clean.parameters().begin(), clean.parameters().end(), network.parameters().begin()));
}

TEST_CASE("a network with layer norm learns a curve, the same way for the same seed", "[nn][network]") {
  const auto train = [](std::uint64_t seed) {
    Network<float, DenseLayer<1, 32, Activation::kElu>, LayerNormLayer<32>,
            DenseLayer<32, 32, Activation::kGelu>, DenseLayer<32, 1>>
        network;
    Random random(seed);
    network.initialise(random);
    mara::Adam<float> adam(network.kStored, {.learning_rate = 5e-3, .max_gradient_norm = 1.0});
    std::vector<float> x(64), target(64), curve;
    for (std::size_t i = 0; i < 64; ++i) {
      x[i] = static_cast<float>(i) / 32.0f - 1.0f;
      target[i] = std::sin(3.0f * x[i]);
    }
    Tape<float> tape;
    for (int step = 0; step < 300; ++step) {
      tape.clear();
      network.zero_gradients();
      const Var loss = tape.mean(tape.square(
          tape.sub(network.forward(tape, tape.input(x.data(), 64, 1)), tape.input(target.data(), 64, 1))));
      curve.push_back(tape.scalar(loss));
      tape.backward(loss);
      if (!adam.step(network.parameters(), network.gradients())) return std::vector<float>{};
    }
    return curve;
  };
  const auto curve = train(1);
  REQUIRE(curve.size() == 300);
  CHECK(curve.back() < 2e-3f);
  CHECK(train(1) == curve);
  CHECK(train(2) != curve);
}
