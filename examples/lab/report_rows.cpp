// From outcomes to the rows of the table.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "mara/core/random.hpp"
#include "mara/schedule/rules.hpp"
#include "report.hpp"

namespace lab {
namespace {

constexpr double kLevel = 0.95;
constexpr int kReplicates = 2000;

/// Mean of the values that are there.
std::optional<double> mean_present(const std::vector<const PolicyOutcome*>& runs,
                                   std::optional<double> mara::Metrics::*member) {
  std::vector<double> values;
  for (const PolicyOutcome* run : runs)
    if (run->metrics.*member) values.push_back(*(run->metrics.*member));
  return mara::mean(values);
}
double mean_of(const std::vector<const PolicyOutcome*>& runs, double mara::Metrics::*member) {
  double sum = 0.0;
  for (const PolicyOutcome* run : runs) sum += run->metrics.*member;
  return sum / static_cast<double>(runs.size());
}

mara::Metrics mean_metrics(const std::vector<const PolicyOutcome*>& runs) {
  using mara::Metrics;
  Metrics mean;
  for (const auto member :
       {&Metrics::mean_jct_s, &Metrics::p50_jct_s, &Metrics::p95_jct_s, &Metrics::p99_jct_s,
        &Metrics::mean_slowdown, &Metrics::mean_bounded_slowdown, &Metrics::jain, &Metrics::makespan_s,
        &Metrics::decision_us_p50, &Metrics::decision_us_p99})
    mean.*member = mean_present(runs, member);
  for (const auto member : {&Metrics::gpu_utilisation, &Metrics::cpu_utilisation,
                            &Metrics::memory_utilisation, &Metrics::restarts_per_job})
    mean.*member = mean_of(runs, member);
  const PolicyOutcome* worst = *std::max_element(runs.begin(), runs.end(), [](const auto* a, const auto* b) {
    return a->metrics.unfinished < b->metrics.unfinished;
  });
  mean.finished = worst->metrics.finished;
  mean.unfinished = worst->metrics.unfinished;
  mean.type_utilisation = runs.front()->metrics.type_utilisation;
  for (std::size_t type = 0; type < mean.type_utilisation.size(); ++type) {
    double sum = 0.0;
    for (const PolicyOutcome* run : runs) sum += run->metrics.type_utilisation[type];
    mean.type_utilisation[type] = sum / static_cast<double>(runs.size());
  }
  return mean;
}

/// Half width of Student's 95 % interval of a mean over its standard error; degrees of freedom from 1.
double student_95(std::size_t degrees) {
  constexpr std::array<double, 30> kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                             2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                             2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                             2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  return degrees <= kTable.size() ? kTable[degrees - 1] : 1.96 + 2.5 / static_cast<double>(degrees);
}

std::optional<mara::Interval> interval_over_seeds(const std::vector<const PolicyOutcome*>& runs) {
  std::vector<double> values;
  for (const PolicyOutcome* run : runs)
    if (run->metrics.mean_jct_s) values.push_back(*run->metrics.mean_jct_s);
  if (values.size() < 2) return std::nullopt;
  const double mean = *mara::mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  const double half = student_95(values.size() - 1) * std::sqrt(squares / (n - 1.0) / n);
  return mara::Interval{mean, mean - half, mean + half};
}

/// Completion times by job of one run; negative where the job did not finish.
std::vector<double> completion_times(const PolicyOutcome& run) {
  std::vector<double> times(run.result.records.size(), -1.0);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (run.result.records[i].finished) times[i] = run.result.records[i].end_s - run.result.jobs[i].submit_s;
  return times;
}

/// Sums over resampled jobs of a run: its own completion times, and, over the jobs that both finished, its
/// own and those of the base.
struct PairedSums {
  double own = 0.0, count = 0.0, paired_own = 0.0, paired_base = 0.0;
};
PairedSums sums_of(const std::vector<double>& own, const std::vector<double>& base,
                   std::span<const std::uint32_t> units) {
  PairedSums sums;
  for (const std::uint32_t unit : units) {
    if (own[unit] < 0.0) continue;
    sums.own += own[unit];
    sums.count += 1.0;
    if (base.empty() || base[unit] < 0.0) continue;
    sums.paired_own += own[unit];
    sums.paired_base += base[unit];
  }
  return sums;
}

/// Bootstraps `statistic(sums over the runs)` over jobs and runs. Absent where it is not finite.
template <class Statistic>
std::optional<mara::Interval> bootstrap_runs(const std::vector<std::vector<double>>& runs,
                                             const std::vector<double>& base, std::uint64_t seed,
                                             Statistic&& statistic) {
  mara::Random jobs_random(seed, 1), runs_random(seed, 2);
  bool whole = true;  // the first call is for the estimate
  const auto resampled = [&](std::span<const std::uint32_t> units) {
    PairedSums sums;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const std::size_t run =
          whole || runs.size() == 1 ? k : runs_random.below(static_cast<std::uint32_t>(runs.size()));
      const PairedSums part = sums_of(runs[run], base, units);
      sums.own += part.own;
      sums.count += part.count;
      sums.paired_own += part.paired_own;
      sums.paired_base += part.paired_base;
    }
    whole = false;
    return statistic(sums);
  };
  const auto interval =
      mara::bootstrap_interval(runs.front().size(), resampled, kLevel, kReplicates, jobs_random);
  return interval ? std::optional(*interval) : std::nullopt;
}

}  // namespace

