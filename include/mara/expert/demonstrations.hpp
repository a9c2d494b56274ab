#pragma once
// Demonstrations: what an expert would choose in states that learners visit.

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "mara/cluster/allocation.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/parallel.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/concept.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// Rows of (observation, option held, what could be chosen, option of the expert).
struct Demonstrations {
  std::vector<float> observations;            ///< rows x kObservation
  std::vector<OptionMask> masks;              ///< what the agents before it had left at its turn
  std::vector<OptionMask> possible;           ///< whatever others do
  std::vector<std::uint8_t> current, target;  ///< option held, option of the expert
  std::int64_t env_steps = 0;                 ///< simulated to collect them
  std::size_t rows() const noexcept { return target.size(); }

  /// Adds the rows and the steps of another collection.
  void append(const Demonstrations& other) {
    const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    add(observations, other.observations);
    add(masks, other.masks);
    add(possible, other.possible);
    add(current, other.current);
    add(target, other.target);
    env_steps += other.env_steps;
  }
};

/// How many demonstrations are taken, and from which states.
struct DemonstrationConfig {
  std::uint64_t seed = 1;
  int threads = 1;
  int environments = 48;
  int steps = 300;             ///< per environment
  std::size_t rows = 200'000;  ///< at most so many are kept, an even sample of each environment's rows
  double labelled_share =
      0.5;  ///< of the agents of a step are asked for (asking costs an expert decision each)
  /// Share of agents that choose at random instead of following the played policy, environment by environment
  /// in turn: so the states of beginners are covered too.
  std::vector<double> disturbance = {0.0, 0.02, 0.1, 0.3, 1.0};
};

/// An environment in which schedulers of mara can play: it shows their view of it.
template <class E>
concept SchedulerEnvironment = Environment<E> && requires(const E& e) {
  typename E::ActionSpace;
  { e.view() } -> std::convertible_to<const DecisionView&>;
  { e.cluster() } -> std::convertible_to<const Cluster&>;
};

/// An expert that can finish a decision which others began (see ListScheduler).
template <class S>
concept SequentialExpert = requires(S& s, const DecisionView& view, std::span<const std::uint8_t> decided,
                                    Allocation& a) {
  { s.prepare(view) } -> std::same_as<void>;
  { s.decide_rest(view, decided, a) } -> std::same_as<void>;
};

/// Who plays while the expert is asked: choice(observation, current option, mask) -> option; absent: the
/// expert.
using DemonstrationPolicy = std::function<int(const float* observation, int current, OptionMask mask)>;

/// Plays `make(i)`, and asks `expert` at the turn of every labelled agent what it would do now, given what
/// the agents before it have really taken: labels for the states of whoever plays (DAgger, Ross et al. 2011,
/// applied to the turns of a step). `player(i)` makes the policy of environment i; without it the expert
/// plays. Same result for any number of threads. Errors: fewer than one environment, negative steps, a
/// labelled_share outside [0, 1], and those of reset().
template <SchedulerEnvironment E, SequentialExpert S>
Result<Demonstrations> demonstrate(const std::function<E(int)>& make, const S& expert,
                                   const DemonstrationConfig& config,
                                   const std::function<DemonstrationPolicy(int)>& player = {}) {
  constexpr auto kObservation = static_cast<std::size_t>(E::kObservation);
  using Actions = typename E::ActionSpace;
  if (config.environments < 1 || config.steps < 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "demonstrations: environments = " + std::to_string(config.environments) +
                     ", steps = " + std::to_string(config.steps) + ", need at least 1 and 0"};
  }
  if (Status share = check_range(config.labelled_share, 0.0, 1.0, "demonstrations: labelled_share"); !share) {
    return share.error();
  }
  const auto environments = static_cast<std::size_t>(config.environments);
  std::vector<Demonstrations> parts(environments);
  std::vector<Status> outcomes(environments);
  const std::size_t quota = std::max<std::size_t>(1, config.rows / std::max<std::size_t>(1, environments));
  ThreadPool pool(config.threads);
  pool.for_each(environments, [&](std::size_t i) {
    E environment = make(static_cast<int>(i));
    S scheduler = expert;
    const DemonstrationPolicy policy = player ? player(static_cast<int>(i)) : DemonstrationPolicy{};
    Random random(config.seed, 0x64656d6f00000000ull + i);
    const double disturbance =
        config.disturbance.empty() ? 0.0 : config.disturbance[i % config.disturbance.size()];
    Demonstrations& part = parts[i];
    outcomes[i] = environment.reset(random.next64());
    if (!outcomes[i]) return;
    Allocation taken(environment.cluster()), asked(environment.cluster());
    std::vector<float> observations;
    std::vector<std::uint8_t> decided;
    std::uint64_t seen = 0;
    for (int step = 0; step < config.steps; ++step) {
      const std::size_t agents = environment.agents();
      if (agents > 0) {
        const DecisionView& view = environment.view();
        observations.resize(agents * kObservation);
        environment.observe(observations.data());
        scheduler.prepare(view);
        taken.reset(agents);
        decided.assign(agents, 0);
        bool fresh = false;  // `asked` is the expert's answer to exactly what was taken so far
        for (const std::uint32_t a : environment.turn_order()) {
          const OptionMask mask = environment.mask(a);
          const bool label = random.uniform() < config.labelled_share;
          int ideal = 0;
          if ((label || !policy) && !fresh) {
            asked = taken;
            scheduler.decide_rest(view, decided, asked);
            fresh = true;
          }
          if (fresh) ideal = Actions::option_of(view.job(a), asked.grant(a));
          if (label) {
            std::size_t at = part.rows();  // reservoir sampling (algorithm R)
            bool keep = true;
            if (++seen > quota) {
              at = static_cast<std::size_t>(random.next64() % seen);
              keep = at < quota;
            } else {
              part.observations.resize((at + 1) * kObservation);
              part.masks.push_back(0), part.possible.push_back(0), part.current.push_back(0),
                  part.target.push_back(0);
            }
            if (keep) {
              std::copy_n(&observations[a * kObservation], kObservation,
                          &part.observations[at * kObservation]);
              part.masks[at] = mask;
              part.possible[at] = environment.possible(a);
              part.current[at] = static_cast<std::uint8_t>(environment.current_option(a));
              part.target[at] = static_cast<std::uint8_t>(ideal);
            }
          }
          int option =
              policy ? policy(&observations[a * kObservation], environment.current_option(a), mask) : ideal;
          if (random.uniform() < disturbance) {
            std::array<double, 32> legal{};
            for (int o = 0; o < E::kOptions; ++o) legal[static_cast<std::size_t>(o)] = (mask >> o) & 1u;
            option = random.categorical(legal);
          }
          fresh = fresh && option == ideal;
          environment.act(a, option);
          const Grant grant = Actions::grant(view.job(a), option);
          if (!grant.empty()) taken.claim(a, view.job(a).demand, grant);
          decided[a] = 1;
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
    all.append(parts[i]);
  }
  return all;
}

}  // namespace mara
