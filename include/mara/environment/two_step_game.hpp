#pragma once
// The two-step game on which additive value decomposition takes the worse branch.

#include <cstddef>
#include <cstdint>

#include "mara/environment/fixed_team.hpp"

namespace mara {

/// Rashid et al., "QMIX: monotonic value function factorisation for deep multi-agent reinforcement learning",
/// ICML 2018, section 6. Two agents, options A and B. In state 1 agent 0's option alone picks the next state,
/// 2A or 2B, and pays 0. State 2A pays 7 whatever is chosen; state 2B pays [[0, 1], [1, 8]][agent 0][agent
/// 1]. Terminated after these two steps. Best return: 8, by way of 2B. Observation [3] of both agents and
/// global state [3]: one-hot of the states 1, 2A, 2B; zeros at the end. Rewards: the payoff, to the team and
/// to each agent. Fulfils Game.
class TwoStepGame : public FixedTeam {
 public:
  enum class Place { kFirst = 0, kSecondA = 1, kSecondB = 2, kEnd = 3 };

  TwoStepGame() : FixedTeam(GameShape{2, 3, 3, ActionShape::discrete(2)}) {}

  Status reset(std::uint64_t) {
    begin();
    place_ = Place::kFirst;
    return {};
  }
  void observe(float* rows) const noexcept {
    write(rows, present(0));
    write(rows + 3, present(1));
  }
  void global_state(float* row) const noexcept { write(row, true); }
  StepOutcome step() {
    if (over()) return nothing();
    if (place_ == Place::kFirst) {
      place_ = option(0) == 0 ? Place::kSecondA : Place::kSecondB;
      return finish_shared(0.0, false, false);
    }
    constexpr double kPayoff[2][2] = {{0.0, 1.0}, {1.0, 8.0}};
    const double reward = place_ == Place::kSecondA ? 7.0 : kPayoff[option(0)][option(1)];
    place_ = Place::kEnd;
    return finish_shared(reward, true, false);
  }
  /// Where the team is.
  Place place() const noexcept { return place_; }

 private:
  void write(float* row, bool here) const noexcept {
    for (int i = 0; i < 3; ++i) row[i] = here && i == static_cast<int>(place_) ? 1.0f : 0.0f;
  }
  Place place_ = Place::kFirst;
};

static_assert(Game<TwoStepGame>);

}  // namespace mara
