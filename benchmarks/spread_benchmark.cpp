// Six learners on simple_spread with the same budget of environment steps: returns over seeds, curves, time.
// Convention of EPyMARL and OpenAI: the team reward of a step is the sum over agents, collisions counted for
// both; the published figures are a third of EPyMARL's raw sum, which is this one.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "mara/core/parallel.hpp"
#include "mara/environment/simple_spread.hpp"
#include "mara/learning/any_trainer.hpp"
#include "mara/learning/maddpg.hpp"
#include "mara/learning/q_learning.hpp"
#include "mara/learning/team_ppo.hpp"
#include "mara/learning/training.hpp"
#include "report.hpp"

namespace {

using namespace bench;
using mara::AnyTrainer;

constexpr std::int64_t kSteps = 1'000'000;
constexpr std::size_t kPoints = 10;  ///< of a curve

mara::GameMaker spread() {
  return [](int) { return mara::AnyGame(mara::SimpleSpread()); };
}

template <class Critic>
AnyTrainer ppo(std::uint64_t seed, std::int64_t steps) {
  using T = mara::TeamPpoTrainer<Critic>;
  typename T::Config c;
  c.seed = seed;
  c.total_steps = steps;
  c.environments = 16;
  c.rollout_steps = 100;
  c.minibatch_steps = 200;
  c.learning_rate = c.critic_learning_rate = 7e-4;
  c.final_rate = 0.1;
  c.gamma = 0.9;  // states beyond the 25 steps are never seen: a far horizon makes them up
  c.entropy_initial = 0.01, c.entropy_final = 0.001;
  c.actor.agent_ids = true;
  c.actor.network.hidden = {128, 128};
  c.actor.network.output_gain = 0.01f;
  c.critic.network.hidden = {128, 128};
  return AnyTrainer(T::create(c, spread()).value());
}

template <class M>
AnyTrainer q(std::uint64_t seed, std::int64_t steps) {
  mara::QLearningConfig c;
  c.seed = seed;
  c.environments = 8;
  c.collect_steps = 25;
  c.updates = 8;
  c.sequence_steps = 25;
  c.replay_pieces = 5000;
  c.learning_start = 1600;
  c.reward_scale = 0.1;
  c.gamma = 0.9;
  c.n_step = 3;
  c.team.agent_ids = true;
  c.team.network.hidden = {128, 128};
  c.team.network.dueling = true;
  c.mixer.hyper_hidden = {64};
  c.epsilon.anneal_steps = static_cast<std::uint64_t>(steps / 8);
  return AnyTrainer(mara::QTrainer<M>::create(c, spread()).value());
}

AnyTrainer maddpg(std::uint64_t seed, std::int64_t steps) {
  mara::MaddpgConfig c;
  c.seed = seed;
  c.environments = 4;
  c.round_steps = 25;
  c.round_updates = 4;
  c.batch = 256;
  c.replay = 200'000;
  c.reward_scale = 0.1;
  c.tau = 0.02;
  c.logit_regulariser = 0.01;
  c.learning_rate = c.critic_learning_rate = 3e-3;
  c.final_rate = 0.1;
  c.rate_steps = steps;
  return AnyTrainer(mara::MaddpgTrainer::create(c, spread()).value());
}

struct Learner {
  const char* name;
  AnyTrainer (*make)(std::uint64_t seed, std::int64_t steps);
};

struct Run {
  std::vector<double> curve;  ///< mean return of 128 episodes after each tenth of the steps
  double last = 0.0;          ///< of 512 other episodes at the end
  double seconds = 0.0;       ///< wall-clock time, evaluations included
  std::string problem;
};

Run run(const Learner& learner, std::uint64_t seed, std::int64_t steps) {
  Run done;
  AnyTrainer trainer = learner.make(seed, steps);
  const mara::GameMaker make = spread();
  mara::TrainingConfig config;
  config.steps = steps;
  config.evaluate_every = std::max<std::int64_t>(1, steps / static_cast<std::int64_t>(kPoints));
  config.evaluation.episodes = 128;
  const auto result = mara::train(trainer, make, config);
  if (!result) {
    done.problem = result.error().message;
    return done;
  }
  for (const mara::EvaluationPoint& point : result->evaluations) done.curve.push_back(point.mean);
  auto policy = trainer.policy(trainer.weights());  // the last weights, not the best ones
  mara::EvaluationConfig judge;
  judge.seed = 77'000'000;
  judge.episodes = 512;
  done.last = mara::mean_team_return(mara::evaluate_policy(make, policy, judge).value());
  return done;
}

double half_width(const std::vector<double>& values, double mean) {
  // Student's t, 97.5 %, for 1 to 9 degrees of freedom; 1.96 beyond.
  constexpr double kStudent[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};
  const std::size_t n = values.size();
  if (n < 2) return std::nan("");
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double t = n - 2 < std::size(kStudent) ? kStudent[n - 2] : 1.96;
  return t * std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(
      count, arguments, "spread_benchmark: six learners on simple_spread, returns over seeds", {.rounds = 5});
  const std::int64_t steps = options.quick ? 4'000 : kSteps;
  using namespace mara::critic;
  const Learner learners[] = {{"MAPPO", &ppo<CentralisedValues>},
                              {"IPPO", &ppo<IndependentValues>},
                              {"QMIX", &q<MonotonicMixing>},
                              {"VDN", &q<SumMixing>},
                              {"IQL", &q<NoMixing>},
                              {"MADDPG", &maddpg}};
  const std::size_t kinds = std::size(learners), seeds = static_cast<std::size_t>(options.rounds);
  std::vector<Run> runs(kinds * seeds);
  mara::ThreadPool pool(static_cast<int>(std::thread::hardware_concurrency()));
  pool.for_each(runs.size(), [&](std::size_t i) {
    runs[i] = run(learners[i % kinds], i / kinds + 1, steps);
    std::fprintf(stderr, "%s, seed %zu: %.1f\n", learners[i % kinds].name, i / kinds + 1, runs[i].last);
  });
  Table table{"simple_spread, 3 agents, " + std::to_string(steps) + " environment steps each, " +
                  std::to_string(seeds) + " seeds; mean return of 512 episodes (sum over agents)",
              {"learner", "return", "95 % +-", "worst seed", "best seed"},
              {}};
  Table curves{"Learning curves: mean return of 128 episodes after each tenth of the steps, mean over seeds",
               {"learner"},
               {}};
  for (std::size_t p = 1; p <= kPoints; ++p) curves.columns.push_back(std::to_string(10 * p) + " %");
  bool failed = false;
  for (std::size_t k = 0; k < kinds; ++k) {
    std::vector<double> last;
    std::vector<double> curve(kPoints);
    for (std::size_t s = 0; s < seeds; ++s) {
      const Run& one = runs[s * kinds + k];
      if (!one.problem.empty()) {
        std::fprintf(stderr, "spread_benchmark: %s: %s\n", learners[k].name, one.problem.c_str());
        failed = true;
        continue;
      }
      last.push_back(one.last);
      for (std::size_t p = 0; p < kPoints; ++p)
        curve[p] += one.curve[std::min(p, one.curve.size() - 1)] / static_cast<double>(seeds);
    }
    if (last.empty()) continue;
    double mean = 0.0;
    for (const double v : last) mean += v / static_cast<double>(last.size());
    table.rows.push_back({std::string(learners[k].name), Number{mean, 1}, Number{half_width(last, mean), 1},
                          Number{*std::min_element(last.begin(), last.end()), 1},
                          Number{*std::max_element(last.begin(), last.end()), 1}});
    curves.rows.push_back({std::string(learners[k].name)});
    for (const double v : curve) curves.rows.back().push_back(Number{v, 1});
  }
  print({std::move(table), std::move(curves)}, options.json);
  return failed ? 1 : 0;
}
