#pragma once
// A trained flow as the guidance of PPO for games.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "mara/guidance/flow_state_game.hpp"
#include "mara/learning/team_rollout.hpp"

namespace mara {

/// The source of guidance for an environment E in slots (EnvironmentGame or FlowStateGame): the flow's guided
/// distribution over the options of every agent present, and the options that they hold. Before anybody has
/// chosen, so that the field sees the options that are possible at all; what others have taken by an agent's
/// turn is removed afterwards (TeamGuidance). `flow` is not null. Other games are refused by check().
template <Environment E, class Flow>
TeamGuidance flow_guidance(std::shared_ptr<const Flow> flow) {
  const auto within = [](const AnyGame& game) -> const EnvironmentGame<E>* {
    if (const auto* plain = game.get<EnvironmentGame<E>>()) return plain;
    const auto* with_flow = game.get<FlowStateGame<E, Flow>>();
    return with_flow == nullptr ? nullptr : &with_flow->game();
  };
  TeamGuidance source;
  source.distribution = [flow, within](const AnyGame& any, const GameFrame& frame, float* q) {
    constexpr auto kObservation = static_cast<std::size_t>(E::kObservation),
                   kOptions = static_cast<std::size_t>(E::kOptions);
    const std::size_t slots = any.shape().agents;
    std::fill_n(q, slots * kOptions, 0.0f);
    const EnvironmentGame<E>* game = within(any);
    if (game == nullptr) return;  // check() has refused it
    std::vector<float> observations;
    std::vector<int> current;
    std::vector<OptionMask> possible;
    std::vector<std::size_t> rows;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (!game->present(slot)) continue;
      const std::size_t agent = game->agent(slot);
      const float* row = frame.observations.data() + slot * kObservation;
      observations.insert(observations.end(), row, row + kObservation);
      current.push_back(game->environment().current_option(agent));
      possible.push_back(game->environment().possible(agent));
      rows.push_back(slot);
    }
    std::vector<float> endpoint(rows.size() * kOptions);
    typename Flow::Workspace work;
    flow->endpoint(observations.data(), current.data(), possible.data(), rows.size(), endpoint.data(), work);
    for (std::size_t i = 0; i < rows.size(); ++i)
      flow->guided_distribution(&endpoint[i * kOptions], possible[i], q + rows[i] * kOptions);
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