mara::Result<std::vector<PolicyRow>> make_rows(const ReportInput& input) {
  const auto state = [](const std::string& message) { return mara::Error{mara::ErrorCode::kState, message}; };
  if (input.outcomes.empty()) return state("report: there is no outcome");
  std::vector<PolicyRow> rows;
  std::vector<std::vector<const PolicyOutcome*>> runs;
  for (const PolicyOutcome& outcome : input.outcomes) {
    if (outcome.result.records.size() != input.outcomes.front().result.records.size())
      return state("report: policy '" + outcome.name + "' ran over " +
                   std::to_string(outcome.result.records.size()) + " jobs, '" + input.outcomes.front().name +
                   "' over " + std::to_string(input.outcomes.front().result.records.size()));
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const PolicyRow& r) { return r.name == outcome.name; });
    if (row == rows.end()) {
      row = rows.insert(rows.end(), PolicyRow{});
      row->name = outcome.name;
      row->textbook =
          std::find(mara::kRuleNames.begin(), mara::kRuleNames.end(), outcome.name) != mara::kRuleNames.end();
      runs.emplace_back();
    }
    row->learner = row->learner || outcome.seed >= 0;
    runs[static_cast<std::size_t>(row - rows.begin())].push_back(&outcome);
  }

  std::size_t best = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].runs = static_cast<int>(runs[i].size());
    rows[i].metrics = mean_metrics(runs[i]);
    rows[i].jct_over_seeds = interval_over_seeds(runs[i]);
    if (!rows[i].textbook || !rows[i].metrics.mean_jct_s) continue;
    const auto better = [](const mara::Metrics& a, const mara::Metrics& b) {
      return a.unfinished != b.unfinished ? a.unfinished < b.unfinished : *a.mean_jct_s < *b.mean_jct_s;
    };
    if (best == rows.size() || better(rows[i].metrics, rows[best].metrics)) best = i;
  }
  std::vector<double> base;
  if (best < rows.size()) {
    rows[best].best_rule = true;
    base = completion_times(*runs[best].front());
  }
  bool any_finished = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::vector<double>> times;
    for (const PolicyOutcome* run : runs[i]) times.push_back(completion_times(*run));
    any_finished = any_finished || rows[i].metrics.finished > 0;
    if (times.front().empty()) continue;
    // The same stream for every policy: all are measured on the same resamples of the jobs.
    rows[i].jct_over_jobs =
        bootstrap_runs(times, base, input.seed, [](const PairedSums& sums) { return sums.own / sums.count; });
    if (base.empty() || rows[i].best_rule) continue;
    rows[i].vs_best_rule_percent = bootstrap_runs(times, base, input.seed, [](const PairedSums& sums) {
      return 100.0 * (sums.paired_own / sums.paired_base - 1.0);
    });
  }
  if (!any_finished) return state("report: no policy finished any job");
  return rows;
}

std::string best_rule_name(const std::vector<PolicyRow>& rows) {
  for (const PolicyRow& row : rows)
    if (row.best_rule) return row.name;
  return {};
}

std::string run_label(std::string_view name, int run) {
  return run == 0 ? std::string(name) : std::string(name) + "#" + std::to_string(run + 1);
}

}  // namespace lab
