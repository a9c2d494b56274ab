#pragma once
// The expert: a parametric list scheduler over (job, option) pairs, strong once its sixteen numbers are
// tuned.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "mara/action/tiered_request.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// How many numbers tune a ListScheduler.
inline constexpr std::size_t kListParameters = 16;

/// The numbers theta of the score below.
struct ListParameters {
  std::array<double, kListParameters> theta{};

  friend bool operator==(const ListParameters&, const ListParameters&) = default;
};

/// Scores every feasible (job, option), sorts, and takes greedily. Lower scores come first; with times in
/// units of time_unit_s, T the time to finish under the option including start or restart cost, b the
/// remaining time on the job's best type at the requested size, k the GPUs of the option, p the speed-up
/// exponent, L = demand / GPUs (at most 3), D = demand of the jobs that can run on type 0 only / GPUs of type
/// 0 (at most 3):
///   log T + (th0 + th9 L) log(b + .5) + th10 [runs on one type] + th11 [on all but one] + th15 log(1 +
///   age/ideal)
///   + (th1 + th2 L + th12 p + .2 th13 log(b + .5)) log k
///   + [type 0] (th3 + th7 L + th14 D) + [type 1] (th4 + th8 L) - th5 [keeps its grant] - th6 [is running].
/// Ties: lower agent index, then lower option. `Types` as in TieredRequest. No allocation once reserve()
/// covers the number of agents.
template <int Types>
class ListScheduler {
 public:
  using Request = TieredRequest<Types>;

  ListScheduler(ListParameters parameters, double time_unit_s)
      : theta_(parameters.theta), unit_(time_unit_s) {}

  std::string_view name() const noexcept { return "tuned-list"; }
  /// Makes room for `agents` agents.
  void reserve(std::size_t agents) { entries_.reserve(agents * (Request::kOptions - 1)); }
  void set_parameters(const ListParameters& parameters) noexcept { theta_ = parameters.theta; }

  /// The whole decision, see the class. Readings that are not finite make no entry.
  void decide(const DecisionView& view, Allocation& allocation) {
    prepare(view);
    decide_rest(view, {}, allocation);
  }

  /// Scores and sorts for decide_rest().
  void prepare(const DecisionView& view) {
    score_all(view);
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      if (a.score != b.score) return a.score < b.score;
      return a.agent != b.agent ? a.agent < b.agent : a.option < b.option;
    });
  }

  /// The rest of a decision some of whose choices were made by others: claims for the agents with
  /// decided[agent] == 0 (all, when `decided` is empty) out of what is left. When the decided ones did as
  /// decide() would, so do these (where jobs share a GPU, up to which fractions the ledger happens to pack
  /// together).
  void decide_rest(const DecisionView& view, std::span<const std::uint8_t> decided,
                   Allocation& allocation) const {
    for (const Entry& entry : entries_) {
      if (!decided.empty() && decided[entry.agent] != 0) continue;
      if (!allocation.grant(entry.agent).empty()) continue;
      const Job& job = view.job(entry.agent);
      allocation.claim(entry.agent, job.demand, Request::grant(job, entry.option));
    }
  }

 private:
  struct Entry {
    double score;
    std::uint32_t agent;
    std::int32_t option;
  };

  void score_all(const DecisionView& view);

  std::array<double, kListParameters> theta_;
  double unit_;
  std::vector<Entry> entries_;
};

template <int Types>
void ListScheduler<Types>::score_all(const DecisionView& view) {
  std::array<double, Types> capacity{};
  double total = 0.0;
  for (int t = 0; t < std::min(Types, view.cluster->type_count()); ++t) {
    capacity[static_cast<std::size_t>(t)] = view.cluster->types[static_cast<std::size_t>(t)].gpus();
    total += capacity[static_cast<std::size_t>(t)];
  }
  const auto classify = [&](const Job& job) {
    std::uint32_t mask = 0;
    for (int t = 0; t < Types; ++t) {
      const auto i = static_cast<std::size_t>(t);
      if (job.type_speed[i] > 0.0 && capacity[i] >= job.requested.as_double()) mask |= 1u << t;
    }
    return mask;
  };
  double demand = 0.0, captive = 0.0;
  for (std::size_t i = 0; i < view.active.size(); ++i) {
    const double requested = view.job(i).requested.as_double();
    demand += requested;
    if (classify(view.job(i)) == 1u) captive += requested;
  }
  const double load = std::min(3.0, demand / std::max(1.0, total));
  const double pressure = std::min(3.0, captive / std::max(1.0, capacity[0]));
  const auto& th = theta_;
  entries_.clear();
  for (std::size_t i = 0; i < view.active.size(); ++i) {
    const Job& job = view.job(i);
    const JobState& state = view.active[i];
    const int classes = std::popcount(classify(job));
    double best_speed = 1e-12;
    for (int t = 0; t < Types; ++t)
      best_speed = std::max(best_speed, job.type_speed[static_cast<std::size_t>(t)]);
    const double requested = job.requested.as_double();
    const double ideal_rate = best_speed * job.speed_up(requested);
    const double b = state.remaining_work / ideal_rate / unit_;
    const double ideal_s = std::max(1.0, job.work / ideal_rate);
    const double age_s = std::max(0.0, view.now_s - job.submit_s);
    const double log_b = std::log(b + 0.5);
    const double p = std::log2(job.speed_up(2.0));
    const double common = (th[0] + th[9] * load) * log_b + (classes == 1 ? th[10] : 0.0) +
                          (classes == Types - 1 && Types > 2 ? th[11] : 0.0) +
                          th[15] * std::log1p(age_s / ideal_s) - (state.held.empty() ? 0.0 : th[6]);
    const double size_weight = th[1] + th[2] * load + th[12] * p + 0.2 * th[13] * log_b;
    for (int tier = 0; tier < kTiers; ++tier) {
      const Milli gpus = tier_gpus(job, tier);
      if (gpus.value <= 0) continue;
      const double k = gpus.as_double();
      const double speed_up = job.speed_up(k);
      const double size_term = size_weight * std::log(k);
      for (int t = 0; t < Types; ++t) {
        const double speed = job.type_speed[static_cast<std::size_t>(t)];
        if (!(speed > 0.0) || capacity[static_cast<std::size_t>(t)] < k) continue;
        const bool keeps = state.held == Grant{t, gpus};
        const double overhead_s = keeps            ? state.overhead_left_s
                                  : !state.started ? view.overheads.start_s
                                                   : view.overheads.restart_s;
        const double finish = (state.remaining_work / (speed * speed_up) + overhead_s) / unit_;
        double score = std::log(std::max(1e-9, finish)) + common + size_term - (keeps ? th[5] : 0.0);
        if (t == 0) score += th[3] + th[7] * load + th[14] * pressure;
        if (t == 1) score += th[4] + th[8] * load;
        if (!std::isfinite(score)) continue;
        entries_.push_back({score, static_cast<std::uint32_t>(i), 1 + t * kTiers + tier});
      }
    }
  }
}

}  // namespace mara
