// How fast every learner of games trains, and how one training step grows with the number of agents.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "mara/environment/congestion_game.hpp"
#include "mara/environment/quadratic_team.hpp"
#include "mara/environment/simple_spread.hpp"
#include "mara/environment/two_step_game.hpp"
#include "mara/learning/any_trainer.hpp"
#include "mara/learning/maddpg.hpp"
#include "mara/learning/q_learning.hpp"
#include "mara/learning/team_ppo.hpp"
#include "report.hpp"

namespace {

using namespace bench;
using mara::AnyGame;
using mara::AnyTrainer;
using mara::GameMaker;
using Mappo = mara::TeamPpoTrainer<mara::critic::CentralisedValues>;
using Ippo = mara::TeamPpoTrainer<mara::critic::IndependentValues>;
using Pooled = mara::TeamPpoTrainer<mara::critic::PooledValues>;

GameMaker spread() {
  return [](int) { return AnyGame(mara::SimpleSpread()); };
}

/// The PPO family as EPyMARL runs it: 10 environments, two hidden layers of 64.
template <class T>
AnyTrainer ppo(const GameMaker& make, mara::Recurrence recurrence) {
  typename T::Config config;
  config.environments = 10;
  config.rollout_steps = 100;
  config.sequence_steps = 10;
  config.epochs = 4;
  config.actor.agent_ids = true;
  config.actor.network.recurrence = recurrence;
  return AnyTrainer(T::create(config, make).value());
}

/// The value-based family: a batch of 32 pieces for every `period` steps.
template <class M>
AnyTrainer q(const GameMaker& make, mara::Recurrence recurrence) {
  mara::QLearningConfig config;
  config.environments = 1;
  config.collect_steps = 25;  // an episode a round, and one optimiser step on 32 episodes, as EPyMARL has it
  config.updates = 1;
  config.sequence_steps = 25;
  config.team.agent_ids = true;
  config.team.network.recurrence = recurrence;
  return AnyTrainer(mara::QTrainer<M>::create(config, make).value());
}

AnyTrainer maddpg(const GameMaker& make) {
  mara::MaddpgConfig config;
  config.environments = 1;
  config.round_steps = 100;  // one update of 1024 transitions for every 100 steps, as the authors have it
  config.random_steps = 1100;
  config.replay = 100'000;
  return AnyTrainer(mara::MaddpgTrainer::create(config, make).value());
}

struct Entry {
  const char* name;
  std::function<AnyTrainer()> make;
  std::vector<double> rates{};
};

/// Environment steps a second of processor time, learning included, over `seconds` of it.
double rate(AnyTrainer trainer, double seconds) {
  while (trainer.env_steps() < 1200) trainer.update().value();  // past what only fills the replay
  const std::int64_t before = trainer.env_steps();
  const double begin = processor_seconds();
  double now = begin;
  do {
    trainer.update().value();
    now = processor_seconds();
  } while (now - begin < seconds);
  return static_cast<double>(trainer.env_steps() - before) / (now - begin);
}

/// A training step with so many agents in 64 games of one step each.
AnyTrainer crowd_mappo(std::size_t agents) {
  Mappo::Config config;
  config.environments = 1;
  config.rollout_steps = 64;
  config.epochs = 1;
  config.minibatch_steps = 64;
  return AnyTrainer(
      Mappo::create(config, [agents](int) { return AnyGame(mara::CongestionGame(agents)); }).value());
}
AnyTrainer crowd_pooled(std::size_t agents) {
  Pooled::Config config;
  config.environments = 1;
  config.rollout_steps = 64;
  config.epochs = 1;
  config.minibatch_steps = 64;
  return AnyTrainer(
      Pooled::create(config, [agents](int) { return AnyGame(mara::CongestionGame(agents)); }).value());
}
AnyTrainer crowd_qmix(std::size_t agents) {
  mara::QLearningConfig config;
  config.collect_steps = 64;
  config.batch = 64;
  config.replay_pieces = 256;
  return AnyTrainer(mara::QTrainer<mara::critic::MonotonicMixing>::create(config, [agents](int) {
                      return AnyGame(mara::CongestionGame(agents));
                    }).value());
}

/// What a child process measured.
struct Step {
  double seconds = 0.0, mebibytes = 0.0;
};

/// Median time of update() over several, and how much the largest resident size of a process grew by it all.
/// In a process of its own, so that memory is that of this size alone.
Step measure_step(AnyTrainer (*make)(std::size_t), std::size_t agents, int repeats) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const auto peak = [] {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<double>(usage.ru_maxrss) / 1024.0;
    };
    const double before = peak();
    AnyTrainer trainer = make(agents);
    trainer.update().value();
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      const double begin = processor_seconds();
      trainer.update().value();
      times.push_back(processor_seconds() - begin);
    }
    const Step step{median(times), peak() - before};
    const bool sent = ::write(ends[1], &step, sizeof step) == static_cast<ssize_t>(sizeof step);
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  Step step;
  const bool got = ::read(ends[0], &step, sizeof step) == static_cast<ssize_t>(sizeof step);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!got || status != 0)
    std::fprintf(stderr, "learners_benchmark: the process of %zu agents failed\n", agents);
  return got ? step : Step{};
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(
      count, arguments,
      "learners_benchmark: training speed of every learner of games, and its growth with agents",
      {.rounds = 5});
  const double seconds = options.quick ? 0.02 : 1.0;
  using mara::Recurrence;
  using namespace mara::critic;
  std::vector<Entry> entries = {
      {"MAPPO", [] { return ppo<Mappo>(spread(), Recurrence::kNone); }},
      {"IPPO", [] { return ppo<Ippo>(spread(), Recurrence::kNone); }},
      {"MAPPO, GRU", [] { return ppo<Mappo>(spread(), Recurrence::kGru); }},
      {"IQL", [] { return q<NoMixing>(spread(), Recurrence::kNone); }},
      {"VDN", [] { return q<SumMixing>(spread(), Recurrence::kNone); }},
      {"QMIX", [] { return q<MonotonicMixing>(spread(), Recurrence::kNone); }},
      {"QMIX, GRU", [] { return q<MonotonicMixing>(spread(), Recurrence::kGru); }},
      {"weighted QMIX", [] { return q<OptimisticMixing>(spread(), Recurrence::kNone); }},
      {"MADDPG", [] { return maddpg(spread()); }}};
  for (int round = 0; round < options.rounds; ++round)
    for (Entry& entry : entries) entry.rates.push_back(rate(entry.make(), seconds));
  Table speed{"Training on simple_spread (3 agents, 5 options), two hidden layers of 64; medians of " +
                  std::to_string(options.rounds) + " interleaved runs on one thread",
              {"learner", "env steps per CPU second"},
              {}};
  for (const Entry& entry : entries)
    speed.rows.push_back({std::string(entry.name), Number{median(entry.rates)}});

  Table scale{"One training step (64 games of one step, a pass over them) by number of agents",
              {"learner", "agents", "ms", "us per agent", "growth exponent", "MiB"},
              {}};
  const std::vector<std::size_t> sizes =
      options.quick ? std::vector<std::size_t>{8, 64} : std::vector<std::size_t>{8, 64, 512, 2048};
  const std::pair<const char*, AnyTrainer (*)(std::size_t)> crowds[] = {
      {"MAPPO, V(state)", &crowd_mappo}, {"MAPPO, pooled critic", &crowd_pooled}, {"QMIX", &crowd_qmix}};
  for (const auto& [name, make] : crowds) {
    Step last;
    std::size_t last_agents = 0;
    for (const std::size_t agents : sizes) {
      const Step step = measure_step(make, agents, options.quick ? 1 : 7);
      const double exponent =
          last_agents == 0 ? std::nan("")
                           : std::log(step.seconds / last.seconds) /
                                 std::log(static_cast<double>(agents) / static_cast<double>(last_agents));
      scale.rows.push_back({std::string(name), Number{static_cast<double>(agents)},
                            Number{1e3 * step.seconds, 2},
                            Number{1e6 * step.seconds / static_cast<double>(agents), 1}, Number{exponent, 2},
                            Number{step.mebibytes, 1}});
      last = step;
      last_agents = agents;
    }
  }
  print({std::move(speed), std::move(scale)}, options.json);
}
