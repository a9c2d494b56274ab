#pragma once
// First come first served.

#include "mara/schedule/list_schedule.hpp"

namespace mara {

/// First come first served: waiting jobs start in order of submission, each with exactly the GPUs it requests
/// on the type that is fastest for it among those with room; non-preemptive. With Blocking::kSkip (the
/// default) a job that does not fit is passed over, without a reservation for it; with Blocking::kStop the
/// head of the queue blocks. The rule of batch systems; see Feitelson et al., "Theory and practice in
/// parallel job scheduling", JSSPP'97, for both variants.
template <Blocking kBlocking = Blocking::kSkip>
class BasicFcfs : public NonPreemptiveList<ArrivalOrder, kBlocking> {
 public:
  static constexpr std::string_view name() noexcept {
    return kBlocking == Blocking::kSkip ? "fcfs" : "fcfs-strict";
  }
};

using Fcfs = BasicFcfs<>;
using StrictFcfs = BasicFcfs<Blocking::kStop>;

}  // namespace mara
