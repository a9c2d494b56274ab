#pragma once
// From a network with extents known at run time to one with constant extents.

#include <cstddef>
#include <string>
#include <vector>

#include "mara/nn/agent_network.hpp"
#include "mara/nn/mlp.hpp"

namespace mara {

/// Copies the parameters of a feed-forward network without dueling (its storage: `parameters`) into an Mlp of
/// the same extents and activation, which then computes the same function. Errors (kShapeMismatch): another
/// kind, activation, number of layers or extent; nothing has changed then.
template <class S, std::size_t... Sizes>
Status copy_to_mlp(const AgentNetwork& network, const S* parameters, Mlp<S, Sizes...>& to) {
  const AgentNetworkConfig& config = network.config();
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kShapeMismatch, "agent network: " + what};
  };
  if (config.recurrence != Recurrence::kNone || config.dueling)
    return bad("recurrent and dueling networks are no perceptrons");
  if (config.activation != to.hidden_activation())
    return bad("activation = " + std::to_string(static_cast<int>(config.activation)) +
               ", that of the perceptron is " + std::to_string(static_cast<int>(to.hidden_activation())));
  std::vector<ParameterView<const S>> from;
  network.visit(parameters, std::string{},
                [&](const std::string&, ParameterView<const S> view) { from.push_back(view); });
  std::size_t at = 0;
  std::string wrong;
  to.visit_parameters([&](const std::string& name, const ParameterView<S>& view) {
    if (at < from.size() && (from[at].rows != view.rows || from[at].cols != view.cols) && wrong.empty())
      wrong = name + " is " + std::to_string(from[at].rows) + " x " + std::to_string(from[at].cols) +
              ", that of the perceptron " + std::to_string(view.rows) + " x " + std::to_string(view.cols);
    ++at;
  });
  if (at != from.size())
    return bad(std::to_string(from.size() / 2) + " layers, the perceptron has " + std::to_string(at / 2));
  if (!wrong.empty()) return bad(wrong);
  at = 0;
  to.visit_parameters([&](const std::string&, const ParameterView<S>& view) {
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c) view.at(r, c) = from[at].at(r, c);
    ++at;
  });
  return {};
}

}  // namespace mara
