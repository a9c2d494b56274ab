// mara-lab train and mara-lab evaluate: learners on games.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "files.hpp"
#include "format.hpp"
#include "game_learners.hpp"
#include "mara/core/parallel.hpp"
#include "mara/interop/reflect_json.hpp"
#include "mara/learning/training.hpp"
#include "mara/math/statistics.hpp"
#include "progress.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;
using mara::Error;
using mara::ErrorCode;
using mara::Status;
using nlohmann::ordered_json;

constexpr const char* kRunFile = "run.json";

int threads_of(int asked) {
  return asked > 0 ? asked : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

const char* name_of(mara::TrainingEnd end) {
  switch (end) {
    case mara::TrainingEnd::kSteps:
      return "steps";
    case mara::TrainingEnd::kReached:
      return "reached";
    case mara::TrainingEnd::kNoProgress:
      return "no progress";
    case mara::TrainingEnd::kCallback:
      return "callback";
  }
  return "";
}

mara::EvaluationConfig evaluation_of(const TrainOptions& options) {
  mara::EvaluationConfig evaluation;
  evaluation.episodes = static_cast<std::size_t>(options.episodes);
  evaluation.episode_steps = options.episode_steps;
  return evaluation;
}

fs::path folder_of(const TrainOptions& options, std::uint64_t seed) {
  return fs::path(options.out) / ("seed-" + std::to_string(seed));
}

/// Makes the folder of one seed. A folder that holds something else than a training is left alone.
Status prepare_folder(const fs::path& folder, bool resume) {
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorCode::kIo, "--out: " + folder.string() + ": " + what};
  };
  std::error_code code;
  const bool exists = fs::exists(folder, code);
  if (exists && !fs::is_directory(folder, code)) return refuse("exists and is not a folder");
  if (resume && !fs::exists(folder / "checkpoint.mara", code))
    return refuse("there is no checkpoint to resume from");
  if (exists && !fs::is_empty(folder, code) && !fs::exists(folder / kRunFile, code))
    return refuse("exists and holds something else; name another folder");
  fs::create_directories(folder, code);
  if (code) return refuse("cannot be created: " + code.message());
  return {};
}

/// What the options of a training say, seed and threads apart.
ordered_json settings(TrainOptions options) {
  options.threads = 0;
  options.resume = options.json = false;
  options.out = "";
  return ordered_json::parse(mara::to_json(options).dump());
}

/// A resumed training must be the one that was begun, but for its length.
Status check_same_run(const fs::path& folder, const TrainOptions& options) {
  const fs::path path = folder / kRunFile;
  std::string bytes;
  if (const Status read = mara::read_file(path, bytes); !read) return read;
  const auto begun = ordered_json::parse(bytes, nullptr, false);
  if (begun.is_discarded() || !begun.is_object())
    return Error{ErrorCode::kParse, path.string() + ": not JSON"};
  ordered_json now = settings(options);
  for (const auto& [key, value] : now.items()) {
    if (key == "steps" || key == "seeds" || key == "stop_at" || key == "patience") continue;
    if (!begun.contains(key) || begun[key] != value)
      return Error{ErrorCode::kInvalidArgument, "--resume: '" + key + "' is " + value.dump() +
                                                    ", the run began with " +
                                                    (begun.contains(key) ? begun[key].dump() : "none")};
  }
  return {};
}

struct SeedRun {
  std::uint64_t seed = 0;
  std::optional<mara::TrainingResult> result;
  Status status;
};

/// Half width of a 95 % interval of the mean, from a normal approximation.
double half_width(const std::vector<double>& values) {
  const double m = mara::mean(values).value_or(0.0);
  double squares = 0.0;
  for (const double v : values) squares += (v - m) * (v - m);
  const std::size_t n = values.size();
  if (n < 2) return 0.0;
  return 1.96 * std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

}  // namespace

