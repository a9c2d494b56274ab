#pragma once
// A job in the system, and what the engine knows of it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "mara/cluster/ledger_print.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Handle of a job in the system; used again after the job has left.
using JobSlot = std::uint32_t;

/// Whether the job asks for a fraction of a device, which no sliced type gives.
inline bool asks_for_fraction(const Job& job) noexcept {
  return job.requested.value > 0 && job.requested.value < 1000;
}

/// The device types that may serve `job` on slices of a profile (a number of mig_profiles()): it runs there
/// (type_speed above 0) and a slice, with its part of the device's memory slices, has the memory.
MARA_FOR_SLICES inline std::uint32_t slice_types(const Platform& platform, const Job& job,
                                                 std::int32_t profile) noexcept {
  std::uint32_t types = 0;
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    const MigProfile* slice = mig_profile(platform, static_cast<std::int32_t>(t), profile);
    if (slice == nullptr) continue;
    const std::int64_t memory = platform.types[t].memory_mib, of = platform.types[t].mig->memory;
    // In two parts, so that no amount overflows.
    const std::int64_t part = memory / of * slice->memory + memory % of * slice->memory / of;
    if (job.type_speed[t] > 0.0 && job.demand.gpu_memory_mib <= part) types |= std::uint32_t{1} << t;
  }
  return types;
}

/// The device types that may serve `job`: it runs there (type_speed above 0), a device has the memory, and is
/// not sliced if the job asks for a fraction; with `whole` it is given whole devices, whatever it asks for.
/// With `profile` as slice_types.
inline std::uint32_t device_types(const Platform& platform, const Job& job,
                                  std::int32_t profile = kNoMigProfile, bool whole = false) noexcept {
  if (profile != kNoMigProfile) return slice_types(platform, job, profile);
  const bool fraction = !whole && asks_for_fraction(job);
  std::uint32_t types = 0;
  for (std::size_t t = 0; t < platform.types.size(); ++t)
    if (job.type_speed[t] > 0.0 && job.demand.gpu_memory_mib <= platform.types[t].memory_mib &&
        !(fraction && platform.types[t].mig))
      types |= std::uint32_t{1} << t;
  return types;
}

/// What the job asks for when it is given `devices` whole devices; its own request with -1 (a fraction stays
/// a fraction). With `profile`, a number of mig_profiles(), slices of that profile instead of devices.
inline PlacementDemand demand_of(const Platform& platform, const Job& job, std::int32_t devices = -1,
                                 std::int32_t profile = kNoMigProfile) {
  PlacementDemand demand;
  if (profile != kNoMigProfile)
    if (const auto slices = slice_demand(platform, profile)) demand = *slices;
  if (devices >= 0) {
    demand.devices = devices;
  } else if (asks_for_fraction(job) && profile == kNoMigProfile) {
    demand.share = static_cast<std::int32_t>(job.requested.value);
  } else {
    demand.devices = static_cast<std::int32_t>(job.requested.units());
  }
  demand.cpu = job.demand.cpu;
  demand.memory_mib = job.demand.memory_mib;
  if (demand.devices > 0) demand.types = device_types(platform, job, profile, devices >= 0);
  return demand;
}

/// Work per second on slices: the slowest of the device types' speeds times the slices' parts of the compute
/// slices, times the speed-up at the number of slices.
MARA_FOR_SLICES inline double slice_rate(const Platform& platform, const Job& job,
                                         const Placement& placement) noexcept {
  double slowest = std::numeric_limits<double>::infinity();
  for (const NodeShare& share : placement.shares) {
    const std::int32_t type = platform.nodes[share.node].type;
    slowest = std::min(
        slowest, job.type_speed[static_cast<std::size_t>(type)] * mig_speed(platform, type, share.profile));
  }
  return slowest * job.speed_up(static_cast<double>(placement.device_count()));
}

