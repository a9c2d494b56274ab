// From options to learners of games: the games, and which family a learner belongs to.

#include "game_learners.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "game_families.hpp"
#include "mara/environment/game_registry.hpp"
#include "mara/environment/joint_game.hpp"

namespace lab {
namespace {

bool joint(LearnerName learner) {
  return learner == LearnerName::kPpo || learner == LearnerName::kDqn;
}

enum class Family : std::uint8_t { kPpo = 1, kQ = 2, kMaddpg = 4 };

Family family_of(LearnerName learner) {
  switch (learner) {
    case LearnerName::kPpo:
    case LearnerName::kIppo:
    case LearnerName::kMappo:
      return Family::kPpo;
    case LearnerName::kMaddpg:
      return Family::kMaddpg;
    case LearnerName::kDqn:
    case LearnerName::kIql:
    case LearnerName::kVdn:
    case LearnerName::kQmix:
    case LearnerName::kOwQmix:
      break;
  }
  return Family::kQ;
}

/// Refuses an option that the learner does not have.
mara::Status check_family(const TrainOptions& o) {
  constexpr unsigned kPpo = 1, kQ = 2, kMaddpg = 4;
  struct Rule {
    const char* option;
    bool given;
    unsigned families;
  };
  const Rule rules[] = {{"critic", o.critic.has_value(), kPpo},
                        {"lambda", o.lambda.has_value(), kPpo | kQ},
                        {"sequence-steps", o.sequence_steps.has_value(), kPpo | kQ},
                        {"updates", o.updates.has_value(), kQ | kMaddpg},
                        {"epochs", o.epochs.has_value(), kPpo},
                        {"clip", o.clip.has_value(), kPpo},
                        {"entropy", o.entropy.has_value(), kPpo},
                        {"replay", o.replay.has_value(), kQ | kMaddpg},
                        {"n-step", o.n_step.has_value(), kQ},
                        {"dueling", o.dueling, kQ},
                        {"epsilon-end", o.epsilon_end.has_value(), kQ},
                        {"epsilon-steps", o.epsilon_steps.has_value(), kQ},
                        {"target-period", o.target_period.has_value(), kQ},
                        {"tau", o.tau.has_value(), kQ | kMaddpg}};
  const auto family = static_cast<unsigned>(family_of(o.learner));
  for (const Rule& rule : rules) {
    if (!rule.given || (rule.families & family) != 0) continue;
    std::string have;
    for (const auto& [value, name] : mara::EnumNames<LearnerName>::kNames)
      if ((static_cast<unsigned>(family_of(value)) & rule.families) != 0)
        have += (have.empty() ? "" : ", ") + std::string(name);
    return mara::Error{mara::ErrorCode::kInvalidArgument, std::string("--") + rule.option + ": the learner " +
                                                              std::string(mara::enum_name(o.learner)) +
                                                              " has no such option; " + have + " have"};
  }
  return {};
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

mara::Result<Learner> learner_for(const TrainOptions& options, const mara::GameMaker& make,
                                  std::int64_t schedule_steps) {
  if (const mara::Status known = check_family(options); !known) return known.error();
  switch (family_of(options.learner)) {
    case Family::kPpo:
      return ppo_learner(options, make, schedule_steps);
    case Family::kQ:
      return q_learner(options, make, schedule_steps);
    case Family::kMaddpg:
      return maddpg_learner(options, make);
  }
  return mara::Error{mara::ErrorCode::kInvalidArgument, "--learner: there is no such learner"};
}

}  // namespace lab
