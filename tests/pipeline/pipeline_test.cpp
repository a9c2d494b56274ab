// The composed pipeline: trains, stops, resumes bit-identically, and hands its actor over to deployment.
#include <cmath>
#include <fstream>
#include <type_traits>

#include "mara/simulation/simulate.hpp"
#include "pipeline_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Toy = Pipeline<BitGame, ThreeOptions, critic::Centralised<16>, guidance::None, learning::Mappo<16>>;
using Game3 = ClusterEnvironment<3>;
template <class G>
using Cluster3 = Pipeline<Game3, TieredRequest<3>, critic::Centralised<16>, G, learning::Mappo<16, 8>>;
using Plain = Cluster3<guidance::None>;
using Guided = Cluster3<guidance::AllActionRegulariser>;

static_assert(check_environment<BitGame>() && check_environment<Game3>());
static_assert(check_action_space<ThreeOptions>() && check_action_space<TieredRequest<8>>());
static_assert(check_critic<critic::Centralised<>, BitGame>() && check_critic<critic::Centralised<8, 8>>());
static_assert(check_guidance<guidance::Combined<guidance::AllActionRegulariser, guidance::FlowInput>>());
static_assert(check_learner<learning::Mappo<>>() && check_learner<learning::Mappo<8, 8>, BitGame>());
static_assert(!ActionSpace<int> && !CriticFor<int, BitGame> && !LearnerFor<int, BitGame, int, int>);
static_assert(DeployableEnvironment<Game3> && !DeployableEnvironment<BitGame>);
static_assert(std::is_nothrow_move_constructible_v<Toy> && !std::is_copy_constructible_v<Toy>);
static_assert(std::is_same_v<DeployedActor<3, Plain::Actor>, deploy::Actor<3, 16, 8>>);
static_assert(std::is_same_v<DeployedActor<3, Mlp<float, static_cast<std::size_t>(Game3::kObservation), 10>>,
                             deploy::Actor<3>>);

// Only pipelines of clusters can be deployed.
template <class P>
concept Deploys = requires(const P& p) {
  p.deploy(1);
};
static_assert(Deploys<Plain> && !Deploys<Toy>);

template <class E>
concept TellsTimeUnit = requires(const E& e) {
  e.config().time_unit_s;
};

/// A flow with random weights, for tests that only need one.
template <class P>
std::shared_ptr<const typename P::Flow> some_flow() {
  Random random(3);
  auto flow = std::make_shared<typename P::Flow>();
  flow->field = typename P::Flow::Field(random);
  return flow;
}

}  // namespace

TEST_CASE("a pipeline learns a game of its user", "[pipeline]") {
  MappoConfig config = quick();
  config.environments = 16;
  config.episode_steps = 0;
  config.total_steps = 16 * 16 * 60;
  config.learning_rate = 3e-3;
  auto pipeline = Toy::create(config, [](int) { return BitGame(10); }).value();
  std::vector<double> rewards;
  REQUIRE(
      pipeline.train(config.total_steps, [&](const MappoReport& r) { rewards.push_back(r.team_reward); }));
  REQUIRE(rewards.size() == 60);
  CHECK(rewards.front() < 0.5);  // a third of the options are right
  CHECK(rewards.back() > 0.95);
}

TEST_CASE("train() finishes the round it has begun", "[pipeline]") {
  auto pipeline = Toy::create(quick(), [](int) { return BitGame(); }).value();
  int rounds = 0;
  const auto count = [&](const MappoReport& report) {
    ++rounds;
    CHECK(report.env_steps == pipeline.env_steps());
  };
  REQUIRE(pipeline.train(0, count));
  CHECK(rounds == 0);
  REQUIRE(pipeline.train(1, count));
  CHECK(rounds == 1);
  CHECK(pipeline.env_steps() == 6 * 16);
  REQUIRE(pipeline.train(6 * 16 + 1, count));
  CHECK(rounds == 3);
  const Status negative = pipeline.train(-1);
  REQUIRE_FALSE(negative);
  CHECK(negative.error().message == "steps = -1 is negative");
  CHECK(rounds == 3);
}

