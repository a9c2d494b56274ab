#pragma once
// Dominant resource fairness as pure functions: who gets how many tasks of a pool of several resources.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Amounts of several resources in whole units (milli, MiB, ...), in an order that all of a call share.
using ResourceAmounts = std::vector<std::int64_t>;

/// a + b for amounts that are not negative; the largest number instead of an overflow (case S17).
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}
/// Whole units in thousandths; saturates as saturating_sum does.
constexpr std::int64_t saturating_milli(std::int64_t units) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return units > kMost / 1000 ? kMost : units * 1000;
}

/// The largest part of a resource that `used` is: max over resources of used / capacity, over those whose
/// capacity is above 0; 0 when there is none. Ghodsi et al., "Dominant resource fairness: fair allocation of
/// multiple resource types", NSDI'11, section 4.
inline double dominant_share(std::span<const std::int64_t> used,
                             std::span<const std::int64_t> capacity) noexcept {
  double share = 0.0;
  for (std::size_t r = 0; r < std::min(used.size(), capacity.size()); ++r)
    if (capacity[r] > 0)
      share = std::max(share, static_cast<double>(used[r]) / static_cast<double>(capacity[r]));
  return share;
}

/// Whether weights make sense: finite and not negative. The error names the weight's index and value.
inline Status check_weights(std::span<const double> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (auto ok = check_non_negative(weights[i], "weights[" + std::to_string(i) + "]"); !ok) return ok;
  return {};
}

namespace detail {

/// Weights divided by the largest: only ratios count, and equal ratios become equal numbers. Empty, or all 0:
/// all 1. `count` users.
inline std::vector<double> relative_weights(std::span<const double> weights, std::size_t count) {
  std::vector<double> relative(count, 1.0);
  double largest = 0.0;
  for (const double weight : weights) largest = std::max(largest, weight);
  if (largest > 0.0)
    for (std::size_t i = 0; i < weights.size(); ++i) relative[i] = weights[i] / largest;
  return relative;
}

inline Status check_filling(std::span<const std::int64_t> capacity, std::span<const ResourceAmounts> demands,
                            std::span<const double> weights, std::span<const std::int64_t> limits) {
  const auto bad = [](const std::string& field, const std::string& value) {
    return Error{ErrorCode::kInvalidArgument, field + " is " + value};
  };
  for (std::size_t r = 0; r < capacity.size(); ++r)
    if (capacity[r] < 0) return bad("capacity[" + std::to_string(r) + "]", std::to_string(capacity[r]));
  for (std::size_t u = 0; u < demands.size(); ++u) {
    const std::string field = "demands[" + std::to_string(u) + "]";
    if (demands[u].size() != capacity.size())
      return Error{ErrorCode::kShapeMismatch, field + " has " + std::to_string(demands[u].size()) +
                                                  " resources, capacity " + std::to_string(capacity.size())};
    for (std::size_t r = 0; r < capacity.size(); ++r)
      if (demands[u][r] < 0) return bad(field + "[" + std::to_string(r) + "]", std::to_string(demands[u][r]));
  }
  if (!weights.empty() && weights.size() != demands.size())
    return Error{ErrorCode::kShapeMismatch, "weights: " + std::to_string(weights.size()) + " for " +
                                                std::to_string(demands.size()) + " users"};
  if (auto ok = check_weights(weights); !ok) return ok;
  if (!limits.empty() && limits.size() != demands.size())
    return Error{ErrorCode::kShapeMismatch, "limits: " + std::to_string(limits.size()) + " for " +
                                                std::to_string(demands.size()) + " users"};
  for (std::size_t u = 0; u < limits.size(); ++u)
    if (limits[u] < 0) return bad("limits[" + std::to_string(u) + "]", std::to_string(limits[u]));
  return {};
}

/// What both fillings say of each user before they begin.
enum class Asker : std::uint8_t { kFills, kAsksNothing, kUnsatisfiable };
inline Asker asker(std::span<const std::int64_t> capacity, const ResourceAmounts& demand) noexcept {
  bool nothing = true;
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    if (demand[r] > capacity[r]) return Asker::kUnsatisfiable;
    nothing = nothing && demand[r] == 0;
  }
  return nothing ? Asker::kAsksNothing : Asker::kFills;
}

}  // namespace detail

