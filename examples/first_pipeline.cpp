// Composes a pipeline for a small cluster and the workload of the Philly trace, trains it, and acts once.
// Usage: example-first_pipeline [models/philly.json]
#include <cstdio>
#include <mara/mara.hpp>
using namespace mara;
using Cluster3 = ClusterEnvironment<3>;  // three GPU types
using Mara = Pipeline<Cluster3, TieredRequest<3>, critic::Centralised<64, 64>, guidance::AllActionRegulariser,
                      learning::Mappo<64, 64>>;

int main(int argc, char** argv) {
  const auto model = load_workload_model(argc > 1 ? argv[1] : "models/philly.json");
  if (!model) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 2;
  Cluster3::Config game;
  game.cluster = parse_cluster("a100:4x8,v100:4x8,t4:4x8").value();
  game.time_unit_s = 0.5 * mean_interarrival_s(*model);  // a decision at every half gap
  game.workload = [&](auto seed) {
    return bind_jobs(trace_from_model(*model, seed, 400).value(), game.cluster);
  };

  const ListScheduler<3> expert(kTunedListParameters, game.time_unit_s);
  const auto flow =
      Mara::flow_from_expert(game, expert, {.iterations = 0, .first = {.environments = 8}}).value();
  auto learner = Mara::create({.environments = 16, .episode_steps = 128, .group = 4}, game, {}, flow).value();
  learner.train(8192, [](auto& round) { std::printf("reward %.3f\n", round.team_reward); }).value();
  learner.save_actor("first_pipeline.actor").value();

  Cluster3 now(game);
  now.reset(2026).value();
  while (now.agents() < 5) now.step();
  Allocation given(game.cluster);
  given.reset(now.agents());
  learner.deploy(1000).value().decide(now.view(), given);
  for (std::size_t i = 0; i < now.agents(); ++i)
    std::printf("job %zu: %g GPUs of type %d\n", i, given.grant(i).gpus.as_double(), given.grant(i).type);
}
