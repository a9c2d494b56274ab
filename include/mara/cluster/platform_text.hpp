#pragma once
// The text form of a platform, for command lines and reports.

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/cluster/cluster_text.hpp"
#include "mara/cluster/mig.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The most nodes of a platform in text form.
inline constexpr std::int64_t kMostNodesInText = 1'000'000;

namespace detail {

struct KnownPower {
  std::string_view name;
  double busy_w;
};
// Board power as the vendors state it (of one of a k80's two devices, half), watts. What an idle device draws
// is not stated: kIdleShare of it is an assumption of this library.
inline constexpr std::array<KnownPower, 23> kKnownPower{{
    {"h200", 700},     {"h100", 700}, {"h800", 700}, {"h20", 400},     {"a100", 400},    {"a100-80g", 400},
    {"a100-40g", 400}, {"a800", 400}, {"a40", 300},  {"a30", 165},     {"a10", 150},     {"l40", 300},
    {"l40s", 350},     {"l4", 72},    {"v100", 300}, {"v100m32", 300}, {"v100m16", 300}, {"p100", 250},
    {"p40", 250},      {"t4", 70},    {"k80", 150},  {"m40", 250},     {"rtx3090", 350},
}};
inline constexpr double kIdleShare = 0.15;

/// Memory and power of a type whose name is known; zeros for others.
inline DeviceType known_device_type(std::string name) {
  DeviceType type;
  type.memory_mib = std::max<std::int64_t>(0, known_gpu_memory(name));
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const KnownPower& known : kKnownPower) {
    if (known.name != lower) continue;
    type.busy_w = known.busy_w;
    type.idle_w = kIdleShare * known.busy_w;
  }
  type.name = std::move(name);
  return type;
}

/// How devices of that name are sliced, whatever follows a '-' in it; nothing for names that are not known.
/// (NVIDIA, "Multi-Instance GPU user guide": the profiles that all of the larger ones have.)
inline std::optional<MigTable> known_mig_table(std::string_view name) {
  std::string lower(name.substr(0, name.find('-')));
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* same : {"a100", "a800", "h100", "h800", "h200"})
    if (lower == same) return mig_a100_40gb();
  if (lower == "a30") return mig_a30();
  return std::nullopt;
}

/// One part of a platform's text: nodes of one kind.
struct PlatformPart {
  DeviceType type;
  bool has_memory = false, has_price = false, named = false;
  std::int64_t nodes = 0, devices = 0, rack_nodes = 0;  ///< rack_nodes 0: one rack
  Milli cpu{};
  std::int64_t memory_mib = 0;
};

/// "16c64G", "16c" or "64G"; false for anything else.
inline bool parse_host(std::string_view text, PlatformPart& part) {
  const std::size_t c = text.find('c');
  if (c != std::string_view::npos) {
    const std::int64_t cores = parse_cores(text.substr(0, c + 1));
    if (cores < 0 || cores > kMostOfANode) return false;
    part.cpu = Milli{cores};
    text.remove_prefix(c + 1);
    if (text.empty()) return true;
  }
  part.memory_mib = parse_memory(text);
  return part.memory_mib >= 0;
}

