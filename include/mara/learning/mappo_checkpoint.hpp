#pragma once
// Stop and resume of MappoTrainer.

#include "mara/learning/mappo.hpp"

namespace mara {

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::save(const FilePath& path) const {
  ArchiveWriter out("mappo");
  out.put_value("env_steps", env_steps_);
  out.put_value("shuffle", shuffle_.state());
  out.put("actor", std::span<const float>(actor_.parameters()));
  out.put("critic", std::span<const float>(critic_.network().parameters()));
  for (const auto& [name, adam] : {std::pair{"actor", &actor_adam_}, std::pair{"critic", &critic_adam_}}) {
    out.put(std::string(name) + "_first", adam->first_moment());
    out.put(std::string(name) + "_second", adam->second_moment());
    out.put_value(std::string(name) + "_updates", adam->steps());
  }
  out.put_value("value_normaliser", normaliser_.state());
  out.put_value("environments", static_cast<std::uint64_t>(players_.size()));
  for (const Player<E>& player : players_) {
    out.put_value("random", player.random.state());
    out.put_value("episode", player.episode);
    out.put_value("episode_seed", player.episode_seed);
    out.put_value("step", player.step);
    out.put_value("limit", player.limit);
    out.put("history", player.history);
  }
  return out.write(path);
}

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::load(const FilePath& path) {
  auto opened = ArchiveReader::open(path, "mappo");
  if (!opened) return opened.error();
  ArchiveReader& in = *opened;
  // Everything is read and checked before the trainer is touched.
  std::int64_t env_steps = 0;
  Random::State shuffle;
  std::vector<float> actor(Actor::kStored), critic(Critic::Network::kStored);
  struct Moments {
    std::vector<float> first, second;
    std::uint64_t updates = 0;
  };
  Moments actor_moments{actor, actor, 0}, critic_moments{critic, critic, 0};
  typename ValueNormaliser<float>::State normaliser;
  std::uint64_t environments = 0;
  Status status = in.get_value("env_steps", env_steps);
  if (status) status = in.get_value("shuffle", shuffle);
  if (status) status = in.get_exact("actor", std::span<float>(actor));
  if (status) status = in.get_exact("critic", std::span<float>(critic));
  for (const auto& [name, moments] :
       {std::pair{"actor", &actor_moments}, std::pair{"critic", &critic_moments}}) {
    if (status) status = in.get_exact(std::string(name) + "_first", std::span<float>(moments->first));
    if (status) status = in.get_exact(std::string(name) + "_second", std::span<float>(moments->second));
    if (status) status = in.get_value(std::string(name) + "_updates", moments->updates);
  }
  if (status) status = in.get_value("value_normaliser", normaliser);
  if (status) status = in.get_value("environments", environments);
  if (!status) return status;
  if (environments != players_.size()) {
    return Error{ErrorCode::kShapeMismatch, path.string() +
                                                ": environments = " + std::to_string(environments) +
                                                ", the trainer has " + std::to_string(players_.size())};
  }
  struct Saved {
    Random::State random;
    std::uint64_t episode = 0, episode_seed = 0;
    std::int32_t step = 0, limit = 0;
    std::vector<std::uint8_t> history;
  };
  std::vector<Saved> saved(players_.size());
  for (Saved& s : saved) {
    status = in.get_value("random", s.random);
    if (status) status = in.get_value("episode", s.episode);
    if (status) status = in.get_value("episode_seed", s.episode_seed);
    if (status) status = in.get_value("step", s.step);
    if (status) status = in.get_value("limit", s.limit);
    if (status) status = in.get("history", s.history);
    if (!status) return status;
  }
  std::vector<E> environments_now;
  for (std::size_t e = 0; e < players_.size(); ++e) {
    Player<E> fresh(make_(static_cast<int>(e)), Random(saved[e].random));
    if (status = fresh.replay(saved[e].episode_seed, saved[e].step, saved[e].history); !status) return status;
    environments_now.push_back(std::move(fresh.environment));
  }
  for (std::size_t e = 0; e < players_.size(); ++e) {
    Player<E>& player = players_[e];
    player.environment = std::move(environments_now[e]);
    player.random = Random(saved[e].random);
    player.episode = saved[e].episode;
    player.episode_seed = saved[e].episode_seed;
    player.step = saved[e].step;
    player.limit = saved[e].limit;
    player.history = std::move(saved[e].history);
  }
  std::copy(actor.begin(), actor.end(), actor_.parameters().begin());
  std::copy(critic.begin(), critic.end(), critic_.network().parameters().begin());
  actor_adam_.restore(actor_moments.first, actor_moments.second, actor_moments.updates).value();
  critic_adam_.restore(critic_moments.first, critic_moments.second, critic_moments.updates).value();
  normaliser_.set_state(normaliser);
  shuffle_ = Random(shuffle);
  env_steps_ = env_steps;
  return {};
}

}  // namespace mara
