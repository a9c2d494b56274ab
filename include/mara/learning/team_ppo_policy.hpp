#pragma once
// PPO for games as the learner of a pipeline.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "mara/learning/environment_trainer.hpp"
#include "mara/learning/flow_guidance.hpp"
#include "mara/learning/team_ppo.hpp"

namespace mara::learning {

namespace detail {

template <class C, class G>
struct TeamPpoFamily {
  using Trainer = TeamPpoTrainer<C, G>;
  static TeamConfig& team(typename Trainer::Config& config) noexcept { return config.actor; }
  static const AgentNetwork& network(const Trainer& trainer) noexcept {
    return trainer.actor().team().network();
  }
  template <class E>
  static Result<std::unique_ptr<Trainer>> create(const typename Trainer::Config& config,
                                                 const GameMaker& make, G guidance,
                                                 std::shared_ptr<const DefaultFlow<E>> flow) {
    TeamGuidance source;
    if constexpr (G::kUsesField) source = flow_guidance<E>(std::move(flow));
    return Trainer::create(config, make, std::move(guidance), std::move(source));
  }
};

}  // namespace detail

/// Names the PPO family with a shared actor of hidden widths `Hidden...`: with critic::IndependentValues it
/// is IPPO, with critic::CentralisedValues or critic::PooledValues MAPPO. Guidance: every mode but FlowInput.
template <std::size_t... Hidden>
struct TeamPpo {
  template <class E, class C, class G>
  requires(critic::ValueCritic<C> &&
           !G::kActorInput) using Trainer = EnvironmentTrainer<E, detail::TeamPpoFamily<C, G>, G, Hidden...>;
};

}  // namespace mara::learning