/// What progressive_filling gives.
struct TaskFilling {
  std::vector<std::int64_t> tasks;         ///< by user
  std::vector<double> shares;              ///< dominant shares by user, in [0, 1]
  ResourceAmounts used;                    ///< by resource
  std::vector<std::size_t> order;          ///< the user of each task, as they were given
  std::vector<std::size_t> unsatisfiable;  ///< users of whom not even the empty pool could hold one task
  bool complete = true;                    ///< false: stopped at `most_tasks`
};

/// Progressive filling, task by task (Ghodsi et al., NSDI'11, algorithm 1): again and again the user with the
/// lowest dominant share divided by weight gets one task; a user whose next task does not fit, or who has as
/// many as `limits` says, drops out; the end is when nobody is left. Ties: the lower index.
///
/// `capacity`: by resource; one of 0 counts for nobody's share. `demands`: of one task, by user. `weights`:
/// by user, empty for equal ones; only ratios count; users of weight 0 get what nobody with a positive weight
/// can use, all 0 means equal. `limits`: most tasks by user; empty: endless. Users who ask for nothing take
/// no part: they have their limit, or 0 tasks without one. Errors: kShapeMismatch; kInvalidArgument or
/// kNumerical for a negative amount or a weight that is negative or not finite, naming field, index and
/// value. O(tasks log users); at most `most_tasks`, lest huge capacities take for ever.
inline Result<TaskFilling> progressive_filling(std::span<const std::int64_t> capacity,
                                               std::span<const ResourceAmounts> demands,
                                               std::span<const double> weights = {},
                                               std::span<const std::int64_t> limits = {},
                                               std::size_t most_tasks = 10'000'000) {
  if (auto ok = detail::check_filling(capacity, demands, weights, limits); !ok) return ok.error();
  const std::size_t users = demands.size();
  const std::vector<double> weight = detail::relative_weights(weights, users);
  TaskFilling filling;
  filling.tasks.assign(users, 0);
  filling.shares.assign(users, 0.0);
  filling.used.assign(capacity.size(), 0);
  std::vector<ResourceAmounts> held(users, ResourceAmounts(capacity.size(), 0));

  struct Turn {
    bool last;  // weight 0
    double share;
    std::size_t user;
    bool operator<(const Turn& other) const noexcept {  // the top of the heap is the largest
      if (last != other.last) return last;
      return share > other.share || (share == other.share && user > other.user);
    }
  };
  std::priority_queue<Turn> turns;
  for (std::size_t u = 0; u < users; ++u) {
    switch (detail::asker(capacity, demands[u])) {
      case detail::Asker::kUnsatisfiable:
        filling.unsatisfiable.push_back(u);
        break;
      case detail::Asker::kAsksNothing:
        filling.tasks[u] = limits.empty() ? 0 : limits[u];
        break;
      case detail::Asker::kFills:
        turns.push({weight[u] == 0.0, 0.0, u});
    }
  }
  while (!turns.empty()) {
    if (filling.order.size() == most_tasks) {
      filling.complete = false;
      break;
    }
    const std::size_t u = turns.top().user;
    turns.pop();
    bool fits = limits.empty() || filling.tasks[u] < limits[u];
    for (std::size_t r = 0; r < capacity.size(); ++r)
      fits = fits && demands[u][r] <= capacity[r] - filling.used[r];
    if (!fits) continue;
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      filling.used[r] += demands[u][r];
      held[u][r] += demands[u][r];
    }
    ++filling.tasks[u];
    filling.order.push_back(u);
    filling.shares[u] = dominant_share(held[u], capacity);
    const bool last = weight[u] == 0.0;
    turns.push({last, last ? filling.shares[u] : filling.shares[u] / weight[u], u});
  }
  return filling;
}

