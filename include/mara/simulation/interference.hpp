#pragma once
// What jobs that share a device or a node cost each other.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/workload/gavel_throughputs.hpp"

namespace mara {

namespace detail {

/// What a job holds of a node, of several slices the first; null when nothing.
inline const NodeShare* share_on(const ActiveJob& job, std::uint32_t node) noexcept {
  for (const NodeShare& share : job.placement.shares)
    if (share.node == node) return &share;
  return nullptr;
}

/// Its devices there, also those of which it has slices.
inline std::uint64_t devices_on(const ActiveJob& job, std::uint32_t node) noexcept {
  std::uint64_t devices = 0;
  for (const NodeShare& share : job.placement.shares)
    if (share.node == node) devices |= share.devices;
  return devices;
}

/// Value of a table by profile; 0 for a job without one.
inline double by_profile(std::span<const double> table, const ActiveJob& job) noexcept {
  const int profile = job.job.profile;
  return profile >= 0 && static_cast<std::size_t>(profile) < table.size()
             ? table[static_cast<std::size_t>(profile)]
             : 0.0;
}

}  // namespace detail

/// Jobs that hold shares of one device take turns: each of n gets 1/n of the device, however large its share
/// is (the time slicing of GPU drivers; processor sharing of queueing theory). A share thus only bounds who
/// may come to a device. Relative to the base rate, which is in proportion to the share s, the factor is
/// 1 / (n s), times quantum / (quantum + switch) when n > 1. Jobs on whole devices, on slices, and without
/// any, are alone.
struct TimeSharing {
  double quantum_s = 1.0;  ///< length of a turn, above 0
  double switch_s = 0.0;   ///< lost at each change of turns, not negative

  static constexpr bool kNone = false;
  double factor(const Platform&, const ActiveJob& job, std::uint32_t node,
                std::span<const ActiveJob* const> neighbours) const noexcept {
    const NodeShare* mine = detail::share_on(job, node);
    if (mine == nullptr || mine->devices == 0 || mine->profile != kNoMigProfile) return 1.0;
    std::size_t sharers = 1;
    for (const ActiveJob* other : neighbours)
      sharers += (detail::devices_on(*other, node) & mine->devices) != 0 ? 1 : 0;
    const double part = 1000.0 / (static_cast<double>(sharers) * mine->share);
    return sharers > 1 ? part * (quantum_s / (quantum_s + switch_s)) : part;
  }
};

/// Jobs need bandwidth of the memory of their devices and of their node's PCIe to run at their speed. When
/// the needs of all jobs on a device, or on a node's PCIe, add up to more than there is, those that need any
/// of it are slowed down in proportion, by the scarcest. Needs are per device held, whatever the share; a
/// slice has its own part of the device's bandwidth, that of its memory slices, and its job needs as much of
/// it as of a device. A platform's bandwidth of 0 means unknown and limits nobody.
class BandwidthInterference {
 public:
  static constexpr bool kNone = false;

  /// Needs in GB/s per device, by Job::profile; jobs without a profile, or with one beyond the list, need
  /// none. Errors name the profile: a need that is negative or not finite.
  static Result<BandwidthInterference> make(std::vector<double> memory_gb_s,
                                            std::vector<double> pcie_gb_s = {}) {
    for (const auto* needs : {&memory_gb_s, &pcie_gb_s})
      for (std::size_t p = 0; p < needs->size(); ++p)
        if (auto ok = check_non_negative((*needs)[p], std::string(needs == &memory_gb_s ? "memory" : "PCIe") +
                                                          " need of profile " + std::to_string(p));
            !ok)
          return ok.error();
    BandwidthInterference model;
    model.memory_ = std::move(memory_gb_s);
    model.pcie_ = std::move(pcie_gb_s);
    return model;
  }

  double factor(const Platform& platform, const ActiveJob& job, std::uint32_t node,
                std::span<const ActiveJob* const> neighbours) const noexcept {
    const std::uint64_t mine = detail::devices_on(job, node);
    if (mine == 0) return 1.0;
    const Node& machine = platform.nodes[node];
    double slowest = 1.0;
    const double need = detail::by_profile(memory_, job);
    const double bandwidth = platform.types[static_cast<std::size_t>(machine.type)].bandwidth_gb_s;
    const std::int32_t profile = detail::share_on(job, node)->profile;
    if (need > 0.0 && bandwidth > 0.0 && profile != kNoMigProfile) {
      const MigProfile* slice = mig_profile(platform, machine.type, profile);
      const MigTable& table = *platform.types[static_cast<std::size_t>(machine.type)].mig;
      slowest = std::min(slowest, bandwidth * slice->memory / (need * table.memory));
    } else if (need > 0.0 && bandwidth > 0.0) {
      for (std::uint64_t left = mine; left != 0; left &= left - 1) {
        const std::uint64_t device = left & (~left + 1);
        double sum = need;
        for (const ActiveJob* other : neighbours)
          if ((detail::devices_on(*other, node) & device) != 0) sum += detail::by_profile(memory_, *other);
        slowest = std::min(slowest, bandwidth / sum);
      }
    }
    const double link = detail::by_profile(pcie_, job);
    if (link > 0.0 && machine.pcie_gb_s > 0.0) {
      double sum = link * std::popcount(mine);
      for (const ActiveJob* other : neighbours)
        sum += detail::by_profile(pcie_, *other) * std::popcount(detail::devices_on(*other, node));
      slowest = std::min(slowest, machine.pcie_gb_s / sum);
    }
    return slowest;
  }

