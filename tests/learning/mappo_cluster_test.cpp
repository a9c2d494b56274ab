// MAPPO in the scheduling game, guided and with the flow as an input: reproducible and resumable.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "environment/environment_helpers.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/environment/cluster_environment.hpp"
#include "mara/learning/mappo.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Game2 = ClusterEnvironment<2>;
using Mode = guidance::Combined<guidance::AllActionRegulariser, guidance::FlowInput>;
using Guided = MappoTrainer<Game2, critic::Centralised<16>, Mode, 16>;

Game2 make(int) {
  ClusterEnvironmentConfig config;
  config.cluster.types = {pool("fast", 4), pool("slow", 6)};
  config.workload = [](std::uint64_t seed) -> Result<std::vector<Job>> {
    Random random(seed);
    std::vector<Job> jobs;
    double now = 0.0;
    for (int i = 0; i < 30; ++i) {
      now += random.exponential(1.0 / 150.0);
      Job job = job_of(now, 1 << random.below(3), random.log_normal(6.0, 1.0), 8,
                       SpeedUp{SpeedUp::Kind::kPower, 0.8});
      job.type_speed = {1.0, random.uniform(0.3, 0.9)};
      jobs.push_back(job);
    }
    return jobs;
  };
  config.episode_steps = 20;
  return Game2(config);
}

MappoConfig config_of(int threads) {
  MappoConfig config;
  config.environments = 6;
  config.rollout_steps = 12;
  config.episode_steps = 30;
  config.group = 3;
  config.threads = threads;
  return config;
}

std::unique_ptr<Guided> create(int threads) {
  static const auto flow = [] {
    Random random(1);
    auto made = std::make_shared<Guided::Flow>();
    made->field = Guided::Flow::Field(random);
    return made;
  }();
  auto trainer = Guided::create(config_of(threads), make, {}, flow);
  REQUIRE(trainer);
  return std::move(*trainer);
}

}  // namespace

TEST_CASE("the scheduling game: the same bits on two threads, and after a resume", "[mappo][cluster]") {
  STATIC_REQUIRE(Guided::kInputs == std::size_t{Game2::kObservation} + Game2::kOptions);
  const TemporaryFile file("cluster_checkpoint");
  const auto one = create(1), two = create(2), resumed = create(1);
  for (int i = 0; i < 4; ++i) {
    const auto report = one->update();
    REQUIRE(report);
    CHECK(report->agents > 0.5);
    CHECK(report->team_reward < 0.0);
    REQUIRE(two->update());
    if (i == 1) {
      REQUIRE(one->save(file.path));
      REQUIRE(resumed->load(file.path));
    }
    if (i > 1) REQUIRE(resumed->update());
  }
  CHECK((state_of(*one) == state_of(*two)));
  CHECK((state_of(*one) == state_of(*resumed)));
}
