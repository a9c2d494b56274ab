#pragma once
// The report of a comparison: rows, terminal table, JSON, and a folder with tables and figures.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/core/result.hpp"
#include "mara/math/statistics.hpp"
#include "mara/simulation/metrics.hpp"
#include "mara/simulation/records.hpp"

namespace lab {

/// One policy, run once over the jobs of the comparison.
struct PolicyOutcome {
  std::string name;
  int seed = -1;  ///< seed of the training; -1 for rules
  mara::Metrics metrics;
  mara::SimulationResult result;
};

/// One policy in the table. Means are over the seeds (a rule has one run).
struct PolicyRow {
  std::string name;
  bool learner = false;    ///< has seeds
  int runs = 0;            ///< 1 for rules, the number of seeds for learners
  bool textbook = false;   ///< may be "the best rule"
  bool best_rule = false;  ///< is it
  mara::Metrics metrics;   ///< means over the runs; finished and unfinished are those of the worst run
  /// 95 % interval of the mean JCT over seeds (Student's t), seconds; absent for rules and single seeds.
  std::optional<mara::Interval> jct_over_seeds;
  /// 95 % interval of the mean JCT over jobs and seeds (bootstrap), seconds.
  std::optional<mara::Interval> jct_over_jobs;
  /// Mean JCT over that of the best rule, minus 1, in percent, over the jobs that both finished; 95 %
  /// interval by a bootstrap that draws jobs in pairs, and seeds. Absent when both finished no job, or so few
  /// that a resample held none.
  std::optional<mara::Interval> vs_best_rule_percent;
};

/// A training, as it went.
struct CurvePoint {
  std::int64_t env_steps = 0;
  double seconds = 0.0;       ///< wall-clock time since the training began
  double jct_s = 0.0;         ///< mean JCT on the validation workloads; NaN where it was not measured
  double train_return = 0.0;  ///< unshaped team return; NaN where it was not measured
};
struct TrainingCurve {
  std::string name;
  int seed = 0;
  std::vector<CurvePoint> points;
  std::int64_t env_steps = 0;
  double seconds = 0.0;
  std::optional<std::int64_t> steps_to_best_rule;  ///< absent: never reached it
};

/// A level that the learning curves are held against: a policy's mean JCT on the same validation workloads.
struct ReferenceLevel {
  std::string name;
  double jct_s = 0.0;
};

/// A file beside those that every report has.
struct ExtraFile {
  std::string name;     ///< "mara.actor": one that is replaced with the report
  std::string meaning;  ///< one sentence, for the page
  std::function<mara::Status(const std::string& path)> write;
};

/// Everything a report is made of.
struct ReportInput {
  std::string workload;  ///< one sentence: which jobs, how many, over what time
  mara::Cluster cluster;
  nlohmann::json configuration;  ///< options and parameters; members threads, out and json are left out
  std::vector<PolicyOutcome>
      outcomes;  ///< in the order of the table; the seeds of a learner follow each other
  std::vector<TrainingCurve> training;
  std::vector<ReferenceLevel> validation;
  std::string return_label = "team return";  ///< which return train_return is, for the axis
  std::vector<std::string> notes;            ///< sentences to show below the table
  std::vector<ExtraFile> files;
  std::uint64_t seed = 1;                ///< of the bootstrap
  std::optional<double> total_seconds;   ///< wall-clock time of the whole experiment
  std::string timeline_policy = "mara";  ///< whose timeline is drawn beside that of the best rule
};

/// The rows of the table, one per name, in order of first appearance. The best rule is the one of
/// mara::kRuleNames with the fewest unfinished jobs, then the lowest mean JCT. Errors: kState when there is
/// no outcome, runs of different numbers of jobs, or no finished job anywhere.
mara::Result<std::vector<PolicyRow>> make_rows(const ReportInput& input);

/// Name of the best rule; empty when there is none.
std::string best_rule_name(const std::vector<PolicyRow>& rows);

/// The table for a terminal: aligned, at most 120 columns wide, ending in a line break.
std::string render_table(const std::vector<PolicyRow>& rows);

/// The object that `compare --json` prints.
nlohmann::json results_json(const ReportInput& input, const std::vector<PolicyRow>& rows);

/// The object in summary.json: the same for two runs with one seed, apart from its member `timing`.
nlohmann::json summary_json(const ReportInput& input, const std::vector<PolicyRow>& rows);

/// Whether a report could be written to `out`: gnuplot is there, and `out` is absent, an earlier report, or a
/// folder without files of a report's names. To be asked before hours of training.
mara::Status check_report_target(const std::filesystem::path& out);

/// Writes the report to `out`: index.html, summary.json, jobs.csv and figures. Everything is written to a
/// folder beside `out` that takes its place at the end; on an error it is removed and an earlier report stays
/// as it was. Files in `out` that no report wrote are kept. Errors: kIo (path and reason), kState (gnuplot
/// and its message).
mara::Status write_report(const ReportInput& input, const std::vector<PolicyRow>& rows,
                          const std::filesystem::path& out);

/// "mara", "mara#2", ... : the name of the `run`-th run (from 0) of a policy in jobs.csv.
std::string run_label(std::string_view name, int run);

}  // namespace lab
