#pragma once
// The options of every job at a decision (GPU type x tier), and how long the job would take under each.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "mara/action/tier.hpp"
#include "mara/cluster/allocation.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// One way to run a job: GPU type and tier of its request. The default is none.
struct RunOption {
  int type = -1;
  int tier = -1;

  constexpr bool none() const noexcept { return type < 0; }
  friend constexpr bool operator==(const RunOption&, const RunOption&) noexcept = default;
};

/// Seconds that must pass before `agent` makes progress under `grant`: what is left to pay under the grant it
/// already holds, the start cost if it never ran, else the restart cost.
inline double overhead_s(const DecisionView& view, std::size_t agent, Grant grant) noexcept {
  const JobState& state = view.active[agent];
  if (!state.held.empty() && state.held == grant) return state.overhead_left_s;
  return state.started ? view.overheads.restart_s : view.overheads.start_s;
}

/// The time to completion of every active job under every option (GPU type x tier), start and restart costs
/// included. Rebuilt at each decision; keeps its buffers, so it allocates only when the number of agents
/// grows.
class OptionTable {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr int kExact = static_cast<int>(Tier::kExact);

  /// Tabulates `view`. `empty` must be the decision's ledger before any claim: an option that does not fit it
  /// can never be held. With `elastic` false only the requested number of GPUs is an option. O(agents x types
  /// x tiers).
  void build(const DecisionView& view, const Allocation& empty, bool elastic) {
    agents_ = view.active.size();
    types_ = std::min(view.cluster->type_count(), kMaxGpuTypes);
    elastic_ = elastic;
    seconds_.assign(agents_ * stride(), kNever);
    gpus_.assign(agents_ * kTiers, Milli{});
    ideal_s_.assign(agents_, kNever);
    best_s_.assign(agents_, kNever);
    for (std::size_t agent = 0; agent < agents_; ++agent) tabulate(view, empty, agent);
  }

  std::size_t agents() const noexcept { return agents_; }
  int types() const noexcept { return types_; }
  /// Seconds until `agent` would complete under `option` if it kept it; kNever when it cannot run so.
  double seconds(std::size_t agent, RunOption option) const noexcept {
    return seconds_[agent * stride() + static_cast<std::size_t>(option.type * kTiers + option.tier)];
  }
  Milli gpus(std::size_t agent, int tier) const noexcept {
    return gpus_[agent * kTiers + static_cast<std::size_t>(tier)];
  }
  /// The tier of the fewest GPUs that the job has.
  int smallest_tier(std::size_t agent) const noexcept { return gpus(agent, 0).value > 0 ? 0 : kExact; }
  Grant grant(std::size_t agent, RunOption option) const noexcept {
    return Grant{option.type, gpus(agent, option.tier)};
  }
  /// Remaining seconds at the requested size on the job's best type, without start or restart costs.
  double ideal_s(std::size_t agent) const noexcept { return ideal_s_[agent]; }
  /// The same with the cost of getting there (least seconds() over types at the requested size).
  double best_s(std::size_t agent) const noexcept { return best_s_[agent]; }
  /// Remaining GPU-seconds at the requested size on the job's best type: its size as a load on the cluster.
  double gpu_seconds(std::size_t agent) const noexcept {
    return ideal_s_[agent] * gpus(agent, kExact).as_double();
  }

  /// The option between tiers `first` and `last` that fits now and completes `agent` soonest; none when
  /// nothing fits. Ties: the held grant, then the lower type, then the lower tier.
  RunOption soonest(const DecisionView& view, const Allocation& allocation, std::size_t agent,
                    int first = kExact, int last = kExact) const noexcept {
    RunOption best;
    double best_seconds = kNever;
    for (int type = 0; type < types_; ++type) {
      for (int tier = first; tier <= last; ++tier) {
        const RunOption option{type, tier};
        const double time = seconds(agent, option);
        const bool better = time < best_seconds || (time == best_seconds && time < kNever &&
                                                    grant(agent, option) == view.active[agent].held);
        if (!better || !allocation.fits(view.job(agent).demand, grant(agent, option))) continue;
        best = option;
        best_seconds = time;
      }
    }
    return best;
  }

 private:
  std::size_t stride() const noexcept { return static_cast<std::size_t>(types_ * kTiers); }

  void tabulate(const DecisionView& view, const Allocation& empty, std::size_t agent) noexcept {
    const Job& job = view.job(agent);
    const double remaining = view.active[agent].remaining_work;
    for (int tier = 0; tier < kTiers; ++tier) {
      if (!elastic_ && tier != kExact) continue;
      const Milli gpus = tier_gpus(job, tier);
      if (gpus.value <= 0) continue;
      gpus_[agent * kTiers + static_cast<std::size_t>(tier)] = gpus;
      const double speed_up = job.speed_up(gpus.as_double());
      for (int type = 0; type < types_; ++type) {
        const Grant grant{type, gpus};
        const double run = remaining / (job.type_speed[static_cast<std::size_t>(type)] * speed_up);
        // A type of speed 0 gives infinity, bad numbers NaN or less than 0: none is an option.
        if (!(run >= 0.0 && run < kNever) || !empty.fits(job.demand, grant)) continue;
        const double total = run + overhead_s(view, agent, grant);
        seconds_[agent * stride() + static_cast<std::size_t>(type * kTiers + tier)] = total;
        if (tier != kExact) continue;
        ideal_s_[agent] = std::min(ideal_s_[agent], run);
        best_s_[agent] = std::min(best_s_[agent], total);
      }
    }
  }

  std::size_t agents_ = 0;
  int types_ = 0;
  bool elastic_ = false;
  std::vector<double> seconds_;  // agents x types x tiers
  std::vector<Milli> gpus_;      // agents x tiers
  std::vector<double> ideal_s_, best_s_;
};

/// Claims `option` for `agent`; false when there is none, or it does not fit.
inline bool claim_option(const DecisionView& view, const OptionTable& table, Allocation& allocation,
                         std::size_t agent, RunOption option) noexcept {
  return !option.none() && allocation.claim(agent, view.job(agent).demand, table.grant(agent, option));
}

}  // namespace mara
