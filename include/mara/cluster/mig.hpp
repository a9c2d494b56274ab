#pragma once
// Slices of one device: partitions that may begin at certain places only, as NVIDIA's MIG has them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"

namespace mara {

/// The most memory slices of a device.
inline constexpr int kMaxMemorySlices = 32;
/// The most compute slices of a device: none is too small for a milli-GPU.
inline constexpr int kMaxComputeSlices = 1000;
/// The most profiles of a device.
inline constexpr int kMaxMigProfiles = 64;

/// A size of slice.
struct MigProfile {
  std::string name;
  int compute = 1;            ///< compute slices
  int memory = 1;             ///< memory slices, in one run
  std::vector<int> starts{};  ///< memory slices at which it may begin
};

/// How a kind of device can be partitioned.
struct MigTable {
  std::string name;
  int compute = 0;  ///< compute slices of the device
  int memory = 0;   ///< memory slices of the device
  std::vector<MigProfile> profiles;

  /// Index of a profile; -1 when there is none of that name.
  int find(std::string_view profile) const noexcept {
    for (std::size_t p = 0; p < profiles.size(); ++p)
      if (profiles[p].name == profile) return static_cast<int>(p);
    return -1;
  }
};

/// A100 of 40 GB: 7 compute and 8 memory slices (NVIDIA, "Multi-Instance GPU user guide", placements of GPU
/// instance profiles).
inline MigTable mig_a100_40gb() {
  return {"a100-40gb",
          7,
          8,
          {{"1g", 1, 1, {0, 1, 2, 3, 4, 5, 6}},
           {"2g", 2, 2, {0, 2, 4}},
           {"3g", 3, 4, {0, 4}},
           {"4g", 4, 4, {0}},
           {"7g", 7, 8, {0}}}};
}

/// A30: 4 compute and 4 memory slices (the same guide).
inline MigTable mig_a30() {
  return {"a30", 4, 4, {{"1g", 1, 1, {0, 1, 2, 3}}, {"2g", 2, 2, {0, 2}}, {"4g", 4, 4, {0}}}};
}

/// Whether a table makes sense. Errors (kInvalidArgument) name the table, the profile and the value: slices
/// outside [1, kMaxMemorySlices] (compute slices: kMaxComputeSlices), more than kMaxMigProfiles profiles, one
/// without a name, or with that of another, or larger than the device, or without a start, or with one at
/// which it would not fit.
inline Status check_mig_table(const MigTable& table) {
  const auto bad = [&table](const std::string& what, int value) {
    return Error{ErrorCode::kInvalidArgument,
                 "MIG table '" + table.name + "': " + what + " is " + std::to_string(value)};
  };
  if (table.memory < 1 || table.memory > kMaxMemorySlices) return bad("memory", table.memory);
  if (table.compute < 1 || table.compute > kMaxComputeSlices) return bad("compute", table.compute);
  if (table.profiles.size() > static_cast<std::size_t>(kMaxMigProfiles))
    return bad("number of profiles", static_cast<int>(table.profiles.size()));
  for (std::size_t p = 0; p < table.profiles.size(); ++p) {
    const MigProfile& profile = table.profiles[p];
    const std::string what = "profile '" + profile.name + "': ";
    if (profile.name.empty() || table.find(profile.name) != static_cast<int>(p))
      return Error{ErrorCode::kInvalidArgument,
                   "MIG table '" + table.name + "': " + what +
                       (profile.name.empty() ? "there is no name" : "is there twice")};
    if (profile.memory < 1 || profile.memory > table.memory) return bad(what + "memory", profile.memory);
    if (profile.compute < 1 || profile.compute > table.compute) return bad(what + "compute", profile.compute);
    if (profile.starts.empty()) return bad(what + "number of starts", 0);
    for (const int start : profile.starts)
      if (start < 0 || start > table.memory - profile.memory) return bad(what + "start", start);
  }
  return {};
}

/// What is in use of a device: all on which it depends what fits. MigUse{}: nothing.
struct MigUse {
  std::uint32_t memory;  ///< memory slices, bit s for slice s
  std::int32_t compute;  ///< number of compute slices

  friend bool operator==(const MigUse&, const MigUse&) noexcept = default;
};

/// The memory slices of a slice of `profile` that begins at `start`.
inline std::uint32_t mig_bits(const MigProfile& profile, int start) noexcept {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << profile.memory) - 1) << start);
}

/// `use` and one slice more.
inline MigUse mig_with(MigUse use, const MigProfile& profile, int start) noexcept {
  return {use.memory | mig_bits(profile, start), use.compute + profile.compute};
}

/// Whether a slice could begin at `start`, one of the profile's starts.
inline bool mig_room(const MigTable& table, const MigProfile& profile, int start, MigUse use) noexcept {
  return (use.memory & mig_bits(profile, start)) == 0 && use.compute + profile.compute <= table.compute;
}

