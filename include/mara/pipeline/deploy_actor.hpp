#pragma once
// From a learner's trained actor to one that is deployed.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mara/cluster/cluster.hpp"
#include "mara/deploy/actor.hpp"

namespace mara {

namespace detail {
template <int Types, class Trained, class Indices>
struct DeployedActorOf;
template <int Types, class Trained, std::size_t... I>
struct DeployedActorOf<Types, Trained, std::index_sequence<I...>> {
  using type = deploy::Actor<Types, Trained::Shape::kSizes[1 + I]...>;
};
}  // namespace detail

/// deploy::Actor with the hidden widths of a trained network (an Mlp) for clusters of `Types` GPU types.
template <int Types, class Trained>
using DeployedActor =
    typename detail::DeployedActorOf<Types, Trained,
                                     std::make_index_sequence<Trained::Shape::kLayers - 1>>::type;

/// The names of a cluster's GPU types, in its order.
inline std::vector<std::string> type_names(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const GpuType& type : cluster.types) names.push_back(type.name);
  return names;
}

/// A copy of a trained actor (an Mlp from ClusterObservation<Types> to TieredRequest<Types>) for deployment.
/// `cluster`: the one it was trained for; its GPU types are remembered by name. Errors: as
/// deploy::Actor::create().
template <int Types, class Trained>
Result<DeployedActor<Types, Trained>> deploy_actor(const Trained& trained, ObservationConfig config,
                                                   std::size_t max_agents, const Cluster& cluster) {
  static_assert(
      Trained::kInputs == static_cast<std::size_t>(ClusterObservation<Types>::kSize),
      "mara: deploy::Actor feeds its network ClusterObservation<Types> alone; an actor that takes the flow "
      "as input (guidance::FlowInput) needs the field beside it: see FlowInputHead in "
      "mara/guidance/flow_policy.hpp");
  return DeployedActor<Types, Trained>::create(trained.inference(), config, max_agents, type_names(cluster));
}

}  // namespace mara
