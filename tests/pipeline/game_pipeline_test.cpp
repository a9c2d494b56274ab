// Pipelines whose learners are those of games: PPO with values of every kind, value decomposition, and the
// flow as guidance and as part of the state.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>

#include "mara/critic/centralised_values.hpp"
#include "mara/critic/independent_values.hpp"
#include "mara/critic/monotonic_mixing.hpp"
#include "mara/learning/q_learning_policy.hpp"
#include "mara/learning/team_ppo_policy.hpp"
#include "mara/simulation/simulate.hpp"
#include "pipeline_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Game3 = ClusterEnvironment<3>;
using ToyIppo =
    Pipeline<BitGame, ThreeOptions, critic::IndependentValues, guidance::None, learning::TeamPpo<16>>;
using ToyQmix =
    Pipeline<BitGame, ThreeOptions, critic::MonotonicMixing, guidance::None, learning::QLearning<16>>;
using Mappo3 =
    Pipeline<Game3, TieredRequest<3>, critic::CentralisedValues, guidance::None, learning::TeamPpo<16, 8>>;
using Guided = guidance::Combined<guidance::AllActionRegulariser, guidance::FlowState>;
using GuidedMappo3 =
    Pipeline<Game3, TieredRequest<3>, critic::CentralisedValues, Guided, learning::TeamPpo<16, 8>>;
using Qmix3 = Pipeline<Game3, TieredRequest<3>, critic::MonotonicMixing, guidance::FlowState,
                       learning::QLearning<16, 8>>;

// What fits together, and what does not.
static_assert(CriticFor<critic::CentralisedValues, BitGame> && CriticFor<critic::MonotonicMixing, BitGame>);
static_assert(!LearnerFor<learning::QLearning<8>, BitGame, critic::CentralisedValues, guidance::None>);
static_assert(!LearnerFor<learning::TeamPpo<8>, BitGame, critic::MonotonicMixing, guidance::None>);
static_assert(!LearnerFor<learning::TeamPpo<8>, BitGame, critic::CentralisedValues, guidance::FlowInput>);
static_assert(
    !LearnerFor<learning::QLearning<8>, BitGame, critic::MonotonicMixing, guidance::AllActionRegulariser>);
static_assert(!LearnerFor<learning::Mappo<8>, BitGame, critic::Centralised<8>, guidance::FlowState>);
static_assert(!LearnerFor<learning::Mappo<8>, BitGame, critic::CentralisedValues, guidance::None>);
static_assert(std::is_same_v<DeployedActor<3, Qmix3::Actor>, deploy::Actor<3, 16, 8>>);

ToyIppo::Config toy_ppo() {
  ToyIppo::Config config;
  config.environments = 8;
  config.rollout_steps = 20;
  config.total_steps = 160 * 40;
  config.learning_rate = config.critic_learning_rate = 5e-3;
  config.slots = 2;
  return config;
}

ToyQmix::Config toy_q() {
  ToyQmix::Config config;
  config.environments = 8;
  config.learning_start = 100;
  config.learning_rate = 5e-3;
  config.gamma = 0.5;
  config.mixer.width = 8;
  config.epsilon = EpsilonSchedule::linear(1.0, 0.1, 3000);
  config.slots = 2;
  return config;
}

/// Few steps of a small cluster.
template <class Config>
Config on_cluster() {
  Config config;
  config.environments = 3;
  config.episode_steps = 40;
  config.slots = 60;
  return config;
}
GuidedMappo3::Config cluster_ppo() {
  auto config = on_cluster<GuidedMappo3::Config>();
  config.rollout_steps = 16;
  config.epochs = 2;
  config.actor.network.activation = Activation::kTanh;
  return config;
}
Qmix3::Config cluster_q() {
  auto config = on_cluster<Qmix3::Config>();
  config.collect_steps = 4;
  config.learning_start = 24;
  config.replay_pieces = 100;
  config.mixer.width = 4;
  return config;
}

/// A field with random weights.
std::shared_ptr<const Qmix3::Flow> some_flow() {
  Random random(3);
  auto flow = std::make_shared<Qmix3::Flow>();
  flow->field = Qmix3::Flow::Field(random);
  return flow;
}

