#pragma once
// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC'11) and distributions of our own, bit-identical on every compiler (with -ffp-contract=off).

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "mara/core/libm.hpp"
#include "mara/core/normal_quantile.hpp"
#include "mara/core/portable_math.hpp"

namespace mara {

/// One Philox 4x32-10 block: 128 random bits for (counter, key). Salmon et al. 2011, section 3.3; ten rounds.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// A stream of random numbers. (seed, stream) name it; streams of one seed are independent.
/// Copyable: a copy continues with the same numbers. A UniformRandomBitGenerator of 32 bits.
/// A distribution parameter outside its domain (NaN included) gives 0, never NaN: the owner of a parameter
/// checks it where it enters the program.
class Random {
 public:
  using result_type = std::uint32_t;
  /// All there is to a stream, for checkpoints.
  struct State {
    std::uint64_t seed = 0, stream = 0, position = 0;  ///< position: 32-bit words drawn
    friend bool operator==(const State&, const State&) = default;
  };

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept : Random(State{seed, stream, 0}) {}
  explicit Random(const State& state) noexcept : state_(state) {
    if (state_.position % 4 != 0) refill();  // otherwise the next draw does
  }
  State state() const noexcept { return state_; }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return 0xffffffffu; }
  result_type operator()() noexcept {
    const std::size_t word = state_.position % 4;
    if (word == 0) refill();
    ++state_.position;
    return block_[word];
  }
  /// 64 random bits: two words, the first drawn is the upper half.
  std::uint64_t next64() noexcept {
    const std::uint64_t high = (*this)();
    return high << 32 | (*this)();
  }

  /// Uniform in [0, 1), 53 bits. Two words.
  double uniform() noexcept { return static_cast<double>(next64() >> 11) * 0x1p-53; }
  /// Uniform in [low, high); low when they are equal, 0 unless both are finite and low <= high. Two words.
  double uniform(double low, double high) noexcept;
  /// Uniform integer in [0, bound), unbiased; bound > 0 (0 gives 0). Mostly one word.
  /// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019).
  std::uint32_t below(std::uint32_t bound) noexcept;
  /// The same for 64-bit bounds. Two words a trial, less than two trials on average.
  std::uint64_t below64(std::uint64_t bound) noexcept;
  /// Standard normal by inversion, |value| < 8.3. Two words.
  double normal() noexcept {
    // The middle of one of 2^52 equal cells: exact in a double and never 0 or 1.
    return normal_quantile((static_cast<double>(next64() >> 12) + 0.5) * 0x1p-52);
  }
  /// Mean 1/rate; rate > 0. Two words.
  double exponential(double rate) noexcept;
  /// exp(mu + sigma N(0,1)), at most the largest double; sigma >= 0. Two words.
  double log_normal(double mu, double sigma) noexcept;
  /// Poisson of any mean >= 0 (exact for small and large means; a mean above 2^53 counts as 2^53).
  /// Mean below 10: inversion, two words. Else: Hoermann, "The transformed rejection method for generating
  /// Poisson random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS.
  std::uint64_t poisson(double mean) noexcept;
  /// Index drawn with probability weights[i]/sum; weights that are not positive and finite count as zero, and
  /// -1 is returned when none remains. Two words.
  int categorical(std::span<const double> weights) noexcept { return weighted_index(weights); }
  int categorical(std::span<const float> weights) noexcept { return weighted_index(weights); }

  /// Permutes values uniformly (Fisher-Yates, from the back).
  template <class T, std::size_t Extent>
  void shuffle(std::span<T, Extent> values) noexcept {
    using std::swap;
    for (std::size_t left = values.size(); left > 1; --left) {
      const auto pick = left <= 0xffffffffu ? below(static_cast<std::uint32_t>(left))
                                            : static_cast<std::size_t>(below64(left));
      swap(values[left - 1], values[pick]);
    }
  }
  /// The same for a contiguous container.
  template <class Container>
  requires requires(Container& c) { std::span(c); }
  void shuffle(Container& values) noexcept { shuffle(std::span(values)); }

 private:
  void refill() noexcept {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const std::uint64_t index = state_.position / 4;
    block_ = philox4x32({low(index), high(index), low(state_.stream), high(state_.stream)},
                        {low(state_.seed), high(state_.seed)});
  }
  std::uint64_t large_poisson(double mean) noexcept;
  template <class Weight>
  int weighted_index(std::span<const Weight> weights) noexcept;

  State state_;
  std::array<std::uint32_t, 4> block_{};
};

