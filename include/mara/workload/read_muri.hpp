#pragma once
// Reader for the Philly virtual-cluster CSVs in the form published with Muri (SIGCOMM'22).

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads a Muri CSV: columns `job_id`, `num_gpu`, `submit_time` (ms), `duration` (ms) are required;
/// `model_name` and `priority` are used when present; the profile columns (`iterations`, `batch_size`,
/// `interval`, `iteration_time`, `resource_time_0..2`) are accepted and not used. `duration`, the run time
/// that Philly logged, is taken as the run time on `num_gpu` GPUs. (Muri's own simulator uses iterations x
/// iteration time instead.) `num_gpu` must be a power of two, as Muri's cluster demands. Rows with duration 0
/// are skipped and counted. Jobs are sorted stably by submission. Errors (file, line, field and value in the
/// message): unknown, missing or repeated column; text that is no number; NaN, infinite, negative or absurd
/// (> 1e13 ms) time; num_gpu <= 0, > 65536 or no power of two; repeated job_id; no job at all; and those of
/// read_text_file.
inline Result<Trace> read_muri(const std::string& path) {
  constexpr double kMaxMs = 1e13;
  auto opened = Csv::open(path);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok =
          csv.expect_columns({"job_id", "num_gpu", "submit_time", "duration"},
                             {"model_name", "priority", "iterations", "batch_size", "interval",
                              "iteration_time", "resource_time_0", "resource_time_1", "resource_time_2"});
      !ok)
    return ok.error();

  Trace trace;
  trace.source = file_name(path);
  std::set<std::int64_t> seen;
  for (;;) {
    auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    auto id = csv.integer("job_id", 0, INT64_MAX);
    if (!id) return id.error();
    auto gpus = csv.integer("num_gpu", 1, 65536);
    if (!gpus) return gpus.error();
    if ((*gpus & (*gpus - 1)) != 0) return csv.bad("num_gpu", "is not a power of two");
    auto submit = csv.number("submit_time", 0.0, kMaxMs);
    if (!submit) return submit.error();
    auto duration = csv.number("duration", 0.0, kMaxMs);
    if (!duration) return duration.error();
    TraceJob job;
    if (csv.column("priority") >= 0) {
      auto priority = csv.integer("priority", 0, 1'000'000);
      if (!priority) return priority.error();
      job.priority = static_cast<int>(*priority);
    }
    if (!seen.insert(*id).second) return csv.bad("job_id", "appears twice");
    job.id = *id;
    job.submit_s = *submit / 1000.0;
    job.duration_s = *duration / 1000.0;
    job.gpus = Milli::whole(*gpus);
    job.model = std::string(csv.text("model_name"));
    if (job.duration_s > 0.0) {
      trace.jobs.push_back(std::move(job));
    } else {
      ++trace.skipped.no_duration;
    }
  }
  if (trace.jobs.empty()) return Error{ErrorCode::kParse, path + ": no job in the file"};
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit_s < b.submit_s; });
  return trace;
}

}  // namespace mara
