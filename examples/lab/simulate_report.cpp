// The table and the JSON of mara-lab simulate.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format.hpp"
#include "simulate.hpp"

namespace lab {
namespace {

using nlohmann::ordered_json;

ordered_json number(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json summary(const mara::TimeSummary& times) {
  return {{"mean", number(times.mean)},
          {"p50", number(times.p50)},
          {"p95", number(times.p95)},
          {"p99", number(times.p99)}};
}

std::string name_at(const std::vector<std::string>& names, int index) {
  return static_cast<std::size_t>(index) < names.size() ? names[static_cast<std::size_t>(index)]
                                                        : std::to_string(index);
}

ordered_json classes_json(const mara::PlatformMetrics& m, const SimulationInput& input) {
  ordered_json classes = ordered_json::array();
  for (const mara::ClassMetrics& group : m.classes)
    classes.push_back({{"name", name_at(input.sla_classes, group.sla)},
                       {"jobs", group.jobs},
                       {"finished", group.finished},
                       {"mean_jct_s", number(group.mean_jct_s)},
                       {"p99_jct_s", number(group.p99_jct_s)},
                       {"deadline_jobs", group.deadline_jobs},
                       {"deadline_misses", group.deadline_misses}});
  return classes;
}

ordered_json tenants_json(const mara::PlatformMetrics& m, const SimulationInput& input) {
  ordered_json tenants = ordered_json::array();
  for (const mara::TenantMetrics& tenant : m.tenants)
    tenants.push_back({{"name", name_at(input.tenants, tenant.tenant)},
                       {"jobs", tenant.jobs},
                       {"finished", tenant.finished},
                       {"gpu_hours", tenant.gpu_hours},
                       {"mean_jct_s", number(tenant.mean_jct_s)},
                       {"mean_speed", number(tenant.mean_speed)}});
  return tenants;
}

ordered_json policy_json(const PolicyRun& run, const SimulationInput& input) {
  const mara::PlatformMetrics& m = run.metrics;
  ordered_json types = ordered_json::object();
  for (std::size_t t = 0; t < m.type_utilisation.size(); ++t)
    types[input.platform.types[t].name] = number(m.type_utilisation[t]);
  return {{"name", run.name},
          {"finished", m.finished},
          {"unfinished", m.unfinished},
          {"rejected", m.rejected},
          {"stalled", run.run.stalled},
          {"jct_s", summary(m.jct_s)},
          {"jct_over_lower_bound", number(run.over_bound(input))},
          {"queueing_s", summary(m.queueing_s)},
          {"mean_slowdown", number(m.mean_slowdown)},
          {"mean_bounded_slowdown", number(m.mean_bounded_slowdown)},
          {"jain", number(m.jain)},
          {"mean_finish_time_fairness", number(m.mean_rho)},
          {"max_finish_time_fairness", number(m.max_rho)},
          {"mean_jobs_in_system", number(m.mean_jobs)},
          {"first_submit_s", m.first_submit_s},
          {"end_s", m.end_s},
          {"makespan_s", number(m.makespan_s)},
          {"gpu_utilisation", number(m.gpu_utilisation)},
          {"type_utilisation", types},
          {"cpu_utilisation", number(m.cpu_utilisation)},
          {"memory_utilisation", number(m.memory_utilisation)},
          {"gpu_hours", m.gpu_hours},
          {"goodput", number(m.goodput)},
          {"fragmentation", number(run.fragmentation)},
          {"overhead_share", number(m.overhead_share)},
          {"preemptions", m.preemptions},
          {"migrations", m.migrations},
          {"failures", m.failures},
          {"preemptions_per_job", number(m.preemptions_per_job)},
          {"migrations_per_job", number(m.migrations_per_job)},
          {"failures_per_job", number(m.failures_per_job)},
          {"deadline_jobs", m.deadline_jobs},
          {"deadline_misses", m.deadline_misses},
          {"deadline_miss_rate", number(m.deadline_miss_rate)},
          {"energy_kwh", m.energy_kwh},
          {"cost", m.cost},
          {"sla_classes", classes_json(m, input)},
          {"tenants", tenants_json(m, input)},
          {"tenant_jain", number(m.tenant_jain)},
          {"job_events", run.run.job_events},
          {"decisions", run.run.decisions}};
}

bool has_outages(const SimulateOptions& options) {
  return !options.failures.empty() || !options.maintenance.empty();
}

ordered_json outages_json(const OutageEffects& outages) {
  return {{"node_failures", outages.failures},
          {"node_maintenances", outages.maintenances},
          {"down_share", number(outages.down_share)},
          {"restarts", outages.restarts},
          {"restarts_per_job", number(outages.restarts_per_job)},
          {"lost_gpu_hours", outages.lost_gpu_hours}};
}

/// The options of a run; those that are off by default and were not given are not there.
ordered_json options_json(const SimulateOptions& options) {
  const auto choice = [](const auto& value) {
    return value ? ordered_json(std::string(mara::enum_name(*value))) : ordered_json(nullptr);
  };
  ordered_json json = {{"placement", options.placement},
                       {"backfill", choice(options.backfill)},
                       {"preempt", choice(options.preempt)},
                       {"overhead", options.overhead},
                       {"speed", options.speed},
                       {"elastic", options.elastic},
                       {"speed_up", options.speed_up},
                       {"load", number(options.load)},
                       {"limit", options.limit},
                       {"run_time", std::string(mara::enum_name(options.run_time))},
                       {"seed", options.seed}};
  if (options.decision_time > 0.0) json["decision_time_s"] = options.decision_time;
  if (!options.failures.empty()) json["failures"] = options.failures;
  if (!options.checkpoint.empty()) json["checkpoint"] = options.checkpoint;
  if (!options.maintenance.empty()) json["maintenance"] = options.maintenance;
  if (!options.topology.empty()) json["topology"] = options.topology;
  if (options.interference != "none") json["interference"] = options.interference;
  if (!options.bandwidth.empty()) json["bandwidth"] = options.bandwidth;
  return json;
}

ordered_json platform_json(const SimulateOptions& options, const SimulationInput& input) {
  ordered_json types = ordered_json::array();
  for (std::size_t t = 0; t < input.platform.types.size(); ++t) {
    const mara::DeviceType& type = input.platform.types[t];
    types.push_back({{"name", type.name},
                     {"devices", input.platform.devices_of(static_cast<std::int32_t>(t))},
                     {"memory_mib", type.memory_mib},
                     {"idle_w", type.idle_w},
                     {"busy_w", type.busy_w},
                     {"price_per_hour", type.price_per_hour}});
  }
  return {{"spec", options.cluster},
          {"nodes", input.platform.nodes.size()},
          {"devices", input.platform.devices()},
          {"types", types}};
}

/// A column of the table: its title and the text of a run.
struct Column {
  std::string title;
  std::function<std::string(const PolicyRun&)> text;
};

}  // namespace

std::string render_simulation_table(const SimulateOptions& options, const SimulationInput& input,
                                    const std::vector<PolicyRun>& runs) {
  double longest = 0.0;
  bool deadlines = false, left = false, rejected = false, moved = false;
  for (const PolicyRun& run : runs) {
    const mara::PlatformMetrics& m = run.metrics;
    longest = std::max(longest, m.jct_s.mean.value_or(0.0));
    deadlines = deadlines || m.deadline_jobs > 0;
    left = left || m.unfinished > 0;
    rejected = rejected || m.rejected > 0;
    moved = moved || m.preemptions > 0 || m.migrations > 0;
  }
  const TimeUnit unit = time_unit(longest);
  const auto time = [unit](std::optional<double> seconds) {
    return seconds ? format_three(*seconds / unit.seconds) : std::string("-");
  };
  std::vector<Column> columns = {
      {"policy", [](const PolicyRun& run) { return run.name; }},
      {std::string("JCT, ") + unit.name, [&](const PolicyRun& r) { return time(r.metrics.jct_s.mean); }},
      {"/bound", [&](const PolicyRun& r) { return format_three(r.over_bound(input)); }},
      {"p50", [&](const PolicyRun& r) { return time(r.metrics.jct_s.p50); }},
      {"p95", [&](const PolicyRun& r) { return time(r.metrics.jct_s.p95); }},
      {"p99", [&](const PolicyRun& r) { return time(r.metrics.jct_s.p99); }},
      {"queueing", [&](const PolicyRun& r) { return time(r.metrics.queueing_s.mean); }},
      {"slowdown", [](const PolicyRun& r) { return format_three(r.metrics.mean_slowdown); }},
      {"bounded", [](const PolicyRun& r) { return format_three(r.metrics.mean_bounded_slowdown); }},
      {"Jain", [](const PolicyRun& r) { return format_fixed(r.metrics.jain, 3); }},
      {"rho", [](const PolicyRun& r) { return format_three(r.metrics.mean_rho); }},
      {"worst", [](const PolicyRun& r) { return format_three(r.metrics.max_rho); }},
      {"makespan", [](const PolicyRun& r) { return format_duration(r.metrics.makespan_s); }},
      {"util", [](const PolicyRun& r) { return format_fixed(r.metrics.gpu_utilisation, 3); }},
      {"frag", [](const PolicyRun& r) { return format_fixed(r.fragmentation, 3); }},
  };
  if (moved) {
    columns.push_back(
        {"preempt", [](const PolicyRun& r) { return format_three(r.metrics.preemptions_per_job); }});
    columns.push_back(
        {"moves", [](const PolicyRun& r) { return format_three(r.metrics.migrations_per_job); }});
  }
  if (has_outages(options)) {
    columns.push_back(
        {"failures", [](const PolicyRun& r) { return format_three(r.metrics.failures_per_job); }});
    columns.push_back(
        {"restarts", [](const PolicyRun& r) { return format_three(r.outages.restarts_per_job); }});
    columns.push_back(
        {"lost, GPU-h", [](const PolicyRun& r) { return format_three(r.outages.lost_gpu_hours); }});
    columns.push_back({"down", [](const PolicyRun& r) { return format_fixed(r.outages.down_share, 3); }});
  }
  if (options.decision_time > 0.0)
    columns.push_back(
        {"overhead", [](const PolicyRun& r) { return format_fixed(r.metrics.overhead_share, 3); }});
  if (has_outages(options) || options.decision_time > 0.0)
    columns.push_back({"goodput", [](const PolicyRun& r) { return format_fixed(r.metrics.goodput, 3); }});
  if (deadlines)
    columns.push_back(
        {"late", [](const PolicyRun& r) { return format_fixed(r.metrics.deadline_miss_rate, 3); }});
  if (rejected)
    columns.push_back({"rejected", [](const PolicyRun& r) { return std::to_string(r.metrics.rejected); }});
  if (left)
    columns.push_back({"open", [](const PolicyRun& r) { return std::to_string(r.metrics.unfinished); }});

  std::vector<std::vector<std::string>> lines(runs.size() + 1);
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    lines[0].push_back(column.title);
    for (std::size_t i = 0; i < runs.size(); ++i) lines[i + 1].push_back(column.text(runs[i]));
    std::size_t width = 0;
    for (const auto& line : lines) width = std::max(width, display_width(line.back()));
    widths.push_back(width);
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string pad(widths[c] - display_width(line[c]), ' ');
      text += c == 0 ? line[c] + pad : "  " + pad + line[c];
    }
    text += '\n';
  }
  return text;
}

ordered_json simulation_json(const SimulateOptions& options, const SimulationInput& input,
                             const std::vector<PolicyRun>& runs, const std::vector<std::string>& files) {
  ordered_json policies = ordered_json::array(), timing = ordered_json::object();
  for (const PolicyRun& run : runs) {
    policies.push_back(policy_json(run, input));
    if (has_outages(options)) policies.back()["outages"] = outages_json(run.outages);
    timing[run.name] = {
        {"seconds", run.seconds},
        {"events_per_s", run.seconds > 0.0 ? static_cast<double>(run.run.job_events) / run.seconds : 0.0}};
  }
  return {{"format", "mara-simulation"},
          {"version", 1},
          {"trace",
           {{"file", options.trace},
            {"format", std::string(mara::to_string(input.format))},
            {"jobs", input.jobs.jobs.size()},
            {"skipped_rows", input.skipped_rows},
            {"left_out", input.jobs.dropped},
            {"load", input.load},
            {"lower_bound_mean_jct_s", number(input.lower_bound_s)}}},
          {"cluster", platform_json(options, input)},
          {"options", options_json(options)},
          {"policies", policies},
          {"notes", input.notes},
          {"files", files},
          {"timing", timing}};
}

}  // namespace lab
