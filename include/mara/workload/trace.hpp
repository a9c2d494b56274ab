#pragma once
// A workload trace in memory: what was submitted when, before it is bound to a cluster.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// One submitted job of a trace.
struct TraceJob {
  std::int64_t id = 0;          ///< the trace's own id, unique within a trace
  double submit_s = 0.0;        ///< seconds on the trace's own time axis, >= 0
  double duration_s = 0.0;      ///< run time on the requested GPUs of the reference type, > 0
  Milli gpus{1000};             ///< whole GPUs, or a fraction of one
  std::string model;            ///< name of the trained model; may be empty
  std::string allowed_types;    ///< GPU types it may use, separated by '|'; empty: any
  Milli cpu{};                  ///< host CPU of the whole job; 0: the trace does not say
  std::int64_t memory_mib = 0;  ///< host memory of the whole job; 0: the trace does not say
  int priority = 0;             ///< larger is more urgent
  int tenant = 0;

  friend bool operator==(const TraceJob&, const TraceJob&) = default;
};

/// Rows of a file that describe no job to replay, by reason.
struct SkippedRows {
  std::size_t no_gpu = 0;           ///< asks for no GPU
  std::size_t never_scheduled = 0;  ///< has no start time
  std::size_t no_duration = 0;      ///< ends when or before it starts

  std::size_t total() const noexcept { return no_gpu + never_scheduled + no_duration; }
  friend bool operator==(const SkippedRows&, const SkippedRows&) = default;
};

/// An error about one job: "job 12: field 'gpus': what".
inline Error job_error(const TraceJob& job, std::string_view field, const std::string& what,
                       ErrorCode code = ErrorCode::kInvalidArgument) {
  return Error{code, "job " + std::to_string(job.id) + ": field '" + std::string(field) + "': " + what};
}

/// Success when every number of the job is in its domain; otherwise an error that names job, field and value.
inline Status check_trace_job(const TraceJob& job) {
  const auto number = [&](std::string_view field, double value, bool positive) -> Status {
    if (!std::isfinite(value))
      return job_error(job, field, "value " + std::to_string(value) + " is not finite",
                       ErrorCode::kNumerical);
    if (value < 0.0 || (positive && value == 0.0) || value > 1e12)
      return job_error(job, field, "value " + std::to_string(value) + " is out of range");
    return {};
  };
  if (auto ok = number("submit_s", job.submit_s, false); !ok) return ok;
  if (auto ok = number("duration_s", job.duration_s, true); !ok) return ok;
  if (job.gpus.value <= 0 || job.gpus > Milli::whole(1'000'000) ||
      (job.gpus.value > 1000 && !job.gpus.is_whole()))
    return job_error(job, "gpus",
                     std::to_string(job.gpus.value) + " milli-GPU is neither a share nor whole GPUs");
  if (job.cpu.value < 0) return job_error(job, "cpu", std::to_string(job.cpu.value) + " is negative");
  if (job.memory_mib < 0)
    return job_error(job, "memory_mib", std::to_string(job.memory_mib) + " is negative");
  return {};
}

/// Jobs in order of submission (equal times keep the order of the file).
struct Trace {
  std::vector<TraceJob> jobs;
  SkippedRows skipped;
  std::string source;  ///< file name without its folder, or the name of the model
};

/// File formats of read_trace: the Philly virtual-cluster CSVs of Muri, and the openb pod lists.
enum class TraceFormat : std::uint8_t { kMuri, kOpenb };

/// "muri" or "openb".
inline std::string_view to_string(TraceFormat format) noexcept {
  return format == TraceFormat::kMuri ? "muri" : "openb";
}

/// The format called `name`. Errors: kInvalidArgument naming the value.
inline Result<TraceFormat> parse_trace_format(std::string_view name) {
  if (name == "muri") return TraceFormat::kMuri;
  if (name == "openb") return TraceFormat::kOpenb;
  return Error{ErrorCode::kInvalidArgument, "format: must be muri or openb, got '" + std::string(name) + "'"};
}

/// Numbers that say how heavy a workload is.
struct WorkloadSummary {
  std::size_t jobs = 0;
  double span_s = 0.0;               ///< last minus first submission
  double mean_interarrival_s = 0.0;  ///< 0 with fewer than two jobs
  double mean_gpu_seconds = 0.0;     ///< requested GPUs x duration, per job
  double load_gpus = 0.0;            ///< GPU-seconds asked for per second: GPUs busy on average
  Milli largest_request{};
};

/// Summary of `trace`; all zero for an empty one.
inline WorkloadSummary summarise(const Trace& trace) noexcept {
  WorkloadSummary s;
  s.jobs = trace.jobs.size();
  if (trace.jobs.empty()) return s;
  double first = trace.jobs.front().submit_s, last = first, gpu_seconds = 0.0;
  for (const TraceJob& job : trace.jobs) {
    first = std::min(first, job.submit_s);
    last = std::max(last, job.submit_s);
    gpu_seconds += job.gpus.as_double() * job.duration_s;
    s.largest_request = std::max(s.largest_request, job.gpus);
  }
  s.span_s = last - first;
  s.mean_gpu_seconds = gpu_seconds / static_cast<double>(s.jobs);
  if (s.jobs > 1) s.mean_interarrival_s = s.span_s / static_cast<double>(s.jobs - 1);
  if (s.mean_interarrival_s > 0.0) s.load_gpus = s.mean_gpu_seconds / s.mean_interarrival_s;
  return s;
}

/// The time by which `fraction` (in [0, 1]) of the span between first and last submission has passed; 0 for
/// an empty trace.
inline double time_at_fraction(const Trace& trace, double fraction) noexcept {
  if (trace.jobs.empty()) return 0.0;
  const double first = trace.jobs.front().submit_s;
  return first + fraction * (trace.jobs.back().submit_s - first);
}

/// The jobs submitted in [from_s, to_s). With `rebase`, times count from `from_s`.
inline Trace slice(const Trace& trace, double from_s, double to_s = std::numeric_limits<double>::infinity(),
                   bool rebase = false) {
  Trace part;
  part.source = trace.source;
  for (const TraceJob& job : trace.jobs) {
    if (job.submit_s < from_s || !(job.submit_s < to_s)) continue;
    part.jobs.push_back(job);
    if (rebase) part.jobs.back().submit_s -= from_s;
  }
  return part;
}

}  // namespace mara
