// The greedy scheduler around a policy head: no change where numbers cannot be trusted, no memory at
// decisions.
#include "mara/environment/sequential_scheduler.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "allocation_counter.hpp"
#include "catch.hpp"
#include "environment_helpers.hpp"
#include "mara/nn/mlp_inference.hpp"

using namespace mara;
using namespace mara::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A head that answers the same row for every agent, and remembers what it was shown.
struct FixedHead {
  std::vector<float> row;
  std::size_t agents = 0;
  std::vector<OptionMask> masks{};
  void prepare(const PolicyInput& input) noexcept {
    agents = input.agents;
    masks.clear();
  }
  const float* logits(std::size_t, OptionMask mask) noexcept {
    masks.push_back(mask);
    return row.data();
  }
};
static_assert(PolicyHead<FixedHead>);

template <int Types>
using FixedScheduler = SequentialScheduler<Types, FixedHead>;

template <int Types>
using Network = MlpInference<float, ClusterObservation<Types>::kSize, 16, TieredRequest<Types>::kOptions>;

template <int Types>
NetworkHead<Network<Types>> random_head(std::uint64_t seed, std::size_t max_agents) {
  Network<Types> network;
  std::vector<float> parameters(Network<Types>::kParameters);
  Random random(seed);
  for (float& p : parameters) p = static_cast<float>(random.normal());
  REQUIRE(network.set_parameters(parameters));
  return {std::move(network), max_agents};
}

}  // namespace

TEST_CASE("a scheduler of mara that does not throw", "[scheduler]") {
  using Greedy = SequentialScheduler<3, NetworkHead<Network<3>>>;
  STATIC_REQUIRE(Scheduler<Greedy>);
  STATIC_REQUIRE(noexcept(
      std::declval<Greedy&>().decide(std::declval<const DecisionView&>(), std::declval<Allocation&>())));
  Greedy greedy("learnt", random_head<3>(1, 10), {}, 10);
  CHECK(greedy.name() == "learnt");
  CHECK(greedy.max_agents() == 10);
}

TEST_CASE("the largest legal logit is executed, and masks show what is left", "[scheduler]") {
  using Request = TieredRequest<2>;
  Scene scene;
  scene.cluster.types = {pool("fast", 4), pool("slow", 4)};
  for (int i = 0; i < 3; ++i) scene.add(job_of(0, 2, 100.0 + i, 4));
  std::vector<float> row(Request::kOptions, 0.0f);
  row[Request::option(0, Tier::kDouble)] = 3.0f;
  row[Request::option(1, Tier::kExact)] = 2.0f;
  FixedScheduler<2> scheduler("fixed", FixedHead{row}, {}, 8);
  Allocation allocation = scene.ledger();
  scheduler.decide(scene.view(), allocation);
  CHECK(allocation.grant(0) == Grant{0, Milli::whole(4)});  // takes all fast ones
  CHECK(allocation.grant(1) == Grant{1, Milli::whole(2)});
  CHECK(allocation.grant(2) == Grant{1, Milli::whole(2)});
}

TEST_CASE("nothing asked for is still work conserving", "[scheduler]") {
  Scene scene;
  scene.cluster.types = {pool("fast", 4), pool("slow", 4)};
  scene.add(job_of(0, 2, 100.0), {1, Milli::whole(2)});
  scene.add(job_of(0, 2, 100.0));
  std::vector<float> row(TieredRequest<2>::kOptions, 0.0f);
  row[0] = 1.0f;
  FixedScheduler<2> scheduler("idle", FixedHead{row}, {}, 8);
  Allocation allocation = scene.ledger();
  scheduler.decide(scene.view(), allocation);
  CHECK(allocation.grant(0) == Grant{1, Milli::whole(2)});
  CHECK(allocation.grant(1) == Grant{0, Milli::whole(2)});
}

TEST_CASE("logits that are not finite change nothing of what runs", "[scheduler]") {
  Random random(3);
  for (const float bad : {kNan, std::numeric_limits<float>::infinity()}) {
    FixedScheduler<3> scheduler("broken", FixedHead{std::vector<float>(TieredRequest<3>::kOptions, bad)}, {},
                                64);
    for (int trial = 0; trial < 200; ++trial) {
      const Scene scene = random_scene<3>(random, 12);
      Allocation allocation = scene.ledger();
      scheduler.decide(scene.view(), allocation);
      require_within_capacity(scene, allocation);
      for (std::size_t agent = 0; agent < scene.active.size(); ++agent)
        if (!scene.active[agent].held.empty()) REQUIRE(allocation.grant(agent) == scene.active[agent].held);
    }
  }
}

TEST_CASE("more agents than it was made for: no change, and the head is not asked", "[scheduler]") {
  Random random(4);
  FixedScheduler<3> scheduler("small", FixedHead{std::vector<float>(TieredRequest<3>::kOptions, 0.0f), 77},
                              {}, 2);
  int beyond = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Scene scene = random_scene<3>(random, 12);
    if (scene.active.size() <= 2) continue;
    ++beyond;
    Allocation allocation = scene.ledger();
    scheduler.decide(scene.view(), allocation);
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent)
      REQUIRE(allocation.grant(agent) == scene.active[agent].held);
  }
  CHECK(beyond > 100);
}

TEST_CASE("decide() allocates nothing up to max_agents, not even the first time or in a copy",
          "[scheduler]") {
  constexpr std::size_t kAgents = 200;
  Random random(5);
  std::vector<Scene> scenes;
  std::vector<Allocation> ledgers;
  for (int i = 0; i < 30; ++i) {
    scenes.push_back(random_scene<3>(random, kAgents));
    ledgers.push_back(scenes.back().ledger());
  }
  const SequentialScheduler<3, NetworkHead<Network<3>>> original("learnt", random_head<3>(6, kAgents), {},
                                                                 kAgents);
  auto scheduler = original;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const DecisionView view = scenes[i].view();
    const long before = allocations;
    scheduler.decide(view, ledgers[i]);
    const long after = allocations;
    REQUIRE(after == before);
    require_within_capacity(scenes[i], ledgers[i]);
  }
}

TEST_CASE("renumbering the agents renumbers the decision", "[scheduler]") {
  Random random(7);
  SequentialScheduler<3, NetworkHead<Network<3>>> scheduler("learnt", random_head<3>(8, 64), {}, 64);
  for (int trial = 0; trial < 100; ++trial) {
    const Scene scene = random_scene<3>(random, 15);
    std::vector<std::size_t> permutation(scene.active.size());
    std::iota(permutation.begin(), permutation.end(), std::size_t{0});
    random.shuffle(permutation);
    Scene other = scene;
    for (std::size_t i = 0; i < permutation.size(); ++i) other.active[i] = scene.active[permutation[i]];
    Allocation allocation = scene.ledger(), permuted = other.ledger();
    scheduler.decide(scene.view(), allocation);
    scheduler.decide(other.view(), permuted);
    for (std::size_t i = 0; i < permutation.size(); ++i)
      CHECK(permuted.grant(i) == allocation.grant(permutation[i]));
  }
}
