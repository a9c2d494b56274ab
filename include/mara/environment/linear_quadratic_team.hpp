#pragma once
// Two controllers of one linear system with quadratic cost, and the exact return of every linear policy.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// How an episode of LinearQuadraticTeam ends and what its agents may do.
struct LinearQuadraticConfig {
  int steps = 50;                    ///< truncated after so many, at least 1
  ActionBounds bounds{-2.0f, 2.0f};  ///< of both controls; good policies stay inside
};

/// Scalar linear-quadratic team ("LQ-A"): x' = x + .5 u0 + .3 u1 + w, w normal of variance .01; the reward
/// -(x^2 + .1 u0^2 + .2 u1^2) is that of the state before the step. x starts uniform in [-1, 1). Nothing
/// terminates; truncated after config.steps. With discount .95: u = -K x with K = (1.32186575, .39655973),
/// expected return -.66168862 (algebraic Riccati equation, for example Bertsekas, "Dynamic programming and
/// optimal control", vol. 2). Action: box [1]. Observation [1] of both agents and global state [1]: x.
/// Rewards: the same to the team and to each agent. Fulfils Game.
class LinearQuadraticTeam : public FixedTeam {
 public:
  static constexpr double kGain[2] = {0.5, 0.3};
  static constexpr double kCost[2] = {0.1, 0.2};
  static constexpr double kNoiseVariance = 0.01, kDiscount = 0.95;
  static constexpr double kBestGains[2] = {1.32186575, 0.39655973};
  static constexpr double kBestReturn = -0.66168862;

  explicit LinearQuadraticTeam(LinearQuadraticConfig config = {})
      : FixedTeam(GameShape{2, 1, 1, ActionShape::numbers_within({config.bounds})}),
        config_(config),
        random_(0) {}

  /// Errors: steps below 1, bounds that are not finite or not in order.
  Status reset(std::uint64_t seed) {
    if (config_.steps < 1)
      return bad("linear-quadratic team", "steps", std::to_string(config_.steps), "at least 1 is needed");
    if (const Status good = check_action_shape(shape().action); !good) return good;
    random_ = Random(seed, 0x6c716121u);
    x_ = random_.uniform(-1.0, 1.0);
    begin();
    return {};
  }
  void observe(float* rows) const noexcept {
    for (std::size_t i = 0; i < 2; ++i) rows[i] = present(i) ? static_cast<float>(x_) : 0.0f;
  }
  void global_state(float* row) const noexcept { *row = static_cast<float>(x_); }
  StepOutcome step() {
    if (over()) return nothing();
    const double u0 = number(0), u1 = number(1);
    const double reward = -(x_ * x_ + kCost[0] * u0 * u0 + kCost[1] * u1 * u1);
    x_ += kGain[0] * u0 + kGain[1] * u1 + kNoise * random_.normal();
    return finish_shared(reward, false, steps() + 1 >= config_.steps);
  }
  double x() const noexcept { return x_; }

  /// x' / x under u = -K x, without noise.
  static constexpr double closed_loop(double k0, double k1) noexcept {
    return 1.0 - kGain[0] * k0 - kGain[1] * k1;
  }
  /// P of V(x) = -(P x^2 + constant) under u_i = -k_i x; infinite when the discounted cost is.
  static constexpr double curvature(double k0, double k1, double discount = kDiscount) noexcept {
    const double loop = closed_loop(k0, k1), shrink = 1.0 - discount * loop * loop;
    if (!(shrink > 0.0)) return std::numeric_limits<double>::infinity();
    return (1.0 + kCost[0] * k0 * k0 + kCost[1] * k1 * k1) / shrink;
  }
  /// Expected discounted return of an endless episode under u_i = -k_i x + `exploration` times a standard
  /// normal number, within unlimited bounds; -infinity when it diverges. `discount` in [0, 1).
  static constexpr double expected_return(double k0, double k1, double exploration = 0.0,
                                          double discount = kDiscount) noexcept {
    const double p = curvature(k0, k1, discount), variance = exploration * exploration;
    const double moved = kNoiseVariance + (kGain[0] * kGain[0] + kGain[1] * kGain[1]) * variance;
    const double constant = ((kCost[0] + kCost[1]) * variance + discount * p * moved) / (1.0 - discount);
    return -(p / 3.0 + constant);  // E x0^2 = 1/3
  }

 private:
  static constexpr double kNoise = 0.1;  // its square is kNoiseVariance

  LinearQuadraticConfig config_;
  Random random_;
  double x_ = 0.0;
};

static_assert(Game<LinearQuadraticTeam>);

}  // namespace mara
