#pragma once
// Cooperative matrix games: everybody chooses at once, everybody gets the same.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/libm.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// One step of a payoff table over the joint options, then terminated.
/// Observation [1] and global state [1]: the number 1. Rewards: the payoff, to the team and to each agent.
/// Agents may have different numbers of options: the action space has the most of them, masks forbid the rest
/// (a forbidden option counts as the agent's last). Fulfils Game.
class MatrixGame : public FixedTeam {
 public:
  /// `options` of each agent, in [1, 32]; `payoffs` of all joint options, the last agent's option fastest.
  /// Errors: no agent, options outside the range, another number of payoffs than joint options, or more than
  /// 2^24 of them, a payoff that is not finite.
  static Result<MatrixGame> create(std::vector<int> options, std::vector<float> payoffs) {
    if (options.empty()) return bad("matrix game", "agents", "0", "at least 1 is needed");
    std::size_t cells = 1;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (options[i] < 1 || options[i] > 32)
        return bad("matrix game", "options[" + std::to_string(i) + "]", std::to_string(options[i]),
                   "not in [1, 32]");
      cells *= static_cast<std::size_t>(options[i]);
      if (cells > std::size_t{1} << 24)
        return bad("matrix game", "joint options", "more than 2^24", "too many");
    }
    if (payoffs.size() != cells)
      return bad("matrix game", "payoffs", std::to_string(payoffs.size()),
                 "the joint options are " + std::to_string(cells));
    for (std::size_t i = 0; i < cells; ++i)
      if (!libm::isfinite(payoffs[i]))
        return bad("matrix game", "payoffs[" + std::to_string(i) + "]", std::to_string(payoffs[i]),
                   "not finite");
    return MatrixGame(std::move(options), std::move(payoffs));
  }

  /// The climbing game of Claus and Boutilier, "The dynamics of reinforcement learning in cooperative
  /// multiagent systems", AAAI 1998: the best cell (A, A) = 11 has cells of -30 beside it; (C, C) = 5 is
  /// safe.
  static MatrixGame climbing() { return MatrixGame({3, 3}, {11, -30, 0, -30, 7, 6, 0, 0, 5}); }
  /// The penalty game of the same paper: 10 in two corners, k (mostly negative) in the others, 2 in the
  /// middle. A k that is not finite counts as 0.
  static MatrixGame penalty(float k) {
    if (!libm::isfinite(k)) k = 0.0f;
    return MatrixGame({3, 3}, {k, 0, 10, 0, 2, 0, 10, 0, k});
  }
  /// A game that no monotone mixer represents: Son et al., "QTRAN", ICML 2019, table 1. Best (A, A) = 8.
  static MatrixGame qtran_matrix() { return MatrixGame({3, 3}, {8, -12, -12, -12, 0, 0, -12, 0, 0}); }
  /// Nearly monotone: 12 at (A, A), -.1 beside it; the best monotone table misses by .02 (sum of squares).
  static MatrixGame nearly_monotone_matrix() {
    return MatrixGame({3, 3}, {12, -.1f, -.1f, -.1f, 0, 0, -.1f, 0, 0});
  }
  /// Three agents take x_i in {0, 1, 2} of capacity 3: sum_i w_i min(x_i, d_i) - 4 max(0, sum x - 3) with
  /// weights (3, 2, 1) and demands (2, 1, 2). Best: (2, 1, 0) = 8.
  static MatrixGame allocation_game() {
    constexpr std::array<int, 3> weight{3, 2, 1}, demand{2, 1, 2};
    std::vector<float> payoffs;
    for (int cell = 0; cell < 27; ++cell) {
      const std::array<int, 3> taken{cell / 9, cell / 3 % 3, cell % 3};
      int value = -4 * std::max(0, taken[0] + taken[1] + taken[2] - 3);
      for (std::size_t i = 0; i < 3; ++i) value += weight[i] * std::min(taken[i], demand[i]);
      payoffs.push_back(static_cast<float>(value));
    }
    return MatrixGame({3, 3, 3}, std::move(payoffs));
  }

  /// The payoff of joint options, one per agent (those outside the range as the nearest).
  float payoff(std::span<const std::int32_t> joint) const noexcept {
    std::size_t cell = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::int32_t chosen = i < joint.size() ? joint[i] : 0;
      cell = cell * static_cast<std::size_t>(counts_[i]) +
             static_cast<std::size_t>(std::clamp<std::int32_t>(chosen, 0, counts_[i] - 1));
    }
    return payoffs_[cell];
  }
  /// The whole table, the last agent's option fastest.
  std::span<const float> payoffs() const noexcept { return payoffs_; }

  Status reset(std::uint64_t) {
    begin();
    return {};
  }
  void observe(float* rows) const noexcept { std::fill_n(rows, counts_.size(), present(0) ? 1.0f : 0.0f); }
  void global_state(float* row) const noexcept { *row = 1.0f; }
  OptionMask mask(std::size_t slot, std::size_t) const noexcept { return first_options(counts_[slot]); }
  StepOutcome step() {
    if (over()) return nothing();
    for (std::size_t i = 0; i < joint_.size(); ++i) joint_[i] = option(i);
    return finish_shared(payoff(joint_), true, false);
  }

 private:
  MatrixGame(std::vector<int> options, std::vector<float> payoffs)
      : FixedTeam(GameShape{options.size(), 1, 1,
                            ActionShape::discrete(*std::max_element(options.begin(), options.end()))}),
        counts_(std::move(options)),
        payoffs_(std::move(payoffs)),
        joint_(counts_.size()) {}

  std::vector<int> counts_;
  std::vector<float> payoffs_;
  std::vector<std::int32_t> joint_;
};

static_assert(Game<MatrixGame>);

}  // namespace mara
