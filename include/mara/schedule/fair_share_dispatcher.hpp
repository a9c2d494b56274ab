#pragma once
// Dominant resource fairness among tenants, on the nodes of a platform.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/dominant_share.hpp"
#include "mara/schedule/job_order.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/possible_demands.hpp"
#include "mara/schedule/waiting_queue.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// Choices of a FairShareDispatcher.
struct FairShareOptions {
  /// By tenant; a tenant that is not named has weight 1. Only ratios count. Weight 0: only what no tenant of
  /// a positive weight can use.
  std::map<int, double> weights;
  /// A tenant whose next job does not fit may start a later one of its queue; otherwise it drops out.
  bool look_further = false;
};

/// Whether the options make sense: weights finite and not negative; the error names tenant and value.
inline Status check_options(const FairShareOptions& options) {
  for (const auto& [tenant, weight] : options.weights)
    if (auto ok = check_non_negative(weight, "weight of tenant " + std::to_string(tenant)); !ok) return ok;
  return {};
}

/// DRF and weighted DRF (Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource
/// types", NSDI'11, algorithm 1) over Job::tenant: again and again the tenant with the lowest dominant share
/// divided by weight has the first job of its queue, in the order `Order`, placed by `Placing`. The share is
/// over devices, CPU and memory of all nodes and counts what the tenant's running jobs hold. A tenant whose
/// next job does not fit drops out until the next decision. Ties: the lower tenant number. Non-preemptive.
///
/// Jobs that not even the idle platform could hold are set aside: they hold up nobody and are counted by
/// unsatisfiable() (case S01). A decision costs O((tenants that wait + jobs started) x (log + demand classes
/// of a tenant)) and one failed placement for each demand class.
template <JobOrder Order = ArrivalJobOrder, PlacementRule Placing = Consolidated>
class FairShareDispatcher {
 public:
  /// The options must pass check_options.
  explicit FairShareDispatcher(FairShareOptions options = {}, Order order = Order{},
                               Placing placing = Placing{})
      : options_(std::move(options)), order_(std::move(order)), placing_(std::move(placing)) {
    for (const auto& [tenant, weight] : options_.weights) heaviest_ = std::max(heaviest_, weight);
    if (!(heaviest_ > 0.0)) heaviest_ = 1.0;
  }

  std::string name() const {
    std::string name = options_.weights.empty() ? "drf" : "wdrf";
    if (order_.name() != ArrivalJobOrder::name()) name += "-" + std::string(order_.name());
    return options_.look_further ? name + "-further" : name;
  }

  void enter(Dispatch& dispatch, JobSlot slot) {
    if (capacity_.empty()) measure(dispatch.platform());
    give_back(slot);  // it has lost its node
    const ActiveJob& job = dispatch.job(slot);
    if (!possible_(dispatch, job.demand, placing_)) {
      ++unsatisfiable_;
      return;
    }
    Tenant& tenant = tenant_of(job.job.tenant);
    const auto local = tenant.classes.try_emplace(job.demand_class, tenant.global.size());
    if (local.second) tenant.global.push_back(job.demand_class);
    tenant.queue.insert(
        {order_.key(dispatch, job), job.sequence, slot, static_cast<std::uint32_t>(local.first->second)});
  }
  void leave(Dispatch& dispatch, JobSlot slot) {
    give_back(slot);
    const auto found = index_.find(dispatch.job(slot).job.tenant);
    if (found != index_.end()) tenants_[found->second].queue.erase(slot);
  }

  void decide(Dispatch& dispatch) {
    blocked_.assign(dispatch.demand_classes(), false);
    turns_.clear();
    for (std::size_t t = 0; t < tenants_.size(); ++t) {
      Tenant& tenant = tenants_[t];
      if (tenant.queue.empty()) continue;
      if constexpr (Order::kVaries)
        tenant.queue.rekey([&](JobSlot slot) { return order_.key(dispatch, dispatch.job(slot)); });
      tenant.begun = false;
      turns_.push_back(turn_of(t));
    }
    std::make_heap(turns_.begin(), turns_.end());
    while (!turns_.empty()) {
      std::pop_heap(turns_.begin(), turns_.end());
      const std::size_t t = turns_.back().tenant;
      turns_.pop_back();
      if (!start_next(dispatch, tenants_[t])) continue;
      turns_.push_back(turn_of(t));
      std::push_heap(turns_.begin(), turns_.end());
    }
  }

