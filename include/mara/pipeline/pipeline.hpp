#pragma once
// The composed pipeline: environment, action space, critic, guidance and learner, from the first step to a
// deployed actor.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "mara/expert/demonstrations.hpp"
#include "mara/guidance/flow_from_expert.hpp"
#include "mara/pipeline/checks.hpp"
#include "mara/pipeline/deploy_actor.hpp"

namespace mara {

namespace detail {

/// Stands in for the trainer of a pipeline whose parameters do not fit, so that what the checks say is not
/// followed by errors from inside the library.
struct NoTrainer {
  struct Config {};
  struct Report {};
  struct Flow {};
  struct Actor {};
};

template <bool Fits, class E, class C, class G, class L>
struct PipelineTrainer {
  using type = NoTrainer;
  using Config = NoTrainer::Config;
};
template <class E, class C, class G, class L>
struct PipelineTrainer<true, E, C, G, L> {
  using type = typename L::template Trainer<E, C, G>;
  using Config = typename type::Config;
};

}  // namespace detail

/// An environment whose agents are jobs of a cluster that see ClusterObservation and choose from
/// TieredRequest, so that its actors can be deployed.
template <class E>
concept DeployableEnvironment = SchedulerEnvironment<E> && requires {
  requires std::same_as<typename E::ActionSpace, TieredRequest<E::kTypes>>;
  requires static_cast<int>(E::kObservation) == ClusterObservation<E::kTypes>::kSize;
};

/// A learner at work, for example
///   Pipeline<ClusterEnvironment<3>, TieredRequest<3>, critic::Centralised<64, 64>,
///   guidance::AllActionRegulariser,
///            learning::Mappo<64, 64>>.
/// Each parameter fulfils a concept (pipeline/concepts.hpp); what one lacks, the checks (pipeline/checks.hpp)
/// say in words. Moves, does not copy.
template <class E, class A, class C, class G, class L>
class Pipeline {
  static constexpr bool kFits = check_pipeline<E, A, C, G, L>();
  using Parts = detail::PipelineTrainer<kFits, E, C, G, L>;

 public:
  using Trainer = typename Parts::type;
  using Config = typename Parts::Config;
  using Report = typename Trainer::Report;
  using Flow = typename Trainer::Flow;    ///< the field that guides
  using Actor = typename Trainer::Actor;  ///< the network that learns to act

  /// A pipeline before its first step. `make(i)` builds environment number i. `flow`: required by guidance
  /// that uses the field (see flow_from_expert), ignored by others. Errors: those of the learner, which name
  /// the field of the configuration, and of the environment's reset().
  static Result<Pipeline> create(const Config& config, std::function<E(int)> make, G guidance = {},
                                 std::shared_ptr<const Flow> flow = nullptr) {
    if (!make)
      return Error{ErrorCode::kInvalidArgument, "make: the function that builds environments is not set"};
    auto trainer = Trainer::create(config, make, std::move(guidance), std::move(flow));
    if (!trainer) return trainer.error();
    return Pipeline(std::move(make), std::move(trainer).value());
  }

  /// The same with all environments built from one description, such as ClusterEnvironmentConfig.
  template <class Setup>
  requires(std::constructible_from<E, const Setup&> && !std::is_invocable_v<const Setup&, int>) static Result<
      Pipeline> create(const Config& config, const Setup& setup, G guidance = {},
                       std::shared_ptr<const Flow> flow = nullptr) {
    auto pipeline = create(config, maker(setup), std::move(guidance), std::move(flow));
    if constexpr (requires { ObservationConfig{setup.time_unit_s}; })
      if (pipeline) pipeline->observation_ = ObservationConfig{setup.time_unit_s};
    return pipeline;
  }

  /// The field for guidance that uses one: `expert` (a SequentialExpert such as ListScheduler) demonstrates,
  /// the flow is fitted, plays, and is corrected. `environments`: as in create(), a function or a
  /// description. Errors: those of mara::flow_from_expert().
  template <class Environments, SequentialExpert S>
  static Result<std::shared_ptr<const Flow>> flow_from_expert(
      const Environments& environments, const S& expert, const ExpertFlowConfig& config = {},
      ExpertFlowReport* report = nullptr) requires SchedulerEnvironment<E> {
    return mara::flow_from_expert<Flow, E>(maker(environments), expert, config, report);
  }

  /// Learns for at least `steps` more environment steps, all environments together; a round that has begun is
  /// finished. `report` is told about every round. Errors: negative steps; those of the learner, which then
  /// keeps its last good weights.
  Status train(std::int64_t steps, const std::function<void(const Report&)>& report = {}) {
    if (steps < 0)
      return Error{ErrorCode::kInvalidArgument, "steps = " + std::to_string(steps) + " is negative"};
    const std::int64_t begin = env_steps();
    while (env_steps() - begin < steps) {
      const Result<Report> round = trainer_->update();
      if (!round) return round.error();
      if (report) report(*round);
    }
    return {};
  }

  std::int64_t env_steps() const noexcept { return trainer_->env_steps(); }
  const Actor& actor() const noexcept { return trainer_->actor(); }
  Trainer& trainer() noexcept { return *trainer_; }
  const Trainer& trainer() const noexcept { return *trainer_; }

  /// Everything that a run needs to go on bit-identically. Errors: kIo.
  Status save(const std::string& path) const { return trainer_->save(path); }
  /// Goes on from save() of a pipeline created alike. On an error nothing has changed.
  Status load(const std::string& path) { return trainer_->load(path); }

  /// A copy of the actor as a Scheduler, for at most `max_agents` jobs at a time: Result<deploy::Actor<...>>.
  /// Errors: as deploy::Actor::create(); kState when a function builds the environments and they do not tell
  /// their time unit.
  auto deploy(std::size_t max_agents) const requires DeployableEnvironment<E> {
    using Deployed = Result<DeployedActor<E::kTypes, Actor>>;
    const E environment = make_(0);
    std::optional<ObservationConfig> observation = observation_;
    if constexpr (requires { ObservationConfig{environment.config().time_unit_s}; })
      observation = ObservationConfig{environment.config().time_unit_s};
    if (!observation)
      return Deployed(Error{ErrorCode::kState,
                            "time_unit_s: unknown, since a function builds the environments; create "
                            "the pipeline from their configuration, or call deploy_actor()"});
    return Deployed(deploy_actor<E::kTypes>(actor(), *observation, max_agents, environment.cluster()));
  }

  /// Writes the weights file that deploy::Actor::load() reads. Errors: as deploy(); kIo.
  Status save_actor(const std::string& path) const requires DeployableEnvironment<E> {
    const auto actor = deploy(1);
    if (!actor) return actor.error();
    return actor->save(path);
  }

 private:
  Pipeline(std::function<E(int)> make, std::unique_ptr<Trainer> trainer)
      : make_(std::move(make)), trainer_(std::move(trainer)) {}

  static std::function<E(int)> maker(const std::function<E(int)>& make) { return make; }
  template <class Setup>
  requires(std::constructible_from<E, const Setup&> &&
           !std::is_invocable_v<const Setup&, int>) static std::function<E(int)> maker(const Setup& setup) {
    return [setup](int) { return E(setup); };
  }

  std::function<E(int)> make_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<ObservationConfig> observation_;
};

}  // namespace mara
