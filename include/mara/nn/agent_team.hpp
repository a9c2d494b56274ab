#pragma once
// The networks of all agents of a game: shared or separate parameters, with or without agent ids.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mara/nn/agent_network.hpp"

namespace mara {

/// How agents get their networks.
struct TeamConfig {
  AgentNetworkConfig network;    ///< of every group; inputs and outputs are set by create()
  std::vector<int> groups = {};  ///< group of every slot, numbered from 0; empty: all share parameters
  bool agent_ids = false;        ///< a one-hot of the slot follows the observation
};

/// Separate parameters for each of `slots` agents.
inline std::vector<int> separate_groups(std::size_t slots) {
  std::vector<int> groups(slots);
  for (std::size_t i = 0; i < slots; ++i) groups[i] = static_cast<int>(i);
  return groups;
}

/// One AgentNetwork per group of slots, parameters of all groups in one storage, group after group. `team
/// rows` below are rows of all slots: [slots x ...], slot by slot. Rows of absent agents are computed and
/// mean nothing; they change no other row, but where gradients are wanted they hold finite numbers (see
/// AgentNetwork). Agent ids make a network `slots` inputs wider: for few agents. S is float or double.
class AgentTeam {
 public:
  /// Memory for step(), grown on first use; one a thread.
  template <class S>
  struct WorkspaceOf {
    AgentNetwork::WorkspaceOf<S> network;
    std::vector<S> inputs, outputs, memory;
    std::vector<std::uint8_t> resets;
  };
  using Workspace = WorkspaceOf<float>;

  /// No team, nothing may be evaluated. For members that are set later.
  AgentTeam() = default;

  /// `observation`: numbers per agent, `outputs`: of the head. Errors (kInvalidArgument) name the field: no
  /// slots, groups of another count than slots, negative ones, a group number that is skipped; those of
  /// AgentNetwork, in which inputs are the observation and the ids.
  static Result<AgentTeam> create(const TeamConfig& config, std::size_t slots, std::size_t observation,
                                  std::size_t outputs);

  const TeamConfig& config() const noexcept { return config_; }
  /// The plan that all groups share; the parameters of group k begin at storage + k network().stored().
  const AgentNetwork& network() const noexcept { return network_; }
  std::size_t slots() const noexcept { return group_of_.size(); }
  std::size_t groups() const noexcept { return members_.size(); }
  std::size_t observation() const noexcept { return observation_; }
  std::size_t outputs() const noexcept { return network_.config().outputs; }
  std::size_t memory() const noexcept { return network_.memory(); }  ///< recurrent numbers per agent
  /// Numbers of the storage of all groups.
  std::size_t stored() const noexcept { return groups() * network_.stored(); }

  /// Fills zeroed storage[stored()], group after group.
  template <class S>
  void initialise(Random& random, S* storage) const {
    for (std::size_t g = 0; g < groups(); ++g) network_.initialise(random, storage + g * network_.stored());
  }
  /// Calls f(name, view) for every parameter; with several groups names begin with "group.K.".
  template <class S, class F>
  void visit(S* storage, F&& f) const {
    for (std::size_t g = 0; g < groups(); ++g)
      network_.visit(storage + g * network_.stored(),
                     groups() == 1 ? std::string{} : "group." + std::to_string(g) + ".", f);
  }

  /// One step of `count` teams without a tape: observations[count x slots x observation], memory[count x
  /// slots x memory()] replaced, resets[count x slots] or null, out[count x slots x outputs]. Arrays do not
  /// overlap.
  template <class S>
  void step(const S* storage, const std::type_identity_t<S>* observations, std::size_t count,
            std::type_identity_t<S>* memory, const std::uint8_t* resets, std::type_identity_t<S>* out,
            WorkspaceOf<std::type_identity_t<S>>& workspace) const;

