#pragma once
// Who runs on which node, and where that has changed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/simulation/active_job.hpp"

namespace mara {

/// The running jobs of each node, for outages and interference. Does nothing until it is given nodes.
class NodeCompany {
 public:
  void reset(std::size_t nodes) {
    jobs_.assign(nodes, {});
    marked_.assign(nodes, false);
  }
  bool kept() const noexcept { return !jobs_.empty(); }
  std::span<const JobSlot> on(std::size_t node) const noexcept { return jobs_[node]; }

  void enter(JobSlot slot, const Placement& placement) {
    if (!kept()) return;
    const NodeShare* last = nullptr;
    for (const NodeShare& share : placement.shares) {
      // Several slices on a node are shares of their own.
      if (last == nullptr || last->node != share.node) jobs_[share.node].push_back(slot);
      last = &share;
      mark(share.node);
    }
  }
  void leave(JobSlot slot, const Placement& placement) {
    if (!kept()) return;
    for (const NodeShare& share : placement.shares) {
      std::erase(jobs_[share.node], slot);
      mark(share.node);
    }
  }

  /// The jobs on nodes where somebody has come or gone since the last call, each once, in order of slots.
  std::span<const JobSlot> affected() {
    affected_.clear();
    for (const std::uint32_t node : changed_) {
      marked_[node] = false;
      affected_.insert(affected_.end(), jobs_[node].begin(), jobs_[node].end());
    }
    changed_.clear();
    std::sort(affected_.begin(), affected_.end());
    affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
    return affected_;
  }

 private:
  void mark(std::uint32_t node) {
    if (marked_[node]) return;
    marked_[node] = true;
    changed_.push_back(node);
  }

  std::vector<std::vector<JobSlot>> jobs_;
  std::vector<char> marked_;
  std::vector<std::uint32_t> changed_;
  std::vector<JobSlot> affected_;
};

}  // namespace mara
