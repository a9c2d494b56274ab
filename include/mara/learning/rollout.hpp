#pragma once
// Rollouts of many environments with a shared actor, each environment with its own random stream.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>
#include <xtensor/xtensor.hpp>

#include "mara/core/parallel.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/concept.hpp"
#include "mara/guidance/allocation_flow.hpp"
#include "mara/guidance/modes.hpp"
#include "mara/learning/gae.hpp"

namespace mara {

/// One row per (step, present agent) of one environment. Absent agents have no row, so they change nothing.
struct AgentRows {
  std::vector<float> inputs;             ///< rows x actor inputs
  std::vector<float> distribution;       ///< rows x options: q; empty without a field
  std::vector<OptionMask> masks;         ///< as seen when sampling; reused at update time
  std::vector<std::int32_t> options;     ///< sampled
  std::vector<float> log_probabilities;  ///< of the sampled option
  std::vector<float> signals;            ///< 0 without a field
  std::vector<std::uint32_t> first;      ///< first row of each step, and the end: steps + 1 entries

  void clear() {
    inputs.clear(), distribution.clear(), masks.clear(), options.clear();
    log_probabilities.clear(), signals.clear(), first.clear();
  }
};

/// What a rollout of `environments` x `steps` holds. Arrays are environment-major.
struct Rollout {
  xt::xtensor<float, 2> team_rewards;  ///< unshaped
  xt::xtensor<float, 2> rewards;       ///< with the auxiliary reward
  xt::xtensor<float, 2> alignment;     ///< mean signal over the agents of the step
  xt::xtensor<std::uint8_t, 2> ends;   ///< StepEnd
  xt::xtensor<float, 3> states;        ///< global states
  xt::xtensor<float, 3> next_states;   ///< the state after each step, before any reset
  std::vector<AgentRows> rows;         ///< per environment

  void resize(std::size_t environments, std::size_t steps, std::size_t state) {
    team_rewards.resize({environments, steps});
    rewards.resize({environments, steps});
    alignment.resize({environments, steps});
    ends.resize({environments, steps});
    states.resize({environments, steps, state});
    next_states.resize({environments, steps, state});
    rows.resize(environments);
  }
};

/// An environment in play: its random stream, its episode, and the options chosen so far in that episode
/// (with the seed they rebuild the environment's state exactly, which is how a run resumes).
template <Environment E>
struct Player {
  E environment;
  Random random;
  std::uint64_t episode = 0;  ///< number of episodes begun
  std::uint64_t episode_seed = 0;
  std::int32_t step = 0, limit = 0;  ///< steps done in the episode; 0: no limit of ours
  std::vector<std::uint8_t> history;

  Player(E e, Random r) : environment(std::move(e)), random(r) {}

  Status begin(std::uint64_t seed) {
    ++episode;
    episode_seed = seed;
    step = 0;
    history.clear();
    return environment.reset(seed);
  }

