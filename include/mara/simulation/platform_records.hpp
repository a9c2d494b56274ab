#pragma once
// What goes into a platform simulation besides jobs, and what comes out of it.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/simulation/outage.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Which of several events at one instant count before the decision.
enum class EventBatch : std::uint8_t {
  kTogether,       ///< all of them, completions first, then one decision
  kArrivalsFirst,  ///< one at a time with a decision after each, arrivals before completions
};

/// How a platform simulation runs. Times in seconds.
struct PlatformConfig {
  EventBatch batch = EventBatch::kTogether;
  /// 0: decide at every event only. Above 0: decide also (with fixed_interval: only) at multiples of it.
  double tick_s = 0.0;
  bool fixed_interval = false;
  /// Stop at this time; a completion exactly then still counts.
  double horizon_s = std::numeric_limits<double>::infinity();
  std::vector<Outage> outages;  ///< in any order; those of one node must not overlap
  /// A job saves its work each time it has worked for so long at one place (and when it is preempted); a
  /// failure throws away what came after, at the rate that it had last. 0: nothing is lost; infinity: all
  /// since the start there.
  double checkpoint_interval_s = 0.0;
  /// Keep the ids of finished jobs so that submissions may name what they wait for. Memory: 8 bytes a job.
  bool dependencies = false;
  /// With ticks: the run counts as stalled after so many decisions in a row in which nothing happened,
  /// nothing ran and nothing is to come.
  std::int64_t stall_ticks = 100'000;
};

/// Whether a configuration makes sense on a platform; errors name the field and the value.
inline Status check_config(const PlatformConfig& config, const Platform& platform) {
  const auto number = [](const std::string& field, double value) -> Status {
    if (std::isfinite(value) && value >= 0.0) return {};
    return Error{std::isfinite(value) ? ErrorCode::kInvalidArgument : ErrorCode::kNumerical,
                 "simulation: " + field + " is " + format_number(value)};
  };
  if (auto ok = number("tick_s", config.tick_s); !ok) return ok;
  if (std::isnan(config.checkpoint_interval_s) || config.checkpoint_interval_s < 0.0)
    return Error{ErrorCode::kInvalidArgument,
                 "simulation: checkpoint_interval_s is " + format_number(config.checkpoint_interval_s)};
  if (std::isnan(config.horizon_s) || config.horizon_s < 0.0)
    return Error{ErrorCode::kInvalidArgument, "simulation: horizon_s is " + format_number(config.horizon_s)};
  if (config.fixed_interval && config.tick_s <= 0.0)
    return Error{ErrorCode::kInvalidArgument,
                 "simulation: tick_s is 0: fixed_interval needs a positive tick"};
  if (config.stall_ticks < 1)
    return Error{ErrorCode::kInvalidArgument,
                 "simulation: stall_ticks is " + std::to_string(config.stall_ticks)};
  return check_outages(config.outages, platform.nodes.size());
}

/// A job on its way into the simulation, with what it waits for.
struct Submission {
  Job job;
  std::vector<std::int64_t> after;  ///< ids of jobs that must finish first
  /// The GPUs that the job asks for are slices of this profile, a number of mig_profiles(); its work is in
  /// seconds of a whole device, as ever.
  std::int32_t mig_profile = kNoMigProfile;
};

/// Where jobs come from: submissions in order of submit_s, one at a time, so that a long trace need not be in
/// memory.
template <class S>
concept JobSource = requires(S source, Submission& next) {
  { source.next(next) } -> std::same_as<bool>;  // false: there is none left
};

/// Jobs of a list, which must be in order of submission and outlive the source.
class ListSource {
 public:
  explicit ListSource(std::span<const Job> jobs) noexcept : jobs_(jobs) {}
  bool next(Submission& next) {
    if (at_ == jobs_.size()) return false;
    next.job = jobs_[at_++];
    next.after.clear();
    next.mig_profile = kNoMigProfile;
    return true;
  }

 private:
  std::span<const Job> jobs_;
  std::size_t at_ = 0;
};

/// What became of a job. `job` and `last` are valid during the call only.
struct JobOutcome {
  const Job* job = nullptr;
  std::uint64_t sequence = 0;
  bool started = false, finished = false, rejected = false;
  double entered_s = 0.0, start_s = 0.0, end_s = 0.0;  ///< end_s: of the run when the job did not finish
  double executed_s = 0.0, attained_gpu_s = 0.0, overhead_s = 0.0;
  double lost_s = 0.0;  ///< execution thrown away by failures
  int preemptions = 0, migrations = 0, failures = 0;
  const Placement* last = nullptr;           ///< where it ran last; empty when it never did
  std::int32_t mig_profile = kNoMigProfile;  ///< as in Submission
};

/// A stretch of time in which a job held one placement.
struct PlacedInterval {
  const Job* job = nullptr;
  std::uint64_t sequence = 0;
  const Placement* placement = nullptr;
  double start_s = 0.0, end_s = 0.0;
};

/// Where results go, as they come: to memory, to a stream, or to running sums.
template <class S>
concept SimulationSink = requires(S sink, const JobOutcome& outcome, const PlacedInterval& interval) {
  { sink.job(outcome) } -> std::same_as<void>;        // in order of their ends
  { sink.interval(interval) } -> std::same_as<void>;  // in order of their ends
};

/// Forgets everything.
struct NullSink {
  void job(const JobOutcome&) noexcept {}
  void interval(const PlacedInterval&) noexcept {}
};

/// Counts of a run.
struct PlatformRun {
  double first_submit_s = 0.0;
  double end_s = 0.0;  ///< the last event, or the horizon
  std::uint64_t submitted = 0, finished = 0, rejected = 0, unfinished = 0;
  /// Arrivals, starts, resumptions, moves, preemptions, failures and completions of jobs.
  std::uint64_t job_events = 0;
  std::uint64_t decisions = 0;
  /// Set when the source handed over a job that makes no sense (check_submission), or one submitted before
  /// the job before it: the run ended there, with all results up to that time.
  std::optional<Error> error;
  bool stalled = false;  ///< jobs were left that nothing could start any more
};

}  // namespace mara
