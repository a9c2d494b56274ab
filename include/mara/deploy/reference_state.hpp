#pragma once
// One fixed state of a small cluster. What an encoder writes for it identifies the meaning of its numbers: a
// weights file carries them, so that an actor is never fed observations that it was not trained on.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mara/environment/cluster_observation.hpp"

namespace mara::deploy {

/// The observations of three jobs (one runs, one is captive to type 0, one asks for half a GPU) on two nodes
/// of eight GPUs of each type; 3 x ClusterObservation::kSize numbers.
template <int Types>
std::vector<float> reference_numbers(ObservationConfig config) {
  constexpr std::size_t kJobs = 3;
  const double unit = config.time_unit_s;
  Cluster cluster;
  std::array<Job, kJobs> jobs;
  for (int t = 0; t < Types; ++t) {
    GpuType type;
    type.name = "type " + std::to_string(t);
    type.nodes = 2;
    type.gpus_per_node = 8;
    type.gpu_memory_mib = 32768;
    type.cpu_per_node = kDefaultCpuPerNode;
    type.memory_mib_per_node = kDefaultMemoryMibPerNode;
    cluster.types.push_back(std::move(type));
    const double speed = 1.0 / (1.0 + 0.5 * t);
    jobs[0].type_speed[static_cast<std::size_t>(t)] = speed;
    jobs[1].type_speed[static_cast<std::size_t>(t)] = t == 0 ? 1.0 : 0.0;
    jobs[2].type_speed[static_cast<std::size_t>(t)] = speed * speed;
  }
  constexpr std::array<double, kJobs> kUnitsOfWork{40.0, 9.0, 2.0};
  constexpr std::array<Milli, kJobs> kRequested{Milli{4000}, Milli{8000}, Milli{500}};
  std::array<JobState, kJobs> active;
  for (std::size_t i = 0; i < kJobs; ++i) {
    Job& job = jobs[i];
    job.submit_s = unit * static_cast<double>(i);
    job.work = unit * kUnitsOfWork[i];
    job.requested = kRequested[i];
    job.max_gpus = i == 0 ? 8 : 1;
    job.speed_up = {SpeedUp::Kind::kPower, 0.8};
    active[i].job = static_cast<std::uint32_t>(i);
    active[i].remaining_work = job.work;
  }
  active[0].remaining_work *= 0.6;
  active[0].overhead_left_s = 0.1 * unit;
  active[0].held = Grant{0, Milli{4000}};
  active[0].started = true;
  active[0].restarts = 2;

  DecisionView view;
  view.now_s = 5.0 * unit;
  view.cluster = &cluster;
  view.jobs = {jobs.data(), jobs.size()};
  view.active = {active.data(), active.size()};
  ClusterObservation<Types> observation(config);
  observation.prepare(view);
  std::vector<float> numbers(kJobs * static_cast<std::size_t>(ClusterObservation<Types>::kSize));
  observation.write_agents(view, numbers.data());
  return numbers;
}

}  // namespace mara::deploy
