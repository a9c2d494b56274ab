#pragma once
// Acting by values: every agent takes its best legal option.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mara/action/masked_choice.hpp"
#include "mara/learning/evaluate.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// A GamePolicy without exploration. `weights`: the parameters of `team`; they must outlive it.
class QPolicy {
 public:
  QPolicy(AgentTeam team, const float* weights)
      : team_(std::move(team)),
        weights_(weights),
        memory_(team_.slots() * team_.memory()),
        values_(team_.slots() * team_.outputs()) {}

  void begin(std::uint64_t) { std::fill(memory_.begin(), memory_.end(), 0.0f); }
  void look(const GameFrame& frame) {
    team_.step(weights_, frame.observations.data(), 1, memory_.data(), frame.arrived.data(), values_.data(),
               workspace_);
  }
  bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float*) {
    options[0] =
        masked_mode(values_.data() + slot * team_.outputs(), static_cast<int>(team_.outputs()), masks[0]);
    return options[0] >= 0;
  }
  /// Values of all slots at the moment last looked at, slots x options.
  const std::vector<float>& values() const noexcept { return values_; }

 private:
  AgentTeam team_;
  const float* weights_;
  std::vector<float> memory_, values_;
  AgentTeam::Workspace workspace_;
};

static_assert(GamePolicy<QPolicy>);

}  // namespace mara
