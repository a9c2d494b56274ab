#pragma once
// The discrete action space of a job: request nothing, or one of GPU type x tier.

#include "mara/action/masked_categorical.hpp"
#include "mara/action/tier.hpp"
#include "mara/cluster/allocation.hpp"

namespace mara {

/// Options: 0 = nothing; 1 + type * 3 + tier = that tier (half, exactly, double) on that GPU type.
template <int Types>
struct TieredRequest {
  static_assert(Types >= 1 && Types <= kMaxGpuTypes, "TieredRequest: between 1 and kMaxGpuTypes GPU types");
  static constexpr int kTypes = Types;
  static constexpr int kOptions = 1 + Types * kTiers;
  static constexpr int kNothing = 0;
  using Distribution = MaskedCategorical<kOptions>;

  static constexpr int option(int type, Tier tier) noexcept {
    return 1 + type * kTiers + static_cast<int>(tier);
  }

  /// The grant that `option` asks for; empty when the tier does not exist for the job or it cannot run on the
  /// type.
  static Grant grant(const Job& job, int option) noexcept {
    if (option <= 0 || option >= kOptions) return {};
    const int type = (option - 1) / kTiers;
    const Milli gpus = tier_gpus(job, (option - 1) % kTiers);
    if (gpus.value <= 0 || !(job.type_speed[static_cast<std::size_t>(type)] > 0.0)) return {};
    return Grant{type, gpus};
  }

  /// The option that `held` corresponds to; kNothing when none does.
  static int option_of(const Job& job, Grant held) noexcept {
    if (held.empty() || held.type >= Types) return kNothing;
    for (int tier = kTiers - 1; tier >= 0; --tier)
      if (tier_gpus(job, tier) == held.gpus) return 1 + held.type * kTiers + tier;
    return kNothing;
  }

  /// Options that an empty cluster could grant.
  static OptionMask possible(const Job& job, const Cluster& cluster) noexcept {
    OptionMask legal = 1u;
    for (int a = 1; a < kOptions; ++a) {
      const Grant wanted = grant(job, a);
      if (wanted.empty() || wanted.type >= cluster.type_count()) continue;
      const GpuType& type = cluster.types[static_cast<std::size_t>(wanted.type)];
      if (type.could_hold(job.demand, wanted.gpus)) legal |= OptionMask{1} << a;
    }
    return legal;
  }

  /// Options that can be granted now: "nothing" always, the others when the ledger has room.
  static OptionMask mask(const Job& job, const Allocation& allocation) noexcept {
    OptionMask legal = 1u;
    for (int a = 1; a < kOptions; ++a) {
      const Grant wanted = grant(job, a);
      if (!wanted.empty() && allocation.fits(job.demand, wanted)) legal |= OptionMask{1} << a;
    }
    return legal;
  }
};

}  // namespace mara
