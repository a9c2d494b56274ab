#pragma once
// The bytes of the binary log of a platform simulation; its format is described in platform_log_binary.hpp.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <string>
#include <string_view>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/checksum.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/platform_log_text.hpp"

namespace mara {
namespace detail {

inline constexpr std::string_view kPlatformLogMagic = "MARALOG\n";

enum LogFlag : std::uint64_t {
  kFlagFinished = 1u << 0,
  kFlagRejected = 1u << 1,
  kFlagStarted = 1u << 2,
  kFlagEntered = 1u << 3,
  kFlagExecuted = 1u << 4,
  kFlagOverhead = 1u << 5,
  kFlagLost = 1u << 6,
  kFlagMoves = 1u << 7,
  kFlagDeadline = 1u << 8,
  kFlagTenant = 1u << 9,
  kFlagSla = 1u << 10,
  kFlagSpeedUp = 1u << 11,
  kFlagSpeeds = 1u << 12,
  kFlagSlices = 1u << 13,
  kAllFlags = (1u << 14) - 1,
};

/// Bytes of a record.
class LogBytes {
 public:
  void clear() noexcept { bytes_.clear(); }
  const std::string& bytes() const noexcept { return bytes_; }
  void byte(unsigned value) { bytes_ += static_cast<char>(static_cast<unsigned char>(value)); }
  void fixed(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) byte(static_cast<unsigned>(value >> (8 * i) & 0xffu));
  }
  void number(double value) { fixed(std::bit_cast<std::uint64_t>(value), 8); }
  void count(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<unsigned>(value & 0x7fu) | 0x80u);
    byte(static_cast<unsigned>(value));
  }
  void signed_count(std::int64_t value) {
    count((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void placement(const Placement& placement) {
    count(placement.shares.size());
    for (const NodeShare& share : placement.shares) {
      count(share.node);
      if (share.profile != kNoMigProfile) {
        count(0);
        count(static_cast<std::uint64_t>(share.profile));
        count(static_cast<std::uint64_t>(share.start));
      }
      count(static_cast<std::uint64_t>(share.share));
      fixed(share.devices, 8);
      count(static_cast<std::uint64_t>(share.cpu.value));
      count(static_cast<std::uint64_t>(share.memory_mib));
    }
  }

 private:
  std::string bytes_;
};

/// Reads what LogBytes wrote; notes the first thing that cannot be.
class LogReader {
 public:
  explicit LogReader(std::istream& in) : in_(in) {}

  std::uint64_t fixed(int size) {
    char bytes[8] = {};
    in_.read(bytes, size);
    if (in_.gcount() != size) {
      fail("is cut short");
      return 0;
    }
    hash_.add({bytes, static_cast<std::size_t>(size)});
    at_ += static_cast<std::uint64_t>(size);
    std::uint64_t value = 0;
    for (int i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
  }
  std::uint64_t count(std::uint64_t most) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = fixed(1);
      value |= (byte & 0x7fu) << shift;
      if ((byte & 0x80u) != 0) continue;
      if (value <= most) return value;
      break;
    }
    fail("holds a number out of range");
    return 0;
  }
  std::int64_t signed_count() {
    const std::uint64_t coded = count(~std::uint64_t{0});
    return static_cast<std::int64_t>((coded >> 1) ^ (~(coded & 1) + 1));
  }
  /// A finite number; not negative unless said.
  double number(bool may_be_negative = false) {
    const double value = std::bit_cast<double>(fixed(8));
    if (std::isfinite(value) && (may_be_negative || value >= 0.0)) return value;
    fail("holds a number that is not finite, or negative");
    return 0.0;
  }
  void placement(Placement& placement) {
    placement.clear();
    const std::uint64_t shares = count(std::numeric_limits<std::uint32_t>::max());
    for (std::uint64_t i = 0; i < shares && sound(); ++i) {
      NodeShare share;
      share.node = static_cast<std::uint32_t>(count(std::numeric_limits<std::int32_t>::max()));
      share.share = static_cast<std::int32_t>(count(1000));
      if (share.share == 0) {
        share.profile = static_cast<std::int32_t>(count(static_cast<std::uint64_t>(kMostMigNumber)));
        share.start = static_cast<std::int32_t>(count(kMaxMemorySlices - 1));
        share.share = static_cast<std::int32_t>(count(1000));
      }
      share.devices = fixed(8);
      share.cpu.value = static_cast<std::int64_t>(count(kMostOfANode));
      share.memory_mib = static_cast<std::int64_t>(count(kMostOfANode));
      if (share.share == 0 || (i > 0 && !follows(placement.shares.back(), share)))
        fail("holds a placement that cannot be");
      placement.shares.push_back(share);
    }
  }
  std::uint64_t checksum() const noexcept { return hash_.value(); }
  bool at_end() { return in_.peek() == std::istream::traits_type::eof(); }

  bool sound() const noexcept { return what_ == nullptr; }
  void fail(const char* what) noexcept {
    if (what_ == nullptr) what_ = what;
  }
  Error error(const std::string& name) const {
    return Error{ErrorCode::kParse, name + ": " + what_ + ", at byte " + std::to_string(at_)};
  }

 private:
  std::istream& in_;
  Fnv1a hash_;
  std::uint64_t at_ = 0;
  const char* what_ = nullptr;
};

}  // namespace detail

}  // namespace mara
