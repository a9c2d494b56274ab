// The parametric list scheduler against its formula written out once more, and against its own continuation.
#include "mara/expert/list_scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "environment/environment_helpers.hpp"
#include "mara/environment/cluster_observation.hpp"

using namespace mara;
using namespace mara::test;

namespace {

ListParameters random_parameters(Random& random) {
  ListParameters parameters;
  for (double& theta : parameters.theta) theta = 0.5 * random.normal();
  return parameters;
}

/// The documented score, straight from the text.
template <int Types>
double score(const DecisionView& view, std::size_t agent, int type, double k,
             const std::array<double, 16>& th, double unit) {
  const auto gpus_of = [&](int t) {
    return t < view.cluster->type_count()
               ? static_cast<double>(view.cluster->types[static_cast<std::size_t>(t)].gpus())
               : 0.0;
  };
  const auto can_run = [&](const Job& job, int t) {
    return job.type_speed[static_cast<std::size_t>(t)] > 0.0 && gpus_of(t) >= job.requested.as_double();
  };
  double demand = 0.0, only_first = 0.0, gpus = 0.0;
  for (int t = 0; t < Types; ++t) gpus += gpus_of(t);
  for (std::size_t i = 0; i < view.active.size(); ++i) {
    const Job& job = view.job(i);
    demand += job.requested.as_double();
    bool first = can_run(job, 0);
    for (int t = 1; t < Types; ++t) first = first && !can_run(job, t);
    if (first) only_first += job.requested.as_double();
  }
  const double load = std::min(3.0, demand / gpus),
               pressure = std::min(3.0, only_first / std::max(1.0, gpus_of(0)));
  const Job& job = view.job(agent);
  const JobState& state = view.active[agent];
  double best = 0.0;
  int runs_on = 0;
  for (int t = 0; t < Types; ++t) {
    best = std::max(best, job.type_speed[static_cast<std::size_t>(t)]);
    runs_on += can_run(job, t) ? 1 : 0;
  }
  const double ideal_rate = best * job.speed_up(job.requested.as_double());
  const double b = state.remaining_work / ideal_rate / unit;
  const double age_over_ideal =
      std::max(0.0, view.now_s - job.submit_s) / std::max(1.0, job.work / ideal_rate);
  const bool keeps = state.held.type == type && state.held.gpus.as_double() == k;
  const double cost = keeps           ? state.overhead_left_s
                      : state.started ? view.overheads.restart_s
                                      : view.overheads.start_s;
  const double finish =
      state.remaining_work / (job.type_speed[static_cast<std::size_t>(type)] * job.speed_up(k)) + cost;
  double s = std::log(std::max(1e-9, finish / unit)) + (th[0] + th[9] * load) * std::log(b + 0.5);
  if (runs_on == 1) s += th[10];
  if (runs_on == Types - 1 && Types > 2) s += th[11];
  s += th[15] * std::log1p(age_over_ideal);
  s += (th[1] + th[2] * load + th[12] * std::log2(job.speed_up(2.0)) + 0.2 * th[13] * std::log(b + 0.5)) *
       std::log(k);
  if (type == 0) s += th[3] + th[7] * load + th[14] * pressure;
  if (type == 1) s += th[4] + th[8] * load;
  if (keeps) s -= th[5];
  if (!state.held.empty()) s -= th[6];
  return s;
}

}  // namespace

TEST_CASE("greedy over the documented scores", "[list]") {
  constexpr double kUnit = 300.0;
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const Scene scene = random_scene<3>(random, 10);
    const DecisionView view = scene.view();
    const ListParameters parameters = random_parameters(random);
    std::vector<std::tuple<double, std::size_t, int>> pairs;
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent) {
      for (int option = 1; option < TieredRequest<3>::kOptions; ++option) {
        const Grant grant = TieredRequest<3>::grant(view.job(agent), option);
        if (grant.empty()) continue;
        const double s = score<3>(view, agent, grant.type, grant.gpus.as_double(), parameters.theta, kUnit);
        if (std::isfinite(s)) pairs.emplace_back(s, agent, option);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    Allocation expected = scene.ledger();
    for (const auto& [s, agent, option] : pairs)
      expected.claim(agent, view.job(agent).demand, TieredRequest<3>::grant(view.job(agent), option));

    ListScheduler<3> scheduler(parameters, kUnit);
    Allocation allocation = scene.ledger();
    scheduler.decide(view, allocation);
    require_within_capacity(scene, allocation);
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent) {
      INFO("trial " << trial << ", agent " << agent);
      REQUIRE(allocation.grant(agent) == expected.grant(agent));
    }
  }
}

