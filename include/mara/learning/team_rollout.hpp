#pragma once
// Experience of one environment of a team, in arrays, and the playing that fills them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mara/guidance/modes.hpp"
#include "mara/learning/game_runner.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/learning/team_actor.hpp"

namespace mara {

/// Where a game's guidance comes from. Called from several threads at once, before anybody has chosen.
struct TeamGuidance {
  /// q[slots x options]: the guided distribution of every present agent, for games of one choice. Illegal
  /// options are taken out afterwards and the rest brought to sum 1.
  std::function<void(const AnyGame&, const GameFrame&, float* q)> distribution{};
  /// The option that a present agent holds now, for signals that measure a move; empty: option 0.
  std::function<int(const AnyGame&, std::size_t slot)> held{};
  /// Phi of a state. Where it is given, the signal of a step is gamma Phi(s') - Phi(s), which leaves the
  /// optimum as it is (Ng, Harada and Russell 1999): Phi is that of the final state at a truncation, 0 at a
  /// termination. Otherwise the signal is the mean over agents of Guidance::SignalType on q.
  std::function<float(const AnyGame&, const GameFrame&)> potential{};
  /// Whether this guidance knows such a game; create() of a trainer passes its error on. Empty: any game.
  std::function<Status(const AnyGame&)> check{};
};

/// `steps` consecutive steps of one environment; a row of slots is slot by slot.
struct TeamRollout {
  std::size_t steps = 0, slots = 0, columns = 0;   ///< columns: values a step, of the critic
  bool per_agent = false;                          ///< each column is a slot's
  std::vector<float> observations, states;         ///< [steps x slots x observation], [steps x state]
  std::vector<std::uint8_t> present, arrived;      ///< [steps x slots]
  std::vector<std::uint8_t> began;                 ///< [steps]: first step of an episode
  std::vector<OptionMask> masks;                   ///< [steps x slots x heads], at each agent's turn
  std::vector<std::int32_t> options;               ///< [steps x slots x heads]
  std::vector<float> latents, log_probabilities;   ///< [steps x slots x numbers], [steps x slots]
  std::vector<float> rewards;                      ///< [steps x columns], what is learnt from
  std::vector<StepEnd> ends;                       ///< [steps], of the episode
  std::vector<float> actor_memory, critic_memory;  ///< before every sequence, [steps / sequence x memory]
  std::vector<float> distribution, signals;        ///< q [steps x slots x options], [steps x slots]
  std::vector<float> alignment;                    ///< [steps]: the signal of the step
  // What follows a step but not on the next row: final states of truncated episodes, and the state after the
  // last step. final_of[t]: its place, or -1. `stays`: who of step t is still there.
  std::vector<std::int32_t> final_of;
  std::vector<float> final_observations, final_states;
  std::vector<std::uint8_t> final_stays;
  std::size_t finals = 0;
  // Filled by estimate_team_advantages(), [steps x columns].
  std::vector<float> values, next_values, advantages, returns;
  std::vector<std::uint8_t> counted;  ///< whether the value is anybody's
  std::vector<StepEnd> value_ends;    ///< of the agent: it may leave before the episode ends
  // Episodes that ended.
  std::int64_t episodes = 0;
  double episode_returns = 0.0;  ///< their sum, unscaled team rewards

  void resize(const GameShape& shape, std::size_t count, bool value_per_agent, bool guided) {
    steps = count, slots = shape.agents, columns = value_per_agent ? slots : 1, per_agent = value_per_agent;
    const std::size_t rows = count * slots, heads = shape.action.choices();
    observations.resize(rows * shape.observation), states.resize(count * shape.state);
    present.resize(rows), arrived.resize(rows), began.resize(count);
    masks.resize(rows * heads), options.resize(rows * heads);
    latents.resize(rows * shape.action.numbers()), log_probabilities.resize(rows);
    rewards.resize(count * columns), ends.resize(count), final_of.resize(count);
    distribution.resize(guided ? rows * shape.action.options() : 0), signals.resize(rows);
    alignment.resize(count);
    for (auto* of_values : {&values, &next_values, &advantages, &returns}) of_values->resize(count * columns);
    counted.resize(count * columns), value_ends.resize(count * columns);
  }
};

/// An environment in play and what its agents and its critic remember.
struct TeamPlayer {
  GameRunner runner;
  std::vector<float> actor_memory, critic_memory;
  double episode_return = 0.0;  ///< of the episode under way
  // Scratch.
  GameFrame frame, next;
  GameActions actions;
  AgentTeam::Workspace workspace{};
  std::vector<float> outputs{};

