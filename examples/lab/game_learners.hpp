#pragma once
// From options to learners of games.

#include "game_options.hpp"
#include "mara/environment/any_game.hpp"
#include "mara/learning/any_trainer.hpp"

namespace lab {

/// The game that the learner plays: `ppo` and `dqn` see a team as one agent (JointGame), the others the game
/// itself. Errors: an unknown name.
mara::Result<mara::GameMaker> game_for(const TrainOptions& options);

/// The learner of the options with seed `seed`. Errors name the option.
mara::Result<mara::AnyTrainer> make_trainer(const TrainOptions& options, const mara::GameMaker& make,
                                            std::uint64_t seed, int threads);

}  // namespace lab
