#pragma once
// What the commands that train on games can be told.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mara/learning/game_trainer.hpp"
#include "mara/nn/agent_network.hpp"
#include "options.hpp"

namespace lab {

/// The learners of games (`--learner`).
enum class LearnerName : std::uint8_t { kPpo, kIppo, kMappo, kDqn, kIql, kVdn, kQmix, kOwQmix, kMaddpg };
/// What the PPO family learns its values from (`--critic`).
enum class CriticName : std::uint8_t { kIndependent, kCentralised, kPooled, kAttention };

/// Options of `mara-lab train`. Empty options leave the learner's own default.
struct TrainOptions {
  std::string env = "two-step";
  LearnerName learner = LearnerName::kMappo;
  std::optional<CriticName> critic;
  std::int64_t steps = 20000;
  int seeds = 1;
  std::uint64_t seed = 1;
  std::optional<int> environments;
  std::vector<int> hidden = {64, 64};
  mara::Recurrence recurrence = mara::Recurrence::kNone;
  int memory = 64;
  bool separate = false;
  bool no_ids = false;
  mara::RewardKind reward = mara::RewardKind::kTeam;
  std::optional<double> learning_rate;
  std::optional<double> gamma;
  std::int64_t evaluate_every = 2000;
  int episodes = 32;
  int episode_steps = 0;
  std::optional<double> stop_at;
  int patience = 0;
  int threads = 0;
  bool resume = false;
  std::string out = "mara-train";
  bool json = false;
};

/// Options of `mara-lab evaluate`.
struct EvaluateOptions {
  std::string run;
  int episodes = 1000;
  std::uint64_t seed = 2'000'003;
  bool json = false;
};

/// Options of `mara-lab games`.
struct GamesOptions {
  std::vector<std::string> env;
  std::vector<std::string> learner;
  int seeds = 5;
  int threads = 0;
  bool json = false;
};

inline mara::Status validate(const TrainOptions& options) {
  const auto range = [](const char* option, auto value, auto low, auto high) -> mara::Status {
    if (value >= low && value <= high) return {};
    return detail::bad_option(option, "must be from " + std::to_string(low) + " to " + std::to_string(high),
                              std::to_string(value));
  };
  mara::Status status = range("steps", options.steps, std::int64_t{1}, std::int64_t{1'000'000'000'000});
  if (status) status = range("seeds", options.seeds, 1, 1000);
  if (status && options.seed > detail::kLargestSeed)
    status = detail::bad_option("seed", "must be at most " + std::to_string(detail::kLargestSeed),
                                std::to_string(options.seed));
  if (status && options.environments) status = range("environments", *options.environments, 1, 100'000);
  if (status && options.hidden.size() > 16)
    status = detail::bad_option("hidden", "at most 16 layers", std::to_string(options.hidden.size()));
  for (const int width : options.hidden)
    if (status) status = range("hidden", width, 1, 65536);
  if (status) status = range("memory", options.memory, 1, 65536);
  if (status && options.learning_rate && !(*options.learning_rate > 0.0 && *options.learning_rate <= 10.0))
    status = detail::bad_option("learning-rate", "must be above 0 and at most 10",
                                format_exact(*options.learning_rate));
  if (status && options.gamma && !(*options.gamma >= 0.0 && *options.gamma <= 1.0))
    status = detail::bad_option("gamma", "must be from 0 to 1", format_exact(*options.gamma));
  if (status)
    status =
        range("evaluate-every", options.evaluate_every, std::int64_t{0}, std::int64_t{1'000'000'000'000});
  if (status) status = range("episodes", options.episodes, 1, 10'000'000);
  if (status) status = range("episode-steps", options.episode_steps, 0, 1'000'000'000);
  if (status) status = range("patience", options.patience, 0, 1'000'000'000);
  if (status) status = range("threads", options.threads, 0, 1024);
  if (status && options.stop_at && !std::isfinite(*options.stop_at))
    status = detail::bad_option("stop-at", "must be finite", format_exact(*options.stop_at));
  if (status && options.out.empty()) status = detail::bad_option("out", "a folder is needed", "''");
  return status;
}

inline mara::Status validate(const EvaluateOptions& options) {
  if (options.run.empty()) return detail::bad_option("run", "a folder of mara-lab train is needed", "''");
  if (options.episodes < 1 || options.episodes > 10'000'000)
    return detail::bad_option("episodes", "must be from 1 to 10000000", std::to_string(options.episodes));
  if (options.seed > detail::kLargestSeed)
    return detail::bad_option("seed", "must be at most " + std::to_string(detail::kLargestSeed),
                              std::to_string(options.seed));
  return {};
}

inline mara::Status validate(const GamesOptions& options) {
  if (options.seeds < 1 || options.seeds > 1000)
    return detail::bad_option("seeds", "must be from 1 to 1000", std::to_string(options.seeds));
  if (options.threads < 0 || options.threads > 1024)
    return detail::bad_option("threads", "must be from 0 to 1024", std::to_string(options.threads));
  return {};
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
      {"environments", "games that are played side by side; empty: the learner's default"},
      {"hidden", "widths of the hidden layers of actors and critics, separated by commas"},
      {"recurrence", "what an agent remembers from step to step: none, gru or lstm"},
      {"memory", "units of the recurrent cell"},
      {"separate", "every agent has parameters of its own, instead of shared ones"},
      {"no_ids", "agents do not see who they are, otherwise a one-hot number behind the observation"},
      {"reward", "what an agent learns from: the team's reward or its own"},
      {"learning_rate", "of actors and critics; empty: the learner's default"},
      {"gamma", "discount; empty: the learner's default"},
      {"evaluate_every", "environment steps between evaluations on fixed seeds; 0: only at the end"},
      {"episodes", "episodes of an evaluation"},
      {"episode_steps", "time limit of an episode, in steps; 0: the game's own"},
      {"stop_at", "stop as soon as the mean return of an evaluation reaches this; empty: never"},
      {"patience", "stop after so many evaluations in a row without a better one; 0: never"},
      {"threads", "threads to use; 0: one per processor"},
      {"resume", "go on from the checkpoints in --out; all other options must be those of the first run"},
      {"out", "folder of metrics, checkpoints and best weights; an earlier training there is replaced",
       "DIR"},
      {"json", "print the results as one JSON object on stdout"},
  });
};

template <>
struct mara::Descriptions<lab::EvaluateOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"run", "folder of one seed of a training, such as mara-train/seed-1", "DIR"},
      {"episodes", "episodes to play"},
      {"seed", "seed of the first episode; it differs from those of training and of its evaluations"},
      {"json", "print the results as one JSON object on stdout"},
  });
};

template <>
struct mara::Descriptions<lab::GamesOptions> {
  static constexpr auto kHelp = std::to_array<mara::MemberHelp>({
      {"env", "games to run, separated by commas; empty: all", "NAMES"},
      {"learner", "learners to run, separated by commas; empty: all", "NAMES"},
      {"seeds", "trainings of each learner on each game; a case passes when every one of them does"},
      {"threads", "trainings that run at the same time; 0: one per processor"},
      {"json", "print the table as one JSON object on stdout"},
  });
};

BOOST_HANA_ADAPT_STRUCT(lab::TrainOptions, env, learner, critic, steps, seeds, seed, environments, hidden,
                        recurrence, memory, separate, no_ids, reward, learning_rate, gamma, evaluate_every,
                        episodes, episode_steps, stop_at, patience, threads, resume, out, json);
BOOST_HANA_ADAPT_STRUCT(lab::EvaluateOptions, run, episodes, seed, json);
BOOST_HANA_ADAPT_STRUCT(lab::GamesOptions, env, learner, seeds, threads, json);
