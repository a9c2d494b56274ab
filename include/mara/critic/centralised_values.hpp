#pragma once
// Values from the global state, extents known at run time: the critic of MAPPO for games.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/critic/value_critic.hpp"
#include "mara/nn/agent_network.hpp"

namespace mara::critic {

/// V(s) for the whole team or, with ids or own observations beside the state, V_i for every agent (MAPPO: Yu
/// et al., "The surprising effectiveness of PPO in cooperative multi-agent games", NeurIPS 2022, section 5.2:
/// what the value function sees). Feed-forward or recurrent.
class CentralisedValues {
 public:
  struct Config {
    AgentNetworkConfig network;    ///< inputs and outputs are set by create()
    bool agent_ids = false;        ///< a one-hot of the slot follows the state: a value per agent
    bool own_observation = false;  ///< so does the agent's observation: a value per agent
  };
  struct Workspace {
    AgentNetwork::Workspace network;
    std::vector<float> inputs;
  };

  /// Errors: those of AgentNetwork; no agents or no global state.
  static Result<CentralisedValues> create(const Config& config, const GameShape& shape) {
    if (shape.agents == 0 || shape.state == 0)
      return Error{ErrorCode::kInvalidArgument, "centralised values: the game has " +
                                                    std::to_string(shape.agents) + " agents and a state of " +
                                                    std::to_string(shape.state) + " numbers"};
    AgentNetworkConfig network = config.network;
    network.inputs = shape.state + (config.agent_ids ? shape.agents : 0) +
                     (config.own_observation ? shape.observation : 0);
    network.outputs = 1;
    auto made = AgentNetwork::create(network);
    if (!made) return Error{made.error().code, "centralised values: " + made.error().message};
    return CentralisedValues(config, shape, std::move(*made));
  }

  std::size_t columns() const noexcept { return per_agent() ? slots_ : 1; }
  bool per_agent() const noexcept { return config_.agent_ids || config_.own_observation; }
  std::size_t stored() const noexcept { return network_.stored(); }
  std::size_t memory() const noexcept { return columns() * network_.memory(); }

  void initialise(Random& random, float* storage) const { network_.initialise(random, storage); }
  template <class S, class F>
  void visit(S* storage, F&& f) const {
    network_.visit(storage, std::string{}, f);
  }

  void step(const float* storage, const ValueRows& rows, float* memory, float* out, Workspace& work) const {
    work.inputs.resize(per_agent() ? rows.count * slots_ * width() : 0);
    network_.step(storage, inputs(rows, work.inputs.data()), rows.count * columns(), memory, resets(rows),
                  out, work.network);
  }

  Var forward(Tape<float>& tape, const float* storage, float* gradients, const ValueRows& rows,
              const float* memory) const {
    const std::size_t count = rows.steps * rows.count * columns();
    float* room = per_agent() ? tape.arena().template allocate<float>(count * width()) : nullptr;
    return network_.forward(tape, storage, gradients, tape.input(inputs(rows, room), count, width()),
                            rows.count * columns(), memory, resets(rows));
  }

 private:
  CentralisedValues(const Config& config, const GameShape& shape, AgentNetwork network)
      : config_(config),
        slots_(shape.agents),
        state_(shape.state),
        observation_(shape.observation),
        network_(std::move(network)) {}

  std::size_t width() const noexcept { return network_.config().inputs; }
  const std::uint8_t* resets(const ValueRows& rows) const noexcept {
    return per_agent() ? rows.arrived : rows.began;
  }

  const float* inputs(const ValueRows& rows, float* room) const {
    if (!per_agent()) return rows.states;
    float* to = room;
    for (std::size_t team = 0; team < rows.steps * rows.count; ++team)
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        to = std::copy_n(rows.states + team * state_, state_, to);
        if (config_.agent_ids) {
          std::fill_n(to, slots_, 0.0f);
          to[slot] = 1.0f;
          to += slots_;
        }
        if (config_.own_observation)
          to = std::copy_n(rows.observations + (team * slots_ + slot) * observation_, observation_, to);
      }
    return room;
  }

  Config config_;
  std::size_t slots_, state_, observation_;
  AgentNetwork network_;
};

static_assert(ValueCritic<CentralisedValues>);

}  // namespace mara::critic