inline Result<PlatformPart> parse_platform_part(std::string_view text) {
  const auto bad = [text](const std::string& why, ErrorCode code = ErrorCode::kParse) {
    return Error{code, "platform '" + std::string(text) + "': " + why};
  };
  const auto show = [](std::string_view piece) { return "'" + std::string(piece) + "'"; };
  PlatformPart part;
  std::string_view rest = text;
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const std::string_view racks = rest.substr(slash + 1);
    part.rack_nodes = parse_count(racks);
    if (part.rack_nodes < 1) return bad("nodes of a rack: " + show(racks) + " is not a number above 0");
    rest = rest.substr(0, slash);
  }

  // [type:]counts[:host]; counts begin with a digit and hold an x, which no known type's name does.
  const auto is_counts = [](std::string_view piece) {
    const std::size_t x = piece.find('x');
    return x != std::string_view::npos && parse_count(piece.substr(0, x)) >= 0;
  };
  std::string_view name, counts = rest.substr(0, rest.find(':'));
  if (!is_counts(counts) && counts.size() < rest.size()) {
    name = counts;
    rest.remove_prefix(counts.size() + 1);
    counts = rest.substr(0, rest.find(':'));
    part.named = true;
  }
  const std::size_t times = counts.find('x');
  part.nodes = parse_count(counts.substr(0, times));
  part.devices = times == std::string_view::npos ? -1 : parse_count(counts.substr(times + 1));
  if (part.nodes < 0 || part.devices < 0) return bad(show(counts) + " is not NODESxDEVICES, such as 8x8");
  if (part.nodes == 0) return bad("there are 0 nodes", ErrorCode::kInvalidArgument);
  if (part.nodes > kMostNodesInText)
    return bad("more than " + std::to_string(kMostNodesInText) + " nodes", ErrorCode::kInvalidArgument);
  if (part.devices > kMaxDevicesPerNode)
    return bad(
        std::to_string(part.devices) + " devices a node, at most " + std::to_string(kMaxDevicesPerNode),
        ErrorCode::kInvalidArgument);
  rest.remove_prefix(counts.size());
  if (!rest.empty()) {
    rest.remove_prefix(1);
    if (!parse_host(rest, part))
      return bad("host resources " + show(rest) + " are not cores and memory, such as 16c64G");
  }

  double price = 0.0;
  if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
    const std::string_view digits = name.substr(equals + 1);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), price);
    if (code != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(price) || price < 0.0)
      return bad("price " + show(digits) + " is not a number of at least 0");
    part.has_price = true;
    name = name.substr(0, equals);
  }
  std::int64_t memory = -1;
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    memory = parse_memory(name.substr(at + 1));
    if (memory < 0)
      return bad("device memory " + show(name.substr(at + 1)) + " is not a number with M, G or T");
    part.has_memory = true;
    name = name.substr(0, at);
  }
  std::optional<MigTable> mig;
  if (const std::size_t percent = name.find('%'); percent != std::string_view::npos) {
    if (name.substr(percent) != "%mig") return bad("slicing " + show(name.substr(percent)) + " is not %mig");
    name = name.substr(0, percent);
    mig = known_mig_table(name);
    if (!mig)
      return bad("type " + show(name) +
                     " is not known to be given in slices (%mig), as a100, a800, h100, h800, "
                     "h200 and a30 are",
                 ErrorCode::kInvalidArgument);
  }
  if (part.named && name.empty()) return bad("the type has no name");
  for (const char c : name)
    if (std::isgraph(static_cast<unsigned char>(c)) == 0 || c == '"' || c == ';')
      return bad("the name may hold no space, ';' or '\"'");
  part.type = known_device_type(part.named ? std::string(name) : std::string("gpu"));
  if (part.has_memory) part.type.memory_mib = memory;
  part.type.price_per_hour = price;
  part.type.mig = std::move(mig);
  return part;
}

}  // namespace detail

