#pragma once
// The parts of an experiment: measuring a policy, and training one.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mara/critic/centralised.hpp"
#include "mara/expert/tuned_list.hpp"
#include "mara/guidance/flow_from_expert.hpp"
#include "mara/guidance/flow_policy.hpp"
#include "mara/learning/mappo.hpp"
#include "mara/pipeline/deploy_actor.hpp"
#include "report.hpp"
#include "scenario.hpp"

namespace lab {

using Environment3 = ClusterEnvironment<kTypes>;
using Flow3 = DefaultFlow<Environment3>;

inline constexpr std::size_t kMaxAgents = 4096;
inline constexpr std::size_t kActorWidth = 128;  ///< of both hidden layers

/// Runs `scheduler` over the jobs that a scenario judges on. Decisions at every arrival and completion, for
/// all policies alike.
template <Scheduler S>
Result<PolicyOutcome> judge(const Scenario& scenario, S& scheduler, const std::string& name, int seed) {
  SimulationConfig config;
  config.record_intervals = true;
  auto result = simulate(scenario.cluster, scenario.jobs, scheduler, config);
  if (!result) return result.error();
  PolicyOutcome outcome;
  outcome.name = name;
  outcome.seed = seed;
  outcome.metrics = measure(scenario.cluster, *result);
  outcome.result = std::move(*result);
  return outcome;
}

/// Workloads drawn from the scenario's model, apart from those of training: where learning is watched, the
/// weights to keep are chosen and parameters are tuned. Never the jobs to be judged on.
class Validation {
 public:
  static Result<Validation> create(const Scenario& scenario, int workloads, std::uint64_t seed) {
    Validation validation;
    validation.cluster_ = scenario.cluster;
    for (int i = 0; i < workloads; ++i) {
      auto drawn = scenario.draw(Random(seed, 0x76616cull).next64() + static_cast<std::uint64_t>(i),
                                 400.0 * scenario.time_unit_s);
      if (!drawn) return drawn.error();
      validation.workloads_.push_back(std::move(*drawn));
    }
    return validation;
  }

  /// Geometric mean over the workloads of the mean JCT, seconds: every workload counts alike, however crowded
  /// it is. Infinity when a job is left unfinished.
  template <Scheduler S>
  double jct_s(S& scheduler) const {
    double sum = 0.0;
    for (const auto& jobs : workloads_) {
      const auto result = simulate(cluster_, jobs, scheduler, SimulationConfig{});
      if (!result) return INFINITY;
      const Metrics metrics = measure(cluster_, *result);
      if (metrics.unfinished > 0 || !metrics.mean_jct_s) return INFINITY;
      sum += std::log(*metrics.mean_jct_s);
    }
    return std::exp(sum / static_cast<double>(workloads_.size()));
  }

