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

/// What a trace leaves unsaid about a time: no estimate, no deadline.
inline constexpr double kUnknownTime = std::numeric_limits<double>::infinity();

/// One submitted job of a trace.
struct TraceJob {
  std::int64_t id = 0;      ///< the trace's own id, unique within a trace
  double submit_s = 0.0;    ///< seconds on the trace's own time axis, >= 0
  double duration_s = 0.0;  ///< run time on the requested GPUs of the reference type, > 0
  Milli gpus{1000};         ///< whole GPUs (of a batch trace: processors), or a fraction of one; 0: none
  std::string model = {};   ///< name of the trained model; may be empty
  std::string allowed_types = {};  ///< GPU types it may use, separated by '|'; empty: any
  Milli cpu{};                     ///< host CPU of the whole job; 0: the trace does not say
  std::int64_t memory_mib = 0;     ///< host memory of the whole job; 0: the trace does not say
  int priority = 0;                ///< larger is more urgent
  int tenant = 0;  ///< user, group or virtual cluster; index into Trace::tenants where there are names
  double estimate_s = kUnknownTime;  ///< the user's estimate of the run time (wall time limit), > 0
  double deadline_s = kUnknownTime;  ///< on the trace's time axis
  int sla = 0;          ///< class of service; index into Trace::sla_classes where there are names
  double weight = 1.0;  ///< share or value the trace gives the job, > 0
  double steps = 0.0;   ///< training steps or iterations; 0: the trace does not say
  std::vector<std::int64_t> after =
      {};  ///< ids of jobs of the trace that must have finished before it may start

  friend bool operator==(const TraceJob&, const TraceJob&) = default;
};

/// Rows of a file that describe no job to replay, by reason.
struct SkippedRows {
  std::size_t no_gpu = 0;           ///< asks for no GPU
  std::size_t never_scheduled = 0;  ///< has no start time
  std::size_t no_duration = 0;      ///< ends when or before it starts
  std::size_t malformed = 0;  ///< says of itself what no job can have (SWF: no size, no submission), or is a
                              ///< part of a job that has a row of its own (SWF: partial executions)

  std::size_t total() const noexcept { return no_gpu + never_scheduled + no_duration + malformed; }
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
  if (job.tenant < 0) return job_error(job, "tenant", std::to_string(job.tenant) + " is negative");
  if (job.sla < 0) return job_error(job, "sla", std::to_string(job.sla) + " is negative");
  if (job.estimate_s != kUnknownTime)
    if (auto ok = number("estimate_s", job.estimate_s, true); !ok) return ok;
  if (job.deadline_s != kUnknownTime)
    if (auto ok = number("deadline_s", std::fabs(job.deadline_s), false); !ok) return ok;
  if (auto ok = number("weight", job.weight, true); !ok) return ok;
  if (!std::isfinite(job.steps) || job.steps < 0.0)
    return job_error(job, "steps", "value " + std::to_string(job.steps) + " is not a number of steps");
  return {};
}

/// Jobs in order of submission (equal times keep the order of the file).
struct Trace {
  std::vector<TraceJob> jobs = {};
  SkippedRows skipped = {};
  std::string source = {};                    ///< file name without its folder, or the name of the model
  std::vector<std::string> tenants = {};      ///< names by TraceJob::tenant; may be empty
  std::vector<std::string> sla_classes = {};  ///< names by TraceJob::sla; may be empty
};

/// Success when the ids of the jobs are unique and their dependencies name other jobs of the trace and no
/// circle. Errors: kInvalidArgument naming the job and the ids ("job 3: field 'after': waits for itself: 3 ->
/// 5
/// -> 3").
inline Status check_dependencies(const Trace& trace) {
  std::vector<std::pair<std::int64_t, std::size_t>> places;  // id, index: sorted
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) places.emplace_back(trace.jobs[i].id, i);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first == places[i - 1].first)
      return job_error(trace.jobs[places[i].second], "id", "appears twice");
  const auto find = [&](std::int64_t id) {
    const auto at = std::lower_bound(places.begin(), places.end(), std::pair{id, std::size_t{0}});
    return at != places.end() && at->first == id ? at->second : trace.jobs.size();
  };
  // Depth first without recursion. On the path: 1; done: 2.
  std::vector<char> state(trace.jobs.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> path;  // job, next of its dependencies
  for (std::size_t root = 0; root < trace.jobs.size(); ++root) {
    if (state[root] != 0 || trace.jobs[root].after.empty()) continue;
    path.assign(1, {root, 0});
    state[root] = 1;
    while (!path.empty()) {
      const TraceJob& job = trace.jobs[path.back().first];
      if (path.back().second == job.after.size()) {
        state[path.back().first] = 2;
        path.pop_back();
        continue;
      }
      const std::int64_t id = job.after[path.back().second++];
      const std::size_t next = find(id);
      if (next == trace.jobs.size())
        return job_error(job, "after", std::to_string(id) + " is the id of no job");
      if (state[next] == 2) continue;
      if (state[next] == 0) {
        state[next] = 1;
        path.push_back({next, 0});
        continue;
      }
      std::string circle;
      bool inside = false;
      for (const auto& [place, unused] : path) {
        inside = inside || place == next;
        if (inside) circle += std::to_string(trace.jobs[place].id) + " -> ";
      }
      return job_error(trace.jobs[next], "after", "waits for itself: " + circle + std::to_string(id));
    }
  }
  return {};
}

/// Removes dependencies on jobs that are not in the trace.
inline void drop_unknown_dependencies(Trace& trace) {
  std::vector<std::int64_t> ids;
  for (const TraceJob& job : trace.jobs) ids.push_back(job.id);
  std::sort(ids.begin(), ids.end());
  for (TraceJob& job : trace.jobs)
    std::erase_if(job.after,
                  [&](std::int64_t id) { return !std::binary_search(ids.begin(), ids.end(), id); });
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

/// The jobs submitted in [from_s, to_s). With `rebase`, submissions and deadlines count from `from_s`.
/// Whatever is outside counts as finished: dependencies on it are dropped.
inline Trace slice(const Trace& trace, double from_s, double to_s = std::numeric_limits<double>::infinity(),
                   bool rebase = false) {
  Trace part;
  part.source = trace.source;
  part.tenants = trace.tenants;
  part.sla_classes = trace.sla_classes;
  bool dependencies = false;
  for (const TraceJob& job : trace.jobs) {
    if (job.submit_s < from_s || !(job.submit_s < to_s)) continue;
    part.jobs.push_back(job);
    dependencies = dependencies || !job.after.empty();
    if (!rebase) continue;
    part.jobs.back().submit_s -= from_s;
    part.jobs.back().deadline_s -= from_s;
  }
  if (dependencies) drop_unknown_dependencies(part);
  return part;
}

}  // namespace mara
