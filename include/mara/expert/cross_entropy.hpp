#pragma once
// The cross-entropy method (Rubinstein 1999; De Boer et al. 2005) for tuning a few real parameters by
// simulation.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "mara/core/parallel.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// How the search goes.
struct CrossEntropyConfig {
  int population = 64;  ///< candidates an iteration
  int elite = 10;       ///< the best of them, to which the sampling distribution is fitted
  int iterations = 30;
  double smoothing = 0.7;    ///< weight of the new fit against the old
  double minimum_sd = 0.02;  ///< keeps the search alive
  std::uint64_t seed = 1;
  int threads = 1;
};

/// One iteration, for progress reports.
struct CrossEntropyProgress {
  int iteration = 0;
  double best = 0.0, elite_mean = 0.0;  ///< costs
};

/// Minimises `cost(parameters, iteration)` from the diagonal Gaussian (mean, sd). The cost must be a pure
/// function of its arguments (it is called from several threads; use `iteration` to seed common random
/// numbers). Costs that are not finite rank last. Returns the final mean. Same result for any number of
/// threads. Errors: extents that differ, elite not in [1, population], no finite cost in an iteration.
inline Result<std::vector<double>> minimise_cross_entropy(
    std::span<const double> mean, std::span<const double> sd,
    const std::function<double(std::span<const double>, int)>& cost, const CrossEntropyConfig& config,
    const std::function<void(const CrossEntropyProgress&, std::span<const double>)>& report = {}) {
  const std::size_t n = mean.size();
  if (sd.size() != n) {
    return Error{ErrorCode::kShapeMismatch,
                 "sd has " + std::to_string(sd.size()) + " entries, mean has " + std::to_string(n)};
  }
  if (config.elite < 1 || config.elite > config.population) {
    return Error{ErrorCode::kInvalidArgument,
                 "elite = " + std::to_string(config.elite) +
                     " is not in [1, population = " + std::to_string(config.population) + "]"};
  }
  std::vector<double> mu(mean.begin(), mean.end()), sigma(sd.begin(), sd.end());
  const auto population = static_cast<std::size_t>(config.population);
  std::vector<std::vector<double>> candidates(population, std::vector<double>(n));
  std::vector<double> costs(population);
  std::vector<std::size_t> rank(population);
  ThreadPool pool(config.threads);
  Random random(config.seed, 0x63726f7373ull);
  for (int iteration = 0; iteration < config.iterations; ++iteration) {
    for (std::size_t c = 0; c < population; ++c)
      for (std::size_t d = 0; d < n; ++d)
        candidates[c][d] = c == 0 ? mu[d] : mu[d] + sigma[d] * random.normal();  // the mean itself competes
    pool.for_each(population, [&](std::size_t c) {
      const double value = cost(candidates[c], iteration);
      costs[c] = std::isfinite(value) ? value : INFINITY;
    });
    std::iota(rank.begin(), rank.end(), std::size_t{0});
    std::stable_sort(rank.begin(), rank.end(),
                     [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
    if (!std::isfinite(costs[rank[0]])) {
      return Error{ErrorCode::kNumerical,
                   "iteration " + std::to_string(iteration) + ": no candidate has a finite cost"};
    }
    double elite_mean = 0.0;
    int finite = 0;
    for (int e = 0; e < config.elite; ++e) {
      if (!std::isfinite(costs[rank[static_cast<std::size_t>(e)]])) break;
      elite_mean += costs[rank[static_cast<std::size_t>(e)]];
      ++finite;
    }
    elite_mean /= finite;
    for (std::size_t d = 0; d < n; ++d) {
      double m = 0.0, v = 0.0;
      for (int e = 0; e < finite; ++e) m += candidates[rank[static_cast<std::size_t>(e)]][d];
      m /= finite;
      for (int e = 0; e < finite; ++e) {
        const double difference = candidates[rank[static_cast<std::size_t>(e)]][d] - m;
        v += difference * difference;
      }
      mu[d] = config.smoothing * m + (1.0 - config.smoothing) * mu[d];
      sigma[d] = std::max(config.minimum_sd,
                          config.smoothing * std::sqrt(v / finite) + (1.0 - config.smoothing) * sigma[d]);
    }
    if (report) report({iteration, costs[rank[0]], elite_mean}, mu);
  }
  return mu;
}

}  // namespace mara