 private:
  Cluster cluster_;
  std::vector<std::vector<Job>> workloads_;
};

inline ClusterEnvironmentConfig environment_config(const Scenario& scenario) {
  ClusterEnvironmentConfig config;
  config.cluster = scenario.cluster;
  config.time_unit_s = scenario.time_unit_s;
  config.episode_steps = 600;
  config.workload = [&scenario](std::uint64_t seed) {
    return scenario.draw(seed, 650.0 * scenario.time_unit_s);
  };
  return config;
}

/// The flow of one seed, and what it cost.
struct TrainedFlow {
  std::shared_ptr<const Flow3> flow;
  ExpertFlowReport report;
  double seconds = 0.0;
};

/// `steps`: of each environment in each round.
inline ExpertFlowConfig flow_config(std::uint64_t seed, int steps) {
  ExpertFlowConfig config;
  config.seed = seed;
  config.iterations = 4;
  config.first.steps = config.later.steps = steps;
  config.first.labelled_share = config.later.labelled_share = 0.7;
  config.first.rows = config.later.rows = 240'000;
  config.flow.matching.epochs = 2;
  config.final_epochs = 12;
  return config;
}

/// Learns the flow of `expert` in a scenario. `progress(round, epoch)` after every epoch.
inline Result<TrainedFlow> train_scenario_flow(const Scenario& scenario, const ListParameters& expert,
                                               std::uint64_t seed, int steps,
                                               const std::function<void(int, int)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  ClusterEnvironmentConfig config = environment_config(scenario);
  config.decide_at_events = true;  // the states that a deployed policy decides in
  const std::function<Environment3(int)> make = [&](int) { return Environment3(config); };
  TrainedFlow trained;
  auto flow = flow_from_expert<Flow3, Environment3>(
      make, ListScheduler<kTypes>(expert, scenario.time_unit_s), flow_config(seed, steps), &trained.report,
      [&](int round, int epoch, double) { progress(round, epoch); });
  if (!flow) return flow.error();
  trained.flow = std::move(*flow);
  trained.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return trained;
}

/// A trained learner: the actor's best weights on the validation workloads, and its curve.
template <class Actor>
struct TrainedActor {
  std::unique_ptr<Actor> actor;
  TrainingCurve curve;
};

/// An actor as it would be deployed: greedy, weights only.
template <class Actor>
auto deployed(const Actor& actor, const Scenario& scenario) {
  return deploy_actor<kTypes>(actor, ObservationConfig{scenario.time_unit_s}, kMaxAgents, scenario.cluster);
}

/// Trains MAPPO with guidance mode G for `steps` environment steps, measuring the greedy actor on
/// `validation` about 25 times. The weights that did best there are kept: for every learner alike.
template <guidance::Mode G>
Result<TrainedActor<
    typename MappoTrainer<Environment3, critic::Centralised<64, 64>, G, kActorWidth, kActorWidth>::Actor>>
train_learner(const Scenario& scenario, const Validation& validation, double best_rule_s,
              const std::string& name, std::uint64_t seed, std::int64_t steps, const G& guidance,
              std::shared_ptr<const Flow3> flow, const std::function<void(std::int64_t, double)>& progress) {
  using Trainer = MappoTrainer<Environment3, critic::Centralised<64, 64>, G, kActorWidth, kActorWidth>;
  using Actor = typename Trainer::Actor;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  MappoConfig config;
  config.seed = seed;
  config.total_steps = steps;
  config.episode_steps = 600;
  const std::int64_t rollout = static_cast<std::int64_t>(config.environments) * config.rollout_steps;
  if (steps < rollout)
    config.rollout_steps = static_cast<int>(std::max<std::int64_t>(1, steps / config.environments));
  const ClusterEnvironmentConfig environment = environment_config(scenario);
  auto trainer = Trainer::create(
      config, [&](int) { return Environment3(environment); }, guidance, flow);
  if (!trainer) return trainer.error();
  TrainedActor<Actor> trained;
  trained.curve.name = name;
  trained.curve.seed = static_cast<int>(seed);
  double best = INFINITY, team = 0.0;
  std::int64_t next_look = 0;
  const std::int64_t stride = std::max<std::int64_t>(rollout, steps / 25);
  int updates = 0;
  for (;;) {
    const bool last = (*trainer)->finished();
    if ((*trainer)->env_steps() >= next_look || last) {
      auto scheduler = deployed((*trainer)->actor(), scenario);
      if (!scheduler) return scheduler.error();
      const double jct = validation.jct_s(*scheduler);
      trained.curve.points.push_back(
          {(*trainer)->env_steps(), seconds(), jct, updates > 0 ? team / updates : std::nan("")});
      if (!trained.curve.steps_to_best_rule && jct <= best_rule_s)
        trained.curve.steps_to_best_rule = (*trainer)->env_steps();
      if (jct < best || !trained.actor) {
        best = jct;
        trained.actor = std::make_unique<Actor>((*trainer)->actor());
      }
      progress((*trainer)->env_steps(), jct);
      next_look += stride;
      team = 0.0;
      updates = 0;
    }
    if (last) break;
    const auto report = (*trainer)->update();
    if (!report) return report.error();
    team += report->team_reward;
    ++updates;
    progress((*trainer)->env_steps(), best);
  }
  trained.curve.env_steps = (*trainer)->env_steps();
  trained.curve.seconds = seconds();
  return trained;
}

}  // namespace lab
