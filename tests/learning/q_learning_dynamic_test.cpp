// Value learners where time matters: a controlled queue, a long identity task, memory.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/environment/cue_recall.hpp"
#include "mara/environment/dynamic_allocation_game.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/joint_game.hpp"
#include "mara/learning/exact_evaluation.hpp"
#include "q_learning_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Dyn = DynamicAllocationGame;

QLearningConfig queue_config(std::uint64_t seed) {
  QLearningConfig config = small_q_config(seed);
  config.gamma = 0.9;
  config.environments = 16;
  config.replay_pieces = 20000;
  config.batch = 128;
  config.learning_rate = 2e-3;
  config.learning_start = 1000;
  config.target_tau = 0.01;
  config.mixer.width = 16;
  config.team.network.hidden = {32};
  return config;
}

/// Two agents, or one that decides for both.
GameMaker queues(int episode) {
  return maker_of(Dyn({.steps = episode}));
}
GameMaker joint_queues(int episode) {
  return [episode](int) {
    return AnyGame(JointGame::create(AnyGame(Dyn({.steps = episode})), JointAction::kFlat).value());
  };
}

/// Trains and checks that the greedy policy is within 1 % of the best value from empty and from full queues,
/// exactly evaluated.
template <class M>
void check_best(const QLearningConfig& config, std::int64_t env_steps, const GameMaker& make) {
  auto trainer = QTrainer<M>::create(config, make).value();
  train(*trainer, env_steps);
  auto policy = trainer->policy(trainer->target_parameters());
  const Dyn::Values values = dynamic_allocation_values(policy, make(0).shape()).value();
  CHECK(std::fabs(values[0] + 3.116164) < 0.01 * 3.116164);
  CHECK(std::fabs(values[8] + 11.883951) < 0.01 * 11.883951);
}

QLearningConfig identity_config(std::uint64_t seed) {
  QLearningConfig config;
  config.seed = seed;
  config.gamma = 0.4;
  config.learning_rate = 2e-3;
  config.learning_start = 100;
  config.team.network.hidden = {64};
  return config;
}

/// Mean return, without exploration, of a DQN that has learnt for `env_steps`.
double learnt_return(const QLearningConfig& config, const GameMaker& make, std::int64_t env_steps,
                     std::size_t episodes) {
  auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
  train(*trainer, env_steps);
  return greedy_return(*trainer, make, episodes);
}

}  // namespace

TEST_CASE("two queues, one server: learners reach the best value, whatever the time limit", "[learning]") {
  if (kSanitized) return;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const int episode : {50, 10}) {
      INFO("seed " << seed << ", episodes of " << episode << " steps");
      check_best<critic::NoMixing>(queue_config(seed), 48000, queues(episode));
      check_best<critic::SumMixing>(queue_config(seed), 48000, queues(episode));
    }
}

TEST_CASE("two queues, one server: QMIX, and one agent that decides for both", "[learning]") {
  if (kSanitized) return;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    check_best<critic::NoMixing>(queue_config(seed), 48000, joint_queues(50));
    QLearningConfig config = queue_config(seed);
    config.updates = 2;
    config.mixer.width = 32;
    config.learning_rate = 5e-3;
    config.target_tau = 0.03;
    check_best<critic::MonotonicMixing>(config, 96000, queues(50));
  }
}

TEST_CASE("a sum of values is biased, and still chooses well", "[learning]") {
  if (kSanitized) return;
  // The fixed point of the sum under uniform exploration: Q_tot(0, 0) = -10.713232 at the preferred options.
  QLearningConfig config = queue_config(1);
  config.replay_pieces = 100000;
  auto trainer = QTrainer<critic::SumMixing>::create(config, queues(50)).value();
  train(*trainer, 100000);
  std::vector<float> seen(2 * Dyn::kStates), state(Dyn::kStates);
  seen[0] = seen[Dyn::kStates] = state[0] = 1.0f;
  const std::vector<float> values = agent_values(*trainer, seen);
  const std::vector<int> best{masked_mode(values.data(), 2, 3u), masked_mode(values.data() + 2, 2, 3u)};
  CHECK(std::fabs(team_value(*trainer, seen, state, best) + 10.713232) < 0.5);
}

TEST_CASE("identity task: DQN passes 90 of 100 within 1,200 steps", "[learning]") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config = identity_config(seed);
    config.target_period = 50;
    config.epsilon = EpsilonSchedule::linear(1.0, 0.05, 600);
    CHECK(learnt_return(config, maker_of(IdentityGame()), 1200, 4) > 90.0);
  }
}

TEST_CASE("identity task: dueling, prioritised, n-step, RMSprop", "[learning]") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config = identity_config(seed);
    config.sequence_steps = 5;
    config.collect_steps = 5;
    config.updates = 5;
    config.n_step = 3;
    config.huber = 1.0;
    config.priority_alpha = 0.6;
    config.priority_beta_steps = 1000;
    config.optimiser = OptimiserKind::kRmsProp;
    config.target_tau = 0.05;
    config.team.network.dueling = true;
    config.epsilon = EpsilonSchedule::linear(1.0, 0.05, 1000);
    CHECK(learnt_return(config, maker_of(IdentityGame()), 3000, 4) > 90.0);
  }
}

TEST_CASE("cue recall: memory earns 1, none earns 0", "[learning]") {
  struct Case {
    Recurrence recurrence;
    std::int64_t env_steps;
    std::size_t sequence_steps, burn_in, replay_pieces;
  };
  for (const Case& c : {Case{Recurrence::kGru, 12000, 6, 0, 2000}, Case{Recurrence::kLstm, 12000, 6, 0, 2000},
                        Case{Recurrence::kNone, 12000, 6, 0, 2000},
                        // Pieces shorter than the episode: stored memory and burn-in.
                        Case{Recurrence::kGru, 16000, 4, 1, 1000}})
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      INFO("seed " << seed << ", recurrence " << static_cast<int>(c.recurrence) << ", pieces of "
                   << c.sequence_steps << " steps");
      QLearningConfig config;
      config.seed = seed;
      config.environments = 4;
      config.collect_steps = 6;
      config.sequence_steps = c.sequence_steps;
      config.burn_in = c.burn_in;
      config.replay_pieces = c.replay_pieces;
      config.learning_rate = 3e-3;
      config.target_period = 50;
      config.team.network.hidden = {16};
      config.team.network.recurrence = c.recurrence;
      config.team.network.memory_units = 16;
      config.epsilon = EpsilonSchedule::linear(1.0, 0.1, 4000);
      const double earned = learnt_return(config, maker_of(CueRecall()), c.env_steps, 200);
      if (c.recurrence == Recurrence::kNone) {
        CHECK(std::fabs(earned) < 0.25);
      } else {
        CHECK(earned == 1.0);
      }
    }
}
