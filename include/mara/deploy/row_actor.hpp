#pragma once
// The innermost path of a decision, for schedulers that build observations of their own: rows of numbers in,
// one legal option for each job out, claimed at the ledger.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "mara/action/masked_choice.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/environment/sequential_arbiter.hpp"
#include "mara/math/aligned.hpp"

namespace mara::deploy {

/// A network over observation rows and the sequential arbiter behind it. `Network` is a network for inference
/// (MlpInference) with at least as many outputs as TieredRequest<Types> has options; outputs past them are
/// never legal. decide() and sample() throw nothing, allocate nothing and take no lock; one thread at a time.
/// Whatever the network answers, no hard limit is broken: only the ledger hands out anything.
template <class Network, int Types>
class RowActor {
 public:
  using Request = TieredRequest<Types>;
  using Arbiter = SequentialArbiter<Types>;
  static constexpr std::size_t kInputs = Network::kInputs;
  static constexpr std::size_t kOutputs = Network::kOutputs;
  static constexpr std::size_t kMostAgents = 1'000'000;
  static_assert(kOutputs >= static_cast<std::size_t>(Request::kOptions),
                "RowActor: the network needs an output for every option of TieredRequest<Types>");

  /// Errors: max_agents outside [1, kMostAgents]; a weight that is not finite (with its index in exact
  /// order).
  static Result<RowActor> create(Network network, std::size_t max_agents) {
    if (max_agents < 1 || max_agents > kMostAgents)
      return Error{ErrorCode::kInvalidArgument, "max_agents = " + std::to_string(max_agents) +
                                                    ", must be in [1, " + std::to_string(kMostAgents) + "]"};
    const auto weights = network.exact_parameters();
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (!(weights[i] - weights[i] == 0.0f))
        return Error{ErrorCode::kNumerical, "parameters[" + std::to_string(i) + "] is not finite"};
    return RowActor(std::move(network), max_agents);
  }

  std::size_t max_agents() const noexcept { return logits_.size() / kOutputs; }

  /// Greedy decision. observations: view.active.size() x kInputs, row-major, in the order of view.active.
  /// `order`: the agents in their order of turns. `allocation`: reset to that many agents. options: receives
  /// the option of each agent, -1 where its logits were not finite or it was not in `order`; such an agent
  /// keeps what it holds, as far as that is still free. GPUs left over go to agents without a grant, in
  /// `order` (SequentialArbiter::backfill). False, and every job keeps what it holds, when the decision
  /// cannot be made: more than max_agents() agents, spans of other sizes, an agent in `order` that does not
  /// exist, a cluster with another number of GPU types.
  bool decide(const float* observations, std::span<const std::uint32_t> order, const DecisionView& view,
              Allocation& allocation, std::span<int> options) noexcept {
    return run(observations, order, view, allocation, options,
               [](const float* logits, OptionMask mask) noexcept {
                 return masked_mode(logits, Request::kOptions, mask);
               });
  }

  /// The same with options drawn from the policy.
  bool sample(const float* observations, std::span<const std::uint32_t> order, const DecisionView& view,
              Allocation& allocation, std::span<int> options, Random& random) noexcept {
    return run(observations, order, view, allocation, options,
               [&random](const float* logits, OptionMask mask) noexcept {
                 return masked_sample(logits, Request::kOptions, mask, random);
               });
  }

 private:
  RowActor(Network network, std::size_t max_agents)
      : network_(std::move(network)), logits_(max_agents * kOutputs) {}

  template <class Choose>
  bool run(const float* observations, std::span<const std::uint32_t> order, const DecisionView& view,
           Allocation& allocation, std::span<int> options, const Choose& choose) noexcept {
    const std::size_t agents = view.active.size();
    bool usable = agents <= max_agents() && options.size() == agents && order.size() <= agents &&
                  allocation.agents() == agents && view.cluster->type_count() == Types;
    for (const std::uint32_t agent : order) usable = usable && agent < agents;
    if (!usable) {
      for (int& option : options) option = -1;
      claim_held(view, allocation);
      return false;
    }
    for (int& option : options) option = -1;
    network_.forward(observations, agents, logits_.data());
    for (const std::uint32_t agent : order) {
      const int option = choose(&logits_[agent * kOutputs], Arbiter::mask(view, agent, allocation));
      options[agent] = option;
      if (option >= 0) {
        Arbiter::claim(view, agent, option, allocation);
      } else {
        allocation.claim(agent, view.job(agent).demand, view.active[agent].held);
      }
    }
    for (std::size_t agent = 0; agent < agents; ++agent)  // those without a turn
      if (options[agent] < 0 && allocation.grant(agent).empty())
        allocation.claim(agent, view.job(agent).demand, view.active[agent].held);
    Arbiter::backfill(view, order, allocation);
    return true;
  }

  Network network_;
  AlignedVector<float> logits_;
};

}  // namespace mara::deploy
