#pragma once
// Exact resource amounts. GPUs and CPUs are counted in thousandths, memory in MiB; never in floating point.

#include <compare>
#include <cstdint>

namespace mara {

/// An exact amount in thousandths of a unit (GPU or CPU core): Milli{460} is 0.46 GPU.
struct Milli {
  std::int64_t value = 0;

  static constexpr Milli whole(std::int64_t units) noexcept { return Milli{units * 1000}; }
  constexpr bool is_whole() const noexcept { return value % 1000 == 0; }
  /// Whole units, rounded down.
  constexpr std::int64_t units() const noexcept { return value / 1000; }
  constexpr double as_double() const noexcept { return static_cast<double>(value) / 1000.0; }

  constexpr Milli& operator+=(Milli other) noexcept {
    value += other.value;
    return *this;
  }
  constexpr Milli& operator-=(Milli other) noexcept {
    value -= other.value;
    return *this;
  }
  friend constexpr Milli operator+(Milli a, Milli b) noexcept { return a += b; }
  friend constexpr Milli operator-(Milli a, Milli b) noexcept { return a -= b; }
  friend constexpr auto operator<=>(Milli, Milli) noexcept = default;
};

/// The most GPU types one cluster may have.
inline constexpr int kMaxGpuTypes = 8;

/// GPUs of one type that a job holds or is to hold. `gpus` is a whole number of GPUs, or a fraction below
/// one GPU that lives on a single device. The default holds nothing.
struct Grant {
  std::int32_t type = -1;  ///< index of the GPU type in the cluster; -1: nothing
  Milli gpus{};

  constexpr bool empty() const noexcept { return type < 0; }
  friend constexpr bool operator==(const Grant&, const Grant&) noexcept = default;
};

/// What a job needs on whatever it is granted; checked as hard limits beside the GPUs themselves.
struct Demand {
  std::int64_t gpu_memory_mib = 0;  ///< per device: a type with less cannot run the job
  Milli cpu{};                      ///< host CPU, whole job
  std::int64_t memory_mib = 0;      ///< host memory, whole job

  friend constexpr bool operator==(const Demand&, const Demand&) noexcept = default;
};

}  // namespace mara
