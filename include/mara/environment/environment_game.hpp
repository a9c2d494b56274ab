#pragma once
// Any Environment (environment/concept.hpp) as a Game.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/environment/game.hpp"

namespace mara {

/// An environment with a given number of slots; agent i of the environment sits in slot i. Shapes: those of
/// the environment, slots x kObservation; one head of kOptions. An environment does not say who its agents
/// are: index i may be another agent after each step. So everybody present counts as arrived in every step,
/// and a learner with a recurrent memory has none here. Environments with more agents than slots do not fit:
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
        rewards_(slots) {}

  const GameShape& shape() const noexcept { return shape_; }

  /// Errors: those of the environment, and the fault of the last episode, once.
  Status reset(std::uint64_t seed) {
    here_ = false;
    over_ = true;
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    if (!status_) return std::exchange(status_, Status{});
    if (const Status begun = environment_.reset(seed); !begun) return begun;
    if (!fits()) return std::exchange(status_, Status{});
    here_ = true;
    over_ = false;
    return {};
  }
  bool present(std::size_t slot) const { return here_ && slot < agents(); }
  bool arrived(std::size_t slot) const { return present(slot); }
  void observe(float* rows) const {
    std::fill_n(rows, shape_.agents * shape_.observation, 0.0f);
    if (here_) environment_.observe(rows);
  }
  void global_state(float* row) const {
    if (here_)
      environment_.global_state(row);
    else
      std::fill_n(row, shape_.state, 0.0f);
  }
  std::span<const std::uint32_t> turn_order() const {
    return here_ ? std::span<const std::uint32_t>(environment_.turn_order())
                 : std::span<const std::uint32_t>{};
  }
  OptionMask mask(std::size_t slot, std::size_t) const { return environment_.mask(slot); }
  void choose(std::size_t slot, const std::int32_t* options, const float*) {
    environment_.act(slot, options[0]);
  }
  /// After the end of an episode: nothing happens, terminated.
  StepOutcome step() {
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    if (over_) return {0.0f, true, false};
    const std::size_t acted = agents();
    StepOutcome outcome = environment_.step();
    const std::span<const float> own = environment_.rewards();
    if (own.size() != acted)
      status_ = Error{ErrorCode::kShapeMismatch, "environment: " + std::to_string(own.size()) + " rewards, " +
                                                     std::to_string(acted) + " agents acted"};
    if (!status_ || !fits()) {
      here_ = false;
      outcome = {0.0f, false, true};
    } else {
      std::copy(own.begin(), own.end(), rewards_.begin());
    }
    over_ = outcome.terminated || outcome.truncated;
    return outcome;
  }
  std::span<const float> rewards() const noexcept { return rewards_; }

  const Status& status() const noexcept { return status_; }
  E& environment() noexcept { return environment_; }
  const E& environment() const noexcept { return environment_; }

 private:
  std::size_t agents() const { return static_cast<std::size_t>(environment_.agents()); }
  bool fits() {
    if (agents() <= shape_.agents) return true;
    status_ =
        Error{ErrorCode::kCapacityExceeded, "environment: " + std::to_string(agents()) + " agents, only " +
                                                std::to_string(shape_.agents) + " slots"};
    return false;
  }

  E environment_;
  GameShape shape_;
  std::vector<float> rewards_;
  Status status_;
  bool here_ = false;  ///< whether the agents of the environment are to be seen
  bool over_ = true;
};

}  // namespace mara
