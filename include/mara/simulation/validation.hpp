#pragma once
// Refuses bad numbers before a simulation starts, so that none can spread inside it.

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "mara/cluster/cluster.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/records.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Whether `type` (an index into the cluster) could ever hold the job at its requested size, alone in the
/// cluster.
inline bool could_run(const Cluster& cluster, const Job& job, int type) noexcept {
  const auto t = static_cast<std::size_t>(type);
  return type >= 0 && type < cluster.type_count() && type < kMaxGpuTypes && job.type_speed[t] > 0.0 &&
         cluster.types[t].could_hold(job.demand, job.requested);
}

/// Whether the job can use `grant`: a positive and finite rate on its type; for a job of whole GPUs a whole
/// number of at most max_gpus, for a fractional one exactly the fraction it requested.
inline bool accepts(const Job& job, Grant grant) noexcept {
  if (grant.type < 0 || grant.type >= kMaxGpuTypes || grant.gpus.value <= 0) return false;
  const bool size = job.requested.value < 1000 ? grant.gpus == job.requested
                                               : grant.gpus.is_whole() && grant.gpus.units() <= job.max_gpus;
  if (!size) return false;
  const double rate = job.rate(grant);
  return rate > 0.0 && std::isfinite(rate);
}

/// Whether a job makes sense on a cluster. Errors name the job's id, the field and the value. kNumerical: NaN
/// or infinity. kInvalidArgument: negative time, work, speed or demand; a request that is neither whole nor
/// below one GPU; max_gpus below the request; a speed-up parameter outside its domain. kCapacityExceeded: no
/// type that can run the job has enough GPUs, device memory and host resources for its requested size.
inline Status check_job(const Cluster& cluster, const Job& job) {
  const auto bad = [&job](ErrorCode code, const std::string& field, const std::string& value,
                          const char* why) {
    return Error{code, "job " + std::to_string(job.id) + ": " + field + " is " + value + ": " + why};
  };
  const auto check_number = [&bad](const std::string& field, double value) -> Status {
    if (!std::isfinite(value))
      return bad(ErrorCode::kNumerical, field, format_number(value), "must be finite");
    if (value < 0.0)
      return bad(ErrorCode::kInvalidArgument, field, format_number(value), "must not be negative");
    return {};
  };
  if (auto status = check_number("submit_s", job.submit_s); !status) return status;
  if (auto status = check_number("work", job.work); !status) return status;
  for (int t = 0; t < cluster.type_count() && t < kMaxGpuTypes; ++t)
    if (auto status = check_number("type_speed[" + std::to_string(t) + "]",
                                   job.type_speed[static_cast<std::size_t>(t)]);
        !status)
      return status;
  if (auto status = check_number("speed_up.parameter", job.speed_up.parameter); !status) return status;
  const bool power = job.speed_up.kind == SpeedUp::Kind::kPower;
  if (job.speed_up.parameter > 1.0 || (power && job.speed_up.parameter <= 0.0))
    return bad(ErrorCode::kInvalidArgument, "speed_up.parameter", format_number(job.speed_up.parameter),
               power ? "must be in (0, 1]" : "must be in [0, 1]");

  const auto check_amount = [&bad](const char* field, std::int64_t value) -> Status {
    if (value < 0)
      return bad(ErrorCode::kInvalidArgument, field, std::to_string(value), "must not be negative");
    return {};
  };
  if (auto status = check_amount("demand.gpu_memory_mib", job.demand.gpu_memory_mib); !status) return status;
  if (auto status = check_amount("demand.cpu (milli)", job.demand.cpu.value); !status) return status;
  if (auto status = check_amount("demand.memory_mib", job.demand.memory_mib); !status) return status;

  const std::int64_t asked = job.requested.value;
  if (asked <= 0 || (asked > 1000 && !job.requested.is_whole()))
    return bad(ErrorCode::kInvalidArgument, "requested (milli)", std::to_string(asked),
               "must be whole GPUs or a fraction of one");
  if (job.max_gpus < 1 || job.max_gpus < job.requested.units())
    return bad(ErrorCode::kInvalidArgument, "max_gpus", std::to_string(job.max_gpus),
               "must be at least requested");
  for (int t = 0; t < cluster.type_count(); ++t)
    if (could_run(cluster, job, t)) return {};
  return bad(ErrorCode::kCapacityExceeded, "requested (milli)", std::to_string(asked),
             "no GPU type of the cluster that can run the job could ever hold it");
}

/// Whether a configuration makes sense; errors name the field and the value (kNumerical, kInvalidArgument).
inline Status check_config(const SimulationConfig& config) {
  const auto bad = [](ErrorCode code, const char* field, double value, const char* why) {
    return Error{code, std::string("simulation: ") + field + " is " + format_number(value) + ": " + why};
  };
  const struct {
    const char* name;
    double value;
  } fields[] = {{"overheads.start_s", config.overheads.start_s},
                {"overheads.restart_s", config.overheads.restart_s},
                {"tick_s", config.tick_s}};
  for (const auto& field : fields) {
    if (!std::isfinite(field.value))
      return bad(ErrorCode::kNumerical, field.name, field.value, "must be finite");
    if (field.value < 0.0)
      return bad(ErrorCode::kInvalidArgument, field.name, field.value, "must not be negative");
  }
  if (std::isnan(config.horizon_s))
    return bad(ErrorCode::kNumerical, "horizon_s", config.horizon_s, "must be a number");
  if (config.horizon_s < 0.0)
    return bad(ErrorCode::kInvalidArgument, "horizon_s", config.horizon_s, "must not be negative");
  if (config.fixed_interval && config.tick_s <= 0.0)
    return bad(ErrorCode::kInvalidArgument, "tick_s", config.tick_s, "fixed_interval needs a positive tick");
  if (config.stall_ticks < 1)
    return bad(ErrorCode::kInvalidArgument, "stall_ticks", static_cast<double>(config.stall_ticks),
               "must be at least 1");
  return {};
}

/// Whether a simulation can begin: check_cluster, check_config and check_job of every job; kInvalidArgument
/// for more than 2^32 - 1 jobs, or a tick_s too small to count up to the last submit time.
inline Status check_simulation(const Cluster& cluster, std::span<const Job> jobs,
                               const SimulationConfig& config) {
  if (auto status = check_cluster(cluster); !status) return status;
  if (auto status = check_config(config); !status) return status;
  if (jobs.size() > std::numeric_limits<std::uint32_t>::max())
    return Error{ErrorCode::kInvalidArgument, "jobs: " + std::to_string(jobs.size()) + ", at most 2^32 - 1"};
  for (const Job& job : jobs) {
    if (auto status = check_job(cluster, job); !status) return status;
    // Past 2^53 a tick and the next are the same number; far from it there is room for the run itself.
    if (config.tick_s > 0.0 && !(job.submit_s / config.tick_s < 0x1p50))
      return Error{ErrorCode::kInvalidArgument,
                   "simulation: tick_s is " + format_number(config.tick_s) + ": too small for submit_s " +
                       format_number(job.submit_s) + " of job " + std::to_string(job.id)};
  }
  return {};
}

}  // namespace mara
