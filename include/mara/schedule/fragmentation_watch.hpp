#pragma once
// How fragmented the free GPUs are while a scheduler works.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mara/schedule/fragmentation.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// Passes everything on to a scheduler and integrates over time, from decision to decision, what is free and
/// how much of it is fragmented (Fragmentation). Cost of a decision: O(nodes), and the fragmentation of the
/// nodes that have changed.
template <PlatformScheduler Scheduler>
class FragmentationWatch {
 public:
  /// The scheduler must outlive the watch.
  FragmentationWatch(Scheduler& scheduler, std::vector<TypicalDemand> mix)
      : scheduler_(&scheduler), fragmentation_(std::move(mix)) {}

  std::string name() const { return std::string(scheduler_->name()); }
  void enter(Dispatch& dispatch, JobSlot slot) {
    advance(dispatch);
    scheduler_->enter(dispatch, slot);
  }
  void leave(Dispatch& dispatch, JobSlot slot) {
    advance(dispatch);
    scheduler_->leave(dispatch, slot);
    look(dispatch.free());
  }
  void decide(Dispatch& dispatch) {
    advance(dispatch);
    scheduler_->decide(dispatch);
    look(dispatch.free());
  }

  /// Fragmented over free GPU-time, in [0, 1]; nothing when no GPU was ever free.
  std::optional<double> mean_share() const noexcept {
    if (!(free_s_ > 0.0)) return std::nullopt;
    return fragmented_s_ / free_s_;
  }
  /// Fragmented milli-GPU at the last look.
  double fragmented_milli() const noexcept { return fragmented_; }

 private:
  void advance(const Dispatch& dispatch) noexcept {
    const double now = dispatch.now_s();
    if (looked_) {
      fragmented_s_ += fragmented_ * (now - since_s_);
      free_s_ += free_ * (now - since_s_);
    }
    since_s_ = now;
  }
  void look(const FreeResources& free) {
    nodes_.resize(free.size());
    fragmented_ = 0.0;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      Known& known = nodes_[node];
      const std::uint64_t fingerprint = free.fingerprint(node);
      if (!looked_ || known.fingerprint != fingerprint) {
        known.fragmented = free.up(node) ? fragmentation_(NodeFree(free, node)) : 0.0;
        known.fingerprint = fingerprint;
      }
      fragmented_ += known.fragmented;
    }
    free_ = static_cast<double>(free.free_milli());
    looked_ = true;
  }

  struct Known {
    std::uint64_t fingerprint = 0;
    double fragmented = 0.0;
  };
  Scheduler* scheduler_;
  Fragmentation fragmentation_;
  std::vector<Known> nodes_;
  double since_s_ = 0.0, fragmented_ = 0.0, free_ = 0.0, fragmented_s_ = 0.0, free_s_ = 0.0;
  bool looked_ = false;
};

}  // namespace mara
