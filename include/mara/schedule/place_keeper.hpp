#pragma once
// Serving running and waiting jobs in one order, with as few moves as possible.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mara/schedule/place.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// One preemptive pass. The running jobs are known in the order of service; then running and waiting jobs are
/// served in that order, each by one call. A running job keeps its place unless a waiting one before it needs
/// it; no more lose theirs than must: the last of the order are asked first, and those without whose place
/// the other does as well get it back. Who lost a place may be placed elsewhere in its turn, and may itself
/// displace those behind it. A class of demands of which one job could not be served is blocked for the rest
/// of the pass.
template <PlacementRule Placing>
class PlaceKeeper {
 public:
  /// Begins a pass. With `everybody` all running jobs lose their places and are placed anew in their turns.
  void begin(Dispatch& dispatch, std::span<const JobSlot> running, bool everybody = false) {
    running_.assign(running.begin(), running.end());
    loose_.assign(running_.size(), everybody);
    blocked_.assign(dispatch.demand_classes(), false);
    if (!everybody) return;
    for (const JobSlot slot : running_) dispatch.preempt(slot);
  }

  bool blocked(std::uint32_t demand_class) const noexcept { return blocked_[demand_class]; }

  /// It is the turn of running job number `index`, which may displace those from number `first` on if it has
  /// lost its place.
  void keep(Dispatch& dispatch, Placing& placing, std::size_t index, std::size_t first) {
    if (!loose_[index]) return;
    const JobSlot slot = running_[index];
    const std::uint32_t demand_class = dispatch.job(slot).demand_class;
    if (blocked_[demand_class]) return;
    if (place(dispatch, placing, slot) || displace(dispatch, placing, slot, first)) {
      loose_[index] = false;
    } else {
      blocked_[demand_class] = true;
    }
  }

  /// It is the turn of a waiting job, which may displace running jobs from number `first` on. False: it goes
  /// on waiting, and its class is blocked.
  bool start(Dispatch& dispatch, Placing& placing, JobSlot slot, std::size_t first) {
    if (blocked_[dispatch.job(slot).demand_class]) return false;
    if (place(dispatch, placing, slot) || displace(dispatch, placing, slot, first)) return true;
    blocked_[dispatch.job(slot).demand_class] = true;
    return false;
  }

 private:
  bool place(Dispatch& dispatch, Placing& placing, JobSlot slot) {
    return placing.place(dispatch.free(), dispatch.job(slot).demand, placement_) &&
           dispatch.start(slot, placement_);
  }

  bool displace(Dispatch& dispatch, Placing& placing, JobSlot slot, std::size_t first) {
    std::int64_t could_be_free = dispatch.free().free_milli();
    for (std::size_t i = first; i < running_.size(); ++i)
      if (!loose_[i]) could_be_free += dispatch.job(running_[i]).placement.gpus().value;
    if (first >= running_.size() || could_be_free < dispatch.job(slot).demand.gpus().value) return false;
    displaced_.clear();
    bool started = false;
    for (std::size_t i = running_.size(); i-- > first && !started;) {
      if (loose_[i]) continue;
      displaced_.push_back({i, dispatch.job(running_[i]).placement});
      dispatch.preempt(running_[i]);
      loose_[i] = true;
      started = place(dispatch, placing, slot);
    }
    // Displaced jobs whose place is still free were not in the way; those first in the order are asked first.
    for (std::size_t i = displaced_.size(); i-- > 0;)
      if (dispatch.start(running_[displaced_[i].first], displaced_[i].second))
        loose_[displaced_[i].first] = false;
    if (started) spare(dispatch, placing, slot);
    return started;
  }

  // The rule may have given the job places of several where fewer would do: whoever it fits without gets the
  // place back.
  void spare(Dispatch& dispatch, Placing& placing, JobSlot slot) {
    std::size_t lost = 0;
    for (const auto& [index, before] : displaced_) lost += loose_[index] ? 1 : 0;
    if (lost < 2) return;  // without the last one asked it did not fit
    for (std::size_t i = displaced_.size(); i-- > 0;) {
      const auto& [index, before] = displaced_[i];
      if (!loose_[index]) continue;
      given_.shares.assign(dispatch.job(slot).placement.shares.begin(),
                           dispatch.job(slot).placement.shares.end());
      dispatch.preempt(slot);
      if (dispatch.start(running_[index], before)) {
        loose_[index] = false;
        if (place(dispatch, placing, slot)) continue;
        dispatch.preempt(running_[index]);
        loose_[index] = true;
      }
      dispatch.start(slot, given_);
    }
  }

  std::vector<JobSlot> running_;
  std::vector<char> loose_;    // by index into running_: has no place at the moment
  std::vector<char> blocked_;  // by demand class
  std::vector<std::pair<std::size_t, Placement>> displaced_;
  Placement placement_, given_;
};

}  // namespace mara
