#pragma once
// Gavel: heterogeneity-aware max-min fairness, carried out in rounds.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/schedule/max_min_shares.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/pooled_dispatcher.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// Choices of MaxMinFair.
struct MaxMinOptions {
  double round_s = 360.0;  ///< length of a round; above 0
};

/// Whether the options make sense; the error names the field and the value.
inline Status check_options(const MaxMinOptions& options) {
  return check_positive(options.round_s, "round_s");
}

/// Gavel (Narayanan et al., OSDI'20) as a pooled rule: max_min_shares says which part X of its time a job
/// should spend on each type, and rounds carry it out (section 5). At the beginning of a round X is computed
/// anew if jobs came or went since, and the pairs of job and type are served in the order of priority: the
/// time that the job was to have on the type, this round included, divided by the time it had there; where X
/// stays as it is that is the paper's X / f. Pairs with X = 0 come last, so that nothing stays idle. Within a
/// round a running job keeps what it holds; what others leave goes to waiting jobs in the same order, where
/// one that came in this round counts with X equal. When all can have their fastest type at once they do,
/// without a program. Jobs get exactly the GPUs they request. Ties: larger X, faster type for the job, the
/// earlier submitted, the lower type.
///
/// Weights are Job::weight; one that is not finite or not above 0 counts as 0. When the solver fails, X is X
/// equal (on each type in proportion to its devices) for all, and failures() counts it. A decision costs
/// O(jobs x types x log), and once a round at most the linear program.
template <LinearProgramSolver Solver>
class MaxMinFair {
 public:
  explicit MaxMinFair(Solver solver = Solver{}, MaxMinOptions options = {})
      : solver_(std::move(solver)), options_(options) {}

  static constexpr std::string_view name() noexcept { return "gavel"; }
  /// When the present round ends; infinity when nobody waits for it.
  double wake_s() const noexcept { return wake_; }
  /// Linear programs that were solved, and that the solver could not solve.
  std::uint64_t solved() const noexcept { return solved_; }
  std::uint64_t failures() const noexcept { return failures_; }

