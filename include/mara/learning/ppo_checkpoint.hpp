#pragma once
// Stop and resume of PpoTrainer.

#include "mara/learning/ppo.hpp"
#include "mara/learning/trainer_checkpoint.hpp"

namespace mara {

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::save(const FilePath& path) const {
  ArchiveWriter out("ppo");
  out.put_value("env_steps", env_steps_);
  out.put_value("noise", noise_random_.state());
  out.put_value("shuffle", shuffle_.state());
  out.put("actor", actor_.parameters());
  out.put("log_std", std::span<const float>(log_std_));
  out.put("critic", critic_.parameters());
  save_optimiser(out, optimiser_of("actor"), actor_adam_);
  save_optimiser(out, optimiser_of("log_std"), log_std_adam_);
  save_optimiser(out, optimiser_of("critic"), critic_adam_);
  out.put("episode_returns", std::span<const float>(episode_returns_));
  environment_.save(out);
  return out.write(path);
}

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::load(const FilePath& path) {
  CheckpointReader in(path, "ppo");
  std::int64_t env_steps = 0;
  Random::State noise, shuffle;
  std::vector<float> actor(Actor::kStored), log_std(kActions), critic(Critic::kStored);
  Adam<float> actor_adam = actor_adam_, log_std_adam = log_std_adam_, critic_adam = critic_adam_;
  std::vector<float> episode_returns(environments_);
  in.value("env_steps", env_steps);
  in.value("noise", noise);
  in.value("shuffle", shuffle);
  in.exact("actor", actor);
  in.exact("log_std", log_std);
  in.exact("critic", critic);
  in.optimiser(optimiser_of("actor"), actor_adam);
  in.optimiser(optimiser_of("log_std"), log_std_adam);
  in.optimiser(optimiser_of("critic"), critic_adam);
  in.exact("episode_returns", episode_returns);
  in.part(environment_);  // the last section: it changes nothing when it fails
  if (!in.status()) return in.status();
  std::copy(actor.begin(), actor.end(), actor_.parameters().begin());
  std::copy(log_std.begin(), log_std.end(), log_std_.begin());
  std::copy(critic.begin(), critic.end(), critic_.parameters().begin());
  actor_adam_ = std::move(actor_adam);
  log_std_adam_ = std::move(log_std_adam);
  critic_adam_ = std::move(critic_adam);
  std::copy(episode_returns.begin(), episode_returns.end(), episode_returns_.begin());
  noise_random_ = Random(noise);
  shuffle_ = Random(shuffle);
  env_steps_ = env_steps;
  return {};
}

}  // namespace mara
