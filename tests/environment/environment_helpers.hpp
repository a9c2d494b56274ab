#pragma once
// Scenes for the tests of arbiter, observation and scheduler: a cluster, jobs, and who holds what.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/action/tiered_request.hpp"
#include "mara/core/random.hpp"
#include "mara/simulation/decision.hpp"

namespace mara::test {

inline GpuType pool(std::string name, int gpus, std::int64_t gpu_memory_mib = 80 * 1024) {
  return {std::move(name), 1, gpus, gpu_memory_mib, Milli::whole(8 * gpus), std::int64_t{64} * 1024 * gpus};
}

/// A job that runs `ideal_s` seconds on its `gpus` GPUs of type 0, and half as fast on the others.
inline Job job_of(double submit_s, int gpus, double ideal_s, int max_gpus = 0, SpeedUp speed_up = {}) {
  Job job;
  job.submit_s = submit_s;
  job.requested = Milli::whole(gpus);
  job.max_gpus = max_gpus > 0 ? max_gpus : gpus;
  job.speed_up = speed_up;
  job.work = ideal_s * speed_up(gpus);
  job.type_speed.fill(0.5);
  job.type_speed[0] = 1.0;
  return job;
}

/// What a decision is about. Every job is active, in the order given.
struct Scene {
  Cluster cluster;
  std::vector<Job> jobs;
  std::vector<JobState> active;
  double now_s = 0.0;

  std::size_t add(const Job& job, Grant held = {}) {
    JobState state;
    state.job = static_cast<std::uint32_t>(jobs.size());
    state.remaining_work = job.work;
    state.held = held;
    state.started = !held.empty();
    jobs.push_back(job);
    active.push_back(state);
    return active.size() - 1;
  }
  DecisionView view() const {
    DecisionView view;
    view.now_s = now_s;
    view.cluster = &cluster;
    view.jobs = jobs;
    view.active = active;
    return view;
  }
  Allocation ledger() const {
    Allocation allocation(cluster);
    allocation.reset(active.size());
    return allocation;
  }
};

/// One to `Types` GPU types, up to `most` agents of every kind, some of which hold something that fits.
template <int Types>
Scene random_scene(Random& random, std::size_t most, bool fractions = true) {
  Scene scene;
  const std::size_t types = 1 + random.below(Types);
  for (std::size_t t = 0; t < types; ++t) {
    scene.cluster.types.push_back(pool(std::string(1, static_cast<char>('a' + t)),
                                       static_cast<int>(1 + random.below(9)), 1000 * (1 + random.below(4))));
  }
  scene.now_s = random.uniform(0.0, 1e5);
  Allocation held(scene.cluster);
  const std::size_t agents = random.below(static_cast<std::uint32_t>(most + 1));
  held.reset(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    Job job =
        job_of(random.uniform(0.0, scene.now_s), static_cast<int>(1 + random.below(5)),
               random.log_normal(6.0, 1.5), 8, SpeedUp{SpeedUp::Kind::kPower, random.uniform(0.5, 1.0)});
    if (fractions && random.below(4) == 0) job.requested = Milli{1 + random.below(999)};
    job.demand = {random.below(4000), Milli{random.below(6000)}, random.below(20000)};
    for (double& speed : job.type_speed) speed = random.below(4) == 0 ? 0.0 : random.uniform(0.1, 2.0);
    Grant grant;
    if (random.below(2) == 0) {
      grant =
          TieredRequest<Types>::grant(job, static_cast<int>(random.below(TieredRequest<Types>::kOptions)));
      if (!held.claim(i, job.demand, grant)) grant = {};
    }
    const std::size_t agent = scene.add(job, grant);
    JobState& state = scene.active[agent];
    state.remaining_work *= random.uniform();
    state.started = state.started || random.below(2) == 0;
    state.restarts = static_cast<int>(random.below(3));
    state.overhead_left_s = grant.empty() ? 0.0 : random.uniform(0.0, 60.0);
  }
  return scene;
}

/// Recounts what the grants use, without the ledger's own books.
inline void require_within_capacity(const Scene& scene, const Allocation& allocation) {
  for (std::size_t t = 0; t < scene.cluster.types.size(); ++t) {
    const GpuType& type = scene.cluster.types[t];
    std::int64_t gpus = 0, cpu = 0, memory = 0;
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent) {
      const Grant grant = allocation.grant(agent);
      if (grant.type != static_cast<std::int32_t>(t)) continue;
      const Job& job = scene.jobs[scene.active[agent].job];
      REQUIRE(grant.gpus.value > 0);
      REQUIRE(job.demand.gpu_memory_mib <= type.gpu_memory_mib);
      gpus += grant.gpus.value;
      cpu += job.demand.cpu.value;
      memory += job.demand.memory_mib;
    }
    REQUIRE(gpus <= 1000 * std::int64_t{type.gpus()});
    REQUIRE(cpu <= type.cpu().value);
    REQUIRE(memory <= type.memory_mib());
  }
}

}  // namespace mara::test
