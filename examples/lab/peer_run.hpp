#pragma once
// What the comparisons with peers share: running the engine, reading expected outputs.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/interop/gzip.hpp"
#include "mara/simulation/platform_simulator.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "peers.hpp"

namespace lab {

/// Start, end and nodes of a job, by its id in the trace.
struct PeerTimes {
  double start_s = 0.0, end_s = 0.0;
  bool started = false;
  std::vector<std::uint32_t> nodes;
};

/// Keeps them.
struct PeerSink {
  std::map<std::int64_t, PeerTimes> jobs;

  void job(const mara::JobOutcome& outcome) {
    PeerTimes& times = jobs[outcome.job->id];
    times = {outcome.start_s, outcome.end_s, outcome.started, {}};
    for (const mara::NodeShare& share : outcome.last->shares) times.nodes.push_back(share.node);
  }
  void interval(const mara::PlacedInterval&) noexcept {}
};

/// Runs `jobs`, in order of submission, under a scheduler. The platform and the configuration are known to be
/// good.
template <class Scheduler, class Overhead = mara::NoOverhead>
std::map<std::int64_t, PeerTimes> run_peer(const mara::Platform& platform, std::span<const mara::Job> jobs,
                                           Scheduler scheduler, const mara::PlatformConfig& config = {},
                                           Overhead overhead = {}) {
  mara::ListSource source(jobs);
  PeerSink sink;
  mara::PlatformSimulator<Overhead> simulator(platform, config, std::move(overhead));
  simulator.run(source, scheduler, sink);
  return std::move(sink.jobs);
}

/// Jobs of a trace file on a platform.
inline mara::Result<mara::RigidJobs> peer_jobs(const std::string& path, mara::TraceFormat format,
                                               const mara::Platform& platform,
                                               const mara::TraceReadOptions& options = {}) {
  const auto trace = mara::read_trace_file(path, format, options);
  if (!trace) return trace.error();
  return mara::rigid_jobs(*trace, platform);
}

/// Calls row(csv) for each row of an expected output.
inline mara::Status for_each_golden(const std::string& path,
                                    const std::function<mara::Status(mara::Csv&)>& row) {
  auto csv = mara::Csv::open(path);
  if (!csv) return csv.error();
  for (;;) {
    const auto more = csv->next();
    if (!more) return more.error();
    if (!*more) return {};
    if (const auto status = row(*csv); !status) return status;
  }
}

/// Field of the present row as a number of any sign.
inline mara::Result<double> golden_number(const mara::Csv& csv, std::string_view column) {
  return csv.number(column, -1e18, 1e18);
}

/// Compares starts and, where the output has them, ends: column "<name>_start" (or "<name>" alone) and
/// "<name>_end".
struct PeerColumn {
  std::string name;
  std::map<std::int64_t, PeerTimes> ours;
  PeerCheck check;
  bool plain = false;  ///< the column is called as the policy, and holds starts
};
mara::Status compare_columns(const std::string& golden, std::vector<PeerColumn>& columns);

}  // namespace lab
