#pragma once
// The scheduling game that the benchmarks of learning play.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mara/environment/cluster_environment.hpp"

namespace bench {

using namespace mara;
using Game3 = ClusterEnvironment<3>;

/// Poisson arrivals of heavy-tailed jobs, `rate` a step, on 16 GPUs of each of three types.
inline Game3::Config game_of(double rate) {
  Game3::Config game;
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

}  // namespace bench