  /// Jobs that were set aside so far.
  std::uint64_t unsatisfiable() const noexcept { return unsatisfiable_; }
  /// Dominant share of what a tenant's running jobs hold, not divided by its weight; 0 for an unknown one.
  double share(int tenant) const {
    const auto found = index_.find(tenant);
    return found == index_.end() ? 0.0 : dominant_share(tenants_[found->second].held, capacity_);
  }

 private:
  struct Tenant {
    int number = 0;
    double weight = 1.0;  // of the largest
    ResourceAmounts held;
    WaitingQueue queue;                            // by demand classes of the tenant's own,
    std::map<std::uint32_t, std::size_t> classes;  // for a queue goes through all that it knows
    std::vector<std::uint32_t> global;             // back to the engine's classes
    bool begun = false;                            // a pass over the queue, at this decision
  };
  struct Turn {
    bool last = false;  // weight 0
    double share = 0.0;
    int number = 0;
    std::size_t tenant = 0;
    bool operator<(const Turn& other) const noexcept {  // the top of the heap is the largest
      if (last != other.last) return last;
      return share > other.share || (share == other.share && number > other.number);
    }
  };
  struct Held {
    std::size_t tenant = 0;
    ResourceAmounts amounts;  // empty: nothing
  };

  void measure(const Platform& platform) {
    capacity_.assign(3, 0);
    for (const Node& node : platform.nodes) {
      capacity_[0] = saturating_sum(capacity_[0], std::int64_t{1000} * node.devices);
      capacity_[1] = saturating_sum(capacity_[1], node.cpu.value);
      capacity_[2] = saturating_sum(capacity_[2], node.memory_mib);
    }
  }
  Tenant& tenant_of(int number) {
    const auto [found, added] = index_.try_emplace(number, tenants_.size());
    if (added) {
      Tenant& tenant = tenants_.emplace_back();
      tenant.number = number;
      tenant.held.assign(capacity_.size(), 0);
      const auto weight = options_.weights.find(number);
      tenant.weight = (weight == options_.weights.end() ? 1.0 : weight->second) / heaviest_;
    }
    return tenants_[found->second];
  }
  Turn turn_of(std::size_t t) const {
    const Tenant& tenant = tenants_[t];
    const bool last = tenant.weight == 0.0;
    const double share = dominant_share(tenant.held, capacity_);
    return {last, last ? share : share / tenant.weight, tenant.number, t};
  }

  bool start_next(Dispatch& dispatch, Tenant& tenant) {
    if (!tenant.begun) {
      tenant.queue.begin([](std::uint32_t) { return true; });
      tenant.begun = true;
    }
    while (const WaitingQueue::Entry* entry = tenant.queue.front()) {
      // Free resources only shrink during a decision: what did not fit does not fit.
      const std::uint32_t demand_class = tenant.global[entry->demand_class];
      const JobSlot slot = entry->slot;
      if (!blocked_[demand_class]) {
        if (placing_.place(dispatch.free(), dispatch.job(slot).demand, placement_) &&
            dispatch.start(slot, placement_)) {
          tenant.queue.take();
          take(tenant, slot);
          return true;
        }
        blocked_[demand_class] = true;
      }
      if (!options_.look_further) return false;
      tenant.queue.drop_class();
    }
    return false;
  }

  void take(Tenant& tenant, JobSlot slot) {
    if (slot >= held_.size()) held_.resize(slot + std::size_t{1});
    ResourceAmounts& amounts = held_[slot].amounts;
    held_[slot].tenant = static_cast<std::size_t>(&tenant - tenants_.data());
    amounts.assign(3, 0);
    for (const NodeShare& share : placement_.shares) {
      amounts[0] += std::int64_t{share.device_count()} * share.share;
      amounts[1] += share.cpu.value;
      amounts[2] += share.memory_mib;
    }
    for (std::size_t r = 0; r < amounts.size(); ++r) tenant.held[r] += amounts[r];
  }
  void give_back(JobSlot slot) {
    if (slot >= held_.size()) return;
    ResourceAmounts& amounts = held_[slot].amounts;
    for (std::size_t r = 0; r < amounts.size(); ++r) tenants_[held_[slot].tenant].held[r] -= amounts[r];
    amounts.clear();
  }

  FairShareOptions options_;
  Order order_;
  Placing placing_;
  double heaviest_ = 1.0;  // a tenant that is not named has 1
  ResourceAmounts capacity_;
  PossibleDemands possible_;
  std::uint64_t unsatisfiable_ = 0;
  std::vector<Tenant> tenants_;  // in order of first sight
  std::map<int, std::size_t> index_;
  std::vector<Held> held_;  // by slot
  std::vector<Turn> turns_;
  std::vector<char> blocked_;
  Placement placement_;
};

}  // namespace mara
