#pragma once
// The interval log read back: whether it kept the limits, and what was in use.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/records.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// What an interval log adds up to.
struct IntervalUse {
  ResourceUse use{};                            ///< as the simulator counts it
  std::array<Milli, kMaxGpuTypes> peak_gpus{};  ///< the most GPUs of each type held at one time
};

/// Adds up a log over [start, end) intervals: one that ends at a time and one that begins there do not
/// overlap (case S16). Errors: kInvalidArgument for an unknown job or type, an interval that is not start <
/// end or begins before the job's submission, or two of one job that overlap; kCapacityExceeded when at some
/// time a type's GPUs, host CPU or host memory held exceed what the cluster has. Each error names the job or
/// the type, and the time.
inline Result<IntervalUse> add_intervals(const Cluster& cluster, std::span<const Job> jobs,
                                         std::span<const GrantInterval> intervals) {
  struct Change {
    double time = 0.0;
    bool starts = false;
    std::uint32_t job = 0;
    Grant grant{};
  };
  IntervalUse total;
  std::vector<Change> changes;
  changes.reserve(2 * intervals.size());
  for (const GrantInterval& interval : intervals) {
    const std::string name =
        "interval of job " + (interval.job < jobs.size() ? std::to_string(jobs[interval.job].id)
                                                         : "#" + std::to_string(interval.job));
    const auto bad = [&name](const std::string& why) {
      return Error{ErrorCode::kInvalidArgument, name + ": " + why};
    };
    if (interval.job >= jobs.size()) return bad("there is no such job");
    if (interval.grant.type < 0 || interval.grant.type >= std::min(cluster.type_count(), kMaxGpuTypes))
      return bad("type is " + std::to_string(interval.grant.type));
    if (interval.grant.gpus.value <= 0)
      return bad("gpus (milli) is " + std::to_string(interval.grant.gpus.value));
    if (!std::isfinite(interval.start_s) || !std::isfinite(interval.end_s) ||
        !(interval.start_s < interval.end_s))
      return bad("from " + format_number(interval.start_s) + " to " + format_number(interval.end_s));
    const Job& job = jobs[interval.job];
    if (interval.start_s < job.submit_s)
      return bad("starts at " + format_number(interval.start_s) + ", submitted at " +
                 format_number(job.submit_s));
    changes.push_back({interval.start_s, true, interval.job, interval.grant});
    changes.push_back({interval.end_s, false, interval.job, interval.grant});
    const double length = interval.end_s - interval.start_s;
    total.use.gpu_s[static_cast<std::size_t>(interval.grant.type)] +=
        length * interval.grant.gpus.as_double();
    total.use.cpu_s += length * job.demand.cpu.as_double();
    total.use.memory_mib_s += length * static_cast<double>(job.demand.memory_mib);
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.starts != b.starts) return b.starts;  // ends first
    return a.job < b.job;
  });

  struct Held {
    Milli gpus{}, cpu{};
    std::int64_t memory_mib = 0;
  };
  std::array<Held, kMaxGpuTypes> held{};
  std::vector<char> holding(jobs.size(), 0);
  for (const Change& change : changes) {
    const auto t = static_cast<std::size_t>(change.grant.type);
    const Demand& demand = jobs[change.job].demand;
    Held& now = held[t];
    if (!change.starts) {
      now.gpus -= change.grant.gpus;
      now.cpu -= demand.cpu;
      now.memory_mib -= demand.memory_mib;
      holding[change.job] = 0;
      continue;
    }
    if (holding[change.job] != 0)
      return Error{ErrorCode::kInvalidArgument, "interval of job " + std::to_string(jobs[change.job].id) +
                                                    ": overlaps another of the job at " +
                                                    format_number(change.time)};
    holding[change.job] = 1;
    const GpuType& type = cluster.types[t];
    const auto over = [&type, &change](const char* what, const std::string& amount) {
      return Error{ErrorCode::kCapacityExceeded, "type '" + type.name + "': " + what + " held at " +
                                                     format_number(change.time) + " would exceed " + amount};
    };
    // Asked as a difference, which cannot overflow.
    if (change.grant.gpus > Milli::whole(type.gpus()) - now.gpus)
      return over("GPUs", std::to_string(type.gpus()));
    if (demand.cpu > type.cpu() - now.cpu) return over("CPU (milli)", std::to_string(type.cpu().value));
    if (demand.memory_mib > type.memory_mib() - now.memory_mib)
      return over("memory (MiB)", std::to_string(type.memory_mib()));
    now.gpus += change.grant.gpus;
    now.cpu += demand.cpu;
    now.memory_mib += demand.memory_mib;
    total.peak_gpus[t] = std::max(total.peak_gpus[t], now.gpus);
  }
  return total;
}

}  // namespace mara
