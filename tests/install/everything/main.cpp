// A user's program: includes everything and simulates two jobs on one GPU, first come first served.
#include <cstdio>
#include <mara/mara.hpp>

int main() {
  const auto cluster = mara::parse_cluster("a100:1x1");
  if (!cluster) return 1;
  std::vector<mara::Job> jobs(2);
  for (mara::Job& job : jobs) {
    job.work = 100.0;
    job.type_speed[0] = 1.0;
  }
  mara::Fcfs fcfs;
  mara::SimulationConfig config;
  config.overheads = {0.0, 0.0};
  const auto result = mara::simulate(*cluster, jobs, fcfs, config);
  if (!result) {
    std::printf("failed: %s\n", result.error().message.c_str());
    return 1;
  }
  std::printf("the second job ends after %g s\n", result->records[1].end_s);
  return result->records[1].end_s == 200.0 ? 0 : 1;
}
