#pragma once
// Selfish drivers and a road that is free when nobody takes it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mara/environment/fixed_team.hpp"

namespace mara {

/// Pigou's example (Roughgarden and Tardos, "How bad is selfish routing?", J. ACM 49, 2002) with n agents:
/// link A (option 0) costs each of its k users k / n, link B (option 1) costs 1. One step, then terminated.
/// The individual reward is minus the own cost, the team's minus the cost of all. With 10 agents the least
/// total is 7.5, at k = 5; equilibria of selfish agents are k = 9 (9.1) and k = 10 (10). Observation [1] and
/// global state [1]: the number 1. Fulfils Game.
class CongestionGame : public FixedTeam {
 public:
  /// `agents` in [1, 100000].
  explicit CongestionGame(std::size_t agents = 10)
      : FixedTeam(valid(agents) ? GameShape{agents, 1, 1, ActionShape::discrete(2)} : GameShape{}),
        asked_(agents) {}

  /// Cost of all together when `users` of `agents` take link A.
  static constexpr double total_cost(std::size_t users, std::size_t agents = 10) noexcept {
    const auto k = static_cast<double>(users), n = static_cast<double>(agents);
    return k * k / n + (n - k);
  }

  /// Errors: a number of agents outside [1, 100000].
  Status reset(std::uint64_t) {
    if (!valid(asked_)) return bad("congestion", "agents", std::to_string(asked_), "not in [1, 100000]");
    begin();
    return {};
  }
  void observe(float* rows) const noexcept { std::fill_n(rows, shape().agents, present(0) ? 1.0f : 0.0f); }
  void global_state(float* row) const noexcept { *row = 1.0f; }
  StepOutcome step() {
    if (over()) return nothing();
    const std::size_t n = shape().agents;
    users_ = 0;
    for (std::size_t i = 0; i < n; ++i) users_ += option(i) == 0 ? 1u : 0u;
    const double crowded = static_cast<double>(users_) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      own_rewards()[i] = option(i) == 0 ? static_cast<float>(-crowded) : -1.0f;
    return finish(-total_cost(users_, n), true, false);
  }
  /// Users of link A in the last step.
  std::size_t users() const noexcept { return users_; }

 private:
  static constexpr bool valid(std::size_t agents) noexcept { return agents >= 1 && agents <= 100000; }
  std::size_t asked_, users_ = 0;
};

static_assert(Game<CongestionGame>);

}  // namespace mara
