#pragma once
// Bits and fingerprints of the ledger of a platform: sums of amounts, each times a constant of its own.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "mara/cluster/mig.hpp"

/// MARA_FOR_SLICES before a function that slices alone need: kept out of the way of all else, which is the
/// faster for it. MARA_OUT_OF_LINE before the slow part of a function that is to be inlined.
#if defined(__GNUC__)
#define MARA_FOR_SLICES [[gnu::noinline, gnu::cold]]
#define MARA_OUT_OF_LINE [[gnu::noinline]]
#else
#define MARA_FOR_SLICES
#define MARA_OUT_OF_LINE
#endif

namespace mara::detail {

// Odd numbers without structure.
inline constexpr std::uint64_t kCpuWeight = 0xd1b54a32d192ed03u, kMemoryWeight = 0x8bb84b93962eacc9u;

/// A bit for each of a node's devices.
inline std::uint64_t all_devices(int count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA'14), made odd.
inline std::uint64_t weight(std::uint64_t of) noexcept {
  of = (of + 1) * 0x9e3779b97f4a7c15u;
  of = (of ^ (of >> 30)) * 0xbf58476d1ce4e5b9u;
  of = (of ^ (of >> 27)) * 0x94d049bb133111ebu;
  return (of ^ (of >> 31)) | 1;
}

/// Constant of the milli of the device of the lowest bit.
inline std::uint64_t device_weight(std::uint64_t bits) noexcept {
  return weight(static_cast<std::uint64_t>(std::countr_zero(bits)));
}

/// What slices in use on a node's device count.
inline std::uint64_t mig_print(std::size_t device, const MigUse& use) noexcept {
  return weight(64 + device) * use.memory + weight(128 + device) * static_cast<std::uint64_t>(use.compute);
}

}  // namespace mara::detail
