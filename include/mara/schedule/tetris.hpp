#pragma once
// Tetris: multi-resource packing.

#include <array>

#include "mara/schedule/list_schedule.hpp"

namespace mara {

/// Amounts of (GPU, CPU, host memory), in any unit as long as it is the same for demand, free and capacity.
using PackingVector = std::array<double, 3>;

/// Alignment of a demand with what is free: the dot product of both, each divided by the capacity; a resource
/// of which there is none counts 0. Grandl et al., SIGCOMM'14 (packing score).
inline double alignment_score(const PackingVector& demand, const PackingVector& free,
                              const PackingVector& capacity) noexcept {
  double score = 0.0;
  for (std::size_t r = 0; r < demand.size(); ++r) {
    if (capacity[r] > 0.0) score += (demand[r] / capacity[r]) * (free[r] / capacity[r]);
  }
  return score;
}

struct TetrisConfig {
  /// Weight of the remaining-time term against alignment (the paper's multiplier of epsilon); 0: packing
  /// alone.
  double remaining_time_weight = 1.0;
};

/// Tetris (Grandl et al., "Multi-resource packing for cluster schedulers", SIGCOMM'14): again and again start
/// the pair of waiting job and GPU type with room for it that has the highest score: alignment_score of the
/// job's demand with what is free on the type, times how well the type suits the job, plus weight x epsilon /
/// (time to completion there), where epsilon makes the means of both terms over all pairs of waiting jobs and
/// types equal (the paper's combination of packing with shortest remaining time). Jobs get exactly the GPUs
/// they request; non-preemptive. Departures from the paper, which has one kind of machine: a GPU type plays
/// the part of a machine, and suitability. Ties: the earlier submitted; the lower type. As free amounts only
/// shrink during a decision, so do scores: a heap with lazy re-scoring gives the exact order; O(n (types +
/// log n)) when few scores change their order.
class Tetris {
 public:
  explicit Tetris(TetrisConfig config = {}) noexcept : config_(config) {}
  static constexpr std::string_view name() noexcept { return "tetris"; }

  void decide(const DecisionView& view, Allocation& allocation) {
    table_.build(view, allocation, false);
    measure_capacity(*view.cluster);
    keep_running(view, allocation);
    balance_terms(view, allocation);
    heap_.clear();
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      if (!allocation.grant(agent).empty()) continue;
      const Candidate candidate = best(view, allocation, agent);
      if (!candidate.option.none()) heap_.push_back(candidate);
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Candidate stale = heap_.back();
      heap_.pop_back();
      const Candidate fresh = best(view, allocation, stale.agent);
      if (fresh.option.none()) continue;
      if (fresh.score < stale.score) {
        heap_.push_back(fresh);
        std::push_heap(heap_.begin(), heap_.end(), later);
      } else {
        claim_option(view, table_, allocation, fresh.agent, fresh.option);
      }
    }
  }

 private:
  static constexpr double kInstant = 1e-3;  // seconds; shorter times count as this

  struct Candidate {
    double score = 0.0;
    std::size_t agent = 0;
    RunOption option{};
  };
  static bool later(const Candidate& a, const Candidate& b) noexcept {
    return a.score < b.score || (a.score == b.score && a.agent > b.agent);
  }

  void measure_capacity(const Cluster& cluster) noexcept {
    for (std::size_t type = 0; type < static_cast<std::size_t>(table_.types()); ++type) {
      const GpuType& t = cluster.types[type];
      capacity_[type] = {static_cast<double>(t.gpus()), t.cpu().as_double(),
                         static_cast<double>(t.memory_mib())};
    }
  }

  /// In (0, 1]: time to completion on the best type over that on `type`. Without it packing alone would send
  /// jobs to slow types as soon as these are the emptier ones.
  double suitability(std::size_t agent, int type) const noexcept {
    return std::max(table_.best_s(agent), kInstant) * urgency(agent, type);
  }

  /// Score of the demand on what `type` has free now, weighted by suitability.
  double alignment(const DecisionView& view, const Allocation& allocation, std::size_t agent,
                   int type) const noexcept {
    const Job& job = view.job(agent);
    const PackingVector& capacity = capacity_[static_cast<std::size_t>(type)];
    const PackingVector demand{job.requested.as_double(), job.demand.cpu.as_double(),
                               static_cast<double>(job.demand.memory_mib)};
    const PackingVector free{capacity[0] - allocation.used(type).as_double(),
                             allocation.free_cpu(type).as_double(),
                             static_cast<double>(allocation.free_memory_mib(type))};
    return alignment_score(demand, free, capacity) * suitability(agent, type);
  }

  /// 1 / time to completion; 0 where the job cannot run. Bounded for one that would complete at once.
  double urgency(std::size_t agent, int type) const noexcept {
    return 1.0 / std::max(table_.seconds(agent, {type, OptionTable::kExact}), kInstant);
  }

  void balance_terms(const DecisionView& view, const Allocation& allocation) noexcept {
    double alignments = 0.0, urgencies = 0.0;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      if (!allocation.grant(agent).empty()) continue;
      for (int type = 0; type < table_.types(); ++type) {
        const double urgent = urgency(agent, type);
        if (urgent <= 0.0) continue;
        alignments += alignment(view, allocation, agent, type);
        urgencies += urgent;
      }
    }
    epsilon_ = urgencies > 0.0 ? alignments / urgencies : 0.0;
  }

  Candidate best(const DecisionView& view, const Allocation& allocation, std::size_t agent) const noexcept {
    Candidate best{0.0, agent, {}};
    for (int type = 0; type < table_.types(); ++type) {
      const RunOption option{type, OptionTable::kExact};
      if (table_.seconds(agent, option) == OptionTable::kNever) continue;
      if (!allocation.fits(view.job(agent).demand, table_.grant(agent, option))) continue;
      const double score = alignment(view, allocation, agent, type) +
                           config_.remaining_time_weight * epsilon_ * urgency(agent, type);
      if (best.option.none() || score > best.score) best = {score, agent, option};
    }
    return best;
  }

  TetrisConfig config_;
  OptionTable table_;
  double epsilon_ = 0.0;
  std::array<PackingVector, kMaxGpuTypes> capacity_{};
  std::vector<Candidate> heap_;
};

}  // namespace mara
