// From options to learners of games: the games, and which family a learner belongs to.

#include "game_learners.hpp"

#include <utility>

#include "game_families.hpp"
#include "mara/environment/game_registry.hpp"
#include "mara/environment/joint_game.hpp"

namespace lab {
namespace {

bool joint(LearnerName learner) {
  return learner == LearnerName::kPpo || learner == LearnerName::kDqn;
}

}  // namespace

mara::Result<mara::GameMaker> game_for(const TrainOptions& options) {
  auto made = mara::make_game(options.env);
  if (!made) return mara::Error{made.error().code, "--env: " + made.error().message};
  if (!joint(options.learner) || (*made)(0).shape().agents == 1) return made;
  const auto kind =
      options.learner == LearnerName::kDqn ? mara::JointAction::kFlat : mara::JointAction::kHeads;
  if (auto possible = mara::JointGame::create((*made)(0), kind); !possible)
    return mara::Error{possible.error().code, "--learner: " + possible.error().message};
  return mara::GameMaker([inner = std::move(*made), kind](int i) {
    return mara::AnyGame(mara::JointGame::create(inner(i), kind).value());
  });
}

mara::Result<mara::AnyTrainer> make_trainer(const TrainOptions& options, const mara::GameMaker& make,
                                            std::uint64_t seed, int threads) {
  switch (options.learner) {
    case LearnerName::kPpo:
    case LearnerName::kIppo:
    case LearnerName::kMappo:
      return make_ppo(options, make, seed, threads);
    case LearnerName::kDqn:
    case LearnerName::kIql:
    case LearnerName::kVdn:
    case LearnerName::kQmix:
    case LearnerName::kOwQmix:
    case LearnerName::kMaddpg:
      break;
  }
  if (options.critic)
    return mara::Error{mara::ErrorCode::kInvalidArgument,
                       "--critic: only ippo and mappo have a choice of critics"};
  return options.learner == LearnerName::kMaddpg ? make_maddpg(options, make, seed, threads)
                                                 : make_q(options, make, seed, threads);
}

}  // namespace lab