  /// Sequences of `count` teams over `steps` steps on the tape: observations[steps x count x slots x
  /// observation] -> [(steps count slots) x outputs], the bits of step(). memory[count x slots x memory()]
  /// before the first step, null: zero; resets[steps x count x slots], null: none. Gradients are added to
  /// `gradients` [stored()]; null: the parameters are constants. Arrays stay as they are until backward() is
  /// done; what is rearranged lies in the tape's arena.
  template <class S>
  Var forward(Tape<S>& tape, const std::type_identity_t<S>* storage, std::type_identity_t<S>* gradients,
              const std::type_identity_t<S>* observations, std::size_t steps, std::size_t count,
              const std::type_identity_t<S>* memory, const std::uint8_t* resets) const;

 private:
  bool together() const noexcept { return groups() == 1; }

  /// Rows of a group within team rows: to[positions x members x width] = from[positions x slots x width].
  template <class T>
  static void gather(const T* from, std::size_t positions, std::size_t slots, std::size_t width,
                     std::span<const std::size_t> members, T* to) {
    for (std::size_t p = 0; p < positions; ++p)
      for (const std::size_t slot : members) to = std::copy_n(from + (p * slots + slot) * width, width, to);
  }
  template <class T>
  static void scatter(const T* from, std::size_t positions, std::size_t slots, std::size_t width,
                      std::span<const std::size_t> members, T* to) {
    for (std::size_t p = 0; p < positions; ++p)
      for (const std::size_t slot : members) {
        std::copy_n(from, width, to + (p * slots + slot) * width);
        from += width;
      }
  }
  /// Inputs of a group: observations, then ids where there are some.
  template <class S>
  void gather_inputs(const S* observations, std::size_t positions, std::span<const std::size_t> members,
                     S* to) const {
    for (std::size_t p = 0; p < positions; ++p)
      for (const std::size_t slot : members) {
        to = std::copy_n(observations + (p * slots() + slot) * observation_, observation_, to);
        if (!config_.agent_ids) continue;
        std::fill_n(to, slots(), S(0));
        to[slot] = S(1);
        to += slots();
      }
  }

  TeamConfig config_;
  AgentNetwork network_;
  std::vector<std::size_t> group_of_;              ///< of each slot
  std::vector<std::vector<std::size_t>> members_;  ///< slots of each group, ascending
  std::vector<std::size_t> rank_;                  ///< of each slot among the members of its group
  std::size_t observation_ = 0;
};

inline Result<AgentTeam> AgentTeam::create(const TeamConfig& config, std::size_t slots,
                                           std::size_t observation, std::size_t outputs) {
  const auto bad = [](const std::string& what) { return Error{ErrorCode::kInvalidArgument, what}; };
  if (slots == 0) return bad("slots = 0, a team needs an agent");
  if (observation == 0) return bad("observation = 0, an agent needs something to see");
  if (!config.groups.empty() && config.groups.size() != slots)
    return bad("groups: " + std::to_string(config.groups.size()) + " numbers for " + std::to_string(slots) +
               " slots");
  AgentTeam team;
  team.config_ = config;
  team.observation_ = observation;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const int group = config.groups.empty() ? 0 : config.groups[slot];
    if (group < 0 || static_cast<std::size_t>(group) >= slots)
      return bad("groups[" + std::to_string(slot) + "] = " + std::to_string(group) + ", not in [0, " +
                 std::to_string(slots) + ")");
    const auto g = static_cast<std::size_t>(group);
    if (team.members_.size() <= g) team.members_.resize(g + 1);
    team.group_of_.push_back(g);
    team.rank_.push_back(team.members_[g].size());
    team.members_[g].push_back(slot);
  }
  for (std::size_t g = 0; g < team.members_.size(); ++g)
    if (team.members_[g].empty()) return bad("groups: number " + std::to_string(g) + " is skipped");
  team.config_.network.inputs = observation + (config.agent_ids ? slots : 0);
  team.config_.network.outputs = outputs;
  Result<AgentNetwork> network = AgentNetwork::create(team.config_.network);
  if (!network) return network.error();
  team.network_ = std::move(network).value();
  return team;
}

