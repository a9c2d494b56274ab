// Speed of the scheduling game: a step, and a step with observations and masks. items_per_second: environment
// steps; agents: mean number present.
#include <benchmark/benchmark.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "game.hpp"

namespace {

using namespace mara;
using bench::Game3;

/// One step in which every agent takes the first legal option after "nothing". Argument: arrivals in 100
/// steps.
template <bool Observe>
void BM_step(benchmark::State& state) {
  Game3 environment(bench::game_of(static_cast<double>(state.range(0)) / 100.0));
  std::uint64_t seed = 1;
  environment.reset(seed).value();
  std::vector<float> rows, global(Game3::kGlobalState);
  std::int64_t agents = 0;
  for (auto _ : state) {
    if constexpr (Observe) {
      rows.resize(environment.agents() * static_cast<std::size_t>(Game3::kObservation));
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

}  // namespace