TEST_CASE("create() says what is wrong", "[pipeline]") {
  CHECK(Toy::create(quick(), std::function<BitGame(int)>()).error().message ==
        "make: the function that builds environments is not set");
  MappoConfig config = quick();
  config.gamma = 1.5;
  CHECK(Toy::create(config, [](int) { return BitGame(); }).error().message.find("gamma = 1.5") !=
        std::string::npos);
  CHECK(Guided::create(quick(), small_cluster()).error().message.find("flow is missing") !=
        std::string::npos);
  ClusterEnvironmentConfig wrong = small_cluster();
  wrong.cluster = parse_cluster("a100:1x8").value();
  const auto refused = Plain::create(quick(), wrong);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("stop and resume give the same bits on one thread and on two", "[pipeline]") {
  const auto flow = some_flow<Guided>();
  const auto fresh = [&](int threads) {
    return Guided::create(quick(threads), small_cluster(), {}, flow).value();
  };
  constexpr std::int64_t kRound = 6 * 16;
  auto straight = fresh(1);
  REQUIRE(straight.train(6 * kRound));

  for (const int threads : {1, 2}) {
    INFO(threads << " threads");
    const TemporaryPath file("mara_pipeline_checkpoint");
    {
      auto first = fresh(threads);
      REQUIRE(first.train(3 * kRound));
      CHECK(actor_weights(first) != actor_weights(straight));
      REQUIRE(first.save(file.path));
    }
    auto second = fresh(threads);
    REQUIRE(second.load(file.path));
    CHECK(second.env_steps() == 3 * kRound);
    REQUIRE(second.train(3 * kRound));
    CHECK(second.env_steps() == straight.env_steps());
    CHECK(actor_weights(second) == actor_weights(straight));
    CHECK(critic_weights(second) == critic_weights(straight));
    const TemporaryPath one("mara_pipeline_one"),
        other("mara_pipeline_other");  // and all the rest of the state
    REQUIRE(straight.save(one.path));
    REQUIRE(second.save(other.path));
    const auto bytes = [](const std::string& path) {
      std::ifstream in(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    };
    CHECK(bytes(one.path) == bytes(other.path));
  }
}

TEST_CASE("another seed gives another actor", "[pipeline]") {
  MappoConfig config = quick();
  auto one = Plain::create(config, small_cluster()).value();
  config.seed = 2;
  auto other = Plain::create(config, small_cluster()).value();
  CHECK(actor_weights(one) != actor_weights(other));
}

TEST_CASE("a checkpoint of something else changes nothing", "[pipeline]") {
  auto pipeline = Plain::create(quick(), small_cluster()).value();
  REQUIRE(pipeline.train(1));
  const auto before = actor_weights(pipeline);
  const TemporaryPath file("mara_pipeline_foreign");
  CHECK_FALSE(pipeline.load(file.path));
  REQUIRE(pipeline.save_actor(file.path));  // weights for deployment are no checkpoint
  const Status loaded = pipeline.load(file.path);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message.find("is not a mara archive") != std::string::npos);
  MappoConfig config = quick();
  config.environments = 8;
  auto more = Plain::create(config, small_cluster()).value();
  REQUIRE(more.save(file.path));
  CHECK_FALSE(pipeline.load(file.path));
  CHECK(actor_weights(pipeline) == before);
  CHECK(pipeline.env_steps() == 6 * 16);
}

TEST_CASE("the deployed actor decides as the trained one", "[pipeline]") {
  const ClusterEnvironmentConfig game = small_cluster();
  auto pipeline = Plain::create(quick(), game).value();
  REQUIRE(pipeline.train(500));
  auto deployed = pipeline.deploy(64).value();
  CHECK(deployed.time_unit_s() == game.time_unit_s);
  CHECK(deployed.type_names() == std::vector<std::string>{"a100", "v100", "t4"});
  CHECK(deployed.check(game.cluster));

  const TemporaryPath file("mara_pipeline_actor");
  REQUIRE(pipeline.save_actor(file.path));
  auto loaded = deploy::Actor<3, 16, 8>::load(file.path, 64).value();

  using Network = Plain::Actor::Inference;
  SequentialScheduler<3, NetworkHead<Network>> reference("reference", {pipeline.actor().inference(), 64},
                                                         {game.time_unit_s}, 64);
  struct Compare {
    deploy::Actor<3, 16, 8>&deployed, &loaded;
    decltype(reference)& expected;
    int decisions = 0, differences = 0;
    std::string_view name() const { return "compare"; }
    void decide(const DecisionView& view, Allocation& allocation) {
      Allocation one(*view.cluster), other(*view.cluster);
      one.reset(view.active.size());
      other.reset(view.active.size());
      deployed.decide(view, one);
      loaded.decide(view, other);
      expected.decide(view, allocation);
      ++decisions;
      differences += !std::equal(one.grants().begin(), one.grants().end(), allocation.grants().begin());
      differences += !std::equal(other.grants().begin(), other.grants().end(), allocation.grants().begin());
    }
  } compare{deployed, loaded, reference};
  REQUIRE(simulate(game.cluster, game.workload(77).value(), compare, {}));
  CHECK(compare.decisions > 50);
  CHECK(compare.differences == 0);
}

TEST_CASE("deploy() reports what it cannot know", "[pipeline]") {
  const ClusterEnvironmentConfig game = small_cluster();
  auto pipeline = Plain::create(quick(), game).value();
  CHECK(pipeline.deploy(0).error().message == "max_agents = 0, must be in [1, 1000000]");
  CHECK(pipeline.save_actor("/nonexistent-folder/actor").error().code == ErrorCode::kIo);
  // Environments that a function builds, but not from a description: the learner is the same.
  auto made = Plain::create(quick(), [&](int) { return Game3(game); }).value();
  REQUIRE(made.train(1));
  REQUIRE(pipeline.train(1));
  CHECK(actor_weights(made) == actor_weights(pipeline));
  CHECK(made.deploy(8).has_value() == TellsTimeUnit<Game3>);
  CHECK(deploy_actor<3>(made.actor(), {game.time_unit_s}, 8, game.cluster));
}

TEST_CASE("an expert makes the field that guides", "[pipeline]") {
  const ClusterEnvironmentConfig game = small_cluster();
  const ListScheduler<3> expert(ListParameters{}, game.time_unit_s);
  ExpertFlowConfig config;
  config.iterations = 1;
  config.first.environments = config.later.environments = 4;
  config.first.steps = config.later.steps = 40;
  config.flow.matching.epochs = 2;
  ExpertFlowReport report;
  const auto flow = Guided::flow_from_expert(game, expert, config, &report).value();
  CHECK(report.rows > 100);
  CHECK(report.env_steps == 2 * 4 * 40);
  config.threads = 2;  // the same from a function, on two threads
  const auto again = Guided::flow_from_expert([&](int) { return Game3(game); }, expert, config).value();
  const auto a = flow->field.network().parameters(), b = again->field.network().parameters();
  CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));

  auto guided = Guided::create(quick(), game, {}, flow).value();
  auto plain = Plain::create(quick(), game).value();
  REQUIRE(guided.train(300));
  REQUIRE(plain.train(300));
  CHECK(actor_weights(guided) != actor_weights(plain));
}

TEST_CASE("modes that feed the flow to the actor train too", "[pipeline]") {
  using Fed = Cluster3<guidance::Combined<guidance::AllActionRegulariser, guidance::FlowInput>>;
  auto pipeline = Fed::create(quick(), small_cluster(), {}, some_flow<Fed>()).value();
  CHECK(pipeline.train(1));
  for (const float weight : pipeline.actor().parameters()) REQUIRE(std::isfinite(weight));
}

TEST_CASE("a failing environment ends training with its message", "[pipeline]") {
  ClusterEnvironmentConfig game = small_cluster();
  game.workload = [inner = game.workload,
                   left = std::make_shared<int>(7)](std::uint64_t seed) -> Result<std::vector<Job>> {
    if (--*left < 0) return Error{ErrorCode::kIo, "the disk with the jobs is gone"};
    return inner(seed);
  };
  auto pipeline = Plain::create(quick(), game).value();
  const Status trained = pipeline.train(100'000);
  REQUIRE_FALSE(trained);
  CHECK(trained.error().message == "the disk with the jobs is gone");
}
