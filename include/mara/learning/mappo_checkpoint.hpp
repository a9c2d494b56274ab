#pragma once
// Stop and resume of MappoTrainer.

#include "mara/learning/mappo.hpp"
#include "mara/learning/trainer_checkpoint.hpp"

namespace mara {

template <Environment E, class C, guidance::Mode G, std::size_t... H>
Status MappoTrainer<E, C, G, H...>::save(const FilePath& path) const {
  ArchiveWriter out("mappo");
  out.put_value("env_steps", env_steps_);
  out.put_value("shuffle", shuffle_.state());
  out.put("actor", std::span<const float>(actor_.parameters()));
  out.put("critic", std::span<const float>(critic_.network().parameters()));
  save_optimiser(out, optimiser_of("actor"), actor_adam_);
  save_optimiser(out, optimiser_of("critic"), critic_adam_);
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
  CheckpointReader in(path, "mappo");
  std::int64_t env_steps = 0;
  Random::State shuffle;
  std::vector<float> actor(Actor::kStored), critic(Critic::Network::kStored);
  Adam<float> actor_adam = actor_adam_, critic_adam = critic_adam_;
  typename ValueNormaliser<float>::State normaliser;
  in.value("env_steps", env_steps);
  in.value("shuffle", shuffle);
  in.exact("actor", actor);
  in.exact("critic", critic);
  in.optimiser(optimiser_of("actor"), actor_adam);
  in.optimiser(optimiser_of("critic"), critic_adam);
  in.value("value_normaliser", normaliser);
  in.expect("environments", players_.size());
  std::vector<Player<E>> players;
  players.reserve(players_.size());
  for (std::size_t e = 0; in.status() && e < players_.size(); ++e) {
    Random::State random;
    std::uint64_t episode = 0, episode_seed = 0;
    std::int32_t step = 0, limit = 0;
    std::vector<std::uint8_t> history;
    in.value("random", random);
    in.value("episode", episode);
    in.value("episode_seed", episode_seed);
    in.value("step", step);
    in.value("limit", limit);
    in.all("history", history);
    if (!in.status()) break;
    Player<E>& player = players.emplace_back(make_(static_cast<int>(e)), Random(random));
    player.episode = episode;
    player.limit = limit;
    in.take(player.replay(episode_seed, step, history));
  }
  if (!in.status()) return in.status();
  players_ = std::move(players);
  std::copy(actor.begin(), actor.end(), actor_.parameters().begin());
  std::copy(critic.begin(), critic.end(), critic_.network().parameters().begin());
  actor_adam_ = std::move(actor_adam);
  critic_adam_ = std::move(critic_adam);
  normaliser_.set_state(normaliser);
  shuffle_ = Random(shuffle);
  env_steps_ = env_steps;
  return {};
}

}  // namespace mara
