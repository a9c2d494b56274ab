#pragma once
// MADDPG: each agent's deterministic actor is improved by a critic that sees the state and all actions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/action_distribution.hpp"
#include "mara/core/archive.hpp"
#include "mara/core/file.hpp"
#include "mara/core/parallel.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/learning/maddpg_losses.hpp"
#include "mara/learning/noisy_team.hpp"
#include "mara/learning/sequence_collector.hpp"
#include "mara/learning/sequence_replay.hpp"
#include "mara/nn/adam.hpp"

namespace mara {

/// Acts with the weights of actors, without noise: the most probable options, and numbers as the networks say
/// them. Fulfils GamePolicy.
class MaddpgPolicy {
 public:
  MaddpgPolicy(std::shared_ptr<const MaddpgPlan> plan, std::span<const float> weights)
      : plan_(std::move(plan)),
        weights_(weights),
        distribution_(plan_->game.action, BoxKind::kTanhGaussian),
        outputs_(plan_->slots() * plan_->width()),
        latent_(plan_->game.action.numbers()) {}

  void begin(std::uint64_t) noexcept {}
  void look(const GameFrame& frame) {
    plan_->actors.step(weights_.data(), frame.observations.data(), 1, nullptr, nullptr, outputs_.data(),
                       workspace_);
  }
  bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float* numbers) {
    if (!distribution_.mode(outputs_.data() + slot * plan_->width(), masks, options, latent_.data()))
      return false;
    distribution_.to_numbers(latent_.data(), numbers);
    return true;
  }

 private:
  std::shared_ptr<const MaddpgPlan> plan_;
  std::span<const float> weights_;
  ActionDistribution distribution_;
  std::vector<float> outputs_, latent_;
  AgentTeam::Workspace workspace_;
};

/// Multi-agent deep deterministic policy gradient (Lowe et al. 2017), for numbers, options (straight-through
/// Gumbel-softmax) and both. The defaults are not the original but TD3's (Fujimoto, van Hoof and Meger 2018):
/// twin critics, delayed actors and targets, smoothed target actions. The original has twin_critics = false,
/// policy_delay = 1, target_noise.deviation = 0, and actors.groups = separate_groups(slots), a network for
/// each agent. Fulfils GameTrainer. Same seed, same bits for any number of threads (one
/// binary). Masks of a next step are those seen before anybody chose there.
class MaddpgTrainer {
 public:
  using Config = MaddpgConfig;
  using Policy = MaddpgPolicy;

  /// Errors name the field of the configuration, or come from the game.
  static Result<std::unique_ptr<MaddpgTrainer>> create(const MaddpgConfig& config, const GameMaker& make);

  /// round_steps steps of every game, then round_updates critic steps (none while random_steps last).
  /// Reported values: critic_loss, actor_loss (their means), mean_q (of the first critic on what was done),
  /// critic_gradient_norm, actor_gradient_norm (before clipping), noise, replay; those of learning are NaN
  /// where there was no step. Errors: of the games; kNumerical with the name of the loss, all networks then
  /// keep the weights of their last good step.
  Result<TrainingReport> update();

  std::int64_t env_steps() const noexcept { return env_steps_; }
  std::span<const float> weights() const noexcept { return actor_; }
  Policy policy(std::span<const float> weights) const { return Policy(plan_, weights); }

  const MaddpgConfig& config() const noexcept { return config_; }
  const MaddpgPlan& plan() const noexcept { return *plan_; }
  const SequenceReplay& replay() const noexcept { return replay_; }
  /// Parameters of the critics, and the slow copies of these and of the actors'.
  std::span<const float> critic_weights() const noexcept { return critic_; }
  std::span<const float> target_critic_weights() const noexcept { return target_critic_; }
  std::span<const float> target_weights() const noexcept { return target_actor_; }

  /// Everything a run needs to go on bit-identically, the replay too, written atomically.
  Status save(const FilePath& path) const;
  /// Continues from a checkpoint of a trainer that was created alike. On an error nothing has changed.
  Status load(const FilePath& path);

 private:
  /// Transitions of a batch that are worked on together; fixed, so that sums do not depend on threads.
  static constexpr std::size_t kChunk = 128;

  struct Chunk {
    Tape<float> tape;
    AgentTeam::Workspace actor_workspace;
    AgentNetwork::Workspace critic_workspace;
    std::vector<float> inputs, next_inputs, outputs, next_values, targets, weights, uniforms;
    AlignedVector<float> gradients;
    double loss = 0.0, value = 0.0;
    Status status;
  };
  /// Sums over the critic and actor steps of an update().
  struct Learnt {
    int critic_steps = 0, actor_steps = 0;
    double critic_loss = 0.0, actor_loss = 0.0, value = 0.0, critic_norm = 0.0, actor_norm = 0.0;
  };
  /// What a random stream is for; see stream().
  enum class Purpose : std::uint64_t { kBatch = 1, kTarget = 2, kActor = 3 };

  MaddpgTrainer(const MaddpgConfig& config, std::shared_ptr<const MaddpgPlan> plan,
                SequenceCollector collector, SequenceReplay replay);

  /// Streams are named by what they are for and the number of critic steps: nothing of them is to be saved.
  Random stream(Purpose purpose, std::size_t chunk) const noexcept {
    return Random(config_.seed, (0x6d61ull << 48) + (static_cast<std::uint64_t>(purpose) << 44) +
                                    (static_cast<std::uint64_t>(critic_steps_) << 12) + chunk);
  }
  double noise() const noexcept;
  std::size_t chunks() const noexcept { return (batch_.count + kChunk - 1) / kChunk; }
  std::size_t chunk_size(std::size_t k) const noexcept { return std::min(kChunk, batch_.count - k * kChunk); }

  Result<CollectorReport> play();
  Status learn(Learnt& learnt);
  void record_critic(std::size_t k, float share);
  void record_actor(std::size_t k, const MaddpgActorLossConfig& config);
  /// Adds up losses and gradients of all chunks, in order, and goes one step. Returns the loss.
  Result<double> step(const char* loss, Adam<float>& adam, AlignedVector<float>& parameters);

  MaddpgConfig config_;
  std::shared_ptr<const MaddpgPlan> plan_;
  SequenceCollector collector_;
  NoisyTeam noisy_;
  SequenceReplay replay_;
  AlignedVector<float> actor_, target_actor_, critic_, target_critic_;
  Adam<float> actor_adam_, critic_adam_;
  std::int64_t env_steps_ = 0, critic_steps_ = 0;
  ThreadPool pool_;
  // Scratch of an update.
  SequenceBatch batch_;
  std::vector<Chunk> chunks_;
};

}  // namespace mara

#include "mara/learning/maddpg_checkpoint.hpp"  // IWYU pragma: export
#include "mara/learning/maddpg_update.hpp"      // IWYU pragma: export

namespace mara {
static_assert(GamePolicy<MaddpgPolicy>);
static_assert(GameTrainer<MaddpgTrainer>);
}  // namespace mara
