#pragma once
// Any Environment (environment/concept.hpp) as a Game.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/environment/game.hpp"

namespace mara {

/// Where an environment says who its agents are: e.agent_id(agent) -> std::uint64_t, the same for an agent as
/// long as it is there, never that of two at one time.
template <class E>
concept KnowsAgents = requires(const E& e, std::size_t agent) {
  { e.agent_id(agent) } -> std::convertible_to<std::uint64_t>;
};

/// An environment with a given number of slots. Shapes: those of the environment, slots x kObservation; one
/// head of kOptions. Where the environment knows its agents (KnowsAgents), each keeps its slot from its
/// arrival until it leaves, and newcomers take the lowest free ones. Otherwise agent i sits in slot i, and
/// since index i may be another agent after each step, everybody counts as arrived in every step: memory and
/// values of single agents then end with the step. Environments with more agents than slots do not fit:
/// reset() says so as an error; where it happens in a step, the episode is truncated with nobody present,
/// status() holds the error, and the next reset() returns it. The same goes for rewards() of another size
/// than the number of agents that acted. Fulfils Game.
template <Environment E>
class EnvironmentGame {
 public:
  EnvironmentGame(E environment, std::size_t slots)
      : environment_(std::move(environment)),
        shape_{slots, static_cast<std::size_t>(E::kObservation), static_cast<std::size_t>(E::kGlobalState),
               ActionShape::discrete(static_cast<int>(E::kOptions))},
        seats_(slots),
        rewards_(slots) {}

  const GameShape& shape() const noexcept { return shape_; }

  /// Errors: those of the environment, and the fault of the last episode, once.
  Status reset(std::uint64_t seed) {
    clear();
    over_ = true;
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    if (!status_) return std::exchange(status_, Status{});
    if (const Status begun = environment_.reset(seed); !begun) return begun;
    if (!seat()) {
      clear();
      return std::exchange(status_, Status{});
    }
    over_ = false;
    return {};
  }
  bool present(std::size_t slot) const { return slot < seats_.size() && seats_[slot].agent >= 0; }
  bool arrived(std::size_t slot) const { return present(slot) && seats_[slot].fresh; }
  void observe(float* rows) const {
    const std::size_t width = shape_.observation;
    std::fill_n(rows, shape_.agents * width, 0.0f);
    if (slot_of_.empty()) return;
    if constexpr (!KnowsAgents<E>) return environment_.observe(rows);
    observations_.resize(slot_of_.size() * width);
    environment_.observe(observations_.data());
    for (std::size_t i = 0; i < slot_of_.size(); ++i)
      std::copy_n(observations_.data() + i * width, width, rows + slot_of_[i] * width);
  }
  void global_state(float* row) const {
    if (here_)
      environment_.global_state(row);
    else
      std::fill_n(row, shape_.state, 0.0f);
  }
  std::span<const std::uint32_t> turn_order() const noexcept { return order_; }
  OptionMask mask(std::size_t slot, std::size_t) const { return environment_.mask(agent(slot)); }
  void choose(std::size_t slot, const std::int32_t* options, const float*) {
    environment_.act(agent(slot), options[0]);
  }
  /// After the end of an episode: nothing happens, terminated.
  StepOutcome step() {
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    if (over_) return {0.0f, true, false};
    const std::vector<std::uint32_t> acted = slot_of_;
    StepOutcome outcome = environment_.step();
    const std::span<const float> own = environment_.rewards();
    if (own.size() != acted.size())
      status_ = Error{ErrorCode::kShapeMismatch, "environment: " + std::to_string(own.size()) + " rewards, " +
                                                     std::to_string(acted.size()) + " agents acted"};
    if (!status_ || !seat()) {
      clear();
      outcome = {0.0f, false, true};
    } else {
      for (std::size_t i = 0; i < acted.size(); ++i) rewards_[acted[i]] = own[i];
    }
    over_ = outcome.terminated || outcome.truncated;
    return outcome;
  }
  std::span<const float> rewards() const noexcept { return rewards_; }

