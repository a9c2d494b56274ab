#pragma once
// Jobs, schedulers and workloads that the simulation tests share.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/simulation/simulate.hpp"

namespace mara::test {

/// A job of one GPU that runs on every type at the speed of type 0.
inline Job job_of(std::int64_t id, double submit_s, double work) {
  Job job;
  job.id = id;
  job.submit_s = submit_s;
  job.work = work;
  job.type_speed.fill(1.0);
  return job;
}

inline Grant whole(int gpus, int type = 0) {
  return {type, Milli::whole(gpus)};
}

/// No costs, decisions at events only, with the interval log.
inline SimulationConfig plain() {
  SimulationConfig config;
  config.overheads = {0.0, 0.0};
  config.record_intervals = true;
  return config;
}

/// Jobs in the order given by `key` (smallest first, ties by position); each takes its requested GPUs on the
/// first type that has them. Keys see (view, agent).
template <class Key>
struct OrderedScheduler {
  Key key;
  std::vector<std::pair<double, std::size_t>> order{};
  std::string_view name() const { return "ordered"; }
  void decide(const DecisionView& view, Allocation& allocation) {
    order.clear();
    for (std::size_t i = 0; i < view.active.size(); ++i) order.emplace_back(key(view, i), i);
    std::sort(order.begin(), order.end());
    for (const auto& [unused, i] : order) {
      const Job& job = view.job(i);
      for (int t = 0; t < view.cluster->type_count(); ++t)
        if (job.type_speed[static_cast<std::size_t>(t)] > 0.0 &&
            allocation.claim(i, job.demand, {t, job.requested}))
          break;
    }
  }
};
template <class Key>
OrderedScheduler(Key) -> OrderedScheduler<Key>;

/// First come, first served without preemption: what runs goes on, the rest follow in order of arrival.
inline auto fcfs() {
  return OrderedScheduler{[](const DecisionView& view, std::size_t i) {
    return view.active[i].held.empty() ? static_cast<double>(i) + 1e9 : static_cast<double>(i);
  }};
}

/// Calls a function for every decision.
struct Script {
  std::function<void(const DecisionView&, Allocation&)> body;
  std::string_view name() const { return "script"; }
  void decide(const DecisionView& view, Allocation& allocation) { body(view, allocation); }
};

/// Claims whatever it draws, sensible or not, and keeps what a job holds now and then.
struct RandomScheduler {
  Random random;
  std::string_view name() const { return "random"; }
  void decide(const DecisionView& view, Allocation& allocation) {
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      const Job& job = view.job(i);
      const JobState& state = view.active[i];
      const std::uint32_t draw = random.below(10);
      if (draw < 5 && !state.held.empty()) {
        allocation.claim(i, job.demand, state.held);
      } else if (draw < 9) {
        const bool unknown = random.below(20) == 0;
        Grant grant{unknown ? -1 : static_cast<std::int32_t>(random.below(4)), job.requested};
        if (random.below(3) == 0) grant.gpus = Milli::whole(1 + random.below(6));
        if (random.below(20) == 0) grant.gpus = Milli{1 + random.below(1500)};
        const Demand demand = random.below(30) == 0 ? Demand{} : job.demand;
        allocation.claim(i, demand, grant);
      }
    }
  }
};

/// A cluster of one to three types and jobs that fit it, of every kind there is. `exact` leaves out what
/// depends on the C library's pow.
struct Workload {
  Cluster cluster;
  std::vector<Job> jobs;
  SimulationConfig config;
};
inline Workload random_workload(Random& random, std::size_t most_jobs, bool exact) {
  Workload workload;
  const std::size_t types = 1 + random.below(3);
  for (std::size_t t = 0; t < types; ++t) {
    GpuType type;
    type.name = std::string(1, static_cast<char>('a' + t));
    type.nodes = static_cast<int>(1 + random.below(2));
    type.gpus_per_node = static_cast<int>(1 + random.below(4));
    type.gpu_memory_mib = 1000 * (1 + random.below(4));
    type.cpu_per_node = Milli::whole(8);
    type.memory_mib_per_node = 1000;
    workload.cluster.types.push_back(type);
  }
  const std::size_t count = 1 + random.below(static_cast<std::uint32_t>(most_jobs));
  double clock = random.uniform(0.0, 100.0);
  for (std::size_t i = 0; i < count;) {
    Job job;
    job.id = static_cast<std::int64_t>(100 + i);
    job.submit_s = clock;
    job.work = random.uniform(0.5, 200.0);
    job.requested = random.below(3) == 0 ? Milli{1 + random.below(999)} : Milli::whole(1 + random.below(4));
    job.max_gpus = static_cast<int>(std::max<std::int64_t>(1, job.requested.units()) + random.below(4));
    job.demand = {random.below(3000), Milli{random.below(6000)}, random.below(700)};
    job.speed_up = exact || random.below(2) == 0 ? SpeedUp{SpeedUp::Kind::kAmdahl, random.uniform()}
                                                 : SpeedUp{SpeedUp::Kind::kPower, random.uniform(0.1, 1.0)};
    for (std::size_t t = 0; t < types; ++t)
      job.type_speed[t] = random.below(5) == 0 ? 0.0 : random.uniform(0.1, 2.0);
    if (!check_job(workload.cluster, job)) continue;  // drawn again
    workload.jobs.push_back(job);
    ++i;
    if (random.below(4) != 0) clock += random.exponential(1.0 / 30.0);
  }
  SimulationConfig& config = workload.config;
  config.stall_ticks = 2000;  // a scheduler that keeps moving jobs may never let them work
  config.record_intervals = true;
  config.overheads.start_s = random.below(3) == 0 ? 0.0 : random.uniform(0.0, 40.0);
  config.overheads.restart_s = random.below(3) == 0 ? 0.0 : random.uniform(0.0, 40.0);
  if (random.below(3) != 0) config.tick_s = random.uniform(1.0, 60.0);
  config.fixed_interval = config.tick_s > 0.0 && random.below(2) == 0;
  if (random.below(4) == 0) config.horizon_s = clock * random.uniform(0.0, 2.0);
  return workload;
}

}  // namespace mara::test
