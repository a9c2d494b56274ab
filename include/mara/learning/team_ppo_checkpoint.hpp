#pragma once
// Stop and resume of TeamPpoTrainer.

#include "mara/learning/team_ppo.hpp"

namespace mara {

template <critic::ValueCritic C, guidance::Mode G>
Status TeamPpoTrainer<C, G>::save(const FilePath& path) const {
  ArchiveWriter out("team_ppo");
  out.put_value("env_steps", env_steps_);
  out.put_value("shuffle", shuffle_.state());
  out.put("actor", std::span<const float>(actor_weights_));
  out.put("critic", std::span<const float>(critic_weights_));
  const std::pair<const char*, const Adam<float>*> optimisers[] = {{"actor", &actor_adam_},
                                                                   {"critic", &critic_adam_}};
  for (const auto& [name, adam] : optimisers) {
    out.put(std::string(name) + "_first", adam->first_moment());
    out.put(std::string(name) + "_second", adam->second_moment());
    out.put_value(std::string(name) + "_updates", adam->steps());
  }
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
  auto opened = ArchiveReader::open(path, "team_ppo");
  if (!opened) return opened.error();
  ArchiveReader& in = *opened;
  // Everything is read and checked before the trainer is touched.
  std::int64_t env_steps = 0;
  Random::State shuffle;
  std::vector<float> actor(actor_weights_.size()), critic(critic_weights_.size());
  struct Optimiser {
    std::vector<float> first, second;
    std::uint64_t updates = 0;
  };
  Optimiser actor_optimiser{actor, actor}, critic_optimiser{critic, critic};
  typename ValueNormaliser<float>::State normaliser;
  std::uint64_t environments = 0;
  Status status = in.get_value("env_steps", env_steps);
  if (status) status = in.get_value("shuffle", shuffle);
  if (status) status = in.get_exact("actor", std::span<float>(actor));
  if (status) status = in.get_exact("critic", std::span<float>(critic));
  const std::pair<const char*, Optimiser*> optimisers[] = {{"actor", &actor_optimiser},
                                                           {"critic", &critic_optimiser}};
  for (const auto& [name, optimiser] : optimisers) {
    if (status) status = in.get_exact(std::string(name) + "_first", std::span<float>(optimiser->first));
    if (status) status = in.get_exact(std::string(name) + "_second", std::span<float>(optimiser->second));
    if (status) status = in.get_value(std::string(name) + "_updates", optimiser->updates);
  }
  if (status) status = in.get_value("value_normaliser", normaliser);
  if (status) status = in.get_value("environments", environments);
  if (!status) return status;
  if (environments != players_.size())
    return Error{ErrorCode::kShapeMismatch, path.string() +
                                                ": environments = " + std::to_string(environments) +
                                                ", the trainer has " + std::to_string(players_.size())};
  std::vector<TeamPlayer> players;
  players.reserve(players_.size());
  for (std::size_t e = 0; e < players_.size(); ++e) {
    TeamPlayer& player = players.emplace_back(fresh_runner(e), actor_->memory(), critic_.memory());
    status = player.runner.load(in);
    if (status) status = in.get_exact("actor_memory", std::span<float>(player.actor_memory));
    if (status) status = in.get_exact("critic_memory", std::span<float>(player.critic_memory));
    if (status) status = in.get_value("episode_return", player.episode_return);
    if (!status) return status;
  }
  players_ = std::move(players);
  std::copy(actor.begin(), actor.end(), actor_weights_.begin());
  std::copy(critic.begin(), critic.end(), critic_weights_.begin());
  actor_adam_.restore(actor_optimiser.first, actor_optimiser.second, actor_optimiser.updates).value();
  critic_adam_.restore(critic_optimiser.first, critic_optimiser.second, critic_optimiser.updates).value();
  normaliser_.set_state(normaliser);
  shuffle_ = Random(shuffle);
  env_steps_ = env_steps;
  return {};
}

}  // namespace mara
