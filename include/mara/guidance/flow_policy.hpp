#pragma once
// The flow itself executed as a policy: the reference that a guided actor must match without it.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mara/environment/sequential_scheduler.hpp"
#include "mara/guidance/allocation_flow.hpp"

namespace mara {

/// Policy head whose logits are those of the guided distribution, evaluated at each agent's turn.
template <class Flow>
class FlowHead {
 public:
  explicit FlowHead(std::shared_ptr<const Flow> flow) : flow_(std::move(flow)) { work_.reserve(1); }

  void prepare(const PolicyInput& input) noexcept { input_ = input; }
  const float* logits(std::size_t agent, OptionMask mask) noexcept {
    flow_->endpoint(input_.observations + agent * static_cast<std::size_t>(Flow::kObservation),
                    input_.current + agent, &mask, 1, logits_.data(), work_);
    for (float& logit : logits_) logit *= 2.0f / flow_->temperature;
    return logits_.data();
  }

 private:
  std::shared_ptr<const Flow> flow_;
  PolicyInput input_{};
  std::array<float, static_cast<std::size_t>(Flow::kOptions)> logits_{};
  typename Flow::Workspace work_;
};

/// Policy head of an actor that takes the flow vector x1^ - x as extra input (guidance::FlowInput). No
/// allocation up to `max_agents` agents.
template <class Actor, class Flow>
class FlowInputHead {
 public:
  FlowInputHead(Actor actor, std::shared_ptr<const Flow> flow, std::size_t max_agents = 0)
      : actor_(std::move(actor)), flow_(std::move(flow)) {
    resize(max_agents);
    flow_work_.reserve(max_agents);
  }

  void prepare(const PolicyInput& input) noexcept {
    constexpr auto kOptions = static_cast<std::size_t>(Flow::kOptions);
    constexpr auto kObservation = static_cast<std::size_t>(Flow::kObservation);
    resize(input.agents);
    flow_->endpoint(input.observations, input.current, input.possible, input.agents, endpoint_.data(),
                    flow_work_);
    for (std::size_t i = 0; i < input.agents; ++i) {
      float* row = &rows_[i * (kObservation + kOptions)];
      std::copy_n(input.observations + i * kObservation, kObservation, row);
      for (std::size_t a = 0; a < kOptions; ++a) {
        row[kObservation + a] =
            endpoint_[i * kOptions + a] - (static_cast<int>(a) == input.current[i] ? 1.0f : 0.0f);
      }
    }
    actor_.forward(rows_.data(), input.agents, logits_.data(), actor_work_);
  }
  const float* logits(std::size_t agent, OptionMask) noexcept {
    return &logits_[agent * static_cast<std::size_t>(Flow::kOptions)];
  }

 private:
  void resize(std::size_t agents) {
    endpoint_.resize(agents * static_cast<std::size_t>(Flow::kOptions));
    logits_.resize(agents * static_cast<std::size_t>(Flow::kOptions));
    rows_.resize(agents * static_cast<std::size_t>(Flow::kObservation + Flow::kOptions));
  }

  Actor actor_;
  std::shared_ptr<const Flow> flow_;
  std::vector<float> endpoint_, rows_, logits_;
  typename Flow::Workspace flow_work_;
  typename Actor::Workspace actor_work_;
};

}  // namespace mara
