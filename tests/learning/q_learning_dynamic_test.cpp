// Value learners where time matters: a controlled queue, a long identity task, memory.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "mara/environment/cue_recall.hpp"
#include "mara/environment/dynamic_allocation_game.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/joint_game.hpp"
#include "q_learning_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Dyn = DynamicAllocationGame;

/// Exact values of the greedy policy of a trainer, by evaluating it in all nine states.
template <class Trainer>
Dyn::Values exact_values(const Trainer& trainer) {
  std::array<Dyn::Values, 2> request{};
  for (std::size_t state = 0; state < Dyn::kStates; ++state) {
    std::vector<float> seen(2 * Dyn::kStates);
    seen[state] = seen[Dyn::kStates + state] = 1.0f;
    const std::vector<float> values = agent_values(trainer, seen);
    for (std::size_t i = 0; i < 2; ++i) request[i][state] = values[2 * i + 1] > values[2 * i] ? 1.0 : 0.0;
  }
  return Dyn::values(Dyn::joint_policy(request));
}

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

template <class M>
Dyn::Values learnt_values(const QLearningConfig& config, std::int64_t env_steps, int episode) {
  const GameMaker make = [episode](int) { return AnyGame(Dyn({.steps = episode})); };
  auto trainer = QTrainer<M>::create(config, make).value();
  train(*trainer, env_steps);
  return exact_values(*trainer);
}

/// Within 1 % of the best value from empty and from full queues.
void check_best(const Dyn::Values& values) {
  CHECK(std::fabs(values[0] + 3.116164) < 0.01 * 3.116164);
  CHECK(std::fabs(values[8] + 11.883951) < 0.01 * 11.883951);
}

}  // namespace

TEST_CASE("two queues, one server: learners reach the best value, whatever the time limit", "[learning]") {
  if (kSanitized) return;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const int episode : {50, 10}) {
      INFO("seed " << seed << ", episodes of " << episode << " steps");
      check_best(learnt_values<critic::NoMixing>(queue_config(seed), 48000, episode));
      check_best(learnt_values<critic::SumMixing>(queue_config(seed), 48000, episode));
    }
}

TEST_CASE("two queues, one server: QMIX", "[learning]") {
  if (kSanitized) return;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config = queue_config(seed);
    config.updates = 2;
    config.mixer.width = 32;
    config.learning_rate = 5e-3;
    config.target_tau = 0.03;
    check_best(learnt_values<critic::MonotonicMixing>(config, 96000, 50));
  }
}

TEST_CASE("two queues, one server: one agent that decides for both", "[learning]") {
  if (kSanitized) return;
  const GameMaker make = [](int) {
    return AnyGame(JointGame::create(AnyGame(Dyn({.steps = 50})), JointAction::kFlat).value());
  };
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    auto trainer = QTrainer<critic::NoMixing>::create(queue_config(seed), make).value();
    train(*trainer, 48000);
    Dyn::JointPolicy policy{};
    for (std::size_t state = 0; state < Dyn::kStates; ++state) {
      std::vector<float> seen(2 * Dyn::kStates);
      seen[state] = seen[Dyn::kStates + state] = 1.0f;
      const std::vector<float> values = agent_values(*trainer, seen);
      policy[state][static_cast<std::size_t>(std::max(0, masked_mode(values.data(), 4, 15u)))] = 1.0;
    }
    check_best(Dyn::values(policy));
  }
}

TEST_CASE("a sum of values is biased, and still chooses well", "[learning]") {
  if (kSanitized) return;
  // The fixed point of the sum under uniform exploration: Q_tot(0, 0) = -10.713232 at the preferred options.
  const GameMaker make = maker_of(Dyn({.steps = 50}));
  QLearningConfig config = queue_config(1);
  config.replay_pieces = 100000;
  auto trainer = QTrainer<critic::SumMixing>::create(config, make).value();
  train(*trainer, 100000);
  std::vector<float> seen(2 * Dyn::kStates), state(Dyn::kStates);
  seen[0] = seen[Dyn::kStates] = state[0] = 1.0f;
  const std::vector<float> values = agent_values(*trainer, seen);
  const std::vector<int> best{masked_mode(values.data(), 2, 3u), masked_mode(values.data() + 2, 2, 3u)};
  CHECK(std::fabs(team_value(*trainer, seen, state, best) + 10.713232) < 0.5);
}

