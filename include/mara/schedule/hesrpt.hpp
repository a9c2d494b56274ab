#pragma once
// heSRPT: shares that are optimal for power-law speed-ups.

#include "mara/core/portable_math.hpp"
#include "mara/schedule/list_schedule.hpp"

namespace mara {

/// Exponent p of k^p for heSRPT: the job's own; for Amdahl's law the one that agrees at the requested number
/// of GPUs (at 2 for smaller requests).
inline double speed_up_exponent(const Job& job) noexcept {
  if (job.speed_up.kind == SpeedUp::Kind::kPower) return job.speed_up.parameter;
  const double gpus = std::max(2.0, job.requested.as_double());
  return portable_log(job.speed_up(gpus)) / portable_log(gpus);
}

/// heSRPT's share for the smallest of `jobs` jobs, of the capacity which these have together:
/// 1 - ((jobs - 1)/jobs)^(1/(1 - p)); 1 for p >= 1 (SRPT: everything for the smallest). As the optimal shares
/// are the same for the larger jobs alone (scale-free, Berg et al. 2020), job i of M with sizes in descending
/// order gets (i/M)^(1/(1-p)) - ((i-1)/M)^(1/(1-p)) of the whole when this is applied to what the smaller
/// ones left.
inline double hesrpt_share(std::size_t jobs, double p) noexcept {
  if (jobs <= 1 || p >= 1.0) return 1.0;
  const double n = static_cast<double>(jobs);
  return 1.0 - portable_exp(portable_log((n - 1.0) / n) / (1.0 - p));
}

/// heSRPT (Berg, Vesilo & Harchol-Balter, "heSRPT: parallel scheduling to minimize mean slowdown",
/// Performance Evaluation 144, 2020; here its form for mean flow time), preemptive and elastic. Jobs in
/// ascending order of size (remaining GPU-seconds at the requested size) get hesrpt_share of what is still
/// free, with their own exponent. Free GPUs of a type count by the job's speed there relative to its best
/// type. The share is rounded down to half, exactly or double, at least to the smallest the job has. For a
/// running job a tier above what it holds counts times sqrt(2), one that it holds or exceeds divided by
/// sqrt(2), lest jobs flip between tiers as others come and go (fewer restarts and shorter completion times
/// than the nearest tier). Up to that tier the option that completes soonest is taken. What is left goes to
/// the same jobs in the same order, each moving to the option that completes it soonest if that repays a
/// restart. Ties: the earlier submitted; the held grant, then the lower type, then the lower tier. O(n log n
/// + n types x tiers) per decision.
class Hesrpt {
 public:
  static constexpr std::string_view name() noexcept { return "hesrpt"; }

  void decide(const DecisionView& view, Allocation& allocation) {
    table_.build(view, allocation, true);
    const std::size_t agents = view.active.size();
    order_.clear();
    for (std::size_t agent = 0; agent < agents; ++agent) order_.add(agent, table_.gpu_seconds(agent));
    order_.sort();
    for (std::size_t rank = 0; rank < agents; ++rank) {
      const std::size_t agent = order_[rank];
      const double share = hesrpt_share(agents - rank, speed_up_exponent(view.job(agent)));
      const int tier = rounded_tier(view, agent, share * free_capacity(view, allocation, agent));
      claim_option(view, table_, allocation, agent, table_.soonest(view, allocation, agent, 0, tier));
    }
    for (std::size_t rank = 0; rank < agents; ++rank) {
      allocation.release(order_[rank]);  // what it held fits again, so that this cannot lose the grant
      claim_soonest(view, allocation, order_[rank]);
    }
    // A move to another type may have freed GPUs for one that waits.
    for (std::size_t rank = 0; rank < agents; ++rank) {
      if (allocation.grant(order_[rank]).empty()) claim_soonest(view, allocation, order_[rank]);
    }
  }

 private:
  /// Free GPUs, in GPUs of the job's best type.
  double free_capacity(const DecisionView& view, const Allocation& allocation,
                       std::size_t agent) const noexcept {
    const Job& job = view.job(agent);
    double fastest = 0.0, capacity = 0.0;
    for (int type = 0; type < table_.types(); ++type) {
      if (table_.seconds(agent, {type, OptionTable::kExact}) == OptionTable::kNever) continue;
      const double speed = job.type_speed[static_cast<std::size_t>(type)];
      fastest = std::max(fastest, speed);
      capacity += speed * allocation.free_gpus(type);
    }
    return fastest > 0.0 ? capacity / fastest : 0.0;
  }

  void claim_soonest(const DecisionView& view, Allocation& allocation, std::size_t agent) const noexcept {
    claim_option(view, table_, allocation, agent, table_.soonest(view, allocation, agent, 0, kTiers - 1));
  }

  int rounded_tier(const DecisionView& view, std::size_t agent, double target) const noexcept {
    constexpr double kSlack = 1.4142135623730951;
    const Milli held = view.active[agent].held.gpus;
    int tier = table_.smallest_tier(agent);
    for (int next = tier + 1; next < kTiers; ++next) {
      const Milli gpus = table_.gpus(agent, next);
      const double slack = held.value == 0 ? 1.0 : held >= gpus ? 1.0 / kSlack : kSlack;
      if (gpus.value > 0 && target >= gpus.as_double() * slack) tier = next;
    }
    return tier;
  }

  OptionTable table_;
  AgentOrder order_;
};

}  // namespace mara
