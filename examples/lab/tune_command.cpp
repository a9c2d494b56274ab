// mara-lab tune: the list scheduler's parameters by the cross-entropy method on simulated workloads.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "commands.hpp"
#include "experiment.hpp"
#include "expert_file.hpp"
#include "mara/expert/cross_entropy.hpp"
#include "progress.hpp"

namespace lab {
namespace {

constexpr int kWorkloads = 8;

/// Mean log ratio of the list scheduler's JCT to that of heSRPT over a set of workloads: the same for a
/// crowded as for a quiet workload.
struct TuningSet {
  std::vector<std::vector<Job>> workloads;
  std::vector<double> reference;

  static Result<TuningSet> draw(const Scenario& scenario, std::uint64_t seed) {
    TuningSet set;
    for (int w = 0; w < kWorkloads; ++w) {
      auto jobs = scenario.draw(seed * 1000 + static_cast<std::uint64_t>(w), 400.0 * scenario.time_unit_s);
      if (!jobs) return jobs.error();
      Hesrpt rule;
      const auto result = simulate(scenario.cluster, *jobs, rule, SimulationConfig{});
      if (!result) return result.error();
      set.reference.push_back(measure(scenario.cluster, *result).mean_jct_s.value_or(1.0));
      set.workloads.push_back(std::move(*jobs));
    }
    return set;
  }

  double cost(const Scenario& scenario, const ListParameters& parameters) const {
    ListScheduler<kTypes> scheduler(parameters, scenario.time_unit_s);
    double sum = 0.0;
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      const auto result = simulate(scenario.cluster, workloads[w], scheduler, SimulationConfig{});
      if (!result) return INFINITY;
      const Metrics metrics = measure(scenario.cluster, *result);
      if (metrics.unfinished > 0 || !metrics.mean_jct_s) return INFINITY;
      sum += std::log(*metrics.mean_jct_s / reference[w]);
    }
    return sum / static_cast<double>(workloads.size());
  }
};

ListParameters parameters_of(std::span<const double> theta) {
  ListParameters parameters;
  std::copy(theta.begin(), theta.end(), parameters.theta.begin());
  return parameters;
}

}  // namespace

Status run_tune(const TuneOptions& options) {
  if (const Status ready = check_expert_target(options.out); !ready) return ready;
  const auto start = load_expert(options.expert);
  if (!start) return start.error();
  ScenarioOptions wanted;
  wanted.trace = options.trace;
  wanted.format = options.format;
  wanted.model = options.model;
  wanted.cluster = options.cluster;
  wanted.load = options.load.value_or(0.0);
  wanted.seed = options.seed;
  auto made = make_scenario(wanted);
  if (!made) return made.error();
  const Scenario& scenario = *made;
  auto set = TuningSet::draw(scenario, options.seed);
  auto held_out = TuningSet::draw(scenario, options.seed + 1'000'003);
  if (!set) return set.error();
  if (!held_out) return held_out.error();
  CrossEntropyConfig config;
  config.iterations = options.iterations;
  config.population = options.population;
  config.elite = std::max(2, options.population / 6);
  config.seed = options.seed;
  config.threads = options.threads > 0 ? options.threads
                                       : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::vector<double> spread = {.5, .5, .5, .5, .5, .7, .3, .5, .5, .5, .4, .3, .5, .5, .4, .3};
  Progress progress("tuning", "iterations");
  const std::size_t task = progress.add("tuned-list", options.iterations);
  Status status;
  // New workloads every iteration (common to its candidates), so that the parameters cannot fit one set by
  // heart.
  const auto tuned = minimise_cross_entropy(
      start->theta, spread,
      [&](std::span<const double> theta, int) { return set->cost(scenario, parameters_of(theta)); }, config,
      [&](const CrossEntropyProgress& done, std::span<const double>) {
        progress.update(task, done.iteration + 1);
        if (auto next =
                TuningSet::draw(scenario, options.seed + 1 + static_cast<std::uint64_t>(done.iteration));
            next) {
          *set = std::move(*next);
        } else {
          status = next.error();
        }
      });
  progress.finish();
  if (!status) return status;
  if (!tuned) return tuned.error();
  const ListParameters best = parameters_of(*tuned);
  std::string command = "mara-lab tune";
  if (!options.trace.empty())
    command += " --trace " + std::filesystem::path(options.trace).filename().string();
  command += " --iterations " + std::to_string(options.iterations) + " --population " +
             std::to_string(options.population) + " --seed " + std::to_string(options.seed);
  if (const Status saved = save_expert(options.out, best, command); !saved) return saved;
  const double before = std::exp(held_out->cost(scenario, *start)),
               after = std::exp(held_out->cost(scenario, best));
  if (options.json) {
    nlohmann::json json;
    json["theta"] = best.theta;
    json["held_out_jct_over_hesrpt_before"] = before;
    json["held_out_jct_over_hesrpt_after"] = after;
    json["file"] = options.out;
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    std::printf(
        "mean JCT over that of hesrpt, on %d workloads not used for tuning: %.4f before, %.4f "
        "after\nwritten: %s\n",
        kWorkloads, before, after, options.out.c_str());
  }
  return {};
}

}  // namespace lab
