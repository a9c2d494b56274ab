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
  /// Networks of the groups where they differ, one for each group, such as a recurrent and a feed-forward
  /// one; empty: `network` for all.
  std::vector<AgentNetworkConfig> group_networks = {};
  bool agent_ids = false;  ///< a one-hot of the slot follows the observation
};

/// Whether `trait` holds for the network of any group.
template <class Trait>
bool any_network(const TeamConfig& config, Trait&& trait) {
  if (config.group_networks.empty()) return trait(config.network);
  return std::any_of(config.group_networks.begin(), config.group_networks.end(), trait);
}

/// Separate parameters for each of `slots` agents.
inline std::vector<int> separate_groups(std::size_t slots) {
  std::vector<int> groups(slots);
  for (std::size_t i = 0; i < slots; ++i) groups[i] = static_cast<int>(i);
  return groups;
}

/// One AgentNetwork per group of slots, parameters of all groups in one storage, group after group. `team
/// rows` below are rows of all slots: [slots x ...], slot by slot. A row of memory has room for the group
/// that remembers most; the others use its beginning. Rows of absent agents are computed and mean nothing;
/// they change no other row, but where gradients are wanted they hold finite numbers (see AgentNetwork).
/// Agent ids make a network `slots` inputs wider: for few agents. S is float or double.
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
  /// slots, groups of another count than slots, negative ones, a group number that is skipped, group_networks
  /// of another count than groups; those of AgentNetwork, in which inputs are the observation and the ids.
  static Result<AgentTeam> create(const TeamConfig& config, std::size_t slots, std::size_t observation,
                                  std::size_t outputs);

  const TeamConfig& config() const noexcept { return config_; }
  /// The network of a group; its parameters begin at storage + offset(group).
  const AgentNetwork& network(std::size_t group = 0) const noexcept { return networks_[group]; }
  std::size_t offset(std::size_t group) const noexcept { return offsets_[group]; }
  std::size_t slots() const noexcept { return group_of_.size(); }
  std::size_t groups() const noexcept { return members_.size(); }
  std::size_t observation() const noexcept { return observation_; }
  std::size_t outputs() const noexcept { return outputs_; }
  std::size_t memory() const noexcept {
    return memory_;
  }  ///< recurrent numbers per agent, the most of a group
  /// Numbers of the storage of all groups.
  std::size_t stored() const noexcept { return offsets_.back(); }

  /// Fills zeroed storage[stored()], group after group.
  template <class S>
  void initialise(Random& random, S* storage) const {
    for (std::size_t g = 0; g < groups(); ++g) networks_[g].initialise(random, storage + offsets_[g]);
  }
  /// Calls f(name, view) for every parameter; with several groups names begin with "group.K.".
  template <class S, class F>
  void visit(S* storage, F&& f) const {
    for (std::size_t g = 0; g < groups(); ++g)
      networks_[g].visit(storage + offsets_[g],
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

  /// Rows of a group within team rows of `stride` numbers: to[positions x members x width] = the first
  /// `width` numbers of from[positions x slots x stride].
  template <class T>
  static void gather(const T* from, std::size_t positions, std::size_t slots, std::size_t stride,
                     std::size_t width, std::span<const std::size_t> members, T* to) {
    for (std::size_t p = 0; p < positions; ++p)
      for (const std::size_t slot : members) to = std::copy_n(from + (p * slots + slot) * stride, width, to);
  }
  template <class T>
  static void scatter(const T* from, std::size_t positions, std::size_t slots, std::size_t stride,
                      std::size_t width, std::span<const std::size_t> members, T* to) {
    for (std::size_t p = 0; p < positions; ++p)
      for (const std::size_t slot : members) {
        std::copy_n(from, width, to + (p * slots + slot) * stride);
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
  std::vector<AgentNetwork> networks_;             ///< of each group
  std::vector<std::size_t> offsets_ = {0};         ///< of their parameters, and of what would come next
  std::vector<std::size_t> group_of_;              ///< of each slot
  std::vector<std::vector<std::size_t>> members_;  ///< slots of each group, ascending
  std::vector<std::size_t> rank_;                  ///< of each slot among the members of its group
  std::size_t observation_ = 0, inputs_ = 0, outputs_ = 0, memory_ = 0;
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
  if (!config.group_networks.empty() && config.group_networks.size() != team.members_.size())
    return bad("group_networks: " + std::to_string(config.group_networks.size()) + " networks for " +
               std::to_string(team.members_.size()) + " groups");
  team.inputs_ = observation + (config.agent_ids ? slots : 0);
  team.outputs_ = outputs;
  const auto complete = [&](AgentNetworkConfig& network) {
    network.inputs = team.inputs_;
    network.outputs = outputs;
  };
  complete(team.config_.network);
  for (AgentNetworkConfig& network : team.config_.group_networks) complete(network);
  for (std::size_t g = 0; g < team.members_.size(); ++g) {
    const bool own = !config.group_networks.empty();
    Result<AgentNetwork> network =
        AgentNetwork::create(own ? team.config_.group_networks[g] : team.config_.network);
    if (!network)
      return own ? Error{network.error().code,
                         "group_networks[" + std::to_string(g) + "]: " + network.error().message}
                 : network.error();
    team.offsets_.push_back(team.offsets_.back() + network->stored());
    team.memory_ = std::max(team.memory_, network->memory());
    team.networks_.push_back(std::move(network).value());
  }
  return team;
}

template <class S>
void AgentTeam::step(const S* storage, const std::type_identity_t<S>* observations, std::size_t count,
                     std::type_identity_t<S>* memory, const std::uint8_t* resets,
                     std::type_identity_t<S>* out, WorkspaceOf<std::type_identity_t<S>>& workspace) const {
  if (together() && !config_.agent_ids)
    return networks_[0].step(storage, observations, count * slots(), memory, resets, out, workspace.network);
  const auto room = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
    return vector.data();
  };
  for (std::size_t g = 0; g < groups(); ++g) {
    const std::span<const std::size_t> members = members_[g];
    const std::size_t rows = count * members.size();
    const AgentNetwork& network = networks_[g];
    const std::size_t own = network.memory();
    S* in = room(workspace.inputs, rows * inputs_);
    gather_inputs<S>(observations, count, members, in);
    if (together()) {
      network.step(storage, in, rows, memory, resets, out, workspace.network);
      continue;
    }
    S* state = room(workspace.memory, rows * own);
    S* result = room(workspace.outputs, rows * outputs());
    if (own > 0) gather<S>(memory, count, slots(), memory_, own, members, state);
    std::uint8_t* reset = nullptr;
    if (resets != nullptr) {
      reset = room(workspace.resets, rows);
      gather(resets, count, slots(), 1, 1, members, reset);
    }
    network.step(storage + offsets_[g], in, rows, state, reset, result, workspace.network);
    if (own > 0) scatter<S>(state, count, slots(), memory_, own, members, memory);
    scatter<S>(result, count, slots(), outputs_, outputs_, members, out);
  }
}

template <class S>
Var AgentTeam::forward(Tape<S>& tape, const std::type_identity_t<S>* storage,
                       std::type_identity_t<S>* gradients, const std::type_identity_t<S>* observations,
                       std::size_t steps, std::size_t count, const std::type_identity_t<S>* memory,
                       const std::uint8_t* resets) const {
  const std::size_t positions = steps * count;
  Arena& arena = tape.arena();
  const auto input = [&](std::span<const std::size_t> members) {
    const std::size_t rows = positions * members.size();
    if (together() && !config_.agent_ids) return tape.input(observations, rows, inputs_);
    S* in = arena.template allocate<S>(rows * inputs_);
    gather_inputs<S>(observations, positions, members, in);
    return tape.input(in, rows, inputs_);
  };
  if (together())
    return networks_[0].forward(tape, storage, gradients, input(members_[0]), count * slots(), memory,
                                resets);

  Var* parts = arena.template allocate<Var>(groups());
  std::size_t* first = arena.template allocate<std::size_t>(groups());
  for (std::size_t g = 0, row = 0; g < groups(); ++g) {
    const std::span<const std::size_t> members = members_[g];
    const std::size_t offset = offsets_[g], own = networks_[g].memory();
    S* state = nullptr;
    if (memory != nullptr && own > 0) {
      state = arena.template allocate<S>(count * members.size() * own);
      gather<S>(memory, count, slots(), memory_, own, members, state);
    }
    std::uint8_t* reset = nullptr;
    if (resets != nullptr && own > 0) {
      reset = arena.template allocate<std::uint8_t>(positions * members.size());
      gather(resets, positions, slots(), 1, 1, members, reset);
    }
    parts[g] =
        networks_[g].forward(tape, storage + offset, gradients == nullptr ? nullptr : gradients + offset,
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
