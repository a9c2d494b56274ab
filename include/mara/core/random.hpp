#pragma once
// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC'11) and distributions of our own, bit-identical on every compiler.

#include <array>
#include <cstdint>
#include <span>

namespace mara {

/// One Philox 4x32-10 block: 128 random bits for (counter, key).
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept;

/// A stream of random numbers. (seed, stream) name it; streams of one seed are independent.
/// Copyable: a copy continues with the same numbers. A UniformRandomBitGenerator of 32 bits.
class Random {
 public:
  using result_type = std::uint32_t;
  /// All there is to a stream, for checkpoints.
  struct State {
    std::uint64_t seed = 0, stream = 0, position = 0;  ///< position: 32-bit words drawn
    friend bool operator==(const State&, const State&) = default;
  };

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept;
  explicit Random(const State& state) noexcept;
  State state() const noexcept;

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return 0xffffffffu; }
  result_type operator()() noexcept;
  std::uint64_t next64() noexcept;

  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept;
  double uniform(double low, double high) noexcept;
  /// Uniform integer in [0, bound), unbiased; bound > 0.
  std::uint32_t below(std::uint32_t bound) noexcept;
  /// Standard normal (one draw uses a fixed number of words).
  double normal() noexcept;
  /// Mean 1/rate; rate > 0.
  double exponential(double rate) noexcept;
  /// exp(mu + sigma N(0,1)).
  double log_normal(double mu, double sigma) noexcept;
  /// Poisson of any mean >= 0 (exact for small and large means).
  std::uint64_t poisson(double mean) noexcept;
  /// Index drawn with probability weights[i]/sum; -1 when no weight is positive and finite.
  int categorical(std::span<const double> weights) noexcept;
};

}  // namespace mara
