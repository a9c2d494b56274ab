#pragma once
// From options to learners of games.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

#include "mara/environment/any_game.hpp"
#include "mara/learning/any_trainer.hpp"
#include "train_options.hpp"

namespace lab {

/// A learner as options make it, before it begins.
struct Learner {
  nlohmann::ordered_json configuration{};  ///< every hyper-parameter by name, the seed and threads apart
  std::int64_t round_steps = 0;            ///< environment steps of one round
  std::function<mara::Result<mara::AnyTrainer>(std::uint64_t seed, int threads)> begin{};
};

/// The game that the learner plays: `ppo` and `dqn` see a team as one agent (JointGame), the others the game
/// itself. Errors: an unknown name.
mara::Result<mara::GameMaker> game_for(const TrainOptions& options);

/// The learner of the options. `schedule_steps`: environment steps over which its schedules run. Errors name
/// the option, such as one that this learner does not have.
mara::Result<Learner> learner_for(const TrainOptions& options, const mara::GameMaker& make,
                                  std::int64_t schedule_steps);

}  // namespace lab
