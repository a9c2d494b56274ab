#pragma once
// The jobs and placements of a platform simulation as comma-separated text, written as they come and read
// back.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/job_log.hpp"
#include "mara/simulation/platform_log_text.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/workload/csv.hpp"

namespace mara {

/// Two sinks as one: both get everything, the first first. They must outlive it.
template <SimulationSink A, SimulationSink B>
class TeeSink {
 public:
  TeeSink(A& first, B& second) noexcept : first_(&first), second_(&second) {}
  void job(const JobOutcome& outcome) {
    first_->job(outcome);
    second_->job(outcome);
  }
  void interval(const PlacedInterval& interval) {
    first_->interval(interval);
    second_->interval(interval);
  }

 private:
  A* first_;
  B* second_;
};

/// Columns of the log of jobs. Times are in seconds, numbers the shortest decimals that read back as the same
/// double.
/// - job (Job::id), submit, start (first; empty: never), end (empty: did not finish)
/// - nodes ("0 4-6"), devices (their count): where it ran last; empty when it never did
/// - state: finished, rejected or unfinished; left: when it left the system, or the end of the run
/// - sequence, entered, executed, gpu_s (attained), overhead, lost, preemptions, migrations, failures: as in
///   JobOutcome
/// - gpus (asked for; slices as "2%1", their number and the number of their profile), work, type_speed
/// ("1;0.5"), speed_up ("power:1", "amdahl:0.9", "table:1;..."), tenant,
///   sla, deadline (empty: none): as in Job
/// - placement: the last, as placement_text
inline constexpr std::string_view kPlatformJobColumns =
    "job,submit,start,end,nodes,devices,state,left,sequence,entered,executed,gpu_s,overhead,lost,preemptions,"
    "migrations,failures,gpus,work,type_speed,speed_up,tenant,sla,deadline,placement";
/// Columns of the log of intervals: sequence and id of the job, from when to when, and where
/// (placement_text).
inline constexpr std::string_view kPlatformIntervalColumns = "sequence,job,start,end,placement";

/// A sink that writes lines. Memory: one line.
class CsvLog {
 public:
  /// Either stream may be null; both must outlive the log. With a policy, each line begins with its name,
  /// in a column `policy`. `header`: begin with the names of the columns.
  CsvLog(std::ostream* jobs, std::ostream* intervals, std::string_view policy = {}, bool header = true)
      : jobs_(jobs), intervals_(intervals) {
    const std::string first = policy.empty() ? "" : "policy,";
    if (header && jobs_ != nullptr) *jobs_ << first << kPlatformJobColumns << '\n';
    if (header && intervals_ != nullptr) *intervals_ << first << kPlatformIntervalColumns << '\n';
    if (!policy.empty()) prefix_ = csv_field(policy) + ",";
  }

  void job(const JobOutcome& outcome) {
    if (jobs_ == nullptr) return;
    const Job& job = *outcome.job;
    line_ = prefix_;
    add(job.id);
    add(job.submit_s);
    outcome.started ? add(outcome.start_s) : add();
    outcome.finished ? add(outcome.end_s) : add();
    const bool placed = !outcome.last->empty();
    text(nodes_text(*outcome.last));
    placed ? add(outcome.last->device_count()) : add();
    text(outcome.finished ? "finished" : outcome.rejected ? "rejected" : "unfinished");
    add(outcome.end_s);
    add(static_cast<std::int64_t>(outcome.sequence));
    add(outcome.entered_s);
    add(outcome.executed_s);
    add(outcome.attained_gpu_s);
    add(outcome.overhead_s);
    add(outcome.lost_s);
    add(std::int64_t{outcome.preemptions});
    add(std::int64_t{outcome.migrations});
    add(std::int64_t{outcome.failures});
    text(outcome.mig_profile == kNoMigProfile
             ? gpus_text(job.requested)
             : gpus_text(job.requested) + "%" + std::to_string(outcome.mig_profile));
    add(job.work);
    text(detail::join_numbers(job.type_speed.data(), detail::used_speeds(job)));
    text(detail::speed_up_text(job.speed_up));
    add(std::int64_t{job.tenant});
    add(std::int64_t{job.sla});
    std::isfinite(job.deadline_s) ? add(job.deadline_s) : add();
    text(placement_text(*outcome.last));
    write(*jobs_);
  }
  void interval(const PlacedInterval& interval) {
    if (intervals_ == nullptr) return;
    line_ = prefix_;
    add(static_cast<std::int64_t>(interval.sequence));
    add(interval.job->id);
    add(interval.start_s);
    add(interval.end_s);
    text(placement_text(*interval.placement));
    write(*intervals_);
  }

