#pragma once
// Gavel's linear program: which part of its time each job spends on each device type.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/linear_program.hpp"

namespace mara {

/// What the program knows of a job.
struct MaxMinJob {
  std::array<double, kMaxGpuTypes> speed{};  ///< relative, by device type; 0: cannot run there
  double scale = 1.0;                        ///< devices that it asks for
  double weight = 1.0;                       ///< 0: gets what the others leave

  friend auto operator<=>(const MaxMinJob&, const MaxMinJob&) noexcept = default;
};

/// The optimum.
struct MaxMinShares {
  std::vector<std::array<double, kMaxGpuTypes>> share;  ///< X: by job and type, each in [0, 1]
  double level = 0.0;  ///< the least scale x throughput / (weight x throughput under equal shares)
};

/// Heterogeneity-aware max-min fairness (Narayanan et al., "Heterogeneity-aware cluster scheduling policies
/// for deep learning workloads", OSDI'20, section 4.1): X maximises
///   min over jobs m of  (1 / w_m) x throughput(m, X) / throughput(m, X equal) x scale_m,
/// where throughput(m, X) = sum over types j of speed_mj X_mj, and under X equal each job spends on type j a
/// part devices_j / devices of its time; subject to X >= 0, sum over j of X_mj <= 1 and sum over m of
/// scale_m X_mj <= devices_j. Among the optima, one with the largest sum of normalised throughputs, so that
/// nothing stays idle that somebody could use (a second program, with the level kept). A job cannot use a
/// type with fewer devices than it asks for; one that can use no type has shares 0 and counts for nothing.
///
/// Equal jobs have equal shares and are one column of the program, which loses nothing as the optima are a
/// convex set. Errors: a number that is negative or not finite, or a scale of 0, naming job and field; those
/// of the solver.
template <LinearProgramSolver Solver>
Result<MaxMinShares> max_min_shares(Solver& solver, std::span<const double> devices,
                                    std::span<const MaxMinJob> jobs) {
  const std::size_t types = std::min<std::size_t>(devices.size(), static_cast<std::size_t>(kMaxGpuTypes));
  double total = 0.0;
  for (std::size_t t = 0; t < types; ++t) {
    if (auto ok = check_non_negative(devices[t], "devices[" + std::to_string(t) + "]"); !ok)
      return ok.error();
    total += devices[t];
  }
  std::map<MaxMinJob, std::size_t> index;
  std::vector<std::pair<MaxMinJob, double>> groups;  // and how many there are
  std::vector<std::size_t> group_of;
  for (std::size_t m = 0; m < jobs.size(); ++m) {
    MaxMinJob job = jobs[m];
    const std::string name = "job " + std::to_string(m) + ": ";
    if (auto ok = check_positive(job.scale, name + "scale"); !ok) return ok.error();
    if (auto ok = check_non_negative(job.weight, name + "weight"); !ok) return ok.error();
    double equal = 0.0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(kMaxGpuTypes); ++t) {
      if (t >= types) {
        job.speed[t] = 0.0;
        continue;
      }
      if (auto ok = check_non_negative(job.speed[t], name + "speed"); !ok) return ok.error();
      equal += job.speed[t] * devices[t] / total;
      if (job.scale > devices[t]) job.speed[t] = 0.0;
    }
    for (double& speed : job.speed) speed = equal > 0.0 ? speed / equal : 0.0;
    const auto [found, added] = index.try_emplace(job, groups.size());
    if (added) groups.push_back({job, 0.0});
    groups[found->second].second += 1.0;
    group_of.push_back(found->second);
  }

  LinearProgram program;
  const std::size_t level = program.add_variable(1.0, 0.0, LinearProgram::kInfinity);
  std::vector<std::vector<LinearProgram::Term>> of_type(types);
  std::vector<double> second(1, 0.0);  // the objective of the second program
  std::vector<std::array<std::size_t, kMaxGpuTypes>> variable(groups.size());
  bool fair = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& [job, count] = groups[g];
    std::vector<LinearProgram::Term> time, gain;
    for (std::size_t t = 0; t < types; ++t) {
      variable[g][t] = 0;
      if (!(job.speed[t] > 0.0)) continue;
      const std::size_t x = variable[g][t] = program.add_variable(0.0, 0.0, 1.0);
      second.push_back(count * job.speed[t]);
      time.push_back({x, 1.0});
      if (job.weight > 0.0) gain.push_back({x, job.scale / job.weight * job.speed[t]});
      of_type[t].push_back({x, count * job.scale});
    }
    if (time.empty()) continue;
    program.add_row(std::move(time), -LinearProgram::kInfinity, 1.0);
    if (gain.empty()) continue;
    fair = true;
    gain.push_back({level, -1.0});
    program.add_row(std::move(gain), 0.0, LinearProgram::kInfinity);
  }
  for (std::size_t t = 0; t < types; ++t)
    if (!of_type[t].empty()) program.add_row(std::move(of_type[t]), -LinearProgram::kInfinity, devices[t]);

  MaxMinShares result;
  result.share.assign(jobs.size(), {});
  if (program.variables() == 1) return result;  // nobody can run
  if (fair) {
    const auto first = solver.solve(program);
    if (!first) return first.error();
    result.level = first->x[level];
    // A little less, lest rounding make it infeasible.
    program.lower[level] = std::max(0.0, result.level * (1.0 - 1e-9));
  }
  program.upper[level] = program.lower[level];
  program.objective = second;
  const auto solution = solver.solve(program);
  if (!solution) return solution.error();
  for (std::size_t m = 0; m < jobs.size(); ++m)
    for (std::size_t t = 0; t < types; ++t)
      if (const std::size_t x = variable[group_of[m]][t]; x != 0)
        result.share[m][t] = std::clamp(solution->x[x], 0.0, 1.0);
  return result;
}

}  // namespace mara
