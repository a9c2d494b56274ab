#pragma once
// What a scheduler sees of a platform simulation, and what it may order.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/stable_vector.hpp"
#include "mara/simulation/active_job.hpp"

namespace mara {

/// The desk between the engine and a scheduler. Orders take effect at once in the ledger, so that what one
/// order takes the next cannot take again: no rule can exceed a limit. A job that is preempted and started
/// again on the same place within one decision runs on as if nothing had happened.
class Dispatch {
 public:
  explicit Dispatch(const Platform& platform) : platform_(&platform), free_(platform) {}

  double now_s() const noexcept { return now_; }
  const Platform& platform() const noexcept { return *platform_; }
  const FreeResources& free() const noexcept { return free_; }
  const ActiveJob& job(JobSlot slot) const noexcept { return jobs_[slot]; }
  /// Jobs that run, in no particular but always the same order.
  std::span<const JobSlot> running() const noexcept { return running_; }
  /// Number of demand classes seen so far; classes are numbered from 0 in order of first sight.
  std::size_t demand_classes() const noexcept { return class_of_.size(); }

  /// Starts a waiting job on `placement`, which for a job of whole devices may have any size up to its
  /// max_gpus, and for one on slices has just those that it asked for. False, and no change, when the
  /// placement is not free, gives the job less CPU or memory than it asked for or devices that it cannot use,
  /// or the job runs.
  bool start(JobSlot slot, const Placement& placement) {
    ActiveJob& job = jobs_[slot];
    if (job.running || placement.empty() || !usable(job, placement) || !free_.claim(placement)) return false;
    touch(slot);
    job.placement.shares.assign(placement.shares.begin(), placement.shares.end());
    job.running = true;
    const Place& place = places_[slot];
    if (place.was_running && place.before == placement) {
      static_cast<JobProgress&>(job) = place.progress;
    } else {
      job.since_s = job.last_start_s = now_;
      job.executed_before_s = job.executed_s;
      job.overhead_before_s = job.overhead_paid_s;
      job.remaining_before = job.remaining_work;
    }
    places_[slot].at = running_.size();
    running_.push_back(slot);
    return true;
  }
  /// Takes a running job's place away; it waits. Harmless for one that waits.
  void preempt(JobSlot slot) {
    ActiveJob& job = jobs_[slot];
    if (!job.running) return;
    touch(slot);
    job.settle(now_);
    stop(slot);
    job.placement.clear();
  }
  /// Sends a waiting job away for good. Harmless for one that runs.
  void reject(JobSlot slot) {
    if (jobs_[slot].running || places_[slot].rejected) return;
    places_[slot].rejected = true;
    rejected_.push_back(slot);
  }
  /// Asks for a decision at `time` even if nothing happens then. The earliest wish of a decision counts,
  /// until the next decision.
  void wake_at(double time) noexcept {
    if (time > now_ && time < wake_) wake_ = time;
  }

 protected:
  struct Place {
    Placement before;  // when the decision began, as the next
    JobProgress progress;
    std::size_t at = 0;  // in running_
    bool touched = false, was_running = false, rejected = false;
  };

  void touch(JobSlot slot) {
    Place& place = places_[slot];
    if (place.touched) return;
    place.touched = true;
    place.was_running = jobs_[slot].running;
    if (place.was_running) {
      place.before.shares.assign(jobs_[slot].placement.shares.begin(), jobs_[slot].placement.shares.end());
      place.progress = jobs_[slot];
    }
    touched_.push_back(slot);
  }
  // Leaves the running list and the ledger.
  void stop(JobSlot slot) {
    ActiveJob& job = jobs_[slot];
    free_.release(job.placement);
    job.running = false;
    const std::size_t at = places_[slot].at;
    running_[at] = running_.back();
    places_[running_[at]].at = at;
    running_.pop_back();
  }
  // Whether the placement gives the job all it needs, and nothing it cannot use.
  bool usable(const ActiveJob& job, const Placement& placement) const noexcept {
    const PlacementDemand& demand = job.demand;
    std::int64_t devices = 0, memory = 0;
    Milli cpu{};
    for (const NodeShare& share : placement.shares) {
      if (share.node >= platform_->nodes.size() || share.cpu.value < 0 || share.memory_mib < 0) return false;
      const std::int32_t type = platform_->nodes[share.node].type;
      if (share.profile != demand.profile && share.devices != 0) return false;
      if (share.devices != 0 && (type < 0 || (demand.types >> type & 1u) == 0 ||
                                 (share.share != demand.share && demand.profile == kNoMigProfile)))
        return false;
      devices += share.device_count();
      cpu += share.cpu;
      memory += share.memory_mib;
    }
    if (cpu < demand.cpu || memory < demand.memory_mib) return false;
    if (demand.devices == 0 || demand.share < 1000 || demand.profile != kNoMigProfile)
      return devices == demand.devices;
    return devices >= 1 && devices <= std::max<std::int64_t>(job.job.max_gpus, demand.devices);
  }
  std::uint32_t demand_class(const PlacementDemand& demand) {
    return class_of_.try_emplace(demand, static_cast<std::uint32_t>(class_of_.size())).first->second;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

  const Platform* platform_;
  FreeResources free_;
  StableVector<ActiveJob> jobs_;  // by slot, as the next
  StableVector<Place> places_;
  std::vector<JobSlot> running_, touched_, rejected_;
  std::map<PlacementDemand, std::uint32_t> class_of_;
  double now_ = 0.0, wake_ = kNever;
};

/// A scheduler of a platform: told who comes and goes, asked to decide at each decision point.
template <class S>
concept PlatformScheduler = requires(S scheduler, Dispatch& dispatch, JobSlot slot) {
  { scheduler.name() } -> std::convertible_to<std::string_view>;
  { scheduler.enter(dispatch, slot) } -> std::same_as<void>;  // the job waits from now on
  { scheduler.leave(dispatch, slot) } -> std::same_as<void>;  // it has ended; its slot may be used again
  { scheduler.decide(dispatch) } -> std::same_as<void>;
};

}  // namespace mara
