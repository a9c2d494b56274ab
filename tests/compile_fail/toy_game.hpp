#pragma once
// A game that fulfils its concept; the game_*.cpp break it.

#include "mara/environment/any_game.hpp"
#include "mara/environment/fixed_team.hpp"

namespace toy {

/// Two agents, two options, one step.
class TwoAgents : public mara::FixedTeam {
 public:
  TwoAgents() : FixedTeam(mara::GameShape{2, 1, 1, mara::ActionShape::discrete(2)}) {}
  mara::Status reset(std::uint64_t) {
    begin();
    return {};
  }
  void observe(float* rows) const { rows[0] = rows[1] = 1.0f; }
  void global_state(float* row) const { *row = 1.0f; }
  mara::StepOutcome step() { return finish_shared(1.0, true, false); }
};

}  // namespace toy
