#pragma once
// Which demands an idle platform could ever serve under a placement rule.

#include <cstdint>
#include <map>

#include "mara/cluster/free_resources.hpp"
#include "mara/schedule/place.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// Remembers for each demand whether the idle platform, all nodes up, could hold it. Schedulers that let a
/// job wait at the head of something ask here first, lest a job that can never start holds up the others.
class PossibleDemands {
 public:
  template <PlacementRule Placing>
  bool operator()(const Dispatch& dispatch, const PlacementDemand& demand, Placing& placing) {
    const auto known = possible_.find(demand);
    if (known != possible_.end()) return known->second;
    if (idle_.size() != dispatch.platform().nodes.size()) idle_ = FreeResources(dispatch.platform());
    return possible_[demand] = placing.place(idle_, demand, placement_);
  }

 private:
  FreeResources idle_;
  std::map<PlacementDemand, bool> possible_;
  Placement placement_;
};

}  // namespace mara
