#pragma once
// Reader for the job lists of the simulator of Tiresias (Gu et al., NSDI'19).

#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv_jobs.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads a Tiresias CSV: `job_id`, `num_gpu`, `submit_time` (s), `duration` (s), and, when present,
/// `model_name` and `iterations` (steps); `interval` is not used. Rows with duration 0 are skipped and
/// counted, as are rows that ask for no GPU. Jobs are sorted stably by submission. Errors (file, line, field
/// and value in the message): unknown, missing or repeated column; text that is no number; NaN, infinite,
/// negative or absurd
/// (> 1e12 s, > 65536 GPUs) values; repeated job_id; no job at all.
inline Result<Trace> parse_tiresias(std::string text, const std::string& name,
                                    const TraceReadOptions& options = {}) {
  const detail::JobColumns columns{{"job_id", "num_gpu", "submit_time", "duration"},
                                   {"iterations", "model_name", "interval"}};
  return detail::read_csv_jobs(std::move(text), name, options, columns,
                               [](const Csv& csv, auto& fields, auto&, TraceJob& job) -> Status {
                                 job.gpus = Milli::whole(fields.integer("num_gpu", 0, 65536));
                                 job.submit_s = fields.number("submit_time", 0.0, detail::kMaxJobSeconds);
                                 job.duration_s = fields.number("duration", 0.0, detail::kMaxJobSeconds);
                                 job.steps = fields.number_or("iterations", 0.0, 1e15, 0.0);
                                 job.model = std::string(csv.text("model_name"));
                                 return {};
                               });
}

}  // namespace mara
