#pragma once
// A training from its first step to its report: rounds, evaluations on fixed seeds, best weights, early stop,
// metrics, checkpoints.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/learning/metrics_log.hpp"

namespace mara {

/// How long to train and what to keep.
struct TrainingConfig {
  std::int64_t steps = 100'000;          ///< environment steps, all environments together
  std::int64_t evaluate_every = 10'000;  ///< environment steps between evaluations; 0: only at the end
  EvaluationConfig evaluation{};         ///< the same seeds every time
  std::optional<double> stop_at{};       ///< stop as soon as an evaluation's mean team return reaches this
  int patience = 0;  ///< stop after so many evaluations in a row without a better one; 0: never
  std::string
      folder{};  ///< existing folder for metrics.jsonl, metrics.csv, checkpoint.mara, best.mara; empty: none
  std::int64_t checkpoint_every = 0;  ///< environment steps between checkpoints; 0: only at the end
  /// Environment steps between the lines of rounds in the metrics, each the means of the rounds since the
  /// last one; 0: a line for every round. A line always comes before an evaluation, a checkpoint and the end.
  std::int64_t log_every = 0;
  bool resume = false;  ///< go on from the checkpoint of the folder; what is finished stays as it is
};

/// One evaluation.
struct EvaluationPoint {
  std::int64_t env_steps = 0;
  double mean = 0.0;       ///< of the team returns, unshaped
  double deviation = 0.0;  ///< of the team returns over the episodes (sample standard deviation)
};

/// Told about what happens; an empty function is not called. `evaluation` may say false to stop.
struct TrainingCallbacks {
  std::function<void(const TrainingReport&)> round{};
  std::function<bool(const EvaluationPoint&)> evaluation{};
};

/// Why a training ended.
enum class TrainingEnd : std::uint8_t { kSteps, kReached, kNoProgress, kCallback };

/// What came of a training.
struct TrainingResult {
  std::int64_t env_steps = 0;
  TrainingEnd end = TrainingEnd::kSteps;
  std::vector<EvaluationPoint> evaluations;
  EvaluationPoint best{};           ///< the first of the evaluations with the largest mean
  std::vector<float> best_weights;  ///< weights at `best`; T::policy(best_weights) acts with them
};

namespace detail {

/// Writes best.mara; see load_best_weights().
inline Status save_best(const std::string& path, std::span<const EvaluationPoint> evaluations,
                        std::size_t best, std::span<const float> weights) {
  ArchiveWriter out("weights");
  out.put("evaluations", evaluations);
  out.put_value("best", static_cast<std::uint64_t>(best));
  out.put("weights", weights);
  return out.write(path);
}

/// What the metrics say of an evaluation; the returns of single agents where there are few of them.
inline std::vector<std::pair<std::string, double>> evaluation_values(
    const EvaluationPoint& point, std::span<const EpisodeReturn> episodes) {
  constexpr std::size_t kFewAgents = 16;
  const auto count = static_cast<double>(episodes.size());
  double low = std::numeric_limits<double>::infinity(), high = -low, steps = 0.0;
  std::vector<double> agents(episodes.empty() ? 0 : episodes[0].agents.size());
  for (const EpisodeReturn& e : episodes) {
    low = std::min(low, e.team);
    high = std::max(high, e.team);
    steps += static_cast<double>(e.steps);
    for (std::size_t i = 0; i < agents.size(); ++i) agents[i] += e.agents[i];
  }
  std::vector<std::pair<std::string, double>> values = {
      {"evaluation_return", point.mean}, {"evaluation_sd", point.deviation},  {"evaluation_return_min", low},
      {"evaluation_return_max", high},   {"evaluation_steps", steps / count}, {"evaluation_episodes", count}};
  if (agents.size() > kFewAgents) return values;
  for (std::size_t i = 0; i < agents.size(); ++i)
    values.emplace_back("evaluation_return_agent_" + std::to_string(i), agents[i] / count);
  return values;
}

inline EvaluationPoint summary(std::int64_t env_steps, std::span<const EpisodeReturn> episodes) {
  EvaluationPoint point{env_steps, mean_team_return(episodes), 0.0};
  double squares = 0.0;
  for (const EpisodeReturn& e : episodes) squares += (e.team - point.mean) * (e.team - point.mean);
  if (episodes.size() > 1) point.deviation = std::sqrt(squares / static_cast<double>(episodes.size() - 1));
  return point;
}

}  // namespace detail

/// What best.mara holds: the evaluations so far, which of them was the best, and the weights at that one.
struct BestWeights {
  std::vector<EvaluationPoint> evaluations;
  EvaluationPoint best{};
  std::vector<float> weights;
};

/// Reads best.mara. Errors: of the archive; kParse when it names an evaluation that it has not.
inline Result<BestWeights> load_best_weights(const std::string& path) {
  auto in = ArchiveReader::open(path, "weights");
  if (!in) return in.error();
  BestWeights read;
  std::uint64_t best = 0;
  Status status = in->get("evaluations", read.evaluations);
  if (status) status = in->get_value("best", best);
  if (status) status = in->get("weights", read.weights);
  if (!status) return status.error();
  if (best >= read.evaluations.size())
    return Error{ErrorCode::kParse, path + ": evaluation " + std::to_string(best) + " of " +
                                        std::to_string(read.evaluations.size())};
  read.best = read.evaluations[static_cast<std::size_t>(best)];
  return read;
}

/// Errors (kInvalidArgument) name the field.
inline Status check_training_config(const TrainingConfig& config) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, "training: " + what};
  };
  if (config.steps < 1) return bad("steps = " + std::to_string(config.steps) + ", must be at least 1");
  if (config.evaluate_every < 0) return bad("evaluate_every = " + std::to_string(config.evaluate_every));
  if (config.checkpoint_every < 0)
    return bad("checkpoint_every = " + std::to_string(config.checkpoint_every));
  if (config.log_every < 0) return bad("log_every = " + std::to_string(config.log_every));
  if (config.patience < 0) return bad("patience = " + std::to_string(config.patience));
  if (config.evaluation.episodes == 0) return bad("evaluation.episodes = 0");
  if (config.stop_at && !std::isfinite(*config.stop_at)) return bad("stop_at is not finite");
  if (config.resume && config.folder.empty()) return bad("resume without a folder");
  return {};
}

