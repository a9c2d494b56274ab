#pragma once
// What no scheduler can beat: lower bounds on the mean completion time of a list of jobs, in hindsight.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Lower bounds on the mean completion time (from submission to end), seconds. Each is valid by itself, so
/// the largest is.
struct LowerBound {
  double own_s = 0.0;          ///< every job alone on the platform
  double srpt_s = 0.0;         ///< one machine of the whole platform's speed
  double busy_s = 0.0;         ///< the same machine, by mean busy times
  std::size_t impossible = 0;  ///< jobs that no device can serve; they are left out

  double mean_s() const noexcept { return std::max({own_s, srpt_s, busy_s}); }
};

/// Sizes that the scheduler may choose from: elastic rules are bounded by less.
enum class SizeFreedom : std::uint8_t {
  kElastic,  ///< 1 to Job::max_gpus GPUs
  kRigid,    ///< what the job requests
};

namespace detail {

/// A job for the relaxations: device-seconds on its best type, and the run time when alone.
struct RelaxedJob {
  double submit_s, volume, own_s;
};

/// The largest speed-up, and the largest speed-up per GPU, that a job can have on at most `most` GPUs.
inline std::pair<double, double> best_speed_up(const Job& job, SizeFreedom freedom, std::int64_t most) {
  const double asked = job.requested.as_double();
  const double requested = job.speed_up(asked);
  if (freedom == SizeFreedom::kRigid || job.requested.value < 1000) return {requested, requested / asked};
  const std::int64_t allowed = std::max<std::int64_t>(job.max_gpus, job.requested.units());
  const std::int64_t last = std::max<std::int64_t>(1, std::min(allowed, most));
  double speed_up = 0.0, per_gpu = 0.0;
  const auto look = [&](std::int64_t gpus) {
    const double value = job.speed_up(static_cast<double>(gpus));
    speed_up = std::max(speed_up, value);
    per_gpu = std::max(per_gpu, value / static_cast<double>(gpus));
  };
  // Between powers of two every kind is monotone, and so is its ratio to the number of GPUs.
  for (std::int64_t gpus = 1; gpus < last; gpus *= 2) look(gpus);
  look(last);
  return {speed_up, per_gpu};
}

/// Sum of completion times, from submission, of SRPT on one machine of speed `speed`. Jobs in order of
/// submission.
inline double srpt_sum(std::span<const RelaxedJob> jobs, double speed) {
  std::priority_queue<double, std::vector<double>, std::greater<>> left;  // volumes of the jobs there
  double now = 0.0, sum = 0.0;
  for (std::size_t next = 0; next < jobs.size() || !left.empty();) {
    if (left.empty()) now = std::max(now, jobs[next].submit_s);
    while (next < jobs.size() && jobs[next].submit_s <= now) {
      left.push(jobs[next].volume);
      sum -= jobs[next++].submit_s;
    }
    const double until = next < jobs.size() ? jobs[next].submit_s : std::numeric_limits<double>::infinity();
    const double shortest = left.top();
    left.pop();
    const double end = now + shortest / speed;
    if (end <= until) {
      now = end;
      sum += end;
    } else {
      left.push(std::max(0.0, shortest - (until - now) * speed));
      now = until;
    }
  }
  return sum;
}

/// Least sum over jobs of mean busy time minus submission on one machine of speed `speed`: always the job
/// with the smallest volume, whatever is left of it.
inline double busy_sum(std::span<const RelaxedJob> jobs, double speed) {
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> there;
  std::vector<double> left(jobs.size());
  double now = 0.0, sum = 0.0;
  for (std::size_t next = 0; next < jobs.size() || !there.empty();) {
    if (there.empty()) now = std::max(now, jobs[next].submit_s);
    while (next < jobs.size() && jobs[next].submit_s <= now) {
      left[next] = jobs[next].volume;
      there.push({jobs[next].volume, next});
      sum -= jobs[next].submit_s;
      if (!(jobs[next].volume > 0.0)) sum += jobs[next].submit_s;  // busy at no time: it ends at once
      ++next;
    }
    const double until = next < jobs.size() ? jobs[next].submit_s : std::numeric_limits<double>::infinity();
    const std::size_t job = there.top().second;
    const double end = std::min(until, now + left[job] / speed);
    const bool done = now + left[job] / speed <= until;
    const double served = done ? left[job] : std::min(left[job], (end - now) * speed);
    if (jobs[job].volume > 0.0) sum += served / jobs[job].volume * (0.5 * (now + end));
    left[job] -= served;
    now = end;
    if (done) there.pop();
  }
  return sum;
}

}  // namespace detail

