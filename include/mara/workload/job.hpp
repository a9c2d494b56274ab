#pragma once
// A job as submitted, and its state as the simulator (or a real scheduler) sees it.

#include <array>
#include <cstdint>
#include <limits>

#include "mara/core/libm.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// Measured speed-up over one GPU at 1, 2, 4, ..., 128 GPUs; between the points linear in the number of GPUs,
/// constant past the last. at[0] is 1.
struct SpeedUpTable {
  std::array<double, 8> at{1, 1, 1, 1, 1, 1, 1, 1};

  double operator()(double gpus) const noexcept {
    double below = 1.0;
    for (std::size_t i = 1; i < at.size(); ++i, below *= 2.0)
      if (gpus < 2.0 * below) return at[i - 1] + (at[i] - at[i - 1]) * (gpus - below) / below;
    return at.back();
  }
};

/// How throughput grows with the number of GPUs, relative to one GPU.
struct SpeedUp {
  enum class Kind : std::uint8_t { kPower, kAmdahl, kTable };
  Kind kind = Kind::kPower;
  /// kPower: exponent p in (0, 1], S(k) = k^p. kAmdahl: parallel share f in [0, 1], S(k) = 1/((1-f) + f/k).
  double parameter = 1.0;
  const SpeedUpTable* table = nullptr;  ///< of kTable; owned by the workload, which must outlive its jobs

  /// Speed-up on `gpus` GPUs (may be a fraction of one, then linear: S = gpus).
  double operator()(double gpus) const noexcept {
    if (gpus <= 1.0) return gpus;
    if (kind == Kind::kPower) return parameter == 1.0 ? gpus : libm::pow(gpus, parameter);
    if (kind == Kind::kTable) return table != nullptr ? (*table)(gpus) : 1.0;
    return 1.0 / ((1.0 - parameter) + parameter / gpus);
  }
};

/// A submitted job. Immutable during a simulation.
struct Job {
  std::int64_t id = 0;    ///< the trace's own id
  double submit_s = 0.0;  ///< seconds since the start of the trace
  /// Work in seconds of one reference GPU (type 0): the run time on the requested GPUs of the reference type
  /// times speed_up(requested).
  double work = 0.0;
  Milli requested{1000};  ///< whole GPUs, or a fraction of one
  int max_gpus = 1;       ///< the most GPUs the job can use (>= requested, rounded up)
  Demand demand{};
  int priority = 0;
  int tenant = 0;
  int sla = 0;  ///< class of service, an index into names of the workload's
  /// Kind of job (its model), an index into names of the workload's: overheads and interference look here.
  int profile = -1;
  double weight = 1.0;
  /// The user's estimate of the run time on the requested GPUs of the reference type; infinity: none given.
  double estimate_s = std::numeric_limits<double>::infinity();
  double deadline_s = std::numeric_limits<double>::infinity();  ///< on the time axis of submit_s
  SpeedUp speed_up{};
  /// Speed of each GPU type relative to type 0 for this job; 0: cannot run there (entries past the cluster's
  /// types are ignored).
  std::array<double, kMaxGpuTypes> type_speed{};

  /// Work done per second under `grant`; 0 for an empty one.
  double rate(Grant grant) const noexcept {
    if (grant.empty()) return 0.0;
    return type_speed[static_cast<std::size_t>(grant.type)] * speed_up(grant.gpus.as_double());
  }
};

/// What changes about a job while it is in the system.
struct JobState {
  std::uint32_t job = 0;         ///< index into the job list
  double remaining_work = 0.0;   ///< same unit as Job::work
  double overhead_left_s = 0.0;  ///< start or restart cost still to be paid under the present grant
  Grant held{};
  bool started = false;
  double first_start_s = 0.0;   ///< valid when started
  int restarts = 0;             ///< grants taken away or changed after the first
  double attained_gpu_s = 0.0;  ///< GPU-seconds received
};

}  // namespace mara
