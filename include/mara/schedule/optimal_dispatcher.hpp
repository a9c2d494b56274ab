#pragma once
// The upper reference: at each decision the best allocation that an integer linear program finds.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/linear_program.hpp"
#include "mara/schedule/list_schedule.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/pooled_dispatcher.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// Choices of OptimalAllocation.
struct OptimalOptions {
  /// Jobs may get half of or double what they request.
  bool elastic = true;
  /// Jobs that the program decides on: those that hold something and, in the order of the shortest remaining
  /// time, as many others as make this many; the rest get what it leaves.
  std::size_t candidates = 128;
  /// How much the delay that a job's wasted GPU-seconds cause to waiting jobs counts beside its own time.
  double waste_weight = 1.0;
};

/// Whether the options make sense; the error names the field and the value.
inline Status check_options(const OptimalOptions& options) {
  if (options.candidates == 0) return Error{ErrorCode::kInvalidArgument, "candidates is 0"};
  return check_non_negative(options.waste_weight, "waste_weight");
}

/// What the solver did over a run.
struct OptimalReport {
  std::uint64_t programs = 0;   ///< that were to be solved
  std::uint64_t optimal = 0;    ///< proven best within the solver's gap
  std::uint64_t cut_off = 0;    ///< ended at a limit; the best found by then was used
  std::uint64_t fallbacks = 0;  ///< ended without any solution; the greedy allocation was used
  std::uint64_t refused = 0;   ///< grants of a solution that the ledger refused: fractions that fit no device
  std::uint64_t left_out = 0;  ///< jobs beyond the candidates, summed over decisions
  double gap_sum = 0.0;        ///< of (bound - objective) / objective, over those with a solution
  double worst_gap = 0.0;

  /// Mean gap of the programs with a solution; 0 without any.
  double mean_gap() const noexcept {
    const std::uint64_t found = optimal + cut_off;
    return found > 0 ? gap_sum / static_cast<double>(found) : 0.0;
  }
};

/// A pooled rule that solves, at each decision point, the integer linear program
///   maximise  sum over jobs j and options o of  v_jo x_jo,   v_jo = w_j / (T_jo (1 + n (1 - e_jo) k_jo / G))
///   subject to  sum over o of x_jo <= 1,  and for each type the GPUs, CPU and memory of the options chosen
///   there at most what the type has;  x_jo in {0, 1},
/// where an option is a device type and a tier of the request, T_jo the time in which the job would complete
/// if it kept the option from now on, start and restart costs included, and w_j = Job::weight. Preemptive:
/// running jobs are decided on anew, and what they hold is the option without a restart in T.
///
/// Why this objective: 1 / T is the rate at which a job completes, so the program maximises the rate at which
/// jobs leave. With one GPU it is SRPT, which is optimal for mean completion time (Schrage, Operations
/// Research 16, 1968); with jobs of several GPUs the relaxed program serves by w / (T x GPUs), Smith's ratio
/// (Smith, "Various optimizers for single-stage production", Naval Research Logistics 3, 1956). Jobs that can
/// be resized also waste: k GPUs at the efficiency e = (S(k) / k) / (the largest of the job's options) use k
/// T (1 - e) GPU-seconds more than need be, which on G GPUs delay each of n waiting jobs by k T (1 - e) / G
/// seconds; that delay, times waste_weight, is added to T. n is the part of the jobs for which there is no
/// room at the requested sizes: jobs x max(0, 1 - G / GPUs requested). It is myopic: it knows nothing of
/// arrivals to come, and is a reference for rules that do not either, not a bound; for that see
/// mean_jct_lower_bound.
///
/// What the program leaves goes to the jobs without a grant in the order of v / GPUs. When the solver
/// finds no solution in its limits that order serves all (report().fallbacks). Ties are the solver's.
template <LinearProgramSolver Solver>
class OptimalAllocation {
 public:
  static_assert(Solver::kInteger, "OptimalAllocation needs a solver of integer programs, such as CbcSolver");

