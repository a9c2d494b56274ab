// The PPO family where one agent alone must learn: to repeat what it sees, and to remember it.
#include <cstdio>

#include "catch.hpp"
#include "learning/team_ppo_helpers.hpp"
#include "mara/environment/cue_recall.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/switch_riddle.hpp"
#include "sanitized.hpp"

using namespace mara;
using namespace mara::test;

namespace {
constexpr std::uint64_t kSeeds = 5;
}

TEST_CASE("team ppo: identity with the settings of Stable-Baselines3", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = same_game(IdentityGame());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    IppoTrainer::Config config;
    config.seed = seed;
    config.environments = 1;
    config.rollout_steps = 256;
    config.minibatch_steps = 64;
    config.epochs = 4;
    config.gamma = 0.4, config.lambda = 0.95;
    config.learning_rate = config.critic_learning_rate = 2e-3;
    config.max_gradient_norm = 0.5;
    config.advantages = AdvantageScope::kMinibatch;
    config.normalise_values = false;
    config.value_clip = config.huber_delta = 0.0;
    config.entropy_initial = config.entropy_final = 0.0;
    config.actor.network.activation = config.critic.network.activation = Activation::kTanh;
    config.actor.network.output_gain = 0.01f;
    const auto trainer = trained<IppoTrainer>(config, make, 1200);
    CAPTURE(seed);
    CHECK(evaluated(*trainer, make) >= 90.0);
  }
}

TEST_CASE("team ppo: cue recall needs memory", "[team_ppo][games]") {
  if (mara::test::kSanitized) return;
  const GameMaker make = same_game(CueRecall());
  for (const Recurrence kind : {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm})
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      auto config = small_config<TeamMappoTrainer>();
      config.seed = seed;
      config.rollout_steps = 60;
      config.sequence_steps = 12;  // two episodes
      config.minibatch_steps = 240;
      config.epochs = 5;
      config.actor.network.hidden = {16};
      config.actor.network.recurrence = kind;
      config.actor.network.memory_units = 16;
      config.critic.network.hidden = {32};
      const auto trainer = trained<TeamMappoTrainer>(config, make, 20'000);
      const double reached = evaluated(*trainer, make, 64);
      CAPTURE(seed, static_cast<int>(kind));
      if (kind == Recurrence::kNone)
        CHECK(std::abs(reached) <= 0.5);  // 64 coins: 4 standard errors
      else
        CHECK(reached == Approx(1.0));
    }
}
