#pragma once
// A queue of which the scheduler sees only the first jobs.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/schedule/job_order.hpp"
#include "mara/schedule/place.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// How good it is to start a job now; the highest score starts first. Never NaN.
template <class S>
concept StartScore = requires(S score, const Dispatch& dispatch, const ActiveJob& job) {
  { score.name() } -> std::convertible_to<std::string_view>;
  { score.score(dispatch, job) } -> std::convertible_to<double>;
};

/// 1 / expected run time.
struct ShortnessScore {
  static constexpr std::string_view name() noexcept { return "sjf"; }
  static double score(const Dispatch&, const ActiveJob& job) noexcept {
    return 1.0 / std::max(detail::expected_run_s(job), 1e-9);
  }
};

/// Dot product of the demand with what is free on the whole platform, devices and CPU in milli, memory in
/// MiB, not normalised (Mao et al., "Resource management with deep reinforcement learning", HotNets'16:
/// Packer).
struct AlignmentScore {
  static constexpr std::string_view name() noexcept { return "packer"; }
  static double score(const Dispatch& dispatch, const ActiveJob& job) noexcept {
    const FreeResources& free = dispatch.free();
    double cpu = 0.0, memory = 0.0;
    for (std::size_t node = 0; node < free.size(); ++node) {
      cpu += static_cast<double>(free.cpu(node).value);
      memory += static_cast<double>(free.memory_mib(node));
    }
    return static_cast<double>(free.free_milli()) * static_cast<double>(job.demand.gpus().value) +
           cpu * static_cast<double>(job.demand.cpu.value) +
           memory * static_cast<double>(job.demand.memory_mib);
  }
};

/// A window of `visible` slots before a backlog (Mao et al., HotNets'16): a job enters the lowest empty slot;
/// when there is none, the backlog; when that is full it is rejected. Again and again the job in the slots
/// that fits now and has the highest score starts (ties: the lower slot); its slot takes the head of the
/// backlog. Non-preemptive.
template <StartScore Score = ShortnessScore, PlacementRule Placing = AnyDevices>
class SlotWindow {
 public:
  explicit SlotWindow(std::size_t visible = 10, std::size_t backlog = 60, Score score = {},
                      Placing placing = {})
      : score_(std::move(score)), placing_(std::move(placing)), slots_(visible, kEmpty), limit_(backlog) {}

  std::string name() const { return std::string(score_.name()) + "-window"; }

  void enter(Dispatch& dispatch, JobSlot job) {
    const auto empty = std::find(slots_.begin(), slots_.end(), kEmpty);
    if (empty != slots_.end()) {
      *empty = job;
    } else if (backlog_.size() < limit_) {
      backlog_.push_back(job);
    } else {
      dispatch.reject(job);
    }
  }
  void leave(Dispatch&, JobSlot job) {
    const auto slot = std::find(slots_.begin(), slots_.end(), job);
    if (slot != slots_.end()) refill(*slot);
    std::erase(backlog_, job);
  }

  void decide(Dispatch& dispatch) {
    for (;;) {
      JobSlot* best = nullptr;
      double highest = 0.0;
      for (JobSlot& slot : slots_) {
        if (slot == kEmpty || !placing_.place(dispatch.free(), dispatch.job(slot).demand, placement_))
          continue;
        const double score = score_.score(dispatch, dispatch.job(slot));
        if (best != nullptr && !(score > highest)) continue;
        best = &slot;
        highest = score;
      }
      if (best == nullptr) return;
      placing_.place(dispatch.free(), dispatch.job(*best).demand, placement_);
      if (!dispatch.start(*best, placement_)) return;
      refill(*best);
    }
  }

 private:
  static constexpr JobSlot kEmpty = ~JobSlot{0};

  void refill(JobSlot& slot) {
    slot = kEmpty;
    if (backlog_.empty()) return;
    slot = backlog_.front();
    backlog_.pop_front();
  }

  Score score_;
  Placing placing_;
  std::vector<JobSlot> slots_;
  std::deque<JobSlot> backlog_;
  std::size_t limit_;
  Placement placement_;
};

}  // namespace mara
