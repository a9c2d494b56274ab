#pragma once
// Values from each agent's own observation: the critic of independent PPO.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/critic/value_critic.hpp"
#include "mara/nn/agent_network.hpp"

namespace mara::critic {

/// V(o) of every agent for itself (IPPO: de Witt et al., "Is independent learning all you need in the
/// StarCraft multi-agent challenge?", 2020). Feed-forward or recurrent, one network for all or one each.
class IndependentValues {
 public:
  struct Config {
    AgentNetworkConfig network;  ///< inputs and outputs are set by create()
    bool agent_ids = false;      ///< a one-hot of the slot follows the observation
    bool separate = false;       ///< a network for every slot
  };
  struct Workspace {
    AgentNetwork::Workspace network;
    std::vector<float> inputs, memory, out;
    std::vector<std::uint8_t> resets;
  };

  /// Errors: those of AgentNetwork; no agents or no observation.
  static Result<IndependentValues> create(const Config& config, const GameShape& shape) {
    if (shape.agents == 0 || shape.observation == 0)
      return Error{ErrorCode::kInvalidArgument, "independent values: the game has " +
                                                    std::to_string(shape.agents) + " agents that see " +
                                                    std::to_string(shape.observation) + " numbers"};
    AgentNetworkConfig network = config.network;
    network.inputs = shape.observation + (config.agent_ids ? shape.agents : 0);
    network.outputs = 1;
    auto made = AgentNetwork::create(network);
    if (!made) return Error{made.error().code, "independent values: " + made.error().message};
    return IndependentValues(config, shape, std::move(*made));
  }

  std::size_t columns() const noexcept { return slots_; }
  bool per_agent() const noexcept { return true; }
  std::size_t stored() const noexcept { return networks() * network_.stored(); }
  std::size_t memory() const noexcept { return slots_ * network_.memory(); }

  void initialise(Random& random, float* storage) const {
    for (std::size_t k = 0; k < networks(); ++k) network_.initialise(random, storage + k * network_.stored());
  }
  template <class S, class F>
  void visit(S* storage, F&& f) const {
    for (std::size_t k = 0; k < networks(); ++k)
      network_.visit(storage + k * network_.stored(),
                     config_.separate ? "agent." + std::to_string(k) + "." : std::string{}, f);
  }

  void step(const float* storage, const ValueRows& rows, float* memory, float* out, Workspace& work) const {
    const std::size_t m = network_.memory();
    if (!config_.separate) {
      work.inputs.resize(config_.agent_ids ? rows.count * slots_ * width() : 0);
      network_.step(storage, inputs(rows, 0, slots_, work.inputs.data()), rows.count * slots_, memory,
                    rows.arrived, out, work.network);
      return;
    }
    work.inputs.resize(rows.count * width());
    work.memory.resize(rows.count * m), work.out.resize(rows.count), work.resets.resize(rows.count);
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      const float* in = inputs(rows, slot, slot + 1, work.inputs.data());
      pick(memory, rows.count, slot, m, work.memory.data());
      pick(rows.arrived, rows.count, slot, 1, work.resets.data());
      network_.step(storage + slot * network_.stored(), in, rows.count, work.memory.data(),
                    work.resets.data(), work.out.data(), work.network);
      for (std::size_t c = 0; c < rows.count; ++c) {
        std::copy_n(work.memory.data() + c * m, m, memory + (c * slots_ + slot) * m);
        out[c * slots_ + slot] = work.out[c];
      }
    }
  }

  Var forward(Tape<float>& tape, const float* storage, float* gradients, const ValueRows& rows,
              const float* memory) const {
    const std::size_t teams = rows.steps * rows.count, m = network_.memory();
    const auto room = [&tape](std::size_t count) { return tape.arena().template allocate<float>(count); };
    if (!config_.separate) {
      const float* in = inputs(rows, 0, slots_, config_.agent_ids ? room(teams * slots_ * width()) : nullptr);
      return network_.forward(tape, storage, gradients, tape.input(in, teams * slots_, width()),
                              rows.count * slots_, memory, rows.arrived);
    }
    std::vector<Var> values(slots_);
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      const float* in = inputs(rows, slot, slot + 1, room(teams * width()));
      float* before = m == 0 || memory == nullptr ? nullptr : room(rows.count * m);
      if (before != nullptr) pick(memory, rows.count, slot, m, before);
      std::uint8_t* resets = nullptr;
      if (m > 0 && rows.arrived != nullptr) {
        resets = tape.arena().template allocate<std::uint8_t>(teams);
        pick(rows.arrived, teams, slot, 1, resets);
      }
      const std::size_t at = slot * network_.stored();
      values[slot] = network_.forward(tape, storage + at, gradients == nullptr ? nullptr : gradients + at,
                                      tape.input(in, teams, width()), rows.count, before, resets);
    }
    // Side by side the columns are the slots; read row by row that is team after team, slot after slot.
    return tape.reshape(tape.concat(values), teams * slots_, 1);
  }

 private:
  IndependentValues(const Config& config, const GameShape& shape, AgentNetwork network)
      : config_(config),
        slots_(shape.agents),
        observation_(shape.observation),
        network_(std::move(network)) {}

  std::size_t networks() const noexcept { return config_.separate ? slots_ : 1; }
  std::size_t width() const noexcept { return observation_ + (config_.agent_ids ? slots_ : 0); }

  /// Rows of slots [first, last) of every team, with ids; the observations themselves where these are it.
  const float* inputs(const ValueRows& rows, std::size_t first, std::size_t last, float* room) const {
    if (!config_.agent_ids && last - first == slots_) return rows.observations;
    float* to = room;
    for (std::size_t team = 0; team < rows.steps * rows.count; ++team)
      for (std::size_t slot = first; slot < last; ++slot, to += width()) {
        std::copy_n(rows.observations + (team * slots_ + slot) * observation_, observation_, to);
        if (!config_.agent_ids) continue;
        std::fill_n(to + observation_, slots_, 0.0f);
        to[observation_ + slot] = 1.0f;
      }
    return room;
  }
  /// Piece `slot` of `width` numbers of every team.
  template <class T>
  void pick(const T* from, std::size_t teams, std::size_t slot, std::size_t width, T* to) const {
    for (std::size_t team = 0; team < teams; ++team)
      if (from == nullptr) {
        std::fill_n(to + team * width, width, T(0));
      } else {
        std::copy_n(from + (team * slots_ + slot) * width, width, to + team * width);
      }
  }

  Config config_;
  std::size_t slots_, observation_;
  AgentNetwork network_;
};

static_assert(ValueCritic<IndependentValues>);

}  // namespace mara::critic