/// A training as train() runs it, step by step.
template <GameLearner T>
class TrainingRun {
 public:
  TrainingRun(T& trainer, const GameMaker& make, const TrainingConfig& config,
              const TrainingCallbacks& callbacks)
      : trainer_(trainer), make_(make), config_(config), callbacks_(callbacks) {}

  /// Errors: see train().
  Result<TrainingResult> run() {
    Status status = check_training_config(config_);
    if (status && config_.resume) status = resume();
    if (status && !config_.folder.empty())
      status = log_.open(config_.folder, config_.resume ? std::optional(trainer_.env_steps()) : std::nullopt);
    if (!status) return status.error();
    std::int64_t next_evaluation = next_after(config_.evaluate_every);
    std::int64_t next_checkpoint = next_after(config_.checkpoint_every);
    std::int64_t next_line = next_after(config_.log_every);
    bool saved = config_.resume;
    while (status && go_on_ && trainer_.env_steps() < config_.steps) {
      saved = false;
      status = round();
      const std::int64_t now = trainer_.env_steps();
      const bool save = now >= next_checkpoint && !config_.folder.empty();
      // A checkpoint is resumed with its best weights beside it: there must be some.
      const bool evaluation = now >= next_evaluation || (save && result_.evaluations.empty());
      // With no line open at a checkpoint, there is nothing of the metrics to keep in it.
      if (status && (config_.log_every == 0 || now >= next_line || evaluation || save)) {
        next_line = next_after(config_.log_every);
        status = write_rounds();
      }
      if (status && evaluation) {
        next_evaluation = next_after(config_.evaluate_every);
        status = evaluate();
      }
      if (status && save) {
        next_checkpoint = next_after(config_.checkpoint_every);
        status = trainer_.save(checkpoint());
        saved = true;
      }
    }
    const Status written = write_rounds();  // also when learning failed: they show how
    if (status) status = written;
    if (status && !evaluated()) status = evaluate();
    if (status && !saved && !config_.folder.empty()) status = trainer_.save(checkpoint());
    if (!status) return status.error();
    result_.env_steps = trainer_.env_steps();
    return std::move(result_);
  }

