#pragma once
// Orders in which a platform's jobs are served.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>

#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// An order of service: the job with the lowest key comes first, equal keys by submission. Keys are numbers,
/// never NaN. kVaries: the key of a waiting job changes while it waits, so that the queue is sorted anew at
/// each decision (O(n log n)); otherwise a key is taken when the job begins to wait. The key of a running job
/// is taken at each decision.
template <class O>
concept JobOrder = requires(O order, const Dispatch& dispatch, const ActiveJob& job) {
  { order.name() } -> std::convertible_to<std::string_view>;
  { O::kVaries } -> std::convertible_to<bool>;
  { order.key(dispatch, job) } -> std::convertible_to<double>;
};

namespace detail {

/// Seconds the whole job is expected to run on what it requested: the user's estimate; without one the real
/// run time on the reference type.
inline double expected_run_s(const ActiveJob& job) noexcept {
  if (job.job.estimate_s < std::numeric_limits<double>::infinity()) return job.job.estimate_s;
  const double gpus = job.job.requested.as_double();
  return gpus > 0.0 ? job.job.work / job.job.speed_up(gpus) : job.job.work;
}

/// The same for what remains at the present decision.
inline double expected_remaining_s(const Dispatch& dispatch, const ActiveJob& job) noexcept {
  const double now = dispatch.now_s();
  if (job.job.estimate_s < std::numeric_limits<double>::infinity())
    return std::max(0.0, job.job.estimate_s - job.executed_at(now));
  const double gpus = job.job.requested.as_double();
  const double left = job.remaining_at(now);
  return gpus > 0.0 ? left / job.job.speed_up(gpus) : left;
}

inline double gpus_of(const ActiveJob& job) noexcept {
  return job.job.requested.value > 0 ? job.job.requested.as_double() : 1.0;
}

}  // namespace detail

/// First come first served.
struct ArrivalJobOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "fcfs"; }
  static double key(const Dispatch&, const ActiveJob& job) noexcept { return job.job.submit_s; }
};

/// Shortest job first, by the expected run time of the whole job (Conway, Maxwell & Miller, "Theory of
/// Scheduling", 1967).
struct ShortestJobOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "sjf"; }
  static double key(const Dispatch&, const ActiveJob& job) noexcept { return detail::expected_run_s(job); }
};

/// Longest job first.
struct LongestJobOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "ljf"; }
  static double key(const Dispatch&, const ActiveJob& job) noexcept { return -detail::expected_run_s(job); }
};

/// Shortest remaining time first (Schrage, "A proof of the optimality of the shortest remaining processing
/// time discipline", Operations Research 16, 1968).
struct ShortestRemainingOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "srtf"; }
  static double key(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    return detail::expected_remaining_s(dispatch, job);
  }
};

/// Shortest remaining service first: remaining time times GPUs (Gu et al., "Tiresias", NSDI'19).
struct ShortestServiceOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "srsf"; }
  static double key(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    return detail::expected_remaining_s(dispatch, job) * detail::gpus_of(job);
  }
};

/// Fewest GPUs first.
struct SmallestJobOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "smallest"; }
  static double key(const Dispatch&, const ActiveJob& job) noexcept { return detail::gpus_of(job); }
};

/// Least attained service, GPU-seconds (Nuyens & Wierman, "The foreground-background queue", 2008; two-
/// dimensional as in Tiresias). With a preemptive scheduler jobs of equal service take turns at every event:
/// the discretised queues of DiscretisedLas do not.
struct LeastAttainedOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "las-exact"; }
  static double key(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    return job.attained_at(dispatch.now_s());
  }
};

/// F1 of Carastan-Santos & de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
/// learning", SC'17: log10(run) x processors + 870 log10(submit), the run as estimated; 0.1 in place of what
/// is not above 0.
struct F1Order {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "f1"; }
  static double key(const Dispatch&, const ActiveJob& job) noexcept {
    const auto positive = [](double value) { return value > 0.0 ? value : 0.1; };
    return libm::log10(positive(detail::expected_run_s(job))) * detail::gpus_of(job) +
           870.0 * libm::log10(positive(job.job.submit_s));
  }
};

/// WFP3 of Tang et al., "Fault-aware, utility-based job scheduling on Blue Gene/P", CLUSTER'09:
/// -(wait / estimate)^3 x processors.
struct Wfp3Order {
  static constexpr bool kVaries = true;
  static constexpr std::string_view name() noexcept { return "wfp3"; }
  static double key(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    const double ratio = (dispatch.now_s() - job.job.submit_s) / std::max(detail::expected_run_s(job), 1e-3);
    return -(ratio * ratio * ratio) * detail::gpus_of(job);
  }
};

/// UNICEF of the same paper: -wait / (log2(processors) x estimate); one processor counts as two.
struct UnicefOrder {
  static constexpr bool kVaries = true;
  static constexpr std::string_view name() noexcept { return "unicef"; }
  static double key(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    const double wait = dispatch.now_s() - job.job.submit_s;
    return -wait /
           (libm::log2(std::max(2.0, detail::gpus_of(job))) * std::max(detail::expected_run_s(job), 1e-3));
  }
};

/// Earliest deadline first; jobs without one last.
struct EarliestDeadlineOrder {
  static constexpr bool kVaries = false;
  static constexpr std::string_view name() noexcept { return "edf"; }
  static double key(const Dispatch&, const ActiveJob& job) noexcept { return job.job.deadline_s; }
};

/// Highest priority first, where waiting adds to a priority: base + rate x min(age, cap) (case S11). Ages
/// below 0, of a clock that went back, count as 0.
struct AgeingOrder {
  static constexpr bool kVaries = true;
  double rate_per_s = 1000.0 / 600.0, cap_s = 600.0;

  static constexpr std::string_view name() noexcept { return "priority"; }
  double key(const Dispatch& dispatch, const ActiveJob& job) const noexcept {
    return -(static_cast<double>(job.job.priority) + bonus(dispatch.now_s() - job.entered_s));
  }
  double bonus(double age_s) const noexcept { return rate_per_s * std::clamp(age_s, 0.0, cap_s); }
};

/// Finish-time fairness: the job with the worst projected ratio of shared to independent finish time comes
/// first (Mahajan et al., "Themis", NSDI'20, without its auction): rho = (age + remaining) / ideal run time.
/// The equal part of the cluster by which Themis divides is the same for all jobs and does not change the
/// order.
struct FinishTimeFairOrder {
  static constexpr bool kVaries = true;
  static constexpr std::string_view name() noexcept { return "themis"; }
  double key(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    const double ideal = std::max(detail::expected_run_s(job), 1e-3);
    const double age = dispatch.now_s() - job.job.submit_s;
    return -(age + detail::expected_remaining_s(dispatch, job)) / ideal;
  }
};

/// Uniformly at random, drawn once for each job from its number and a seed.
struct RandomJobOrder {
  static constexpr bool kVaries = false;
  std::uint64_t seed = 1;

  static constexpr std::string_view name() noexcept { return "random"; }
  double key(const Dispatch&, const ActiveJob& job) const noexcept {
    return Random(seed, job.sequence).uniform();
  }
};

}  // namespace mara
