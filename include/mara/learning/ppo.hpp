#pragma once
// PPO for one agent with actions that are numbers, on a batch of environments.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/diagonal_gaussian.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/core/archive.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/environment/batch.hpp"
#include "mara/learning/gae.hpp"
#include "mara/learning/ppo_config.hpp"
#include "mara/learning/ppo_losses.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/random_batch.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/mlp.hpp"
#include "mara/nn/single_output.hpp"

namespace mara {

/// Trains a Gaussian policy and a value function, perceptrons with hidden layers Hidden..., by PPO (Schulman
/// et al. 2017) with generalised advantages (Schulman et al. 2016). Each update plays rollout_steps in every
/// environment of the batch and then goes through them `epochs` times in minibatches; what does not fill a
/// minibatch is left out in that epoch. After the first update nothing is allocated. The same seed gives the
/// same bits.
template <BatchEnvironment E, std::size_t... Hidden>
class PpoTrainer {
 public:
  static constexpr std::size_t kObservation = E::kObservation, kActions = E::kActions;
  using Actor = Mlp<float, kObservation, Hidden..., kActions>;
  using Critic = Mlp<float, kObservation, Hidden..., 1>;
  using Policy = DiagonalGaussian<kActions>;

  /// Errors: kInvalidArgument names the field, also when a rollout holds no whole minibatch.
  static Result<PpoTrainer> create(const PpoConfig& config, E environment) {
    if (const Status valid = validate(config); !valid) return valid.error();
    const std::size_t rows = environment.size() * static_cast<std::size_t>(config.rollout_steps);
    if (static_cast<std::size_t>(config.minibatch_rows) > rows)
      return Error{ErrorCode::kInvalidArgument,
                   "ppo: minibatch_rows = " + std::to_string(config.minibatch_rows) +
                       " is more than a rollout's " + std::to_string(rows)};
    return PpoTrainer(config, std::move(environment));
  }

  /// One rollout and the epochs on it. Errors: kNumerical names the loss that is not finite; networks then
  /// keep the weights of the last good step.
  Result<PpoReport> update() {
    PpoReport report;
    if (const Status played = collect(report); !played) return played.error();
    estimate_advantages();
    if (const Status improved = improve(report); !improved) return improved.error();
    report.env_steps = env_steps_;
    return report;
  }

  /// The most probable actions, in the environment's units: observations [rows x kObservation], actions [rows
  /// x kActions].
  void act(const float* observations, std::size_t rows, float* actions) {
    actor_.forward(observations, rows, actions, actor_workspace_);
    const simd::VecF scale = simd::broadcast(static_cast<float>(config_.action_scale));
    simd::transform(actions, rows * kActions, actions, [scale](simd::VecF a) { return a * scale; });
  }

  std::int64_t env_steps() const noexcept { return env_steps_; }
  const PpoConfig& config() const noexcept { return config_; }
  const E& environment() const noexcept { return environment_; }
  Actor& actor() noexcept { return actor_; }
  const Actor& actor() const noexcept { return actor_; }
  const Critic& critic() const noexcept { return critic_; }
  /// Logarithms of the standard deviations of the policy's actions.
  typename Policy::LogStd log_std() const noexcept { return log_std_; }

  /// Everything a run needs to go on bit-identically, written atomically. Errors: kIo.
  Status save(const FilePath& path) const;
  /// Continues from a checkpoint of a trainer that was created alike. On an error in the file nothing has
  /// changed.
  Status load(const FilePath& path);

 private:
  PpoTrainer(const PpoConfig& config, E environment);
  Status collect(PpoReport& report);
  void estimate_advantages();
  Status improve(PpoReport& report);
  void gather(std::size_t begin);
  Status improve_actor(PpoReport& report);
  Status improve_critic(PpoReport& report);
  std::size_t rows() const noexcept { return environments_ * steps_; }

  /// All that an epoch needs of a step, beside each other so that a random row costs one cache line or two.
  struct Row {
    std::array<float, kObservation> observation;
    std::array<float, kActions> action;
    float log_probability, advantage, target;
  };

  PpoConfig config_;
  E environment_;
  std::size_t environments_, steps_, batch_rows_;
  Random noise_random_, shuffle_;
  Actor actor_;
  Critic critic_;
  std::array<float, kActions> log_std_{}, log_std_gradient_{};
  Adam<float> actor_adam_, log_std_adam_, critic_adam_;
  typename Actor::Workspace actor_workspace_;
  typename Critic::Workspace critic_workspace_;
  std::int64_t env_steps_ = 0;
  AlignedVector<float> episode_returns_;  ///< of the episodes under way, [environments]

  // Scratch of an update; [steps x environments] unless said otherwise.
  AlignedVector<float> observations_;    ///< [steps + 1 x environments x kObservation]
  AlignedVector<float> means_;           ///< [environments x kActions]
  AlignedVector<float> scaled_actions_;  ///< [environments x kActions], as the environment takes them
  AlignedVector<float> actions_, log_probabilities_, rewards_, scaled_rewards_;
  AlignedVector<float> values_, next_values_, advantages_, keep_;
  std::vector<StepEnd> ends_;
  AlignedVector<float> final_observations_, final_values_;  ///< of truncated episodes
  std::vector<std::size_t> truncated_;                      ///< their steps
  AlignedVector<Row> rows_;
  std::vector<std::uint32_t> order_, words_;
  // One minibatch.
  AlignedVector<float> batch_observations_, batch_actions_, batch_log_probabilities_, batch_advantages_,
      batch_targets_;
  Tape<float> tape_;
};

}  // namespace mara

#include "mara/learning/ppo_checkpoint.hpp"  // IWYU pragma: export
#include "mara/learning/ppo_update.hpp"      // IWYU pragma: export
