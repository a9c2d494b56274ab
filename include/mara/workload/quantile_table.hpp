#pragma once
// A distribution of positive numbers as a few quantiles.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/portable_math.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The probability levels of every quantile table: 33, closer together towards both ends.
inline constexpr std::array<double, 33> kQuantileLevels{
    0.0, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15,  0.2,  0.25,  0.3,   0.35,  0.4,  0.45,  0.5, 0.55,
    0.6, 0.65,  0.7,  0.75, 0.8,   0.85, 0.875, 0.9, 0.925, 0.95, 0.965, 0.975, 0.985, 0.99, 0.995, 1.0};

/// Values at kQuantileLevels, not falling, >= 0. Between two levels the value is interpolated geometrically
/// (linearly next to a zero), which suits the heavy tails of run times.
struct QuantileTable {
  std::vector<double> values;

  /// The quantile at u in [0, 1]; the table must be valid.
  double at(double u) const noexcept {
    const auto above = std::upper_bound(kQuantileLevels.begin(), kQuantileLevels.end() - 1, u);
    const auto i = static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - kQuantileLevels.begin(), 1));
    const double share =
        std::clamp((u - kQuantileLevels[i - 1]) / (kQuantileLevels[i] - kQuantileLevels[i - 1]), 0.0, 1.0);
    const double low = values[i - 1], high = values[i];
    if (low <= 0.0 || low == high) return low + share * (high - low);
    return low * portable_exp(share * portable_log(high / low));
  }

  /// Mean of the interpolated distribution.
  double mean() const noexcept {
    double sum = 0.0;
    for (std::size_t i = 1; i < kQuantileLevels.size(); ++i) {
      const double low = values[i - 1], high = values[i];
      // The mean of low (high/low)^s over s in [0, 1].
      const bool flat = low <= 0.0 || high <= low * (1.0 + 1e-9);
      const double inner = flat ? 0.5 * (low + high) : (high - low) / portable_log(high / low);
      sum += inner * (kQuantileLevels[i] - kQuantileLevels[i - 1]);
    }
    return sum;
  }

  friend bool operator==(const QuantileTable&, const QuantileTable&) = default;
};

/// Success for a table with 33 finite values in [0, 1e12], not falling, the last one positive; otherwise an
/// error that names `field`.
inline Status check_quantiles(const QuantileTable& table, const std::string& field) {
  if (table.values.size() != kQuantileLevels.size())
    return Error{ErrorCode::kShapeMismatch, field + ": " + std::to_string(table.values.size()) +
                                                " quantiles, must be " +
                                                std::to_string(kQuantileLevels.size())};
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const std::string entry = field + "[" + std::to_string(i) + "]";
    if (auto ok = check_range(table.values[i], 0.0, 1e12, entry); !ok) return ok;
    if (i > 0 && table.values[i] < table.values[i - 1])
      return Error{ErrorCode::kInvalidArgument, entry + ": quantiles must not fall, " +
                                                    format_number(table.values[i]) + " follows " +
                                                    format_number(table.values[i - 1])};
  }
  return check_positive(table.values.back(), field + "[32]");
}

/// The table of a sample (finite, >= 0, not empty, at least one value positive). Of fewer than 100 values
/// only every fourth level is a quantile of the sample, the others are interpolated: a table is a summary,
/// never a copy. The tail is tilted by a smooth factor so that the table's mean is the sample's: the mean of
/// a heavy tail lives in the last few quantiles.
inline QuantileTable quantiles_of(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  double mean = 0.0;
  for (const double x : sample) mean += x;
  mean /= static_cast<double>(sample.size());
  const std::size_t stride = sample.size() < 100 ? 4 : 1;
  QuantileTable raw;
  raw.values.resize(kQuantileLevels.size());
  for (std::size_t i = 0; i < kQuantileLevels.size(); i += stride) {
    const double place = kQuantileLevels[i] * static_cast<double>(sample.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), sample.size() - 1);
    const double share = place - static_cast<double>(below);
    raw.values[i] = sample[below];
    if (share > 0.0) raw.values[i] += share * (sample[below + 1] - sample[below]);
  }
  for (std::size_t i = 0; i < kQuantileLevels.size(); ++i) {
    const std::size_t from = i - i % stride;
    if (i == from) continue;
    const double low = raw.values[from], high = raw.values[from + stride];
    const double share = (kQuantileLevels[i] - kQuantileLevels[from]) /
                         (kQuantileLevels[from + stride] - kQuantileLevels[from]);
    raw.values[i] = low > 0.0 ? low * portable_exp(share * portable_log(high / low)) : share * high;
    raw.values[i] = std::clamp(raw.values[i], low, high);
  }
  // Tilts the values above level `from` until the mean is right, by at most e^2 at level 1.
  const auto correct_mean = [&](double from) {
    const auto tilted = [&](double tilt) {
      QuantileTable table = raw;
      for (std::size_t i = 1; i < table.values.size(); ++i) {
        table.values[i] *= portable_exp(tilt * std::max(0.0, (kQuantileLevels[i] - from) / (1.0 - from)));
        table.values[i] = std::max(table.values[i], table.values[i - 1]);
      }
      return table;
    };
    double low = -2.0, high = 2.0;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (tilted(middle).mean() < mean ? low : high) = middle;
    }
    raw = tilted(0.5 * (low + high));
  };
  correct_mean(0.95);
  correct_mean(0.5);  // does nothing unless the tail alone could not do it
  return raw;
}

}  // namespace mara
