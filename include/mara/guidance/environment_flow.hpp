#pragma once
// The flow of everybody in an environment at one moment.

#include <cstddef>
#include <vector>

#include "mara/action/masked_categorical.hpp"
#include "mara/environment/concept.hpp"

namespace mara {

/// Where a flow would move every agent of an environment before anybody has chosen, so that the field sees
/// the options that are possible at all. Arrays by the environment's index of the agent; reused, one thread
/// at a time.
template <Environment E, class Flow>
struct EnvironmentFlow {
  std::vector<int> current;          ///< agents: option held
  std::vector<OptionMask> possible;  ///< agents
  std::vector<float> endpoint;       ///< agents x kOptions: x1^

  void evaluate(const E& environment, const Flow& flow) {
    const auto agents = static_cast<std::size_t>(environment.agents());
    observations_.resize(agents * static_cast<std::size_t>(E::kObservation));
    current.resize(agents), possible.resize(agents);
    endpoint.resize(agents * static_cast<std::size_t>(E::kOptions));
    if (agents == 0) return;
    environment.observe(observations_.data());
    for (std::size_t i = 0; i < agents; ++i) {
      current[i] = environment.current_option(i);
      possible[i] = environment.possible(i);
    }
    flow.endpoint(observations_.data(), current.data(), possible.data(), agents, endpoint.data(), work_);
  }

 private:
  std::vector<float> observations_;
  typename Flow::Workspace work_;
};

}  // namespace mara