/// Work per second on `placement` without interference and without a cost of distance: the slowest of its
/// device types times the speed-up at its GPUs; on slices as slice_rate; 1 without devices.
inline double base_rate(const Platform& platform, const Job& job, const Placement& placement) noexcept {
  const Milli gpus = placement.gpus();
  if (gpus.value == 0) return 1.0;
  if (placement.shares.front().profile != kNoMigProfile) return slice_rate(platform, job, placement);
  double slowest = std::numeric_limits<double>::infinity();
  for (const NodeShare& share : placement.shares) {
    if (share.devices == 0) continue;
    const std::int32_t type = platform.nodes[share.node].type;
    slowest = std::min(slowest, job.type_speed[static_cast<std::size_t>(type)]);
  }
  return slowest * job.speed_up(gpus.as_double());
}

/// How far a job has come, as of `since_s`. Seconds.
struct JobProgress {
  double since_s = 0.0;
  double remaining_work = 0.0;
  double overhead_left_s = 0.0;  ///< to be paid before work goes on
  double overhead_paid_s = 0.0;
  double executed_s = 0.0;         ///< time spent holding resources
  double attained_gpu_s = 0.0;     ///< GPU-seconds received
  double last_start_s = 0.0;       ///< when it last got its present place
  double executed_before_s = 0.0;  ///< executed_s at that time, as the next two
  double overhead_before_s = 0.0;
  double remaining_before = 0.0;
};

/// The state of a job between its arrival and its end. Times in seconds.
struct ActiveJob : JobProgress {
  Job job;
  PlacementDemand demand;          ///< of the requested size
  std::uint32_t demand_class = 0;  ///< equal for jobs with equal demands
  std::uint64_t sequence = 0;      ///< order of submission: the last tie-breaker of every rule
  double entered_s = 0.0;          ///< entered the queue: its submission, or the end of what it waited for

  bool running = false;
  Placement placement;                                     ///< empty while waiting
  double rate = 0.0;                                       ///< work per second while running
  double end_s = std::numeric_limits<double>::infinity();  ///< if nothing changes

  bool started = false;
  double first_start_s = 0.0;
  int preemptions = 0, migrations = 0, failures = 0;

  /// Remaining work at a later time, if nothing changes until then.
  double remaining_at(double time) const noexcept {
    if (!running) return remaining_work;
    return std::max(0.0, remaining_work - std::max(0.0, time - since_s - overhead_left_s) * rate);
  }
  double attained_at(double time) const noexcept {
    return running ? attained_gpu_s + (time - since_s) * placement.gpus().as_double() : attained_gpu_s;
  }
  double executed_at(double time) const noexcept {
    return running ? executed_s + (time - since_s) : executed_s;
  }
  /// When the job, running since its last start, will end by its user's estimate; never before `time`.
  /// Infinity without an estimate.
  double estimated_end(double time) const noexcept {
    return std::max(time, last_start_s + job.estimate_s - executed_before_s);
  }

  /// Brings the progress of a running job to `time`, exactly what the functions above say.
  void settle(double time) noexcept {
    const double elapsed = time - since_s;
    since_s = time;
    if (elapsed <= 0.0) return;
    const double paid = std::min(elapsed, overhead_left_s);
    remaining_work = std::max(0.0, remaining_work - (elapsed - paid) * rate);
    overhead_left_s -= paid;
    overhead_paid_s += paid;
    executed_s += elapsed;
    attained_gpu_s += elapsed * placement.gpus().as_double();
  }

  /// Loses the work since the last multiple of `interval` seconds of work at the present place; says how many
  /// seconds that are.
  double fall_back(double interval) noexcept {
    const double worked =
        std::max(0.0, executed_s - executed_before_s - (overhead_paid_s - overhead_before_s));
    const double lost = std::fmod(worked, interval);
    remaining_work = std::min(remaining_before, remaining_work + lost * rate);
    return lost;
  }
};

}  // namespace mara
