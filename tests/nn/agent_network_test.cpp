// Networks of agents with extents of run time: cases A12 and A15, steps against sequences, gradients.
#include "mara/nn/agent_network.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "numbers.hpp"

using mara::Activation;
using mara::AgentNetwork;
using mara::AgentNetworkConfig;
using mara::AlignedVector;
using mara::Random;
using mara::Recurrence;
using mara::Tape;
using mara::Var;
using mara_test::copy_of;
using mara_test::normal_numbers;

namespace {

constexpr Recurrence kKinds[] = {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm};

AgentNetworkConfig small(Recurrence recurrence, bool dueling) {
  AgentNetworkConfig config;
  config.inputs = 5;
  config.outputs = 4;
  config.hidden = {7};
  config.activation = Activation::kTanh;
  config.recurrence = recurrence;
  config.memory_units = 3;
  config.dueling = dueling;
  return config;
}

template <class S>
AlignedVector<S> initialised(const AgentNetwork& network, std::uint64_t seed) {
  AlignedVector<S> storage(network.stored());
  Random random(seed);
  network.initialise(random, storage.data());
  return storage;
}

template <class S>
void set(const AgentNetwork& network, AlignedVector<S>& storage, const std::string& wanted,
         const std::vector<S>& values) {
  bool found = false;
  network.visit(storage.data(), "", [&](const std::string& name, mara::ParameterView<S> view) {
    if (name != wanted) return;
    REQUIRE(view.size() == values.size());
    view.copy_from(values.data());
    found = true;
  });
  CAPTURE(wanted);
  REQUIRE(found);
}

std::vector<std::uint8_t> some_resets(std::size_t count) {
  std::vector<std::uint8_t> resets(count);
  for (std::size_t i = 0; i < count; ++i) resets[i] = i % 7 == 3 ? 1 : 0;
  return resets;
}

/// Steps, one after the other, have the bits of the sequence on the tape.
template <class S>
void check_steps(const AgentNetworkConfig& config) {
  constexpr std::size_t kSteps = 4, kBatch = 61;
  const AgentNetwork network = AgentNetwork::create(config).value();
  const auto storage = initialised<S>(network, 8);
  const auto x = normal_numbers<S>(kSteps * kBatch * config.inputs, 1);
  auto memory = normal_numbers<S>(kBatch * network.memory(), 2);
  const auto resets = some_resets(kSteps * kBatch);
  Tape<S> tape;
  const auto before = memory;
  const Var y =
      network.forward(tape, storage.data(), nullptr, tape.input(x.data(), kSteps * kBatch, config.inputs),
                      kBatch, before.data(), resets.data());
  REQUIRE(tape.status());
  REQUIRE(tape.rows(y) == kSteps * kBatch);
  REQUIRE(tape.cols(y) == config.outputs);
  const auto sequence = copy_of(tape.value(y));
  AgentNetwork::WorkspaceOf<S> workspace;
  std::vector<S> out(kBatch * config.outputs), alone(config.outputs);
  bool same = true, same_alone = true;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const S* now = x.data() + t * kBatch * config.inputs;
    std::vector<S> own(memory.begin() + static_cast<std::ptrdiff_t>(50 * network.memory()),
                       memory.begin() + static_cast<std::ptrdiff_t>(51 * network.memory()));
    network.step(storage.data(), now, kBatch, memory.data(), resets.data() + t * kBatch, out.data(),
                 workspace);
    for (std::size_t i = 0; i < out.size(); ++i) same = same && out[i] == sequence[t * out.size() + i];
    // A row alone has the bits that it has among others.
    network.step(storage.data(), now + 50 * config.inputs, 1, own.data(), resets.data() + t * kBatch + 50,
                 alone.data(), workspace);
    for (std::size_t i = 0; i < config.outputs; ++i)
      same_alone = same_alone && alone[i] == out[50 * config.outputs + i];
    for (std::size_t i = 0; i < network.memory(); ++i)
      same_alone = same_alone && own[i] == memory[50 * network.memory() + i];
  }
  CAPTURE(static_cast<int>(config.recurrence), config.dueling, sizeof(S));
  CHECK(same);
  CHECK(same_alone);
}

}  // namespace

