#pragma once
// Rules that decide by GPU type, on the nodes of a platform.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/tier.hpp"
#include "mara/cluster/allocation.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/possible_demands.hpp"
#include "mara/simulation/decision.hpp"
#include "mara/simulation/dispatch.hpp"
#include "mara/simulation/validation.hpp"

namespace mara {

/// Choices of a PooledDispatcher.
struct PooledOptions {
  /// What the rule believes starting and moving to cost; the engine's OverheadModel is what they do cost.
  Overheads overheads{0.0, 0.0};
  /// When a grant has no place because free devices are scattered, the jobs of its type are placed anew, the
  /// largest first; those that move pay for it.
  bool repack = false;
};

/// Runs a pooled rule `S` (decides how many GPUs of which type each job gets: Optimus, HeSrpt, Tetris, Srtf,
/// a learnt actor) on nodes and devices. At each decision the rule sees a DecisionView of the jobs in the
/// system in order of submission and the platform's types pooled (nodes that are down left out), and claims
/// grants. A job whose grant is what it holds keeps its place; the others lose theirs and are placed by
/// `Placing` on the granted type, the largest grants first (ties: the earlier submitted). What finds no place
/// because free devices are scattered over nodes keeps its old place if that is still free; otherwise it gets
/// what it requested, if that is less and fits, or waits. Should nothing run then, the first such job that
/// fits at its requested size starts, so that no run gets stuck.
///
/// Types on which not even an idle platform could place a job at its requested size have speed 0 in what the
/// rule sees. Jobs without devices are not shown to it; they start first come first served where they fit. A
/// rule that has `double wake_s() const` is asked for the time of its next wish to decide. When every type is
/// one node and jobs ask for whole GPUs, a run equals that of mara::Simulator job by job. Cost of a decision:
/// that of the rule and O(nodes + jobs in the system + jobs placed x (placement + log)).
template <Scheduler S, PlacementRule Placing = Consolidated>
class PooledDispatcher {
 public:
  explicit PooledDispatcher(S rule = S{}, PooledOptions options = {}, Placing placing = Placing{})
      : rule_(std::move(rule)), options_(options), placing_(std::move(placing)), ledger_(Cluster{}) {}

  std::string name() const { return std::string(rule_.name()); }
  S& rule() noexcept { return rule_; }
  const S& rule() const noexcept { return rule_; }
  /// Grants that found no place so far, counted anew at each decision.
  std::uint64_t scattered() const noexcept { return scattered_; }

  void enter(Dispatch& dispatch, JobSlot slot) {
    const ActiveJob& job = dispatch.job(slot);
    std::vector<JobSlot>& list = job.demand.devices > 0 ? active_ : host_only_;
    const auto at =
        std::lower_bound(list.begin(), list.end(), job.sequence,
                         [&](JobSlot other, std::uint64_t s) { return dispatch.job(other).sequence < s; });
    if (at != list.end() && *at == slot) return;  // it has lost its node
    list.insert(at, slot);
    if (job.demand.devices == 0) return;
    if (slot >= jobs_.size()) jobs_.resize(slot + std::size_t{1});
    jobs_[slot] = job.job;
    for (std::size_t t = 0; t < dispatch.platform().types.size(); ++t) {
      bool possible = false;
      for (int tier = 0; tier < kTiers && !possible; ++tier) {
        const Grant grant{static_cast<std::int32_t>(t), tier_gpus(job.job, tier)};
        possible = grant.gpus.value > 0 && possible_(dispatch, demand_for(dispatch, slot, grant), placing_);
      }
      if (!possible) jobs_[slot].type_speed[t] = 0.0;
    }
  }
  void leave(Dispatch&, JobSlot slot) {
    std::erase(active_, slot);
    std::erase(host_only_, slot);
  }

  void decide(Dispatch& dispatch) {
    look_at_nodes(dispatch);
    if (!active_.empty()) {
      look_at_jobs(dispatch);
      ledger_.reset(states_.size());
      rule_.decide(DecisionView{dispatch.now_s(), &cluster_, jobs_, states_, options_.overheads}, ledger_);
      carry_out(dispatch);
      if constexpr (requires { rule_.wake_s(); }) dispatch.wake_at(rule_.wake_s());
    }
    for (const JobSlot slot : host_only_)
      if (!dispatch.job(slot).running) start(dispatch, slot, dispatch.job(slot).demand);
  }

 private:
  struct Order {  // to place an agent's grant
    std::size_t agent = 0;
    Grant grant;
  };

  void look_at_nodes(const Dispatch& dispatch) {
    const FreeResources& free = dispatch.free();
    bool same = up_.size() == free.size();
    for (std::size_t n = 0; n < up_.size() && same; ++n) same = up_[n] == free.up(n);
    if (same) return;
    up_.resize(free.size());
    Platform there;
    there.types = dispatch.platform().types;
    for (std::size_t n = 0; n < free.size(); ++n) {
      up_[n] = free.up(n);
      if (up_[n]) there.nodes.push_back(dispatch.platform().nodes[n]);
    }
    cluster_ = pooled(there);
    ledger_ = Allocation(cluster_);
  }

  static Grant held_by(const Platform& platform, const ActiveJob& job) noexcept {
    if (!job.running || job.placement.empty()) return {};
    return {platform.nodes[job.placement.shares.front().node].type, job.placement.gpus()};
  }

