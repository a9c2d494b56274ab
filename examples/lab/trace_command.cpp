// mara-lab trace: what is in a trace, and a workload model fitted to it.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "files.hpp"
#include "format.hpp"
#include "mara/math/statistics.hpp"
#include "mara/simulation/job_log.hpp"
#include "mara/workload/fit_to_file.hpp"
#include "mara/workload/read_trace.hpp"
#include "mara/workload/workload_model_json.hpp"

namespace lab {
namespace {

using nlohmann::ordered_json;

constexpr std::pair<const char*, double> kQuantiles[] = {{"min", 0.0},  {"p10", 0.1},  {"p25", 0.25},
                                                         {"p50", 0.5},  {"p75", 0.75}, {"p90", 0.9},
                                                         {"p99", 0.99}, {"max", 1.0}};

/// What the command finds out about a trace.
struct TraceSummary {
  mara::WorkloadSummary workload;
  mara::SkippedRows skipped;
  double gpu_hours = 0.0;
  std::vector<double> durations_s, interarrivals_s, gpus;
  std::map<std::int64_t, std::size_t> gpu_counts;  ///< jobs by milli-GPU; all fractions under 0
};

TraceSummary summarise_trace(const mara::Trace& trace) {
  TraceSummary summary;
  summary.workload = mara::summarise(trace);
  summary.skipped = trace.skipped;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const mara::TraceJob& job = trace.jobs[i];
    summary.gpu_hours += job.gpus.as_double() * job.duration_s / 3600.0;
    summary.durations_s.push_back(job.duration_s);
    summary.gpus.push_back(job.gpus.as_double());
    if (i > 0) summary.interarrivals_s.push_back(job.submit_s - trace.jobs[i - 1].submit_s);
    ++summary.gpu_counts[job.gpus.is_whole() ? job.gpus.value : 0];
  }
  return summary;
}

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

void print_json(const TraceOptions& options, const TraceSummary& summary,
                const std::optional<mara::WorkloadModel>& model) {
  ordered_json counts = ordered_json::array();
  for (const auto& [milli, jobs] : summary.gpu_counts)
    counts.push_back(
        {{"gpus", milli == 0 ? ordered_json("fraction") : ordered_json(milli / 1000)}, {"jobs", jobs}});
  const mara::WorkloadSummary& w = summary.workload;
  ordered_json object = {{"file", options.file},
                         {"format", std::string(mara::to_string(options.format))},
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
                         {"skipped",
                          {{"no_gpu", summary.skipped.no_gpu},
                           {"never_scheduled", summary.skipped.never_scheduled},
                           {"no_duration", summary.skipped.no_duration}}},
                         {"fit", model ? fit_json(*model, options.fit) : ordered_json(nullptr)}};
  std::printf("%s\n", object.dump(1, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

/// "label" padded to a column, then the value.
void print_fact(const char* label, const std::string& value) {
  std::printf("%-22s%s\n", label, value.c_str());
}

void print_text(const TraceOptions& options, const TraceSummary& summary,
                const std::optional<mara::WorkloadModel>& model) {
  const mara::WorkloadSummary& w = summary.workload;
  print_fact("trace", options.file + " (" + std::string(mara::to_string(options.format)) + ")");
  print_fact("jobs", std::to_string(w.jobs));
  print_fact("span", format_duration(w.span_s) + " from the first submission to the last");
  print_fact("work", format_count(summary.gpu_hours) + " GPU-hours");
  print_fact("load", format_three(w.load_gpus) + " GPUs busy on average");
  print_fact("largest request", mara::gpus_text(w.largest_request) + " GPUs");
  std::string skipped = std::to_string(summary.skipped.total());
  if (summary.skipped.total() > 0)
    skipped += " (no GPU: " + std::to_string(summary.skipped.no_gpu) +
               ", never scheduled: " + std::to_string(summary.skipped.never_scheduled) +
               ", no duration: " + std::to_string(summary.skipped.no_duration) + ")";
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
  const auto trace = mara::read_trace(options.file, options.format);
  if (!trace) return trace.error();
  std::optional<mara::WorkloadModel> model;
  if (!options.fit.empty()) {
    if (auto fitted = mara::fit_to_file(options.file, options.format, options.fit); !fitted) return fitted;
    auto loaded = mara::load_workload_model(options.fit);
    if (!loaded) return loaded.error();
    model = std::move(*loaded);
  }
  const TraceSummary summary = summarise_trace(*trace);
  options.json ? print_json(options, summary, model) : print_text(options, summary, model);
  return {};
}

}  // namespace lab
