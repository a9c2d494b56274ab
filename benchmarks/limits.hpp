#pragma once
// How fast this core can be: fused multiply-adds a second and bytes a second from each cache level, and from
// them the time below which no kernel can get.

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <vector>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include "mara/math/aligned.hpp"
#include "mara/math/simd.hpp"

namespace bench {

/// Processor time of this program, all threads, in seconds: other programs on the machine do not count.
inline double processor_seconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Makes the compiler believe that `value` is read here and that all memory may have changed.
template <class T>
MARA_INLINE void keep(const T& value) noexcept {
  asm volatile("" : : "r"(&value) : "memory");
}

/// Data caches of one core, bytes. What the system does not tell is guessed.
struct CacheSizes {
  std::size_t l1 = 32 << 10;
  std::size_t l2 = 1 << 20;
  std::size_t l3 = 32 << 20;

  static CacheSizes of_this_core() noexcept {
    CacheSizes sizes;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    const auto ask = [](int name, std::size_t& size) {
      if (const long answer = sysconf(name); answer > 0) size = static_cast<std::size_t>(answer);
    };
    ask(_SC_LEVEL1_DCACHE_SIZE, sizes.l1);
    ask(_SC_LEVEL2_CACHE_SIZE, sizes.l2);
    ask(_SC_LEVEL3_CACHE_SIZE, sizes.l3);
#endif
    return sizes;
  }
};

/// What a core reached in one measurement.
struct Speeds {
  double flops = 0.0;  ///< floating-point operations a second, two for each fused multiply-add
  std::array<double, 3> read_bytes{};  ///< bytes a second read from L1, L2, L3; 0: not measured
};

/// What a kernel has to do.
struct Work {
  double operations = 0.0;    ///< floating-point operations of the matrix products; activations do not count
  double weight_bytes = 0.0;  ///< weights that must be read once a call; 0: reading them takes no extra time
};

/// The least time for `work`, seconds: operations at the peak, or the weights from the smallest cache that
/// holds them, whichever takes longer.
inline double limit_seconds(const Work& work, const Speeds& speeds, const CacheSizes& caches) noexcept {
  const auto bytes = static_cast<std::size_t>(work.weight_bytes);
  const std::size_t level = bytes <= caches.l1 ? 0 : bytes <= caches.l2 ? 1 : 2;
  const double reading =
      bytes > 0 && speeds.read_bytes[level] > 0.0 ? work.weight_bytes / speeds.read_bytes[level] : 0.0;
  return std::max(work.operations / speeds.flops, reading);
}

namespace detail {

/// The best of `bursts` measurements: what a burst does in a second. `burst()` returns how much it did.
template <class Burst>
double best_rate(int bursts, Burst&& burst) {
  double best = 0.0;
  for (int i = 0; i < bursts; ++i) {
    const double begin = processor_seconds();
    const double amount = burst();
    best = std::max(best, amount / std::max(processor_seconds() - begin, 1e-9));
  }
  return best;
}

/// Independent chains of fused multiply-adds in registers; returns the operations done.
[[gnu::noinline]] inline double multiply_add_burst(int steps) noexcept {
  namespace simd = mara::simd;
  constexpr int kChains = 12;  // two units x latency 4 need 8; 12 and the operands fit 16 registers
  volatile float number = 0.999f;
  const simd::VecF factor = simd::broadcast(static_cast<float>(number));
  number = 0.5f;
  const simd::VecF term = simd::broadcast(static_cast<float>(number));
  simd::VecF sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = simd::broadcast(static_cast<float>(i));
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) sum[i] = simd::fma(sum[i], factor, term);
  }
  keep(sum);
  return 2.0 * steps * kChains * static_cast<double>(simd::kLanes<float>);
}

