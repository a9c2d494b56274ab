#pragma once
// Reader for jobs of Batsim (Dutot et al., JSSPP'16).

#include <cstdint>
#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
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
  constexpr double kMaxSeconds = 1e12;
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"job_id", "submission_time", "procs", "run_time"}, {"walltime"}); !ok)
    return ok.error();
  detail::TraceBuilder trace(name, options);
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(csv);
    TraceJob job;
    job.id = fields.integer("job_id", 0, INT64_MAX);
    job.submit_s = fields.number("submission_time", 0.0, kMaxSeconds);
    job.gpus = Milli::whole(fields.integer("procs", 1, 1'000'000));
    job.duration_s = fields.number("run_time", 0.0, kMaxSeconds);
    job.estimate_s = fields.number_or("walltime", -1.0, kMaxSeconds, -1.0);
    if (job.estimate_s == -1.0) job.estimate_s = kUnknownTime;
    if (!(job.estimate_s > 0.0)) fields.refuse("walltime", "is no time");
    if (fields.error()) return *fields.error();
    if (!trace.new_id(job.id)) return csv.bad("job_id", "appears twice");
    if (job.duration_s > 0.0) {
      trace.add(std::move(job));
    } else {
      ++trace.skipped().no_duration;
    }
  }
  return trace.finish();
}

}  // namespace mara
