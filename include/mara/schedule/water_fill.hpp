#pragma once
// Water-filling with caps: what each of several queues deserves of a resource.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/dominant_share.hpp"

namespace mara {

/// What each queue deserves of `amount`: all levels divided by weights rise together until the amount is used
/// up or every queue has its cap (Bertsekas & Gallager, "Data Networks", 2nd ed. 1992, section 6.5.2, with
/// weights). `caps`: the most by queue (its demand, or its quota); infinity: endless. `weights`: empty for
/// equal ones; only ratios count; weight 0 gets what nobody with a positive weight can use, all 0 means
/// equal. The sum is at most `amount`, up to rounding. Errors: kShapeMismatch; a negative or NaN amount, cap
/// or weight, an infinite amount or weight; they name field, index and value. O(queues log queues).
inline Result<std::vector<double>> water_fill(double amount, std::span<const double> caps,
                                              std::span<const double> weights = {}) {
  if (auto ok = check_non_negative(amount, "amount"); !ok) return ok.error();
  for (std::size_t i = 0; i < caps.size(); ++i)
    if (std::isnan(caps[i]) || caps[i] < 0.0)
      return Error{std::isnan(caps[i]) ? ErrorCode::kNumerical : ErrorCode::kInvalidArgument,
                   "caps[" + std::to_string(i) + "] is " + format_number(caps[i])};
  if (!weights.empty() && weights.size() != caps.size())
    return Error{ErrorCode::kShapeMismatch, "weights: " + std::to_string(weights.size()) + " for " +
                                                std::to_string(caps.size()) + " queues"};
  if (auto ok = check_weights(weights); !ok) return ok.error();
  std::vector<double> weight = detail::relative_weights(weights, caps.size());
  std::vector<double> deserved(caps.size(), 0.0);
  double left = amount;
  for (const bool last : {false, true}) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < caps.size(); ++i)
      if (last == (weight[i] == 0.0)) order.push_back(i);
    if (last)
      for (const std::size_t i : order) weight[i] = 1.0;
    // The first to be full come first; then everybody behind them shares what is left.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double x = caps[a] / weight[a], y = caps[b] / weight[b];
      return x < y || (x == y && a < b);
    });
    std::vector<double> behind(order.size() + 1, 0.0);  // sum of weights from here on
    for (std::size_t k = order.size(); k-- > 0;) behind[k] = behind[k + 1] + weight[order[k]];
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t i = order[k];
      const double share = k + 1 == order.size() ? left : left * (weight[i] / behind[k]);
      deserved[i] = std::min({caps[i], share, left});
      left -= deserved[i];
    }
  }
  return deserved;
}

/// The same for several resources, each on its own: a queue that has its cap of one goes on with the others
/// (case S03). `caps[queue][resource]`; infinity: endless. The answer is in the same order.
inline Result<std::vector<std::vector<double>>> water_fill(std::span<const double> amounts,
                                                           std::span<const std::vector<double>> caps,
                                                           std::span<const double> weights = {}) {
  for (std::size_t q = 0; q < caps.size(); ++q)
    if (caps[q].size() != amounts.size())
      return Error{ErrorCode::kShapeMismatch, "caps[" + std::to_string(q) + "] has " +
                                                  std::to_string(caps[q].size()) + " resources, amounts " +
                                                  std::to_string(amounts.size())};
  std::vector<std::vector<double>> deserved(caps.size(), std::vector<double>(amounts.size(), 0.0));
  std::vector<double> column(caps.size());
  for (std::size_t r = 0; r < amounts.size(); ++r) {
    for (std::size_t q = 0; q < caps.size(); ++q) column[q] = caps[q][r];
    const auto filled = water_fill(amounts[r], column, weights);
    if (!filled)
      return Error{filled.error().code, "resource " + std::to_string(r) + ": " + filled.error().message};
    for (std::size_t q = 0; q < caps.size(); ++q) deserved[q][r] = (*filled)[q];
  }
  return deserved;
}

/// used / deserved, by which queues are served; over several resources the largest of these. Something used
/// of a resource of which nothing is deserved: infinity; nothing of nothing: 0.
inline double service_ratio(double used, double deserved) noexcept {
  if (deserved > 0.0) return used / deserved;
  return used > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
}
inline double service_ratio(std::span<const double> used, std::span<const double> deserved) noexcept {
  double ratio = 0.0;
  for (std::size_t r = 0; r < std::min(used.size(), deserved.size()); ++r)
    ratio = std::max(ratio, service_ratio(used[r], deserved[r]));
  return ratio;
}

/// Queues in the order in which they are served: the lowest ratio first, ties by index. Ratios that are NaN
/// come last.
inline std::vector<std::size_t> service_order(std::span<const double> ratios) {
  std::vector<std::size_t> order(ratios.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::isnan(ratios[i]) ? std::numeric_limits<double>::infinity() : ratios[i];
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace mara
