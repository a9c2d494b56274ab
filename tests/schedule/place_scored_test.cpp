// Scored placement: Tetris, FGD, packing, ties.
#include "mara/schedule/place_scored.hpp"

#include <cstddef>
#include <set>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/free_resources.hpp"

using namespace mara;

namespace {

NodeShare host(std::uint32_t node, std::int64_t cpu, std::int64_t memory = 0) {
  return {node, 1000, 0, Milli{cpu}, memory};
}
NodeShare gpu(std::uint32_t node, std::int32_t share, std::uint64_t devices) {
  return {node, share, devices, {}, 0};
}
PlacementDemand demand(std::int32_t devices, std::int32_t share, std::int64_t cpu = 0,
                       std::int64_t memory = 0) {
  PlacementDemand d;
  d.devices = devices;
  d.share = share;
  d.cpu = Milli{cpu};
  d.memory_mib = memory;
  return d;
}
template <class Rule>
NodeShare placed(Rule& rule, const FreeResources& free, const PlacementDemand& d) {
  Placement placement;
  REQUIRE(rule.place(free, d, placement));
  REQUIRE(placement.shares.size() == 1);
  return placement.shares.front();
}

/// Notes which nodes it was asked about.
struct Counting {
  std::set<std::size_t>* scored;
  static constexpr bool kOfNodeAlone = false;
  static constexpr std::string_view name() noexcept { return "counting"; }
  NodeScore score(const FreeResources&, const PlacementDemand&, std::size_t node) {
    scored->insert(node);
    return {0.0, -1};
  }
};

}  // namespace

TEST_CASE("S14: Tetris: .28125 and .1875, normalised by capacity") {
  Platform platform;
  for (int n = 0; n < 2; ++n) {
    Node node;
    node.cpu = Milli{16000};
    node.memory_mib = 64 * 1024;
    platform.nodes.push_back(node);
  }
  FreeResources free(platform);
  REQUIRE(free.claim(host(0, 0, 48 * 1024)));  // N1 free (16, 16)
  REQUIRE(free.claim(host(1, 12000, 0)));      // N2 free (4, 64)
  const PlacementDemand task = demand(0, 1000, 4000, 8 * 1024);
  CHECK(TetrisScoring{}.score(free, task, 0).score == 0.28125);
  CHECK(TetrisScoring{}.score(free, task, 1).score == 0.1875);
  ScoredPlacement<TetrisScoring> rule;
  CHECK(placed(rule, free, task).node == 0);
  // A resource of which a node has none counts 0: no NaN (S01).
  Platform empty = platform;
  empty.nodes[0].cpu = {};
  CHECK(TetrisScoring{}.score(FreeResources(empty), demand(0, 1000, 0, 8 * 1024), 0).score == 0.125);
}

TEST_CASE("S14: packing keeps the node of 2 for a job of 2") {
  FreeResources free(make_platform(3, 2));
  REQUIRE(free.claim(gpu(1, 1000, 1)));
  REQUIRE(free.claim(gpu(2, 1000, 1)));
  ScoredPlacement<PackingScoring> rule;
  std::set<std::uint32_t> nodes;
  Placement placement;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(rule.place(free, demand(1, 1000), placement));
    nodes.insert(placement.shares[0].node);
    REQUIRE(free.claim(placement));
  }
  CHECK(nodes == std::set<std::uint32_t>{1, 2});
  CHECK(rule.place(free, demand(2, 1000), placement));
  ScoredPlacement<SpreadingScoring> spread;
  FreeResources other(make_platform(3, 2));
  REQUIRE(other.claim(gpu(0, 500, 1)));
  CHECK(placed(spread, other, demand(1, 300)).node == 1);
}

TEST_CASE("S14: FGD picks the half-used device") {
  Platform platform = make_platform(1, 2);
  platform.nodes[0].cpu = Milli{100000};
  FreeResources free(platform);
  REQUIRE(free.claim(gpu(0, 500, 2)));
  ScoredPlacement<FragmentationScoring> rule(
      FragmentationScoring({{demand(1, 500), 0.5}, {demand(1, 1000), 0.5}}));
  CHECK(placed(rule, free, demand(1, 500)).devices == 2u);
}

TEST_CASE("S14: FGD over nodes: using up the CPU strands devices") {
  Platform platform = make_platform(2, 2);
  platform.nodes[0].cpu = Milli{2000};
  platform.nodes[1].cpu = Milli{8000};
  FreeResources free(platform);
  REQUIRE(free.claim(gpu(1, 400, 1)));
  REQUIRE(free.claim(gpu(1, 700, 2)));
  ScoredPlacement<FragmentationScoring> rule(
      FragmentationScoring({{demand(1, 300, 2000), 0.6}, {demand(1, 1000, 2000), 0.4}}));
  CHECK(placed(rule, free, demand(1, 300, 2000)).node == 1);
}

TEST_CASE("S14: equal scores: the lower node; a node where it does not fit is never scored") {
  FreeResources free(make_platform(3, 2));
  ScoredPlacement<BestFitScoring> best;
  ScoredPlacement<TetrisScoring> tetris;
  ScoredPlacement<PackingScoring> packing;
  CHECK(placed(best, free, demand(1, 1000)).node == 0);
  CHECK(placed(tetris, free, demand(1, 1000)).node == 0);
  CHECK(placed(packing, free, demand(1, 1000)).node == 0);
  REQUIRE(free.claim(gpu(0, 1000, 3)));
  std::set<std::size_t> scored;
  ScoredPlacement<Counting> counting(Counting{&scored});
  free.set_up(2, false);
  CHECK(placed(counting, free, demand(1, 1000)).node == 1);
  CHECK(scored == std::set<std::size_t>{1});
}

TEST_CASE("Kept scores never outlive what they were made of") {
  // Two ledgers with different contents asked in turn: as a fresh rule would answer.
  FreeResources a(make_platform(4, 4)), b = a;
  REQUIRE(a.claim(gpu(2, 1000, 1)));
  REQUIRE(b.claim(gpu(3, 1000, 3)));
  ScoredPlacement<PackingScoring> kept;
  for (int i = 0; i < 3; ++i) {
    CHECK(placed(kept, a, demand(1, 1000)).node == 2);
    CHECK(placed(kept, b, demand(1, 1000)).node == 3);
  }
  a.set_up(2, false);
  CHECK(placed(kept, a, demand(1, 1000)).node == 0);
  a.set_up(2, true);
  CHECK(placed(kept, a, demand(1, 1000)).node == 2);
  REQUIRE(a.release(gpu(2, 1000, 1)));
  CHECK(placed(kept, a, demand(1, 1000)).node == 0);
}

TEST_CASE("RandomPlacement: every node and device that can, about equally often, and a seed repeats it") {
  FreeResources free(make_platform(3, 2));
  REQUIRE(free.claim(gpu(1, 1000, 3)));
  std::vector<int> count(6, 0);
  RandomPlacement one(9), two(9);
  for (int i = 0; i < 4000; ++i) {
    const NodeShare a = placed(one, free, demand(1, 500)), b = placed(two, free, demand(1, 500));
    CHECK(a == b);
    ++count[a.node * 2 + (a.devices == 1 ? 0 : 1)];
  }
  CHECK(count[2] + count[3] == 0);
  for (const int i : {0, 1, 4, 5}) CHECK(std::abs(count[static_cast<std::size_t>(i)] - 1000) < 120);
}
