#pragma once
// MAPPO as the learner of a pipeline.

#include <cstddef>

#include "mara/learning/mappo.hpp"

namespace mara::learning {

/// Names multi-agent PPO with a shared actor of hidden widths `Hidden...`; Trainer is what learns, for an
/// environment, a critic policy with a Model and a guidance mode other than FlowState.
template <std::size_t... Hidden>
struct Mappo {
  using Config = MappoConfig;
  template <class E, class C, class G>
  requires(!G::kStateInput &&
           requires { typename C::template Model<E>; }) using Trainer = MappoTrainer<E, C, G, Hidden...>;
};

}  // namespace mara::learning