  const Status& status() const noexcept { return status_; }
  E& environment() noexcept { return environment_; }
  const E& environment() const noexcept { return environment_; }
  /// The environment's index of who sits in a slot where somebody is present.
  std::size_t agent(std::size_t slot) const { return static_cast<std::size_t>(seats_[slot].agent); }

 private:
  struct Seat {
    std::int64_t agent = -1;  ///< index now; -1: free
    std::uint64_t id = 0;
    bool fresh = false;
  };

  void clear() {
    here_ = false;
    std::fill(seats_.begin(), seats_.end(), Seat{});
    slot_of_.clear();
    order_.clear();
  }
  /// Gives everybody a slot; false (and status_) where there are too few.
  bool seat() {
    const auto count = static_cast<std::size_t>(environment_.agents());
    if (count > seats_.size()) {
      status_ =
          Error{ErrorCode::kCapacityExceeded, "environment: " + std::to_string(count) + " agents, only " +
                                                  std::to_string(seats_.size()) + " slots"};
      return false;
    }
    here_ = true;
    slot_of_.assign(count, 0);
    if constexpr (KnowsAgents<E>) {
      if (!seat_by_id()) return false;
    } else {
      for (std::size_t i = 0; i < seats_.size(); ++i)
        seats_[i] = i < count ? Seat{static_cast<std::int64_t>(i), i, true} : Seat{};
      std::iota(slot_of_.begin(), slot_of_.end(), 0u);
    }
    order_.clear();
    for (const std::uint32_t i : environment_.turn_order()) order_.push_back(i < count ? slot_of_[i] : i);
    return true;
  }
  bool seat_by_id() {
    before_.clear();
    for (std::size_t slot = 0; slot < seats_.size(); ++slot)
      if (seats_[slot].agent >= 0) before_.emplace_back(seats_[slot].id, slot);
    now_.clear();
    for (std::size_t i = 0; i < slot_of_.size(); ++i)
      now_.emplace_back(static_cast<std::uint64_t>(environment_.agent_id(i)), i);
    std::sort(before_.begin(), before_.end());
    std::sort(now_.begin(), now_.end());
    for (std::size_t i = 1; i < now_.size(); ++i)
      if (now_[i].first == now_[i - 1].first) {
        status_ = Error{ErrorCode::kInvalidArgument,
                        "environment: agent_id = " + std::to_string(now_[i].first) + " of two agents"};
        return false;
      }
    std::fill(seats_.begin(), seats_.end(), Seat{});
    newcomers_.clear();
    auto old = before_.begin();
    for (const auto& [id, agent] : now_) {
      while (old != before_.end() && old->first < id) ++old;
      if (old != before_.end() && old->first == id) {
        sit(agent, old->second, id, false);
      } else {
        newcomers_.emplace_back(agent, id);
      }
    }
    std::sort(newcomers_.begin(), newcomers_.end());
    std::size_t free = 0;
    for (const auto& [agent, id] : newcomers_) {
      while (seats_[free].agent >= 0) ++free;
      sit(agent, free, id, true);
    }
    return true;
  }
  void sit(std::size_t i, std::size_t slot, std::uint64_t id, bool fresh) {
    seats_[slot] = {static_cast<std::int64_t>(i), id, fresh};
    slot_of_[i] = static_cast<std::uint32_t>(slot);
  }

  E environment_;
  GameShape shape_;
  std::vector<Seat> seats_;
  std::vector<std::uint32_t> slot_of_, order_;  ///< of the environment's agents; in which slots choose
  std::vector<float> rewards_;
  Status status_;
  bool here_ = false;  ///< whether the environment is to be seen
  bool over_ = true;
  mutable std::vector<float> observations_;  ///< scratch of observe(), by the environment's indices
  // Scratch of seat_by_id(): ids with their slots before, ids with their agents now, agents with their ids.
  std::vector<std::pair<std::uint64_t, std::size_t>> before_, now_;
  std::vector<std::pair<std::size_t, std::uint64_t>> newcomers_;
};

}  // namespace mara