TEST_CASE("Agent network: a GRU cell between no layers and a head", "[agent_network]") {
  // Case A15; in storage gates lie in the order r, z, n.
  AgentNetworkConfig config;
  config.inputs = config.outputs = config.memory_units = 1;
  config.hidden = {};
  config.recurrence = Recurrence::kGru;
  const AgentNetwork network = AgentNetwork::create(config).value();
  AlignedVector<double> storage(network.stored());
  set<double>(network, storage, "cell.input.weight", {1, -1, 0.5});
  set<double>(network, storage, "cell.hidden.weight", {0.2, 0.4, -0.6});
  set<double>(network, storage, "cell.input.bias", {0.1, 0, 0.2});
  set<double>(network, storage, "cell.hidden.bias", {0, 0.1, -0.1});
  set<double>(network, storage, "head.weight", {2});
  set<double>(network, storage, "head.bias", {-1});
  const double x = 0.5;
  double memory = -0.3, out = 0;
  AgentNetwork::WorkspaceOf<double> workspace;
  network.step(storage.data(), &x, 1, &memory, nullptr, &out, workspace);
  CHECK(memory == Approx(0.1782288062).margin(1e-9));
  CHECK(out == Approx(2 * 0.1782288062 - 1).margin(1e-9));
  const double before = -0.3;
  Tape<double> tape;
  const Var y = network.forward(tape, storage.data(), nullptr, tape.input(&x, 1, 1), 1, &before, nullptr);
  CHECK(tape.scalar(y) == out);

  AlignedVector<float> narrow(storage.begin(), storage.end());
  const float x_float = 0.5f;
  float memory_float = -0.3f, out_float = 0;
  AgentNetwork::Workspace workspace_float;
  network.step(narrow.data(), &x_float, 1, &memory_float, nullptr, &out_float, workspace_float);
  CHECK(memory_float == Approx(0.1782288062).epsilon(1e-5));
}

TEST_CASE("Agent network: dueling head", "[agent_network]") {
  // Case A12.
  AgentNetworkConfig config;
  config.inputs = 1;
  config.outputs = 3;
  config.hidden = {};
  config.dueling = true;
  const AgentNetwork network = AgentNetwork::create(config).value();
  AlignedVector<float> storage(network.stored());
  set<float>(network, storage, "value.weight", {0.5f});
  set<float>(network, storage, "value.bias", {1.0f});
  set<float>(network, storage, "advantage.weight", {1, -1, 2});
  set<float>(network, storage, "advantage.bias", {0, -1, 2});
  const float x = 1;
  float out[3];
  AgentNetwork::Workspace workspace;
  network.step(storage.data(), &x, 1, nullptr, nullptr, out, workspace);
  CHECK(out[0] == Approx(1.5));
  CHECK(out[1] == Approx(-1.5));
  CHECK(out[2] == Approx(4.5));
}

TEST_CASE("Agent network: steps have the bits of the sequence", "[agent_network]") {
  for (const Recurrence recurrence : kKinds)
    for (const bool dueling : {false, true}) {
      check_steps<float>(small(recurrence, dueling));
      check_steps<double>(small(recurrence, dueling));
      AgentNetworkConfig usual;
      usual.inputs = 30;
      usual.outputs = 9;
      usual.recurrence = recurrence;
      usual.dueling = dueling;
      check_steps<float>(usual);
    }
  for (int a = 0; a < mara::kActivations; ++a) {
    AgentNetworkConfig config = small(Recurrence::kNone, false);
    config.hidden = {20, 70, 17};
    config.activation = static_cast<Activation>(a);
    check_steps<float>(config);
  }
}