  /// To be asked at the end. Errors: kIo when a stream failed.
  Status finish() {
    for (std::ostream* out : {jobs_, intervals_}) {
      if (out == nullptr) continue;
      out->flush();
      if (!*out) return Error{ErrorCode::kIo, "the log cannot be written"};
    }
    return {};
  }

 private:
  void add() { line_ += ','; }
  void add(double value) { text(format_number(value)); }
  void add(std::int64_t value) { text(std::to_string(value)); }
  void text(std::string_view value) { line_.append(value).append(1, ','); }
  void write(std::ostream& out) {
    line_.back() = '\n';
    out.write(line_.data(), static_cast<std::streamsize>(line_.size()));
  }

  std::ostream* jobs_;
  std::ostream* intervals_;
  std::string prefix_, line_;
};

namespace detail {

inline constexpr double kLatest = 1e18;  // any time of a log, seconds
inline constexpr std::int64_t kMostCount = std::numeric_limits<int>::max();

/// Whether the row is one of `policy`; all are when that is empty.
inline bool of_policy(const Csv& csv, std::string_view policy) {
  return policy.empty() || csv.text("policy") == policy;
}

inline Result<Placement> placement_field(const Csv& csv) {
  auto placement = parse_placement(csv.text("placement"));
  if (!placement) return csv.error("placement", placement.error().message);
  return placement;
}

/// The job of a row of the log of jobs, as far as the log tells, and the profile of its slices.
inline Status read_logged_job(const Csv& csv, Job& job, std::int32_t& profile, SpeedUpTable& table) {
  FieldReader fields(csv);
  constexpr std::int64_t kAnyId = std::numeric_limits<std::int64_t>::max();
  job.id = fields.integer("job", -kAnyId, kAnyId);
  job.submit_s = fields.number("submit", 0.0, kLatest);
  const std::string_view gpus = csv.text("gpus");
  if (const std::size_t percent = gpus.find('%'); percent != std::string_view::npos) {
    const auto slices = field_integer(csv.place("gpus"), gpus.substr(0, percent), 1, 1'000'000'000);
    const auto number = field_integer(csv.place("gpus"), gpus.substr(percent + 1), 0, kMostMigNumber);
    if (!slices) return slices.error();
    if (!number) return number.error();
    job.requested = Milli::whole(*slices);
    profile = static_cast<std::int32_t>(*number);
  } else {
    job.requested = fields.milli("gpus", 1'000'000'000);
  }
  job.work = fields.number("work", 0.0, 1e300);
  job.tenant = static_cast<int>(fields.integer("tenant", 0, kMostCount));
  job.sla = static_cast<int>(fields.integer("sla", 0, kMostCount));
  job.deadline_s = fields.number_or("deadline", -kLatest, kLatest, std::numeric_limits<double>::infinity());
  if (split_numbers(csv.text("type_speed"), job.type_speed.data(), static_cast<int>(job.type_speed.size())) <
      0)
    fields.refuse("type_speed", "is not speeds such as 1;0.5");
  if (!parse_speed_up(csv.text("speed_up"), job.speed_up, table))
    fields.refuse("speed_up", "is not such as power:1, amdahl:0.9 or table:1;1;1;1;1;1;1;1");
  if (fields.error()) return *fields.error();
  return {};
}

}  // namespace detail

/// Reads the log of jobs (`text`; `name` stands for it in messages) and tells `sink` about each, in order. Of
/// Job the fields in the log are set; the others have their defaults. With `policy`, only the rows of that
/// policy. Errors: kParse and others of Csv, naming file, line, field and value.
template <SimulationSink Sink>
Status replay_jobs_csv(std::string text, const std::string& name, Sink& sink, std::string_view policy = {}) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  for (std::string_view columns = kPlatformJobColumns; !columns.empty();) {
    const std::string_view column = columns.substr(0, columns.find(','));
    if (csv.column(column) < 0) return csv.error(column, "column is missing");
    columns.remove_prefix(std::min(column.size() + 1, columns.size()));
  }
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) return {};
    if (!detail::of_policy(csv, policy)) continue;
    Job job;
    SpeedUpTable table;
    JobOutcome outcome;
    if (auto read = detail::read_logged_job(csv, job, outcome.mig_profile, table); !read) return read;
    FieldReader fields(csv);
    outcome.job = &job;
    outcome.started = !csv.text("start").empty();
    const std::string_view state = csv.text("state");
    outcome.finished = state == "finished";
    outcome.rejected = state == "rejected";
    if (!outcome.finished && !outcome.rejected && state != "unfinished")
      fields.refuse("state", "is not finished, rejected or unfinished");
    using detail::kLatest;
    outcome.start_s = fields.number_or("start", 0.0, kLatest, 0.0);
    outcome.end_s = fields.number("left", 0.0, kLatest);
    outcome.sequence =
        static_cast<std::uint64_t>(fields.integer("sequence", 0, std::numeric_limits<std::int64_t>::max()));
    outcome.entered_s = fields.number("entered", 0.0, kLatest);
    outcome.executed_s = fields.number("executed", 0.0, kLatest);
    outcome.attained_gpu_s = fields.number("gpu_s", 0.0, 1e300);
    outcome.overhead_s = fields.number("overhead", 0.0, kLatest);
    outcome.lost_s = fields.number("lost", 0.0, kLatest);
    outcome.preemptions = static_cast<int>(fields.integer("preemptions", 0, detail::kMostCount));
    outcome.migrations = static_cast<int>(fields.integer("migrations", 0, detail::kMostCount));
    outcome.failures = static_cast<int>(fields.integer("failures", 0, detail::kMostCount));
    if (outcome.finished && fields.number("end", 0.0, kLatest) != outcome.end_s)
      fields.refuse("end", "differs from 'left' of a job that finished");
    if (fields.error()) return *fields.error();
    const auto placement = detail::placement_field(csv);
    if (!placement) return placement.error();
    outcome.last = &*placement;
    sink.job(outcome);
  }
}

/// The same for the log of intervals; of Job only the id is known.
template <SimulationSink Sink>
Status replay_intervals_csv(std::string text, const std::string& name, Sink& sink,
                            std::string_view policy = {}) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"sequence", "job", "start", "end", "placement"}, {"policy"}); !ok)
    return ok;
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) return {};
    if (!detail::of_policy(csv, policy)) continue;
    FieldReader fields(csv);
    constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
    Job job;
    PlacedInterval interval;
    job.id = fields.integer("job", -kAny, kAny);
    interval.job = &job;
    interval.sequence = static_cast<std::uint64_t>(fields.integer("sequence", 0, kAny));
    interval.start_s = fields.number("start", 0.0, detail::kLatest);
    interval.end_s = fields.number("end", 0.0, detail::kLatest);
    if (interval.end_s < interval.start_s) fields.refuse("end", "is before the start");
    if (fields.error()) return *fields.error();
    const auto placement = detail::placement_field(csv);
    if (!placement) return placement.error();
    interval.placement = &*placement;
    sink.interval(interval);
  }
}

}  // namespace mara