TEST_CASE("a few decisions by hand", "[list]") {
  Scene scene;
  scene.cluster.types = {pool("fast", 2), pool("slow", 2)};
  scene.add(job_of(0, 2, 1000));
  scene.add(job_of(0, 2, 100));
  const auto decide = [&](const ListParameters& parameters) {
    ListScheduler<2> scheduler(parameters, 300.0);
    Allocation allocation = scene.ledger();
    scheduler.decide(scene.view(), allocation);
    return std::vector<Grant>(allocation.grants().begin(), allocation.grants().end());
  };
  ListParameters zero;
  CHECK(zero == ListParameters{});
  // All zero: the pair that ends soonest first. The short job on the fast type, the long one on what is left.
  CHECK(decide(zero) == std::vector<Grant>{{1, Milli::whole(2)}, {0, Milli::whole(2)}});
  ListParameters longest_first;
  longest_first.theta[0] = -5.0;
  CHECK(decide(longest_first) == std::vector<Grant>{{0, Milli::whole(2)}, {1, Milli::whole(2)}});
  ListParameters fast_is_dear;
  fast_is_dear.theta[3] = 10.0;
  CHECK(decide(fast_is_dear) == std::vector<Grant>{{0, Milli::whole(2)}, {1, Milli::whole(2)}});
  scene.active[0].held = {0, Milli::whole(2)};
  scene.active[0].started = true;
  ListParameters sticky;
  sticky.theta[5] = 10.0;
  CHECK(decide(sticky) == std::vector<Grant>{{0, Milli::whole(2)}, {1, Milli::whole(2)}});
}

TEST_CASE("who goes on after others did as decide() would ends where decide() does", "[list]") {
  Random random(2);
  int changed = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const Scene scene = random_scene<3>(random, 12, false);
    const DecisionView view = scene.view();
    ListScheduler<3> scheduler(random_parameters(random), 300.0);
    Allocation joint = scene.ledger();
    scheduler.decide(view, joint);
    std::vector<std::uint32_t> order(scene.active.size());
    if (trial % 2 == 0) {
      ClusterObservation<3> observation(ObservationConfig{});
      observation.prepare(view);
      order.assign(observation.order().begin(), observation.order().end());
    } else {
      std::iota(order.begin(), order.end(), 0u);
      random.shuffle(order);
    }
    std::vector<std::uint8_t> decided(order.size(), 0);
    Allocation taken = scene.ledger();
    scheduler.prepare(view);
    for (std::size_t prefix = 0; prefix <= order.size(); ++prefix) {
      Allocation rest = taken;
      scheduler.decide_rest(view, decided, rest);
      for (std::size_t agent = 0; agent < order.size(); ++agent) {
        INFO("trial " << trial << ", after " << prefix << " agents, agent " << agent);
        REQUIRE(rest.grant(agent) == joint.grant(agent));
      }
      if (prefix == order.size()) break;
      const std::uint32_t next = order[prefix];
      taken.claim(next, view.job(next).demand, joint.grant(next));
      decided[next] = 1;
    }
    changed += order.size() > 3;
  }
  CHECK(changed > 100);
}

TEST_CASE("after anything that others did the rest stays within every limit and is the expert's own",
          "[list]") {
  Random random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const Scene scene = random_scene<3>(random, 12);
    const DecisionView view = scene.view();
    ListScheduler<3> scheduler(random_parameters(random), 300.0);
    Allocation allocation = scene.ledger();
    std::vector<std::uint8_t> decided(scene.active.size(), 0);
    for (std::size_t agent = 0; agent < decided.size(); ++agent) {
      if (random.below(2) == 0) continue;
      decided[agent] = 1;
      const Grant grant = TieredRequest<3>::grant(view.job(agent), static_cast<int>(random.below(10)));
      allocation.claim(agent, view.job(agent).demand, grant);
    }
    const std::vector<Grant> before(allocation.grants().begin(), allocation.grants().end());
    scheduler.prepare(view);
    scheduler.decide_rest(view, decided, allocation);
    require_within_capacity(scene, allocation);
    for (std::size_t agent = 0; agent < decided.size(); ++agent) {
      if (decided[agent] != 0) {
        REQUIRE(allocation.grant(agent) == before[agent]);
      } else if (allocation.grant(agent).empty()) {
        REQUIRE(TieredRequest<3>::mask(view.job(agent), allocation) == 1u);
      }
    }
  }
}

TEST_CASE("broken readings are passed over, and the others are served", "[list]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Scene scene;
  scene.cluster.types = {pool("fast", 4)};
  scene.add(job_of(0, 2, 100));
  scene.add(job_of(0, 2, 100));
  scene.active[0].remaining_work = kNan;
  ListScheduler<1> scheduler(ListParameters{}, 300.0);
  Allocation allocation = scene.ledger();
  scheduler.decide(scene.view(), allocation);
  CHECK(allocation.grant(0).empty());
  CHECK(allocation.grant(1) == Grant{0, Milli::whole(2)});
}
