#pragma once
// MAPPO: a shared actor, a centralised critic, and optional flow guidance.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/file.hpp"
#include "mara/learning/mappo_config.hpp"
#include "mara/learning/mappo_losses.hpp"
#include "mara/learning/rollout.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/value_normaliser.hpp"

namespace mara {

/// The learner for environment E, critic policy C (e.g. critic::Centralised<64, 64>), guidance mode G and
/// actor hidden widths. One update() = one rollout and its epochs. Same seed, same bits for any number of
/// threads (one binary).
template <Environment E, class C, guidance::Mode G, std::size_t... Hidden>
class MappoTrainer {
 public:
  using Flow = DefaultFlow<E>;
  using Critic = typename C::template Model<E>;
  static constexpr std::size_t kInputs = static_cast<std::size_t>(E::kObservation) +
                                         (G::kActorInput ? static_cast<std::size_t>(E::kOptions) : 0);
  using Actor = Mlp<float, kInputs, Hidden..., static_cast<std::size_t>(E::kOptions)>;
  using Config = MappoConfig;
  using Report = MappoReport;

  /// `make` builds environment number i; environments of one group must be alike. `flow` is required by modes
  /// that use the field, and ignored by the others. Errors name the field of the configuration, or come from
  /// reset().
  static Result<std::unique_ptr<MappoTrainer>> create(const MappoConfig& config,
                                                      const std::function<E(int)>& make, G guidance = {},
                                                      std::shared_ptr<const Flow> flow = nullptr) {
    if (const Status valid = validate(config, flow != nullptr); !valid) return valid.error();
    std::unique_ptr<MappoTrainer> trainer(
        new MappoTrainer(config, make, std::move(guidance), std::move(flow)));
    for (std::size_t e = 0; e < trainer->players_.size(); ++e) {
      Player<E>& player = trainer->players_[e];
      const std::size_t group = e / static_cast<std::size_t>(config.group);
      // The first episodes of the groups end at different times, so that a rollout sees all phases of an
      // episode.
      const std::size_t groups = (trainer->players_.size() + static_cast<std::size_t>(config.group) - 1) /
                                 static_cast<std::size_t>(config.group);
      player.limit = config.episode_steps == 0
                         ? 0
                         : std::max<std::int32_t>(
                               1, static_cast<std::int32_t>(static_cast<std::size_t>(config.episode_steps) *
                                                            (group + 1) / groups));
      if (const Status begun = player.begin(trainer->episode_seed(group, 0)); !begun) return begun.error();
    }
    return trainer;
  }

  /// One rollout and the epochs on it. Errors: kNumerical with the name of the loss; the networks then keep
  /// the weights of the last good step.
  Result<MappoReport> update();

  std::int64_t env_steps() const noexcept { return env_steps_; }
  bool finished() const noexcept { return env_steps_ >= config_.total_steps; }
  const Actor& actor() const noexcept { return actor_; }
  const Critic& critic() const noexcept { return critic_; }
  const G& guidance() const noexcept { return guidance_; }
  const MappoConfig& config() const noexcept { return config_; }

  /// Everything a run needs to go on bit-identically, written atomically.
  Status save(const FilePath& path) const;
  /// Continues from a checkpoint of a trainer that was created alike. On an error nothing has changed.
  Status load(const FilePath& path);

 private:
  MappoTrainer(const MappoConfig& config, const std::function<E(int)>& make, G guidance,
               std::shared_ptr<const Flow> flow);
  static Status validate(const MappoConfig& config, bool has_flow);

  std::uint64_t episode_seed(std::size_t group, std::uint64_t episode) const noexcept {
    return Random(config_.seed, 0x6570000000000000ull + (static_cast<std::uint64_t>(group) << 32) + episode)
        .next64();
  }
  double progress() const noexcept {
    return std::min(1.0, static_cast<double>(env_steps_) /
                             static_cast<double>(std::max<std::int64_t>(1, config_.total_steps)));
  }
  Status collect();
  void estimate_advantages();
  Status improve_actor(MappoReport& report);
  Status improve_critic(MappoReport& report);

  MappoConfig config_;
  std::function<E(int)> make_;
  G guidance_;
  std::shared_ptr<const Flow> flow_;
  Random initial_, shuffle_;
  Actor actor_;
  Critic critic_;
  Adam<float> actor_adam_, critic_adam_;
  ValueNormaliser<float> normaliser_;
  std::vector<Player<E>> players_;
  std::int64_t env_steps_ = 0;
  ThreadPool pool_;
  // Scratch of an update.
  Rollout rollout_;
  xt::xtensor<float, 2> values_, advantages_, returns_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> row_index_;  // (environment, row)
  std::vector<float> row_advantage_;
  struct Chunk {
    Tape<float> tape;
    PolicyBatch batch;
    std::vector<float> gradients;
    PolicyLossReport report;
  };
  std::vector<Chunk> chunks_;
  Tape<float> critic_tape_;
  ValueBatch value_batch_;
};

}  // namespace mara

#include "mara/learning/mappo_checkpoint.hpp"  // IWYU pragma: export
#include "mara/learning/mappo_update.hpp"      // IWYU pragma: export
