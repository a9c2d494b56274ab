#pragma once
// Say what you see: the first thing that a learner must be able to learn.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// What is to be repeated, and for how long.
struct IdentityConfig {
  ActionShape action = ActionShape::discrete(4);  ///< any: discrete, multi-discrete, box, hybrid
  int steps = 100;                                ///< truncated after so many, at least 1
  float tolerance = 0.05f;                        ///< within which a number counts as right, not negative
};

/// One agent sees an action, drawn uniformly anew in each step, and earns 1 for doing just that, else 0.
/// Truncated after config.steps (the identity environments of Stable-Baselines3, Raffin et al. 2021, in one
/// class). Observation [options of all heads + numbers] and global state (the same): one-hot of the wanted
/// option of each head, then the wanted numbers. Rewards: the same to the team and to the agent. Fulfils
/// Game.
class IdentityGame : public FixedTeam {
 public:
  explicit IdentityGame(IdentityConfig config = {})
      : FixedTeam(check_action_shape(config.action)
                      ? GameShape{1, config.action.outputs(), config.action.outputs(), config.action}
                      : GameShape{}),
        config_(std::move(config)),
        random_(0) {}

  /// Errors: a bad action shape, steps below 1, a tolerance that is negative or no number.
  Status reset(std::uint64_t seed) {
    if (const Status good = check_action_shape(config_.action); !good) return good;
    if (config_.steps < 1)
      return bad("identity", "steps", std::to_string(config_.steps), "at least 1 is needed");
    if (!(config_.tolerance >= 0.0f))
      return bad("identity", "tolerance", std::to_string(config_.tolerance), "not a number from 0 on");
    random_ = Random(seed, 0x6964656eu);
    begin();
    draw();
    return {};
  }
  void observe(float* rows) const noexcept { write(rows, present(0)); }
  void global_state(float* row) const noexcept { write(row, true); }
  StepOutcome step() {
    if (over()) return nothing();
    bool right = true;
    for (std::size_t h = 0; h < wanted_.size(); ++h) right = right && option(0, h) == wanted_[h];
    for (std::size_t k = 0; k < numbers_wanted_.size(); ++k) {
      const double miss = number(0, k) - static_cast<double>(numbers_wanted_[k]);
      right = right && miss <= config_.tolerance && miss >= -config_.tolerance;
    }
    draw();
    return finish_shared(right ? 1.0 : 0.0, false, steps() + 1 >= config_.steps);
  }

 private:
  void draw() {
    wanted_.clear();
    numbers_wanted_.clear();
    for (const int options : config_.action.heads)
      wanted_.push_back(static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(options))));
    for (const ActionBounds bounds : config_.action.box)
      numbers_wanted_.push_back(static_cast<float>(
          random_.uniform(static_cast<double>(bounds.low), static_cast<double>(bounds.high))));
  }
  void write(float* row, bool here) const noexcept {
    for (std::size_t h = 0; h < config_.action.heads.size(); ++h)
      for (int a = 0; a < config_.action.heads[h]; ++a)
        *row++ = here && h < wanted_.size() && a == wanted_[h] ? 1.0f : 0.0f;
    for (std::size_t k = 0; k < config_.action.box.size(); ++k)
      *row++ = here && k < numbers_wanted_.size() ? numbers_wanted_[k] : 0.0f;
  }

  IdentityConfig config_;
  Random random_;
  std::vector<std::int32_t> wanted_;
  std::vector<float> numbers_wanted_;
};

static_assert(Game<IdentityGame>);

}  // namespace mara
