// Speed of the ledger and of the simulator. items_per_second: claims, or events (arrivals and completions),
// or decisions.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mara/cluster/allocation.hpp"
#include "mara/core/random.hpp"
#include "mara/simulation/simulate.hpp"

namespace {

using namespace mara;

Cluster three_types() {
  return parse_cluster("a100:2x8,v100:2x8,t4:2x8").value();
}

/// Jobs of 1 to 8 GPUs with heavy-tailed sizes, at `load` of the cluster.
std::vector<Job> jobs_at(double load, std::size_t count, bool fractions) {
  Random random(1);
  std::vector<Job> jobs;
  double clock = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    Job job;
    job.id = static_cast<std::int64_t>(i);
    job.requested = Milli::whole(std::int64_t{1} << random.below(4));
    if (fractions && random.below(2) == 0) job.requested = Milli{1 + random.below(999)};
    job.max_gpus = std::max(1, static_cast<int>(job.requested.units()));
    job.work = random.log_normal(6.0, 1.5) * job.requested.as_double();
    job.demand = {8192, Milli::whole(4), 8192};
    job.type_speed = {1.0, 0.6, 0.3};
    clock += random.exponential(load * (1.0 + 0.6 + 0.3) * 16.0 / (1250.0 * (fractions ? 2.1 : 3.75)));
    job.submit_s = clock;
    jobs.push_back(job);
  }
  return jobs;
}

/// Runs go on, the rest take the first type that holds them, in order of arrival.
struct FirstFit {
  std::string_view name() const { return "first-fit"; }
  void decide(const DecisionView& view, Allocation& allocation) {
    for (std::size_t i = 0; i < view.active.size(); ++i)
      if (!view.active[i].held.empty()) allocation.claim(i, view.job(i).demand, view.active[i].held);
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      if (!view.active[i].held.empty()) continue;
      const Job& job = view.job(i);
      for (int t = 0; t < view.cluster->type_count(); ++t)
        if (allocation.claim(i, job.demand, {t, job.requested})) break;
    }
  }
};

void run(benchmark::State& state, const std::vector<Job>& jobs, const SimulationConfig& config) {
  const Cluster cluster = three_types();
  std::int64_t events = 0, decisions = 0, active = 0;
  for (auto _ : state) {
    Simulator simulator = Simulator::create(cluster, jobs, config).value();
    FirstFit scheduler;
    while (simulator.next_decision()) {
      ++decisions;
      active += static_cast<std::int64_t>(simulator.view().active.size());
      scheduler.decide(simulator.view(), simulator.allocation());
      simulator.commit();
    }
    events += 2 * static_cast<std::int64_t>(jobs.size());
    benchmark::DoNotOptimize(simulator.now_s());
  }
  state.SetItemsProcessed(events);
  state.counters["decisions/s"] =
      benchmark::Counter(static_cast<double>(decisions), benchmark::Counter::kIsRate);
  state.counters["active"] =
      static_cast<double>(active) / static_cast<double>(std::max<std::int64_t>(1, decisions));
}

/// 10,000 jobs, decisions at events. Argument: load in percent.
void BM_events_first_fit(benchmark::State& state) {
  run(state, jobs_at(static_cast<double>(state.range(0)) / 100.0, 10'000, false), {});
}
BENCHMARK(BM_events_first_fit)->Arg(70)->Arg(95)->Arg(110)->Unit(benchmark::kMillisecond);

void BM_events_first_fit_fractions(benchmark::State& state) {
  run(state, jobs_at(0.95, 10'000, true), {});
}
BENCHMARK(BM_events_first_fit_fractions)->Unit(benchmark::kMillisecond);

void BM_events_100k_jobs(benchmark::State& state) {
  run(state, jobs_at(1.0, 100'000, false), {});
}
BENCHMARK(BM_events_100k_jobs)->Unit(benchmark::kMillisecond);

/// As an environment steps: 64 jobs that come too fast, one decision a minute.
void BM_fixed_interval(benchmark::State& state) {
  SimulationConfig config;
  config.tick_s = 60.0;
  config.fixed_interval = true;
  run(state, jobs_at(3.0, 64, false), config);
}
BENCHMARK(BM_fixed_interval)->Unit(benchmark::kMicrosecond);

/// One fits and one claim of whole GPUs, in a ledger for 256 agents.
void BM_claim_whole(benchmark::State& state) {
  Allocation ledger(parse_cluster("a100:64x8").value());
  const Demand demand{8192, Milli::whole(1), 1024};
  std::size_t agent = 256;
  for (auto _ : state) {
    if (agent == 256) {
      ledger.reset(256);
      agent = 0;
    }
    benchmark::DoNotOptimize(ledger.fits(demand, {0, Milli::whole(2)}));
    benchmark::DoNotOptimize(ledger.claim(agent++, demand, {0, Milli::whole(1)}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_claim_whole);

/// The same for fractions: 256 agents on up to 128 devices.
void BM_claim_fraction(benchmark::State& state) {
  Allocation ledger(parse_cluster("a100:64x8").value());
  std::size_t agent = 256;
  for (auto _ : state) {
    if (agent == 256) {
      ledger.reset(256);
      agent = 0;
    }
    const Milli ask{300 + static_cast<std::int64_t>(agent * 37 % 500)};
    benchmark::DoNotOptimize(ledger.claim(agent++, {}, {0, ask}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_claim_fraction);

}  // namespace
