#pragma once
// Clusters, states and networks that the deployment tests share.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/deploy/deploy.hpp"

namespace mara::test {

using SmallActor = deploy::Actor<3, 16, 8>;
inline constexpr ObservationConfig kUnit{300.0};

inline Cluster three_types() {
  return parse_cluster("a100:2x8,v100:2x8,t4:2x8").value();
}

/// Random weights, large enough that agents disagree.
template <class Network = SmallActor::Network>
Network random_network(std::uint64_t seed, float scale = 0.5f) {
  Random random(seed);
  std::vector<float> weights(Network::kParameters);
  for (float& w : weights) w = scale * static_cast<float>(random.normal());
  Network network(Activation::kTanh);
  network.set_parameters(weights).value();
  return network;
}

inline SmallActor small_actor(std::uint64_t seed = 1, std::size_t max_agents = 64) {
  return SmallActor::create(random_network(seed), kUnit, max_agents, {"a100", "v100", "t4"}).value();
}

/// A cluster and the jobs in it, as a scheduler finds them; the view points into the object.
struct Situation {
  Cluster cluster = three_types();
  std::vector<Job> jobs;
  std::vector<JobState> active;
  double now_s = 1e6;

  DecisionView view() const {
    DecisionView v;
    v.now_s = now_s;
    v.cluster = &cluster;
    v.jobs = jobs;
    v.active = active;
    return v;
  }
};

/// `count` jobs of mixed needs, some of which hold what a feasible ledger gave them.
inline Situation random_situation(std::uint64_t seed, std::size_t count) {
  Random random(seed, 7);
  Situation s;
  Allocation ledger(s.cluster);
  ledger.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    Job job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = s.now_s * random.uniform();
    job.requested = random.below(5) == 0 ? Milli{1 + random.below(999)}
                                         : Milli::whole(std::int64_t{1} << random.below(4));
    job.max_gpus = static_cast<int>(std::max<std::int64_t>(1, 2 * job.requested.units()));
    job.work = random.log_normal(7.0, 1.5);
    job.demand = {random.below(3) == 0 ? 30000 : 8000, Milli{random.below(4000)}, random.below(9000)};
    job.speed_up = {SpeedUp::Kind::kPower, random.uniform(0.6, 0.95)};
    job.type_speed = {1.0, random.below(4) == 0 ? 0.0 : random.uniform(0.4, 0.8), random.uniform(0.15, 0.5)};
    JobState state;
    state.job = static_cast<std::uint32_t>(i);
    state.remaining_work = job.work * random.uniform();
    const Grant wanted{static_cast<std::int32_t>(random.below(3)), job.requested};
    if (random.below(2) == 0 && job.rate(wanted) > 0.0 && ledger.claim(i, job.demand, wanted)) {
      state.held = wanted;
      state.started = true;
      state.restarts = static_cast<int>(random.below(3));
    }
    s.jobs.push_back(job);
    s.active.push_back(state);
  }
  return s;
}

/// What a scheduler decides.
template <class S>
std::vector<Grant> decide(S& scheduler, const DecisionView& view) {
  Allocation allocation(*view.cluster);
  allocation.reset(view.active.size());
  scheduler.decide(view, allocation);
  return {allocation.grants().begin(), allocation.grants().end()};
}

inline std::vector<Grant> held(const DecisionView& view) {
  std::vector<Grant> grants;
  for (const JobState& state : view.active) grants.push_back(state.held);
  return grants;
}

/// A path in the temporary folder; the file goes with the object.
struct TemporaryPath {
  std::string path;
  explicit TemporaryPath(const std::string& name)
      : path((std::filesystem::temp_directory_path() / name).string()) {
    std::filesystem::remove(path);
  }
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
};

}  // namespace mara::test
