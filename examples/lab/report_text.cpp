// The terminal table and the JSON objects of a report.

#include <algorithm>
#include <cmath>

#include "format.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/simulation/job_log.hpp"
#include "report.hpp"
#include "table.hpp"

namespace lab {
namespace {

using nlohmann::json;

json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}
json number(std::optional<double> value) {
  return value ? number(*value) : json(nullptr);
}

/// What a policy's row holds beside wall-clock times.
json policy_json(const PolicyRow& row) {
  const mara::Metrics& m = row.metrics;
  json object = {{"name", row.name},
                 {"runs", row.runs},
                 {"best_rule", row.best_rule},
                 {"mean_jct_s", number(m.mean_jct_s)},
                 {"p50_jct_s", number(m.p50_jct_s)},
                 {"p95_jct_s", number(m.p95_jct_s)},
                 {"p99_jct_s", number(m.p99_jct_s)},
                 {"mean_slowdown", number(m.mean_slowdown)},
                 {"mean_bounded_slowdown", number(m.mean_bounded_slowdown)},
                 {"makespan_s", number(m.makespan_s)},
                 {"gpu_utilisation", number(m.gpu_utilisation)},
                 {"type_utilisation", m.type_utilisation},
                 {"cpu_utilisation", number(m.cpu_utilisation)},
                 {"memory_utilisation", number(m.memory_utilisation)},
                 {"jain", number(m.jain)},
                 {"restarts_per_job", number(m.restarts_per_job)},
                 {"finished", m.finished},
                 {"unfinished", m.unfinished}};
  // Over seeds; a rule gives the same result each time, so that its interval is a point.
  const bool one = !row.jct_over_seeds && !row.learner;
  object["mean_jct_s_low"] = row.jct_over_seeds ? number(row.jct_over_seeds->low)
                             : one              ? number(m.mean_jct_s)
                                                : json();
  object["mean_jct_s_high"] = row.jct_over_seeds ? number(row.jct_over_seeds->high)
                              : one              ? number(m.mean_jct_s)
                                                 : json();
  object["mean_jct_s_jobs_low"] = row.jct_over_jobs ? number(row.jct_over_jobs->low) : json();
  object["mean_jct_s_jobs_high"] = row.jct_over_jobs ? number(row.jct_over_jobs->high) : json();
  if (row.best_rule) {
    object["vs_best_rule_percent"] = {{"mean", 0.0}, {"low", 0.0}, {"high", 0.0}};
  } else if (row.vs_best_rule_percent) {
    const mara::Interval& versus = *row.vs_best_rule_percent;
    object["vs_best_rule_percent"] = {
        {"mean", number(versus.estimate)}, {"low", number(versus.low)}, {"high", number(versus.high)}};
  } else {
    object["vs_best_rule_percent"] = nullptr;
  }
  return object;
}

json training_json(const TrainingCurve& curve) {
  return {{"name", curve.name},
          {"seed", curve.seed},
          {"env_steps", curve.env_steps},
          {"steps_to_best_rule", curve.steps_to_best_rule ? json(*curve.steps_to_best_rule) : json()}};
}

json cluster_json(const mara::Cluster& cluster) {
  json types = json::array();
  for (const mara::GpuType& type : cluster.types)
    types.push_back({{"name", type.name},
                     {"nodes", type.nodes},
                     {"gpus_per_node", type.gpus_per_node},
                     {"gpu_memory_mib", type.gpu_memory_mib}});
  return {{"text", mara::to_string(cluster)}, {"gpus", cluster.gpus()}, {"types", types}};
}

}  // namespace

nlohmann::json results_json(const ReportInput& input, const std::vector<PolicyRow>& rows) {
  json policies = json::array(), training = json::array();
  for (const PolicyRow& row : rows) {
    json object = policy_json(row);
    object["decision_us_p50"] = number(row.metrics.decision_us_p50);
    object["decision_us_p99"] = number(row.metrics.decision_us_p99);
    policies.push_back(std::move(object));
  }
  for (const TrainingCurve& curve : input.training) {
    json object = training_json(curve);
    object["seconds"] = number(curve.seconds);
    training.push_back(std::move(object));
  }
  return {{"workload", input.workload},
          {"cluster", mara::to_string(input.cluster)},
          {"best_rule", best_rule_name(rows)},
          {"policies", std::move(policies)},
          {"training", std::move(training)}};
}

nlohmann::json summary_json(const ReportInput& input, const std::vector<PolicyRow>& rows) {
  json summary = {{"format", "mara-report"},
                  {"version", 1},
                  {"workload", input.workload},
                  {"cluster", cluster_json(input.cluster)},
                  {"configuration", input.configuration},
                  {"best_rule", best_rule_name(rows)},
                  {"notes", input.notes},
                  {"policies", json::array()},
                  {"training", json::array()},
                  {"validation", json::object()}};
  // What changes no result is left out, so that two runs with one seed compare equal.
  if (summary["configuration"].is_object())
    for (const char* key : {"threads", "out", "json"}) summary["configuration"].erase(key);
  for (const ReferenceLevel& level : input.validation)
    summary["validation"][level.name] = number(level.jct_s);

  json timing = {{"total_seconds", number(input.total_seconds)},
                 {"policies", json::array()},
                 {"training", json::array()}};
  for (const PolicyRow& row : rows) {
    summary["policies"].push_back(policy_json(row));
    timing["policies"].push_back({{"name", row.name},
                                  {"decision_us_p50", number(row.metrics.decision_us_p50)},
                                  {"decision_us_p99", number(row.metrics.decision_us_p99)}});
  }
  for (const TrainingCurve& curve : input.training) {
    json object = training_json(curve);
    json seconds = json::array();
    object["return"] = input.return_label;
    object["curve"] = json::array();
    for (const CurvePoint& point : curve.points) {
      object["curve"].push_back({{"env_steps", point.env_steps},
                                 {"jct_s", number(point.jct_s)},
                                 {"train_return", number(point.train_return)}});
      seconds.push_back(number(point.seconds));
    }
    summary["training"].push_back(std::move(object));
    timing["training"].push_back({{"name", curve.name},
                                  {"seed", curve.seed},
                                  {"seconds", number(curve.seconds)},
                                  {"curve_seconds", std::move(seconds)}});
  }
  summary["timing"] = std::move(timing);
  return summary;
}

std::string render_table(const std::vector<PolicyRow>& rows) {
  const Table table = make_table(rows);
  std::vector<std::size_t> width;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    width.push_back(display_width(table.columns[c].short_title));
    for (const auto& row : table.cells) width[c] = std::max(width[c], display_width(row[c]));
  }
  std::string text;
  const auto line = [&](const auto& cell_of) {
    std::string row;
    for (std::size_t c = 0; c < width.size(); ++c) {
      const std::string cell = cell_of(c);
      const std::string pad(width[c] - display_width(cell), ' ');
      row += (c == 0 ? "" : "  ") + (table.columns[c].numeric ? pad + cell : cell + pad);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  };
  line([&](std::size_t c) { return table.columns[c].short_title; });
  std::size_t total = 0;
  for (std::size_t c = 0; c < width.size(); ++c) total += width[c] + (c == 0 ? 0 : 2);
  for (std::size_t i = 0; i < total; ++i) text += "\u2500";
  text += "\n";
  for (const auto& row : table.cells) line([&](std::size_t c) { return row[c]; });
  return text;
}

}  // namespace lab
