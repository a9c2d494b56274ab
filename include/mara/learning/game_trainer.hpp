#pragma once
// What all learners of games have in common.

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/result.hpp"
#include "mara/learning/evaluate.hpp"

namespace mara {

/// Whose reward an agent learns from.
enum class RewardKind : std::uint8_t {
  kTeam,        ///< the team reward, for everybody
  kIndividual,  ///< each agent's own
};

/// What one round of a learner did.
struct TrainingReport {
  std::int64_t env_steps = 0;  ///< so far, all environments together
  std::int64_t updates = 0;    ///< optimiser steps so far
  std::int64_t episodes = 0;   ///< that ended in this round
  /// Mean team return of these, as the game pays it (unshaped, undiscounted); NaN when none ended.
  double episode_return = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<std::string, double>> values;  ///< losses and the like, by name
};

/// A learner of games at work:
/// - update() -> Result<TrainingReport>: one round of experience and learning. A loss that is not finite is
/// an
///   error (kNumerical) that names the loss; weights stay those of the last good step;
/// - env_steps() -> std::int64_t;
/// - weights() -> std::span<const float>: everything that acting needs; policy(weights) -> a GamePolicy that
///   acts with these weights (which must outlive it), without exploration unless the optimum is random by
///   nature. Neither changes anything that trains;
/// - save(path), load(path) -> Status: everything that the run needs to go on bit-identically; load() changes
///   nothing when it fails.
template <class T>
concept GameLearner = requires(T& trainer, const T& fixed, std::span<const float> weights,
                               const FilePath& path) {
  { trainer.update() } -> std::same_as<Result<TrainingReport>>;
  { fixed.env_steps() } -> std::same_as<std::int64_t>;
  { fixed.weights() } -> std::same_as<std::span<const float>>;
  { fixed.policy(weights) } -> GamePolicy;
  { fixed.save(path) } -> std::same_as<Status>;
  { trainer.load(path) } -> std::same_as<Status>;
};

/// A type of GameLearner: T::Config is an aggregate of hyper-parameters, T::create(config, make) ->
/// Result<std::unique_ptr<T>>; errors name the field and the value.
template <class T>
concept GameTrainer = GameLearner<T> && requires(const typename T::Config& config, const GameMaker& make) {
  { T::create(config, make) } -> std::same_as<Result<std::unique_ptr<T>>>;
};

}  // namespace mara
