#pragma once
// Stop and resume of MaddpgTrainer.

#include <string>
#include <utility>

#include "mara/learning/maddpg.hpp"
#include "mara/learning/trainer_checkpoint.hpp"

namespace mara {

inline Status MaddpgTrainer::save(const FilePath& path) const {
  ArchiveWriter out("maddpg");
  out.put_value("env_steps", env_steps_);
  out.put_value("critic_steps", critic_steps_);
  noisy_.save(out);
  const auto network = [&out](const std::string& name, std::span<const float> weights,
                              std::span<const float> target, const Adam<float>& adam) {
    out.put(name, weights);
    out.put(name + "_target", target);
    save_optimiser(out, optimiser_of(name), adam);
  };
  network("actor", actor_, target_actor_, actor_adam_);
  network("critic", critic_, target_critic_, critic_adam_);
  out.put_value("environments", static_cast<std::uint64_t>(collector_.environments()));
  replay_.save(out);
  collector_.save(out);
  return out.write(path);
}

inline Status MaddpgTrainer::load(const FilePath& path) {
  CheckpointReader in(path, "maddpg");
  std::int64_t env_steps = 0, critic_steps = 0;
  in.value("env_steps", env_steps);
  in.value("critic_steps", critic_steps);
  NoisyTeam noisy = noisy_;
  in.part(noisy);
  struct Saved {
    AlignedVector<float> weights, target;
    Adam<float> adam;
  };
  const auto network = [&in](const std::string& name, Saved& saved) {
    in.exact(name, saved.weights);
    in.exact(name + "_target", saved.target);
    in.optimiser(optimiser_of(name), saved.adam);
  };
  Saved actor{actor_, target_actor_, actor_adam_}, critic{critic_, target_critic_, critic_adam_};
  network("actor", actor);
  network("critic", critic);
  in.expect("environments", collector_.environments());
  auto replay = SequenceReplay::create(replay_.shape(), replay_.capacity());
  if (!replay) return replay.error();
  in.part(*replay);
  in.part(collector_);  // the last sections: it changes nothing when it fails
  if (!in.status()) return in.status();
  replay_ = std::move(replay).value();
  actor_ = std::move(actor.weights);
  target_actor_ = std::move(actor.target);
  actor_adam_ = std::move(actor.adam);
  critic_ = std::move(critic.weights);
  target_critic_ = std::move(critic.target);
  critic_adam_ = std::move(critic.adam);
  env_steps_ = env_steps;
  critic_steps_ = critic_steps;
  noisy_ = std::move(noisy);
  return {};
}

}  // namespace mara
