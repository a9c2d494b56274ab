// Composes a pipeline for a small cluster and the workload of the Philly trace, trains it, and acts once.
// Usage: example-first_pipeline [models/philly.json]
#include <cstdio>
#include <mara/mara.hpp>
using namespace mara;
using Game = ClusterEnvironment<3>;  // three GPU types
using Scheduling = Pipeline<Game, TieredRequest<3>, critic::Centralized<64, 64>,
                            guidance::AllActionRegulariser, learning::Mappo<64, 64>>;

int main(int argc, char** argv) {
  const auto model = load_workload_model(argc > 1 ? argv[1] : "models/philly.json");
  if (!model) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 2;
  Game::Config game{.cluster = parse_cluster("a100:4x8,v100:4x8,t4:4x8").value()};
  game.time_unit_s = 0.5 * mean_interarrival_s(*model);
  game.workload = [&](auto seed) {
    return bind_jobs(trace_from_model(*model, seed, 400).value(), game.cluster);
  };

  const ListScheduler<3> expert(ListParameters{}, game.time_unit_s);
  const auto flow =
      Scheduling::flow_from_expert(game, expert, {.iterations = 0, .first = {.environments = 8}}).value();
  const MappoConfig config{.environments = 16, .episode_steps = 128, .group = 4, .total_steps = 8192};
  auto pipeline = Scheduling::create(config, game, {}, flow).value();
  pipeline.train(config.total_steps, [](auto& r) { std::printf("reward %.3f\n", r.team_reward); }).value();
  pipeline.save_actor("first_pipeline.actor").value();

  Game today(game);
  today.reset(2026).value();
  while (today.agents() < 5) today.step();
  auto actor = pipeline.deploy(1000).value();
  Allocation allocation(game.cluster);
  allocation.reset(today.agents());
  actor.decide(today.view(), allocation);
  for (std::size_t i = 0; i < today.agents(); ++i)
    std::printf("job %zu: %g GPUs of type %d\n", i, allocation.grant(i).gpus.as_double(),
                allocation.grant(i).type);
}
