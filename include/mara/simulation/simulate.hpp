#pragma once
// A whole run of one scheduler over one list of jobs.

#include <chrono>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/simulation/decision.hpp"
#include "mara/simulation/records.hpp"
#include "mara/simulation/simulator.hpp"

namespace mara {

/// Runs `scheduler` over `jobs` to the end (or the horizon).
template <Scheduler S>
Result<SimulationResult> simulate(const Cluster& cluster, std::vector<Job> jobs, S& scheduler,
                                  const SimulationConfig& config) {
  auto simulator = Simulator::create(cluster, std::move(jobs), config);
  if (!simulator) return simulator.error();
  std::vector<double> decision_us;
  while (simulator->next_decision()) {
    const auto begin = std::chrono::steady_clock::now();
    scheduler.decide(simulator->view(), simulator->allocation());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    decision_us.push_back(took.count());
    simulator->commit();
  }
  SimulationResult result = simulator->result();
  result.decision_us = std::move(decision_us);
  return result;
}

}  // namespace mara
