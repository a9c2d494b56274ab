#pragma once
// Two queues, one server: who may use it now? With exact values of every policy.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// How an episode of DynamicAllocationGame begins and ends.
struct DynamicAllocationConfig {
  int steps = 50;         ///< truncated after so many, at least 1
  int first_queue = -1;   ///< length at the start, in [0, 2]; -1: drawn uniformly
  int second_queue = -1;  ///< the same of the other queue
};

/// Two agents, each with a queue of 0 to 2, and one server ("dyn-A"). Options: 0 wait, 1 request. If exactly
/// one requests, its queue drops by 1 (not below 0); if both or none do, nothing is served. The reward -(2 q0
/// + q1) is paid after service and before arrivals; then each queue grows by 1 with probability .3 and .5, to
/// 2 at most. Nothing terminates; truncated after config.steps, and no value depends on when: the time is not
/// observed. Observation [9] of both agents and global state [9]: one-hot of 3 q0 + q1. Rewards: the same to
/// the team and to each agent. With discount .9 the best policy serves queue 0 when it has something, else
/// queue 1. Fulfils Game.
class DynamicAllocationGame : public FixedTeam {
 public:
  static constexpr std::size_t kStates = 9;  ///< 3 q0 + q1
  static constexpr std::size_t kJoint = 4;   ///< joint options, 2 a0 + a1
  static constexpr double kArrival[2] = {0.3, 0.5};
  using Values = std::array<double, kStates>;
  /// Probability of each joint option in each state.
  using JointPolicy = std::array<std::array<double, kJoint>, kStates>;

  explicit DynamicAllocationGame(DynamicAllocationConfig config = {})
      : FixedTeam(GameShape{2, kStates, kStates, ActionShape::discrete(2)}), config_(config), random_(0) {}

  /// Errors: steps or a queue of the configuration outside its range.
  Status reset(std::uint64_t seed) {
    if (config_.steps < 1)
      return bad("dynamic allocation", "steps", std::to_string(config_.steps), "at least 1 is needed");
    for (const int queue : {config_.first_queue, config_.second_queue})
      if (queue < -1 || queue > 2)
        return bad("dynamic allocation", "queue", std::to_string(queue), "not in [0, 2] and not -1");
    random_ = Random(seed, 0x64796e61u);
    const auto drawn =
        static_cast<std::size_t>(random_.below(kStates));  // drawn always: one stream for all starts
    const std::size_t first =
        config_.first_queue < 0 ? drawn / 3 : static_cast<std::size_t>(config_.first_queue);
    const std::size_t second =
        config_.second_queue < 0 ? drawn % 3 : static_cast<std::size_t>(config_.second_queue);
    state_ = 3 * first + second;
    begin();
    return {};
  }
  void observe(float* rows) const noexcept {
    write(rows, present(0));
    write(rows + kStates, present(1));
  }
  void global_state(float* row) const noexcept { write(row, true); }
  StepOutcome step() {
    if (over()) return nothing();
    const std::size_t served =
        after_service(state_, 2 * static_cast<std::size_t>(option(0)) + static_cast<std::size_t>(option(1)));
    std::array<std::size_t, 2> queue{served / 3, served % 3};
    for (std::size_t i = 0; i < 2; ++i)
      if (random_.uniform() < kArrival[i]) queue[i] = std::min<std::size_t>(2, queue[i] + 1);
    state_ = 3 * queue[0] + queue[1];
    return finish_shared(cost(served), false, steps() + 1 >= config_.steps);
  }
  /// 3 q0 + q1 now.
  std::size_t state() const noexcept { return state_; }

  /// Reward of a joint option, in [0, 4), in a state, in [0, 9).
  static double reward(std::size_t state, std::size_t joint) noexcept {
    return cost(after_service(state, joint));
  }
  /// Probabilities of the next state.
  static Values transition(std::size_t state, std::size_t joint) noexcept {
    const std::size_t served = after_service(state, joint);
    Values next{};
    for (std::size_t arrivals = 0; arrivals < 4; ++arrivals) {
      const std::size_t a = arrivals / 2, b = arrivals % 2;
      const std::size_t q0 = std::min<std::size_t>(2, served / 3 + a),
                        q1 = std::min<std::size_t>(2, served % 3 + b);
      next[3 * q0 + q1] +=
          (a == 1 ? kArrival[0] : 1.0 - kArrival[0]) * (b == 1 ? kArrival[1] : 1.0 - kArrival[1]);
    }
    return next;
  }
  /// Discounted value of a policy in every state, without end; exact to about 1e-12 for discounts up to .99.
  static Values values(const JointPolicy& policy, double discount = 0.9) noexcept {
    return iterate(discount, [&policy](std::size_t state, const std::array<double, kJoint>& q) {
      double value = 0.0;
      for (std::size_t joint = 0; joint < kJoint; ++joint) value += policy[state][joint] * q[joint];
      return value;
    });
  }
  /// The best value in every state.
  static Values optimal_values(double discount = 0.9) noexcept {
    return iterate(discount, [](std::size_t, const std::array<double, kJoint>& q) {
      return *std::max_element(q.begin(), q.end());
    });
  }
  /// The policy of two agents that decide independently, `request[i][state]` the probability that agent i
  /// requests.
  static JointPolicy joint_policy(const std::array<Values, 2>& request) noexcept {
    JointPolicy policy{};
    for (std::size_t state = 0; state < kStates; ++state)
      for (std::size_t joint = 0; joint < kJoint; ++joint) {
        const double a = request[0][state], b = request[1][state];
        policy[state][joint] = (joint / 2 == 1 ? a : 1.0 - a) * (joint % 2 == 1 ? b : 1.0 - b);
      }
    return policy;
  }

 private:
  static std::size_t after_service(std::size_t state, std::size_t joint) noexcept {
    if (joint == 2 && state / 3 > 0) return state - 3;
    if (joint == 1 && state % 3 > 0) return state - 1;
    return state;
  }
  static double cost(std::size_t served) noexcept {
    return -(2.0 * static_cast<double>(served / 3) + static_cast<double>(served % 3));
  }
  /// Sweeps value[s] = back_up(s, action values) until nothing moves.
  template <class BackUp>
  static Values iterate(double discount, BackUp back_up) noexcept {
    if (!(discount >= 0.0 && discount < 1.0)) discount = 0.0;
    Values value{};
    for (int sweep = 0; sweep < 100000; ++sweep) {
      double change = 0.0;
      for (std::size_t state = 0; state < kStates; ++state) {
        std::array<double, kJoint> q{};
        for (std::size_t joint = 0; joint < kJoint; ++joint) {
          const Values next = transition(state, joint);
          double future = 0.0;
          for (std::size_t s = 0; s < kStates; ++s) future += next[s] * value[s];
          q[joint] = reward(state, joint) + discount * future;
        }
        const double updated = back_up(state, q);
        change = std::max(change, libm::fabs(updated - value[state]));
        value[state] = updated;
      }
      if (change < 1e-14) break;
    }
    return value;
  }
  void write(float* row, bool here) const noexcept {
    for (std::size_t i = 0; i < kStates; ++i) row[i] = here && i == state_ ? 1.0f : 0.0f;
  }

  DynamicAllocationConfig config_;
  Random random_;
  std::size_t state_ = 0;
};

static_assert(Game<DynamicAllocationGame>);

}  // namespace mara
