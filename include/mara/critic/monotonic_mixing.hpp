#pragma once
// The mixer of QMIX: monotone in the value of every agent.

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "mara/critic/mixing.hpp"
#include "mara/nn/agent_network.hpp"

namespace mara::critic {

namespace detail {
/// One of a mixer's networks, or why not.
inline Result<AgentNetwork> mixer_network(std::size_t inputs, std::vector<std::size_t> hidden,
                                          std::size_t outputs) {
  AgentNetworkConfig config;
  config.inputs = inputs;
  config.hidden = std::move(hidden);
  config.outputs = outputs;
  Result<AgentNetwork> made = AgentNetwork::create(config);
  if (!made) return Error{made.error().code, "mixer: " + made.error().message};
  return made;
}

/// Weights and biases uniform within 1 / sqrt(inputs), as the first QMIX had them (the default of torch's
/// linear layers). Biases must not be 0: |0| has no slope, and a state of zeros would never train.
template <class S>
void initialise_uniform(const AgentNetwork& network, Random& random, S* storage) {
  double bound = 0.0;
  network.visit(storage, std::string{}, [&](const std::string&, ParameterView<S> view) {
    if (view.storage == Storage::kPanels) bound = 1.0 / std::sqrt(static_cast<double>(view.rows));
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c)
        view.at(r, c) = static_cast<S>(random.uniform(-bound, bound));
  });
}
}  // namespace detail

/// Q_tot = |w2| . ELU(q |W1| + b1) + V(s), Rashid et al., "QMIX: monotonic value function factorisation for
/// deep multi-agent reinforcement learning", ICML 2018, section 4.1, figure 2. Networks of the state make W1
/// [slots x width], b1, w2 [width] (linear, or with config.hyper_hidden) and V (one hidden layer of `width`
/// units, ReLU). dQ_tot/dq_i >= 0 for every agent, so that the best options of all agents, each for itself,
/// are the best joint option.
class MonotonicMixing {
 public:
  static constexpr bool kPerAgent = false, kCentral = false;

  /// Errors (kInvalidArgument): no slots, a state without numbers, a width of 0.
  static Result<MonotonicMixing> create(const MixerConfig& config, std::size_t slots, std::size_t state) {
    if (slots == 0) return Error{ErrorCode::kInvalidArgument, "mixer: slots = 0"};
    MonotonicMixing made;
    made.slots_ = slots;
    const std::pair<AgentNetwork*, std::size_t> hyper[] = {{&made.first_weights_, slots * config.width},
                                                           {&made.first_bias_, config.width},
                                                           {&made.second_weights_, config.width}};
    for (const auto& [network, outputs] : hyper) {
      auto one = detail::mixer_network(
          state, network == &made.first_bias_ ? std::vector<std::size_t>{} : config.hyper_hidden, outputs);
      if (!one) return one.error();
      *network = std::move(*one);
    }
    auto value = detail::mixer_network(state, {config.width}, 1);
    if (!value) return value.error();
    made.value_ = std::move(*value);
    return made;
  }

  std::size_t stored() const noexcept {
    return first_weights_.stored() + first_bias_.stored() + second_weights_.stored() + value_.stored();
  }
  template <class S>
  void initialise(Random& random, S* storage) const {
    each(storage, [&](const char*, const AgentNetwork& network, S* at) {
      detail::initialise_uniform(network, random, at);
    });
  }
  template <class S, class F>
  void visit(S* storage, const std::string& prefix, F&& f) const {
    each(storage, [&](const char* name, const AgentNetwork& network, S* at) {
      network.visit(at, prefix + name + ".", f);
    });
  }
  template <class S>
  Var mix(Tape<S>& tape, const std::type_identity_t<S>* storage, std::type_identity_t<S>* gradients, Var q,
          Var state) const {
    Var made[4];
    std::size_t which = 0;
    each(storage, [&](const char*, const AgentNetwork& network, const S* at) {
      S* to = gradients == nullptr ? nullptr : gradients + (at - storage);
      made[which++] = network.forward(tape, at, to, state, tape.rows(state), nullptr, nullptr);
    });
    return combine(tape, q, made[0], made[1], made[2], made[3]);
  }
  /// The mixing alone, from what the networks of the state made: w1 [rows x (slots width)], agent by agent,
  /// b1 and w2 [rows x width], value [rows x 1].
  template <class S>
  static Var combine(Tape<S>& tape, Var q, Var w1, Var b1, Var w2, Var value) {
    const Var hidden = tape.elu(tape.add(tape.row_matmul(q, tape.abs(w1)), b1));
    return tape.add(tape.row_dot(hidden, tape.abs(w2)), value);
  }

 private:
  template <class S, class F>
  void each(S* storage, F&& f) const {
    const std::pair<const char*, const AgentNetwork*> networks[] = {{"first.weights", &first_weights_},
                                                                    {"first.bias", &first_bias_},
                                                                    {"second.weights", &second_weights_},
                                                                    {"value", &value_}};
    for (const auto& [name, network] : networks) {
      f(name, *network, storage);
      storage += network->stored();
    }
  }

  std::size_t slots_ = 0;
  AgentNetwork first_weights_, first_bias_, second_weights_, value_;
};

static_assert(Mixing<MonotonicMixing>);

}  // namespace mara::critic
