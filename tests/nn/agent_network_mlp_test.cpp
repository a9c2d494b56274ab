// From a network with extents of run time to a perceptron: the same function, and what does not fit.
#include "mara/nn/agent_network_mlp.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "numbers.hpp"

using namespace mara;
using mara_test::normal_numbers;

namespace {

AgentNetworkConfig config_of(std::vector<std::size_t> hidden) {
  AgentNetworkConfig config;
  config.inputs = 5;
  config.outputs = 3;
  config.hidden = std::move(hidden);
  config.activation = Activation::kTanh;
  return config;
}

/// Copies a network with random parameters, biases included; the message of the error, if any.
template <std::size_t... Sizes>
std::string copied(const AgentNetworkConfig& config, Mlp<float, Sizes...>& to) {
  const AgentNetwork network = AgentNetwork::create(config).value();
  AlignedVector<float> storage(network.stored());
  Random random(2);
  network.visit(storage.data(), std::string{}, [&](const std::string&, ParameterView<float> view) {
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c) view.at(r, c) = static_cast<float>(0.5 * random.normal());
  });
  const Status status = copy_to_mlp<float>(network, storage.data(), to);
  if (!status) return status.error().message;

  const auto x = normal_numbers<float>(20 * config.inputs, 3);
  std::vector<float> expected(20 * config.outputs), got(20 * config.outputs);
  AgentNetwork::Workspace work;
  network.step(storage.data(), x.data(), 20, nullptr, nullptr, expected.data(), work);
  typename Mlp<float, Sizes...>::Workspace mlp_work;
  to.forward(x.data(), 20, got.data(), mlp_work);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(std::fabs(got[i] - expected[i]) <= 1e-5f);
    CHECK(got[i] != 0.0f);
  }
  return "copied";
}

}  // namespace

TEST_CASE("a perceptron computes what the agents' network does", "[agent_network]") {
  Mlp<float, 5, 7, 70, 3> deep;
  CHECK(copied(config_of({7, 70}), deep) == "copied");
  Mlp<float, 5, 3> linear;
  CHECK(copied(config_of({}), linear) == "copied");
  Mlp<float, 5, 16, 3> rectified(Activation::kRelu);
  AgentNetworkConfig config = config_of({16});
  config.activation = Activation::kRelu;
  CHECK(copied(config, rectified) == "copied");
}

TEST_CASE("networks that are no such perceptron are refused and change nothing", "[agent_network]") {
  Mlp<float, 5, 7, 8, 3> to;
  Random random(1);
  to.initialise(random, 1.0f);
  const std::vector<float> before = to.exact_parameters();
  CHECK(copied(config_of({7, 9}), to) == "agent network: 1.weight is 7 x 9, that of the perceptron 7 x 8");
  CHECK(copied(config_of({7}), to) == "agent network: 2 layers, the perceptron has 3");
  AgentNetworkConfig config = config_of({7, 8});
  config.activation = Activation::kRelu;
  CHECK(copied(config, to).find("agent network: activation = ") == 0);
  config = config_of({7, 8});
  config.recurrence = Recurrence::kGru;
  CHECK(copied(config, to) == "agent network: recurrent and dueling networks are no perceptrons");
  config = config_of({7, 8});
  config.dueling = true;
  CHECK(copied(config, to) == "agent network: recurrent and dueling networks are no perceptrons");
  CHECK(to.exact_parameters() == before);
}
