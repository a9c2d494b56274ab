#pragma once
// A team of one step whose numbers pull at each other.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/environment/fixed_team.hpp"

namespace mara {

/// Two agents, one number each: one step pays J(a) = c.a - a' H a with H = [[2, .8], [.8, 1]], c = [1, -1],
/// and terminates. Best: a = (.66176471, -1.02941176), J = .84558824. The reward comes on the terminal
/// transition: a learner that masks terminal transitions learns nothing. Action: box, by default [-2, 2].
/// Observation [1] and global state [1]: the number 1. Rewards: J, to the team and to each agent. A static
/// version of the continuous cooperative tasks of Lowe et al. 2017 (MADDPG). Fulfils Game.
class QuadraticTeam : public FixedTeam {
 public:
  static constexpr std::array<double, 2> kLinear{1.0, -1.0};
  static constexpr std::array<std::array<double, 2>, 2> kQuadratic{{{2.0, 0.8}, {0.8, 1.0}}};
  /// a* = H^-1 c / 2.
  static constexpr std::array<double, 2> kBest{1.8 / 2.72, -2.8 / 2.72};
  static constexpr double kBestValue = 0.5 * (kBest[0] - kBest[1]);

  explicit QuadraticTeam(ActionBounds bounds = {-2.0f, 2.0f})
      : FixedTeam(GameShape{2, 1, 1, ActionShape::numbers_within({bounds})}) {}

  /// J(a).
  static constexpr double value(double first, double second) noexcept {
    return kLinear[0] * first + kLinear[1] * second - kQuadratic[0][0] * first * first -
           2.0 * kQuadratic[0][1] * first * second - kQuadratic[1][1] * second * second;
  }

  /// Errors: bounds that are not finite or not in order.
  Status reset(std::uint64_t) {
    if (const Status good = check_action_shape(shape().action); !good) return good;
    begin();
    return {};
  }
  void observe(float* rows) const noexcept { std::fill_n(rows, 2, present(0) ? 1.0f : 0.0f); }
  void global_state(float* row) const noexcept { *row = 1.0f; }
  StepOutcome step() {
    if (over()) return nothing();
    return finish_shared(value(number(0), number(1)), true, false);
  }
};

static_assert(Game<QuadraticTeam>);

}  // namespace mara
