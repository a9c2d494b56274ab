#pragma once
// The table of a report as text, for the terminal and the page alike.

#include <algorithm>
#include <string>
#include <vector>

#include "format.hpp"
#include "report.hpp"

namespace lab {

struct TableColumn {
  std::string short_title;  ///< for the terminal
  std::string title;        ///< for the page
  std::string meaning;      ///< one sentence
  bool numeric = true;      ///< aligned right
};
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> cells;
};

/// "+4.2", "-24.1" with a real minus sign for the page and the terminal alike.
inline std::string signed_percent(double value) {
  const std::string digits = format_fixed(std::fabs(value), std::fabs(value) >= 99.95 ? 0 : 1);
  return (digits == "0.0" ? "" : value < 0 ? "\u2212" : "+") + digits;
}

/// "-24.1 % [-27.0, -21.3]".
inline std::string versus_text(const PolicyRow& row) {
  if (row.best_rule) return "the best rule";
  if (!row.vs_best_rule_percent) return "-";
  const mara::Interval& versus = *row.vs_best_rule_percent;
  return signed_percent(versus.estimate) + " % [" + signed_percent(versus.low) + ", " +
         signed_percent(versus.high) + "]";
}

/// The unit of all completion times in a report.
inline TimeUnit report_unit(const std::vector<PolicyRow>& rows) {
  double largest = 0.0;
  for (const PolicyRow& row : rows) largest = std::max(largest, row.metrics.mean_jct_s.value_or(0.0));
  return time_unit(largest);
}

/// The table: a row of cells for each policy.
inline Table make_table(const std::vector<PolicyRow>& rows) {
  const TimeUnit unit = report_unit(rows);
  const std::string in_unit = std::string(", ") + unit.name;
  const auto in = [&](std::optional<double> seconds) {
    return seconds ? format_three(*seconds / unit.seconds) : std::string("-");
  };
  const bool any_unfinished =
      std::any_of(rows.begin(), rows.end(), [](const PolicyRow& row) { return row.metrics.unfinished > 0; });
  Table table;
  table.columns = {
      {"policy", "Policy",
       "Who decides. Rules are deterministic; learners are means over their training seeds.", false},
      {"JCT" + in_unit, "Mean JCT" + in_unit,
       "Mean job completion time, from submission to end, waiting and start costs included; \u00b1 is the "
       "half width "
       "of the 95 % interval over training seeds.",
       true},
      {"p95" + in_unit, "p95 JCT" + in_unit, "95 % of the jobs complete within this time.", true},
      {"slowdown", "Slowdown",
       "Mean of completion time over the time the job would need alone on its requested GPUs of its fastest "
       "type.",
       true},
      {"util", "GPU use", "GPU time held over GPU time there is, from the first submission to the last end.",
       true},
      {"Jain", "Jain",
       "Jain's index of the share of its ideal speed that each job received: 1 when all received the same "
       "share.",
       true},
      {"restarts", "Restarts", "Times that a job's GPUs were changed or taken away after its start, per job.",
       true},
      {"p50/p99 \u00b5s", "Decision, \u00b5s",
       "Median and 99th percentile of the time that one decision took.", true},
  };
  if (any_unfinished)
    table.columns.push_back(
        {"open", "Unfinished",
         "Jobs that had not finished at the end (the worst seed); the means leave them out.", true});
  table.columns.push_back(
      {"vs best rule [95 %]", "Against the best rule",
       "Difference of mean JCT to the best textbook rule on the same jobs, with a 95 % interval by "
       "a bootstrap over jobs (in pairs) and seeds; negative is better.",
       true});
  for (const PolicyRow& row : rows) {
    const mara::Metrics& m = row.metrics;
    std::string jct = in(m.mean_jct_s);
    if (row.jct_over_seeds)
      jct = format_plus_minus(row.jct_over_seeds->estimate / unit.seconds,
                              (row.jct_over_seeds->high - row.jct_over_seeds->estimate) / unit.seconds);
    std::vector<std::string> cells = {row.name,
                                      jct,
                                      in(m.p95_jct_s),
                                      format_three(m.mean_slowdown),
                                      format_fixed(m.gpu_utilisation, 2),
                                      format_fixed(m.jain, 2),
                                      format_fixed(m.restarts_per_job, 2),
                                      format_us(m.decision_us_p50) + " / " + format_us(m.decision_us_p99)};
    if (any_unfinished) cells.push_back(std::to_string(m.unfinished));
    cells.push_back(versus_text(row));
    table.cells.push_back(std::move(cells));
  }
  return table;
}

}  // namespace lab