TEST_CASE("Agent network: memory begins at zero where an episode begins", "[agent_network]") {
  for (const Recurrence recurrence : {Recurrence::kGru, Recurrence::kLstm}) {
    const AgentNetwork network = AgentNetwork::create(small(recurrence, false)).value();
    const auto storage = initialised<float>(network, 4);
    const auto x = normal_numbers<float>(6 * 2 * 5, 5);
    AgentNetwork::Workspace workspace;
    const auto run = [&](std::size_t from, std::vector<float> memory, const std::uint8_t* resets) {
      std::vector<float> outs, out(2 * 4);
      for (std::size_t t = from; t < 6; ++t) {
        network.step(storage.data(), x.data() + t * 10, 2, memory.data(),
                     resets == nullptr ? nullptr : resets + 2 * t, out.data(), workspace);
        outs.insert(outs.end(), out.begin(), out.end());
      }
      return outs;
    };
    const std::vector<float> zeros(2 * network.memory()), some = normal_numbers<float>(zeros.size(), 6);
    std::vector<std::uint8_t> resets(12, 0);
    resets[6] = 1;  // the first sequence begins anew at step 3
    const auto with_reset = run(0, some, resets.data()), from_three = run(3, zeros, nullptr),
               without = run(0, some, nullptr);
    for (std::size_t t = 3; t < 6; ++t)
      for (std::size_t o = 0; o < 4; ++o) {
        CHECK(with_reset[t * 8 + o] == from_three[(t - 3) * 8 + o]);
        CHECK(with_reset[t * 8 + o] != without[t * 8 + o]);
        CHECK(with_reset[t * 8 + 4 + o] == without[t * 8 + 4 + o]);  // the other one goes on
      }
    // On the tape null is a memory of zeros.
    Tape<float> tape;
    const Var in = tape.input(x.data(), 12, 5);
    const auto null = copy_of(
                   tape.value(network.forward(tape, storage.data(), nullptr, in, 2, nullptr, nullptr))),
               zero = copy_of(
                   tape.value(network.forward(tape, storage.data(), nullptr, in, 2, zeros.data(), nullptr)));
    CHECK(null == zero);
    CHECK(null == run(0, zeros, nullptr));
  }
}

TEST_CASE("Agent network: gradients against central differences", "[agent_network]") {
  constexpr std::size_t kSteps = 3, kBatch = 2;
  for (const Recurrence recurrence : kKinds)
    for (const bool dueling : {false, true}) {
      const AgentNetworkConfig config = small(recurrence, dueling);
      const AgentNetwork network = AgentNetwork::create(config).value();
      auto storage = initialised<double>(network, 12);
      std::vector<double> gradients(network.stored());
      auto x = normal_numbers<double>(kSteps * kBatch * config.inputs, 13);
      const auto memory = normal_numbers<double>(kBatch * network.memory(), 14);
      const std::vector<std::uint8_t> resets{0, 0, 1, 0, 0, 0};
      std::vector<double> weights;
      const auto loss = [&](Tape<double>& tape, Var in, double* into) {
        const Var y = network.forward(tape, storage.data(), into, in, kBatch, memory.data(), resets.data());
        return mara_test::weigh(tape, tape.square(y), weights);
      };
      CAPTURE(static_cast<int>(recurrence), dueling);
      CHECK(mara::gradient_check(storage, gradients, [&](Tape<double>& tape) {
              return loss(tape, tape.input(x.data(), kSteps * kBatch, config.inputs), gradients.data());
            }) < 1e-6);
      // What is not a parameter has no gradient: padding.
      std::vector<double> parameters_only(network.stored(), 0.0);
      network.visit(parameters_only.data(), "", [&](const std::string&, mara::ParameterView<double> view) {
        for (std::size_t r = 0; r < view.rows; ++r)
          for (std::size_t c = 0; c < view.cols; ++c) view.at(r, c) = 1.0;
      });
      bool clean = true;
      for (std::size_t i = 0; i < gradients.size(); ++i)
        clean = clean && (parameters_only[i] == 1.0 || (gradients[i] == 0.0 && storage[i] == 0.0));
      CHECK(clean);
      // Parameters that are constants still let the gradient through to the inputs.
      CHECK(mara::gradient_check(x, [&](Tape<double>& tape, double* into) {
              return loss(tape, tape.variable(x.data(), into, kSteps * kBatch, config.inputs), nullptr);
            }) < 1e-6);
    }
  for (int a = 0; a < mara::kActivations; ++a) {
    if (static_cast<Activation>(a) == Activation::kRelu) continue;  // has a kink
    AgentNetworkConfig config = small(Recurrence::kNone, false);
    config.hidden = {6, 5};
    config.activation = static_cast<Activation>(a);
    const AgentNetwork network = AgentNetwork::create(config).value();
    auto storage = initialised<double>(network, 15);
    std::vector<double> gradients(network.stored()), weights;
    const auto x = normal_numbers<double>(3 * config.inputs, 16);
    CAPTURE(a);
    CHECK(mara::gradient_check(storage, gradients, [&](Tape<double>& tape) {
            return mara_test::weigh(
                tape,
                network.forward(tape, storage.data(), gradients.data(),
                                tape.input(x.data(), 3, config.inputs), 3, nullptr, nullptr),
                weights);
          }) < 1e-6);
  }
}

