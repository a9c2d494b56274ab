#pragma once
// Demonstrations: what an expert would choose in states that learners visit.

#include <cstdint>
#include <functional>
#include <vector>

#include "mara/cluster/allocation.hpp"
#include "mara/core/parallel.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/concept.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// Rows of (observation, option held, what could be chosen, option of the expert).
struct Demonstrations {
  std::vector<float> observations;  ///< rows x kObservation
  std::vector<OptionMask> masks;     ///< at the agent's turn, those before it having done as the expert does
  std::vector<OptionMask> possible;  ///< whatever others do
  std::vector<std::uint8_t> current, target;
  std::int64_t env_steps = 0;  ///< simulated to collect them
  std::size_t rows() const noexcept { return target.size(); }
};

struct DemonstrationConfig {
  std::uint64_t seed = 1;
  int threads = 1;
  int environments = 48;
  int steps = 400;                  ///< per environment
  std::size_t rows = 300'000;       ///< at most so many are kept, an even sample of each environment's rows
  /// Share of agents that choose at random instead of following the expert, environment by environment in turn: so the
  /// states of beginners are covered too, where cloning an expert alone would have none (the idea of DAgger, Ross et al.
  /// 2011, without its iterations).
  std::vector<double> disturbance = {0.0, 0.0, 0.02, 0.1, 0.3, 1.0};
};

/// An environment in which schedulers of mara can play: it shows their view of it.
template <class E>
concept SchedulerEnvironment = Environment<E> && requires(const E& e) {
  typename E::ActionSpace;
  { e.view() } -> std::convertible_to<const DecisionView&>;
  { e.cluster() } -> std::convertible_to<const Cluster&>;
};

/// Plays `expert` (a Scheduler; one copy per environment) in `make(i)` and records what it would do for every agent,
/// whatever was done. Same result for any number of threads. Errors: those of reset().
template <SchedulerEnvironment E, Scheduler S>
Result<Demonstrations> demonstrate(const std::function<E(int)>& make, const S& expert, const DemonstrationConfig& config) {
  constexpr auto kObservation = static_cast<std::size_t>(E::kObservation);
  const auto environments = static_cast<std::size_t>(config.environments);
  std::vector<Demonstrations> parts(environments);
  std::vector<Status> outcomes(environments);
  const std::size_t quota = std::max<std::size_t>(1, config.rows / std::max<std::size_t>(1, environments));
  ThreadPool pool(config.threads);
  pool.for_each(environments, [&](std::size_t i) {
    E environment = make(static_cast<int>(i));
    S scheduler = expert;
    Random random(config.seed, 0x64656d6f00000000ull + i);
    const double disturbance = config.disturbance.empty() ? 0.0 : config.disturbance[i % config.disturbance.size()];
    Demonstrations& part = parts[i];
    outcomes[i] = environment.reset(random.next64());
    if (!outcomes[i]) return;
    Allocation wish(environment.cluster()), turn(environment.cluster());
    std::vector<float> observations;
    std::uint64_t seen = 0;
    for (int step = 0; step < config.steps; ++step) {
      const std::size_t agents = environment.agents();
      if (agents > 0) {
        const DecisionView& view = environment.view();
        wish.reset(agents);
        scheduler.decide(view, wish);
        observations.resize(agents * kObservation);
        environment.observe(observations.data());
        turn.reset(agents);
        for (const std::uint32_t a : environment.turn_order()) {
          const OptionMask mask = E::ActionSpace::mask(view.job(a), turn);
          turn.claim(a, view.job(a).demand, wish.grant(a));
          // Reservoir sampling (algorithm R): every row seen has the same chance to be among the kept.
          std::size_t at = part.rows();
          if (++seen > quota) {
            at = static_cast<std::size_t>(random.next64() % seen);
            if (at >= quota) continue;
          } else {
            part.observations.resize((at + 1) * kObservation);
            part.masks.push_back(0);
            part.possible.push_back(0);
            part.current.push_back(0);
            part.target.push_back(0);
          }
          std::copy_n(&observations[a * kObservation], kObservation, &part.observations[at * kObservation]);
          part.masks[at] = mask;
          part.possible[at] = environment.possible(a);
          part.current[at] = static_cast<std::uint8_t>(environment.current_option(a));
          part.target[at] = static_cast<std::uint8_t>(E::ActionSpace::option_of(view.job(a), wish.grant(a)));
        }
        for (const std::uint32_t a : environment.turn_order()) {
          const OptionMask mask = environment.mask(a);
          int option = E::ActionSpace::option_of(view.job(a), wish.grant(a));
          if (random.uniform() < disturbance) {
            std::array<double, 32> legal{};
            for (int o = 0; o < E::kOptions; ++o) legal[static_cast<std::size_t>(o)] = (mask >> o) & 1u;
            option = random.categorical(legal);
          }
          environment.act(a, option);
        }
      }
      const StepOutcome outcome = environment.step();
      ++part.env_steps;
      if (outcome.terminated || outcome.truncated) {
        outcomes[i] = environment.reset(random.next64());
        if (!outcomes[i]) return;
      }
    }
  });
  Demonstrations all;
  for (std::size_t i = 0; i < environments; ++i) {
    if (!outcomes[i]) return outcomes[i].error();
    all.observations.insert(all.observations.end(), parts[i].observations.begin(), parts[i].observations.end());
    all.masks.insert(all.masks.end(), parts[i].masks.begin(), parts[i].masks.end());
    all.possible.insert(all.possible.end(), parts[i].possible.begin(), parts[i].possible.end());
    all.current.insert(all.current.end(), parts[i].current.begin(), parts[i].current.end());
    all.target.insert(all.target.end(), parts[i].target.begin(), parts[i].target.end());
    all.env_steps += parts[i].env_steps;
  }
  return all;
}

}  // namespace mara
