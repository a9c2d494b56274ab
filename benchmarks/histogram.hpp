#pragma once
// Counts of durations in buckets that widen with their size: quantiles of any number of decisions in a fixed
// memory.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bench {

/// A histogram of integers (nanoseconds) over their whole range. Every power of two has kSteps buckets, so a
/// value is known to 1 / kSteps of itself; below 2 kSteps it is exact. After the HDR histogram (Tene,
/// hdrhistogram.org).
class Histogram {
 public:
  static constexpr int kBits = 6;
  static constexpr std::uint64_t kSteps = std::uint64_t{1} << kBits;

  void add(std::uint64_t value) noexcept {
    ++counts_[bucket(value)];
    ++total_;
    largest_ = std::max(largest_, value);
  }
  void add(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    largest_ = std::max(largest_, other.largest_);
  }

  std::uint64_t count() const noexcept { return total_; }
  std::uint64_t largest() const noexcept { return largest_; }

  /// A value that at least the share q of all values does not exceed: the upper end of the bucket of the
  /// value of rank ceil(q count), never more than the largest. q in [0, 1], other numbers count as the nearer
  /// end; 0 of none.
  std::uint64_t quantile(double q) const noexcept {
    if (total_ == 0) return 0;
    const double wanted = std::ceil(std::min(1.0, std::max(0.0, q)) * static_cast<double>(total_));
    const std::uint64_t rank =
        std::max<std::uint64_t>(1, std::min(total_, static_cast<std::uint64_t>(wanted)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank) return std::min(upper_end(i), largest_);
    }
    return largest_;
  }

 private:
  // Values below kSteps have a bucket each; above, the kBits after the leading one choose among kSteps.
  static constexpr std::size_t kBuckets = static_cast<std::size_t>((64 - kBits + 1) * kSteps);

  static std::size_t bucket(std::uint64_t value) noexcept {
    if (value < kSteps) return static_cast<std::size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kBits;
    return static_cast<std::size_t>(static_cast<std::uint64_t>(shift) * kSteps + (value >> shift));
  }
  /// The largest value of a bucket.
  static std::uint64_t upper_end(std::size_t index) noexcept {
    if (index < kSteps) return index;
    const std::uint64_t shift = index / kSteps - 1;
    const std::uint64_t step = index % kSteps + kSteps;
    return ((step + 1) << shift) - 1;  // of the last bucket: 2^64 - 1, by the wrap of unsigned numbers
  }

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t largest_ = 0;
};

}  // namespace bench