  void decide(const DecisionView& view, Allocation& allocation) {
    types_ = std::min<std::size_t>(view.cluster->types.size(), static_cast<std::size_t>(kMaxGpuTypes));
    const bool changed = look_at_jobs(view);
    book(view);
    const bool new_round = !(view.now_s < round_end_);
    stale_ = stale_ || changed;
    if (everybody_at_best(view, allocation, new_round)) return;
    if (new_round && std::exchange(stale_, false)) solve(view);
    if (new_round) round_end_ = view.now_s + options_.round_s;
    if (!new_round)
      for (std::size_t agent = 0; agent < view.active.size(); ++agent)
        if (!view.active[agent].held.empty())
          allocation.claim(agent, view.job(agent).demand, view.active[agent].held);
    rank(view, allocation);
    for (const Pair& pair : pairs_)
      if (allocation.grant(pair.agent).empty())
        allocation.claim(pair.agent, view.job(pair.agent).demand,
                         {static_cast<std::int32_t>(pair.type), view.job(pair.agent).requested});
    bool served = true;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent)
      served = served && !allocation.grant(agent).empty();
    wake_ = served && types_ == 1 ? std::numeric_limits<double>::infinity() : round_end_;
  }

 private:
  using ByType = std::array<double, kMaxGpuTypes>;
  struct Account {
    std::int64_t id = -1;
    double submit_s = -1.0;
    bool here = false;
    ByType share{}, due_s{}, had_s{};
  };
  struct Pair {
    double priority = 0.0, share = 0.0, speed = 0.0;
    std::size_t agent = 0, type = 0;
    bool operator<(const Pair& other) const noexcept {  // who is served first
      if (priority != other.priority) return priority > other.priority;
      if (share != other.share) return share > other.share;
      if (speed != other.speed) return speed > other.speed;
      return agent != other.agent ? agent < other.agent : type < other.type;
    }
  };

  Account& account(const DecisionView& view, std::size_t agent) { return accounts_[view.active[agent].job]; }

  ByType equal_shares() const noexcept {
    ByType equal{};
    double total = 0.0;
    for (const double devices : devices_) total += devices;
    for (std::size_t t = 0; t < types_ && total > 0.0; ++t) equal[t] = devices_[t] / total;
    return equal;
  }

  // Opens accounts for new jobs and closes those of jobs that left; whether there were any, or the pool is
  // another.
  bool look_at_jobs(const DecisionView& view) {
    bool changed = devices_.size() != types_;
    devices_.resize(types_);
    for (std::size_t t = 0; t < types_; ++t) {
      const double devices = view.cluster->types[t].gpus();
      changed = changed || devices != devices_[t];
      devices_[t] = devices;
    }
    const ByType equal = equal_shares();
    std::size_t known = 0;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      const std::uint32_t index = view.active[agent].job;
      if (index >= accounts_.size()) accounts_.resize(index + std::size_t{1});
      Account& account = accounts_[index];
      const Job& job = view.job(agent);
      // An index may be used again after its job has left.
      if (account.here && account.id == job.id && account.submit_s == job.submit_s) {
        ++known;
        continue;
      }
      account = Account{
          .id = job.id, .submit_s = job.submit_s, .here = true, .share = equal, .due_s = {}, .had_s = {}};
      changed = true;
    }
    changed = changed || known != members_.size();
    if (changed) {
      for (const std::uint32_t index : members_) accounts_[index].here = false;
      members_.clear();
      for (const JobState& state : view.active) {
        members_.push_back(state.job);
        accounts_[state.job].here = true;
      }
    }
    return changed;
  }

  // Whether all jobs can have the type that is fastest for them at once, and within a round without a move:
  // there is no better optimum then, and no program to solve.
  bool everybody_at_best(const DecisionView& view, Allocation& allocation, bool new_round) {
    bool all = true;
    for (std::size_t agent = 0; agent < view.active.size() && all; ++agent) {
      const Job& job = view.job(agent);
      const Grant held = view.active[agent].held;
      const auto begin = job.type_speed.begin(), end = begin + static_cast<std::ptrdiff_t>(types_);
      const auto fastest = std::max_element(begin, end);
      Grant grant{static_cast<std::int32_t>(fastest - begin), job.requested};
      if (!held.empty() && job.type_speed[static_cast<std::size_t>(held.type)] == *fastest) grant = held;
      all = (new_round || held.empty() || grant == held) && allocation.claim(agent, job.demand, grant);
    }
    if (!all) {
      allocation.reset(view.active.size());
      return false;
    }
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      Account& account = this->account(view, agent);
      account.share.fill(0.0);
      account.share[static_cast<std::size_t>(allocation.grant(agent).type)] = 1.0;
    }
    stale_ = true;  // as soon as somebody has to wait
    wake_ = std::numeric_limits<double>::infinity();
    return true;
  }

  // What was due and what was had since the last decision.
  void book(const DecisionView& view) {
    const double elapsed = view.now_s - last_s_;
    last_s_ = view.now_s;
    if (!(elapsed > 0.0)) return;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      Account& account = this->account(view, agent);
      for (std::size_t t = 0; t < types_; ++t) account.due_s[t] += account.share[t] * elapsed;
      const Grant held = view.active[agent].held;
      if (!held.empty()) account.had_s[static_cast<std::size_t>(held.type)] += elapsed;
    }
  }

  void solve(const DecisionView& view) {
    rows_.clear();
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      const Job& job = view.job(agent);
      MaxMinJob row;
      for (std::size_t t = 0; t < types_; ++t) row.speed[t] = job.type_speed[t];
      row.scale = job.requested.as_double();
      row.weight = job.weight > 0.0 && libm::isfinite(job.weight) ? job.weight : 0.0;
      rows_.push_back(row);
    }
    const auto shares = max_min_shares(solver_, devices_, rows_);
    ++(shares ? solved_ : failures_);
    for (std::size_t agent = 0; agent < view.active.size(); ++agent)
      account(view, agent).share = shares ? shares->share[agent] : equal_shares();
  }

  void rank(const DecisionView& view, const Allocation& allocation) {
    pairs_.clear();
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      if (!allocation.grant(agent).empty()) continue;
      const Account& account = this->account(view, agent);
      for (std::size_t t = 0; t < types_; ++t) {
        const double speed = view.job(agent).type_speed[t];
        if (!(speed > 0.0)) continue;
        const double due = account.due_s[t] + account.share[t] * options_.round_s;
        double priority = 0.0;
        if (account.share[t] > 0.0)
          priority =
              account.had_s[t] > 0.0 ? due / account.had_s[t] : std::numeric_limits<double>::infinity();
        pairs_.push_back({priority, account.share[t], speed, agent, t});
      }
    }
    std::sort(pairs_.begin(), pairs_.end());
  }

  Solver solver_;
  MaxMinOptions options_;
  std::size_t types_ = 0;
  std::vector<double> devices_;         // by type
  std::vector<Account> accounts_;       // by index of the job
  std::vector<std::uint32_t> members_;  // indices of the jobs in the system
  std::vector<MaxMinJob> rows_;
  std::vector<Pair> pairs_;
  double round_end_ = -std::numeric_limits<double>::infinity(), last_s_ = 0.0;
  double wake_ = std::numeric_limits<double>::infinity();
  std::uint64_t solved_ = 0, failures_ = 0;
  bool stale_ = true;  // shares of other jobs than those in the system
};

/// MaxMinFair on the nodes of a platform.
template <LinearProgramSolver Solver, PlacementRule Placing = Consolidated>
using MaxMinDispatcher = PooledDispatcher<MaxMinFair<Solver>, Placing>;

}  // namespace mara
