#pragma once
// The text form of a cluster, for command lines and reports.

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "mara/cluster/cluster.hpp"
#include "mara/core/extremes.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

namespace detail {

struct KnownGpu {
  std::string_view name;
  std::int64_t memory_mib;
};
// Device memory as the vendor sells it, GiB x 1024. The openb trace does not disclose its types g1, g2 and
// g3; after their hosts they are taken for a t4, an a10 and an a100.
inline constexpr std::array<KnownGpu, 27> kKnownGpus{{
    {"h200", 141 * 1024},   {"h100", 80 * 1024},     {"h800", 80 * 1024},     {"h20", 96 * 1024},
    {"a100", 80 * 1024},    {"a100-80g", 80 * 1024}, {"a100-40g", 40 * 1024}, {"a800", 80 * 1024},
    {"a40", 48 * 1024},     {"a30", 24 * 1024},      {"a10", 24 * 1024},      {"l40", 48 * 1024},
    {"l40s", 48 * 1024},    {"l4", 24 * 1024},       {"v100", 32 * 1024},     {"v100m32", 32 * 1024},
    {"v100m16", 16 * 1024}, {"p100", 16 * 1024},     {"p40", 24 * 1024},      {"t4", 16 * 1024},
    {"k80", 12 * 1024},     {"m40", 24 * 1024},      {"rtx3090", 24 * 1024},  {"rtx4090", 24 * 1024},
    {"g1", 16 * 1024},      {"g2", 24 * 1024},       {"g3", 80 * 1024},
}};

/// Device memory in MiB of a known type; -1 for another name.
inline std::int64_t known_gpu_memory(std::string_view name) noexcept {
  for (const KnownGpu& known : kKnownGpus) {
    if (known.name.size() != name.size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < name.size(); ++i)
      same = same && std::tolower(static_cast<unsigned char>(name[i])) == known.name[i];
    if (same) return known.memory_mib;
  }
  return -1;
}

/// A whole number without sign; -1 for anything else.
inline std::int64_t parse_count(std::string_view text) noexcept {
  if (text.empty() || text[0] < '0' || text[0] > '9') return -1;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return -1;
  return value;
}

/// "24G", "512M" or "1T" in MiB, at most 2^40 MiB; -1 for anything else.
inline std::int64_t parse_memory(std::string_view text) noexcept {
  if (text.size() < 2) return -1;
  const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  const std::int64_t scale = unit == 'M' ? 1 : unit == 'G' ? 1024 : unit == 'T' ? 1024 * 1024 : 0;
  const std::int64_t value = parse_count(text.substr(0, text.size() - 1));
  if (scale == 0 || value < 0 || value > (std::int64_t{1} << 40) / scale) return -1;
  return value * scale;
}

/// "96c" or "7.5c" as milli-CPU: at most three decimals, at most 10^9 cores; -1 for anything else.
inline std::int64_t parse_cores(std::string_view text) noexcept {
  if (text.size() < 2 || text.back() != 'c') return -1;
  text.remove_suffix(1);
  const std::size_t dot = text.find('.');
  const std::int64_t whole = parse_count(text.substr(0, dot));
  if (whole < 0 || whole > 1'000'000'000) return -1;
  std::int64_t thousandths = 0;
  if (dot != std::string_view::npos) {
    const std::string_view digits = text.substr(dot + 1);
    const std::int64_t value = parse_count(digits);
    if (value < 0 || digits.size() > 3) return -1;
    thousandths = value * (digits.size() == 1 ? 100 : digits.size() == 2 ? 10 : 1);
  }
  return whole * 1000 + thousandths;
}

inline std::string memory_text(std::int64_t mib) {
  return mib % 1024 == 0 ? std::to_string(mib / 1024) + "G" : std::to_string(mib) + "M";
}

inline std::string cores_text(Milli cpu) {
  std::string text = std::to_string(cpu.value / 1000);
  if (!cpu.is_whole()) {
    const std::string digits = std::to_string(1000 + cpu.value % 1000);  // keeps the leading zeros
    text += "." + digits.substr(1);
  }
  return text + "c";
}

inline Result<GpuType> parse_gpu_type(std::string_view part) {
  const auto bad = [part](const std::string& why, ErrorCode code = ErrorCode::kParse) {
    return Error{code, "cluster '" + std::string(part) + "': " + why};
  };
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos) return bad("expected name:NODESxGPUS, such as a100:2x8");
  std::string_view name = part.substr(0, colon), counts = part.substr(colon + 1), host;
  if (const std::size_t slash = counts.find('/'); slash != std::string_view::npos) {
    host = counts.substr(slash + 1);
    counts = counts.substr(0, slash);
    if (host.empty()) return bad("nothing after '/'");
  }

  GpuType type;
  std::int64_t memory = -1;
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    memory = parse_memory(name.substr(at + 1));
    if (memory < 0)
      return bad("device memory '" + std::string(name.substr(at + 1)) + "' is not a number with M, G or T");
    name = name.substr(0, at);
  } else {
    memory = known_gpu_memory(name);
  }
  if (name.empty()) return bad("the type has no name");
  for (const char c : name)
    if (std::isgraph(static_cast<unsigned char>(c)) == 0 || c == '/' || c == '"')
      return bad("the name may hold no space, '/' or '\"'");
  if (memory < 0)
    return bad("unknown type '" + std::string(name) + "' needs its device memory: " + std::string(name) +
               "@24G:...");
  type.name = std::string(name);
  type.gpu_memory_mib = memory;

