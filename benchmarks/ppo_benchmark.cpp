// How fast PPO learns to swing a pendulum up: environment steps per second of processor time, against what
// the multiply-adds alone would take, and what was learned, so that speed is not bought with a broken
// learner.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "mara/environment/pendulum.hpp"
#include "mara/learning/ppo.hpp"
#include "report.hpp"

namespace {

using namespace bench;
using mara::Pendulum;
using Trainer = mara::PpoTrainer<Pendulum, 64, 64>;

constexpr int kStepsAnUpdate = 4096, kUpdates = 74;  // the settings that PpoConfig names: 303,104 steps

/// A way to train: the activation of the hidden layers and how many pendulums play side by side.
struct Entry {
  const char* name;
  mara::Activation activation;
  int environments;
  double entropy, reward_scale;
  std::vector<double> rates, shares, returns;  ///< a value a round
};

/// Operations of a step of an environment, as the bound counts them: each pass through one network costs two
/// for each weight; one to act, one to value, and in each epoch three for each of actor and critic (forward,
/// gradient of the weights, of the inputs).
double operations_a_step(int epochs) {
  double weights = 0.0;
  constexpr auto& kSizes = Trainer::Actor::Shape::kSizes;
  for (std::size_t l = 0; l + 1 < kSizes.size(); ++l)
    weights += static_cast<double>(kSizes[l] * kSizes[l + 1]);
  return 2.0 * weights * (2.0 + 6.0 * epochs);
}

/// Undiscounted return of an episode with the most probable actions, mean over `count` episodes.
double mean_return(Trainer& trainer, std::size_t count) {
  Pendulum pendulum(count, 0x6576616c);
  std::vector<float> rows(count * Pendulum::kObservation), actions(count), rewards(count);
  double total = 0.0;
  for (std::int64_t step = 0; step < Pendulum::kEpisodeSteps; ++step) {
    pendulum.observe(rows.data());
    trainer.act(rows.data(), count, actions.data());
    pendulum.step(actions.data(), rewards.data()).value();
    for (const float reward : rewards) total += static_cast<double>(reward);
  }
  return total / static_cast<double>(count);
}

/// Trains once with this seed.
void run(Entry& entry, std::uint64_t seed, int updates, const Meter& meter) {
  mara::PpoConfig config;
  config.seed = seed;
  config.activation = entry.activation;
  config.rollout_steps = kStepsAnUpdate / entry.environments;
  config.entropy = entry.entropy;
  config.reward_scale = entry.reward_scale;
  config.action_scale = Pendulum::kMaximumTorque;
  Trainer trainer =
      Trainer::create(config, Pendulum(static_cast<std::size_t>(entry.environments), seed)).value();
  double flops = 0.0, seconds = 0.0;
  int measured = 0;
  for (int update = 0; update < updates; ++update) {
    if (update % 8 == 0) {  // the core's speed changes while it trains
      flops += meter.measure().flops;
      ++measured;
    }
    const double begin = processor_seconds();
    trainer.update().value();
    seconds += processor_seconds() - begin;
  }
  const double rate = static_cast<double>(trainer.env_steps()) / seconds;
  const double bound = flops / measured / operations_a_step(config.epochs);
  entry.rates.push_back(rate);
  entry.shares.push_back(bound / rate);
  entry.returns.push_back(mean_return(trainer, 64));
}

double mean(const std::vector<double>& values) {
  double total = 0.0;
  for (const double v : values) total += v;
  return total / static_cast<double>(values.size());
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(
      count, arguments, "ppo_benchmark: PPO on the pendulum, steps a second and return", {.rounds = 9});
  const Meter meter;
  Entry entries[] = {
      {"relu, 4 pendulums (settings of rl_tools)", mara::Activation::kRelu, 4, 1.0, 1.0, {}, {}, {}},
      {"tanh, 4 pendulums", mara::Activation::kTanh, 4, 1.0, 0.1, {}, {}, {}},
      {"relu, 64 pendulums", mara::Activation::kRelu, 64, 1.0, 1.0, {}, {}, {}}};
  for (int round = 0; round < options.rounds; ++round)
    for (Entry& entry : entries)
      run(entry, static_cast<std::uint64_t>(round) + 1, options.quick ? 2 : kUpdates, meter);
  Table table{"PPO on the pendulum, networks 3-64-64-1, 4096 steps an update, " +
                  std::to_string(options.quick ? 2 : kUpdates) + " updates; medians of " +
                  std::to_string(options.rounds) + " interleaved runs of different seeds",
              {"hidden layers, batch", "steps per CPU second", "bound by multiply-adds", "bound / reached",
               "return, mean", "return, worst seed"},
              {}};
  for (const Entry& entry : entries) {
    const double rate = median(entry.rates), share = median(entry.shares);
    table.rows.push_back({std::string(entry.name), Number{rate}, Number{rate * share}, ratio(share),
                          Number{mean(entry.returns), 1},
                          Number{*std::min_element(entry.returns.begin(), entry.returns.end()), 1}});
  }
  print({std::move(table)}, options.json);
}
