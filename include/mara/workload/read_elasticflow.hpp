#pragma once
// Reader for the Philly traces with deadlines in the form published with ElasticFlow (Gu et al., ASPLOS'23).

#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv_jobs.hpp"
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
  const detail::JobColumns columns{
      {"job_id", "num_gpu", "submit_time", "ddl", "duration"},
      {"real_iteration", "model_name", "batch_size", "real_duration", "iteration"}};
  return detail::read_csv_jobs(std::move(text), name, options, columns,
                               [](const Csv& csv, auto& fields, auto&, TraceJob& job) -> Status {
                                 job.gpus = Milli::whole(fields.integer("num_gpu", 0, 65536));
                                 job.submit_s = fields.number("submit_time", 0.0, detail::kMaxJobSeconds);
                                 job.duration_s = fields.number("duration", 0.0, detail::kMaxJobSeconds);
                                 job.deadline_s = fields.number("ddl", 0.0, detail::kMaxJobSeconds);
                                 if (job.deadline_s < job.submit_s)
                                   fields.refuse("ddl", "is before submit_time");
                                 job.steps = fields.number_or("iteration", 0.0, 1e15, 0.0);
                                 job.model = std::string(csv.text("model_name"));
                                 return {};
                               });
}

}  // namespace mara
