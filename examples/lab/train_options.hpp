#pragma once
// What mara-lab train can be told.

#include <array>
#include <boost/hana/concat.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/learning/game_trainer.hpp"
#include "mara/nn/agent_network.hpp"
#include "options.hpp"

namespace lab {

/// The learners of games (`--learner`).
enum class LearnerName : std::uint8_t { kPpo, kIppo, kMappo, kDqn, kIql, kVdn, kQmix, kOwQmix, kMaddpg };
/// What the PPO family learns its values from (`--critic`).
enum class CriticName : std::uint8_t { kIndependent, kCentralised, kPooled, kAttention };

/// What is trained, for how long, and where it is kept.
struct RunOptions {
  std::string env = "two-step";
  LearnerName learner = LearnerName::kMappo;
  std::int64_t steps = 20000;
  int seeds = 1;
  std::uint64_t seed = 1;
  std::int64_t evaluate_every = 2000;
  int episodes = 32;
  int episode_steps = 0;
  std::optional<double> stop_at;
  int patience = 0;
  std::optional<std::int64_t> log_every;
  int threads = 0;
  bool resume = false;
  bool overwrite = false;
  std::string out = "mara-train";
  bool json = false;
};

/// Hyper-parameters. What is empty is as the learner has it.
struct LearnerOptions {
  std::optional<CriticName> critic;
  std::optional<int> environments;
  std::vector<int> hidden = {64, 64};
  mara::Recurrence recurrence = mara::Recurrence::kNone;
  int memory = 64;
  bool separate = false;
  bool no_ids = false;
  mara::RewardKind reward = mara::RewardKind::kTeam;
  std::optional<double> reward_scale;
  std::optional<double> learning_rate;
  std::optional<double> gamma;
  std::optional<double> lambda;
  std::optional<int> collect_steps;
  std::optional<int> sequence_steps;
  std::optional<int> batch;
  std::optional<int> updates;
  std::optional<int> epochs;
  std::optional<double> clip;
  std::optional<double> entropy;
  std::optional<std::int64_t> replay;
  std::optional<int> n_step;
  bool dueling = false;
  std::optional<double> epsilon_end;
  std::optional<std::int64_t> epsilon_steps;
  std::optional<std::int64_t> target_period;
  std::optional<double> tau;
};

/// Options of `mara-lab train`.
struct TrainOptions : RunOptions, LearnerOptions {};

namespace detail {

template <class Number>
mara::Status check_range(const char* option, Number value, Number low, Number high) {
  if (value >= low && value <= high) return {};
  const auto text = [](Number x) {
    if constexpr (std::is_floating_point_v<Number>)
      return format_exact(x);
    else
      return std::to_string(x);
  };
  return bad_option(option, "must be from " + text(low) + " to " + text(high), text(value));
}
template <class Number>
mara::Status check_range(const char* option, const std::optional<Number>& value, Number low, Number high) {
  return value ? check_range(option, *value, low, high) : mara::Status();
}
/// Above 0 and at most `high`.
inline mara::Status check_positive(const char* option, const std::optional<double>& value, double high) {
  if (!value || (*value > 0.0 && *value <= high)) return {};
  return bad_option(option, "must be above 0 and at most " + format_exact(high), format_exact(*value));
}

}  // namespace detail

inline mara::Status validate(const LearnerOptions& options) {
  using detail::check_positive, detail::check_range;
  constexpr std::int64_t kMost = 1'000'000'000;
  if (options.hidden.size() > 16)
    return detail::bad_option("hidden", "at most 16 layers", std::to_string(options.hidden.size()));
  for (const int width : options.hidden)
    if (const mara::Status status = check_range("hidden", width, 1, 65536); !status) return status;
  if (options.target_period && options.tau)
    return detail::bad_option("target-period", "cannot be combined with --tau",
                              std::to_string(*options.target_period));
  const mara::Status checks[] = {
      check_range("environments", options.environments, 1, 100'000),
      check_range("memory", options.memory, 1, 65536),
      check_positive("reward-scale", options.reward_scale, 1e9),
      check_positive("learning-rate", options.learning_rate, 10.0),
      check_range("gamma", options.gamma, 0.0, 1.0),
      check_range("lambda", options.lambda, 0.0, 1.0),
      check_range("collect-steps", options.collect_steps, 1, 1'000'000),
      check_range("sequence-steps", options.sequence_steps, 1, 100'000),
      check_range("batch", options.batch, 1, 1 << 19),
      check_range("updates", options.updates, 1, 100'000),
      check_range("epochs", options.epochs, 1, 10'000),
      check_positive("clip", options.clip, 100.0),
      check_range("entropy", options.entropy, 0.0, 100.0),
      check_range("replay", options.replay, std::int64_t{1}, kMost),
      check_range("n-step", options.n_step, 1, 100'000),
      check_range("epsilon-end", options.epsilon_end, 0.0, 1.0),
      check_range("epsilon-steps", options.epsilon_steps, std::int64_t{1}, 1000 * kMost),
      check_range("target-period", options.target_period, std::int64_t{1}, kMost),
      check_positive("tau", options.tau, 1.0)};
  for (const mara::Status& status : checks)
    if (!status) return status;
  return {};
}

inline mara::Status validate(const TrainOptions& options) {
  using detail::check_range;
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const mara::Status checks[] = {
      check_range("steps", options.steps, std::int64_t{1}, kMost),
      check_range("seeds", options.seeds, 1, 1000),
      check_range("seed", options.seed, std::uint64_t{0}, detail::kLargestSeed),
      check_range("evaluate-every", options.evaluate_every, std::int64_t{0}, kMost),
      check_range("log-every", options.log_every, std::int64_t{0}, kMost),
      check_range("episodes", options.episodes, 1, 10'000'000),
      check_range("episode-steps", options.episode_steps, 0, 1'000'000'000),
      check_range("patience", options.patience, 0, 1'000'000'000),
      check_range("threads", options.threads, 0, 1024)};
  for (const mara::Status& status : checks)
    if (!status) return status;
  if (options.stop_at && !std::isfinite(*options.stop_at))
    return detail::bad_option("stop-at", "must be finite", format_exact(*options.stop_at));
  if (options.resume && options.overwrite)
    return detail::bad_option("overwrite", "cannot be combined with --resume", "both");
  if (options.out.empty()) return detail::bad_option("out", "a folder is needed", "''");
  return validate(static_cast<const LearnerOptions&>(options));
}

}  // namespace lab

template <>
struct mara::EnumNames<lab::LearnerName> {
  static constexpr auto kNames =
      std::to_array<mara::EnumName<lab::LearnerName>>({{lab::LearnerName::kPpo, "ppo"},
                                                       {lab::LearnerName::kIppo, "ippo"},
                                                       {lab::LearnerName::kMappo, "mappo"},
                                                       {lab::LearnerName::kDqn, "dqn"},
                                                       {lab::LearnerName::kIql, "iql"},
                                                       {lab::LearnerName::kVdn, "vdn"},
                                                       {lab::LearnerName::kQmix, "qmix"},
                                                       {lab::LearnerName::kOwQmix, "ow-qmix"},
                                                       {lab::LearnerName::kMaddpg, "maddpg"}});
};

template <>
struct mara::EnumNames<lab::CriticName> {
  static constexpr auto kNames =
      std::to_array<mara::EnumName<lab::CriticName>>({{lab::CriticName::kIndependent, "independent"},
                                                      {lab::CriticName::kCentralised, "centralised"},
                                                      {lab::CriticName::kCentralised, "centralized"},
                                                      {lab::CriticName::kPooled, "pooled"},
                                                      {lab::CriticName::kAttention, "attention"}});
};

template <>
struct mara::EnumNames<mara::Recurrence> {
  static constexpr auto kNames =
      std::to_array<mara::EnumName<mara::Recurrence>>({{mara::Recurrence::kNone, "none"},
                                                       {mara::Recurrence::kGru, "gru"},
                                                       {mara::Recurrence::kLstm, "lstm"}});
};

template <>
struct mara::EnumNames<mara::RewardKind> {
  static constexpr auto kNames = std::to_array<mara::EnumName<mara::RewardKind>>(
      {{mara::RewardKind::kTeam, "team"}, {mara::RewardKind::kIndividual, "individual"}});
};

template <>
struct mara::Descriptions<lab::TrainOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"env",
       "game to play: two-step, climbing, penalty, penalty-0, qtran, nearly-monotone, allocation, dyn-a, "
       "quadratic, lq, switch-riddle, chain, congestion, spread, cue, identity, pendulum",
       "NAME"},
      {"learner",
       "ppo and dqn see the team as one agent; ippo, mappo: PPO with independent or centralised values; iql, "
       "vdn, "
       "qmix, ow-qmix: Q-learning with none, a sum, a monotone or an optimistically weighted monotone mixer; "
       "maddpg: deterministic policy gradients"},
      {"critic",
       "where ippo and mappo get their values from: independent (own observation), centralised (global "
       "state), "
       "pooled (mean over the agents) or attention (attention over the agents); empty: what the name says"},
      {"steps", "environment steps to train for, all environments together"},
      {"seeds", "trainings, with consecutive seeds; each has its folder in --out"},
      {"seed", "first seed; the same seed gives the same weights, whatever the number of threads"},
      {"environments", "games that are played side by side; empty: 8 for PPO, 1 for the others"},
      {"hidden", "widths of the hidden layers of actors and critics, separated by commas"},
      {"recurrence", "what an agent remembers from step to step: none, gru or lstm"},
      {"memory", "units of the recurrent cell"},
      {"separate", "every agent has parameters of its own, instead of shared ones"},
      {"no_ids", "agents do not see who they are, otherwise a one-hot number behind the observation"},
      {"reward", "what an agent learns from: the team's reward or its own"},
      {"reward_scale", "rewards are multiplied by this for learning, not in what is reported; empty: 1"},
      {"learning_rate", "of actors and critics; empty: 0.0005, for maddpg 0.01"},
      {"gamma", "discount; empty: 0.99, for maddpg 0.95"},
      {"lambda",
       "PPO: of generalised advantages, empty: 0.95; Q-learning: of TD(lambda) targets, empty: 0, n steps"},
      {"collect_steps",
       "steps of every environment between learning; empty: 128 for PPO, 1 for Q-learning, 100 for maddpg"},
      {"sequence_steps",
       "PPO: steps that gradients go back in recurrent networks, empty: up to 16, a divisor of "
       "--collect-steps; Q-learning: steps of a piece of replay, empty: 1, and 10 or --n-step where there is "
       "a recurrence, --n-step or --lambda"},
      {"batch",
       "of an optimiser step: environment steps for PPO (empty: 1024), pieces of replay for Q-learning "
       "(empty: 32), transitions for maddpg (empty: 1024)"},
      {"updates", "Q-learning, maddpg: optimiser steps after each --collect-steps; empty: 1"},
      {"epochs", "PPO: times that it learns from the same steps; empty: 10"},
      {"clip", "PPO: how far the ratio of probabilities may be from 1; empty: 0.2"},
      {"entropy", "PPO: weight of the entropy bonus; empty: 0.01"},
      {"replay",
       "what is kept to learn from: pieces for Q-learning (empty: 5000), transitions for maddpg (empty: "
       "1000000)"},
      {"n_step", "Q-learning: steps of reward in a target; empty: 1"},
      {"dueling", "Q-learning: networks add the value of a state and the advantages of options"},
      {"epsilon_end", "Q-learning: share of random options at the end of its decline; empty: 0.05"},
      {"epsilon_steps",
       "Q-learning: environment steps in which this share falls from 1; empty: half of --steps"},
      {"target_period",
       "Q-learning: optimiser steps between copies to the target networks; empty: 200, or --tau"},
      {"tau",
       "share by which target networks follow at every step; empty: none for Q-learning (see "
       "--target-period), 0.01 for maddpg"},
      {"evaluate_every", "environment steps between evaluations on fixed seeds; 0: only at the end"},
      {"episodes", "episodes of an evaluation"},
      {"episode_steps", "time limit of an episode, in steps; 0: the game's own"},
      {"stop_at", "stop as soon as the mean return of an evaluation reaches this; empty: never"},
      {"patience", "stop after so many evaluations in a row without a better one; 0: never"},
      {"log_every",
       "environment steps between the lines of rounds in the metrics; 0: a line for every round; empty: a "
       "thousandth of --steps"},
      {"threads", "threads to use; 0: one per processor"},
      {"resume",
       "go on with the training in --out; seeds without a checkpoint begin. More --steps and more seeds are "
       "possible, schedules stay those of the first run; other options must be the same"},
      {"overwrite", "remove the training that is in --out first"},
      {"out", "folder of metrics, checkpoints and best weights", "DIR"},
      {"json", "print the results as one JSON object on stdout"},
  });
};

BOOST_HANA_ADAPT_STRUCT(lab::RunOptions, env, learner, steps, seeds, seed, evaluate_every, episodes,
                        episode_steps, stop_at, patience, log_every, threads, resume, overwrite, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::LearnerOptions, critic, environments, hidden, recurrence, memory, separate,
                        no_ids, reward, reward_scale, learning_rate, gamma, lambda, collect_steps,
                        sequence_steps, batch, updates, epochs, clip, entropy, replay, n_step, dueling,
                        epsilon_end, epsilon_steps, target_period, tau);
/// The members of both: more than one macro takes.
template <>
struct boost::hana::accessors_impl<lab::TrainOptions> {
  static constexpr auto apply() {
    return boost::hana::concat(accessors_impl<lab::RunOptions>::apply(),
                               accessors_impl<lab::LearnerOptions>::apply());
  }
};