/// Reads `vectors` vectors `passes` times, kLoads at a time, from kStreams places at once; each has a sum of
/// its own. A fused multiply-add takes a vector from memory in one instruction on every instruction set that
/// has it.
template <int kLoads, int kStreams>
[[gnu::noinline]] double read_burst(const float* data, std::size_t vectors, int passes) noexcept {
  namespace simd = mara::simd;
  constexpr std::size_t kEach = kLoads / kStreams;
  const std::size_t stream = vectors / kStreams / kEach * kEach;
  volatile float number = 1.0f;
  const simd::VecF factor = simd::broadcast(static_cast<float>(number));
  simd::VecF sum[kLoads];
  for (int i = 0; i < kLoads; ++i) sum[i] = simd::VecF{};
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t v = 0; v < stream; v += kEach) {
#pragma GCC unroll 32
      for (std::size_t i = 0; i < kLoads; ++i) {
        const simd::VecF x = simd::load(data + (i / kEach * stream + v + i % kEach) * simd::kLanes<float>);
        if constexpr (simd::kFused) {
          sum[i] = simd::fma(factor, x, sum[i]);
        } else {
          sum[i] += x;
        }
      }
    }
    asm volatile("" : : : "memory");  // another pass is not the same as one
  }
  keep(sum);
  return static_cast<double>(passes) * static_cast<double>(stream * kStreams * sizeof(simd::VecF));
}

}  // namespace detail

/// Measures the speeds of the core it runs on. The constructor tries several loops and sizes for each cache
/// level and keeps the fastest; each measurement is the best of a few short bursts, so that a disturbance
/// counts only when it lasts.
class Meter {
 public:
  Meter() : caches_(CacheSizes::of_this_core()), data_(kLargest / sizeof(float)) {
    constexpr std::size_t kKi = 1024;
    choose(0, {16 * kKi, 24 * kKi, 32 * kKi});
    choose(1, {256 * kKi, 384 * kKi, 512 * kKi});
    choose(2, {kLargest});
  }

  const CacheSizes& caches() const noexcept { return caches_; }
  /// Bytes that the loop for a level (0: L1) goes round in.
  std::size_t working_set(std::size_t level) const noexcept { return loops_[level].bytes; }

  /// Peak, L1 and L2: half a millisecond each.
  Speeds measure() const {
    Speeds speeds;
    speeds.flops = detail::best_rate(kBursts, [] { return detail::multiply_add_burst(30'000); });
    speeds.read_bytes[0] = read(0, kBursts);
    speeds.read_bytes[1] = read(1, kBursts);
    return speeds;
  }

  /// The same and L3, which takes some milliseconds.
  Speeds measure_all() const {
    Speeds speeds = measure();
    speeds.read_bytes[2] = read(2, kBursts);
    return speeds;
  }

 private:
  using Read = double (*)(const float*, std::size_t, int) noexcept;
  struct Loop {
    Read read = nullptr;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kLargest = std::size_t{8} << 20;
  static constexpr int kBursts = 4;

  double read(const Loop& loop, int bursts) const {
    const int passes = static_cast<int>(std::max<std::size_t>(1, kBytesABurst / loop.bytes));
    return detail::best_rate(
        bursts, [&] { return loop.read(data_.data(), loop.bytes / sizeof(mara::simd::VecF), passes); });
  }
  double read(std::size_t level, int bursts) const { return read(loops_[level], bursts); }

  void choose(std::size_t level, const std::vector<std::size_t>& sizes) {
    double fastest = 0.0;
    for (const std::size_t bytes : sizes)
      for (const Read candidate :
           {&detail::read_burst<8, 1>, &detail::read_burst<8, 2>, &detail::read_burst<8, 4>,
            &detail::read_burst<12, 12>, &detail::read_burst<16, 1>, &detail::read_burst<16, 4>}) {
        const double rate = read(Loop{candidate, bytes}, 3 * kBursts);
        if (rate <= fastest) continue;
        fastest = rate;
        loops_[level] = {candidate, bytes};
      }
  }

  static constexpr std::size_t kBytesABurst = std::size_t{16} << 20;

  CacheSizes caches_;
  mara::AlignedVector<float> data_;
  std::array<Loop, 3> loops_{};
};

}  // namespace bench
