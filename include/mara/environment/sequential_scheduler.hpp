#pragma once
// A scheduler made of a policy head (observation rows in, logits out) and the sequential arbiter.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/action/masked_choice.hpp"
#include "mara/environment/cluster_observation.hpp"
#include "mara/environment/sequential_arbiter.hpp"

namespace mara {

/// What a policy head may use at one decision.
struct PolicyInput {
  const float* observations = nullptr;   ///< agents x ClusterObservation::kSize
  const int* current = nullptr;          ///< options held now
  const OptionMask* possible = nullptr;  ///< options possible whatever others choose
  std::size_t agents = 0;
};

/// A policy head: prepare() sees all agents at once; logits() answers at an agent's turn, when `mask` says
/// what is left, with a pointer to one row of options (valid until the next call). Neither throws.
template <class H>
concept PolicyHead = requires(H& head, const PolicyInput& input, std::size_t agent, OptionMask mask) {
  { head.prepare(input) }
  noexcept;
  { head.logits(agent, mask) }
  noexcept->std::same_as<const float*>;
};

/// Head of a network from observations to logits: one forward pass for all agents, no allocation up to
/// `max_agents`.
template <class Network>
class NetworkHead {
 public:
  NetworkHead(Network network, std::size_t max_agents)
      : network_(std::move(network)), logits_(max_agents * static_cast<std::size_t>(Network::kOutputs)) {}

  void prepare(const PolicyInput& input) noexcept {
    network_.forward(input.observations, input.agents, logits_.data(), work_);
  }
  const float* logits(std::size_t agent, OptionMask) noexcept {
    return &logits_[agent * static_cast<std::size_t>(Network::kOutputs)];
  }

 private:
  Network network_;
  typename Network::Workspace work_;
  std::vector<float> logits_;
};

/// Greedy deployment of a policy head. decide() allocates nothing while there are at most `max_agents`
/// agents; beyond that, or where a head's logits are not finite, it answers "no change" (for all agents, or
/// for that agent).
template <int Types, PolicyHead Head>
class SequentialScheduler {
 public:
  using Request = TieredRequest<Types>;
  using Observation = ClusterObservation<Types>;
  using Arbiter = SequentialArbiter<Types>;

  SequentialScheduler(std::string name, Head head, ObservationConfig config, std::size_t max_agents)
      : name_(std::move(name)), head_(std::move(head)), observation_(config), max_agents_(max_agents) {
    observation_.reserve(max_agents);
    rows_.resize(max_agents * static_cast<std::size_t>(Observation::kSize));
    current_.resize(max_agents);
    possible_.resize(max_agents);
  }

  std::string_view name() const noexcept { return name_; }
  std::size_t max_agents() const noexcept { return max_agents_; }

  void decide(const DecisionView& view, Allocation& allocation) noexcept {
    const std::size_t agents = view.active.size();
    if (agents > max_agents_) return claim_held(view, allocation);
    observation_.prepare(view);
    observation_.write_agents(view, rows_.data());
    for (std::size_t i = 0; i < agents; ++i) {
      current_[i] = Request::option_of(view.job(i), view.active[i].held);
      possible_[i] = Request::possible(view.job(i), *view.cluster);
    }
    head_.prepare(PolicyInput{rows_.data(), current_.data(), possible_.data(), agents});
    for (const std::uint32_t agent : observation_.order()) {
      const OptionMask mask = Arbiter::mask(view, agent, allocation);
      const int option = masked_mode(head_.logits(agent, mask), Request::kOptions, mask);
      if (option >= 0) {
        Arbiter::claim(view, agent, option, allocation);
      } else {
        allocation.claim(agent, view.job(agent).demand, view.active[agent].held);
      }
    }
    Arbiter::backfill(view, observation_.order(), allocation);
  }

 private:
  std::string name_;
  Head head_;
  Observation observation_;
  std::size_t max_agents_;
  std::vector<float> rows_;
  std::vector<int> current_;
  std::vector<OptionMask> possible_;
};

}  // namespace mara
