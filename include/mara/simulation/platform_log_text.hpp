#pragma once
// Placements and jobs as text for the logs of a platform simulation.

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// The nodes of a placement, runs of them as ranges: "0 4-6"; empty for none.
inline std::string nodes_text(const Placement& placement) {
  std::string text;
  for (std::size_t i = 0; i < placement.shares.size();) {
    std::size_t end = i + 1;
    while (end < placement.shares.size() && placement.shares[end].node - placement.shares[end - 1].node <= 1)
      ++end;
    if (!text.empty()) text += ' ';
    const std::uint32_t first = placement.shares[i].node, last = placement.shares[end - 1].node;
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
    i = end;
  }
  return text;
}

/// All of a placement, its shares separated by blanks: NODE:DEVICES[*SHARE][%PROFILE@START][/CPU/MEMORY] with
/// the devices as ranges joined by '+' ("0-3+5"; empty for none), the share of each in milli (when not 1000),
/// of a slice the number of its profile and the memory slice at which it begins, CPU in milli and memory in
/// MiB (when not both 0): "0:0-7 3:0-1+4/4000/16384", "2:5*460", "0:3*428%2@4".
inline std::string placement_text(const Placement& placement) {
  std::string text;
  for (const NodeShare& share : placement.shares) {
    if (!text.empty()) text += ' ';
    text += std::to_string(share.node) + ':';
    bool first = true;
    for (int d = 0; d < kMaxDevicesPerNode;) {
      if (((share.devices >> d) & 1u) == 0) {
        ++d;
        continue;
      }
      int end = d;
      while (end + 1 < kMaxDevicesPerNode && ((share.devices >> (end + 1)) & 1u) != 0) ++end;
      if (!first) text += '+';
      first = false;
      text += std::to_string(d);
      if (end > d) text += '-' + std::to_string(end);
      d = end + 1;
    }
    if (share.share != 1000) text += '*' + std::to_string(share.share);
    if (share.profile != kNoMigProfile)
      text += '%' + std::to_string(share.profile) + '@' + std::to_string(share.start);
    if (share.cpu.value != 0 || share.memory_mib != 0)
      text += '/' + std::to_string(share.cpu.value) + '/' + std::to_string(share.memory_mib);
  }
  return text;
}

namespace detail {

/// Takes a whole number in [0, most] from the front of `text`; -1 and no change when there is none.
inline std::int64_t take_count(std::string_view& text, std::int64_t most) {
  std::int64_t value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || text[0] == '-' || value > most) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}
inline bool take_char(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

/// The largest number of a profile.
inline constexpr std::int32_t kMostMigNumber = kMaxDeviceTypes * kMaxMigProfiles - 1;

/// Whether a share may come next in a placement: of a later node, or a further slice on the same.
inline bool follows(const NodeShare& last, const NodeShare& share) noexcept {
  if (share.node != last.node) return share.node > last.node;
  return share.profile != kNoMigProfile && last.profile != kNoMigProfile;
}

/// One share of placement_text; false for anything else.
inline bool parse_node_share(std::string_view text, NodeShare& share) {
  const std::int64_t node = take_count(text, std::numeric_limits<std::int32_t>::max());
  if (node < 0 || !take_char(text, ':')) return false;
  share.node = static_cast<std::uint32_t>(node);
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    do {
      const std::int64_t first = take_count(text, kMaxDevicesPerNode - 1);
      const std::int64_t last = take_char(text, '-') ? take_count(text, kMaxDevicesPerNode - 1) : first;
      if (first < 0 || last < first) return false;
      for (std::int64_t d = first; d <= last; ++d) share.devices |= std::uint64_t{1} << d;
    } while (take_char(text, '+'));
  }
  if (take_char(text, '*')) {
    const std::int64_t milli = take_count(text, 1000);
    if (milli < 1) return false;
    share.share = static_cast<std::int32_t>(milli);
  }
  if (take_char(text, '%')) {
    const std::int64_t profile = take_count(text, kMostMigNumber);
    const std::int64_t start = take_char(text, '@') ? take_count(text, kMaxMemorySlices - 1) : -1;
    if (profile < 0 || start < 0 || share.devices == 0) return false;
    share.profile = static_cast<std::int32_t>(profile);
    share.start = static_cast<std::int32_t>(start);
  }
  if (take_char(text, '/')) {
    share.cpu.value = take_count(text, kMostOfANode);
    if (share.cpu.value < 0 || !take_char(text, '/')) return false;
    share.memory_mib = take_count(text, kMostOfANode);
    if (share.memory_mib < 0) return false;
  }
  return text.empty();
}

}  // namespace detail

/// Reads placement_text back. Errors: kParse with the text.
inline Result<Placement> parse_placement(std::string_view text) {
  Placement placement;
  const auto bad = [text] {
    return Error{ErrorCode::kParse, "placement: " + detail::quoted(text) + " is not such as 0:0-3 4:1*500"};
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t blank = rest.find(' ');
    NodeShare share;
    if (!detail::parse_node_share(rest.substr(0, blank), share)) return bad();
    if (!placement.shares.empty() && !detail::follows(placement.shares.back(), share)) return bad();
    placement.shares.push_back(share);
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  return placement;
}

namespace detail {

/// Numbers joined by ';', as many as are asked for.
inline std::string join_numbers(const double* values, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ";") + format_number(values[i]);
  return text;
}

/// Reads at most `most` numbers joined by ';' into `values`; -1 for anything else, else how many.
inline int split_numbers(std::string_view text, double* values, int most) {
  int count = 0;
  for (bool more = !text.empty(); more; ++count) {
    if (count == most) return -1;
    const std::size_t end = text.find(';');
    const auto number = parse_double(text.substr(0, end), "");
    if (!number || *number < 0.0) return -1;
    values[count] = *number;
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return count;
}

/// "power:0.9", "amdahl:0.95" or "table:1;1.9;...".
inline std::string speed_up_text(const SpeedUp& speed_up) {
  if (speed_up.kind == SpeedUp::Kind::kTable && speed_up.table != nullptr)
    return "table:" + join_numbers(speed_up.table->at.data(), speed_up.table->at.size());
  return (speed_up.kind == SpeedUp::Kind::kAmdahl ? "amdahl:" : "power:") + format_number(speed_up.parameter);
}

/// Reads it back; a table goes to `table`, which must outlive the result. False for anything else.
inline bool parse_speed_up(std::string_view text, SpeedUp& speed_up, SpeedUpTable& table) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view kind = text.substr(0, colon), numbers = text.substr(colon + 1);
  speed_up = {};
  if (kind == "table") {
    speed_up.kind = SpeedUp::Kind::kTable;
    speed_up.table = &table;
    return split_numbers(numbers, table.at.data(), static_cast<int>(table.at.size())) ==
           static_cast<int>(table.at.size());
  }
  if (kind != "power" && kind != "amdahl") return false;
  speed_up.kind = kind == "amdahl" ? SpeedUp::Kind::kAmdahl : SpeedUp::Kind::kPower;
  return split_numbers(numbers, &speed_up.parameter, 1) == 1;
}

/// Speeds by device type up to the last that is not 0.
inline std::size_t used_speeds(const Job& job) noexcept {
  std::size_t count = job.type_speed.size();
  while (count > 0 && job.type_speed[count - 1] == 0.0) --count;
  return count;
}

}  // namespace detail
}  // namespace mara
