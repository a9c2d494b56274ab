#pragma once
// Whether what a log says happened could have happened.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/platform_records.hpp"

namespace mara {

/// A sink that keeps what it hears, of a run or of a replayed log, and then says whether it obeys the rules:
/// nothing is used beyond what a node has, no slices overlap or begin where they may not, no job runs before
/// its submission or before those it waits for have finished, in two places at once, or after its end, and
/// the time and GPU-seconds that jobs report are those of their intervals. Memory: all intervals.
class LogChecker {
 public:
  /// The platform must pass check_platform and outlive the checker.
  explicit LogChecker(const Platform& platform) : platform_(&platform) {}

  /// Job `id` waits for the jobs `after`.
  void waits_for(std::int64_t id, std::vector<std::int64_t> after) {
    if (!after.empty()) after_[id] = std::move(after);
  }

  void interval(const PlacedInterval& interval) {
    intervals_.push_back(
        {interval.job->id, interval.sequence, interval.start_s, interval.end_s, *interval.placement});
  }
  void job(const JobOutcome& outcome) {
    jobs_[outcome.sequence] = {outcome.job->id, outcome.job->submit_s, outcome.entered_s,
                               outcome.end_s,   outcome.executed_s,    outcome.attained_gpu_s,
                               outcome.start_s, outcome.finished};
  }

  /// Errors: kInvalidArgument, naming the rule, the job, the node where there is one, and the time.
  Status check() const {
    if (auto ok = check_jobs(); !ok) return ok;
    if (auto ok = check_dependencies(); !ok) return ok;
    return check_nodes();
  }

 private:
  struct Interval {
    std::int64_t id;
    std::uint64_t sequence;
    double start_s, end_s;
    Placement placement;
  };
  struct Outcome {
    std::int64_t id;
    double submit_s, entered_s, end_s, executed_s, attained_gpu_s, start_s;
    bool finished;
  };

  static Error broken(std::int64_t id, const std::string& what, double time) {
    return Error{ErrorCode::kInvalidArgument,
                 "job " + std::to_string(id) + ": " + what + ", at " + format_number(time) + " s"};
  }
  static bool close(double a, double b) noexcept {
    return std::fabs(a - b) <= 1e-6 + 1e-9 * std::max(std::fabs(a), std::fabs(b));
  }

  // Each job by itself.
  Status check_jobs() const {
    struct Sum {
      double executed_s = 0.0, gpu_s = 0.0, last_end_s = -std::numeric_limits<double>::infinity();
      double first_start_s = std::numeric_limits<double>::infinity();
    };
    std::map<std::uint64_t, Sum> sums;
    for (const Interval& interval : intervals_) {
      const auto found = jobs_.find(interval.sequence);
      if (found == jobs_.end())
        return broken(interval.id, "runs but is in no list of jobs", interval.start_s);
      const Outcome& job = found->second;
      if (interval.id != job.id)
        return broken(interval.id, "has the sequence number of job " + std::to_string(job.id),
                      interval.start_s);
      if (!(interval.end_s >= interval.start_s))
        return broken(interval.id, "ends before it starts", interval.start_s);
      if (interval.start_s < job.submit_s)
        return broken(interval.id, "runs before its submission at " + format_number(job.submit_s),
                      interval.start_s);
      if (interval.start_s < job.entered_s)
        return broken(interval.id, "runs before it may, at " + format_number(job.entered_s),
                      interval.start_s);
      if (interval.end_s > job.end_s)
        return broken(interval.id, "runs after its end at " + format_number(job.end_s), interval.end_s);
      Sum& sum = sums[interval.sequence];
      if (interval.start_s < sum.last_end_s)
        return broken(interval.id, "runs in two places at once", interval.start_s);
      sum.first_start_s = std::min(sum.first_start_s, interval.start_s);
      sum.last_end_s = interval.end_s;
      sum.executed_s += interval.end_s - interval.start_s;
      sum.gpu_s += (interval.end_s - interval.start_s) * interval.placement.gpus().as_double();
    }
    for (const auto& [sequence, job] : jobs_) {
      const auto found = sums.find(sequence);
      const Sum sum = found == sums.end() ? Sum{} : found->second;
      if (!close(sum.executed_s, job.executed_s))
        return broken(job.id,
                      "reports " + format_number(job.executed_s) + " s of execution, its intervals have " +
                          format_number(sum.executed_s),
                      job.end_s);
      if (!close(sum.gpu_s, job.attained_gpu_s))
        return broken(job.id,
                      "reports " + format_number(job.attained_gpu_s) + " GPU-seconds, its intervals have " +
                          format_number(sum.gpu_s),
                      job.end_s);
      if (job.finished && job.end_s < job.submit_s)
        return broken(job.id, "finishes before its submission", job.end_s);
      if (found != sums.end() && sum.first_start_s < job.start_s)
        return broken(job.id, "runs before its first start at " + format_number(job.start_s),
                      sum.first_start_s);
    }
    return {};
  }

