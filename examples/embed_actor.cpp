// A scheduler of one's own asks a trained actor what to run where. Any C++20 compiler will do, and no other
// package:
//   c++ -std=c++20 -Iinclude examples/embed_actor.cpp
// Usage: example-embed_actor [first_pipeline.actor]     (the weights file that example-first_pipeline writes)
#include <cstdio>
#include <mara/deploy/deploy.hpp>

int main(int argc, char** argv) {
  auto actor = mara::deploy::Actor<3, 64, 64>::load(argc > 1 ? argv[1] : "first_pipeline.actor", 1000);
  if (!actor) return std::fprintf(stderr, "%s\n", actor.error().message.c_str()), 2;
  const mara::Cluster cluster = mara::parse_cluster("a100:4x8,v100:4x8,t4:4x8").value();
  if (const auto fits = actor->check(cluster); !fits)
    return std::fprintf(stderr, "%s\n", fits.error().message.c_str()), 2;

  // What the scheduler knows about its jobs: submission, GPUs, memory, how long they would run on the fastest
  // type.
  std::vector<mara::Job> jobs(3);
  std::vector<mara::JobState> active(3);
  const double hours[] = {30.0, 4.0, 0.5};
  const std::int64_t gpus[] = {16, 8, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    mara::Job& job = jobs[i];
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = 600.0 * static_cast<double>(i);
    job.requested = mara::Milli::whole(gpus[i]);
    job.max_gpus = static_cast<int>(2 * gpus[i]);
    job.demand.gpu_memory_mib = 12 * 1024;
    job.speed_up.parameter = 0.85;       // k GPUs are k^0.85 times as fast as one
    job.type_speed = {1.0, 0.55, 0.25};  // relative to the first type of the cluster
    job.work = 3600.0 * hours[i] * job.speed_up(static_cast<double>(gpus[i]));
    active[i].job = static_cast<std::uint32_t>(i);
    active[i].remaining_work = job.work;
  }
  active[0].held = {1, mara::Milli::whole(16)};  // the first one runs on 16 V100s
  active[0].started = true;
  active[0].remaining_work *= 0.8;

  mara::DecisionView view;
  view.now_s = 1800.0;
  view.cluster = &cluster;
  view.jobs = jobs;
  view.active = active;
  mara::Allocation allocation(cluster);
  allocation.reset(active.size());
  actor->decide(view, allocation);  // no exception, no allocation of memory, no GPU handed out twice

  for (std::size_t i = 0; i < active.size(); ++i) {
    const mara::Grant grant = allocation.grant(i);
    std::printf("job %zu: %g of %s\n", i, grant.gpus.as_double(),
                grant.empty() ? "nothing" : cluster.types[static_cast<std::size_t>(grant.type)].name.c_str());
  }
}
