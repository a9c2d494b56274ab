#pragma once
// The folder of a training: run.json, and seed-N with the files of each seed.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "game_learners.hpp"
#include "mara/core/result.hpp"
#include "train_options.hpp"

namespace lab {

inline constexpr const char* kRunFile = "run.json";

/// One seed of a training.
struct PlannedSeed {
  std::uint64_t seed = 0;
  std::filesystem::path folder{};
  bool resume = false;  ///< from the checkpoint in its folder
};

/// What is to be done in the folder of a training.
struct TrainPlan {
  std::int64_t schedule_steps = 0;  ///< environment steps over which schedules run: those of the first run
  std::vector<PlannedSeed> seeds;
  std::vector<std::filesystem::path> obsolete;  ///< files and folders to be removed first, by this order
  std::vector<std::string> notes;               ///< what the user should know
};

/// Looks at --out and changes nothing. Errors: what is there is not of mara-lab; a training without --resume
/// or --overwrite; with --resume no training, or one of other options.
mara::Result<TrainPlan> plan_training(const TrainOptions& options);

/// Removes what is obsolete, makes the folders and writes every run.json that is not there yet as it should
/// be. Errors: kIo.
mara::Status prepare_training(const TrainOptions& options, const TrainPlan& plan, const Learner& learner);

/// What a run.json says: the options, and the environment steps over which schedules run.
struct RecordedRun {
  TrainOptions options{};
  std::int64_t schedule_steps = 0;
};

/// Reads the run.json of one seed. Errors: of the file; kParse with its name.
mara::Result<RecordedRun> read_run(const std::filesystem::path& folder);

}  // namespace lab
