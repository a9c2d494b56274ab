#pragma once
// An allocation flow from an expert: demonstrate, fit, let the flow play, ask the expert again.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mara/expert/demonstrations.hpp"
#include "mara/guidance/train_flow.hpp"

namespace mara {

/// How a flow is made from an expert.
struct ExpertFlowConfig {
  std::uint64_t seed = 1;
  int threads = 1;
  int iterations = 3;           ///< rounds in which the flow of the round before plays
  DemonstrationConfig first{};  ///< the expert plays, disturbed
  DemonstrationConfig later{.disturbance = {0.0, 0.02, 0.1}};  ///< the flow plays
  FlowConfig flow{};                                           ///< epochs of each round but the last
  int final_epochs = 10;                                       ///< epochs of the last round
};

/// What it cost.
struct ExpertFlowReport {
  std::int64_t env_steps = 0;
  std::size_t rows = 0;
  std::vector<double> loss;  ///< of the last epoch of each round
};

/// The option with the largest endpoint coordinate among the legal ones.
template <class Flow>
DemonstrationPolicy flow_player(std::shared_ptr<const Flow> flow) {
  return [flow, work = std::make_shared<typename Flow::Workspace>()](const float* observation, int current,
                                                                     OptionMask mask) {
    float endpoint[Flow::kOptions];
    flow->endpoint(observation, &current, &mask, 1, endpoint, *work);
    int best = 0;
    bool found = false;
    for (int a = 0; a < Flow::kOptions; ++a) {
      if (((mask >> a) & 1u) == 0 || (found && !(endpoint[a] > endpoint[best]))) continue;
      best = a;
      found = true;
    }
    return best;
  };
}

/// Dataset aggregation (DAgger, Ross et al. 2011) for the flow: cloning the expert's own states alone leaves
/// the flow helpless where its first mistakes lead. Each round goes on from the weights of the one before.
/// Same result for any number of threads. Errors: negative iterations, and those of demonstrate() and
/// train_flow().
template <class Flow, SchedulerEnvironment E, SequentialExpert S>
Result<std::shared_ptr<const Flow>> flow_from_expert(
    const std::function<E(int)>& make, const S& expert, const ExpertFlowConfig& config,
    ExpertFlowReport* report = nullptr,
    const std::function<void(int round, int epoch, double loss)>& progress = {}) {
  if (config.iterations < 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "flow: iterations = " + std::to_string(config.iterations) + " is negative"};
  }
  Demonstrations data;
  std::shared_ptr<const Flow> flow;
  for (int round = 0; round <= config.iterations; ++round) {
    DemonstrationConfig collect = round == 0 ? config.first : config.later;
    collect.seed = config.seed * 1000 + static_cast<std::uint64_t>(round);
    collect.threads = config.threads;
    std::function<DemonstrationPolicy(int)> player;
    if (flow) player = [&](int) { return flow_player<Flow>(flow); };
    auto part = demonstrate<E>(make, expert, collect, player);
    if (!part) return part.error();
    data.append(*part);
    FlowConfig fit = config.flow;
    fit.seed = collect.seed;
    if (round == config.iterations) fit.matching.epochs = config.final_epochs;
    double last = 0.0;
    auto trained = train_flow<Flow>(
        data, fit, nullptr,
        [&](int epoch, double loss) {
          last = loss;
          if (progress) progress(round, epoch, loss);
        },
        flow.get());
    if (!trained) return trained.error();
    flow = *trained;
    if (report != nullptr) report->loss.push_back(last);
  }
  if (report != nullptr) {
    report->env_steps = data.env_steps;
    report->rows = data.rows();
  }
  return flow;
}

}  // namespace mara
