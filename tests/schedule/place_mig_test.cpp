// Placement rules and slices: legal starts, tight packing, gathering over nodes, fragmentation.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/platform_mig.hpp"
#include "mara/core/random.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/place_scored.hpp"

using namespace mara;

namespace {

Platform sliced(int nodes, int devices) {
  Platform platform = make_platform(nodes, devices, "a100");
  platform.types[0].mig = mig_a100_40gb();
  return platform;
}
PlacementDemand slices(const Platform& platform, const char* profile, int count = 1) {
  return slice_demand(platform, profile, count).value();
}

/// Calls check(rule) with a new rule of each kind.
template <class Check>
void with_every_rule(const Platform& platform, Check&& check) {
  check(AnyDevices{});
  check(Consolidated{});
  check(ScoredPlacement<BestFitScoring>{});
  check(ScoredPlacement<PackingScoring>{});
  check(ScoredPlacement<SpreadingScoring>{});
  check(ScoredPlacement<TetrisScoring>{});
  check(ScoredPlacement<FragmentationScoring>(FragmentationScoring(
      {{slices(platform, "3g"), 0.5}, {slices(platform, "1g", 2), 0.3}, {PlacementDemand{}, 0.2}})));
  check(RandomPlacement{7});
}

}  // namespace

TEST_CASE("S15 under every rule: 1g, 1g, 1g, 4g on one device, and then nothing") {
  const Platform platform = sliced(1, 1);
  with_every_rule(platform, [&](auto rule) {
    INFO(rule.name());
    FreeResources free(platform);
    Placement placement;
    std::set<int> ones;
    for (int i = 0; i < 3; ++i) {
      REQUIRE(rule.place(free, slices(platform, "1g"), placement));
      ones.insert(placement.shares.at(0).start);
      REQUIRE(free.claim(placement));
    }
    CHECK(ones == std::set<int>{4, 5, 6});
    REQUIRE(rule.place(free, slices(platform, "4g"), placement));
    CHECK(placement.shares.at(0).start == 0);
    REQUIRE(free.claim(placement));
    for (const char* profile : {"1g", "2g", "3g", "4g", "7g"})
      CHECK_FALSE(rule.place(free, slices(platform, profile), placement));
    CHECK(placement.empty());
  });
}

TEST_CASE("S15 under every rule: held 1g at 0, 1, 5") {
  const Platform platform = sliced(1, 1);
  with_every_rule(platform, [&](auto rule) {
    INFO(rule.name());
    FreeResources free(platform);
    for (const int start : {0, 1, 5}) {
      NodeShare share = free.lowest(0, slices(platform, "1g"), 1);
      share.start = start;
      REQUIRE(free.claim(share));
    }
    Placement placement;
    CHECK_FALSE(rule.place(free, slices(platform, "3g"), placement));
    REQUIRE(rule.place(free, slices(platform, "2g"), placement));
    CHECK(placement.shares.at(0).start == 2);
    CHECK_FALSE(rule.place(free, PlacementDemand{}, placement));  // no whole device
  });
}

TEST_CASE("Slices keep to devices in use, and nodes as the rule has it") {
  const Platform platform = sliced(3, 2);
  FreeResources free(platform);
  Placement placement;
  REQUIRE(free.claim(free.lowest(1, slices(platform, "2g"), 1)));  // node 1, device 0
  const auto node_of = [&](auto rule) {
    REQUIRE(rule.place(free, slices(platform, "1g"), placement));
    return placement.shares.at(0).node;
  };
  CHECK(node_of(Consolidated{}) == 0);
  CHECK(node_of(ScoredPlacement<PackingScoring>{}) == 1);
  CHECK(placement.shares[0].devices == 1u);
  CHECK(node_of(ScoredPlacement<BestFitScoring>{}) == 1);
  CHECK(node_of(ScoredPlacement<SpreadingScoring>{}) == 0);
  // Whole devices are worth keeping to whom expects to be asked for them.
  CHECK(node_of(ScoredPlacement<FragmentationScoring>(FragmentationScoring({{PlacementDemand{}, 1.0}}))) ==
        1);
  CHECK(placement.shares[0].devices == 1u);
}

TEST_CASE("More slices than a node holds are gathered over nodes of one type") {
  Platform platform = sliced(3, 1);
  for (Node& node : platform.nodes) node.cpu = Milli{1000};
  const PlacementDemand five = slices(platform, "3g", 5);
  with_every_rule(platform, [&](auto rule) {
    INFO(rule.name());
    FreeResources free(platform);
    Placement placement;
    REQUIRE(rule.place(free, five, placement));
    CHECK(placement.device_count() == 5);
    CHECK(std::is_sorted(placement.shares.begin(), placement.shares.end(),
                         [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; }));
    REQUIRE(free.claim(placement));
    CHECK_FALSE(rule.place(free, slices(platform, "3g", 2), placement));
    CHECK(rule.place(free, slices(platform, "3g"), placement));
    CHECK_FALSE(rule.place(free, slices(platform, "3g", 7), placement));

    PlacementDemand hungry = five;  // 400 milli-CPU a slice: two on a node
    hungry.cpu = Milli{2000};
    FreeResources empty(platform);
    REQUIRE(rule.place(empty, hungry, placement));
    REQUIRE(empty.claim(placement));
    hungry.cpu = Milli{3000};  // 600: one on a node
    CHECK_FALSE(rule.place(FreeResources(platform), hungry, placement));
  });
  platform.types.push_back(platform.types[0]);
  platform.types[1].name = "other";
  platform.nodes[1].type = platform.nodes[2].type = 1;
  Placement placement;
  REQUIRE(AnyDevices{}.place(FreeResources(platform), slices(platform, "3g", 3), placement));
  CHECK(placement.shares.front().node == 1);
  CHECK_FALSE(AnyDevices{}.place(FreeResources(platform), five, placement));
}

