#pragma once
// What the tests of the platform engine and of its schedulers share: jobs in few words, and a sink that keeps
// everything.

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/simulation/platform_simulator.hpp"
#include "mara/workload/job.hpp"

namespace platform_test {

using namespace mara;

inline constexpr double kEndless = std::numeric_limits<double>::infinity();

/// A job that runs `seconds` on `devices` whole devices of any type; the estimate is exact unless given.
inline Job job(std::int64_t id, double submit_s, int devices, double seconds, double estimate_s = -1.0) {
  Job j;
  j.id = id;
  j.submit_s = submit_s;
  j.requested = Milli::whole(devices);
  j.max_gpus = devices > 0 ? devices : 1;
  j.work = seconds * (devices > 0 ? devices : 1);
  j.estimate_s = estimate_s < 0.0 ? seconds : estimate_s;
  j.type_speed.fill(1.0);
  return j;
}

/// A job that runs `seconds` on `share` milli of one device.
inline Job fraction(std::int64_t id, double submit_s, std::int64_t share, double seconds) {
  Job j = job(id, submit_s, 1, seconds);
  j.requested = Milli{share};
  j.work = seconds * j.requested.as_double();
  return j;
}

/// Everything that a run reported, copied.
struct Recorder {
  struct Outcome {
    Job job;
    std::uint64_t sequence = 0;
    bool started = false, finished = false, rejected = false;
    double entered_s = 0.0, start_s = 0.0, end_s = 0.0;
    double executed_s = 0.0, attained_gpu_s = 0.0, overhead_s = 0.0, lost_s = 0.0;
    int preemptions = 0, migrations = 0, failures = 0;
    Placement last;
  };
  struct Interval {
    std::int64_t id = 0;
    std::uint64_t sequence = 0;
    Placement placement;
    double start_s = 0.0, end_s = 0.0;
  };

  void job(const JobOutcome& o) {
    outcomes.push_back({*o.job, o.sequence, o.started, o.finished, o.rejected, o.entered_s, o.start_s,
                        o.end_s, o.executed_s, o.attained_gpu_s, o.overhead_s, o.lost_s, o.preemptions,
                        o.migrations, o.failures, *o.last});
  }
  void interval(const PlacedInterval& i) {
    intervals.push_back({i.job->id, i.sequence, *i.placement, i.start_s, i.end_s});
  }

  /// By Job::id, which must be there.
  const Outcome& of(std::int64_t id) const {
    for (const Outcome& outcome : outcomes)
      if (outcome.job.id == id) return outcome;
    FAIL("job " << id << " was not reported");
    return outcomes.front();
  }
  double start(std::int64_t id) const { return of(id).started ? of(id).start_s : -1.0; }
  double end(std::int64_t id) const { return of(id).finished ? of(id).end_s : -1.0; }
  std::vector<Interval> intervals_of(std::int64_t id) const {
    std::vector<Interval> found;
    for (const Interval& interval : intervals)
      if (interval.id == id) found.push_back(interval);
    return found;
  }

  std::vector<Outcome> outcomes;
  std::vector<Interval> intervals;
  PlatformRun run;
};

/// Submissions of a list, which must outlive the source.
class SubmissionSource {
 public:
  explicit SubmissionSource(std::span<const Submission> list) noexcept : list_(list) {}
  bool next(Submission& next) {
    if (at_ == list_.size()) return false;
    next = list_[at_++];
    return true;
  }

 private:
  std::span<const Submission> list_;
  std::size_t at_ = 0;
};

inline std::vector<Submission> submissions(const std::vector<Job>& jobs) {
  std::vector<Submission> list;
  for (const Job& job : jobs) list.push_back({job, {}});
  return list;
}

/// Runs `list` on `platform`, which must be in order.
template <class Scheduler, class Overhead = NoOverhead, class Interference = NoInterference,
          class Network = FreeNetwork>
Recorder run(const Platform& platform, const std::vector<Submission>& list, Scheduler&& scheduler,
             PlatformConfig config = {}, Overhead overhead = {}, Interference interference = {},
             Network network = {}) {
  REQUIRE(check_platform(platform));
  REQUIRE(check_config(config, platform));
  PlatformSimulator<Overhead, Interference, Network> simulator(platform, std::move(config), overhead,
                                                               interference, network);
  SubmissionSource source(list);
  Recorder recorder;
  recorder.run = simulator.run(source, scheduler, recorder);
  return recorder;
}
template <class Scheduler>
Recorder run(const Platform& platform, const std::vector<Job>& jobs, Scheduler&& scheduler,
             PlatformConfig config = {}) {
  return run(platform, submissions(jobs), scheduler, std::move(config));
}

}  // namespace platform_test
