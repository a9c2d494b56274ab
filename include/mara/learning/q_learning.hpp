#pragma once
// Q-learning with replay for teams: DQN and IQL, VDN, QMIX, weighted QMIX.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/parallel.hpp"
#include "mara/critic/no_mixing.hpp"
#include "mara/critic/optimistic_mixing.hpp"
#include "mara/critic/sum_mixing.hpp"
#include "mara/environment/flat_game.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/learning/noisy_team.hpp"
#include "mara/learning/q_guidance.hpp"
#include "mara/learning/q_learning_config.hpp"
#include "mara/learning/q_loss.hpp"
#include "mara/learning/q_networks.hpp"
#include "mara/learning/q_policy.hpp"
#include "mara/learning/sequence_collector.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/rms_prop.hpp"

namespace mara {

/// The learner for a mixing policy: critic::NoMixing (DQN, IQL), SumMixing (VDN), MonotonicMixing (QMIX),
/// OptimisticMixing (weighted QMIX). Actions: heads with at most 32 combinations of options, each of which
/// has a value (FlatGame); `guidance` sees these. A round plays collect_steps steps of every environment,
/// then takes `updates` optimiser steps. Same seed, same bits for any number of threads (one binary). Fulfils
/// GameTrainer.
template <Mixing M>
class QTrainer {
 public:
  using Config = QLearningConfig;
  using Policy = QPolicy;

  /// Errors name the field of the configuration; a game with numbers in its actions or more than 32
  /// combinations of options is refused, and a guidance without its callback.
  static Result<std::unique_ptr<QTrainer>> create(const QLearningConfig& config, const GameMaker& make,
                                                  QGuidance guidance = {});

  /// One round. Errors (kNumerical) name the loss that is not finite; the networks then keep the weights of
  /// the last good step.
  Result<TrainingReport> update();

  std::int64_t env_steps() const noexcept { return env_steps_; }
  std::int64_t updates() const noexcept { return updates_; }
  double epsilon() const noexcept { return config_.epsilon.at(static_cast<std::uint64_t>(env_steps_)); }
  const QLearningConfig& config() const noexcept { return config_; }
  const QNetworks<M>& networks() const noexcept { return networks_; }
  const SequenceReplay& replay() const noexcept { return replay_; }
  /// Bytes that the replay takes once it is full.
  std::size_t replay_bytes() const noexcept { return replay_.bytes(); }
  /// All parameters that are trained, in the layout of networks(), and those of the targets.
  std::span<const float> parameters() const noexcept { return parameters_; }
  std::span<const float> target_parameters() const noexcept { return target_; }

  /// The agents' parameters.
  std::span<const float> weights() const noexcept {
    return std::span<const float>(parameters_).first(networks_.team().stored());
  }
  QPolicy policy(std::span<const float> weights) const {
    return QPolicy(networks_.team(), options_, weights.data());
  }

  /// Everything a run needs to go on bit-identically, written atomically.
  Status save(const FilePath& path) const;
  /// Continues from a checkpoint of a trainer that was created alike. On an error nothing has changed.
  Status load(const FilePath& path);

 private:
  using Optimiser = std::variant<Adam<float>, RmsProp<float>>;

  QTrainer(const QLearningConfig& config, QGuidance guidance)
      : config_(config),
        guidance_(std::move(guidance)),
        noisy_(config.seed, config.parameter_noise),
        draw_(config.seed, 2),
        pool_(config.threads) {}

  Optimiser make_optimiser() const {
    const std::size_t size = networks_.stored();
    if (config_.optimiser == OptimiserKind::kRmsProp)
      return RmsProp<float>(size, RmsPropConfig{.learning_rate = config_.learning_rate,
                                                .max_gradient_norm = config_.max_gradient_norm});
    return Adam<float>(size, AdamConfig{.learning_rate = config_.learning_rate,
                                        .max_gradient_norm = config_.max_gradient_norm});
  }
  double beta() const noexcept {
    const double share =
        std::min(1.0, static_cast<double>(updates_) / static_cast<double>(config_.priority_beta_steps));
    return config_.priority_beta + (1.0 - config_.priority_beta) * share;
  }
  /// One optimiser step.
  Status learn();
  /// Numbers that a checkpoint must share with the trainer that reads it.
  std::vector<std::uint64_t> identity() const;

  QLearningConfig config_;
  QGuidance guidance_;
  FlatOptions options_;
  QNetworks<M> networks_;
  AlignedVector<float> parameters_, target_, gradients_;
  Optimiser optimiser_{std::in_place_type<Adam<float>>, std::size_t{0}};
  SequenceReplay replay_;
  SequenceCollector collector_;
  NoisyTeam noisy_;
  Random draw_;
  std::int64_t env_steps_ = 0, updates_ = 0;
  ThreadPool pool_;
  // Scratch of an update.
  SequenceBatch batch_;
  Tape<float> tape_;
  QLoss<M> loss_;
  double last_loss_ = 0.0;
};

}  // namespace mara

#include "mara/learning/q_learning_checkpoint.hpp"  // IWYU pragma: export
#include "mara/learning/q_learning_update.hpp"      // IWYU pragma: export
