#pragma once
// A chain on which staying at home is best, with or without shaped rewards.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// How an episode of ChainGame ends and what it pays.
struct ChainConfig {
  int steps = 100;         ///< truncated after so many, at least 1
  bool shaped = false;     ///< whether gamma Phi(s') - Phi(s) is added to each reward
  double discount = 0.95;  ///< gamma of the shaping and of the exact values, in [0, 1)
  std::array<double, 4> potential{0.0, 0.25, 0.5, 0.75};  ///< Phi of states 0 to 3; the terminal state has 0
};

/// One agent on states 0..4; begins in 0, state 4 is terminal. Option 0 (left): to max(0, s - 1), pays .1 in
/// state 0. Option 1 (right): with probability .8 to s + 1, paying 1 for entering 4, else nothing moves. With
/// discount .95 staying left is best: Q* = 2 in state 0. Truncated after config.steps. Shaped, each reward
/// has F = gamma Phi(s') - Phi(s) added, with Phi = 0 at termination and Phi of the final state at
/// truncation, which leaves the best policy as it is (Ng, Harada and Russell, "Policy invariance under reward
/// transformations", ICML 1999; Grzes, "Reward shaping in episodic reinforcement learning", AAMAS 2017).
/// Observation [5] and global state [5]: one-hot of the state. Rewards: the same to the team and to the
/// agent; unshaped_reward() and unshaped_return() say what was earned without shaping. Fulfils Game.
class ChainGame : public FixedTeam {
 public:
  static constexpr std::size_t kStates = 5, kInner = 4;
  /// Action values of the inner states: left, right.
  using ActionValues = std::array<std::array<double, 2>, kInner>;

  explicit ChainGame(ChainConfig config = {})
      : FixedTeam(GameShape{1, kStates, kStates, ActionShape::discrete(2)}), config_(config), random_(0) {}

  /// Errors: steps below 1, a discount outside [0, 1), a potential that is not finite.
  Status reset(std::uint64_t seed) {
    if (config_.steps < 1)
      return bad("chain", "steps", std::to_string(config_.steps), "at least 1 is needed");
    if (!(config_.discount >= 0.0 && config_.discount < 1.0))
      return bad("chain", "discount", std::to_string(config_.discount), "not in [0, 1)");
    for (std::size_t s = 0; s < kInner; ++s)
      if (!libm::isfinite(config_.potential[s]))
        return bad("chain", "potential[" + std::to_string(s) + "]", std::to_string(config_.potential[s]),
                   "not finite");
    random_ = Random(seed, 0x636861696eu);
    state_ = 0;
    unshaped_reward_ = unshaped_return_ = 0.0;
    begin();
    return {};
  }
  void observe(float* rows) const noexcept { write(rows, present(0)); }
  void global_state(float* row) const noexcept { write(row, true); }
  StepOutcome step() {
    if (over()) return nothing();
    const bool success = random_.uniform() < kSuccess;
    const std::size_t from = state_;
    if (option(0) == 0)
      state_ = from > 0 ? from - 1 : 0;
    else if (success)
      ++state_;
    unshaped_reward_ = earned(from, option(0), state_);
    unshaped_return_ += unshaped_reward_;
    const bool terminal = state_ == kInner;
    return finish_shared(unshaped_reward_ + shaping(config_, from, state_), terminal,
                         steps() + 1 >= config_.steps);
  }
  std::size_t state() const noexcept { return state_; }
  double unshaped_reward() const noexcept { return unshaped_reward_; }  ///< of the last step
  double unshaped_return() const noexcept {
    return unshaped_return_;
  }  ///< of the episode so far, not discounted

  /// Q* of the game as configured, without time limit.
  static ActionValues optimal_values(const ChainConfig& config = {}) noexcept {
    return iterate(config, [](std::size_t, const std::array<double, 2>& q) { return std::max(q[0], q[1]); });
  }
  /// Q of the policy that goes right with probability `right` [4] in each inner state, without time limit.
  static ActionValues policy_values(const std::array<double, kInner>& right,
                                    const ChainConfig& config = {}) noexcept {
    return iterate(config, [&right](std::size_t s, const std::array<double, 2>& q) {
      return (1.0 - right[s]) * q[0] + right[s] * q[1];
    });
  }

 private:
  static constexpr double kSuccess = 0.8;

  static double earned(std::size_t from, int option, std::size_t to) noexcept {
    if (option == 0) return from == 0 ? 0.1 : 0.0;
    return to == kInner ? 1.0 : 0.0;
  }
  static double shaping(const ChainConfig& config, std::size_t from, std::size_t to) noexcept {
    if (!config.shaped) return 0.0;
    return config.discount * (to == kInner ? 0.0 : config.potential[to]) - config.potential[from];
  }
  template <class BackUp>
  static ActionValues iterate(const ChainConfig& config, BackUp back_up) noexcept {
    const double discount = config.discount >= 0.0 && config.discount < 1.0 ? config.discount : 0.0;
    std::array<double, kStates> value{};
    ActionValues q{};
    for (int sweep = 0; sweep < 100000; ++sweep) {
      double change = 0.0;
      for (std::size_t s = 0; s < kInner; ++s) {
        const auto branch = [&](int option, std::size_t to) {
          return earned(s, option, to) + shaping(config, s, to) + discount * value[to];
        };
        q[s] = {branch(0, s > 0 ? s - 1 : 0), kSuccess * branch(1, s + 1) + (1.0 - kSuccess) * branch(1, s)};
        const double updated = back_up(s, q[s]);
        change = std::max(change, libm::fabs(updated - value[s]));
        value[s] = updated;
      }
      if (change < 1e-15) break;
    }
    return q;
  }
  void write(float* row, bool here) const noexcept {
    for (std::size_t i = 0; i < kStates; ++i) row[i] = here && i == state_ ? 1.0f : 0.0f;
  }

  ChainConfig config_;
  Random random_;
  std::size_t state_ = 0;
  double unshaped_reward_ = 0.0, unshaped_return_ = 0.0;
};

static_assert(Game<ChainGame>);

}  // namespace mara