  explicit OptimalAllocation(Solver solver = Solver{}, OptimalOptions options = {})
      : solver_(std::move(solver)), options_(options) {}

  std::string_view name() const noexcept { return options_.elastic ? "ilp" : "ilp-rigid"; }
  const OptimalReport& report() const noexcept { return report_; }

  void decide(const DecisionView& view, Allocation& allocation) {
    table_.build(view, allocation, options_.elastic);
    choose_candidates(view);
    list_options(view);
    if (choices_.empty()) return;
    if (everybody_fits(view, allocation)) return;
    solve(view, allocation);
    serve_greedily(view, allocation);
  }

 private:
  struct Choice {
    std::size_t agent = 0;
    RunOption option;
    double value = 0.0;    // v
    double density = 0.0;  // v / GPUs
    bool candidate = false;
  };

  void choose_candidates(const DecisionView& view) {
    candidate_.assign(view.active.size(), false);
    order_.clear();
    std::size_t chosen = 0;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      if (view.active[agent].held.empty()) {
        order_.add(agent, table_.best_s(agent));
      } else {
        candidate_[agent] = true;
        ++chosen;
      }
    }
    order_.sort();
    std::size_t rank = 0;
    for (; rank < order_.size() && chosen < options_.candidates; ++rank, ++chosen)
      candidate_[order_[rank]] = true;
    report_.left_out += order_.size() - rank;
  }

  void list_options(const DecisionView& view) {
    constexpr double kInstant = 1e-3;  // seconds; shorter times count as this
    choices_.clear();
    const double gpus_there = view.cluster->gpus();
    const double waiting = options_.waste_weight * jobs_without_room(view, gpus_there);
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      const double best_efficiency = largest_efficiency(view, agent);
      const double given = view.job(agent).weight;
      const double weight = given > 0.0 && libm::isfinite(given) ? given : 0.0;
      for (int type = 0; type < table_.types(); ++type) {
        for (int tier = 0; tier < kTiers; ++tier) {
          const RunOption option{type, tier};
          const double seconds = table_.seconds(agent, option);
          if (!(seconds < OptionTable::kNever)) continue;
          const double gpus = table_.gpus(agent, tier).as_double();
          const double wasted = 1.0 - view.job(agent).speed_up(gpus) / gpus / best_efficiency;
          const double delay = waiting * std::max(0.0, wasted) * gpus / gpus_there;
          const double value = weight / (std::max(seconds, kInstant) * (1.0 + delay));
          choices_.push_back({agent, option, value, value / gpus, static_cast<bool>(candidate_[agent])});
        }
      }
    }
  }

  // Jobs for which there is no room when all get what they request.
  static double jobs_without_room(const DecisionView& view, double gpus_there) noexcept {
    double requested = 0.0;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent)
      requested += view.job(agent).requested.as_double();
    if (!(requested > gpus_there)) return 0.0;
    return static_cast<double>(view.active.size()) * (1.0 - gpus_there / requested);
  }
  // The largest speed-up per GPU of a job's tiers.
  double largest_efficiency(const DecisionView& view, std::size_t agent) const noexcept {
    double largest = 0.0;
    for (int tier = 0; tier < kTiers; ++tier)
      if (const double gpus = table_.gpus(agent, tier).as_double(); gpus > 0.0)
        largest = std::max(largest, view.job(agent).speed_up(gpus) / gpus);
    return largest;
  }

  // When every job can have its best option at once there is nothing to decide.
  bool everybody_fits(const DecisionView& view, Allocation& allocation) {
    bool fits = true;
    for (std::size_t i = 0; i < choices_.size() && fits;) {
      std::size_t best = i;
      const std::size_t agent = choices_[i].agent;
      for (; i < choices_.size() && choices_[i].agent == agent; ++i) {
        const bool tie = choices_[i].value == choices_[best].value &&
                         table_.grant(agent, choices_[i].option) == view.active[agent].held;
        if (choices_[i].value > choices_[best].value || tie) best = i;
      }
      fits = claim_option(view, table_, allocation, agent, choices_[best].option);
    }
    if (fits) return true;
    allocation.reset(view.active.size());
    return false;
  }

  LinearProgram program_of(const DecisionView& view, const Allocation& empty) {
    LinearProgram program;
    std::vector<LinearProgram::Term> one;
    std::vector<std::vector<LinearProgram::Term>> gpus(static_cast<std::size_t>(table_.types())), cpu(gpus),
        memory(gpus);
    double largest = 0.0;
    for (const Choice& choice : choices_)
      if (choice.candidate) largest = std::max(largest, choice.value);
    variables_.clear();
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const Choice& choice = choices_[i];
      if (!choice.candidate) continue;
      // The best job is worth 1000, so that the solver's tolerances mean the same at every decision.
      const double value = largest > 0.0 ? 1000.0 * choice.value / largest : 0.0;
      const std::size_t x = program.add_variable(value, 0.0, 1.0, true);
      variables_.push_back(i);
      one.push_back({x, 1.0});
      const Demand& demand = view.job(choice.agent).demand;
      const auto type = static_cast<std::size_t>(choice.option.type);
      gpus[type].push_back({x, table_.gpus(choice.agent, choice.option.tier).as_double()});
      if (demand.cpu.value > 0) cpu[type].push_back({x, demand.cpu.as_double()});
      if (demand.memory_mib > 0) memory[type].push_back({x, static_cast<double>(demand.memory_mib)});
      if (i + 1 < choices_.size() && choices_[i + 1].agent == choice.agent) continue;
      program.add_row(std::exchange(one, {}), -LinearProgram::kInfinity, 1.0);
    }
    const auto limit = [&](std::vector<LinearProgram::Term>& terms, double most) {
      double sum = 0.0;
      for (const LinearProgram::Term& term : terms) sum += term.factor;
      if (sum > most) program.add_row(std::move(terms), -LinearProgram::kInfinity, most);
    };
    for (int t = 0; t < table_.types(); ++t) {
      const auto type = static_cast<std::size_t>(t);
      limit(gpus[type], static_cast<double>(empty.free_gpus(t)));
      limit(cpu[type], empty.free_cpu(t).as_double());
      limit(memory[type], static_cast<double>(empty.free_memory_mib(t)));
    }
    return program;
  }

  void solve(const DecisionView& view, Allocation& allocation) {
    const LinearProgram program = program_of(view, allocation);
    ++report_.programs;
    const auto solution = solver_.solve(program);
    if (!solution) {
      ++report_.fallbacks;
      return;
    }
    ++(solution->optimal ? report_.optimal : report_.cut_off);
    const double gap = solution->objective > 0.0
                           ? std::max(0.0, solution->bound - solution->objective) / solution->objective
                           : 0.0;
    report_.gap_sum += gap;
    report_.worst_gap = std::max(report_.worst_gap, gap);
    for (std::size_t x = 0; x < variables_.size(); ++x) {
      if (solution->x[x] < 0.5) continue;
      const Choice& choice = choices_[variables_[x]];
      if (!claim_option(view, table_, allocation, choice.agent, choice.option)) ++report_.refused;
    }
  }

  void serve_greedily(const DecisionView& view, Allocation& allocation) {
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const Choice& a, const Choice& b) { return a.density > b.density; });
    for (const Choice& choice : choices_)
      if (allocation.grant(choice.agent).empty())
        claim_option(view, table_, allocation, choice.agent, choice.option);
  }

  Solver solver_;
  OptimalOptions options_;
  OptimalReport report_;
  OptionTable table_;
  AgentOrder order_;
  std::vector<char> candidate_;         // by agent
  std::vector<Choice> choices_;         // by agent, type, tier
  std::vector<std::size_t> variables_;  // the choice of each variable
};

/// OptimalAllocation on the nodes of a platform. Its program knows types, not nodes: PooledOptions::repack
/// comes closest to what it decides.
template <LinearProgramSolver Solver, PlacementRule Placing = Consolidated>
using OptimalDispatcher = PooledDispatcher<OptimalAllocation<Solver>, Placing>;

}  // namespace mara