/// Share of the bits of 200 steps that the actor's best option hits.
template <class Actor>
double hits(const Actor& actor) {
  BitGame game(200);
  REQUIRE(game.reset(99));
  typename Actor::Workspace work;
  double reward = 0.0;
  for (int step = 0; step < 200; ++step) {
    float rows[4], values[6];
    game.observe(rows);
    actor.forward(rows, 2, values, work);
    for (const std::uint32_t agent : game.turn_order()) {
      const OptionMask mask = game.mask(agent);
      int best = -1;
      for (int a = 0; a < 3; ++a)
        if (((mask >> a) & 1u) != 0 && (best < 0 || values[3 * agent + static_cast<unsigned>(a)] >
                                                        values[3 * agent + static_cast<unsigned>(best)]))
          best = a;
      game.act(agent, best);
    }
    reward += static_cast<double>(game.step().team_reward);
  }
  return reward / 200.0;
}

std::string bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Trains with `config`, interrupted after `stop` steps and not, and compares everything that is saved.
template <class P>
void check_resumes(typename P::Config config, std::int64_t stop, std::int64_t steps) {
  const auto flow = some_flow();
  auto straight = P::create(config, small_cluster(), {}, flow).value();
  REQUIRE(straight.train(steps));
  const TemporaryPath file("mara_game_pipeline"), one("mara_game_pipeline_one"),
      other("mara_game_pipeline_other");
  {
    auto first = P::create(config, small_cluster(), {}, flow).value();
    REQUIRE(first.train(stop));
    REQUIRE(first.env_steps() < straight.env_steps());
    CHECK(actor_weights(first) != actor_weights(straight));
    REQUIRE(first.save(file.path));
  }
  config.threads = 2;
  auto second = P::create(config, small_cluster(), {}, flow).value();
  REQUIRE(second.load(file.path));
  REQUIRE(second.train(straight.env_steps() - second.env_steps()));
  CHECK(actor_weights(second) == actor_weights(straight));
  REQUIRE(straight.save(one.path));
  REQUIRE(second.save(other.path));
  CHECK(bytes(one.path) == bytes(other.path));
}

}  // namespace

TEST_CASE("pipelines of PPO for games and of value decomposition learn a game of their user", "[pipeline]") {
  auto ippo = ToyIppo::create(toy_ppo(), [](int) { return BitGame(10); }).value();
  CHECK(hits(ippo.actor()) < 0.9);
  REQUIRE(ippo.train(160 * 40));
  CHECK(hits(ippo.actor()) == 1.0);

  auto qmix = ToyQmix::create(toy_q(), [](int) { return BitGame(10); }).value();
  CHECK(hits(qmix.actor()) < 0.9);
  std::int64_t rounds = 0;
  REQUIRE(qmix.train(6000, [&](const TrainingReport& report) { rounds += report.updates > 0 ? 1 : 0; }));
  CHECK(rounds > 500);
  CHECK(hits(qmix.actor()) == 1.0);
}

