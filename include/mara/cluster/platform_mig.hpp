#pragma once
// Slices as a resource of a platform: how profiles are numbered, and demands for them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mara/cluster/mig.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The names of the profiles of all device types, each once, in the order of types and of their tables. A
/// profile's place in this list is its number in demands and placements: with one sliced type, its place in
/// the table.
inline std::vector<std::string> mig_profiles(const Platform& platform) {
  std::vector<std::string> names;
  for (const DeviceType& type : platform.types)
    if (type.mig)
      for (const MigProfile& profile : type.mig->profiles)
        if (std::find(names.begin(), names.end(), profile.name) == names.end()) names.push_back(profile.name);
  return names;
}

/// Number of the profile of that name; kNoMigProfile when no type has one.
inline std::int32_t find_mig_profile(const Platform& platform, std::string_view name) {
  const std::vector<std::string> names = mig_profiles(platform);
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? kNoMigProfile : static_cast<std::int32_t>(at - names.begin());
}

/// What profile number `profile` is on devices of `type`; null when they have none of that name.
inline const MigProfile* mig_profile(const Platform& platform, std::int32_t type,
                                     std::int32_t profile) noexcept {
  if (type < 0 || static_cast<std::size_t>(type) >= platform.types.size() || profile < 0) return nullptr;
  const auto& mig = platform.types[static_cast<std::size_t>(type)].mig;
  if (!mig) return nullptr;
  std::int32_t number = 0;
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    const auto& other = platform.types[t].mig;
    if (!other) continue;
    for (const MigProfile& candidate : other->profiles) {
      bool seen = false;
      for (std::size_t before = 0; before < t && !seen; ++before)
        seen = platform.types[before].mig && platform.types[before].mig->find(candidate.name) >= 0;
      if (seen || number++ != profile) continue;
      const int at = mig->find(candidate.name);
      return at >= 0 ? &mig->profiles[static_cast<std::size_t>(at)] : nullptr;
    }
  }
  return nullptr;
}

/// What a slice counts of its device, milli: its part of the compute slices, rounded down. At least 1.
inline std::int32_t mig_milli(const MigTable& table, const MigProfile& profile) noexcept {
  return 1000 * profile.compute / table.compute;
}

/// Speed of a slice, that of its device being 1: its part of the compute slices. 0 when the type has no such
/// profile.
inline double mig_speed(const Platform& platform, std::int32_t type, std::int32_t profile) noexcept {
  const MigProfile* slice = mig_profile(platform, type, profile);
  if (slice == nullptr) return 0.0;
  return static_cast<double>(slice->compute) /
         static_cast<double>(platform.types[static_cast<std::size_t>(type)].mig->compute);
}

/// A demand for `slices` slices of profile number `profile`, each on one device of any type that has the
/// profile. Errors (kInvalidArgument): a profile that no type has, fewer than one slice.
inline Result<PlacementDemand> slice_demand(const Platform& platform, std::int32_t profile,
                                            std::int32_t slices = 1) {
  PlacementDemand demand;
  demand.devices = slices;
  demand.profile = profile;
  demand.share = 999;  // no slice is a whole device, whatever it counts
  demand.types = 0;
  for (std::size_t t = 0; t < platform.types.size(); ++t) {
    const MigProfile* slice = mig_profile(platform, static_cast<std::int32_t>(t), profile);
    if (slice == nullptr) continue;
    demand.types |= std::uint32_t{1} << t;
    demand.share = std::min(demand.share, mig_milli(*platform.types[t].mig, *slice));
  }
  if (demand.types == 0)
    return Error{ErrorCode::kInvalidArgument,
                 "mig_profile: " + std::to_string(profile) + " is the number of no profile of the platform"};
  if (slices < 1)
    return Error{ErrorCode::kInvalidArgument,
                 "slices: " + std::to_string(slices) + " of mig_profile " + std::to_string(profile)};
  return demand;
}

/// The same for the profile of that name; the error lists the names that there are.
inline Result<PlacementDemand> slice_demand(const Platform& platform, std::string_view profile,
                                            std::int32_t slices = 1) {
  const std::int32_t number = find_mig_profile(platform, profile);
  if (number >= 0) return slice_demand(platform, number, slices);
  std::string names;
  for (const std::string& name : mig_profiles(platform)) names += (names.empty() ? "" : ", ") + name;
  return Error{ErrorCode::kInvalidArgument, "mig_profile: '" + std::string(profile) +
                                                "' is no profile of the platform, which has " +
                                                (names.empty() ? "no device type in slices" : names)};
}

}  // namespace mara
