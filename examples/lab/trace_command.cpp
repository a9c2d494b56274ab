// mara-lab trace: what is in a trace, and a workload model fitted to it.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "files.hpp"
#include "format.hpp"
#include "mara/interop/gzip.hpp"
#include "mara/math/statistics.hpp"
#include "mara/simulation/job_log.hpp"
#include "mara/workload/fit_to_file.hpp"
#include "mara/workload/gavel_throughputs.hpp"
#include "mara/workload/workload_model_json.hpp"
#include "trace_figures.hpp"
#include "trace_summary.hpp"

namespace lab {
namespace {

using nlohmann::ordered_json;

constexpr std::pair<const char*, double> kQuantiles[] = {{"min", 0.0},  {"p10", 0.1},  {"p25", 0.25},
                                                         {"p50", 0.5},  {"p75", 0.75}, {"p90", 0.9},
                                                         {"p99", 0.99}, {"max", 1.0}};

ordered_json quantiles_json(const std::vector<double>& values) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, q] : kQuantiles) {
    const auto value = mara::quantile(values, q);
    object[name] = value ? ordered_json(*value) : ordered_json(nullptr);
  }
  return object;
}

ordered_json fit_json(const mara::WorkloadModel& model, const std::string& file) {
  const mara::GoodnessOfFit& fit = model.fit;
  return {{"file", file},
          {"jobs", model.origin.jobs},
          {"from_s", model.origin.from_s},
          {"to_s", model.origin.to_s},
          {"load_gpus", mara::load_gpus(model)},
          {"goodness_of_fit",
           {{"ks_duration", fit.ks_duration},
            {"ks_interarrival", fit.ks_interarrival},
            {"tv_gpus", fit.tv_gpus},
            {"ratio_mean_interarrival", fit.ratio_mean_interarrival},
            {"ratio_mean_work", fit.ratio_mean_work},
            {"ratio_dispersion_hour", fit.ratio_dispersion_hour},
            {"ratio_dispersion_day", fit.ratio_dispersion_day},
            {"ratio_repeat_gpus", fit.ratio_repeat_gpus},
            {"sample_jobs", fit.sample_jobs}}}};
}

ordered_json group_json(const JobGroup& group, double all_gpu_hours) {
  return {{"name", group.name},
          {"jobs", group.jobs},
          {"gpu_hours", group.gpu_hours},
          {"mean_duration_s", group.mean_duration_s()},
          {"share", group.gpu_hours / all_gpu_hours}};
}

/// The tenants with most GPU-hours, and the rest as one; null when the trace tells no tenants apart.
ordered_json tenants_json(const TraceSummary& summary) {
  if (summary.tenants.empty()) return nullptr;
  ordered_json top = ordered_json::array();
  for (std::size_t i = 0; i < std::min(summary.tenants.size(), kShownTenants); ++i)
    top.push_back(group_json(summary.tenants[i], summary.gpu_hours));
  ordered_json rest = nullptr;
  if (summary.tenants.size() > kShownTenants) {
    rest = group_json(other_tenants(summary), summary.gpu_hours);
    rest["name"] = nullptr;
  }
  return {{"count", summary.tenants.size()}, {"top", top}, {"rest", rest}};
}

ordered_json classes_json(const TraceSummary& summary) {
  ordered_json classes = ordered_json::array();
  for (const JobGroup& group : summary.sla_classes) classes.push_back(group_json(group, summary.gpu_hours));
  return classes;
}