TEST_CASE("Agent network: initial weights are orthogonal, their names complete", "[agent_network]") {
  AgentNetworkConfig config = small(Recurrence::kLstm, true);
  config.hidden = {8, 6};
  config.output_gain = 0.01f;
  const AgentNetwork network = AgentNetwork::create(config).value();
  const auto storage = initialised<double>(network, 3);
  CHECK(network.memory() == 6);
  CHECK(network.stored() % mara::PanelLayout::kAlign == 0);
  std::vector<std::string> names;
  std::size_t numbers = 0;
  network.visit(storage.data(), "actor.", [&](const std::string& name, mara::ParameterView<const double> v) {
    names.push_back(name);
    numbers += v.size();
    // Rows or columns of each gate, whichever are fewer, have the length of the gain.
    const bool cell = name.find("cell") != std::string::npos;
    const std::size_t cols = cell ? 3 : v.cols;
    for (std::size_t gate = 0; gate < v.cols / cols; ++gate) {
      if (v.rows == 1 && name.find("weight") == std::string::npos) {
        for (std::size_t c = 0; c < cols; ++c)
          CHECK(v.at(0, gate * cols + c) == (name == "actor.cell.input.bias" && gate == 1 ? 1.0 : 0.0));
        continue;
      }
      const double gain = cell                                                   ? 1.0
                          : name == "actor.0.weight" || name == "actor.1.weight" ? std::sqrt(2.0)
                                                                                 : static_cast<double>(0.01f);
      const std::size_t few = std::min(v.rows, cols), many = std::max(v.rows, cols);
      for (std::size_t i = 0; i < few; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          double inner = 0.0;
          for (std::size_t k = 0; k < many; ++k)
            inner += v.rows < cols ? v.at(i, gate * cols + k) * v.at(j, gate * cols + k)
                                   : v.at(k, gate * cols + i) * v.at(k, gate * cols + j);
          CAPTURE(name, gate, i, j);
          CHECK(inner == Approx(i == j ? gain * gain : 0.0).margin(1e-12));
        }
    }
  });
  CHECK(names == std::vector<std::string>{"actor.0.weight", "actor.0.bias", "actor.1.weight", "actor.1.bias",
                                          "actor.cell.input.weight", "actor.cell.input.bias",
                                          "actor.cell.hidden.weight", "actor.cell.hidden.bias",
                                          "actor.value.weight", "actor.value.bias", "actor.advantage.weight",
                                          "actor.advantage.bias"});
  CHECK(numbers == 6 * 8 + 9 * 6 + (7 + 4) * 12 + 4 * (1 + 4));
  // One seed, one network, in float and double.
  const auto narrow = initialised<float>(network, 3);
  for (std::size_t i = 0; i < storage.size(); ++i)
    REQUIRE(narrow[i] == Approx(storage[i]).epsilon(1e-6).margin(1e-9));
}

