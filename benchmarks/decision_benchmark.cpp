// How long a decision takes, arbitration included: quantiles over single decisions, wall clock, as a
// scheduler that calls mara sees them. Once more by processor time where a decision is long enough for that
// clock: what other programs and interrupts add is not in it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "histogram.hpp"
#include "mara/core/random.hpp"
#include "mara/deploy/deploy.hpp"
#include "mara/deploy/row_actor.hpp"
#include "report.hpp"

namespace {

using namespace bench;
using namespace mara;

constexpr std::size_t kAgents[] = {1, 16, 128, 1000, 10'000};
/// The clock of processor time costs some tenths of a microsecond; from so many agents on that is little.
constexpr std::size_t kAgentsForProcessorTime = 128;

/// The state of a cluster at a decision.
struct Scene {
  Cluster cluster;
  std::vector<Job> jobs;
  std::vector<JobState> active;

  DecisionView view() const {
    DecisionView view;
    view.now_s = 2e5;
    view.cluster = &cluster;
    view.jobs = jobs;
    view.active = active;
    return view;
  }
};

/// `count` jobs of mixed needs on nodes of 8 GPUs of each of `types` types, one node of each for every 10
/// jobs and one more; half of the jobs run.
Scene scene_of(std::size_t count, int types) {
  Scene scene;
  std::string text;
  for (int t = 0; t < types; ++t) {
    text += t == 0 ? "" : ",";
    text += "gpu" + std::to_string(t) + "@40G:" + std::to_string(1 + count / 10) + "x8";
  }
  scene.cluster = parse_cluster(text).value();
  Random random(1);
  Allocation ledger(scene.cluster);
  ledger.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    Job job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = 1e5 * random.uniform();
    job.requested = Milli::whole(std::int64_t{1} << random.below(4));
    job.max_gpus = static_cast<int>(2 * job.requested.units());
    job.work = random.log_normal(8.0, 1.5) * job.requested.as_double();
    job.demand = {8192, Milli::whole(4), 8192};
    job.speed_up.parameter = random.uniform(0.6, 0.95);
    for (int t = 0; t < types; ++t)
      job.type_speed[static_cast<std::size_t>(t)] = random.uniform(1.0 / (2.0 + t), 1.0 / (1.0 + t));
    JobState state;
    state.job = static_cast<std::uint32_t>(i);
    state.remaining_work = job.work * random.uniform();
    const Grant grant{static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(types))),
                      job.requested};
    if (random.below(2) == 0 && ledger.claim(i, job.demand, grant)) {
      state.held = grant;
      state.started = true;
    }
    scene.jobs.push_back(job);
    scene.active.push_back(state);
  }
  return scene;
}

/// A network with weights that make a choice: not all logits alike.
template <class Network>
Network random_network(std::uint64_t seed) {
  Random random(seed);
  std::vector<float> weights(Network::kParameters);
  for (float& w : weights) w = 0.2f * static_cast<float>(random.normal());
  Network network(Activation::kTanh);
  network.set_parameters(weights).value();
  return network;
}

// --- From the view of the scheduler: observations are built here

/// deploy::Actor as a scheduler calls it.
class ActorDecision {
 public:
  using Actor = deploy::Actor<3, 64, 64>;

  explicit ActorDecision(std::size_t agents)
      : scene_(scene_of(agents, 3)),
        view_(scene_.view()),
        allocation_(scene_.cluster),
        actor_(Actor::create(random_network<Actor::Network>(2), {300.0}, agents).value()) {}

  static std::string name() { return "deploy::Actor, view in"; }
  static std::string network() {
    return std::to_string(Actor::Network::kInputs) + "-64-64-" + std::to_string(Actor::Network::kOutputs);
  }
  void prepare() { allocation_.reset(view_.active.size()); }
  void decide() noexcept { actor_.decide(view_, allocation_); }
  bool trusted() const noexcept { return actor_.refusals() == 0; }

 private:
  Scene scene_;
  DecisionView view_;
  Allocation allocation_;
  Actor actor_;
};

// --- From rows of observations: what is left when the caller has them

/// deploy::RowActor as a scheduler with observations of its own calls it. kSampled: options drawn from the
/// policy, otherwise its mode.
template <class Network, int Types, bool kSampled>
class RowDecision {
  using Actor = deploy::RowActor<Network, Types>;

 public:
  explicit RowDecision(std::size_t agents)
      : scene_(scene_of(agents, Types)),
        view_(scene_.view()),
        allocation_(scene_.cluster),
        actor_(Actor::create(random_network<Network>(2), agents).value()),
        rows_(agents * Network::kInputs),
        options_(agents),
        order_(agents) {
    Random random(4);
    for (float& x : rows_) x = static_cast<float>(random.normal());
    std::iota(order_.begin(), order_.end(), 0u);
    random.shuffle(order_);
  }

