// How long a deployed actor takes to decide. Argument: jobs in the system. p50_us, p99_us: of single
// decisions; the budget for 1000 agents is a millisecond.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/deploy/deploy.hpp"

namespace {

using namespace mara;

struct Scene {
  Cluster cluster;
  std::vector<Job> jobs;
  std::vector<JobState> active;
};

/// `count` jobs of mixed needs on 24 GPUs for every 10 of them, half of which run.
Scene scene_of(std::size_t count) {
  Scene scene;
  const std::string nodes = std::to_string(1 + count / 10) + "x8";
  scene.cluster = parse_cluster("a100:" + nodes + ",v100:" + nodes + ",t4:" + nodes).value();
  Random random(1);
  Allocation ledger(scene.cluster);
  ledger.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    Job job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = 1e5 * random.uniform();
    job.requested = Milli::whole(std::int64_t{1} << random.below(4));
    job.max_gpus = static_cast<int>(2 * job.requested.units());
    job.work = random.log_normal(8.0, 1.5) * job.requested.as_double();
    job.demand = {8192, Milli::whole(4), 8192};
    job.speed_up.parameter = random.uniform(0.6, 0.95);
    job.type_speed = {1.0, random.uniform(0.4, 0.8), random.uniform(0.15, 0.5)};
    JobState state;
    state.job = static_cast<std::uint32_t>(i);
    state.remaining_work = job.work * random.uniform();
    const Grant grant{static_cast<std::int32_t>(random.below(3)), job.requested};
    if (random.below(2) == 0 && ledger.claim(i, job.demand, grant)) {
      state.held = grant;
      state.started = true;
    }
    scene.jobs.push_back(job);
    scene.active.push_back(state);
  }
  return scene;
}

void BM_decide(benchmark::State& state) {
  using Actor = deploy::Actor<3, 64, 64>;
  const auto agents = static_cast<std::size_t>(state.range(0));
  const Scene scene = scene_of(agents);
  Random random(2);
  std::vector<float> weights(Actor::Network::kParameters);
  for (float& w : weights) w = 0.2f * static_cast<float>(random.normal());
  Actor::Network network(Activation::kTanh);
  network.set_parameters(weights).value();
  Actor actor = Actor::create(network, {300.0}, agents).value();

  DecisionView view;
  view.now_s = 2e5;
  view.cluster = &scene.cluster;
  view.jobs = scene.jobs;
  view.active = scene.active;
  Allocation allocation(scene.cluster);
  std::vector<double> micros;
  micros.reserve(1u << 20);
  for (auto _ : state) {
    allocation.reset(agents);
    const auto begin = std::chrono::steady_clock::now();
    actor.decide(view, allocation);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (micros.size() < micros.capacity()) micros.push_back(took.count());
  }
  if (actor.refusals() > 0) return state.SkipWithError("the actor refused the view");
  std::sort(micros.begin(), micros.end());
  const auto quantile = [&](double q) {
    return micros[static_cast<std::size_t>(q * static_cast<double>(micros.size() - 1))];
  };
  state.counters["p50_us"] = quantile(0.5);
  state.counters["p99_us"] = quantile(0.99);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_decide)->Arg(1)->Arg(16)->Arg(128)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
