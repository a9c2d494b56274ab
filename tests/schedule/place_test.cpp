// Placement rules: fractions, gathering over nodes, types.
#include "mara/schedule/place.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/free_resources.hpp"
#include "mara/core/random.hpp"
#include "mara/schedule/place_scored.hpp"

using namespace mara;

namespace {

PlacementDemand devices(std::int32_t count, std::int32_t share = 1000) {
  PlacementDemand demand;
  demand.devices = count;
  demand.share = share;
  return demand;
}

template <class Rule>
void ten_of_six_tenths(Rule rule) {
  INFO(rule.name());
  FreeResources free(make_platform(2, 8));
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> on;
  Placement placement;
  for (int i = 0; i < 16; ++i) {
    REQUIRE(rule.place(free, devices(1, 600), placement));
    REQUIRE(placement.shares.size() == 1);
    REQUIRE(placement.device_count() == 1);
    CHECK(placement.gpus().value == 600);
    CHECK(++on[{placement.shares[0].node, placement.shares[0].devices}] == 1);
    REQUIRE(free.claim(placement));
  }
  CHECK_FALSE(rule.place(free, devices(1, 600), placement));  // the 17th waits
  CHECK(placement.empty());
  CHECK(rule.place(free, devices(1, 400), placement));
  CHECK_FALSE(rule.place(free, devices(1), placement));
}

}  // namespace

TEST_CASE("S05: sixteen tasks of 0.6 GPU on 16 devices, no two on one, under every rule") {
  ten_of_six_tenths(AnyDevices{});
  ten_of_six_tenths(Consolidated{});
  ten_of_six_tenths(ScoredPlacement<BestFitScoring>{});
  ten_of_six_tenths(ScoredPlacement<PackingScoring>{});
  ten_of_six_tenths(ScoredPlacement<SpreadingScoring>{});
  ten_of_six_tenths(ScoredPlacement<TetrisScoring>{});
  ten_of_six_tenths(ScoredPlacement<FragmentationScoring>(
      FragmentationScoring({{devices(1, 600), 0.5}, {devices(1), 0.5}})));
  ten_of_six_tenths(RandomPlacement(5));
}

TEST_CASE("S05: 0.3 and 0.4 free on two devices are not 0.5") {
  FreeResources free(make_platform(1, 2));
  REQUIRE(free.claim(NodeShare{0, 700, 1, {}, 0}));
  REQUIRE(free.claim(NodeShare{0, 600, 2, {}, 0}));
  Placement placement;
  CHECK_FALSE(AnyDevices{}.place(free, devices(1, 500), placement));
  CHECK_FALSE(Consolidated{}.place(free, devices(1, 500), placement));
  REQUIRE(AnyDevices{}.place(free, devices(1, 250), placement));
  CHECK(placement.shares[0].devices == 1u);  // the tightest
}

TEST_CASE("AnyDevices gathers the lowest, within one type") {
  Platform platform = make_platform(4, 2);
  platform.types.push_back({.name = "other"});
  platform.nodes[0].type = 1;
  FreeResources free(platform);
  REQUIRE(free.claim(NodeShare{1, 1000, 1, {}, 0}));
  AnyDevices any;
  Placement placement;
  REQUIRE(any.place(free, devices(4), placement));  // type 0: nodes 1, 2, 3
  REQUIRE(placement.shares.size() == 3);
  CHECK(placement.shares[0].node == 1);
  CHECK(placement.shares[0].devices == 2u);
  CHECK(placement.shares[2].devices == 1u);
  CHECK_FALSE(any.place(free, devices(6), placement));  // seven are free, five of one type
  PlacementDemand second = devices(2);
  second.types = 2;
  REQUIRE(any.place(free, second, placement));
  CHECK(placement.shares[0].node == 0);
  second.devices = 3;
  CHECK_FALSE(any.place(free, second, placement));
  second.types = 0;
  CHECK_FALSE(any.place(free, second, placement));
}

TEST_CASE("Consolidated: one node if any could hold it; else whole nodes and a node with room for the rest") {
  FreeResources free(make_platform(3, 4));
  Consolidated rule;
  Placement placement;
  REQUIRE(free.claim(NodeShare{0, 1000, 0b0011, {}, 0}));
  REQUIRE(rule.place(free, devices(3), placement));
  CHECK(placement.shares[0].node == 1);
  REQUIRE(rule.place(free, devices(2), placement));
  CHECK(placement.shares[0].node == 0);
  // Six: one whole node, and the rest where there is room, also on a node before it.
  REQUIRE(rule.place(free, devices(6), placement));
  CHECK(placement.device_count() == 6);
  CHECK(placement.shares.size() == 2);
  REQUIRE(free.claim(NodeShare{2, 1000, 0b0111, {}, 0}));
  REQUIRE(rule.place(free, devices(6), placement));
  REQUIRE(placement.shares.size() == 2);
  CHECK(placement.shares[0].node == 0);
  CHECK(placement.shares[0].device_count() == 2);
  CHECK(placement.shares[1].node == 1);
  CHECK_FALSE(rule.place(free, devices(7), placement));  // seven are free, in pieces
  CHECK(placement.empty());
  // A job that an idle node could hold waits for one.
  REQUIRE(free.claim(NodeShare{1, 1000, 0b0001, {}, 0}));
  CHECK_FALSE(rule.place(free, devices(4), placement));
}