  static std::string name() { return kSampled ? "rows in, sampled" : "rows in, greedy"; }
  static std::string network() {
    std::string text;
    for (const std::size_t size : Network::Shape::kSizes)
      text += (text.empty() ? "" : "-") + std::to_string(size);
    return text;
  }
  void prepare() { allocation_.reset(order_.size()); }
  void decide() noexcept {
    if constexpr (kSampled) {
      trusted_ = actor_.sample(rows_.data(), order_, view_, allocation_, options_, random_) && trusted_;
    } else {
      trusted_ = actor_.decide(rows_.data(), order_, view_, allocation_, options_) && trusted_;
    }
  }
  bool trusted() const noexcept {
    for (const int option : options_)
      if (option < 0) return false;
    return trusted_;
  }

 private:
  Scene scene_;
  DecisionView view_;
  Allocation allocation_;
  Actor actor_;
  AlignedVector<float> rows_;
  std::vector<int> options_;
  std::vector<std::uint32_t> order_;
  Random random_{5};
  bool trusted_ = true;
};

// --- Measuring

/// One way to decide for so many agents, and the durations seen so far.
struct Case {
  std::string name, network;
  std::size_t agents = 0;
  std::function<bool(Case&, double)> run;  // for so many seconds; false when decisions cannot be trusted
  Histogram wall_ns, processor_ns;
};

template <class Decision>
void add(std::vector<std::unique_ptr<Case>>& cases) {
  for (const std::size_t agents : kAgents) {
    auto made = std::make_unique<Case>();
    made->name = Decision::name();
    made->network = Decision::network();
    made->agents = agents;
    auto decision = std::make_shared<Decision>(agents);
    made->run = [decision, agents](Case& results, double seconds) {
      using Clock = std::chrono::steady_clock;
      const auto once = [&](bool count) {
        const bool processor = agents >= kAgentsForProcessorTime;
        decision->prepare();
        const double before = processor ? processor_seconds() : 0.0;
        const auto begin = Clock::now();
        decision->decide();
        const auto took = Clock::now() - begin;
        const double after = processor ? processor_seconds() : 0.0;
        if (!count) return;
        results.wall_ns.add(
            static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
        if (processor) results.processor_ns.add(static_cast<std::uint64_t>(1e9 * (after - before)));
      };
      for (int i = 0; i < 3; ++i) once(false);  // its data in the caches again
      const auto end = Clock::now() + std::chrono::duration<double>(seconds);
      do once(true);
      while (Clock::now() < end);
      return decision->trusted();
    };
    cases.push_back(std::move(made));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(count, arguments, "decision_benchmark: how long a decision takes",
                                        {.rounds = 10, .slice_s = 0.04});
  std::vector<std::unique_ptr<Case>> cases;
  add<ActorDecision>(cases);
  add<RowDecision<MlpInference<float, 32, 64, 64, 16>, 5, false>>(cases);
  add<RowDecision<MlpInference<float, 32, 64, 64, 16>, 5, true>>(cases);
  add<RowDecision<MlpInference<float, 64, 256, 256, 32>, 8, false>>(cases);
  add<RowDecision<MlpInference<float, 64, 256, 256, 32>, 8, true>>(cases);

  for (int round = 0; round < options.rounds; ++round)
    for (const auto& each : cases) {
      // Long decisions get more time, so that there are enough of them for the far quantiles.
      const double factor = each->agents >= 10'000 ? 6.0 : each->agents >= 1000 ? 4.0 : 1.0;
      if (each->run(*each, factor * options.slice_s)) continue;
      std::fprintf(stderr, "%s, %zu agents: a decision was refused\n", each->name.c_str(), each->agents);
      return 1;
    }

  Table table{
      "Decision for all agents, microseconds (wall clock; cpu: processor time)",
      {"path", "network", "agents", "decisions", "p50", "p99", "p99.9", "cpu p50", "cpu p99", "ns / agent"},
      {}};
  const auto micros = [](std::uint64_t ns) { return Number{1e-3 * static_cast<double>(ns), 2}; };
  for (const auto& each : cases) {
    const Histogram& wall = each->wall_ns;
    const Histogram& processor = each->processor_ns;
    const auto of_processor = [&](double q) -> Cell {
      if (processor.count() == 0) return std::string("-");
      return micros(processor.quantile(q));
    };
    table.rows.push_back(
        {each->name, each->network, Number{static_cast<double>(each->agents)},
         Number{static_cast<double>(wall.count())}, micros(wall.quantile(0.5)), micros(wall.quantile(0.99)),
         micros(wall.quantile(0.999)), of_processor(0.5), of_processor(0.99),
         Number{static_cast<double>(wall.quantile(0.5)) / static_cast<double>(each->agents), 1}});
  }
  print({std::move(table)}, options.json);
}