  /// Rebuilds the state after `played` from the seed.
  Status replay(std::uint64_t seed, std::int32_t steps, std::span<const std::uint8_t> played) {
    if (const Status status = environment.reset(seed); !status) return status;
    episode_seed = seed;
    history.assign(played.begin(), played.end());
    std::size_t at = 0;
    for (step = 0; step < steps; ++step) {
      for (const std::uint32_t agent : environment.turn_order()) {
        if (at >= history.size()) return Error{ErrorCode::kParse, "history of an episode is too short"};
        environment.act(agent, history[at++]);
      }
      environment.step();
    }
    if (at != history.size()) return Error{ErrorCode::kParse, "history of an episode is too long"};
    return {};
  }
};

/// Actor, optional flow and guidance mode: what a rollout needs to choose options.
template <class Actor, class Flow, class Guidance>
struct RolloutPolicy {
  const Actor* actor = nullptr;
  const Flow* flow = nullptr;  ///< required when Guidance::kUsesField
  Guidance guidance{};
};

/// Plays `steps` steps of one environment into row `index` of `rollout`. `next_seed(episode)` names the seed
/// of the next episode. Sampling uses the player's own stream only, so results do not depend on threads.
template <Environment E, class Actor, class Flow, class Guidance>
Status play(Player<E>& player, const RolloutPolicy<Actor, Flow, Guidance>& policy, std::size_t index,
            std::size_t steps, const std::function<std::uint64_t(std::uint64_t)>& next_seed,
            Rollout& rollout) {
  constexpr auto kObservation = static_cast<std::size_t>(E::kObservation);
  constexpr auto kOptions = static_cast<std::size_t>(E::kOptions);
  constexpr std::size_t kInputs = kObservation + (Guidance::kActorInput ? kOptions : 0);
  typename Actor::Workspace actor_work;
  typename Flow::Workspace flow_work;
  std::vector<float> observations, endpoint, logits;
  std::vector<int> current;
  std::vector<OptionMask> possible;
  AgentRows& rows = rollout.rows[index];
  rows.clear();
  rows.first.push_back(0);
  for (std::size_t t = 0; t < steps; ++t) {
    E& environment = player.environment;
    const std::size_t agents = environment.agents();
    environment.global_state(&rollout.states(index, t, 0));
    const std::size_t base = rows.options.size();
    observations.resize(agents * kObservation);
    environment.observe(observations.data());
    if constexpr (Guidance::kUsesField) {
      current.resize(agents);
      endpoint.resize(agents * kOptions);
      for (std::size_t i = 0; i < agents; ++i) current[i] = environment.current_option(i);
      rows.distribution.resize((base + agents) * kOptions);
    }
    if constexpr (Guidance::kActorInput) {  // before any turn, so without knowing what others will leave
      possible.resize(agents);
      for (std::size_t i = 0; i < agents; ++i) possible[i] = environment.possible(i);
      policy.flow->endpoint(observations.data(), current.data(), possible.data(), agents, endpoint.data(),
                            flow_work);
    }
    rows.inputs.resize((base + agents) * kInputs);
    for (std::size_t i = 0; i < agents; ++i) {
      float* row = &rows.inputs[(base + i) * kInputs];
      std::copy_n(&observations[i * kObservation], kObservation, row);
      if constexpr (Guidance::kActorInput) {
        for (std::size_t a = 0; a < kOptions; ++a) {
          row[kObservation + a] =
              endpoint[i * kOptions + a] - (static_cast<int>(a) == current[i] ? 1.0f : 0.0f);
        }
      }
    }
    logits.resize(agents * kOptions);
    if (agents > 0)
      policy.actor->forward(rows.inputs.data() + base * kInputs, agents, logits.data(), actor_work);
    rows.masks.resize(base + agents);
    rows.options.resize(base + agents);
    rows.log_probabilities.resize(base + agents);
    rows.signals.resize(base + agents, 0.0f);
    for (const std::uint32_t agent : environment.turn_order()) {
      const OptionMask mask = environment.mask(agent);
      const MaskedCategorical<E::kOptions> distribution(&logits[agent * kOptions], mask);
      const int option = distribution.sample(player.random);
      if (option < 0) return Error{ErrorCode::kNumerical, "actor: logits of an agent are not finite"};
      rows.masks[base + agent] = mask;
      rows.options[base + agent] = option;
      rows.log_probabilities[base + agent] = distribution.log_probability(option);
      environment.act(agent, option);
      player.history.push_back(static_cast<std::uint8_t>(option));
    }
    rows.first.push_back(static_cast<std::uint32_t>(rows.options.size()));
    float signal_sum = 0.0f;
    if constexpr (Guidance::kUsesField) {
      policy.flow->endpoint(observations.data(), current.data(), rows.masks.data() + base, agents,
                            endpoint.data(), flow_work);
      for (std::size_t i = 0; i < agents; ++i) {
        float* q = &rows.distribution[(base + i) * kOptions];
        policy.flow->guided_distribution(&endpoint[i * kOptions], rows.masks[base + i], q);
        rows.signals[base + i] = Guidance::SignalType::measure(
            {&endpoint[i * kOptions], q, static_cast<int>(kOptions), current[i], rows.options[base + i]});
        signal_sum += rows.signals[base + i];
      }
    }
    const float mean_signal = agents > 0 ? signal_sum / static_cast<float>(agents) : 0.0f;
    const StepOutcome outcome = environment.step();
    ++player.step;
    const bool cut = outcome.truncated || (player.limit > 0 && player.step >= player.limit);
    rollout.team_rewards(index, t) = outcome.team_reward;
    rollout.rewards(index, t) = outcome.team_reward + policy.guidance.auxiliary_reward(mean_signal);
    rollout.alignment(index, t) = mean_signal;
    const StepEnd end = outcome.terminated ? StepEnd::kTerminated
                        : cut              ? StepEnd::kTruncated
                                           : StepEnd::kContinues;
    rollout.ends(index, t) = static_cast<std::uint8_t>(end);
    environment.global_state(&rollout.next_states(index, t, 0));
    if (end != StepEnd::kContinues) {
      if (const Status status = player.begin(next_seed(player.episode)); !status) return status;
    }
  }
  return {};
}

}  // namespace mara