/// Whether a slice fits anywhere.
inline bool mig_fits(const MigTable& table, const MigProfile& profile, MigUse use) noexcept {
  for (const int start : profile.starts)
    if (mig_room(table, profile, start, use)) return true;
  return false;
}

/// Pairs of profile and start that are possible.
inline int mig_possibilities(const MigTable& table, MigUse use) noexcept {
  int count = 0;
  for (const MigProfile& profile : table.profiles)
    for (const int start : profile.starts) count += mig_room(table, profile, start, use) ? 1 : 0;
  return count;
}

/// A place for a slice, and how many pairs of profile and start are possible once it is taken.
struct MigStart {
  int start = -1;  ///< -1: there is none
  int left = -1;
};

/// Where a slice goes: of the starts at which it fits the one that leaves most pairs of profile and start
/// possible (ties: the lowest).
inline MigStart mig_best_start(const MigTable& table, const MigProfile& profile, MigUse use) noexcept {
  MigStart best;
  for (const int start : profile.starts) {
    if (!mig_room(table, profile, start, use)) continue;
    const int left = mig_possibilities(table, mig_with(use, profile, start));
    if (left > best.left || (left == best.left && start < best.start)) best = {start, left};
  }
  return best;
}

/// How many slices of one profile find a place one after another, at most `most`.
inline int mig_count(const MigTable& table, const MigProfile& profile, MigUse use, int most) noexcept {
  int count = 0;
  for (; count < most; ++count) {
    if (count + 1 == most) return count + (mig_fits(table, profile, use) ? 1 : 0);
    const int start = mig_best_start(table, profile, use).start;
    if (start < 0) break;
    use = mig_with(use, profile, start);
  }
  return count;
}

/// One device and the slices in use. A slice is named by the memory slice at which it begins. What fits, and
/// where it goes, depends on the memory slices in use and the number of compute slices in use, not on how it
/// came to that.
class MigDevice {
 public:
  /// The table must pass check_mig_table.
  explicit MigDevice(MigTable table)
      : table_(std::move(table)), held_(static_cast<std::size_t>(table_.memory), kNone) {}

  const MigTable& table() const noexcept { return table_; }
  const MigUse& use() const noexcept { return use_; }
  /// Memory slices in use, bit s for slice s.
  std::uint32_t used_memory() const noexcept { return use_.memory; }
  int used_compute() const noexcept { return use_.compute; }
  bool empty() const noexcept { return use_.memory == 0; }
  /// Profile of the slice that begins at `start`; -1 when none does.
  int held(int start) const noexcept {
    return start >= 0 && start < table_.memory ? held_[static_cast<std::size_t>(start)] : kNone;
  }
  /// Whether a slice of `profile` could begin at `start` now.
  bool fits(int profile, int start) const noexcept {
    if (!known(profile)) return false;
    for (const int legal : of(profile).starts)
      if (legal == start) return mig_room(table_, of(profile), start, use_);
    return false;
  }
  /// Pairs of profile and start that are possible now.
  int possibilities() const noexcept { return mig_possibilities(table_, use_); }

  /// Where a slice of `profile` would go (mig_best_start). Nothing when it fits nowhere, or for a profile
  /// that is not in the table.
  std::optional<int> find(int profile) const noexcept {
    if (!known(profile)) return std::nullopt;
    const int start = mig_best_start(table_, of(profile), use_).start;
    return start >= 0 ? std::optional(start) : std::nullopt;
  }
  /// Takes a slice where find() says.
  std::optional<int> place(int profile) noexcept {
    const std::optional<int> start = find(profile);
    if (start) take(profile, *start);
    return start;
  }
  /// Takes a slice at `start`; false, and no change, when it does not fit there.
  bool place_at(int profile, int start) noexcept {
    if (!fits(profile, start)) return false;
    take(profile, start);
    return true;
  }
  /// Gives back the slice that begins at `start`; false, and no change, when none does.
  bool release(int start) noexcept {
    const int profile = held(start);
    if (profile == kNone) return false;
    use_.memory &= ~mig_bits(of(profile), start);
    use_.compute -= of(profile).compute;
    held_[static_cast<std::size_t>(start)] = kNone;
    return true;
  }

 private:
  static constexpr int kNone = -1;

  bool known(int profile) const noexcept {
    return profile >= 0 && static_cast<std::size_t>(profile) < table_.profiles.size();
  }
  const MigProfile& of(int profile) const noexcept {
    return table_.profiles[static_cast<std::size_t>(profile)];
  }
  void take(int profile, int start) noexcept {
    use_ = mig_with(use_, of(profile), start);
    held_[static_cast<std::size_t>(start)] = profile;
  }

  MigTable table_;
  std::vector<int> held_;  // by start
  MigUse use_{};
};

}  // namespace mara