  const std::size_t times = counts.find('x');
  const std::int64_t nodes = parse_count(counts.substr(0, times));
  const std::int64_t gpus = times == std::string_view::npos ? -1 : parse_count(counts.substr(times + 1));
  if (nodes < 0 || gpus < 0) return bad("'" + std::string(counts) + "' is not NODESxGPUS, such as 2x8");
  if (nodes == 0 || gpus == 0) return bad("a count is zero", ErrorCode::kInvalidArgument);
  if (nodes > kMaxGpusPerType || gpus > kMaxGpusPerType || nodes * gpus > kMaxGpusPerType)
    return bad("more than " + std::to_string(kMaxGpusPerType) + " GPUs", ErrorCode::kInvalidArgument);
  type.nodes = static_cast<int>(nodes);
  type.gpus_per_node = static_cast<int>(gpus);

  type.cpu_per_node = kDefaultCpuPerNode;
  type.memory_mib_per_node = kDefaultMemoryMibPerNode;
  if (!host.empty()) {
    const std::size_t slash = host.find('/');
    const std::int64_t cpu = parse_cores(host.substr(0, slash));
    if (cpu < 0) return bad("host CPU '" + std::string(host.substr(0, slash)) + "' is not cores such as 96c");
    type.cpu_per_node = Milli{cpu};
    if (slash != std::string_view::npos) {
      const std::int64_t host_memory = parse_memory(host.substr(slash + 1));
      if (host_memory < 0)
        return bad("host memory '" + std::string(host.substr(slash + 1)) +
                   "' is not a number with M, G or T");
      type.memory_mib_per_node = host_memory;
    }
  }
  return type;
}

}  // namespace detail

/// Parses the text form "a100:2x8,v100:2x8,t4:2x8" (type:nodes x GPUs per node). Known types carry their
/// device memory (a100 80 GiB, v100 32 GiB, t4 16 GiB, ...); an unknown name needs it: "mygpu@24G:2x8". Host
/// cores and memory of a node may follow, "t4:2x8/64c/512G"; without them a node has kDefaultCpuPerNode and
/// kDefaultMemoryMibPerNode. Types are kept in the given order, which should be fastest first.
/// Errors: kParse with the offending part; kInvalidArgument for more than kMaxGpuTypes types, a zero count,
/// more than kMaxGpusPerType GPUs, or a name given twice.
inline Result<Cluster> parse_cluster(std::string_view text) {
  Cluster cluster;
  if (text.empty()) return Error{ErrorCode::kParse, "cluster: empty text, expected such as a100:2x8"};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = smaller(text.find(',', begin), text.size());
    auto type = detail::parse_gpu_type(text.substr(begin, comma - begin));
    if (!type) return type.error();
    cluster.types.push_back(std::move(type).value());
    begin = comma + 1;
  }
  if (auto status = check_cluster(cluster); !status) return status.error();
  return cluster;
}

/// The text form that parse_cluster reads back; leaves out what parse_cluster would fill in.
inline std::string to_string(const Cluster& cluster) {
  std::string text;
  for (const GpuType& type : cluster.types) {
    if (!text.empty()) text += ',';
    text += type.name;
    if (detail::known_gpu_memory(type.name) != type.gpu_memory_mib)
      text += "@" + detail::memory_text(type.gpu_memory_mib);
    text += ":" + std::to_string(type.nodes) + "x" + std::to_string(type.gpus_per_node);
    const bool usual_memory = type.memory_mib_per_node == kDefaultMemoryMibPerNode;
    if (type.cpu_per_node != kDefaultCpuPerNode || !usual_memory)
      text += "/" + detail::cores_text(type.cpu_per_node);
    if (!usual_memory) text += "/" + detail::memory_text(type.memory_mib_per_node);
  }
  return text;
}

}  // namespace mara
