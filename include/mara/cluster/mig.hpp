#pragma once
// Slices of one device: partitions that may begin at certain places only, as NVIDIA's MIG has them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"

namespace mara {

/// The most memory slices of a device.
inline constexpr int kMaxMemorySlices = 32;

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
  int find(const std::string& profile) const noexcept {
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

/// Whether a table makes sense. Errors (kInvalidArgument) name the table, the profile and the value: slices
/// outside [1, kMaxMemorySlices], a profile larger than the device, without a start, or with one at which it
/// would not fit.
inline Status check_mig_table(const MigTable& table) {
  const auto bad = [&table](const std::string& what, int value) {
    return Error{ErrorCode::kInvalidArgument,
                 "MIG table '" + table.name + "': " + what + " is " + std::to_string(value)};
  };
  if (table.memory < 1 || table.memory > kMaxMemorySlices) return bad("memory", table.memory);
  if (table.compute < 1) return bad("compute", table.compute);
  for (const MigProfile& profile : table.profiles) {
    const std::string what = "profile '" + profile.name + "': ";
    if (profile.memory < 1 || profile.memory > table.memory) return bad(what + "memory", profile.memory);
    if (profile.compute < 1 || profile.compute > table.compute) return bad(what + "compute", profile.compute);
    if (profile.starts.empty()) return bad(what + "number of starts", 0);
    for (const int start : profile.starts)
      if (start < 0 || start > table.memory - profile.memory) return bad(what + "start", start);
  }
  return {};
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
  /// Memory slices in use, bit s for slice s.
  std::uint32_t used_memory() const noexcept { return used_; }
  int used_compute() const noexcept { return compute_; }
  bool empty() const noexcept { return used_ == 0; }
  /// Profile of the slice that begins at `start`; -1 when none does.
  int held(int start) const noexcept {
    return start >= 0 && start < table_.memory ? held_[static_cast<std::size_t>(start)] : kNone;
  }
  /// Whether a slice of `profile` could begin at `start` now.
  bool fits(int profile, int start) const noexcept {
    if (!known(profile)) return false;
    const MigProfile& p = of(profile);
    for (const int legal : p.starts)
      if (legal == start) return fits(p, start, used_, compute_);
    return false;
  }
  /// Pairs of profile and start that are possible now.
  int possibilities() const noexcept { return possibilities(used_, compute_); }

  /// Where a slice of `profile` would go: of the starts at which it fits the one that leaves most pairs of
  /// profile and start possible afterwards (ties: the lowest). Nothing when it fits nowhere, or for a profile
  /// that is not in the table.
  std::optional<int> find(int profile) const noexcept {
    if (!known(profile)) return std::nullopt;
    const MigProfile& p = of(profile);
    std::optional<int> best;
    int most = -1;
    for (const int start : p.starts) {
      if (!fits(p, start, used_, compute_)) continue;
      const int left = possibilities(used_ | bits(p, start), compute_ + p.compute);
      if (left < most || (left == most && start > *best)) continue;
      most = left;
      best = start;
    }
    return best;
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
    used_ &= ~bits(of(profile), start);
    compute_ -= of(profile).compute;
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
  static std::uint32_t bits(const MigProfile& profile, int start) noexcept {
    return static_cast<std::uint32_t>(((std::uint64_t{1} << profile.memory) - 1) << start);
  }
  bool fits(const MigProfile& profile, int start, std::uint32_t used, int compute) const noexcept {
    return (used & bits(profile, start)) == 0 && compute + profile.compute <= table_.compute;
  }
  int possibilities(std::uint32_t used, int compute) const noexcept {
    int count = 0;
    for (const MigProfile& profile : table_.profiles)
      for (const int start : profile.starts) count += fits(profile, start, used, compute) ? 1 : 0;
    return count;
  }
  void take(int profile, int start) noexcept {
    used_ |= bits(of(profile), start);
    compute_ += of(profile).compute;
    held_[static_cast<std::size_t>(start)] = profile;
  }

  MigTable table_;
  std::vector<int> held_;  // by start
  std::uint32_t used_ = 0;
  int compute_ = 0;
};

}  // namespace mara
