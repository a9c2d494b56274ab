#pragma once
// How busy a platform was over time, in a bounded number of bins whatever the length of the run.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/core/resource.hpp"
#include "mara/simulation/platform_records.hpp"

namespace lab {

/// An amount over time as means over equal bins. When a time lies behind the last bin, bins are merged in
/// pairs. Adding costs O(1) apart from that.
class BinnedSeries {
 public:
  static constexpr std::size_t kBins = 512;

  explicit BinnedSeries(double from_s = 0.0) : from_s_(from_s), area_(kBins, 0.0), change_(kBins + 1, 0.0) {}

  /// Adds `amount` during [begin_s, end_s).
  void add(double begin_s, double end_s, double amount) {
    begin_s = std::max(begin_s, from_s_);
    if (!(end_s > begin_s)) return;
    cover(end_s);
    const double from = (begin_s - from_s_) / width_s_, to = (end_s - from_s_) / width_s_;
    const auto first = std::min(static_cast<std::size_t>(from), kBins - 1);
    const auto last = std::min(static_cast<std::size_t>(to), kBins);
    if (first == last) {
      area_[first] += amount * (to - from) * width_s_;
      return;
    }
    area_[first] += amount * (static_cast<double>(first + 1) - from) * width_s_;
    change_[first + 1] += amount;
    change_[last] -= amount;
    if (last < kBins) area_[last] += amount * (to - static_cast<double>(last)) * width_s_;
  }
  /// Merges bins until they reach to `end_s`.
  void cover(double end_s) {
    while (end_s > from_s_ + static_cast<double>(kBins) * width_s_) merge();
  }

  double from_s() const noexcept { return from_s_; }
  double width_s() const noexcept { return width_s_; }
  /// Means over the bins.
  std::vector<double> means() const {
    std::vector<double> means(kBins);
    double level = 0.0;
    for (std::size_t i = 0; i < kBins; ++i)
      means[i] = std::max(0.0, (level += change_[i]) + area_[i] / width_s_);
    return means;
  }

 private:
  void merge() {
    std::vector<double> area(kBins, 0.0), change(kBins + 1, 0.0);
    for (std::size_t i = 0; i < kBins; ++i) {
      area[i / 2] += area_[i];
      if (i % 2 == 0) {
        change[i / 2] += change_[i];
      } else {  // half a merged bin, and all that follow
        area[i / 2] += change_[i] * width_s_;
        change[i / 2 + 1] += change_[i];
      }
    }
    change[kBins / 2] += change_[kBins];
    area_ = std::move(area);
    change_ = std::move(change);
    width_s_ *= 2.0;
  }

  double from_s_;
  double width_s_ = 1.0 / 1024.0;
  std::vector<double> area_;    // beyond whole bins: amount x seconds
  std::vector<double> change_;  // of the amount at the beginning of a bin
};

/// A sink: GPUs held in groups of nodes, and jobs in the system, over time.
class UsageProfile {
 public:
  static constexpr std::size_t kMostRows = 64;

  UsageProfile() = default;
  UsageProfile(const mara::Platform& platform, double from_s) : nodes_(platform.nodes.size()), jobs_(from_s) {
    const std::size_t rows = std::min(nodes_, kMostRows);
    rows_.assign(rows, BinnedSeries(from_s));
    gpus_.assign(rows, 0.0);
    for (std::size_t n = 0; n < nodes_; ++n) gpus_[row_of(n)] += platform.nodes[n].devices;
  }

  void job(const mara::JobOutcome& outcome) { jobs_.add(outcome.job->submit_s, outcome.end_s, 1.0); }
  void interval(const mara::PlacedInterval& interval) {
    for (const mara::NodeShare& share : interval.placement->shares)
      rows_[row_of(share.node)].add(interval.start_s, interval.end_s,
                                    share.device_count() * share.share / 1000.0);
  }

  /// Makes all series reach equally far, at least to `end_s`.
  void align(double end_s) {
    jobs_.cover(end_s);
    double reach = jobs_.width_s();
    for (const BinnedSeries& row : rows_) reach = std::max(reach, row.width_s());
    const double until = jobs_.from_s() + reach * static_cast<double>(BinnedSeries::kBins);
    jobs_.cover(until);
    for (BinnedSeries& row : rows_) row.cover(until);
  }

  std::size_t rows() const noexcept { return rows_.size(); }
  /// The first node of a row.
  std::size_t first_node(std::size_t row) const noexcept {
    return (row * nodes_ + rows_.size() - 1) / rows_.size();
  }
  double gpus(std::size_t row) const noexcept { return gpus_[row]; }
  const BinnedSeries& held(std::size_t row) const noexcept { return rows_[row]; }
  const BinnedSeries& jobs() const noexcept { return jobs_; }

 private:
  std::size_t row_of(std::size_t node) const noexcept { return node * rows_.size() / nodes_; }

  std::size_t nodes_ = 0;
  std::vector<BinnedSeries> rows_;
  std::vector<double> gpus_;
  BinnedSeries jobs_;
};

}  // namespace lab