  void look_at_jobs(const Dispatch& dispatch) {
    const double now = dispatch.now_s();
    states_.resize(active_.size());
    for (std::size_t agent = 0; agent < active_.size(); ++agent) {
      const ActiveJob& job = dispatch.job(active_[agent]);
      JobState& state = states_[agent];
      state.job = active_[agent];
      state.remaining_work = job.remaining_at(now);
      state.overhead_left_s = job.running ? std::max(0.0, job.overhead_left_s - (now - job.since_s)) : 0.0;
      state.held = held_by(dispatch.platform(), job);
      state.started = job.started;
      state.first_start_s = job.first_start_s;
      state.restarts = job.preemptions + job.migrations + job.failures;
      state.attained_gpu_s = job.attained_at(now);
    }
  }

  PlacementDemand demand_for(const Dispatch& dispatch, JobSlot slot, Grant grant) const {
    const ActiveJob& job = dispatch.job(slot);
    const bool requested = grant.gpus == job.job.requested;
    PlacementDemand demand =
        requested ? job.demand
                  : demand_of(dispatch.platform(), job.job, static_cast<std::int32_t>(grant.gpus.units()));
    demand.types &= std::uint32_t{1} << grant.type;
    return demand;
  }
  bool start(Dispatch& dispatch, JobSlot slot, const PlacementDemand& demand) {
    return placing_.place(dispatch.free(), demand, placement_) && dispatch.start(slot, placement_);
  }

  void carry_out(Dispatch& dispatch) {
    orders_.clear();
    old_.resize(std::max(old_.size(), active_.size()));
    for (std::size_t agent = 0; agent < active_.size(); ++agent) {
      const Grant grant = usable(agent);
      old_[agent].clear();
      if (grant == states_[agent].held) continue;
      const JobSlot slot = active_[agent];
      if (!states_[agent].held.empty()) {
        old_[agent] = dispatch.job(slot).placement;
        dispatch.preempt(slot);
      }
      if (!grant.empty()) orders_.push_back({agent, grant});
    }
    std::stable_sort(orders_.begin(), orders_.end(),
                     [](const Order& a, const Order& b) { return a.grant.gpus > b.grant.gpus; });
    std::uint32_t repacked = 0;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      const Order order = orders_[i];
      const JobSlot slot = active_[order.agent];
      if (dispatch.job(slot).running) continue;  // placed by a repacking
      if (start(dispatch, slot, demand_for(dispatch, slot, order.grant))) continue;
      const std::uint32_t bit = std::uint32_t{1} << order.grant.type;
      if (options_.repack && (repacked & bit) == 0) {
        repacked |= bit;
        repack(dispatch, order.grant.type);
        if (dispatch.job(slot).running) continue;
      }
      orders_[failed++] = order;
    }
    orders_.resize(failed);
    std::erase_if(orders_, [&](const Order& order) { return dispatch.job(active_[order.agent]).running; });
    settle_for_less(dispatch);
  }

  // The grant, if its job can run under it and it was claimed with the job's own demand.
  Grant usable(std::size_t agent) const noexcept {
    const Job& job = jobs_[active_[agent]];
    const Grant grant = ledger_.grant(agent);
    return accepts(job, grant) && ledger_.demand(agent) == job.demand ? grant : Grant{};
  }

  // All jobs that hold or are to hold devices of a type lose their places and get new ones, the largest
  // first.
  void repack(Dispatch& dispatch, std::int32_t type) {
    again_.clear();
    for (std::size_t agent = 0; agent < active_.size(); ++agent) {
      const Grant grant = usable(agent);
      if (grant.type != type) continue;
      const JobSlot slot = active_[agent];
      if (dispatch.job(slot).running) {
        if (old_[agent].empty() && grant == states_[agent].held) old_[agent] = dispatch.job(slot).placement;
        dispatch.preempt(slot);
      }
      again_.push_back({agent, grant});
    }
    std::stable_sort(again_.begin(), again_.end(),
                     [](const Order& a, const Order& b) { return a.grant.gpus > b.grant.gpus; });
    for (const Order& order : again_) {
      const JobSlot slot = active_[order.agent];
      if (start(dispatch, slot, demand_for(dispatch, slot, order.grant))) continue;
      // It was not to move: its old place may still be free; otherwise it waits.
      if (order.grant == states_[order.agent].held) dispatch.start(slot, old_[order.agent]);
    }
  }

  void settle_for_less(Dispatch& dispatch) {
    scattered_ += orders_.size();
    for (const Order& order : orders_) {
      const JobSlot slot = active_[order.agent];
      if (!old_[order.agent].empty() && dispatch.start(slot, old_[order.agent])) continue;
      const Grant requested{order.grant.type, dispatch.job(slot).job.requested};
      if (requested.gpus < order.grant.gpus ||
          !possible_(dispatch, demand_for(dispatch, slot, order.grant), placing_))
        start(dispatch, slot, demand_for(dispatch, slot, requested));
    }
    if (!dispatch.running().empty()) return;
    for (const Order& order : orders_) {
      const JobSlot slot = active_[order.agent];
      const PlacementDemand& demand = dispatch.job(slot).demand;
      if (start(dispatch, slot, demand)) return;
    }
  }

  S rule_;
  PooledOptions options_;
  Placing placing_;
  Cluster cluster_;
  Allocation ledger_;
  PossibleDemands possible_;
  std::vector<char> up_;
  std::vector<JobSlot> active_, host_only_;  // in order of submission
  std::vector<Job> jobs_;                    // by slot, as the rule sees them
  std::vector<JobState> states_;             // by agent, an index into active_
  std::vector<Placement> old_;               // by agent; where those ran that lost their place
  std::vector<Order> orders_, again_;
  Placement placement_;
  std::uint64_t scattered_ = 0;
};

}  // namespace mara