namespace detail {

/// ln of the Poisson probability of k (a whole number >= 0) at mean > 0, without cancellation at large means:
/// Loader, "Fast and accurate computation of binomial probabilities" (2000), section 5.
inline double log_poisson(double k, double mean) noexcept {
  if (k < 16.0) {
    double factorial = 1.0;
    for (double i = 2.0; i <= k; i += 1.0) factorial *= i;
    return k * portable_log(mean) - mean - portable_log(factorial);
  }
  const double v = (k - mean) / (k + mean);  // k ln(k/mean) = 2 k atanh(v)
  const double deviance = libm::fabs(v) < 0.15 ? (k - mean) * v + 2.0 * k * v * v * v * atanh_tail(v * v)
                                               : k * portable_log(k / mean) + mean - k;
  const double z = 1.0 / (k * k);  // Stirling's series for ln k!
  const double stirling =
      (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188))))) / k;
  return -deviance - stirling - 0.5 * portable_log(6.283185307179586 * k);
}

}  // namespace detail

inline double Random::uniform(double low, double high) noexcept {
  const double u = uniform();
  if (!(libm::isfinite(low) && libm::isfinite(high) && low <= high)) return 0.0;
  const double width = high - low;
  const double value = libm::isfinite(width) ? low + width * u : low * (1.0 - u) + high * u;
  return value < high || low == high ? value : libm::nextafter(high, low);  // rounding may reach high
}

inline std::uint32_t Random::below(std::uint32_t bound) noexcept {
  std::uint64_t product = std::uint64_t{(*this)()} * bound;
  if (static_cast<std::uint32_t>(product) < bound) {
    const std::uint32_t surplus = (0u - bound) % bound;  // 2^32 mod bound
    while (static_cast<std::uint32_t>(product) < surplus) product = std::uint64_t{(*this)()} * bound;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

inline std::uint64_t Random::below64(std::uint64_t bound) noexcept {
  if (bound == 0) return 0;
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero((bound - 1) | 1);
  std::uint64_t value = next64() & mask;
  while (value >= bound) value = next64() & mask;
  return value;
}

inline double Random::exponential(double rate) noexcept {
  const double u = 1.0 - uniform();  // in (0, 1]
  if (!(rate > 0.0 && libm::isfinite(rate))) return 0.0;
  const double value = -portable_log(u) / rate;
  return libm::isfinite(value) ? value : std::numeric_limits<double>::max();
}

inline double Random::log_normal(double mu, double sigma) noexcept {
  const double n = normal();
  if (!(libm::isfinite(mu) && libm::isfinite(sigma) && sigma >= 0.0)) return 0.0;
  const double value = portable_exp(mu + sigma * n);
  return value <= std::numeric_limits<double>::max() ? value : std::numeric_limits<double>::max();
}

inline std::uint64_t Random::poisson(double mean) noexcept {
  if (mean >= 10.0) return large_poisson(mean < 0x1p53 ? mean : 0x1p53);
  double left = uniform();
  if (!(mean > 0.0)) return 0;
  double probability = portable_exp(-mean);
  std::uint64_t k = 0;
  for (; left >= probability && k < 100;
       ++k) {  // P(k >= 100) < 1e-59; rounding could leave a crumb of `left`
    left -= probability;
    probability *= mean / static_cast<double>(k + 1);
  }
  return k;
}

inline std::uint64_t Random::large_poisson(double mean) noexcept {
  const double b = 0.931 + 2.53 * libm::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double squeeze = 0.9277 - 3.6224 / (b - 2.0);
  for (;;) {
    const double u = uniform() - 0.5;
    const double v = 1.0 - uniform();  // in (0, 1]
    const double distance = 0.5 - libm::fabs(u);
    if (distance <= 0.0) continue;  // u = -1/2 exactly
    const double k = libm::floor((2.0 * a / distance + b) * u + mean + 0.43);
    if (distance >= 0.07 && v <= squeeze) return static_cast<std::uint64_t>(k);
    if (k < 0.0 || (distance < 0.013 && v > distance)) continue;
    const double log_hat = portable_log(v * inverse_alpha / (a / (distance * distance) + b));
    if (log_hat <= detail::log_poisson(k, mean)) return static_cast<std::uint64_t>(k);
  }
}

template <class Weight>
int Random::weighted_index(std::span<const Weight> weights) noexcept {
  const double u = uniform();
  const auto usable = [](double w) { return w > 0.0 && libm::isfinite(w); };
  double sum = 0.0;
  for (const Weight w : weights) sum += usable(w) ? static_cast<double>(w) : 0.0;
  if (!(sum > 0.0)) return -1;
  double scale = 1.0;
  if (!libm::isfinite(sum)) {  // huge weights: 2^64 of the largest fit now
    scale = 0x1p-64;
    sum = 0.0;
    for (const Weight w : weights) sum += usable(w) ? scale * static_cast<double>(w) : 0.0;
  }
  const double target = u * sum;
  double below_target = 0.0;
  int last = -1;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!usable(weights[i])) continue;
    last = static_cast<int>(i);
    below_target += scale * static_cast<double>(weights[i]);
    if (target < below_target) return last;
  }
  return last;
}

}  // namespace mara
