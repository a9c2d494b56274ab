#pragma once
// What a workload model knows about jobs, estimated from a trace: shapes, run times, repeats.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "mara/workload/quantile_table.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/workload_model.hpp"

namespace mara::detail {

/// Shapes by frequency, the rare ones merged into the commonest of the same GPU count; fills model.shapes and
/// gives the shape of each job.
template <class Model>
std::vector<std::size_t> fit_shapes(std::span<const TraceJob> jobs, Model& model) {
  constexpr std::size_t kMostShapes = 32;
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  const auto key = [](const TraceJob& job) { return Key{job.gpus.value, job.cpu.value, job.memory_mib}; };
  std::map<Key, std::size_t> counts;
  for (const TraceJob& job : jobs) ++counts[key(job)];
  std::vector<std::pair<Key, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::map<Key, std::size_t> shape_of_key;
  std::map<std::int64_t, std::size_t> first_with_gpus;
  std::vector<double> totals;
  for (const auto& [k, count] : order) {
    const std::int64_t gpus = std::get<0>(k);
    const auto found = first_with_gpus.find(gpus);
    if (model.shapes.size() < kMostShapes || found == first_with_gpus.end()) {
      shape_of_key[k] = model.shapes.size();
      first_with_gpus.try_emplace(gpus, model.shapes.size());
      model.shapes.push_back({Milli{gpus}, Milli{std::get<1>(k)}, std::get<2>(k), 0.0, 0});
      totals.push_back(0.0);
    } else {
      shape_of_key[k] = found->second;
    }
    totals[shape_of_key[k]] += static_cast<double>(count);
  }
  for (std::size_t i = 0; i < totals.size(); ++i)
    model.shapes[i].probability = totals[i] / static_cast<double>(jobs.size());
  std::vector<std::size_t> shape_of;
  for (const TraceJob& job : jobs) shape_of.push_back(shape_of_key[key(job)]);
  return shape_of;
}

/// Duration classes: one for shares of a GPU, one per whole GPU count; a class with fewer than 30 jobs joins
/// its smaller neighbour (the first one its larger). Fills durations and the shapes' classes.
template <class Model>
void fit_durations(std::span<const TraceJob> jobs, Model& model) {
  constexpr std::size_t kFewest = 30;
  std::map<std::int64_t, std::vector<double>> by_size;
  const auto size_of = [](Milli gpus) { return gpus.value < 1000 ? std::int64_t{0} : gpus.value; };
  for (const TraceJob& job : jobs) by_size[size_of(job.gpus)].push_back(job.duration_s);
  std::map<std::int64_t, int> class_of;
  std::vector<std::vector<double>> samples;
  for (const auto& [size, sample] : by_size) {
    if (samples.empty() || (sample.size() >= kFewest && samples.back().size() >= kFewest))
      samples.emplace_back();
    samples.back().insert(samples.back().end(), sample.begin(), sample.end());
    class_of[size] = static_cast<int>(samples.size()) - 1;
  }
  for (auto& sample : samples) model.durations.push_back(quantiles_of(std::move(sample)));
  for (JobShape& shape : model.shapes) shape.duration_class = class_of[size_of(shape.gpus)];
}

/// Mid-rank of each job's duration within its class, in (0, 1).
template <class Model>
std::vector<double> duration_ranks(std::span<const TraceJob> jobs, const std::vector<std::size_t>& shape_of,
                                   const Model& model) {
  std::vector<std::vector<double>> sorted(model.durations.size());
  const auto class_of = [&](std::size_t i) {
    return static_cast<std::size_t>(model.shapes[shape_of[i]].duration_class);
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) sorted[class_of(i)].push_back(jobs[i].duration_s);
  for (auto& sample : sorted) std::sort(sample.begin(), sample.end());
  std::vector<double> ranks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& sample = sorted[class_of(i)];
    const auto [low, high] = std::equal_range(sample.begin(), sample.end(), jobs[i].duration_s);
    ranks.push_back(0.5 * static_cast<double>((low - sample.begin()) + (high - sample.begin())) /
                    static_cast<double>(sample.size()));
  }
  return ranks;
}

/// Repeat probabilities per regime by the method of moments: what chance alone would repeat is taken off.
template <class Model>
void fit_repeats(const std::vector<std::size_t>& regime_of, const std::vector<std::size_t>& shape_of,
                 const std::vector<double>& rank, Model& model) {
  double chance = 0.0;
  for (const JobShape& shape : model.shapes) chance += shape.probability * shape.probability;
  const double width = model.duration_jitter, near_by_chance = width * (2.0 - width);
  for (std::size_t k = 0; k < model.regimes.size(); ++k) {
    double pairs = 0.0, same = 0.0, near = 0.0;
    for (std::size_t i = 0; i < regime_of.size(); ++i) {
      if (regime_of[i] != k) continue;
      pairs += 1.0;
      if (shape_of[i] != shape_of[i + 1]) continue;
      same += 1.0;
      near += std::fabs(rank[i] - rank[i + 1]) <= width ? 1.0 : 0.0;
    }
    GapRegime& regime = model.regimes[k];
    if (chance < 1.0 && pairs > 0.0)
      regime.repeat_shape = std::clamp((same / pairs - chance) / (1.0 - chance), 0.0, 1.0);
    const double copied = regime.repeat_shape / (regime.repeat_shape + (1.0 - regime.repeat_shape) * chance);
    if (same > 0.0 && copied > 0.0)
      regime.repeat_duration =
          std::clamp((near / same - near_by_chance) / ((1.0 - near_by_chance) * copied), 0.0, 1.0);
  }
}

}  // namespace mara::detail
