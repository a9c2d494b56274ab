#pragma once
// Shortest remaining time first.

#include "mara/schedule/list_schedule.hpp"

namespace mara {

/// Shortest remaining time first (Schrage, "A proof of the optimality of the shortest remaining processing
/// time discipline", Operations Research 16, 1968), preemptive. Jobs are placed in ascending order of the
/// time in which they could complete at the requested size, start and restart costs included, each on the
/// type where it really completes soonest among those with room. As keeping the held grant costs no restart,
/// a running job moves only when the faster type repays the restart, and a waiting job displaces it only when
/// shorter by more than its start costs. A job that does not fit is passed over. Ties: the earlier submitted;
/// the held grant, then the lower type.
class Srtf {
 public:
  static constexpr std::string_view name() noexcept { return "srtf"; }

  void decide(const DecisionView& view, Allocation& allocation) {
    table_.build(view, allocation, false);
    order_.clear();
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) order_.add(agent, table_.best_s(agent));
    order_.sort();
    for (std::size_t rank = 0; rank < order_.size(); ++rank) {
      const std::size_t agent = order_[rank];
      claim_option(view, table_, allocation, agent, table_.soonest(view, allocation, agent));
    }
  }

 private:
  OptionTable table_;
  AgentOrder order_;
};

}  // namespace mara
