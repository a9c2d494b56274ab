#pragma once
// Trying what does not look best: epsilon-greedy options with their schedules, noise on numbers and
// parameters.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "mara/action/action_shape.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/core/libm.hpp"
#include "mara/core/portable_math.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// How a schedule goes from its start to its finish.
enum class ScheduleKind : std::uint8_t { kConstant, kLinear, kExponential };

/// Probability of a random option as a function of the environment steps done so far. The default is that of
/// PyMARL (Samvelyan et al., "The StarCraft Multi-Agent Challenge", 2019, appendix) and EPyMARL: linear from
/// 1 to 0.05 within 50,000 steps.
struct EpsilonSchedule {
  ScheduleKind kind = ScheduleKind::kLinear;
  double start = 1.0, finish = 0.05;   ///< in [0, 1]; kConstant: start at all times
  std::uint64_t anneal_steps = 50000;  ///< when finish is reached, and then kept

  static EpsilonSchedule constant(double epsilon) { return {ScheduleKind::kConstant, epsilon, epsilon, 0}; }
  static EpsilonSchedule linear(double start, double finish, std::uint64_t steps) {
    return {ScheduleKind::kLinear, start, finish, steps};
  }
  /// start (finish / start)^(t / steps): the same share is lost in every step.
  static EpsilonSchedule exponential(double start, double finish, std::uint64_t steps) {
    return {ScheduleKind::kExponential, start, finish, steps};
  }
  /// The DQN of Mnih et al., "Human-level control through deep reinforcement learning", Nature 2015, table 1.
  static EpsilonSchedule nature_dqn() { return linear(1.0, 0.1, 1000000); }

  /// Errors (kInvalidArgument) name the field: start or finish outside [0, 1]; of kExponential not above 0.
  Status check() const {
    const auto wrong = [&](double x) {
      return !(x >= 0.0 && x <= 1.0) || (kind == ScheduleKind::kExponential && !(x > 0.0));
    };
    const auto bad = [&](const char* name, double x) {
      return Error{ErrorCode::kInvalidArgument,
                   std::string("epsilon ") + name + " = " + std::to_string(x) + ", not in " +
                       (kind == ScheduleKind::kExponential ? "(0, 1]" : "[0, 1]")};
    };
    if (kind > ScheduleKind::kExponential)
      return Error{
          ErrorCode::kInvalidArgument,
          std::string("epsilon kind = ") + std::to_string(static_cast<int>(kind)) + ", there is no such"};
    if (wrong(start)) return bad("start", start);
    if (wrong(finish)) return bad("finish", finish);
    return {};
  }

  /// Epsilon after `steps` environment steps; exactly start at 0 and finish from anneal_steps on.
  double at(std::uint64_t steps) const noexcept {
    if (kind == ScheduleKind::kConstant) return start;
    if (steps >= anneal_steps) return finish;
    const double share = static_cast<double>(steps) / static_cast<double>(anneal_steps);
    if (kind == ScheduleKind::kLinear) return start + (finish - start) * share;
    return start * portable_exp(share * portable_log(finish / start));
  }
};

/// With probability epsilon a legal option, each as likely as the others (the best one too), else the legal
/// option with the largest q (lowest index among equals). q.size() <= 32. -1, and no word of `random`, when
/// no option is legal or the q of a legal one is not finite; else two words for the coin, also when epsilon
/// is 0, and mostly one more for the option.
inline int epsilon_greedy(std::span<const float> q, OptionMask mask, double epsilon,
                          Random& random) noexcept {
  const auto options = static_cast<int>(q.size());
  const int best = masked_mode(q.data(), options, mask);
  if (best < 0 || !(random.uniform() < epsilon)) return best;
  OptionMask legal = detail::masked_options(mask, options);
  for (auto skip = random.below(static_cast<std::uint32_t>(std::popcount(legal))); skip > 0; --skip)
    legal &= legal - 1;
  return std::countr_zero(legal);
}

