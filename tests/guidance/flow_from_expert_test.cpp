// The loop of demonstrating, fitting and playing.
#include "mara/guidance/flow_from_expert.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "environment/environment_helpers.hpp"
#include "mara/environment/cluster_environment.hpp"
#include "mara/expert/list_scheduler.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Game2 = ClusterEnvironment<2>;
using Flow = AllocationFlow<Game2::kOptions, Game2::kObservation, 16>;

const std::function<Game2(int)> make = [](int) {
  ClusterEnvironmentConfig config;
  config.cluster.types = {pool("fast", 4), pool("slow", 6)};
  config.workload = [](std::uint64_t seed) -> Result<std::vector<Job>> {
    Random random(seed);
    std::vector<Job> jobs;
    for (int i = 0; i < 20; ++i)
      jobs.push_back(job_of(100.0 * i, 1 << random.below(3), random.log_normal(6.0, 1.0), 8));
    return jobs;
  };
  return Game2(config);
};

ExpertFlowConfig small(int threads) {
  ExpertFlowConfig config;
  config.threads = threads;
  config.iterations = 2;
  config.first.environments = config.later.environments = 4;
  config.first.steps = config.later.steps = 15;
  config.flow.matching.epochs = 2;
  config.final_epochs = 3;
  config.flow.matching.batch = 32;
  return config;
}

std::vector<float> parameters(const Flow& flow) {
  return {flow.field.network().parameters().begin(), flow.field.network().parameters().end()};
}

}  // namespace

TEST_CASE("rounds add demonstrations and go on from the weights before; the same on two threads", "[flow]") {
  const ListScheduler<2> expert(ListParameters{}, 300.0);
  ExpertFlowReport report;
  std::vector<int> rounds;
  const auto one = flow_from_expert<Flow, Game2>(make, expert, small(1), &report,
                                                 [&](int round, int, double) { rounds.push_back(round); });
  REQUIRE(one);
  CHECK(rounds == std::vector<int>{0, 0, 1, 1, 2, 2, 2});
  CHECK(report.env_steps == 3 * 4 * 15);
  CHECK(report.rows > 50);
  REQUIRE(report.loss.size() == 3);
  CHECK(report.loss[2] < report.loss[0]);
  const auto two = flow_from_expert<Flow, Game2>(make, expert, small(2));
  REQUIRE(two);
  CHECK(parameters(**one) == parameters(**two));
}

TEST_CASE("the player of a flow chooses the largest legal endpoint", "[flow]") {
  Random random(1);
  auto flow = std::make_shared<Flow>();
  flow->field = Flow::Field(random);
  const DemonstrationPolicy player = flow_player<Flow>(flow);
  Flow::Workspace work;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<float> observation(Game2::kObservation);
    for (float& x : observation) x = static_cast<float>(random.normal());
    const int current = static_cast<int>(random.below(Game2::kOptions));
    const OptionMask mask = 1u | random.below(1u << Game2::kOptions);
    float endpoint[Flow::kOptions];
    flow->endpoint(observation.data(), &current, &mask, 1, endpoint, work);
    const int chosen = player(observation.data(), current, mask);
    REQUIRE(((mask >> chosen) & 1u) == 1u);
    for (int a = 0; a < Flow::kOptions; ++a)
      if ((mask >> a) & 1u) CHECK(endpoint[a] <= endpoint[chosen]);
  }
}

TEST_CASE("errors of either part come through", "[flow]") {
  const ListScheduler<2> expert(ListParameters{}, 300.0);
  ExpertFlowConfig config = small(1);
  config.first.environments = 0;
  const auto demonstrating = flow_from_expert<Flow, Game2>(make, expert, config);
  REQUIRE_FALSE(demonstrating);
  CHECK(demonstrating.error().message.find("environments") != std::string::npos);
  config = small(1);
  config.iterations = -1;
  const auto rounds = flow_from_expert<Flow, Game2>(make, expert, config);
  REQUIRE_FALSE(rounds);
  CHECK(rounds.error().message.find("iterations = -1") != std::string::npos);
  config = small(1);
  config.flow.temperature = -1.0f;
  const auto fitting = flow_from_expert<Flow, Game2>(make, expert, config);
  REQUIRE_FALSE(fitting);
  CHECK(fitting.error().message.find("temperature") != std::string::npos);
}
