#pragma once
// Summaries of samples and bootstrap intervals. Samples are finite numbers in any order; an empty sample or
// one that holds NaN or infinity has no summary (nullopt) and no interval (an error).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"

namespace mara {
namespace detail {

inline bool all_finite(std::span<const double> values) noexcept {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// A sorted copy, or an empty vector when the sample is empty or not finite.
inline std::vector<double> sorted_sample(std::span<const double> values) {
  if (!all_finite(values)) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace detail

/// Arithmetic mean; nullopt also when the sum overflows.
inline std::optional<double> mean(std::span<const double> values) noexcept {
  if (values.empty()) return std::nullopt;
  double sum = 0.0;
  for (const double v : values) sum += v;
  if (!std::isfinite(sum)) return std::nullopt;
  return sum / static_cast<double>(values.size());
}

/// The q-quantile, q in [0, 1], of values that are finite and ascending: linear interpolation between order
/// statistics at (n - 1) q (type 7 of Hyndman & Fan, "Sample quantiles in statistical packages", 1996).
/// nullopt when there is no value or q is outside.
inline std::optional<double> quantile_sorted(std::span<const double> ascending, double q) noexcept {
  if (ascending.empty() || !(q >= 0.0 && q <= 1.0)) return std::nullopt;
  const double position = static_cast<double>(ascending.size() - 1) * q;
  const auto index = std::min(static_cast<std::size_t>(position), ascending.size() - 1);
  const double fraction = position - static_cast<double>(index);
  if (fraction <= 0.0) return ascending[index];
  return ascending[index] + (ascending[index + 1] - ascending[index]) * fraction;
}

/// quantile_sorted of values in any order.
inline std::optional<double> quantile(std::span<const double> values, double q) {
  return quantile_sorted(detail::sorted_sample(values), q);
}

/// Interquartile mean: the mean of what remains when floor(n / 4) values are cut off at either end (Agarwal
/// et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021).
inline std::optional<double> iqm(std::span<const double> values) {
  const std::vector<double> sorted = detail::sorted_sample(values);
  const std::size_t cut = sorted.size() / 4;
  return mean(std::span(sorted).subspan(cut, sorted.size() - 2 * cut));
}

/// P(X > Y) + P(X = Y) / 2 over all pairs of the two samples: the Mann-Whitney statistic over its largest
/// value.
inline std::optional<double> probability_of_improvement(std::span<const double> x,
                                                        std::span<const double> y) {
  const std::vector<double> sorted = detail::sorted_sample(y);
  if (x.empty() || sorted.empty() || !detail::all_finite(x)) return std::nullopt;
  double wins = 0.0;  // exact: halves
  for (const double v : x) {
    const auto [first_equal, first_above] = std::equal_range(sorted.begin(), sorted.end(), v);
    wins += 0.5 * static_cast<double>((first_equal - sorted.begin()) + (first_above - sorted.begin()));
  }
  return wins / (static_cast<double>(x.size()) * static_cast<double>(sorted.size()));
}

/// Two-sample Kolmogorov-Smirnov distance: the largest difference of the empirical distribution functions, in
/// [0, 1].
inline std::optional<double> ks_distance(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = detail::sorted_sample(a);
  const std::vector<double> y = detail::sorted_sample(b);
  if (x.empty() || y.empty()) return std::nullopt;
  const auto nx = static_cast<double>(x.size());
  const auto ny = static_cast<double>(y.size());
  double largest = 0.0;
  std::size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    const double at = std::min(x[i], y[j]);
    while (i < x.size() && x[i] == at) ++i;  // step over ties on both sides before comparing
    while (j < y.size() && y[j] == at) ++j;
    largest = std::max(largest, std::fabs(static_cast<double>(i) / nx - static_cast<double>(j) / ny));
  }
  return largest;
}

/// An estimate with its interval: low <= high; the estimate is that of the whole sample.
struct Interval {
  double estimate = 0.0, low = 0.0, high = 0.0;
};

/// Percentile bootstrap (Efron & Tibshirani, "An introduction to the bootstrap", 1993, chapter 13) of any
/// statistic of `count` units. statistic(std::span<const std::uint32_t> units) -> double is called with 0, 1,
/// ..., count - 1 for the estimate and then with `replicates` resamples drawn with replacement. level in (0,
/// 1): the interval's coverage. kInvalidArgument for bad parameters, kNumerical when the statistic is not
/// finite.
template <class Statistic>
Result<Interval> bootstrap_interval(std::size_t count, Statistic&& statistic, double level, int replicates,
                                    Random& random) {
  const auto refuse = [](ErrorCode code, const char* field, const std::string& value) {
    return Error{code, "bootstrap: " + std::string(field) + value};
  };
  constexpr auto kBad = ErrorCode::kInvalidArgument;
  if (count == 0 || count > std::numeric_limits<std::uint32_t>::max()) {
    return refuse(kBad, "sample size must be in [1, 4294967295], is ", std::to_string(count));
  }
  if (!(level > 0.0 && level < 1.0))
    return refuse(kBad, "level must be in (0, 1), is ", format_number(level));
  if (replicates < 1) return refuse(kBad, "replicates must be positive, is ", std::to_string(replicates));

  const auto size = static_cast<std::uint32_t>(count);
  std::vector<std::uint32_t> units(size);
  for (std::uint32_t i = 0; i < size; ++i) units[i] = i;
  Interval interval;
  interval.estimate = statistic(std::span<const std::uint32_t>(units));
  std::vector<double> resampled(static_cast<std::size_t>(replicates));
  for (double& value : resampled) {
    for (std::uint32_t& unit : units) unit = random.below(size);
    value = statistic(std::span<const std::uint32_t>(units));
  }
  if (!std::isfinite(interval.estimate) || !detail::all_finite(resampled)) {
    return refuse(ErrorCode::kNumerical, "the statistic is not finite; estimate ",
                  format_number(interval.estimate));
  }
  std::sort(resampled.begin(), resampled.end());
  interval.low = *quantile_sorted(resampled, (1.0 - level) / 2.0);
  interval.high = *quantile_sorted(resampled, 1.0 - (1.0 - level) / 2.0);
  return interval;
}

namespace detail {

inline double resampled_sum(std::span<const double> values, std::span<const std::uint32_t> units) noexcept {
  double sum = 0.0;
  for (const std::uint32_t unit : units) sum += values[unit];
  return sum;
}

/// kNumerical that names the first value which is not finite.
inline Status check_sample(std::span<const double> values, std::string_view name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return check_finite(values[i], std::string(name) + "[" + std::to_string(i) + "]");
    }
  }
  return {};
}

}  // namespace detail

/// Percentile bootstrap interval of the mean. Errors as bootstrap_interval, and kNumerical for a value not
/// finite.
inline Result<Interval> bootstrap_mean_interval(std::span<const double> values, double level, int replicates,
                                                Random& random) {
  if (Status finite = detail::check_sample(values, "values"); !finite) return finite.error();
  const auto count = static_cast<double>(values.size());
  const auto statistic = [&](std::span<const std::uint32_t> units) {
    return detail::resampled_sum(values, units) / count;
  };
  return bootstrap_interval(values.size(), statistic, level, replicates, random);
}

/// Percentile bootstrap interval of mean(a) / mean(b) - 1, where a[i] and b[i] belong together (the same job
/// under two policies): pairs are resampled. -0.2 reads "a is 20 % below b". Errors as bootstrap_interval;
/// kShapeMismatch for unequal sizes, kNumerical for a value not finite, kInvalidArgument unless every b[i] >
/// 0.
inline Result<Interval> paired_ratio_interval(std::span<const double> a, std::span<const double> b,
                                              double level, int replicates, Random& random) {
  if (a.size() != b.size()) {
    return Error{ErrorCode::kShapeMismatch, "paired samples: a has " + std::to_string(a.size()) +
                                                " values, b has " + std::to_string(b.size())};
  }
  if (Status finite = detail::check_sample(a, "a"); !finite) return finite.error();
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (b[i] > 0.0 && std::isfinite(b[i])) continue;
    return check_positive(b[i], "b[" + std::to_string(i) + "]").error();
  }
  const auto statistic = [&](std::span<const std::uint32_t> units) {
    return detail::resampled_sum(a, units) / detail::resampled_sum(b, units) - 1.0;
  };
  return bootstrap_interval(a.size(), statistic, level, replicates, random);
}

}  // namespace mara