/// Lower bounds on the mean completion time that any scheduler can reach on the platform, knowing everything
/// in advance, whatever it preempts and moves and however overheads are paid.
///
/// Let a job's volume be the device-seconds that it needs at least, on its fastest type and at its most
/// efficient number of GPUs: volume = work / (fastest speed x largest S(k) / k). A device of type t takes at
/// most r = speed on t / fastest speed of a job's volume a second, so that all devices together take at most
/// R = sum over types of devices x (the largest r of any job) a second.
/// - own: alone on the platform with the largest speed-up, a job runs work / (fastest speed x largest S(k)).
/// - srpt: what the jobs get in any schedule could be had from one machine of speed R that serves any number
/// of
///   jobs at once; there SRPT has the least sum of completion times (Schrage, Operations Research 16, 1968).
/// - busy: a job that never runs faster than alone has, at its end C, a mean busy time (the average of the
///   times at which its volume was served) of at most C - own / 2; and on the machine of speed R the sum of
///   mean busy times is least when the job of the smallest volume is always served (Goemans, Queyranne,
///   Schulz, Skutella & Wang, "Single machine scheduling with release dates", SIAM J. Discrete Mathematics
///   15, 2002, for one machine; Schulz & Skutella, "Scheduling unrelated machines by randomized rounding",
///   ibid., for several). So the sum of C is at least that least sum plus half of all own times. Strongest
///   when jobs are both long and many.
///
/// Jobs without devices count with their own time alone. kRigid is valid only for schedulers that give a job
/// what it requests or nothing. The platform must pass check_platform. Errors: a submit time, work or speed
/// that is negative or not finite, naming the job and the field; no job that can run. O(jobs log jobs).
inline Result<LowerBound> mean_jct_lower_bound(const Platform& platform, std::span<const Job> jobs,
                                               SizeFreedom freedom = SizeFreedom::kElastic) {
  const std::size_t types = platform.types.size();
  std::vector<double> devices(types, 0.0), usable(types, 0.0);
  for (const Node& node : platform.nodes)
    if (node.type >= 0) devices[static_cast<std::size_t>(node.type)] += node.devices;
  LowerBound bound;
  std::vector<detail::RelaxedJob> relaxed;
  double own = 0.0;
  std::size_t count = 0;
  for (const Job& job : jobs) {
    const std::string name = "job " + std::to_string(job.id) + ": ";
    if (auto ok = check_non_negative(job.submit_s, name + "submit_s"); !ok) return ok.error();
    if (auto ok = check_non_negative(job.work, name + "work"); !ok) return ok.error();
    if (job.requested.value == 0) {
      own += job.work;
      ++count;
      continue;
    }
    double fastest = 0.0, most = 0.0;
    const std::uint32_t allowed = device_types(platform, job);
    for (std::size_t t = 0; t < types; ++t) {
      if (auto ok = check_finite(job.type_speed[t], name + "type_speed"); !ok) return ok.error();
      if ((allowed >> t & 1u) == 0 || devices[t] == 0.0) continue;
      fastest = std::max(fastest, job.type_speed[t]);
      most += devices[t];
    }
    const auto [speed_up, per_gpu] =
        detail::best_speed_up(job, freedom, static_cast<std::int64_t>(std::min(most, 1e9)));
    const bool too_large = freedom == SizeFreedom::kRigid && job.requested.as_double() > most;
    if (!(fastest > 0.0) || !(speed_up > 0.0) || too_large) {
      ++bound.impossible;
      continue;
    }
    const double alone = job.work / (fastest * speed_up);
    relaxed.push_back({job.submit_s, job.work / (fastest * per_gpu), alone});
    own += alone;
    ++count;
    for (std::size_t t = 0; t < types; ++t)
      if ((allowed >> t & 1u) != 0) usable[t] = std::max(usable[t], job.type_speed[t] / fastest);
  }
  if (count == 0) return Error{ErrorCode::kInvalidArgument, "lower bound: no job that the platform can run"};
  std::stable_sort(
      relaxed.begin(), relaxed.end(),
      [](const detail::RelaxedJob& a, const detail::RelaxedJob& b) { return a.submit_s < b.submit_s; });
  double speed = 0.0, own_of_relaxed = 0.0;
  for (std::size_t t = 0; t < types; ++t) speed += devices[t] * usable[t];
  for (const detail::RelaxedJob& job : relaxed) own_of_relaxed += job.own_s;
  const double jobs_counted = static_cast<double>(count), others = own - own_of_relaxed;
  bound.own_s = own / jobs_counted;
  if (relaxed.empty()) return bound;
  bound.srpt_s = (detail::srpt_sum(relaxed, speed) + others) / jobs_counted;
  bound.busy_s = (detail::busy_sum(relaxed, speed) + 0.5 * own_of_relaxed + others) / jobs_counted;
  return bound;
}

}  // namespace mara
