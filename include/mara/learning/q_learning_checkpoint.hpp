#pragma once
// Stop and resume of QTrainer.

#include "mara/learning/q_learning.hpp"

namespace mara {

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
  out.put("parameters", std::span<const float>(parameters_));
  out.put("target", std::span<const float>(target_));
  std::visit(
      [&out](const auto& optimiser) {
        out.put("first_moment", optimiser.first_moment());
        out.put("second_moment", optimiser.second_moment());
        out.put_value("optimiser_steps", optimiser.steps());
      },
      optimiser_);
  replay_.save(out);
  collector_.save(out);
  return out.write(path);
}

template <Mixing M>
Status QTrainer<M>::load(const FilePath& path) {
  auto opened = ArchiveReader::open(path, "q_learning");
  if (!opened) return opened.error();
  ArchiveReader& in = *opened;
  // Everything is read and checked before the trainer is touched.
  std::vector<std::uint64_t> found;
  if (Status status = in.get("identity", found); !status) return status;
  if (found != identity())
    return Error{ErrorCode::kShapeMismatch,
                 path.string() + ": of another game, other networks, another replay or optimiser"};
  std::int64_t env_steps = 0, updates = 0;
  Random::State draw;
  AlignedVector<float> parameters(parameters_.size()), target(target_.size());
  std::vector<float> first, second;
  std::uint64_t steps = 0;
  Status status = in.get_value("env_steps", env_steps);
  if (status) status = in.get_value("updates", updates);
  if (status) status = in.get_value("draw", draw);
  if (status) status = in.get_exact("parameters", std::span<float>(parameters));
  if (status) status = in.get_exact("target", std::span<float>(target));
  if (status) status = in.get("first_moment", first);
  if (status) status = in.get("second_moment", second);
  if (status) status = in.get_value("optimiser_steps", steps);
  if (!status) return status;
  Optimiser optimiser = make_optimiser();
  status = std::visit([&](auto& o) { return o.restore(first, second, steps); }, optimiser);
  if (!status) return Error{status.error().code, path.string() + ": " + status.error().message};
  auto replay = SequenceReplay::create(replay_.shape(), config_.replay_pieces, config_.priority_alpha);
  if (!replay) return replay.error();
  status = replay->load(in);
  if (status) status = collector_.load(in);  // the last section: it changes nothing when it fails
  if (!status) return Error{status.error().code, path.string() + ": " + status.error().message};
  replay_ = std::move(*replay);
  optimiser_ = std::move(optimiser);
  parameters_ = std::move(parameters);
  target_ = std::move(target);
  env_steps_ = env_steps;
  updates_ = updates;
  draw_ = Random(draw);
  return {};
}

}  // namespace mara
