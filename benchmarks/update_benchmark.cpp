// Speed of learning: whole updates of MAPPO on the scheduling game, one thread. items_per_second: environment
// steps; agents: mean number present.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "game.hpp"
#include "mara/core/random.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/learning/mappo_policy.hpp"
#include "mara/pipeline/pipeline.hpp"

namespace {

using namespace mara;
using bench::Game3;

/// One update of MAPPO: a rollout of 16 environments x 32 steps, then the epochs of the default
/// configuration; guided ones by a flow (its weights are random, the cost is the same).
template <class Guidance>
void BM_ppo_update(benchmark::State& state) {
  using P = Pipeline<Game3, TieredRequest<3>, critic::Centralised<64, 64>, Guidance, learning::Mappo<64, 64>>;
  MappoConfig config;
  config.environments = 16;
  Random random(1);
  auto flow = std::make_shared<typename P::Flow>();
  flow->field = typename P::Flow::Field(random);
  auto pipeline = P::create(config, bench::game_of(0.5), {}, flow).value();
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
