#pragma once
// Reader for the Philly virtual-cluster CSVs in the form published with Muri (Zhao et al., SIGCOMM'22).

#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv_jobs.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads a Muri CSV: columns `job_id`, `num_gpu`, `submit_time` (ms), `duration` (ms) are required;
/// `model_name`, `priority` and `iterations` (steps) are used when present; the other profile columns
/// (`batch_size`, `interval`, `iteration_time`, `resource_time_0..2`) are accepted. The run time on `num_gpu`
/// GPUs is `duration`, which Philly logged; with `muri_run_time` kIterations, which needs the columns
/// `iterations` and `iteration_time` (ms), it is iterations x (iteration_time x 1.015 / 1000) s, as Muri's
/// own simulator has it. `num_gpu` must be a power of two, as Muri's cluster demands. Rows with run time 0
/// are skipped and counted. Jobs are sorted stably by submission. Errors (file, line, field and value in the
/// message): unknown, missing or repeated column; text that is no number; NaN, infinite, negative or absurd
/// (> 1e13 ms) time; num_gpu <= 0, > 65536 or no power of two; repeated job_id; no job at all.
inline Result<Trace> parse_muri(std::string text, const std::string& name,
                                const TraceReadOptions& options = {}) {
  constexpr double kMaxMs = 1e13;
  const detail::JobColumns columns{
      {"job_id", "num_gpu", "submit_time", "duration"},
      {"model_name", "priority", "iterations", "batch_size", "interval", "iteration_time", "resource_time_0",
       "resource_time_1", "resource_time_2"}};
  const bool by_iterations = options.muri_run_time == MuriRunTime::kIterations;
  const auto begin = [&](const Csv& csv) -> Status {
    for (const char* column : {"iterations", "iteration_time"})
      if (by_iterations && csv.column(column) < 0) return csv.error(column, "column is missing");
    return {};
  };
  return detail::read_csv_jobs(
      std::move(text), name, options, columns, begin,
      [&](const Csv& csv, auto& fields, auto&, TraceJob& job) -> Status {
        const std::int64_t gpus = fields.integer("num_gpu", 1, 65536);
        if ((gpus & (gpus - 1)) != 0) fields.refuse("num_gpu", "is not a power of two");
        job.gpus = Milli::whole(gpus);
        job.submit_s = fields.number("submit_time", 0.0, kMaxMs) / 1000.0;
        job.duration_s = fields.number("duration", 0.0, kMaxMs) / 1000.0;
        if (csv.column("priority") >= 0)
          job.priority = static_cast<int>(fields.integer("priority", 0, 1'000'000));
        if (csv.column("iterations") >= 0) job.steps = fields.number("iterations", 0.0, 1e15);
        if (by_iterations) {
          job.duration_s = job.steps * (fields.number("iteration_time", 0.0, 1e9) * 1.015 / 1000.0);
          if (job.duration_s > 1e12) fields.refuse("iterations", "makes the run time too long");
        }
        job.model = std::string(csv.text("model_name"));
        return {};
      });
}

/// parse_muri of a file. Errors: also those of read_text_file.
inline Result<Trace> read_muri(const std::string& path, const TraceReadOptions& options = {}) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_muri(std::move(*text), path, options);
}

}  // namespace mara