 private:
  std::vector<double> memory_, pcie_;  // by profile
};

/// Jobs that share a device run at the speed measured for their pair (Narayanan et al., "Heterogeneity-aware
/// cluster scheduling policies for deep learning workloads", OSDI'20). Alone on its devices a job runs at
/// full speed whatever its share: the factor is 1 / share, times throughput together / alone for each job on
/// the same devices (measured are pairs only; of several the product counts). Slices do not share: 1.
class MeasuredPairs {
 public:
  static constexpr bool kNone = false;

  /// Factors of a pair that was not measured, and of one that was found not to run together.
  struct Fallback {
    double unmeasured = 0.5, impossible = 1e-3;
  };

  /// `types`: for each device type of the platform its name in the table; `profiles`: for each Job::profile
  /// its model and number of GPUs in the table, or an empty model when nothing was measured of it. Errors
  /// (kInvalidArgument) name a type or model that is not in the table, or a fallback outside (0, 1].
  static Result<MeasuredPairs> make(const GavelThroughputs& table, std::span<const std::string> types,
                                    std::span<const std::pair<std::string, int>> profiles,
                                    Fallback fallback) {
    for (const double value : {fallback.unmeasured, fallback.impossible})
      if (!(value > 0.0 && value <= 1.0))
        return Error{ErrorCode::kInvalidArgument,
                     "measured pairs: fallback is " + format_number(value) + ", must be in (0, 1]"};
    MeasuredPairs model;
    model.profiles_ = profiles.size();
    model.unmeasured_ = fallback.unmeasured;
    std::vector<int> jobs;
    for (const auto& [name, scale] : profiles) {
      jobs.push_back(name.empty() ? -1 : table.job_index(name, scale));
      if (jobs.back() < 0 && !name.empty())
        return Error{ErrorCode::kInvalidArgument, "measured pairs: model '" + name + "' on " +
                                                      std::to_string(scale) + " GPUs is not in the table"};
    }
    for (const std::string& name : types) {
      const int type = table.type_index(name);
      if (type < 0)
        return Error{ErrorCode::kInvalidArgument,
                     "measured pairs: GPU type '" + name + "' is not in the table"};
      for (const int a : jobs)
        for (const int b : jobs) {
          const auto alone = table.isolated(type, a);
          const auto both = table.together(type, a, b);
          double factor = fallback.unmeasured;
          if (alone && both && *alone > 0.0)
            factor = both->first > 0.0 ? both->first / *alone : fallback.impossible;
          model.factors_.push_back(factor);
        }
    }
    return model;
  }
  static Result<MeasuredPairs> make(const GavelThroughputs& table, std::span<const std::string> types,
                                    std::span<const std::pair<std::string, int>> profiles) {
    return make(table, types, profiles, Fallback{});
  }

  /// Speed of a job of profile `a` beside one of profile `b` on a device of `type`, of its speed alone.
  double pair(std::int32_t type, int a, int b) const noexcept {
    const auto n = static_cast<int>(profiles_);
    if (a < 0 || b < 0 || a >= n || b >= n || type < 0) return unmeasured_;
    const std::size_t at =
        (static_cast<std::size_t>(type) * profiles_ + static_cast<std::size_t>(a)) * profiles_ +
        static_cast<std::size_t>(b);
    return at < factors_.size() ? factors_[at] : unmeasured_;
  }

  double factor(const Platform& platform, const ActiveJob& job, std::uint32_t node,
                std::span<const ActiveJob* const> neighbours) const noexcept {
    const NodeShare* mine = detail::share_on(job, node);
    if (mine == nullptr || mine->devices == 0 || mine->profile != kNoMigProfile) return 1.0;
    const std::int32_t type = platform.nodes[node].type;
    double factor = 1000.0 / mine->share;
    for (const ActiveJob* other : neighbours)
      if ((detail::devices_on(*other, node) & mine->devices) != 0)
        factor *= pair(type, job.job.profile, other->job.profile);
    return factor;
  }

 private:
  std::vector<double> factors_;  // by type, profile, other profile
  std::size_t profiles_ = 0;
  double unmeasured_ = 0.5;
};

}  // namespace mara
