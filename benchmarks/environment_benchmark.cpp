// Speed of learning: a step of the cluster environment, a step with observations and masks, a whole PPO
// update. items_per_second: environment steps; agents: mean number present.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mara/critic/centralized.hpp"
#include "mara/environment/cluster_environment.hpp"
#include "mara/learning/mappo_policy.hpp"
#include "mara/pipeline/pipeline.hpp"

namespace {

using namespace mara;
using Game = ClusterEnvironment<3>;

/// Poisson arrivals of heavy-tailed jobs, `rate` a step, on 16 GPUs of each of three types.
Game::Config game_of(double rate) {
  Game::Config game;
  game.cluster = parse_cluster("a100:2x8,v100:2x8,t4:2x8").value();
  game.time_unit_s = 300.0;
  game.workload = [rate](std::uint64_t seed) -> Result<std::vector<Job>> {
    Random random(seed, 3);
    std::vector<Job> jobs;
    double clock = 0.0;
    for (int i = 0; i < 700; ++i) {
      Job job;
      clock += random.exponential(rate / 300.0);
      job.id = i;
      job.submit_s = clock;
      job.requested = Milli::whole(std::int64_t{1} << random.below(4));
      job.max_gpus = static_cast<int>(2 * job.requested.units());
      job.speed_up.parameter = random.uniform(0.6, 0.95);
      job.work = std::min(259200.0, random.log_normal(std::log(1200.0), 1.7)) *
                 job.speed_up(job.requested.as_double());
      job.type_speed = {1.0, random.uniform(0.4, 0.8), random.uniform(0.15, 0.5)};
      jobs.push_back(job);
    }
    return jobs;
  };
  return game;
}

/// One step in which every agent takes the first legal option after "nothing". Argument: arrivals in 100
/// steps.
template <bool Observe>
void BM_step(benchmark::State& state) {
  Game environment(game_of(static_cast<double>(state.range(0)) / 100.0));
  std::uint64_t seed = 1;
  environment.reset(seed).value();
  std::vector<float> rows, global(Game::kGlobalState);
  std::int64_t agents = 0;
  for (auto _ : state) {
    if constexpr (Observe) {
      rows.resize(environment.agents() * static_cast<std::size_t>(Game::kObservation));
      environment.observe(rows.data());
      environment.global_state(global.data());
    }
    for (const std::uint32_t agent : environment.turn_order()) {
      const OptionMask rest = environment.mask(agent) & ~OptionMask{1};
      environment.act(agent, rest == 0 ? 0 : std::countr_zero(rest));
    }
    agents += static_cast<std::int64_t>(environment.agents());
    const StepOutcome outcome = environment.step();
    if (outcome.terminated || outcome.truncated) environment.reset(++seed).value();
    benchmark::DoNotOptimize(outcome.team_reward);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["agents"] = static_cast<double>(agents) / static_cast<double>(state.iterations());
}
BENCHMARK(BM_step<false>)->Arg(25)->Arg(50)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_step<true>)->Arg(25)->Arg(50)->Unit(benchmark::kMicrosecond);

/// One update of MAPPO: 16 environments x 32 steps, three epochs, one thread; guided ones by a flow (its
/// weights are random, the cost is the same).
template <class Guidance>
void BM_ppo_update(benchmark::State& state) {
  using P = Pipeline<Game, TieredRequest<3>, critic::Centralized<64, 64>, Guidance, learning::Mappo<64, 64>>;
  MappoConfig config;
  config.environments = 16;
  Random random(1);
  auto flow = std::make_shared<typename P::Flow>();
  flow->field = typename P::Flow::Field(random);
  auto pipeline = P::create(config, game_of(0.5), {}, flow).value();
  const std::int64_t round = std::int64_t{config.environments} * config.rollout_steps;
  pipeline.train(20 * round).value();  // past the empty beginning
  double agents = 0.0;
  for (auto _ : state)
    pipeline.train(round, [&](const MappoReport& report) { agents += report.agents; }).value();
  state.SetItemsProcessed(state.iterations() * round);
  state.counters["agents"] = agents / static_cast<double>(state.iterations());
}
BENCHMARK(BM_ppo_update<guidance::None>)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ppo_update<guidance::AllActionRegulariser>)->Unit(benchmark::kMillisecond);

}  // namespace
