#pragma once
// Reader for the Philly traces with deadlines in the form published with ElasticFlow (Gu et al., ASPLOS'23).

#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads an ElasticFlow CSV: `job_id`, `num_gpu`, `submit_time` (s), `ddl` (the deadline on the same axis, s)
/// and `duration` (s on num_gpu GPUs) are required; `model_name` and `iteration` (steps) are used when
/// present; `real_iteration`, `real_duration` and `batch_size` are not. Rows that ask for no GPU or have
/// duration 0 are skipped and counted. Jobs are sorted stably by submission. Errors (file, line, field and
/// value in the message): unknown, missing or repeated column; text that is no number; NaN, infinite,
/// negative or absurd
/// (> 1e12 s, > 65536 GPUs) values; a deadline before the submission; repeated job_id; no job at all.
inline Result<Trace> parse_elasticflow(std::string text, const std::string& name,
                                       const TraceReadOptions& options = {}) {
  constexpr double kMaxSeconds = 1e12;
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok =
          csv.expect_columns({"job_id", "num_gpu", "submit_time", "ddl", "duration"},
                             {"real_iteration", "model_name", "batch_size", "real_duration", "iteration"});
      !ok)
    return ok.error();
  detail::TraceBuilder trace(name, options);
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(csv);
    TraceJob job;
    job.id = fields.integer("job_id", 0, INT64_MAX);
    job.gpus = Milli::whole(fields.integer("num_gpu", 0, 65536));
    job.submit_s = fields.number("submit_time", 0.0, kMaxSeconds);
    job.duration_s = fields.number("duration", 0.0, kMaxSeconds);
    job.deadline_s = fields.number("ddl", 0.0, kMaxSeconds);
    if (job.deadline_s < job.submit_s) fields.refuse("ddl", "is before submit_time");
    job.steps = fields.number_or("iteration", 0.0, 1e15, 0.0);
    if (fields.error()) return *fields.error();
    if (!trace.new_id(job.id)) return csv.bad("job_id", "appears twice");
    job.model = std::string(csv.text("model_name"));
    if (job.gpus.value == 0) {
      ++trace.skipped().no_gpu;
    } else if (job.duration_s > 0.0) {
      trace.add(std::move(job));
    } else {
      ++trace.skipped().no_duration;
    }
  }
  return trace.finish();
}

}  // namespace mara
