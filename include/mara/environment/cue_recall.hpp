#pragma once
// Remember a number for five steps.

#include <cstddef>
#include <cstdint>

#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// One agent sees a cue of -1 or +1 at time 0 and zeros after. What it chooses at time 5 counts: option 1 for
/// the cue +1 and option 0 for -1 pay 1, the other -1; then terminated. Earlier choices change nothing.
/// Without memory no policy earns more than 0 on average; with memory 1. (The simplest of the T-maze tasks of
/// Bakker, "Reinforcement learning with long short-term memory", NIPS 2001.) Observation [1]: the cue at time
/// 0, then 0. Global state [2]: the cue (always), time / 5. Rewards: the same to the team and to the agent.
/// Fulfils Game.
class CueRecall : public FixedTeam {
 public:
  static constexpr int kDelay = 5;  ///< time of the choice that counts

  CueRecall() : FixedTeam(GameShape{1, 1, 2, ActionShape::discrete(2)}) {}

  Status reset(std::uint64_t seed) {
    cue_ = Random(seed, 0x637565u).below(2) == 0 ? -1.0f : 1.0f;
    begin();
    return {};
  }
  void observe(float* rows) const noexcept { *rows = present(0) && steps() == 0 ? cue_ : 0.0f; }
  void global_state(float* row) const noexcept {
    row[0] = cue_;
    row[1] = static_cast<float>(steps()) / static_cast<float>(kDelay);
  }
  StepOutcome step() {
    if (over()) return nothing();
    if (steps() < kDelay) return finish_shared(0.0, false, false);
    return finish_shared((option(0) == 1) == (cue_ > 0.0f) ? 1.0 : -1.0, true, false);
  }

 private:
  float cue_ = 1.0f;
};

static_assert(Game<CueRecall>);

}  // namespace mara
