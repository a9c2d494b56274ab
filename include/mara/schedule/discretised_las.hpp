#pragma once
// Tiresias' discretised two-dimensional least attained service.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/schedule/place.hpp"
#include "mara/schedule/place_keeper.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// Discretised two-dimensional LAS (Gu et al., "Tiresias: a GPU cluster manager for distributed deep
/// learning", NSDI'19): queues by attained GPU-seconds. A job begins in queue 0 and moves to the tail of the
/// next queue when its executed time times its GPUs reaches the queue's threshold. At each decision the
/// queues are served from the first, each in its order, by a PlaceKeeper: what does not fit is passed over,
/// running jobs may lose their place to jobs before them. Afterwards the running jobs of a queue stand before
/// its waiting ones. The scheduler asks to be woken when a running job reaches a threshold. Cost of a
/// decision: O(jobs in the system).
template <PlacementRule Placing = AnyDevices>
class DiscretisedLas {
 public:
  /// `thresholds`: GPU-seconds, ascending, one fewer than there are queues.
  explicit DiscretisedLas(std::vector<double> thresholds = {3250.0, 7200.0}, Placing placing = {})
      : thresholds_(std::move(thresholds)), placing_(std::move(placing)), queues_(thresholds_.size() + 1) {}

  static constexpr std::string_view name() noexcept { return "las"; }

  void enter(Dispatch&, JobSlot slot) {
    if (slot >= queue_of_.size()) queue_of_.resize(slot + std::size_t{1}, kNowhere);
    std::size_t& queue = queue_of_[slot];
    if (queue == kNowhere) {
      queue = 0;
    } else {
      std::erase(queues_[queue], slot);  // an outage took its place; the service it had stays
    }
    queues_[queue].push_back(slot);
  }
  void leave(Dispatch&, JobSlot slot) {
    std::erase(queues_[queue_of_[slot]], slot);
    queue_of_[slot] = kNowhere;
  }

  void decide(Dispatch& dispatch) {
    demote(dispatch);
    running_.clear();
    for (const auto& queue : queues_)
      for (const JobSlot slot : queue)
        if (dispatch.job(slot).running) running_.push_back(slot);
    keeper_.begin(dispatch, running_);
    std::size_t next = 0;
    for (const auto& queue : queues_) {
      for (const JobSlot slot : queue) {
        if (next < running_.size() && slot == running_[next]) {
          keeper_.keep(dispatch, placing_, next, next + 1);
          ++next;
        } else if (next < running_.size() || dispatch.free().free_milli() > 0 ||
                   dispatch.job(slot).demand.devices == 0) {
          keeper_.start(dispatch, placing_, slot, next);
        }
      }
    }
    double jump = std::numeric_limits<double>::infinity();
    const double now = dispatch.now_s();
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      std::stable_partition(queues_[q].begin(), queues_[q].end(),
                            [&](JobSlot slot) { return dispatch.job(slot).running; });
      if (q == thresholds_.size()) break;
      for (const JobSlot slot : queues_[q]) {
        const ActiveJob& job = dispatch.job(slot);
        if (!job.running) break;
        jump = std::min(jump, jump_s(job, q, now));
      }
    }
    dispatch.wake_at(jump);
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  static double gpus(const ActiveJob& job) noexcept {
    return job.job.requested.value > 0 ? job.job.requested.as_double() : 1.0;
  }

  // When a running job reaches the threshold of queue q, in whole seconds of execution.
  double jump_s(const ActiveJob& job, std::size_t q, double now) const noexcept {
    return std::ceil(thresholds_[q] / gpus(job)) - job.executed_at(now) + now;
  }

  void demote(const Dispatch& dispatch) {
    const double now = dispatch.now_s();
    for (std::size_t q = 0; q < thresholds_.size(); ++q) {
      std::size_t kept = 0;
      for (const JobSlot slot : queues_[q]) {
        const ActiveJob& job = dispatch.job(slot);
        // What is missing may be less than the clock can show.
        if (job.executed_at(now) * gpus(job) >= thresholds_[q] || jump_s(job, q, now) <= now) {
          queues_[q + 1].push_back(slot);
          ++queue_of_[slot];
        } else {
          queues_[q][kept++] = slot;
        }
      }
      queues_[q].resize(kept);
    }
  }

  std::vector<double> thresholds_;
  Placing placing_;
  std::vector<std::vector<JobSlot>> queues_;
  std::vector<std::size_t> queue_of_;  // by slot
  std::vector<JobSlot> running_;
  PlaceKeeper<Placing> keeper_;
};

}  // namespace mara