template <class S>
void AgentTeam::step(const S* storage, const std::type_identity_t<S>* observations, std::size_t count,
                     std::type_identity_t<S>* memory, const std::uint8_t* resets,
                     std::type_identity_t<S>* out, WorkspaceOf<std::type_identity_t<S>>& workspace) const {
  if (together() && !config_.agent_ids)
    return network_.step(storage, observations, count * slots(), memory, resets, out, workspace.network);
  const auto room = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
    return vector.data();
  };
  for (std::size_t g = 0; g < groups(); ++g) {
    const std::span<const std::size_t> members = members_[g];
    const std::size_t rows = count * members.size();
    S* in = room(workspace.inputs, rows * config_.network.inputs);
    gather_inputs<S>(observations, count, members, in);
    if (together()) {
      network_.step(storage, in, rows, memory, resets, out, workspace.network);
      continue;
    }
    S* state = room(workspace.memory, rows * this->memory());
    S* result = room(workspace.outputs, rows * outputs());
    gather<S>(memory, count, slots(), this->memory(), members, state);
    std::uint8_t* reset = nullptr;
    if (resets != nullptr) {
      reset = room(workspace.resets, rows);
      gather(resets, count, slots(), 1, members, reset);
    }
    network_.step(storage + g * network_.stored(), in, rows, state, reset, result, workspace.network);
    scatter<S>(state, count, slots(), this->memory(), members, memory);
    scatter<S>(result, count, slots(), outputs(), members, out);
  }
}

template <class S>
Var AgentTeam::forward(Tape<S>& tape, const std::type_identity_t<S>* storage,
                       std::type_identity_t<S>* gradients, const std::type_identity_t<S>* observations,
                       std::size_t steps, std::size_t count, const std::type_identity_t<S>* memory,
                       const std::uint8_t* resets) const {
  const std::size_t positions = steps * count, inputs = config_.network.inputs;
  Arena& arena = tape.arena();
  const auto input = [&](std::span<const std::size_t> members) {
    const std::size_t rows = positions * members.size();
    if (together() && !config_.agent_ids) return tape.input(observations, rows, inputs);
    S* in = arena.template allocate<S>(rows * inputs);
    gather_inputs<S>(observations, positions, members, in);
    return tape.input(in, rows, inputs);
  };
  if (together())
    return network_.forward(tape, storage, gradients, input(members_[0]), count * slots(), memory, resets);

  Var* parts = arena.template allocate<Var>(groups());
  std::size_t* first = arena.template allocate<std::size_t>(groups());
  for (std::size_t g = 0, row = 0; g < groups(); ++g) {
    const std::span<const std::size_t> members = members_[g];
    const std::size_t offset = g * network_.stored();
    S* state = nullptr;
    if (memory != nullptr && this->memory() > 0) {
      state = arena.template allocate<S>(count * members.size() * this->memory());
      gather<S>(memory, count, slots(), this->memory(), members, state);
    }
    std::uint8_t* reset = nullptr;
    if (resets != nullptr && this->memory() > 0) {
      reset = arena.template allocate<std::uint8_t>(positions * members.size());
      gather(resets, positions, slots(), 1, members, reset);
    }
    parts[g] = network_.forward(tape, storage + offset, gradients == nullptr ? nullptr : gradients + offset,
                                input(members), count * members.size(), state, reset);
    first[g] = row;
    row += positions * members.size();
  }
  const std::size_t rows = positions * slots();
  auto* indices = arena.template allocate<std::int32_t>(rows);
  for (std::size_t p = 0; p < positions; ++p)
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      const std::size_t g = group_of_[slot];
      indices[p * slots() + slot] =
          static_cast<std::int32_t>(first[g] + p * members_[g].size() + rank_[slot]);
    }
  const Var joined = tape.concat_rows(std::span<const Var>(parts, groups()));
  return tape.gather_rows(joined, indices, rows);
}

}  // namespace mara