 private:
  std::string checkpoint() const { return config_.folder + "/checkpoint.mara"; }
  std::string best() const { return config_.folder + "/best.mara"; }
  std::int64_t next_after(std::int64_t every) const {
    return every > 0 ? (trainer_.env_steps() / every + 1) * every : std::numeric_limits<std::int64_t>::max();
  }

  /// Whether the weights as they are have been evaluated.
  bool evaluated() const {
    return !result_.evaluations.empty() && result_.evaluations.back().env_steps == trainer_.env_steps();
  }

  Status resume() {
    auto kept = load_best_weights(best());
    if (!kept) return kept.error();
    if (kept->weights.size() != trainer_.weights().size())
      return Error{ErrorCode::kShapeMismatch, best() + ": " + std::to_string(kept->weights.size()) +
                                                  " weights, the learner has " +
                                                  std::to_string(trainer_.weights().size())};
    if (const Status loaded = trainer_.load(checkpoint()); !loaded) return loaded;
    // What came after the checkpoint will come again.
    for (const EvaluationPoint& point : kept->evaluations) {
      if (point.env_steps > trainer_.env_steps()) break;
      result_.evaluations.push_back(point);
      if (point.mean > result_.evaluations[best_].mean) best_ = result_.evaluations.size() - 1;
    }
    result_.best = kept->best;
    result_.best_weights = std::move(kept->weights);
    if (evaluated()) judge(result_.evaluations.back(), true);
    return {};
  }

  Status round() {
    const auto report = trainer_.update();
    if (!report) return report.error();
    if (log_.is_open()) rounds_.add(*report);
    if (callbacks_.round) callbacks_.round(*report);
    return {};
  }

  Status write_rounds() { return log_.is_open() ? rounds_.write(log_) : Status(); }

  Status evaluate() {
    const std::span<const float> weights = trainer_.weights();
    auto policy = trainer_.policy(weights);
    const auto played = evaluate_policy(make_, policy, config_.evaluation);
    if (!played) return played.error();
    const EvaluationPoint point = detail::summary(trainer_.env_steps(), *played);
    result_.evaluations.push_back(point);
    if (result_.evaluations.size() == 1 || point.mean > result_.evaluations[best_].mean) {
      best_ = result_.evaluations.size() - 1;
      result_.best = point;
      result_.best_weights.assign(weights.begin(), weights.end());
    }
    if (!config_.folder.empty()) {
      Status written = detail::save_best(best(), result_.evaluations, best_, result_.best_weights);
      if (written)
        written = log_.write("evaluation", point.env_steps, detail::evaluation_values(point, *played));
      if (!written) return written;
    }
    judge(point, !callbacks_.evaluation || callbacks_.evaluation(point));
    return {};
  }

  /// Whether to go on after an evaluation. `wanted`: what the caller says.
  void judge(const EvaluationPoint& point, bool wanted) {
    const auto without_progress = static_cast<int>(result_.evaluations.size() - 1 - best_);
    go_on_ = false;
    if (config_.stop_at && point.mean >= *config_.stop_at)
      result_.end = TrainingEnd::kReached;
    else if (config_.patience > 0 && without_progress >= config_.patience)
      result_.end = TrainingEnd::kNoProgress;
    else if (!wanted)
      result_.end = TrainingEnd::kCallback;
    else
      go_on_ = true;
  }

  T& trainer_;
  const GameMaker& make_;
  const TrainingConfig& config_;
  const TrainingCallbacks& callbacks_;
  TrainingResult result_;
  MetricsLog log_;
  RoundMeans rounds_;     ///< since the last line
  std::size_t best_ = 0;  ///< index of the best evaluation
  bool go_on_ = true;
};

/// Trains until `steps` environment steps or an earlier end. Evaluation uses games and streams of its own, so
/// that it changes nothing in training. Errors: those of the configuration, of the learner (a loss that is
/// not finite is named; the last checkpoint stays as it is), of the game, and kIo.
template <GameLearner T>
Result<TrainingResult> train(T& trainer, const GameMaker& make, const TrainingConfig& config,
                             const TrainingCallbacks& callbacks = {}) {
  return TrainingRun<T>(trainer, make, config, callbacks).run();
}

}  // namespace mara
