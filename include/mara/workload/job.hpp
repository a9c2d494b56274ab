#pragma once
// A job as submitted, and its state as the simulator (or a real scheduler) sees it.

#include <array>
#include <cstdint>

#include "mara/core/libm.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// How throughput grows with the number of GPUs, relative to one GPU.
struct SpeedUp {
  enum class Kind : std::uint8_t { kPower, kAmdahl };
  Kind kind = Kind::kPower;
  /// kPower: exponent p in (0, 1], S(k) = k^p. kAmdahl: parallel share f in [0, 1], S(k) = 1/((1-f) + f/k).
  double parameter = 1.0;

  /// Speed-up on `gpus` GPUs (may be a fraction of one, then linear: S = gpus).
  double operator()(double gpus) const noexcept {
    if (gpus <= 1.0) return gpus;
    if (kind == Kind::kPower) return libm::pow(gpus, parameter);
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