TEST_CASE("One node is enough: several slices come to one node where one could hold them") {
  const Platform platform = sliced(2, 2);
  with_every_rule(platform, [&](auto rule) {
    if (rule.name() == "any") return;
    INFO(rule.name());
    FreeResources free(platform);
    Placement placement;
    REQUIRE(rule.place(free, slices(platform, "3g", 4), placement));
    CHECK(placement.shares.front().node == placement.shares.back().node);
    for (const std::size_t node : {0u, 1u}) REQUIRE(free.claim(free.lowest(node, slices(platform, "1g"), 1)));
    CHECK_FALSE(rule.place(free, slices(platform, "3g", 4), placement));
  });
}

TEST_CASE("What a rule gives of slices can be claimed, and it gives whenever one node can hold the demand") {
  const char* const profiles[] = {"1g", "2g", "3g", "4g", "7g"};
  Platform platform = sliced(3, 2);
  platform.types.push_back({.name = "plain"});
  platform.nodes.push_back(platform.nodes[0]);
  platform.nodes.back().type = 1;
  with_every_rule(platform, [&](auto rule) {
    INFO(rule.name());
    Random random(11);
    FreeResources free(platform);
    std::vector<Placement> held;
    std::size_t given = 0;
    for (int step = 0; step < 3'000; ++step) {
      if (!held.empty() && random.below(100) < 45) {
        const std::size_t pick = random.below(static_cast<std::uint32_t>(held.size()));
        if (!free.release(held[pick])) FAIL("a release was refused");
        held[pick] = held.back();
        held.pop_back();
        continue;
      }
      PlacementDemand demand;
      const auto kind = random.below(10);
      if (kind < 7) {
        demand = slices(platform, profiles[random.below(5)], 1 + static_cast<int>(random.below(3)));
      } else if (kind < 9) {
        demand.devices = 1 + static_cast<int>(random.below(2));
      } else {
        demand.share = 300;
      }
      bool hosted = false;
      for (std::size_t n = 0; n < free.size(); ++n)
        hosted = hosted || free.can_host(n, demand, demand.devices);
      Placement placement;
      const bool placed = rule.place(free, demand, placement);
      if (hosted && !placed) FAIL("a node could hold it");
      if (!placed) continue;
      if (placement.device_count() != demand.devices) FAIL("not what was asked for");
      for (const NodeShare& share : placement.shares)
        if (share.profile != demand.profile) FAIL("not the profile asked for");
      if (!free.claim(placement)) FAIL("cannot be claimed");
      held.push_back(placement);
      ++given;
    }
    CHECK(given > 500);
    for (const Placement& placement : held) REQUIRE(free.release(placement));
    for (std::size_t n = 0; n < free.size(); ++n)
      CHECK(free.fingerprint(n) == FreeResources(platform).fingerprint(n));
  });
}

TEST_CASE("Fragmentation of sliced devices: free milli on which no slice begins is of no use") {
  const Platform platform = sliced(1, 2);
  FreeResources free(platform);
  const Fragmentation three({{slices(platform, "3g"), 1.0}});
  const auto of = [&](const Fragmentation& f) { return f(NodeFree(free, 0)); };
  CHECK(of(three) == 0.0);
  for (const int start : {0, 5}) {
    NodeShare share = free.lowest(0, slices(platform, "1g"), 1);
    share.start = start;
    REQUIRE(free.claim(share));
  }
  CHECK(of(three) == 716.0);  // five of seven compute slices, but no start
  CHECK(of(Fragmentation({{slices(platform, "3g", 2), 1.0}})) == 716.0);
  CHECK(of(Fragmentation({{slices(platform, "3g", 3), 1.0}})) == 1716.0);
  CHECK(of(Fragmentation({{slices(platform, "2g"), 1.0}})) == 0.0);
  CHECK(of(Fragmentation({{PlacementDemand{}, 0.5}, {slices(platform, "3g"), 0.5}})) == 716.0);
  PlacementDemand fraction;
  fraction.share = 100;
  CHECK(of(Fragmentation({{fraction, 1.0}})) == 1716.0);  // given in slices alone
  PlacementDemand cpu = slices(platform, "1g");
  cpu.cpu = Milli{1};
  CHECK(of(Fragmentation({{cpu, 1.0}})) == 1716.0);
  // A node that is not sliced is of no use to slices.
  CHECK(Fragmentation({{slices(platform, "1g"), 1.0}})(NodeFree(FreeResources(make_platform(1, 2)), 0)) ==
        2000.0);
}

TEST_CASE("Fragmentation gradient descent: a slice goes to the device where it costs least") {
  const Platform platform = sliced(1, 2);
  FreeResources free(platform);
  // Device 0 has room for a 3g, device 1 not: small slices are best on device 1.
  for (const int start : {1, 5}) {
    NodeShare share = free.lowest(0, slices(platform, "1g"), 1);
    share.devices = 2;
    share.start = start;
    REQUIRE(free.claim(share));
  }
  NodeShare four = free.lowest(0, slices(platform, "4g"), 1);
  four.devices = 1;
  REQUIRE(free.claim(four));
  ScoredPlacement<FragmentationScoring> fgd(FragmentationScoring({{slices(platform, "3g"), 1.0}}));
  Placement placement;
  REQUIRE(fgd.place(free, slices(platform, "1g"), placement));
  CHECK(placement.shares.at(0).devices == 2u);
  CHECK(Consolidated{}.place(free, slices(platform, "1g"), placement));
  CHECK(placement.shares.at(0).devices == 1u);  // the tightest
}
