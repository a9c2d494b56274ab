#pragma once
// Reader for the job list of Microsoft's Philly cluster (Jeon et al., ATC'19).

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/read_time.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads a Philly job list: `timestamp` of submission ("2017-09-04 10:30:41", local time without a zone),
/// `duration` (s), `num_gpus`, `cluster` (the virtual cluster: the tenant), and `gpu_time`, which must be
/// duration x num_gpus when present. Times are exact seconds since the midnight before the first submission,
/// every day having 86400 s; ids count the rows from 0. Rows without GPU or with duration 0 are skipped and
/// counted. Jobs are sorted stably by submission. Errors (file, line, field and value in the message):
/// unknown, missing or repeated column; text that is no number, no date or no time of day; NaN, infinite,
/// negative or absurd (> 1e12 s, > 65536 GPUs) values; no job at all.
inline Result<Trace> parse_philly_jobs(std::string text, const std::string& name,
                                       const TraceReadOptions& options = {}) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"timestamp", "duration", "num_gpus", "cluster"}, {"gpu_time"}); !ok)
    return ok.error();
  detail::TraceBuilder trace(name, options);
  std::vector<CivilTime> submitted;  // by job
  for (std::int64_t id = 0;; ++id) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(csv);
    TraceJob job;
    job.id = id;
    const auto time = parse_civil_time(csv.text("timestamp"));
    if (!time) fields.refuse("timestamp", "is not a time such as 2017-09-04 10:30:41");
    job.duration_s = fields.number("duration", 0.0, 1e12);
    const std::int64_t gpus = fields.integer("num_gpus", 0, 65536);
    if (csv.column("gpu_time") >= 0) {
      const double expected = job.duration_s * static_cast<double>(gpus);
      if (std::fabs(fields.number("gpu_time", 0.0, 1e17) - expected) > 1e-6 * expected)
        fields.refuse("gpu_time", "is not duration x num_gpus");
    }
    if (fields.error()) return *fields.error();
    job.gpus = Milli::whole(gpus);
    if (gpus == 0) {
      ++trace.skipped().no_gpu;
    } else if (!(job.duration_s > 0.0)) {
      ++trace.skipped().no_duration;
    } else {
      job.tenant = trace.tenant(csv.text("cluster"));
      submitted.push_back(*time);
      trace.add(std::move(job));
    }
  }
  trace.set_submissions(seconds_since_first_midnight(submitted));
  return trace.finish();
}

}  // namespace mara