  Status check_dependencies() const {
    if (after_.empty()) return {};
    std::map<std::int64_t, const Outcome*> by_id;
    for (const auto& [sequence, job] : jobs_) by_id[job.id] = &job;
    for (const Interval& interval : intervals_) {
      const auto waits = after_.find(interval.id);
      if (waits == after_.end()) continue;
      for (const std::int64_t id : waits->second) {
        const auto other = by_id.find(id);
        if (other == by_id.end() || !other->second->finished || other->second->end_s > interval.start_s)
          return broken(interval.id, "runs before job " + std::to_string(id) + " has finished",
                        interval.start_s);
      }
    }
    return {};
  }

  // All jobs together: what ends at a time makes room for what starts then.
  Status check_nodes() const {
    std::vector<std::size_t> starts(intervals_.size());
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = i;
    std::vector<std::size_t> ends = starts;
    std::sort(starts.begin(), starts.end(), [this](std::size_t a, std::size_t b) {
      return intervals_[a].start_s != intervals_[b].start_s ? intervals_[a].start_s < intervals_[b].start_s
                                                            : a < b;
    });
    std::sort(ends.begin(), ends.end(), [this](std::size_t a, std::size_t b) {
      return intervals_[a].end_s != intervals_[b].end_s ? intervals_[a].end_s < intervals_[b].end_s : a < b;
    });
    FreeResources free(*platform_);
    std::size_t ended = 0;
    for (const std::size_t i : starts) {
      const Interval& interval = intervals_[i];
      if (interval.start_s == interval.end_s) continue;
      for (; ended < ends.size() && intervals_[ends[ended]].end_s <= interval.start_s; ++ended)
        if (intervals_[ends[ended]].start_s < intervals_[ends[ended]].end_s)
          free.release(intervals_[ends[ended]].placement);
      for (const NodeShare& share : interval.placement.shares)
        if (!free.claim(share)) return broken(interval.id, over(free, share), interval.start_s);
    }
    return {};
  }

  std::string over(const FreeResources& free, const NodeShare& share) const {
    if (share.node >= platform_->nodes.size())
      return "runs on node " + std::to_string(share.node) + ", which there is not";
    const Node& node = platform_->nodes[share.node];
    const std::string where = " of node '" + node.name + "' (" + std::to_string(share.node) + ")";
    for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
      const int device = std::countr_zero(left);
      if (device >= node.devices)
        return "takes device " + std::to_string(device) + where + ", which it has not";
      if (share.profile != kNoMigProfile) {
        const std::string what = slice_over(free, share, device, where);
        if (!what.empty()) return what;
        continue;
      }
      if (share.share < 1000 && free.mig_table(share.node) != nullptr)
        return "takes " + std::to_string(share.share) + " milli of device " + std::to_string(device) + where +
               ", which is given whole or in slices";
      if (free.device_free(share.node, device) < share.share)
        return "takes " + std::to_string(share.share) + " milli of device " + std::to_string(device) + where +
               ", which has " + std::to_string(free.device_free(share.node, device)) + " free";
    }
    if (share.cpu > free.cpu(share.node))
      return "takes " + std::to_string(share.cpu.value) + " milli-CPU" + where + ", which has " +
             std::to_string(free.cpu(share.node).value) + " free";
    return "takes " + std::to_string(share.memory_mib) + " MiB" + where + ", which has " +
           std::to_string(free.memory_mib(share.node)) + " free";
  }

  // What is wrong with a slice on one of its devices; empty: nothing.
  std::string slice_over(const FreeResources& free, const NodeShare& share, int device,
                         const std::string& where) const {
    const std::int32_t type = platform_->nodes[share.node].type;
    const MigProfile* profile = mig_profile(*platform_, type, share.profile);
    const std::string on = " of device " + std::to_string(device) + where;
    if (profile == nullptr)
      return "takes a slice of profile " + std::to_string(share.profile) + on + ", which has no such profile";
    const MigTable& table = *platform_->types[static_cast<std::size_t>(type)].mig;
    const std::string slice =
        "takes a slice '" + profile->name + "' at " + std::to_string(share.start) + on + ", ";
    if (std::find(profile->starts.begin(), profile->starts.end(), share.start) == profile->starts.end())
      return slice + "where it may not begin";
    if (share.share != mig_milli(table, *profile))
      return slice + "as " + std::to_string(share.share) + " milli instead of " +
             std::to_string(mig_milli(table, *profile));
    const MigUse use = free.mig_use(share.node, device);
    if ((use.memory & mig_bits(*profile, share.start)) != 0) return slice + "which overlaps another";
    if (use.compute + profile->compute > table.compute)
      return slice + "which has " + std::to_string(table.compute - use.compute) + " compute slices free";
    return free.device_free(share.node, device) < share.share ? slice + "which is held whole" : std::string();
  }

  const Platform* platform_;
  std::vector<Interval> intervals_;
  std::map<std::uint64_t, Outcome> jobs_;  // by sequence
  std::map<std::int64_t, std::vector<std::int64_t>> after_;
};

}  // namespace mara
