#pragma once
// What the commands that train on games can be told.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "train_options.hpp"

namespace lab {

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

BOOST_HANA_ADAPT_STRUCT(lab::EvaluateOptions, run, episodes, seed, json);
BOOST_HANA_ADAPT_STRUCT(lab::GamesOptions, env, learner, seeds, threads, json);
