// mara and libtorch start from the same weights and learn the same.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../../benchmarks/networks.hpp"
#include "../../benchmarks/torch/torch_weights.hpp"
#include "catch.hpp"
#include "torch_mlp.hpp"

namespace {

using namespace bench;
using mara::Activation;

template <class Net>
TorchMlp same_in_torch(const Net& net) {
  TorchMlp twin(Net::Shape::kSizes.data(), Net::Shape::kLayers, net.hidden_activation() == Activation::kRelu);
  copy_weights(net, twin);
  return twin;
}

/// Random weights and biases: initialise() leaves the biases zero.
template <class Net>
Net random_net_with_biases(Activation hidden) {
  Net net = random_net<Net>(hidden, 11);
  mara::Random random(12);
  net.visit_parameters([&](const std::string&, const auto& view) {
    if (view.rows == 1)
      for (std::size_t c = 0; c < view.cols; ++c) view.at(0, c) = 0.1f * static_cast<float>(random.normal());
  });
  return net;
}

/// Largest difference, beside the largest of the expected numbers.
double relative_difference(const std::vector<float>& found, const std::vector<float>& expected) {
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference =
        std::max(difference, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
    size = std::max(size, std::abs(static_cast<double>(expected[i])));
  }
  return difference / size;
}

template <class Net>
void check_forward(Activation hidden) {
  const Net net = random_net_with_biases<Net>(hidden);
  auto actor = net.inference();
  TorchMlp twin = same_in_torch(net);
  for (const std::size_t rows : {1u, 8u, 33u, 256u}) {
    const auto in = random_rows(rows * Net::kInputs, 2);
    std::vector<float> mine(rows * Net::kOutputs), theirs(mine.size());
    actor.forward(in.data(), rows, mine.data());
    twin.set_batch(in.data(), nullptr, rows);
    twin.freeze();
    for (const TorchForward how : {TorchForward::kInferenceMode, TorchForward::kFrozenScript}) {
      twin.forward(how);
      twin.output(theirs.data());
      CAPTURE(name_of<Net>(), rows, how == TorchForward::kFrozenScript);
      CHECK(relative_difference(mine, theirs) < 1e-5);
    }
  }
}

/// 200 steps of Adam on one batch. Losses may differ by `tolerance` of themselves.
template <class Net>
void check_training(Activation hidden, double tolerance) {
  constexpr std::size_t kRows = 256;
  const mara::AdamConfig config{.learning_rate = 3e-4};
  const Net net = random_net_with_biases<Net>(hidden);
  TapeTraining<Net> mine(net, kRows, config);
  TorchMlp twin = same_in_torch(net);
  twin.set_batch(mine.in(), mine.target(), kRows);
  twin.start_training({config.learning_rate, config.beta1, config.beta2, config.epsilon});
  float first = 0.0f, last = 0.0f;
  for (int step = 0; step < 200; ++step) {
    last = mine.step();
    if (step == 0) first = last;
    twin.training_step();
    CAPTURE(name_of<Net>(), step);
    REQUIRE(std::isfinite(last));
    REQUIRE(last == Approx(twin.loss()).epsilon(tolerance));
  }
  CHECK(last < 0.8f * first);  // something was learnt

  // The weights, too, are still close.
  Net learnt(hidden);
  copy_weights(twin, learnt);
  std::vector<float> a, b;
  const auto collect = [](std::vector<float>& to) {
    return [&to](const std::string&, const auto& view) {
      for (std::size_t r = 0; r < view.rows; ++r)
        for (std::size_t c = 0; c < view.cols; ++c) to.push_back(view.at(r, c));
    };
  };
  mine.net().visit_parameters(collect(a));
  learnt.visit_parameters(collect(b));
  CHECK(relative_difference(a, b) < 1e-2);
}

}  // namespace

TEST_CASE("forward passes agree with libtorch", "[torch]") {
  for (const Activation hidden : {Activation::kTanh, Activation::kRelu}) {
    check_forward<SmallNet>(hidden);
    check_forward<LargeNet>(hidden);
  }
}

TEST_CASE("weights survive the way to libtorch and back", "[torch]") {
  const SmallNet net = random_net_with_biases<SmallNet>(Activation::kTanh);
  SmallNet back(Activation::kTanh);
  copy_weights(same_in_torch(net), back);
  CHECK(std::equal(net.parameters().begin(), net.parameters().end(), back.parameters().begin()));
}

TEST_CASE("losses over 200 steps of Adam agree with libtorch", "[torch]") {
  check_training<SmallNet>(Activation::kTanh, 1e-4);
  check_training<LargeNet>(Activation::kTanh, 1e-4);
  // Rounding decides now and then on which side of the kink of relu a number is, and the two part slowly.
  check_training<SmallNet>(Activation::kRelu, 1e-3);
}
