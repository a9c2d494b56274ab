#pragma once
// Stop and resume of TeamPpoTrainer.

#include "mara/learning/team_ppo.hpp"
#include "mara/learning/trainer_checkpoint.hpp"

namespace mara {

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::save(const FilePath& path) const {
  ArchiveWriter out("team_ppo");
  out.put_value("env_steps", env_steps_);
  out.put_value("shuffle", shuffle_.state());
  out.put("actor", std::span<const float>(actor_weights_));
  out.put("critic", std::span<const float>(critic_weights_));
  save_optimiser(out, optimiser_of("actor"), actor_adam_);
  save_optimiser(out, optimiser_of("critic"), critic_adam_);
  out.put_value("value_normaliser", normaliser_.state());
  out.put_value("environments", static_cast<std::uint64_t>(players_.size()));
  for (const TeamPlayer& player : players_) {
    player.runner.save(out);
    out.put("actor_memory", player.actor_memory);
    out.put("critic_memory", player.critic_memory);
    out.put_value("episode_return", player.episode_return);
  }
  return out.write(path);
}

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::load(const FilePath& path) {
  CheckpointReader in(path, "team_ppo");
  std::int64_t env_steps = 0;
  Random::State shuffle;
  AlignedVector<float> actor(actor_weights_.size()), critic(critic_weights_.size());
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
  std::vector<TeamPlayer> players;
  players.reserve(players_.size());
  for (std::size_t e = 0; in.status() && e < players_.size(); ++e) {
    TeamPlayer& player = players.emplace_back(fresh_runner(e), actor_->memory(), critic_.memory());
    in.part(player.runner);
    in.exact("actor_memory", player.actor_memory);
    in.exact("critic_memory", player.critic_memory);
    in.value("episode_return", player.episode_return);
  }
  if (!in.status()) return in.status();
  players_ = std::move(players);
  std::copy(actor.begin(), actor.end(), actor_weights_.begin());
  std::copy(critic.begin(), critic.end(), critic_weights_.begin());
  actor_adam_ = std::move(actor_adam);
  critic_adam_ = std::move(critic_adam);
  normaliser_.set_state(normaliser);
  shuffle_ = Random(shuffle);
  env_steps_ = env_steps;
  return {};
}

}  // namespace mara
