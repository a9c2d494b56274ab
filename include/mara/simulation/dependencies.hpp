#pragma once
// Which jobs may come into the queue, and which wait for others to finish.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mara/simulation/active_job.hpp"

namespace mara {

/// Keeps the jobs back that wait for others. Memory: the jobs kept back, and the ids of all that have
/// finished.
class Dependencies {
 public:
  /// True when the job waits for nobody; else it is kept until release() hands it out.
  bool submit(JobSlot slot, std::span<const std::int64_t> after) {
    std::size_t missing = 0;
    for (const std::int64_t id : after) {
      if (finished_.contains(id)) continue;
      waiting_for_[id].push_back(slot);
      ++missing;
    }
    if (missing == 0) return true;
    if (slot >= missing_.size()) missing_.resize(slot + std::size_t{1}, 0);
    missing_[slot] = missing;
    ++kept_;
    return false;
  }

  /// The job `id` has finished: calls enter(slot) for each job that waited for nobody else.
  template <class Enter>
  void release(std::int64_t id, Enter&& enter) {
    finished_.insert(id);
    const auto found = waiting_for_.find(id);
    if (found == waiting_for_.end()) return;
    const std::vector<JobSlot> slots = std::move(found->second);
    waiting_for_.erase(found);
    for (const JobSlot slot : slots) {
      if (--missing_[slot] > 0) continue;
      --kept_;
      enter(slot);
    }
  }

  /// Jobs kept back.
  std::size_t kept() const noexcept { return kept_; }

 private:
  std::set<std::int64_t> finished_;
  std::map<std::int64_t, std::vector<JobSlot>> waiting_for_;
  std::vector<std::size_t> missing_;  // by slot
  std::size_t kept_ = 0;
};

}  // namespace mara
