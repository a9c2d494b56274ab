#pragma once
// A trained flow as the guidance of PPO for games.

#include <algorithm>
#include <cstddef>
#include <memory>

#include "mara/guidance/environment_flow.hpp"
#include "mara/guidance/flow_state_game.hpp"
#include "mara/learning/team_rollout.hpp"

namespace mara {

/// The source of guidance for an environment E in slots (EnvironmentGame or FlowStateGame): the flow's guided
/// distribution over the options of every agent present (EnvironmentFlow), and the options that they hold.
/// What others have taken by an agent's turn is removed afterwards (TeamGuidance). `flow` is not null. Other
/// games are refused by check().
template <Environment E, class Flow>
TeamGuidance flow_guidance(std::shared_ptr<const Flow> flow) {
  const auto within = [](const AnyGame& game) -> const EnvironmentGame<E>* {
    if (const auto* plain = game.get<EnvironmentGame<E>>()) return plain;
    const auto* with_flow = game.get<FlowStateGame<E, Flow>>();
    return with_flow == nullptr ? nullptr : &with_flow->game();
  };
  TeamGuidance source;
  source.distribution = [flow, within](const AnyGame& any, const GameFrame&, float* q) {
    constexpr auto kOptions = static_cast<std::size_t>(E::kOptions);
    const std::size_t slots = any.shape().agents;
    std::fill_n(q, slots * kOptions, 0.0f);
    const EnvironmentGame<E>* game = within(any);
    if (game == nullptr) return;  // check() has refused it
    EnvironmentFlow<E, Flow> moment;
    moment.evaluate(game->environment(), *flow);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (!game->present(slot)) continue;
      const std::size_t agent = game->agent(slot);
      flow->guided_distribution(&moment.endpoint[agent * kOptions], moment.possible[agent],
                                q + slot * kOptions);
    }
  };
  source.check = [within](const AnyGame& any) -> Status {
    if (within(any) != nullptr) return {};
    return Error{
        ErrorCode::kInvalidArgument,
        "the flow is of an environment that is not played here, as EnvironmentGame or FlowStateGame"};
  };
  source.held = [within](const AnyGame& any, std::size_t slot) {
    const EnvironmentGame<E>* game = within(any);
    return game == nullptr ? 0 : game->environment().current_option(game->agent(slot));
  };
  return source;
}

}  // namespace mara
