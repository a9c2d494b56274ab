#pragma once
// Whether a job can be let into a platform simulation.

#include <cmath>
#include <cstdint>
#include <string>

#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// The most devices a job may ask for.
inline constexpr std::int64_t kMostDevicesOfAJob = 1'000'000;

/// Whether the numbers of a job make sense for the node-level engine. Errors name the job's id, the field and
/// the value. kNumerical: NaN, or infinity where a number must be finite. kInvalidArgument: a negative time,
/// work, weight, speed or amount; a request above one GPU that is not whole, or of more than
/// kMostDevicesOfAJob; max_gpus below 1; CPU or memory above what any platform can have; a speed-up outside
/// its domain. That a job is too large for the platform is no error here: it waits.
inline Status check_job(const Platform& platform, const Job& job) {
  const auto bad = [&job](const char* field, const std::string& value, ErrorCode code) {
    return Error{code, "job " + std::to_string(job.id) + ": " + field + " is " + value};
  };
  const auto number = [&bad](const char* field, double value, bool may_be_endless) -> Status {
    if (std::isnan(value) || (!may_be_endless && !std::isfinite(value)))
      return bad(field, format_number(value), ErrorCode::kNumerical);
    if (value < 0.0) return bad(field, format_number(value), ErrorCode::kInvalidArgument);
    return {};
  };
  if (auto ok = number("submit_s", job.submit_s, false); !ok) return ok;
  if (auto ok = number("work", job.work, false); !ok) return ok;
  if (auto ok = number("estimate_s", job.estimate_s, true); !ok) return ok;
  if (auto ok = number("deadline_s", job.deadline_s, true); !ok) return ok;
  if (auto ok = number("weight", job.weight, false); !ok) return ok;
  for (std::size_t t = 0; t < platform.types.size(); ++t)
    if (auto ok = number("type_speed", job.type_speed[t], false); !ok) return ok;
  if (job.speed_up.kind == SpeedUp::Kind::kTable) {
    if (job.speed_up.table == nullptr) return bad("speed_up.table", "missing", ErrorCode::kInvalidArgument);
    for (const double at : job.speed_up.table->at)
      if (!std::isfinite(at) || at <= 0.0)
        return bad("speed_up.table", format_number(at), ErrorCode::kInvalidArgument);
  } else if (!(job.speed_up.parameter >= 0.0 && job.speed_up.parameter <= 1.0)) {
    return bad("speed_up.parameter", format_number(job.speed_up.parameter), ErrorCode::kInvalidArgument);
  }
  const auto amount = [&bad](const char* field, std::int64_t value, std::int64_t most) -> Status {
    if (value < 0 || value > most) return bad(field, std::to_string(value), ErrorCode::kInvalidArgument);
    return {};
  };
  const std::int64_t most = kMostOfANode * static_cast<std::int64_t>(platform.nodes.size());
  if (auto ok = amount("requested (milli)", job.requested.value, kMostDevicesOfAJob * 1000); !ok) return ok;
  if (job.requested.value > 1000 && !job.requested.is_whole())
    return bad("requested (milli)", std::to_string(job.requested.value), ErrorCode::kInvalidArgument);
  if (job.max_gpus < 1) return bad("max_gpus", std::to_string(job.max_gpus), ErrorCode::kInvalidArgument);
  if (auto ok = amount("demand.cpu (milli)", job.demand.cpu.value, most); !ok) return ok;
  if (auto ok = amount("demand.memory_mib", job.demand.memory_mib, most); !ok) return ok;
  return amount("demand.gpu_memory_mib", job.demand.gpu_memory_mib, kMostOfANode);
}

/// Whether what a submission asks of sliced types makes sense (kInvalidArgument): slices of a profile that no
/// type has, or not a whole number of them; a fraction where all types that the job may use are given whole
/// or in slices.
inline Status check_slices(const Platform& platform, const Submission& submission) {
  const Job& job = submission.job;
  const auto bad = [&job](const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, "job " + std::to_string(job.id) + ": " + what};
  };
  if (submission.mig_profile != kNoMigProfile) {
    if (const auto slices = slice_demand(platform, submission.mig_profile); !slices)
      return bad(slices.error().message);
    if (job.requested.value == 0 || !job.requested.is_whole())
      return bad("requested (milli) is " + std::to_string(job.requested.value) +
                 ", no number of slices (mig_profile " + std::to_string(submission.mig_profile) + ")");
    return {};
  }
  if (!asks_for_fraction(job)) return {};
  const DeviceType* sliced = nullptr;
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    if (!(job.type_speed[t] > 0.0)) continue;
    if (!platform.types[t].mig) return {};
    sliced = &platform.types[t];
  }
  if (sliced == nullptr) return {};  // it may run nowhere, and waits
  return bad("requested (milli) is " + std::to_string(job.requested.value) +
             ", a fraction, but device type '" + sliced->name +
             "' is given whole or in slices (mig_profile)");
}

/// Whether a submission can be let in: check_job, check_slices, and whether it comes in order of submission,
/// after one submitted at `last`.
inline Status check_submission(const Platform& platform, const Submission& submission, double last) {
  const Job& job = submission.job;
  if (auto ok = check_job(platform, job); !ok) return ok;
  if (submission.mig_profile != kNoMigProfile || asks_for_fraction(job))
    if (auto ok = check_slices(platform, submission); !ok) return ok;
  if (job.submit_s >= last) return {};
  return Error{ErrorCode::kInvalidArgument,
               "job " + std::to_string(job.id) + ": submit_s is " + format_number(job.submit_s) +
                   ", before that of the job before it (" + format_number(last) + ")"};
}

}  // namespace mara
