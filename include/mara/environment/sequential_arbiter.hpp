#pragma once
// The arbiter (safe layer): turns requests into a feasible allocation, one agent after the other.

#include <span>

#include "mara/action/tiered_request.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// Agents choose in `order`; each sees a mask of what is still free, so the executed option is the chosen one
/// and its probability is exact. GPUs left free are then given to agents that chose nothing (work
/// conserving). Hard limits hold whatever is chosen: only Allocation::claim hands out anything.
template <int Types>
struct SequentialArbiter {
  using Request = TieredRequest<Types>;

  /// Legal options of `agent` now.
  static OptionMask mask(const DecisionView& view, std::size_t agent, const Allocation& allocation) noexcept {
    return Request::mask(view.job(agent), allocation);
  }

  /// Claims what `option` asks for. False (and nothing changes) for "nothing", an unknown option or no room.
  static bool claim(const DecisionView& view, std::size_t agent, int option,
                    Allocation& allocation) noexcept {
    const Grant wanted = Request::grant(view.job(agent), option);
    return !wanted.empty() && allocation.claim(agent, view.job(agent).demand, wanted);
  }

  /// Gives free GPUs to agents without a grant, in `order`: what the agent held before if it fits, else the
  /// requested size on its fastest type with room, else half of it.
  static void backfill(const DecisionView& view, std::span<const std::uint32_t> order,
                       Allocation& allocation) noexcept {
    for (const std::uint32_t agent : order) {
      if (!allocation.grant(agent).empty()) continue;
      const Job& job = view.job(agent);
      if (allocation.claim(agent, job.demand, view.active[agent].held)) continue;
      bool placed = false;
      for (const Tier tier : {Tier::kExact, Tier::kHalf}) {
        int best = -1;
        double best_speed = 0.0;
        for (int type = 0; type < Types; ++type) {
          const Grant wanted = Request::grant(job, Request::option(type, tier));
          const double speed = job.type_speed[static_cast<std::size_t>(type)];
          if (wanted.empty() || speed <= best_speed || !allocation.fits(job.demand, wanted)) continue;
          best = type;
          best_speed = speed;
        }
        if (best >= 0)
          placed = allocation.claim(agent, job.demand, Request::grant(job, Request::option(best, tier)));
        if (placed) break;
      }
    }
  }
};

/// Keeps every running job as it is: the "no change" answer of a decision that cannot be trusted.
inline void claim_held(const DecisionView& view, Allocation& allocation) noexcept {
  for (std::size_t agent = 0; agent < view.active.size(); ++agent)
    if (!view.active[agent].held.empty())
      allocation.claim(agent, view.job(agent).demand, view.active[agent].held);
}

}  // namespace mara