TEST_CASE("the actor of a pipeline computes what the learner's network does", "[pipeline]") {
  auto pipeline = Qmix3::create(cluster_q(), small_cluster(), {}, some_flow()).value();
  REQUIRE(pipeline.train(200));
  const auto& trainer = pipeline.trainer().trainer();
  constexpr auto kSeen = static_cast<std::size_t>(Game3::kObservation),
                 kOptions = static_cast<std::size_t>(Game3::kOptions);
  CHECK(trainer.networks().team().slots() == 60);
  Random random(4);
  std::vector<float> rows(60 * kSeen), expected(60 * kOptions), got(60 * kOptions);
  for (float& x : rows) x = static_cast<float>(random.normal());
  AgentTeam::Workspace team_work;
  trainer.networks().team().step(trainer.weights().data(), rows.data(), 1, nullptr, nullptr, expected.data(),
                                 team_work);
  Qmix3::Actor::Workspace work;
  pipeline.actor().forward(rows.data(), 60, got.data(), work);
  double largest = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(std::fabs(got[i] - expected[i]) <= 1e-5f * (1.0f + std::fabs(expected[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
  }
  CHECK(largest > 0.1);

  // Deployed, it chooses as the network would: the schedules are the same job by job.
  const ClusterEnvironmentConfig game = small_cluster();
  auto deployed = pipeline.deploy(64).value();
  SequentialScheduler<3, NetworkHead<Qmix3::Actor::Inference>> reference(
      "reference", {pipeline.actor().inference(), 64}, {game.time_unit_s}, 64);
  const auto jobs = game.workload(77).value();
  const auto a = simulate(game.cluster, jobs, deployed, {}).value();
  const auto b = simulate(game.cluster, jobs, reference, {}).value();
  REQUIRE(a.records.size() == b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) CHECK(a.records[i].end_s == b.records[i].end_s);
}

TEST_CASE("the state carries the mean of the agents' flow vectors", "[pipeline]") {
  const auto flow = some_flow();
  FlowStateGame<Game3> game(Game3(small_cluster()), 60, flow);
  EnvironmentGame<Game3> plain(Game3(small_cluster()), 60);
  static_assert(Game<FlowStateGame<Game3>>);
  constexpr auto kSeen = static_cast<std::size_t>(Game3::kObservation),
                 kOptions = static_cast<std::size_t>(Game3::kOptions),
                 kState = static_cast<std::size_t>(Game3::kGlobalState);
  CHECK(game.shape().state == kState + kOptions);
  REQUIRE(game.reset(5));
  REQUIRE(plain.reset(5));
  Random random(6);
  Qmix3::Flow::Workspace work;
  int moments = 0;
  double largest = 0.0;
  for (StepOutcome outcome; !outcome.terminated && !outcome.truncated;) {
    std::vector<float> state(kState + kOptions), expected(kState + kOptions), seats(60 * kSeen);
    game.global_state(state.data());
    plain.global_state(expected.data());
    plain.observe(seats.data());
    const Game3& environment = plain.environment();
    std::vector<double> mean(kOptions);
    for (std::size_t slot = 0; slot < 60; ++slot) {  // agent by agent
      if (!plain.present(slot)) continue;
      const int current = environment.current_option(plain.agent(slot));
      const OptionMask possible = environment.possible(plain.agent(slot));
      float endpoint[kOptions];
      flow->endpoint(&seats[slot * kSeen], &current, &possible, 1, endpoint, work);
      for (std::size_t a = 0; a < kOptions; ++a)
        mean[a] += static_cast<double>(endpoint[a]) - (static_cast<int>(a) == current ? 1.0 : 0.0);
    }
    const auto agents = static_cast<double>(plain.turn_order().size());
    REQUIRE(std::equal(state.begin(), state.begin() + kState, expected.begin()));
    for (std::size_t a = 0; a < kOptions; ++a) {
      const double want = agents > 0.0 ? mean[a] / agents : 0.0;
      REQUIRE(std::fabs(static_cast<double>(state[kState + a]) - want) < 1e-5);
      largest = std::max(largest, std::fabs(want));
    }
    ++moments;
    for (const std::uint32_t slot : plain.turn_order()) {
      auto option = static_cast<std::int32_t>(random.below(kOptions));
      if (((plain.mask(slot, 0) >> option) & 1u) == 0) option = 0;
      plain.choose(slot, &option, nullptr);
      game.choose(slot, &option, nullptr);
    }
    outcome = plain.step();
    REQUIRE(game.step().team_reward == outcome.team_reward);
  }
  CHECK(moments > 30);
  CHECK(largest > 0.01);
}

TEST_CASE("the flow guides PPO for games: its distribution, what agents hold, and a weight of 0",
          "[pipeline]") {
  const auto flow = some_flow();
  const TeamGuidance source = flow_guidance<Game3>(flow);
  AnyGame game(EnvironmentGame<Game3>(Game3(small_cluster()), 60));
  REQUIRE(game.reset(3));
  constexpr auto kOptions = static_cast<std::size_t>(Game3::kOptions);
  GameFrame frame(game.shape());
  for (int step = 0; step < 10; ++step) {
    for (const std::uint32_t slot : game.turn_order()) {
      std::int32_t option = 0;
      while (((game.mask(slot, 0) >> (option + 1)) & 1u) != 0 && option + 1 < Game3::kOptions) ++option;
      game.choose(slot, &option, nullptr);
    }
    game.step();
  }
  frame.read(game);
  std::vector<float> q(60 * kOptions, -1.0f);
  source.distribution(game, frame, q.data());
  const auto& inside = *game.get<EnvironmentGame<Game3>>();
  int present = 0, holding = 0;
  for (std::size_t slot = 0; slot < 60; ++slot) {
    double sum = 0.0;
    for (std::size_t a = 0; a < kOptions; ++a) sum += static_cast<double>(q[slot * kOptions + a]);
    if (!game.present(slot)) {
      CHECK(sum == 0.0);
      continue;
    }
    ++present;
    CHECK(std::fabs(sum - 1.0) < 1e-5);
    const int held = source.held(game, slot);
    CHECK(held == inside.environment().current_option(inside.agent(slot)));
    holding += held != 0 ? 1 : 0;
    const OptionMask possible = inside.environment().possible(inside.agent(slot));
    for (std::size_t a = 0; a < kOptions; ++a)
      if (((possible >> a) & 1u) == 0) CHECK(q[slot * kOptions + a] == 0.0f);
  }
  CHECK(present > 2);
  CHECK(holding > 0);

  // It knows its environment's games and no other.
  CHECK(source.check(game));
  CHECK(source.check(AnyGame(FlowStateGame<Game3>(Game3(small_cluster()), 60, flow))));
  TeamPpoConfig<critic::CentralisedValues::Config> foreign;
  const auto refused = TeamPpoTrainer<critic::CentralisedValues, guidance::AllActionRegulariser>::create(
      foreign, [](int) { return AnyGame(EnvironmentGame<BitGame>(BitGame(), 2)); }, {}, source);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("team ppo: guidance: the flow is of an environment") == 0);

  // Weight 0 and the state without the flow: the bits of no guidance.
  const auto actor_after = [&](auto type, auto guidance, auto config) {
    using P = typename decltype(type)::type;
    auto pipeline = P::create(config, small_cluster(), guidance, flow).value();
    REQUIRE(pipeline.train(100));
    return actor_weights(pipeline);
  };
  using Plain = std::type_identity<Mappo3>;
  using Regularised = std::type_identity<Pipeline<Game3, TieredRequest<3>, critic::CentralisedValues,
                                                  guidance::AllActionRegulariser, learning::TeamPpo<16, 8>>>;
  auto config = on_cluster<Mappo3::Config>();
  config.rollout_steps = 16;
  guidance::AllActionRegulariser mode;
  const auto plain = actor_after(Plain{}, guidance::None{}, config);
  auto guided_config = on_cluster<Regularised::type::Config>();
  guided_config.rollout_steps = 16;
  mode.weight = 0.0f;
  CHECK(actor_after(Regularised{}, mode, guided_config) == plain);
  mode.weight = 1.0f;
  CHECK(actor_after(Regularised{}, mode, guided_config) != plain);
}

TEST_CASE("pipelines of learners of games stop and resume with the same bits", "[pipeline]") {
  check_resumes<GuidedMappo3>(cluster_ppo(), 96, 240);
  check_resumes<Qmix3>(cluster_q(), 100, 240);
}

TEST_CASE("pipelines of learners of games say what is wrong", "[pipeline]") {
  CHECK(Qmix3::create(cluster_q(), small_cluster()).error().message ==
        "environment trainer: flow is missing: this guidance mode needs a trained field");
  auto config = cluster_q();
  config.slots = 0;
  CHECK(Qmix3::create(config, small_cluster(), {}, some_flow()).error().message ==
        "environment trainer: slots = 0");
  config.slots = static_cast<std::size_t>(-1);
  CHECK(Qmix3::create(config, small_cluster(), {}, some_flow()).error().message ==
        "environment trainer: slots = 18446744073709551615, more than 2^31");
  config = cluster_q();
  config.gamma = 2.0;
  CHECK(Qmix3::create(config, small_cluster(), {}, some_flow()).error().message.find("gamma = 2") !=
        std::string::npos);
  config = cluster_q();
  config.team.network.recurrence = Recurrence::kGru;
  CHECK(
      Qmix3::create(config, small_cluster(), {}, some_flow()).error().message ==
      "environment trainer: actors of a pipeline are feed-forward, shared, without ids and without dueling");
  // More jobs than slots end the training with words about it.
  config = cluster_q();
  config.slots = 3;
  auto crowded = Qmix3::create(config, small_cluster(), {}, some_flow()).value();
  const Status trained = crowded.train(100'000);
  REQUIRE_FALSE(trained);
  CHECK(trained.error().message.find("4 agents, only 3 slots") != std::string::npos);
}