void print_json(const TraceOptions& options, mara::TraceFormat format, const TraceSummary& summary,
                const std::optional<mara::WorkloadModel>& model, const std::vector<std::string>& figures) {
  ordered_json counts = ordered_json::array();
  for (const auto& [milli, jobs] : summary.gpu_counts)
    counts.push_back(
        {{"gpus", milli == 0 ? ordered_json("fraction") : ordered_json(milli / 1000)}, {"jobs", jobs}});
  const mara::WorkloadSummary& w = summary.workload;
  ordered_json object = {{"file", options.file},
                         {"format", std::string(mara::to_string(format))},
                         {"jobs", w.jobs},
                         {"span_s", w.span_s},
                         {"gpu_hours", summary.gpu_hours},
                         {"load_gpus", w.load_gpus},
                         {"mean_interarrival_s", w.mean_interarrival_s},
                         {"largest_request_gpus", w.largest_request.as_double()},
                         {"duration_s", quantiles_json(summary.durations_s)},
                         {"interarrival_s", quantiles_json(summary.interarrivals_s)},
                         {"gpus", quantiles_json(summary.gpus)},
                         {"gpu_counts", counts},
                         {"with_estimate", summary.estimates},
                         {"with_deadline", summary.deadlines},
                         {"with_dependencies", summary.dependent},
                         {"tenants", tenants_json(summary)},
                         {"sla_classes", classes_json(summary)},
                         {"skipped",
                          {{"no_gpu", summary.skipped.no_gpu},
                           {"never_scheduled", summary.skipped.never_scheduled},
                           {"no_duration", summary.skipped.no_duration},
                           {"malformed", summary.skipped.malformed}}},
                         {"figures", figures},
                         {"fit", model ? fit_json(*model, options.fit) : ordered_json(nullptr)}};
  std::printf("%s\n", object.dump(1, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

/// Three digits below a thousand, then 12.3k.
std::string hours_text(double gpu_hours) {
  return gpu_hours < 999.5 ? format_three(gpu_hours) : format_count(gpu_hours);
}

/// "label" padded to a column, then the value.
void print_fact(const char* label, const std::string& value) {
  std::printf("%-22s%s\n", label, value.c_str());
}

/// Plain text of at most `width` columns for a table.
std::string cell(const std::string& text, std::size_t width) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (out.empty()) out = "(none)";
  return out.size() > width ? out.substr(0, width - 3) + "..." : out;
}

void print_groups(const char* title, const std::vector<JobGroup>& groups, std::size_t shown,
                  const JobGroup& rest, double all_gpu_hours) {
  std::printf("\n%-22s%11s%13s%15s%9s\n", title, "jobs", "GPU-hours", "mean duration", "share");
  const auto row = [&](const std::string& name, const JobGroup& group) {
    std::printf("%-22s%11zu%13s%15s%9s\n", name.c_str(), group.jobs, hours_text(group.gpu_hours).c_str(),
                format_duration(group.mean_duration_s()).c_str(),
                (format_fixed(100.0 * group.gpu_hours / all_gpu_hours, 1) + " %").c_str());
  };
  for (std::size_t i = 0; i < std::min(groups.size(), shown); ++i) row(cell(groups[i].name, 21), groups[i]);
  if (groups.size() > shown) row(std::to_string(groups.size() - shown) + " others", rest);
}

void print_text(const TraceOptions& options, mara::TraceFormat format, const TraceSummary& summary,
                const std::optional<mara::WorkloadModel>& model, const std::vector<std::string>& figures) {
  const mara::WorkloadSummary& w = summary.workload;
  print_fact("trace", options.file + " (" + std::string(mara::to_string(format)) + ")");
  print_fact("jobs", std::to_string(w.jobs));
  print_fact("span", format_duration(w.span_s) + " from the first submission to the last");
  print_fact("work", hours_text(summary.gpu_hours) + " GPU-hours");
  print_fact("load", format_three(w.load_gpus) + " GPUs busy on average");
  print_fact("largest request", mara::gpus_text(w.largest_request) + " GPUs");
  for (const auto& [label, jobs] :
       {std::pair("with an estimate", summary.estimates), std::pair("with a deadline", summary.deadlines),
        std::pair("waiting for others", summary.dependent)})
    if (jobs > 0) print_fact(label, std::to_string(jobs) + " jobs");
  std::string skipped = std::to_string(summary.skipped.total());
  if (summary.skipped.total() > 0)
    skipped += " (no GPU: " + std::to_string(summary.skipped.no_gpu) +
               ", never scheduled: " + std::to_string(summary.skipped.never_scheduled) +
               ", no duration: " + std::to_string(summary.skipped.no_duration) +
               ", malformed: " + std::to_string(summary.skipped.malformed) + ")";
  print_fact("skipped rows", skipped);

  std::printf("\n%-16s", "quantiles");
  for (const auto& [name, q] : kQuantiles) std::printf("%11s", name);
  std::printf("\n");
  const auto row = [](const char* label, const std::vector<double>& values, auto&& text) {
    std::printf("%-16s", label);
    for (const auto& [name, q] : kQuantiles) {
      const auto value = mara::quantile(values, q);
      std::printf("%11s", value ? text(*value).c_str() : "-");
    }
    std::printf("\n");
  };
  row("duration", summary.durations_s, [](double value) { return format_duration(value); });
  row("inter-arrival", summary.interarrivals_s, [](double value) { return format_duration(value); });
  row("GPUs", summary.gpus,
      [](double value) { return value == std::floor(value) ? format_fixed(value, 0) : format_three(value); });

  std::printf("\n%-16s%11s%11s\n", "GPUs", "jobs", "share");
  for (const auto& [milli, jobs] : summary.gpu_counts) {
    const std::string share =
        format_fixed(100.0 * static_cast<double>(jobs) / static_cast<double>(w.jobs), 1) + " %";
    std::printf("%-16s%11zu%11s\n", milli == 0 ? "less than 1" : std::to_string(milli / 1000).c_str(), jobs,
                share.c_str());
  }

  if (!summary.tenants.empty())
    print_groups("tenant", summary.tenants, kShownTenants, other_tenants(summary), summary.gpu_hours);
  if (!summary.sla_classes.empty())
    print_groups("class of service", summary.sla_classes, summary.sla_classes.size(), {}, summary.gpu_hours);
  if (!figures.empty()) std::printf("\n");
  for (const std::string& figure : figures) print_fact("figure", figure);

  if (!model) return;
  const mara::GoodnessOfFit& fit = model->fit;
  std::printf("\n");
  print_fact("workload model", options.fit);
  print_fact("fitted to", std::to_string(model->origin.jobs) + " jobs, from " +
                              format_duration(model->origin.from_s) + " to " +
                              format_duration(model->origin.to_s) +
                              (model->origin.jobs < w.jobs ? " (the dense part of the trace)" : ""));
  print_fact("load of the model", format_three(mara::load_gpus(*model)) + " GPUs busy on average");
  std::printf("\ngoodness of fit: a sample of %zu jobs against the trace\n", fit.sample_jobs);
  const auto measure = [](const char* label, double value, const char* best) {
    std::printf("  %-52s%8s   (best: %s)\n", label, format_three(value).c_str(), best);
  };
  measure("Kolmogorov-Smirnov distance of durations", fit.ks_duration, "0");
  measure("Kolmogorov-Smirnov distance of inter-arrival times", fit.ks_interarrival, "0");
  measure("total variation distance of GPU counts", fit.tv_gpus, "0");
  measure("mean inter-arrival time, sample / trace", fit.ratio_mean_interarrival, "1");
  measure("mean GPU-seconds of a job, sample / trace", fit.ratio_mean_work, "1");
  measure("dispersion of arrivals by the hour, sample / trace", fit.ratio_dispersion_hour, "1");
  measure("dispersion of arrivals by the day, sample / trace", fit.ratio_dispersion_day, "1");
  measure("GPU count repeated by the next job, sample / trace", fit.ratio_repeat_gpus, "1");
}

}  // namespace

mara::Status run_trace(const TraceOptions& options) {
  if (!options.fit.empty()) {
    const auto is_model = [](const std::string& path) { return mara::load_workload_model(path).has_value(); };
    if (auto ready = check_target_file(options.fit, "--fit", is_model); !ready) return ready;
  }
  if (!options.out.empty())
    if (auto ready = check_trace_figures(options.out); !ready) return ready;
  auto text = mara::read_text_file_or_gzip(options.file);
  if (!text) return text.error();
  const auto format =
      options.format ? mara::Result<mara::TraceFormat>(*options.format) : mara::guess_trace_format(*text);
  if (!format) return mara::Error{format.error().code, options.file + ": " + format.error().message};
  mara::TraceReadOptions read_options;
  mara::GavelThroughputs throughputs;
  if (!options.throughputs.empty()) {
    const auto measured = mara::read_text_file_or_gzip(options.throughputs);
    if (!measured) return mara::Error{measured.error().code, "--throughputs: " + measured.error().message};
    auto table = mara::parse_gavel_throughputs(*measured, options.throughputs);
    if (!table) return mara::Error{table.error().code, "--throughputs: " + table.error().message};
    throughputs = std::move(*table);
    read_options.gavel_throughputs = &throughputs;
  }
  const auto trace = mara::parse_trace(std::move(*text), options.file, *format, read_options);
  if (!trace) {
    const bool no_table = *format == mara::TraceFormat::kGavel && options.throughputs.empty();
    return mara::Error{trace.error().code,
                       trace.error().message + (no_table ? "; name it with --throughputs" : "")};
  }
  std::optional<mara::WorkloadModel> model;
  if (!options.fit.empty()) {
    if (auto fitted = mara::fit_to_file(*trace, options.file, *format, options.fit); !fitted) return fitted;
    auto loaded = mara::load_workload_model(options.fit);
    if (!loaded) return loaded.error();
    model = std::move(*loaded);
  }
  std::vector<std::string> figures;
  if (!options.out.empty()) {
    auto drawn = draw_trace_figures(*trace, options.out);
    if (!drawn) return drawn.error();
    figures = std::move(*drawn);
  }
  const TraceSummary summary = summarise_trace(*trace);
  if (options.json) {
    print_json(options, *format, summary, model, figures);
  } else {
    print_text(options, *format, summary, model, figures);
  }
  return {};
}

}  // namespace lab
