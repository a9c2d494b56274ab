#pragma once
// Stop and resume of MaddpgTrainer.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mara/learning/maddpg.hpp"

namespace mara {

inline Status MaddpgTrainer::save(const FilePath& path) const {
  ArchiveWriter out("maddpg");
  out.put_value("env_steps", env_steps_);
  out.put_value("critic_steps", critic_steps_);
  const auto network = [&out](const std::string& name, std::span<const float> weights,
                              std::span<const float> target, const Adam<float>& adam) {
    out.put(name, weights);
    out.put(name + "_target", target);
    out.put(name + "_first", adam.first_moment());
    out.put(name + "_second", adam.second_moment());
    out.put_value(name + "_updates", adam.steps());
  };
  network("actor", actor_, target_actor_, actor_adam_);
  network("critic", critic_, target_critic_, critic_adam_);
  out.put_value("environments", static_cast<std::uint64_t>(collector_.environments()));
  replay_.save(out);
  collector_.save(out);
  return out.write(path);
}

inline Status MaddpgTrainer::load(const FilePath& path) {
  auto opened = ArchiveReader::open(path, "maddpg");
  if (!opened) return opened.error();
  ArchiveReader& in = *opened;
  // Everything is read and checked before the trainer is touched.
  std::int64_t env_steps = 0, critic_steps = 0;
  Status status = in.get_value("env_steps", env_steps);
  if (status) status = in.get_value("critic_steps", critic_steps);
  struct Saved {
    AlignedVector<float> weights, target;
    Adam<float> adam;
  };
  const auto network = [&](const std::string& name, const AlignedVector<float>& like,
                           const Adam<float>& adam) {
    Saved saved{like, like, Adam<float>(like.size(), adam.config())};
    std::vector<float> first(like.size()), second(like.size());
    std::uint64_t updates = 0;
    if (status) status = in.get_exact(name, std::span<float>(saved.weights));
    if (status) status = in.get_exact(name + "_target", std::span<float>(saved.target));
    if (status) status = in.get_exact(name + "_first", std::span<float>(first));
    if (status) status = in.get_exact(name + "_second", std::span<float>(second));
    if (status) status = in.get_value(name + "_updates", updates);
    if (status) status = saved.adam.restore(first, second, updates);
    return saved;
  };
  Saved actor = network("actor", actor_, actor_adam_), critic = network("critic", critic_, critic_adam_);
  std::uint64_t environments = 0;
  if (status) status = in.get_value("environments", environments);
  if (!status) return status;
  if (environments != collector_.environments())
    return Error{ErrorCode::kShapeMismatch,
                 path.string() + ": environments = " + std::to_string(environments) + ", the trainer has " +
                     std::to_string(collector_.environments())};
  auto replay = SequenceReplay::create(replay_.shape(), replay_.capacity());
  if (!replay) return replay.error();
  if (status = replay->load(in); !status) return status;
  if (status = collector_.load(in); !status) return status;  // all or nothing, and the last of them
  replay_ = std::move(replay).value();
  actor_ = std::move(actor.weights);
  target_actor_ = std::move(actor.target);
  actor_adam_ = std::move(actor.adam);
  critic_ = std::move(critic.weights);
  target_critic_ = std::move(critic.target);
  critic_adam_ = std::move(critic.adam);
  env_steps_ = env_steps;
  critic_steps_ = critic_steps;
  return {};
}

}  // namespace mara
