#pragma once
// Drawing in proportion to priorities that change all the time.

#include <cstddef>
#include <span>
#include <vector>

#include "mara/core/libm.hpp"

namespace mara {

/// Priorities of `capacity` places in a complete binary tree of sums, and of smallest positive priorities: a
/// change and a draw take O(log capacity). Sums are made anew from both children, so no error of rounding
/// grows, and the same priorities give the same bits in whatever order they were set. (Schaul et al.,
/// "Prioritized experience replay", ICLR 2016, appendix B.2.1.)
class SumTree {
 public:
  /// All priorities 0. Memory: 4 doubles a place, places rounded up to a power of two.
  explicit SumTree(std::size_t capacity = 1) : capacity_(capacity) {
    while (leaves_ < capacity) leaves_ *= 2;
    sums_.assign(2 * leaves_, 0.0);
    smallest_.assign(2 * leaves_, 0.0);
  }

  std::size_t capacity() const noexcept { return capacity_; }
  double total() const noexcept { return sums_[1]; }
  /// The smallest positive priority; 0 when there is none.
  double smallest() const noexcept { return smallest_[1]; }
  double priority(std::size_t place) const noexcept { return sums_[leaves_ + place]; }
  std::span<const double> priorities() const noexcept { return {sums_.data() + leaves_, capacity_}; }
  std::size_t bytes() const noexcept { return (sums_.size() + smallest_.size()) * sizeof(double); }

  /// Sets a priority; one that is negative or not finite counts as 0. `place` < capacity().
  void set(std::size_t place, double priority) noexcept {
    if (!(priority > 0.0) || !libm::isfinite(priority)) priority = 0.0;
    std::size_t node = leaves_ + place;
    sums_[node] = smallest_[node] = priority;
    for (node /= 2; node > 0; node /= 2) {
      sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
      const double left = smallest_[2 * node], right = smallest_[2 * node + 1];
      smallest_[node] = left == 0.0 || (right > 0.0 && right < left) ? right : left;
    }
  }

  /// The place in whose stretch of the line [0, total()) `at` lies, stretches as long as the priorities, in
  /// the order of the places. Never one of priority 0 unless all are.
  std::size_t find(double at) const noexcept {
    std::size_t node = 1;
    while (node < leaves_) {
      const double left = sums_[2 * node];
      node *= 2;
      if (left > 0.0 && (at < left || sums_[node + 1] <= 0.0)) continue;
      if (sums_[node + 1] <= 0.0) continue;
      at -= left;
      ++node;
    }
    const std::size_t place = node - leaves_;
    return place < capacity_ ? place : capacity_ - 1;
  }

 private:
  std::size_t capacity_, leaves_ = 1;
  std::vector<double> sums_, smallest_;  ///< node n has children 2n and 2n + 1; the root is 1
};

}  // namespace mara