TEST_CASE("Host resources bound how many devices of a node a job gets") {
  Platform platform = make_platform(2, 4);
  platform.nodes[0].cpu = Milli{1500};
  platform.nodes[1].cpu = Milli{9000};
  FreeResources free(platform);
  PlacementDemand demand = devices(3);
  demand.cpu = Milli{3000};
  Placement placement;
  REQUIRE(AnyDevices{}.place(free, demand, placement));  // one device on node 0, two on node 1
  REQUIRE(placement.shares.size() == 2);
  CHECK(placement.shares[0].device_count() == 1);
  CHECK(placement.shares[0].cpu.value == 1000);
  CHECK(placement.shares[1].cpu.value == 2000);
  REQUIRE(Consolidated{}.place(free, demand, placement));
  CHECK(placement.shares[0].node == 1);
  demand.devices = 0;
  REQUIRE(Consolidated{}.place(free, demand, placement));
  CHECK(placement.shares[0].node == 1);
  CHECK(placement.shares[0].devices == 0u);
  demand.cpu = Milli{9001};
  CHECK_FALSE(AnyDevices{}.place(free, demand, placement));
}

TEST_CASE("S17: what can never fit is refused by every rule, without wrapping") {
  Platform platform = make_platform(2, 4);
  FreeResources free(platform);
  Placement placement;
  for (PlacementDemand demand : {devices(2'000'000'000), devices(9)}) {
    CHECK_FALSE(AnyDevices{}.place(free, demand, placement));
    CHECK_FALSE(Consolidated{}.place(free, demand, placement));
    CHECK_FALSE(ScoredPlacement<TetrisScoring>{}.place(free, demand, placement));
    CHECK_FALSE(RandomPlacement(1).place(free, demand, placement));
  }
  for (const std::int32_t count : {0, 1, 4, 8}) {
    PlacementDemand demand = devices(count);
    demand.cpu = Milli{1'000'000'000'000'000'000};
    demand.memory_mib = std::numeric_limits<std::int64_t>::max();
    CHECK_FALSE(AnyDevices{}.place(free, demand, placement));
    CHECK_FALSE(Consolidated{}.place(free, demand, placement));
    CHECK_FALSE(ScoredPlacement<BestFitScoring>{}.place(free, demand, placement));
    CHECK_FALSE(ScoredPlacement<FragmentationScoring>{}.place(free, demand, placement));
    CHECK_FALSE(RandomPlacement(1).place(free, demand, placement));
  }
}

TEST_CASE("What a rule gives can be claimed, and it gives something whenever one node can hold the demand") {
  Random random(7);
  Platform platform = make_platform(4, 4);
  platform.types.push_back({.name = "other"});
  platform.nodes[1].type = 1;
  platform.nodes[2].devices = 2;
  for (Node& node : platform.nodes) node.cpu = Milli{4000}, node.memory_mib = 40;
  AnyDevices any;
  Consolidated consolidated;
  ScoredPlacement<BestFitScoring> best;
  ScoredPlacement<SpreadingScoring> spread;
  ScoredPlacement<TetrisScoring> tetris;
  ScoredPlacement<FragmentationScoring> fgd(
      FragmentationScoring({{devices(1, 300), 0.5}, {devices(2), 0.5}}));
  RandomPlacement anywhere(1);
  for (int trial = 0; trial < 300; ++trial) {
    FreeResources free(platform);
    std::vector<Placement> held;
    for (int step = 0; step < 60; ++step) {
      PlacementDemand demand = devices(static_cast<std::int32_t>(random.below(7)));
      if (demand.devices == 1 && random.below(2) == 0)
        demand.share = static_cast<std::int32_t>(1 + random.below(999));
      demand.cpu = Milli{random.below(3000)};
      demand.memory_mib = random.below(20);
      demand.types = 1 + random.below(3);
      bool hosted = false;
      for (std::size_t n = 0; n < free.size(); ++n)
        hosted = hosted || free.can_host(n, demand, demand.devices);
      Placement placement;
      const auto check = [&](auto& rule) {
        const bool given = rule.place(free, demand, placement);
        if (hosted && !given) FAIL("a rule gives nothing: " << rule.name());
        if (!given) {
          if (!placement.empty()) FAIL("nothing, and yet something");
          return;
        }
        std::int64_t cpu = 0;
        for (const NodeShare& share : placement.shares) cpu += share.cpu.value;
        if (placement.gpus() != demand.gpus() || cpu < demand.cpu.value)
          FAIL("not what was asked: " << rule.name());
        FreeResources copy = free;
        if (!copy.claim(placement)) FAIL("it cannot be claimed: " << rule.name());
      };
      check(consolidated);
      check(best);
      check(spread);
      check(tetris);
      check(fgd);
      check(anywhere);
      check(any);
      if (!placement.empty() && free.claim(placement)) held.push_back(placement);
      if (!held.empty() && random.below(3) == 0) {
        REQUIRE(free.release(held.back()));
        held.pop_back();
      }
    }
  }
}
