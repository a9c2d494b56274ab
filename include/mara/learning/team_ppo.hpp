#pragma once
// The PPO family for games: IPPO, MAPPO, and PPO of a single agent, with discrete, numeric and mixed actions.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/parallel.hpp"
#include "mara/critic/centralised_values.hpp"
#include "mara/critic/independent_values.hpp"
#include "mara/critic/pooled_values.hpp"
#include "mara/learning/team_advantages.hpp"
#include "mara/learning/team_ppo_config.hpp"
#include "mara/learning/team_ppo_gradients.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/pop_art.hpp"
#include "mara/nn/value_normaliser.hpp"

namespace mara {

/// Clipped policy optimisation of a team (Schulman et al. 2017) with generalised advantages. The critic
/// policy makes the member of the family: critic::IndependentValues is IPPO, critic::CentralisedValues MAPPO,
/// critic::PooledValues MAPPO for many agents; IPPO of JointGame is PPO over the joint problem. Fulfils
/// GameTrainer. One update(): a rollout of every environment, then epochs over it in minibatches of whole
/// sequences (single steps without recurrence). Agents that are absent are in no loss and in no mean. The
/// same seed gives the same bits for any number of threads (one binary).
template <critic::ValueCritic Critic, guidance::Mode Guidance = guidance::None>
class TeamPpoTrainer {
  static_assert(!Guidance::kActorInput,
                "TeamPpoTrainer: the flow as an input of the actor belongs into the observation of the game");

 public:
  using Config = TeamPpoConfig<typename Critic::Config>;
  using Policy = TeamPolicy;

  /// `make` builds environment number i; all are alike. `source` is required by modes that use it. Errors
  /// (kInvalidArgument) name the field of the configuration, or come from the game.
  static Result<std::unique_ptr<TeamPpoTrainer>> create(const Config& config, const GameMaker& make) {
    return create(config, make, Guidance{});
  }
  static Result<std::unique_ptr<TeamPpoTrainer>> create(const Config& config, const GameMaker& make,
                                                        Guidance guidance, TeamGuidance source = {});

  /// Errors: kNumerical with the name of the loss; networks keep the weights of the last good step.
  Result<TrainingReport> update();

  std::int64_t env_steps() const noexcept { return env_steps_; }
  /// The actor's storage (TeamActor).
  std::span<const float> weights() const noexcept { return actor_weights_; }
  /// The most probable options and the means.
  Policy policy(std::span<const float> weights) const { return Policy(actor_, weights, false); }
  /// Draws, as in training: for games whose optimum is random.
  Policy random_policy(std::span<const float> weights) const { return Policy(actor_, weights, true); }

  const Config& config() const noexcept { return config_; }
  const TeamActor& actor() const noexcept { return *actor_; }
  const Critic& critic() const noexcept { return critic_; }
  std::span<const float> critic_weights() const noexcept { return critic_weights_; }
  const ValueNormaliser<float>& normaliser() const noexcept { return normaliser_; }
  /// What the last update() learnt from, one per environment.
  const std::vector<TeamRollout>& rollouts() const noexcept { return rollouts_; }

  /// Everything a run needs to go on bit-identically, written atomically. Errors: kIo.
  Status save(const FilePath& path) const;
  /// Continues from a checkpoint of a trainer that was created alike. On an error nothing has changed.
  Status load(const FilePath& path);

 private:
  TeamPpoTrainer(const Config& config, const GameMaker& make, Guidance guidance, TeamGuidance source,
                 std::shared_ptr<const TeamActor> actor, Critic critic);
  static Status check(const Config& config, const TeamActor& actor, const Critic& critic,
                      const TeamGuidance& source);

  static AdamConfig adam_config(const Config& config, double rate) noexcept {
    return {
        .learning_rate = rate, .epsilon = config.adam_epsilon, .max_gradient_norm = config.max_gradient_norm};
  }
  GameRunner fresh_runner(std::size_t e) const {
    return GameRunner(make_(static_cast<int>(e)), Random(config_.seed, 0x706c000000000000ull + e),
                      config_.episode_steps, static_cast<std::int64_t>(e));
  }
  std::uint64_t episode_seed(std::size_t e, std::uint64_t episode) const noexcept {
    return Random(config_.seed, 0x6570000000000000ull + (static_cast<std::uint64_t>(e) << 32) + episode)
        .next64();
  }
  double progress() const noexcept {
    return std::min(1.0, static_cast<double>(env_steps_) / static_cast<double>(config_.total_steps));
  }
  Status collect();
  Status estimate();
  Status improve(TrainingReport& report);

  /// One of the threads of a minibatch: a tape, and the gradients of its share of the losses.
  struct Lane {
    Tape<float> tape;
    TeamBatch batch;
    AlignedVector<float> actor_gradients, critic_gradients;
    TeamLossReport report;
    Status status;
  };
  /// What rows of a minibatch are divided by.
  struct Scales {
    std::size_t live = 0, values = 0;  ///< agents' steps, and values, that count
    AdvantageMoments advantages;
  };
  /// Sums of what the minibatches of an update measured.
  struct Totals {
    TeamLossReport losses;
    double policy_norm = 0.0, value_norm = 0.0;
    std::int64_t actor_batches = 0, actor_steps = 0, critic_steps = 0;
    bool actor_stopped = false;
  };
  Status learn_from(std::span<const TeamSequence> minibatch, Totals& totals);
  Scales scales(std::span<const TeamSequence> minibatch) const;
  void weigh(const Scales& scales, TeamBatch& b) const;
  Status step_actor(std::size_t lanes, std::size_t live, Totals& totals);
  Status step_critic(std::size_t lanes, Totals& totals);
  double explained_variance() const noexcept;

  Config config_;
  GameMaker make_;
  Guidance guidance_;
  TeamGuidance source_;
  std::shared_ptr<const TeamActor> actor_;
  Critic critic_;
  TeamBatchShape batch_shape_;
  Random shuffle_;
  AlignedVector<float> actor_weights_, critic_weights_;
  Adam<float> actor_adam_, critic_adam_;
  ValueNormaliser<float> normaliser_;
  std::vector<TeamPlayer> players_;
  std::int64_t env_steps_ = 0;
  ThreadPool pool_;
  // Scratch of an update.
  std::vector<TeamRollout> rollouts_;
  std::vector<TeamValueWorkspace<Critic>> value_work_;
  AdvantageMoments advantage_moments_;
  ValueNormaliser<float> old_normaliser_;  ///< that turns the old values back into what the critic said
  TeamLossConfig loss_config_;
  std::vector<Lane> lanes_;
};

}  // namespace mara

#include "mara/learning/team_ppo_checkpoint.hpp"  // IWYU pragma: export
#include "mara/learning/team_ppo_create.hpp"      // IWYU pragma: export
#include "mara/learning/team_ppo_update.hpp"      // IWYU pragma: export

namespace mara {

/// Independent PPO and multi-agent PPO.
using IppoTrainer = TeamPpoTrainer<critic::IndependentValues>;
using TeamMappoTrainer = TeamPpoTrainer<critic::CentralisedValues>;

static_assert(GameTrainer<IppoTrainer> && GameTrainer<TeamMappoTrainer>);
static_assert(GameTrainer<TeamPpoTrainer<critic::PooledValues>>);

}  // namespace mara