TEST_CASE("identity task: DQN passes 90 of 100 within 1,200 steps", "[learning]") {
  const GameMaker make = maker_of(IdentityGame());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config;
    config.seed = seed;
    config.gamma = 0.4;
    config.learning_rate = 2e-3;
    config.learning_start = 100;
    config.target_period = 50;
    config.team.network.hidden = {64};
    config.epsilon = EpsilonSchedule::linear(1.0, 0.05, 600);
    auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
    train(*trainer, 1200);
    CHECK(greedy_return(*trainer, make, 4) > 90.0);
  }
}

TEST_CASE("identity task: dueling, prioritised, n-step, RMSprop", "[learning]") {
  const GameMaker make = maker_of(IdentityGame());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config;
    config.seed = seed;
    config.gamma = 0.4;
    config.learning_rate = 2e-3;
    config.learning_start = 100;
    config.sequence_steps = 5;
    config.collect_steps = 5;
    config.updates = 5;
    config.n_step = 3;
    config.huber = 1.0;
    config.priority_alpha = 0.6;
    config.priority_beta_steps = 1000;
    config.optimiser = OptimiserKind::kRmsProp;
    config.target_tau = 0.05;
    config.team.network.hidden = {64};
    config.team.network.dueling = true;
    config.epsilon = EpsilonSchedule::linear(1.0, 0.05, 1000);
    auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
    train(*trainer, 3000);
    CHECK(greedy_return(*trainer, make, 4) > 90.0);
  }
}

TEST_CASE("cue recall: memory earns 1, none earns 0", "[learning]") {
  const GameMaker make = maker_of(CueRecall());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const Recurrence recurrence : {Recurrence::kGru, Recurrence::kLstm, Recurrence::kNone}) {
      INFO("seed " << seed << ", recurrence " << static_cast<int>(recurrence));
      QLearningConfig config;
      config.seed = seed;
      config.environments = 4;
      config.collect_steps = 6;
      config.sequence_steps = 6;
      config.replay_pieces = 2000;
      config.learning_rate = 3e-3;
      config.target_period = 50;
      config.team.network.hidden = {16};
      config.team.network.recurrence = recurrence;
      config.team.network.memory_units = 16;
      config.epsilon = EpsilonSchedule::linear(1.0, 0.1, 4000);
      auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
      train(*trainer, 12000);
      const double earned = greedy_return(*trainer, make, 200);
      if (recurrence == Recurrence::kNone) {
        CHECK(std::fabs(earned) < 0.25);
      } else {
        CHECK(earned == 1.0);
      }
    }
}

TEST_CASE("cue recall in pieces shorter than the episode: stored memory and burn-in", "[learning]") {
  const GameMaker make = maker_of(CueRecall());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    QLearningConfig config;
    config.seed = seed;
    config.environments = 4;
    config.collect_steps = 6;
    config.sequence_steps = 4;
    config.burn_in = 1;
    config.replay_pieces = 1000;
    config.learning_rate = 3e-3;
    config.target_period = 50;
    config.team.network.hidden = {16};
    config.team.network.recurrence = Recurrence::kGru;
    config.team.network.memory_units = 16;
    config.epsilon = EpsilonSchedule::linear(1.0, 0.1, 4000);
    auto trainer = QTrainer<critic::NoMixing>::create(config, make).value();
    train(*trainer, 16000);
    CHECK(greedy_return(*trainer, make, 200) == 1.0);
  }
}
