#pragma once
// Acting by values: every agent takes its best legal option.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mara/action/flat_options.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/learning/evaluate.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// A GamePolicy without exploration. `weights`: the parameters of `team`; they must outlive it. `options`:
/// what the values are of, all combinations of the options of the game's heads.
class QPolicy {
 public:
  QPolicy(AgentTeam team, FlatOptions options, const float* weights)
      : team_(std::move(team)),
        options_(std::move(options)),
        weights_(weights),
        memory_(team_.slots() * team_.memory()),
        values_(team_.slots() * team_.outputs()) {}

  void begin(std::uint64_t) { std::fill(memory_.begin(), memory_.end(), 0.0f); }
  void look(const GameFrame& frame) {
    team_.step(weights_, frame.observations.data(), 1, memory_.data(), frame.arrived.data(), values_.data(),
               workspace_);
  }
  bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float*) {
    const OptionMask mask = options_.mask([&](std::size_t head) { return masks[head]; });
    const std::int32_t best =
        masked_mode(values_.data() + slot * team_.outputs(), static_cast<int>(team_.outputs()), mask);
    if (best >= 0) options_.split(best, options);
    return best >= 0;
  }
  /// Values of all slots at the moment last looked at, slots x options.
  const std::vector<float>& values() const noexcept { return values_; }

 private:
  AgentTeam team_;
  FlatOptions options_;
  const float* weights_;
  std::vector<float> memory_, values_;
  AgentTeam::Workspace workspace_;
};

static_assert(GamePolicy<QPolicy>);

}  // namespace mara
