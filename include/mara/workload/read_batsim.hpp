#pragma once
// Reader for jobs of Batsim (Dutot et al., JSSPP'16).

#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv_jobs.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads a CSV with the input columns of Batsim: `job_id`, `submission_time` (s), `procs` (processors, taken
/// as GPUs), `run_time` (s), and `walltime` (s; the user's estimate; empty or -1: none). Rows with run time 0
/// are skipped and counted. Jobs are sorted stably by submission. Errors (file, line, field and value in the
/// message): unknown, missing or repeated column; text that is no number; NaN, infinite, negative or absurd
/// (> 1e12 s, > 1e6 processors) values; walltime 0; repeated job_id; no job at all.
inline Result<Trace> parse_batsim(std::string text, const std::string& name,
                                  const TraceReadOptions& options = {}) {
  const detail::JobColumns columns{{"job_id", "submission_time", "procs", "run_time"}, {"walltime"}};
  return detail::read_csv_jobs(
      std::move(text), name, options, columns, [](const Csv&, auto& fields, auto&, TraceJob& job) -> Status {
        job.submit_s = fields.number("submission_time", 0.0, detail::kMaxJobSeconds);
        job.gpus = Milli::whole(fields.integer("procs", 1, 1'000'000));
        job.duration_s = fields.number("run_time", 0.0, detail::kMaxJobSeconds);
        job.estimate_s = fields.number_or("walltime", -1.0, detail::kMaxJobSeconds, -1.0);
        if (job.estimate_s == -1.0) job.estimate_s = kUnknownTime;
        if (!(job.estimate_s > 0.0)) fields.refuse("walltime", "is no time");
        return {};
      });
}

}  // namespace mara
