// mara-lab train and mara-lab evaluate: learners on games.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "format.hpp"
#include "game_learners.hpp"
#include "mara/core/parallel.hpp"
#include "mara/learning/training.hpp"
#include "mara/math/statistics.hpp"
#include "progress.hpp"
#include "train_folder.hpp"

namespace lab {
namespace {

using mara::Error;
using mara::ErrorCode;
using mara::Status;
using nlohmann::ordered_json;

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

struct SeedRun {
  std::optional<mara::TrainingResult> result;
  Status status;
};

/// Half width of a 95 % interval of the mean, from a normal approximation; nothing for a single value.
std::optional<double> half_width(const std::vector<double>& values) {
  const std::size_t n = values.size();
  if (n < 2) return std::nullopt;
  const double m = mara::mean(values).value_or(0.0);
  double squares = 0.0;
  for (const double v : values) squares += (v - m) * (v - m);
  return 1.96 * std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

ordered_json json_of(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string format_mean(double mean, std::optional<double> half) {
  return half ? format_plus_minus(mean, *half) : format_three(mean);
}

void say(const std::string& text) {
  std::fprintf(stderr, "mara-lab train: %s\n", text.c_str());
}

/// The results of a training on stdout.
void print_results(const TrainOptions& options, const TrainPlan& plan, const std::vector<SeedRun>& runs) {
  std::vector<double> best;
  for (const SeedRun& run : runs) best.push_back(run.result->best.mean);
  const double mean = mara::mean(best).value_or(0.0);
  const std::optional<double> half = half_width(best);
  if (options.json) {
    ordered_json rows = ordered_json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const mara::TrainingResult& result = *runs[i].result;
      rows.push_back({{"seed", plan.seeds[i].seed},
                      {"env_steps", result.env_steps},
                      {"end", name_of(result.end)},
                      {"best_return", result.best.mean},
                      {"best_env_steps", result.best.env_steps},
                      {"last_return", result.evaluations.back().mean},
                      {"folder", plan.seeds[i].folder.string()}});
    }
    const ordered_json out = {{"env", options.env},
                              {"return_convention", mara::kReturnConvention},
                              {"mean_best_return", mean},
                              {"half_width_95", json_of(half)},
                              {"seeds", rows}};
    std::printf("%s\n", out.dump(1).c_str());
    return;
  }
  std::printf("%8s%12s%14s%14s%16s  %s\n", "seed", "env steps", "best return", "at env step", "last return",
              "end");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const mara::TrainingResult& result = *runs[i].result;
    std::printf("%8llu%12lld%14s%14lld%16s  %s\n", static_cast<unsigned long long>(plan.seeds[i].seed),
                static_cast<long long>(result.env_steps), format_three(result.best.mean).c_str(),
                static_cast<long long>(result.best.env_steps),
                format_three(result.evaluations.back().mean).c_str(), name_of(result.end));
  }
  std::printf("largest evaluation of each seed, mean over seeds: %s (%s)\n", format_mean(mean, half).c_str(),
              std::string(mara::kReturnConvention).c_str());
  std::printf("weights, metrics and checkpoints: %s\n", options.out.c_str());
}

}  // namespace

Status run_train(const TrainOptions& options) {
  const auto make = game_for(options);
  if (!make) return make.error();
  const int threads = threads_of(options.threads);
  const auto plan = plan_training(options);
  if (!plan) return plan.error();
  const auto learner = learner_for(options, *make, plan->schedule_steps);
  if (!learner) return learner.error();
  // What the learner refuses, it refuses before anything is written.
  if (const auto possible = learner->begin(options.seed, 1); !possible) return possible.error();
  if (learner->round_steps > options.steps)
    say("warning: one round takes " + std::to_string(learner->round_steps) +
        " environment steps, more than --steps " + std::to_string(options.steps) +
        " (see --environments and --collect-steps)");
  for (const std::string& note : plan->notes) say(note);
  if (const Status ready = prepare_training(options, *plan, *learner); !ready) return ready;

  std::vector<SeedRun> runs(plan->seeds.size());
  // One trainer by itself may use all threads; several share them, a seed a thread.
  const int inner = runs.size() == 1 ? threads : 1;
  Progress progress("train " + options.env);
  std::vector<std::size_t> tasks;
  for (const PlannedSeed& planned : plan->seeds)
    tasks.push_back(progress.add("seed " + std::to_string(planned.seed), options.steps));
  mara::ThreadPool pool(runs.size() == 1 ? 1 : std::min(threads, options.seeds));
  pool.for_each(runs.size(), [&](std::size_t i) {
    const PlannedSeed& planned = plan->seeds[i];
    auto trainer = learner->begin(planned.seed, inner);
    if (!trainer) {
      runs[i].status = trainer.error();
      return;
    }
    mara::TrainingConfig config;
    config.steps = options.steps;
    config.evaluate_every = options.evaluate_every;
    config.checkpoint_every = std::max<std::int64_t>(options.evaluate_every, 10'000);
    config.evaluation = evaluation_of(options);
    config.stop_at = options.stop_at;
    config.patience = options.patience;
    config.log_every = options.log_every.value_or(std::max<std::int64_t>(1, plan->schedule_steps / 1000));
    config.folder = planned.folder.string();
    config.resume = planned.resume;
    mara::TrainingCallbacks callbacks;
    callbacks.round = [&](const mara::TrainingReport& report) {
      progress.update(tasks[i], report.env_steps);
    };
    auto result = mara::train(*trainer, *make, config, callbacks);
    if (result)
      runs[i].result = std::move(*result);
    else
      runs[i].status = result.error();
  });
  progress.finish();
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (const Status& status = runs[i].status; !status)
      return Error{status.error().code,
                   "seed " + std::to_string(plan->seeds[i].seed) + ": " + status.error().message};
  print_results(options, *plan, runs);
  return {};
}

Status run_evaluate(const EvaluateOptions& options) {
  const std::filesystem::path folder = options.run;
  auto run = read_run(folder);
  if (!run) return run.error();
  TrainOptions& training = run->options;
  training.out = options.run;
  if (const Status valid = validate(training); !valid) return valid;
  const auto make = game_for(training);
  if (!make) return make.error();
  const auto learner = learner_for(training, *make, run->schedule_steps);
  if (!learner) return learner.error();
  const auto trainer = learner->begin(training.seed, 1);
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
  const double mean = mara::mean(returns).value_or(0.0);
  const std::optional<double> half = half_width(returns);
  const double length = steps / static_cast<double>(returns.size());
  if (options.json) {
    const ordered_json out = {{"env", training.env},
                              {"return_convention", mara::kReturnConvention},
                              {"episodes", options.episodes},
                              {"mean_return", mean},
                              {"half_width_95", json_of(half)},
                              {"mean_steps", length},
                              {"terminated", terminated},
                              {"trained_env_steps", best->best.env_steps}};
    std::printf("%s\n", out.dump(1).c_str());
    return {};
  }
  std::printf("%s: mean return %s over %d episodes (%s), %s steps an episode\n", training.env.c_str(),
              format_mean(mean, half).c_str(), options.episodes, std::string(mara::kReturnConvention).c_str(),
              format_three(length).c_str());
  return {};
}

}  // namespace lab