/// Parses the text form of a platform: parts separated by commas, each
/// [TYPE[%mig][@MEMORY][=PRICE]:]NODESxDEVICES[:[CORES c][MEMORY]][/RACK], such as "8x8", "32x1",
/// "v100:8x8,p100:4x4:16c64G", "a100%mig:2x4" or "a100@40G=2.5:16x8:96c1T/4".
/// - TYPE names the devices ("gpu" when there is none), MEMORY is that of one device (known for usual names,
///   else unknown), PRICE is for one device and hour. Power is known for usual names, else 0. Parts may share
///   a type; types are in order of first use.
/// - %mig: devices are given whole or in slices, never in fractions; for a100, a800, h100, h800 and h200 the
///   profiles 1g, 2g, 3g, 4g and 7g, for a30 1g, 2g and 4g, also with something behind a '-'
///   ("a100-80g%mig").
/// - Host cores and memory of a node may follow; without them it has none, and jobs should ask for none.
/// - RACK is the number of nodes in a rack; without it a part is one rack. Each part begins a new rack.
/// Nodes are in the order of the text, named "0", "1", ... or "TYPE-0", "TYPE-1", ...; those with 0 devices
/// have no type. Errors, with the part: kParse; kInvalidArgument for no node, too many nodes, devices or
/// types, a type whose memory or price is given twice, or that is %mig in one part alone, or whose slices are
/// not known.
inline Result<Platform> parse_platform(std::string_view text) {
  if (text.empty()) return Error{ErrorCode::kParse, "platform: empty text, expected such as 8x8"};
  Platform platform;
  std::vector<std::int64_t> named;  // nodes of a type so far
  std::int64_t plain = 0;
  std::int32_t rack = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = smaller(text.find(',', begin), text.size());
    auto parsed = detail::parse_platform_part(text.substr(begin, comma - begin));
    if (!parsed) return parsed.error();
    const detail::PlatformPart& part = *parsed;
    std::size_t type = 0;
    while (type < platform.types.size() && platform.types[type].name != part.type.name) ++type;
    if (part.devices == 0 && !part.named) {
      type = 0;  // says nothing about a type
    } else if (type == platform.types.size()) {
      platform.types.push_back(part.type);
      named.push_back(0);
    } else if (part.type.mig.has_value() != platform.types[type].mig.has_value()) {
      return Error{ErrorCode::kInvalidArgument,
                   "platform '" + std::string(text.substr(begin, comma - begin)) + "': type '" +
                       part.type.name + "' is %mig in one part and not in another"};
    } else if ((part.has_memory && part.type.memory_mib != platform.types[type].memory_mib) ||
               (part.has_price && part.type.price_per_hour != platform.types[type].price_per_hour)) {
      return Error{ErrorCode::kInvalidArgument,
                   "platform '" + std::string(text.substr(begin, comma - begin)) + "': type '" +
                       part.type.name + "' has another memory or price in an earlier part"};
    }
    if (static_cast<std::int64_t>(platform.nodes.size()) + part.nodes > kMostNodesInText)
      return Error{ErrorCode::kInvalidArgument,
                   "platform '" + std::string(text.substr(begin, comma - begin)) + "': more than " +
                       std::to_string(kMostNodesInText) + " nodes in all"};
    for (std::int64_t n = 0; n < part.nodes; ++n) {
      Node node;
      node.name = part.named ? part.type.name + "-" + std::to_string(named[type]++) : std::to_string(plain++);
      node.type = part.devices > 0 ? static_cast<std::int32_t>(type) : kNoDeviceType;
      node.devices = static_cast<std::int32_t>(part.devices);
      node.cpu = part.cpu;
      node.memory_mib = part.memory_mib;
      node.rack = rack + static_cast<std::int32_t>(part.rack_nodes > 0 ? n / part.rack_nodes : 0);
      platform.nodes.push_back(std::move(node));
    }
    rack = platform.nodes.back().rack + 1;
    begin = comma + 1;
  }
  if (auto status = check_platform(platform); !status) return status.error();
  return platform;
}

/// A short description: runs of equal nodes, such as "8 x 8 v100, 4 x 4 p100" (nodes x devices).
inline std::string describe(const Platform& platform) {
  std::string text;
  for (std::size_t n = 0; n < platform.nodes.size();) {
    const Node& first = platform.nodes[n];
    std::size_t end = n;
    while (end < platform.nodes.size() && platform.nodes[end].type == first.type &&
           platform.nodes[end].devices == first.devices)
      ++end;
    if (!text.empty()) text += ", ";
    text += std::to_string(end - n) + " x " + std::to_string(first.devices) + " ";
    text += first.type >= 0 ? platform.types[static_cast<std::size_t>(first.type)].name : "devices";
    if (first.type >= 0 && platform.types[static_cast<std::size_t>(first.type)].mig) text += "%mig";
    n = end;
  }
  return text;
}

}  // namespace mara
