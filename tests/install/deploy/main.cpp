// A scheduler of its own that embeds an actor: writes a weights file, loads it, lets it decide for three jobs
// on a small cluster, and checks that what comes back keeps every limit.
#include <cstdio>
#include <vector>

#include "deploy_headers.hpp"

namespace {

int fail(const char* what) {
  std::printf("failed: %s\n", what);
  return 1;
}

}  // namespace

int main() {
  using Actor = mara::deploy::Actor<2, 16>;
  Actor::Network network;  // untrained: all options are alike to it
  const auto made = Actor::create(network, {}, 8, {"a100", "t4"});
  if (!made) return fail(made.error().message.c_str());
  if (const auto saved = made->save("actor.weights"); !saved) return fail(saved.error().message.c_str());
  auto actor = Actor::load("actor.weights", 8);
  if (!actor) return fail(actor.error().message.c_str());
  if (Actor::load("no_such_file", 8)) return fail("a missing file was loaded");

  mara::Cluster cluster;
  for (const char* name : {"a100", "t4"}) {
    mara::GpuType type;
    type.name = name;
    type.nodes = 1;
    type.gpus_per_node = 4;
    type.gpu_memory_mib = 16384;
    type.cpu_per_node = mara::kDefaultCpuPerNode;
    type.memory_mib_per_node = mara::kDefaultMemoryMibPerNode;
    cluster.types.push_back(type);
  }
  if (const auto fits = actor->check(cluster); !fits) return fail(fits.error().message.c_str());

  std::vector<mara::Job> jobs(3);
  std::vector<mara::JobState> active(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].work = jobs[i].max_gpus = 4;
    jobs[i].requested = mara::Milli::whole(4);
    jobs[i].type_speed = {1.0, 0.5};
    active[i].job = static_cast<std::uint32_t>(i);
    active[i].remaining_work = jobs[i].work;
  }
  mara::DecisionView view;
  view.cluster = &cluster;
  view.jobs = jobs;
  view.active = active;
  mara::Allocation allocation(cluster);
  allocation.reset(active.size());
  actor->decide(view, allocation);

  if (actor->refusals() != 0) return fail("the actor did not trust a sound view");
  std::int64_t granted = 0;
  for (int type = 0; type < 2; ++type) {
    if (allocation.used(type) > mara::Milli::whole(4)) return fail("more GPUs granted than there are");
    granted += allocation.used(type).units();
  }
  if (granted == 0) return fail("three jobs wait and nothing was granted");
  std::printf("mara::deploy: %lld of 8 GPUs granted\n", static_cast<long long>(granted));
  return 0;
}
