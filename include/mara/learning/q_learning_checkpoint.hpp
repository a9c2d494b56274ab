#pragma once
// Stop and resume of QTrainer.

#include "mara/learning/q_learning.hpp"
#include "mara/learning/trainer_checkpoint.hpp"

namespace mara {

namespace detail {
inline OptimiserSections q_optimiser() {
  return {"first_moment", "second_moment", "optimiser_steps"};
}
}  // namespace detail

template <Mixing M>
std::vector<std::uint64_t> QTrainer<M>::identity() const {
  const SequenceShape& shape = replay_.shape();
  return {shape.game.agents,
          shape.game.observation,
          shape.game.state,
          shape.game.action.options(),
          shape.steps,
          shape.memory,
          networks_.stored(),
          networks_.mixer_at(),
          M::kPerAgent ? 1u : 0u,
          M::kCentral ? 1u : 0u,
          config_.environments,
          static_cast<std::uint64_t>(config_.optimiser),
          replay_.prioritised() ? 1u : 0u};
}

template <Mixing M>
Status QTrainer<M>::save(const FilePath& path) const {
  ArchiveWriter out("q_learning");
  out.put("identity", identity());
  out.put_value("env_steps", env_steps_);
  out.put_value("updates", updates_);
  out.put_value("draw", draw_.state());
  noisy_.save(out);
  out.put_value("lowest_reward", loss_.reward_range().lowest);
  out.put_value("highest_reward", loss_.reward_range().highest);
  out.put("parameters", std::span<const float>(parameters_));
  out.put("target", std::span<const float>(target_));
  std::visit([&](const auto& optimiser) { save_optimiser(out, detail::q_optimiser(), optimiser); },
             optimiser_);
  replay_.save(out);
  collector_.save(out);
  return out.write(path);
}

template <Mixing M>
Status QTrainer<M>::load(const FilePath& path) {
  CheckpointReader in(path, "q_learning");
  std::vector<std::uint64_t> found;
  in.all("identity", found);
  if (found != identity())
    in.take(Error{ErrorCode::kShapeMismatch, "of another game, other networks, another replay or optimiser"});
  std::int64_t env_steps = 0, updates = 0;
  Random::State draw;
  RewardRange range;
  NoisyTeam noisy = noisy_;
  AlignedVector<float> parameters(parameters_.size()), target(target_.size());
  Optimiser optimiser = make_optimiser();
  in.value("env_steps", env_steps);
  in.value("updates", updates);
  in.value("draw", draw);
  in.part(noisy);
  in.value("lowest_reward", range.lowest);
  in.value("highest_reward", range.highest);
  in.exact("parameters", parameters);
  in.exact("target", target);
  std::visit([&](auto& to) { in.optimiser(detail::q_optimiser(), to); }, optimiser);
  auto replay = SequenceReplay::create(replay_.shape(), config_.replay_pieces, config_.priority_alpha);
  if (!replay) return replay.error();
  in.part(*replay);
  in.part(collector_);  // the last sections: it changes nothing when it fails
  if (!in.status()) return in.status();
  replay_ = std::move(*replay);
  optimiser_ = std::move(optimiser);
  parameters_ = std::move(parameters);
  target_ = std::move(target);
  env_steps_ = env_steps;
  updates_ = updates;
  draw_ = Random(draw);
  loss_.reward_range() = range;
  noisy_ = std::move(noisy);
  return {};
}

}  // namespace mara
