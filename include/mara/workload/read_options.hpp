#pragma once
// What trace formats leave open, and how a reader's jobs become a Trace.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

class GavelThroughputs;  // gavel_throughputs.hpp

/// Where the run times of a Muri trace come from.
enum class MuriRunTime : std::uint8_t {
  kLogged,      ///< `duration`, as Philly logged it
  kIterations,  ///< iterations x (iteration_time x 1.015 / 1000) s, as in Muri's simulator
};

/// Choices of the trace readers. The defaults replay a trace as it was recorded.
struct TraceReadOptions {
  /// Submissions are divided by it and rounded down to whole seconds, to raise the load (a deadline stays as
  /// far from its submission); 1: as they are. From 1 to 1000000.
  std::int64_t time_divisor = 1;
  /// Keep jobs that ask for CPU but for no GPU (openb, csv); otherwise they are skipped and counted.
  bool keep_cpu_jobs = false;
  MuriRunTime muri_run_time = MuriRunTime::kLogged;
  /// Run time, s, of an SWF job whose run time is negative, that is unknown; nothing: such jobs are skipped.
  std::optional<double> swf_negative_run_s;
  /// Measured steps/s, from which the run times of a Gavel trace follow; must outlive the call.
  const GavelThroughputs* gavel_throughputs = nullptr;
  /// The GPU type that run times of a Gavel trace are for.
  std::string gavel_reference = "v100";
  /// Speed at which one request's input is read and its output written, and the GPUs it holds, for the
  /// formats of requests (azure, mooncake), which have no run times. THE DEFAULTS ARE AN ASSUMPTION OF THIS
  /// LIBRARY: a server that reads 8000 tokens/s, writes 40 tokens/s to each of ten requests that share a GPU.
  double prefill_tokens_per_s = 8000.0;
  double decode_tokens_per_s = 40.0;
  Milli request_gpus{100};
};

namespace detail {

/// Names in order of their first use.
class NameIndex {
 public:
  int index(std::string_view name) {
    const auto [at, fresh] = indices_.try_emplace(std::string(name), static_cast<int>(names_.size()));
    if (fresh) names_.push_back(at->first);
    return at->second;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::map<std::string, int, std::less<>> indices_;
  std::vector<std::string> names_;
};

/// Numbers the used of `names` anew, in order of first use by `member` of the jobs.
inline void renumber(std::vector<TraceJob>& jobs, std::vector<std::string>& names, int TraceJob::*member) {
  if (names.empty()) return;
  NameIndex used;
  for (TraceJob& job : jobs) job.*member = used.index(names[static_cast<std::size_t>(job.*member)]);
  names = used.take();
}

/// What every reader does around its rows.
class TraceBuilder {
 public:
  TraceBuilder(std::string name, const TraceReadOptions& options)
      : name_(std::move(name)), divisor_(options.time_divisor) {
    trace_.source = file_name(name_);
  }

  /// False when the id was seen before.
  bool new_id(std::int64_t id) { return ids_.insert(id).second; }
  bool knows(std::int64_t id) const { return ids_.contains(id); }
  int tenant(std::string_view name) { return tenants_.index(name); }
  int sla(std::string_view name) { return sla_classes_.index(name); }
  SkippedRows& skipped() noexcept { return trace_.skipped; }
  void add(TraceJob job) { trace_.jobs.push_back(std::move(job)); }
  /// For times that are known when all rows are: of each job added, in this order.
  void set_submissions(const std::vector<double>& submit_s) {
    for (std::size_t i = 0; i < submit_s.size(); ++i) trace_.jobs[i].submit_s = submit_s[i];
  }

  /// The trace: submissions divided, jobs sorted stably by submission, dependencies on jobs that were skipped
  /// or are not in the file dropped, tenants and classes numbered by first use. Errors: kParse for no job;
  /// kInvalidArgument for a bad time_divisor; those of check_dependencies.
  Result<Trace> finish() {
    if (divisor_ < 1 || divisor_ > 1'000'000)
      return Error{ErrorCode::kInvalidArgument,
                   "time_divisor: must be from 1 to 1000000, got " + std::to_string(divisor_)};
    if (trace_.jobs.empty()) return Error{ErrorCode::kParse, name_ + ": no job in the file"};
    trace_.tenants = tenants_.take();
    trace_.sla_classes = sla_classes_.take();
    bool dependencies = false;
    for (TraceJob& job : trace_.jobs) {
      dependencies = dependencies || !job.after.empty();
      if (divisor_ == 1) continue;
      const double submit_s = std::floor(job.submit_s / static_cast<double>(divisor_));
      job.deadline_s = submit_s + (job.deadline_s - job.submit_s);
      job.submit_s = submit_s;
    }
    std::stable_sort(trace_.jobs.begin(), trace_.jobs.end(),
                     [](const TraceJob& a, const TraceJob& b) { return a.submit_s < b.submit_s; });
    renumber(trace_.jobs, trace_.tenants, &TraceJob::tenant);
    renumber(trace_.jobs, trace_.sla_classes, &TraceJob::sla);
    if (dependencies) {
      drop_unknown_dependencies(trace_);
      if (const Status sound = check_dependencies(trace_); !sound)
        return Error{sound.error().code, name_ + ": " + sound.error().message};
    }
    return std::move(trace_);
  }

 private:
  std::string name_;
  std::int64_t divisor_;
  Trace trace_;
  std::unordered_set<std::int64_t> ids_;
  NameIndex tenants_, sla_classes_;
};

}  // namespace detail
}  // namespace mara
