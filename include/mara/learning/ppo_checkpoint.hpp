#pragma once
// Stop and resume of PpoTrainer.

#include "mara/learning/ppo.hpp"

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
  const std::pair<const char*, const Adam<float>*> optimisers[] = {
      {"actor", &actor_adam_}, {"log_std", &log_std_adam_}, {"critic", &critic_adam_}};
  for (const auto& [name, adam] : optimisers) {
    out.put(std::string(name) + "_first", adam->first_moment());
    out.put(std::string(name) + "_second", adam->second_moment());
    out.put_value(std::string(name) + "_updates", adam->steps());
  }
  out.put("episode_returns", std::span<const float>(episode_returns_));
  environment_.save(out);
  return out.write(path);
}

template <BatchEnvironment E, std::size_t... H>
Status PpoTrainer<E, H...>::load(const FilePath& path) {
  auto opened = ArchiveReader::open(path, "ppo");
  if (!opened) return opened.error();
  ArchiveReader& in = *opened;
  // Everything is read and checked before the trainer is touched.
  std::int64_t env_steps = 0;
  Random::State noise, shuffle;
  std::vector<float> actor(Actor::kStored), log_std(kActions), critic(Critic::kStored);
  std::vector<float> episode_returns(environments_);
  struct Moments {
    std::vector<float> first, second;
    std::uint64_t updates = 0;
  };
  Moments actor_moments{actor, actor}, log_std_moments{log_std, log_std}, critic_moments{critic, critic};
  Status status = in.get_value("env_steps", env_steps);
  if (status) status = in.get_value("noise", noise);
  if (status) status = in.get_value("shuffle", shuffle);
  if (status) status = in.get_exact("actor", std::span<float>(actor));
  if (status) status = in.get_exact("log_std", std::span<float>(log_std));
  if (status) status = in.get_exact("critic", std::span<float>(critic));
  const std::pair<const char*, Moments*> optimisers[] = {
      {"actor", &actor_moments}, {"log_std", &log_std_moments}, {"critic", &critic_moments}};
  for (const auto& [name, moments] : optimisers) {
    if (status) status = in.get_exact(std::string(name) + "_first", std::span<float>(moments->first));
    if (status) status = in.get_exact(std::string(name) + "_second", std::span<float>(moments->second));
    if (status) status = in.get_value(std::string(name) + "_updates", moments->updates);
  }
  if (status) status = in.get_exact("episode_returns", std::span<float>(episode_returns));
  if (status) status = environment_.load(in);  // the last section: it changes nothing when it fails
  if (!status) return status;
  std::copy(actor.begin(), actor.end(), actor_.parameters().begin());
  std::copy(log_std.begin(), log_std.end(), log_std_.begin());
  std::copy(critic.begin(), critic.end(), critic_.parameters().begin());
  actor_adam_.restore(actor_moments.first, actor_moments.second, actor_moments.updates).value();
  log_std_adam_.restore(log_std_moments.first, log_std_moments.second, log_std_moments.updates).value();
  critic_adam_.restore(critic_moments.first, critic_moments.second, critic_moments.updates).value();
  std::copy(episode_returns.begin(), episode_returns.end(), episode_returns_.begin());
  noise_random_ = Random(noise);
  shuffle_ = Random(shuffle);
  env_steps_ = env_steps;
  return {};
}

}  // namespace mara
