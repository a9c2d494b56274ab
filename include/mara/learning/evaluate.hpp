#pragma once
// Playing a game with a fixed policy, on fixed seeds, without touching anything that trains.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/learning/game_runner.hpp"

namespace mara {

/// What plays a game. begin(): an episode starts. look(frame): the moment before a turn, for all slots.
/// choose(slot, masks, options, numbers) -> bool: the action of a present slot, numbers within the bounds;
/// false when it has none. A policy that draws at random keeps a stream of its own; begin(seed) sets it.
template <class P>
concept GamePolicy = requires(P& policy, const GameFrame& frame, const OptionMask* masks,
                              std::int32_t* options, float* numbers) {
  { policy.begin(std::uint64_t{}) } -> std::same_as<void>;
  { policy.look(frame) } -> std::same_as<void>;
  { policy.choose(std::size_t{}, masks, options, numbers) } -> std::same_as<bool>;
};

/// One episode as it went. Returns are of rewards as the game gives them, never shaped.
struct EpisodeReturn {
  double team = 0.0;           ///< sum of team rewards
  double discounted = 0.0;     ///< the same, discounted by gamma
  std::vector<double> agents;  ///< sums of individual rewards, one per slot
  std::int64_t steps = 0;
  bool terminated = false;  ///< false: a time limit ended it
};

/// How to evaluate.
struct EvaluationConfig {
  std::uint64_t seed = 1'000'003;  ///< episode i is played with seed + i
  std::size_t episodes = 32;
  std::int32_t episode_steps = 0;  ///< time limit; 0: the game's own
  double gamma = 1.0;
};

/// Plays config.episodes episodes. Errors: episodes of 0; those of the game and of the policy.
template <GamePolicy P>
Result<std::vector<EpisodeReturn>> evaluate_policy(const GameMaker& make, P& policy,
                                                   const EvaluationConfig& config = {}) {
  if (config.episodes == 0) return Error{ErrorCode::kInvalidArgument, "evaluation: episodes = 0"};
  GameRunner runner(make(0), Random(config.seed), config.episode_steps);
  const GameShape shape = runner.shape();
  const std::size_t heads = shape.action.choices(), numbers = shape.action.numbers();
  GameFrame frame(shape);
  GameActions actions(shape);
  std::vector<EpisodeReturn> played(config.episodes);
  for (std::size_t e = 0; e < config.episodes; ++e) {
    EpisodeReturn& episode = played[e];
    episode.agents.assign(shape.agents, 0.0);
    if (const Status begun = runner.begin(config.seed + e); !begun) return begun.error();
    policy.begin(config.seed + e);
    double discount = 1.0;
    for (;;) {
      frame.read(runner.game());
      policy.look(frame);
      const auto outcome = runner.turn(frame, actions, [&](std::size_t slot, const OptionMask* masks) {
        return policy.choose(slot, masks, actions.options.data() + slot * heads,
                             actions.numbers.data() + slot * numbers);
      });
      if (!outcome) return outcome.error();
      episode.team += static_cast<double>(outcome->team_reward);
      episode.discounted += discount * static_cast<double>(outcome->team_reward);
      discount *= config.gamma;
      const std::span<const float> rewards = runner.rewards();
      for (std::size_t i = 0; i < shape.agents; ++i) episode.agents[i] += static_cast<double>(rewards[i]);
      ++episode.steps;
      if (step_end(*outcome) == StepEnd::kContinues) continue;
      episode.terminated = outcome->terminated;
      break;
    }
  }
  return played;
}

/// Mean of the team returns.
inline double mean_team_return(std::span<const EpisodeReturn> episodes) noexcept {
  double sum = 0.0;
  for (const EpisodeReturn& episode : episodes) sum += episode.team;
  return episodes.empty() ? 0.0 : sum / static_cast<double>(episodes.size());
}

}  // namespace mara