TEST_CASE("Agent network: after the first call of a size nothing is allocated", "[agent_network]") {
  AgentNetworkConfig config = small(Recurrence::kLstm, true);
  const AgentNetwork network = AgentNetwork::create(config).value();
  const auto storage = initialised<float>(network, 3);
  std::vector<float> gradients(network.stored()), memory(200 * network.memory()), out(200 * 4);
  const auto x = normal_numbers<float>(200 * 5, 1);
  AgentNetwork::Workspace workspace;
  Tape<float> tape;
  const auto all = [&](std::size_t rows) {
    network.step(storage.data(), x.data(), rows, memory.data(), nullptr, out.data(), workspace);
    tape.clear();
    tape.backward(tape.sum(network.forward(tape, storage.data(), gradients.data(),
                                           tape.input(x.data(), rows, 5), rows, nullptr, nullptr)));
  };
  all(1);
  const float *first = workspace.first.data(), *gates = workspace.gates.data();
  all(200);
  const std::size_t held = tape.capacity();
  all(200);
  CHECK(workspace.first.data() == first);
  CHECK(workspace.gates.data() == gates);
  CHECK(tape.capacity() == held);
}

TEST_CASE("Agent network: NaN stays in its row", "[agent_network]") {
  for (const Recurrence recurrence : kKinds) {
    const AgentNetwork network = AgentNetwork::create(small(recurrence, true)).value();
    const auto storage = initialised<float>(network, 3);
    auto x = normal_numbers<float>(3 * 5, 1);
    std::vector<float> memory(3 * network.memory()), out(3 * 4);
    x[7] = std::numeric_limits<float>::quiet_NaN();
    AgentNetwork::Workspace workspace;
    network.step(storage.data(), x.data(), 3, memory.data(), nullptr, out.data(), workspace);
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i / 4 == 1));
  }
}

TEST_CASE("Agent network: what cannot be made is refused by name", "[agent_network]") {
  const auto says = [](auto change, const char* what) {
    AgentNetworkConfig config = small(Recurrence::kGru, false);
    change(config);
    const auto made = AgentNetwork::create(config);
    REQUIRE_FALSE(made);
    CAPTURE(made.error().message);
    CHECK(made.error().code == mara::ErrorCode::kInvalidArgument);
    CHECK(made.error().message.find(what) != std::string::npos);
  };
  says([](auto& c) { c.inputs = 0; }, "inputs = 0");
  says([](auto& c) { c.outputs = 0; }, "outputs = 0");
  says([](auto& c) { c.hidden = {4, 0}; }, "hidden[1] = 0");
  says([](auto& c) { c.memory_units = 0; }, "memory_units = 0");
  says([](auto& c) { c.memory_units = ~std::size_t{0}; }, "memory_units");
  says([](auto& c) { c.hidden = {1u << 24, 1u << 24}; }, "2^31");
  says([](auto& c) { c.activation = static_cast<Activation>(77); }, "activation = 77");
  says([](auto& c) { c.recurrence = static_cast<Recurrence>(9); }, "recurrence = 9");
  says([](auto& c) { c.output_gain = NAN; }, "output_gain");
  says([](auto& c) { c.output_gain = -1.0f; }, "output_gain");
  AgentNetworkConfig config = small(Recurrence::kNone, false);
  config.memory_units = static_cast<std::size_t>(-1);  // a wish for -1, even where nobody asks
  CHECK(check_agent_network(config).error().message.find("memory_units = 18446744073709551615") == 0);
  config.memory_units = 0;  // nobody asks
  CHECK(AgentNetwork::create(config));

  const AgentNetwork network = AgentNetwork::create(small(Recurrence::kGru, false)).value();
  const auto storage = initialised<float>(network, 1);
  const std::vector<float> x(6 * 5);
  Tape<float> tape;
  CHECK_FALSE(network.forward(tape, storage.data(), nullptr, tape.input(x.data(), 5, 6), 5, nullptr, nullptr)
                  .valid());
  CHECK_FALSE(tape.status());
  tape.clear();
  CHECK_FALSE(network.forward(tape, storage.data(), nullptr, tape.input(x.data(), 6, 5), 4, nullptr, nullptr)
                  .valid());
  CHECK_FALSE(tape.status());
}