  TeamPlayer(GameRunner game, std::size_t actor_numbers, std::size_t critic_numbers)
      : runner(std::move(game)),
        actor_memory(actor_numbers),
        critic_memory(critic_numbers),
        frame(runner.shape()),
        next(runner.shape()),
        actions(runner.shape()) {}
};

/// What playing depends on, beside the player.
struct TeamPlayConfig {
  std::size_t sequence_steps = 1;
  RewardKind rewards = RewardKind::kTeam;
  float reward_scale = 1.0f, gamma = 0.99f;
};

namespace detail {

/// Takes illegal options out of q[options] and brings the rest to sum 1; zeros where nothing is left.
inline void keep_legal(float* q, std::size_t options, OptionMask mask) noexcept {
  float sum = 0.0f;
  for (std::size_t a = 0; a < options; ++a) {
    if (((mask >> a) & 1u) == 0 || !(q[a] > 0.0f)) q[a] = 0.0f;
    sum += q[a];
  }
  if (!(sum > 0.0f)) return;
  for (std::size_t a = 0; a < options; ++a) q[a] /= sum;
}

/// q and the signals of step t, after everybody has chosen; `q` was filled before. Returns their mean.
template <class Guidance>
float measure_signals(const std::vector<int>& held, std::size_t t, std::size_t options, TeamRollout& out) {
  float sum = 0.0f;
  std::size_t agents = 0;
  for (std::size_t row = t * out.slots; row < (t + 1) * out.slots; ++row) {
    out.signals[row] = 0.0f;
    if (out.present[row] == 0) continue;
    float* q = &out.distribution[row * options];
    keep_legal(q, options, out.masks[row]);
    out.signals[row] = Guidance::SignalType::measure(
        {q, q, static_cast<int>(options), held[row - t * out.slots], out.options[row]});
    sum += out.signals[row];
    ++agents;
  }
  return agents > 0 ? sum / static_cast<float>(agents) : 0.0f;
}

}  // namespace detail

/// Plays `steps` steps into `out` (resized before). next_seed(episodes begun) names the seed of the next
/// episode. Draws come from the player's own stream, so results do not depend on threads. Errors: those of
/// the game and of GameRunner::turn().
template <guidance::Mode Guidance, class NextSeed>
Status play_team(TeamPlayer& player, const TeamActor& actor, const float* weights, const Guidance& guidance,
                 const TeamGuidance& source, const TeamPlayConfig& config, const NextSeed& next_seed,
                 TeamRollout& out) {
  const GameShape& shape = actor.shape();
  const std::size_t slots = shape.agents, heads = shape.action.choices(), box = shape.action.numbers();
  const std::size_t options = shape.action.options(), memory = actor.memory();
  const std::size_t outputs = actor.team().outputs();
  GameFrame& frame = player.frame;
  GameRunner& runner = player.runner;
  player.outputs.resize(slots * outputs);
  out.actor_memory.resize((out.steps + config.sequence_steps - 1) / config.sequence_steps * memory);
  out.final_observations.clear(), out.final_states.clear(), out.final_stays.clear();
  out.finals = 0;
  out.episodes = 0;
  out.episode_returns = 0.0;
  std::vector<int> held(slots);
  const auto keep_final = [&](std::size_t t, const GameFrame& last) {
    out.final_of[t] = static_cast<std::int32_t>(out.finals++);
    out.final_observations.insert(out.final_observations.end(), last.observations.begin(),
                                  last.observations.end());
    out.final_states.insert(out.final_states.end(), last.state.begin(), last.state.end());
    for (std::size_t i = 0; i < slots; ++i)
      out.final_stays.push_back(last.present[i] != 0 && last.arrived[i] == 0 ? 1 : 0);
  };
  frame.read(runner.game());
  for (std::size_t t = 0; t < out.steps; ++t) {
    const std::size_t row = t * slots;
    out.final_of[t] = -1;
    out.began[t] = runner.step() == 0 ? 1 : 0;
    if (out.began[t] != 0) frame.arrived = frame.present;
    std::copy(frame.observations.begin(), frame.observations.end(),
              &out.observations[row * shape.observation]);
    std::copy(frame.state.begin(), frame.state.end(),
              out.states.begin() + static_cast<std::ptrdiff_t>(t * shape.state));
    std::copy(frame.present.begin(), frame.present.end(), &out.present[row]);
    std::copy(frame.arrived.begin(), frame.arrived.end(), &out.arrived[row]);
    if (memory > 0 && t % config.sequence_steps == 0)
      std::copy(player.actor_memory.begin(), player.actor_memory.end(),
                &out.actor_memory[t / config.sequence_steps * memory]);
    [[maybe_unused]] float phi = 0.0f;
    if constexpr (Guidance::kUsesField) {
      if (source.distribution) source.distribution(runner.game(), frame, &out.distribution[row * options]);
      for (std::size_t i = 0; i < slots && source.held; ++i)
        held[i] = frame.present[i] != 0 ? source.held(runner.game(), i) : 0;
      if (source.potential) phi = source.potential(runner.game(), frame);
    }
    actor.team().step(weights, frame.observations.data(), 1, player.actor_memory.data(), frame.arrived.data(),
                      player.outputs.data(), player.workspace);
    std::fill_n(out.log_probabilities.begin() + static_cast<std::ptrdiff_t>(row), slots, 0.0f);
    std::fill_n(out.latents.begin() + static_cast<std::ptrdiff_t>(row * box), slots * box, 0.0f);
    const auto outcome = runner.turn(frame, player.actions, [&](std::size_t slot, const OptionMask* masks) {
      float* latent = out.latents.data() + (row + slot) * box;
      const float log_probability = actor.distribution().sample(
          player.outputs.data() + slot * outputs, actor.log_std(weights, slot), masks, runner.random(),
          player.actions.options.data() + slot * heads, latent);
      if (std::isnan(log_probability)) return false;
      out.log_probabilities[row + slot] = log_probability;
      actor.distribution().to_numbers(latent, player.actions.numbers.data() + slot * box);
      return true;
    });
    if (!outcome) return outcome.error();
    std::copy(frame.masks.begin(), frame.masks.end(),
              out.masks.begin() + static_cast<std::ptrdiff_t>(row * heads));
    std::copy(player.actions.options.begin(), player.actions.options.end(),
              out.options.begin() + static_cast<std::ptrdiff_t>(row * heads));
    const StepEnd end = step_end(*outcome);
    out.ends[t] = end;
    if (end != StepEnd::kTerminated) player.next.read(runner.game());

    float extra = 0.0f;
    out.alignment[t] = 0.0f;
    if constexpr (Guidance::kUsesField) {
      if (source.distribution) out.alignment[t] = detail::measure_signals<Guidance>(held, t, options, out);
      if (source.potential)
        out.alignment[t] =
            (end == StepEnd::kTerminated ? 0.0f
                                         : config.gamma * source.potential(runner.game(), player.next)) -
            phi;
      extra = guidance.auxiliary_reward(out.alignment[t]);
    }
    for (std::size_t c = 0; c < out.columns; ++c) {
      const bool own = config.rewards == RewardKind::kIndividual;
      const float reward = own ? runner.rewards()[c] : outcome->team_reward;
      out.rewards[t * out.columns + c] = config.reward_scale * reward + extra;
    }
    player.episode_return += static_cast<double>(outcome->team_reward);
    if (end == StepEnd::kContinues) {
      std::swap(frame, player.next);
      if (t + 1 < out.steps) continue;
      if (const Status fine = runner.check(frame); !fine) return fine;
      keep_final(t, frame);
      continue;
    }
    if (end == StepEnd::kTruncated) {
      if (const Status fine = runner.check(player.next); !fine) return fine;
      keep_final(t, player.next);
    }
    ++out.episodes;
    out.episode_returns += player.episode_return;
    player.episode_return = 0.0;
    if (const Status begun = runner.begin(next_seed(runner.episode())); !begun) return begun;
    frame.read(runner.game());
  }
  return {};
}

}  // namespace mara
