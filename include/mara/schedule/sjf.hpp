#pragma once
// Shortest job first.

#include "mara/schedule/list_schedule.hpp"

namespace mara {

/// Shortest job first (Conway, Maxwell & Miller, "Theory of Scheduling", 1967): waiting jobs start in
/// ascending order of their total run time at the requested size on their best type; a job that does not fit
/// is passed over; non-preemptive. Ties: the earlier submitted.
class Sjf : public NonPreemptiveList<ShortestTotalOrder, Blocking::kSkip> {
 public:
  static constexpr std::string_view name() noexcept { return "sjf"; }
};

}  // namespace mara