/// What continuous_filling gives.
struct FluidFilling {
  std::vector<double> tasks;               ///< by user, not whole
  std::vector<double> shares;              ///< dominant shares by user
  std::vector<double> used;                ///< by resource
  std::vector<std::size_t> unsatisfiable;  ///< users who ask for a resource of which there is none
};

/// The continuous solution of DRF (Ghodsi et al., NSDI'11, section 4.1): all dominant shares divided by
/// weights grow at one speed; a user stops when a resource that it needs is used up, or at its limit.
/// Arguments and errors as those of progressive_filling; parts of a task count, so that only a user who asks
/// for something of which there is none is unsatisfiable. O(users^2 x resources).
inline Result<FluidFilling> continuous_filling(std::span<const std::int64_t> capacity,
                                               std::span<const ResourceAmounts> demands,
                                               std::span<const double> weights = {},
                                               std::span<const std::int64_t> limits = {}) {
  if (auto ok = detail::check_filling(capacity, demands, weights, limits); !ok) return ok.error();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t users = demands.size(), resources = capacity.size();
  const std::vector<double> weight = detail::relative_weights(weights, users);
  FluidFilling filling;
  filling.tasks.assign(users, 0.0);
  filling.shares.assign(users, 0.0);
  filling.used.assign(resources, 0.0);
  std::vector<double> share_of_task(users, 0.0);
  std::vector<char> idle(users, false), full(resources, false);
  for (std::size_t u = 0; u < users; ++u) {
    bool possible = true, nothing = true;
    for (std::size_t r = 0; r < resources; ++r) {
      possible = possible && (demands[u][r] == 0 || capacity[r] > 0);
      nothing = nothing && demands[u][r] == 0;
    }
    share_of_task[u] = dominant_share(demands[u], capacity);
    idle[u] = !possible || nothing;
    if (!possible) filling.unsatisfiable.push_back(u);
    if (nothing && !limits.empty()) filling.tasks[u] = static_cast<double>(limits[u]);
  }
  // Users of weight 0 fill what the others left.
  for (const bool last : {false, true}) {
    const auto speed = [&](std::size_t u) {  // tasks per unit of water level
      if (idle[u] || last != (weight[u] == 0.0)) return 0.0;
      return (last ? 1.0 : weight[u]) / share_of_task[u];
    };
    for (;;) {
      double step = kNever;
      std::size_t fullest = resources;
      for (std::size_t r = 0; r < resources; ++r) {
        double flow = 0.0;
        for (std::size_t u = 0; u < users; ++u) flow += speed(u) * static_cast<double>(demands[u][r]);
        if (!(flow > 0.0)) continue;
        const double time = std::max(0.0, static_cast<double>(capacity[r]) - filling.used[r]) / flow;
        if (time < step) {
          step = time;
          fullest = r;
        }
      }
      if (fullest == resources) break;  // nobody fills any more
      std::size_t limited = users;
      for (std::size_t u = 0; u < users && !limits.empty(); ++u) {
        if (!(speed(u) > 0.0)) continue;
        const double time = std::max(0.0, static_cast<double>(limits[u]) - filling.tasks[u]) / speed(u);
        if (time >= step) continue;
        step = time;
        limited = u;
      }
      for (std::size_t u = 0; u < users; ++u) {
        const double more = speed(u) * step;
        filling.tasks[u] += more;
        for (std::size_t r = 0; r < resources; ++r)
          filling.used[r] += more * static_cast<double>(demands[u][r]);
      }
      if (limited < users) {
        filling.tasks[limited] = static_cast<double>(limits[limited]);
        idle[limited] = true;
        continue;
      }
      filling.used[fullest] = static_cast<double>(capacity[fullest]);
      for (std::size_t u = 0; u < users; ++u) idle[u] = idle[u] || demands[u][fullest] > 0;
    }
  }
  for (std::size_t u = 0; u < users; ++u)
    filling.shares[u] = share_of_task[u] > 0.0 ? filling.tasks[u] * share_of_task[u] : 0.0;
  return filling;
}

}  // namespace mara