/// Normal noise on the numbers of an action, in units of half the width of their bounds.
struct GaussianNoise {
  double deviation = 0.1;                                  ///< >= 0; 0: none
  double limit = std::numeric_limits<double>::infinity();  ///< noise is cut to [-limit, limit]

  /// What TD3 explores with: N(0, 0.1) (Fujimoto, van Hoof and Meger, "Addressing Function Approximation
  /// Error in Actor-Critic Methods", ICML 2018, section 6.1).
  static GaussianNoise exploration() { return {}; }
  /// What TD3 smooths its targets with: N(0, 0.2) cut to [-0.5, 0.5] (the same, section 5.3).
  static GaussianNoise target_smoothing() { return {0.2, 0.5}; }

  /// Errors (kInvalidArgument) name the field: a deviation that is negative or not finite, a limit that is
  /// negative or NaN.
  Status check() const {
    if (!(deviation >= 0.0) || !libm::isfinite(deviation))
      return Error{ErrorCode::kInvalidArgument, std::string("noise deviation = ") +
                                                    std::to_string(deviation) + ", negative or not finite"};
    if (!(limit >= 0.0))
      return Error{ErrorCode::kInvalidArgument,
                   std::string("noise limit = ") + std::to_string(limit) + ", not 0 or above"};
    return {};
  }

  /// numbers[box.size()], within their bounds, get noise and are cut to the bounds. Two words of `random` for
  /// each, also when the deviation is 0.
  template <class S>
  void add(std::span<const ActionBounds> box, Random& random, S* numbers) const noexcept {
    for (std::size_t k = 0; k < box.size(); ++k) {
      const double low = static_cast<double>(box[k].low), high = static_cast<double>(box[k].high);
      const double z = deviation * random.normal();
      const double noise = z < -limit ? -limit : z > limit ? limit : z;
      const double x = static_cast<double>(numbers[k]) + 0.5 * (high - low) * noise;
      numbers[k] = static_cast<S>(x < low ? low : x > high ? high : x);
    }
  }
};

/// Noise on the parameters of an actor, off by default (Plappert et al., "Parameter Space Noise for
/// Exploration", ICLR 2018): `deviation` is steered so that perturbed actions are `target` away from those of
/// the actor itself; between options the distance is the share of agents that would choose otherwise.
struct ParameterNoise {
  double deviation = 0.0;  ///< of the normal numbers added to every parameter; 0: off, and it stays off
  double target = 0.1;     ///< wanted distance between actions, root mean square
  double growth = 1.01;    ///< factor of one adaptation, > 1
  /// Environment steps, all environments together, that are played with one draw: about an episode of each.
  std::int64_t period = 200;

  /// Errors (kInvalidArgument) name the field.
  Status check() const {
    const auto bad = [](const char* field, double value, const char* rule) {
      return Error{ErrorCode::kInvalidArgument,
                   std::string("parameter noise: ") + field + " = " + std::to_string(value) + " " + rule};
    };
    if (!(deviation >= 0.0) || !(deviation < std::numeric_limits<double>::infinity()))
      return bad("deviation", deviation, "must not be negative");
    if (!(target > 0.0)) return bad("target", target, "must be positive");
    if (!(growth > 1.0) || !(growth < std::numeric_limits<double>::infinity()))
      return bad("growth", growth, "must be above 1");
    if (period < 1) return bad("period", static_cast<double>(period), "must be at least 1");
    return {};
  }
  /// After measuring the distance between actions (their section 3, eq. 4); NaN changes nothing.
  void adapt(double distance) noexcept {
    if (distance < target) deviation *= growth;
    if (distance > target) deviation /= growth;
  }
  /// Adds noise to a parameter as visit() of a network shows it; for a copy of the storage. Two words of
  /// `random` for each number, none when off.
  template <class View>
  void perturb(View parameter, Random& random) const noexcept {
    if (deviation == 0.0) return;
    for (std::size_t r = 0; r < parameter.rows; ++r)
      for (std::size_t c = 0; c < parameter.cols; ++c) {
        auto& x = parameter.at(r, c);
        x += static_cast<typename View::Value>(deviation * random.normal());
      }
  }
};

}  // namespace mara