Status run_train(const TrainOptions& options) {
  const auto make = game_for(options);
  if (!make) return make.error();
  const int threads = threads_of(options.threads);
  // What the learner refuses, it refuses before anything is written.
  if (const auto possible = make_trainer(options, *make, options.seed, 1); !possible) return possible.error();
  std::vector<SeedRun> runs(static_cast<std::size_t>(options.seeds));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].seed = options.seed + i;
    const fs::path folder = folder_of(options, runs[i].seed);
    if (const Status ready = prepare_folder(folder, options.resume); !ready) return ready;
    if (options.resume) {
      if (const Status same = check_same_run(folder, options); !same) return same;
    }
    ordered_json run = settings(options);
    run["seed"] = options.seed;
    run["mara"] = "training";
    if (const Status written = write_file(folder / kRunFile, run.dump(1) + "\n"); !written) return written;
  }
  // One trainer by itself may use all threads; several share them, a seed a thread.
  const int inner = runs.size() == 1 ? threads : 1;
  Progress progress("train " + options.env);
  std::vector<std::size_t> tasks;
  for (const SeedRun& run : runs)
    tasks.push_back(progress.add("seed " + std::to_string(run.seed), options.steps));
  mara::ThreadPool pool(runs.size() == 1 ? 1 : std::min(threads, options.seeds));
  pool.for_each(runs.size(), [&](std::size_t i) {
    SeedRun& run = runs[i];
    auto trainer = make_trainer(options, *make, run.seed, inner);
    if (!trainer) {
      run.status = trainer.error();
      return;
    }
    mara::TrainingConfig config;
    config.steps = options.steps;
    config.evaluate_every = options.evaluate_every;
    config.checkpoint_every = std::max<std::int64_t>(options.evaluate_every, 10'000);
    config.evaluation = evaluation_of(options);
    config.stop_at = options.stop_at;
    config.patience = options.patience;
    config.folder = folder_of(options, run.seed).string();
    config.resume = options.resume;
    mara::TrainingCallbacks callbacks;
    callbacks.round = [&](const mara::TrainingReport& report) {
      progress.update(tasks[i], report.env_steps);
    };
    auto result = mara::train(*trainer, *make, config, callbacks);
    if (result)
      run.result = std::move(*result);
    else
      run.status = result.error();
  });
  progress.finish();
  for (const SeedRun& run : runs)
    if (!run.status)
      return Error{run.status.error().code,
                   "seed " + std::to_string(run.seed) + ": " + run.status.error().message};

  std::vector<double> best;
  ordered_json rows = ordered_json::array();
  for (const SeedRun& run : runs) {
    const mara::TrainingResult& result = *run.result;
    best.push_back(result.best.mean);
    rows.push_back({{"seed", run.seed},
                    {"env_steps", result.env_steps},
                    {"end", name_of(result.end)},
                    {"best_return", result.best.mean},
                    {"best_env_steps", result.best.env_steps},
                    {"last_return", result.evaluations.back().mean},
                    {"folder", folder_of(options, run.seed).string()}});
  }
  if (options.json) {
    const ordered_json out = {{"env", options.env},
                              {"return", mara::kReturnConvention},
                              {"mean_best_return", mara::mean(best).value_or(0.0)},
                              {"half_width_95", half_width(best)},
                              {"seeds", rows}};
    std::printf("%s\n", out.dump(1).c_str());
    return {};
  }
  std::printf("%8s%12s%14s%14s%16s  %s\n", "seed", "env steps", "best return", "at env step", "last return",
              "end");
  for (const SeedRun& run : runs)
    std::printf("%8llu%12lld%14s%14lld%16s  %s\n", static_cast<unsigned long long>(run.seed),
                static_cast<long long>(run.result->env_steps), format_three(run.result->best.mean).c_str(),
                static_cast<long long>(run.result->best.env_steps),
                format_three(run.result->evaluations.back().mean).c_str(), name_of(run.result->end));
  std::printf("best return over seeds: %s (%s)\n",
              format_plus_minus(mara::mean(best).value_or(0.0), half_width(best)).c_str(),
              std::string(mara::kReturnConvention).c_str());
  std::printf("weights, metrics and checkpoints: %s\n", options.out.c_str());
  return {};
}

Status run_evaluate(const EvaluateOptions& options) {
  const fs::path folder = options.run;
  std::string bytes;
  if (const Status read = mara::read_file(folder / kRunFile, bytes); !read) return read;
  nlohmann::json run = nlohmann::json::parse(bytes, nullptr, false);
  if (run.is_discarded() || !run.is_object() || !run.contains("mara"))
    return Error{ErrorCode::kParse, (folder / kRunFile).string() + ": not the file of a training"};
  run.erase("mara");
  TrainOptions training;
  if (const Status read = mara::from_json(run, training); !read)
    return Error{ErrorCode::kParse, (folder / kRunFile).string() + ": " + read.error().message};
  training.out = options.run;
  if (const Status valid = validate(training); !valid) return valid;
  const auto make = game_for(training);
  if (!make) return make.error();
  const auto trainer = make_trainer(training, *make, training.seed, 1);
  if (!trainer) return trainer.error();
  const auto best = mara::load_best_weights((folder / "best.mara").string());
  if (!best) return best.error();
  if (best->weights.size() != trainer->weights().size())
    return Error{ErrorCode::kParse, (folder / "best.mara").string() + ": " +
                                        std::to_string(best->weights.size()) + " weights, the learner has " +
                                        std::to_string(trainer->weights().size())};
  auto policy = trainer->policy(best->weights);
  mara::EvaluationConfig config = evaluation_of(training);
  config.episodes = static_cast<std::size_t>(options.episodes);
  config.seed = options.seed;
  const auto played = mara::evaluate_policy(*make, policy, config);
  if (!played) return played.error();
  std::vector<double> returns;
  double steps = 0.0;
  std::size_t terminated = 0;
  for (const mara::EpisodeReturn& episode : *played) {
    returns.push_back(episode.team);
    steps += static_cast<double>(episode.steps);
    terminated += episode.terminated ? 1 : 0;
  }
  const double mean = mara::mean(returns).value_or(0.0), half = half_width(returns);
  const double length = steps / static_cast<double>(returns.size());
  if (options.json) {
    const ordered_json out = {{"env", training.env},          {"return", mara::kReturnConvention},
                              {"episodes", options.episodes}, {"mean_return", mean},
                              {"half_width_95", half},        {"mean_steps", length},
                              {"terminated", terminated},     {"trained_env_steps", best->best.env_steps}};
    std::printf("%s\n", out.dump(1).c_str());
    return {};
  }
  std::printf("%s: mean return %s over %d episodes (%s), %s steps an episode\n", training.env.c_str(),
              format_plus_minus(mean, half).c_str(), options.episodes,
              std::string(mara::kReturnConvention).c_str(), format_three(length).c_str());
  return {};
}

}  // namespace lab
