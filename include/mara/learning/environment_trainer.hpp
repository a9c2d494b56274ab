#pragma once
// A learner of games as the learner of a pipeline: environments with constant extents, a shared feed-forward
// actor that can be deployed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "mara/environment/environment_game.hpp"
#include "mara/guidance/flow_state_game.hpp"
#include "mara/guidance/modes.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/nn/agent_network_mlp.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// Hyper-parameters of a learner of games (`Base`) and what it takes to see an environment as a game.
template <class Base>
struct EnvironmentTrainerConfig : Base {
  /// The most agents at one time; an episode with more ends in an error that says so.
  std::size_t slots = 64;
};

/// What a family of learners of games tells EnvironmentTrainer:
/// - F::Trainer: a GameTrainer with Config;
/// - F::team(config) -> TeamConfig&: the actor within a configuration;
/// - F::network(trainer) -> const AgentNetwork&: the network of all agents;
/// - F::create(config, make, guidance, flow) -> Result<std::unique_ptr<F::Trainer>>.
template <class F>
concept LearnerFamily = GameTrainer<typename F::Trainer> &&
    requires(typename F::Trainer::Config& config, const typename F::Trainer& trainer) {
  { F::team(config) } -> std::same_as<TeamConfig&>;
  { F::network(trainer) } -> std::same_as<const AgentNetwork&>;
};

/// Fulfils what a pipeline asks of a trainer (pipeline/concepts.hpp). All agents share an actor with hidden
/// widths `Hidden...`, which stand in the configuration whatever was there; without ids, memory and dueling,
/// so that actor() is an Mlp and can be deployed. (The trainers themselves, TeamPpoTrainer and QTrainer, know
/// all of these.)
template <Environment E, LearnerFamily F, guidance::Mode G, std::size_t... Hidden>
class EnvironmentTrainer {
 public:
  using Trainer = typename F::Trainer;
  using Flow = DefaultFlow<E>;
  using Actor =
      Mlp<float, static_cast<std::size_t>(E::kObservation), Hidden..., static_cast<std::size_t>(E::kOptions)>;
  using Config = EnvironmentTrainerConfig<typename Trainer::Config>;
  using Report = TrainingReport;

  /// `make` builds environment number i. `flow` is required by modes that use the field, and ignored by the
  /// others. Errors (kInvalidArgument) name the field of the configuration; those of the trainer and of the
  /// environment's reset().
  static Result<std::unique_ptr<EnvironmentTrainer>> create(const Config& config,
                                                            const std::function<E(int)>& make,
                                                            G guidance = {},
                                                            std::shared_ptr<const Flow> flow = nullptr) {
    if (G::kUsesField && flow == nullptr)
      return bad("flow is missing: this guidance mode needs a trained field");
    if (config.slots == 0) return bad("slots = 0");
    if (config.slots > kLargestCount)
      return bad("slots = " + std::to_string(config.slots) + ", more than 2^31");
    typename Trainer::Config inner = config;
    TeamConfig& team = F::team(inner);
    if (team.network.recurrence != Recurrence::kNone || team.network.dueling || team.agent_ids ||
        !team.groups.empty() || !team.group_networks.empty())
      return bad("actors of a pipeline are feed-forward, shared, without ids and without dueling");
    team.network.hidden = {Hidden...};
    const GameMaker games = [make, flow, slots = config.slots](int i) {
      if constexpr (G::kStateInput) {
        return AnyGame(FlowStateGame<E, Flow>(make(i), slots, flow));
      } else {
        return AnyGame(EnvironmentGame<E>(make(i), slots));
      }
    };
    auto trainer = F::template create<E>(inner, games, std::move(guidance), std::move(flow));
    if (!trainer) return trainer.error();
    std::unique_ptr<EnvironmentTrainer> made(
        new EnvironmentTrainer(std::move(*trainer), team.network.activation));
    if (const Status copied = made->copy_actor(); !copied) return copied.error();
    return made;
  }

  /// One round. Errors: those of the trainer, which keeps the weights of the last good step.
  Result<TrainingReport> update() {
    auto report = trainer_->update();
    if (const Status copied = copy_actor(); !copied) return copied.error();
    return report;
  }

  std::int64_t env_steps() const noexcept { return trainer_->env_steps(); }
  const Actor& actor() const noexcept { return actor_; }
  const Trainer& trainer() const noexcept { return *trainer_; }

  /// Everything a run needs to go on bit-identically, written atomically. Errors: kIo.
  Status save(const FilePath& path) const { return trainer_->save(path); }
  /// Continues from a checkpoint of a trainer that was created alike. On an error nothing has changed.
  Status load(const FilePath& path) {
    if (Status loaded = trainer_->load(path); !loaded) return loaded;
    return copy_actor();
  }

 private:
  EnvironmentTrainer(std::unique_ptr<Trainer> trainer, Activation activation)
      : trainer_(std::move(trainer)), actor_(activation) {}
  static Error bad(const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, "environment trainer: " + what};
  }
  Status copy_actor() { return copy_to_mlp(F::network(*trainer_), trainer_->weights().data(), actor_); }

  std::unique_ptr<Trainer> trainer_;
  Actor actor_;
};

}  // namespace mara
