#pragma once
// The request tiers of a job: half of, exactly, or double what it asked for.

#include <cstdint>

#include "mara/core/resource.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// How much of its request a job gets.
enum class Tier : int { kHalf = 0, kExact = 1, kDouble = 2 };
/// Number of tiers.
inline constexpr int kTiers = 3;

/// GPUs of `tier` for `job`; Milli{0} when the tier does not exist for it: half of a single GPU or of a
/// fraction, double above max_gpus, and every tier but kExact for a fraction. Half of an odd number is
/// rounded down.
inline Milli tier_gpus(const Job& job, int tier) noexcept {
  if (tier == static_cast<int>(Tier::kExact)) return job.requested;
  if (!job.requested.is_whole()) return Milli{0};
  const std::int64_t gpus = job.requested.units();
  if (tier == static_cast<int>(Tier::kHalf)) return Milli::whole(gpus / 2);
  if (tier == static_cast<int>(Tier::kDouble) && 2 * gpus <= job.max_gpus) return Milli::whole(2 * gpus);
  return Milli{0};
}

}  // namespace mara
