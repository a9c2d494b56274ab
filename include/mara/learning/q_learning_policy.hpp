#pragma once
// Q-learning and value decomposition as the learner of a pipeline.

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "mara/guidance/modes.hpp"
#include "mara/learning/environment_trainer.hpp"
#include "mara/learning/q_learning.hpp"

namespace mara::learning {

namespace detail {

template <class M>
struct QLearningFamily {
  using Trainer = QTrainer<M>;
  static TeamConfig& team(QLearningConfig& config) noexcept { return config.team; }
  static const AgentNetwork& network(const Trainer& trainer) noexcept {
    return trainer.networks().team().network();
  }
  template <class E, class G>
  static Result<std::unique_ptr<Trainer>> create(const QLearningConfig& config, const GameMaker& make, G,
                                                 std::shared_ptr<const DefaultFlow<E>>) {
    return Trainer::create(config, make);
  }
};

}  // namespace detail

/// Names Q-learning with a shared actor of hidden widths `Hidden...`, whose outputs are values: with
/// critic::NoMixing it is IQL, with SumMixing VDN, with MonotonicMixing QMIX, with OptimisticMixing weighted
/// QMIX. Guidance: None, or FlowState, with which the mixer sees the flow.
template <std::size_t... Hidden>
struct QLearning {
  template <class E, class C, class G>
  requires(Mixing<C> && (!G::kUsesField || std::same_as<G, guidance::FlowState>)) using Trainer =
      EnvironmentTrainer<E, detail::QLearningFamily<C>, G, Hidden...>;
};

}  // namespace mara::learning
