// The ledger of nodes and devices: exact amounts, all or nothing, nothing lost.
#include "mara/cluster/free_resources.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

NodeShare share(std::uint32_t node, std::int32_t milli, std::uint64_t devices, std::int64_t cpu = 0,
                std::int64_t memory = 0) {
  return {node, milli, devices, Milli{cpu}, memory};
}
PlacementDemand fraction(std::int32_t milli) {
  PlacementDemand demand;
  demand.share = milli;
  return demand;
}
bool same(const FreeResources& a, const FreeResources& b) {
  if (a.size() != b.size() || a.whole_devices() != b.whole_devices() || a.free_milli() != b.free_milli())
    return false;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (a.whole(n) != b.whole(n) || a.cpu(n) != b.cpu(n) || a.memory_mib(n) != b.memory_mib(n) ||
        a.up(n) != b.up(n) || a.fingerprint(n) != b.fingerprint(n) ||
        !std::ranges::equal(a.device_free(n), b.device_free(n)))
      return false;
  return true;
}

}  // namespace

TEST_CASE("S04: 0.9 and 0.1 of one GPU both fit, and nothing is left") {
  FreeResources free(make_platform(1, 1));
  CHECK(free.claim(share(0, 900, 1)));
  CHECK(free.can_host(0, fraction(100), 1));
  CHECK(free.claim(share(0, 100, 1)));
  CHECK(free.device_free(0, 0) == 0);
  CHECK_FALSE(free.claim(share(0, 1, 1)));
  CHECK_FALSE(free.can_host(0, fraction(1), 1));
  CHECK(free.free_milli() == 0);
}

TEST_CASE("S04: ten tenths fit, the eleventh does not; released in any order the device is whole again") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    FreeResources free(make_platform(1, 1));
    const FreeResources fresh = free;
    for (int i = 0; i < 10; ++i) REQUIRE(free.claim(share(0, 100, 1)));
    CHECK_FALSE(free.claim(share(0, 100, 1)));
    std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    random.shuffle(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      CHECK((free.whole(0) == 0));
      REQUIRE(free.release(share(0, 100, 1)));
    }
    CHECK(free.device_free(0, 0) == 1000);
    CHECK(same(free, fresh));
  }
}

TEST_CASE("S04: the smallest unit works, nothing is rounded to nothing") {
  FreeResources free(make_platform(1, 1));
  for (int i = 0; i < 4; ++i) CHECK(free.claim(share(0, 10, 1)));
  CHECK(free.claim(share(0, 1, 1)));
  CHECK(free.device_free(0, 0) == 959);
  CHECK_FALSE(free.claim(share(0, 0, 1)));
  CHECK_FALSE(free.claim(share(0, -1, 1)));
  CHECK_FALSE(free.claim(share(0, 1001, 1)));
  CHECK(free.device_free(0, 0) == 959);
}

TEST_CASE("S04: a double release, or of what is not held, is refused and changes nothing") {
  Platform platform = make_platform(2, 2);
  for (Node& node : platform.nodes) node.cpu = Milli{1000}, node.memory_mib = 10;
  FreeResources free(platform);
  CHECK_FALSE(free.release(share(0, 1000, 1)));
  REQUIRE(free.claim(share(0, 1000, 1, 400, 5)));
  const FreeResources held = free;
  for (const NodeShare& bad :
       {share(0, 1000, 2), share(0, 500, 2), share(1, 1000, 1), share(0, 1000, 1, 401),
        share(0, 1000, 1, 0, 6), share(0, 1000, 1, -1), share(0, 1000, 1, 0, -1), share(0, 0, 1),
        share(0, -5, 1), share(0, 1001, 1), share(2, 1000, 1), share(0, 1000, 5)}) {
    CHECK_FALSE(free.release(bad));
    CHECK(same(free, held));
  }
  CHECK(free.release(share(0, 1000, 1, 400, 5)));
  CHECK_FALSE(free.release(share(0, 1000, 1, 400, 5)));
  CHECK(same(free, FreeResources(platform)));
}

TEST_CASE("S05: a fraction lives on one device") {
  FreeResources free(make_platform(1, 2));
  REQUIRE(free.claim(share(0, 700, 1)));
  REQUIRE(free.claim(share(0, 600, 2)));
  CHECK_FALSE(free.can_host(0, fraction(500), 1));  // 300 and 400 are free
  CHECK(free.can_host(0, fraction(400), 1));
  CHECK(free.tightest_device(0, 100) == 0);
  CHECK(free.tightest_device(0, 301) == 1);
  CHECK(free.tightest_device(0, 401) == -1);
  CHECK(free.lowest(0, fraction(350), 1).devices == 2u);
}

TEST_CASE("S08: a placement is claimed whole or not at all; so is a release, also on nodes that are down") {
  FreeResources free(make_platform(3, 2));
  REQUIRE(free.claim(share(2, 1000, 1)));
  const FreeResources before = free;
  CHECK_FALSE(free.claim(Placement{{share(0, 1000, 3), share(1, 1000, 1), share(2, 1000, 1)}}));
  CHECK(same(free, before));
  CHECK_FALSE(free.claim(Placement{{share(0, 1000, 1), share(0, 1000, 1)}}));  // the same device twice
  CHECK(same(free, before));
  const Placement both{{share(0, 1000, 3), share(2, 1000, 2)}};
  REQUIRE(free.claim(both));
  free.set_up(0, false);
  const FreeResources down = free;
  CHECK_FALSE(free.release(Placement{{share(0, 1000, 3), share(1, 1000, 1)}}));
  CHECK(same(free, down));
  CHECK(free.release(both));
  free.set_up(0, true);
  CHECK(same(free, before));
}

TEST_CASE("Nodes that are down serve nobody; what is held there can be given back meanwhile") {
  FreeResources free(make_platform(2, 2));
  REQUIRE(free.claim(share(0, 400, 1)));
  CHECK(free.free_milli() == 3600);
  free.set_up(0, false);
  CHECK(free.free_milli() == 2000);
  CHECK(free.whole_devices() == 2);
  CHECK((free.whole(0) == 0));
  CHECK_FALSE(free.claim(share(0, 100, 1)));
  CHECK_FALSE(free.claim(share(0, 1000, 2)));
  PlacementDemand host;
  host.devices = 0;
  CHECK_FALSE(free.can_host(0, host, 0));
  CHECK(free.can_host(1, host, 0));
  free.set_up(0, false);  // again: no change
  CHECK(free.release(share(0, 400, 1)));
  CHECK(free.free_milli() == 2000);
  free.set_up(0, true);
  CHECK(same(free, FreeResources(make_platform(2, 2))));
}

TEST_CASE("S17: a demand of 10^18 CPU never fits and never wraps") {
  Platform platform = make_platform(1, 8);
  platform.nodes[0].cpu = Milli{kMostOfANode};
  platform.nodes[0].memory_mib = kMostOfANode;
  FreeResources free(platform);
  const FreeResources fresh = free;
  for (const std::int64_t huge :
       {std::int64_t{1'000'000'000'000'000'000}, std::numeric_limits<std::int64_t>::max()}) {
    PlacementDemand demand;
    demand.devices = 8;
    demand.cpu = Milli{huge};
    for (std::int32_t count = 1; count <= 8; ++count) CHECK_FALSE(free.can_host(0, demand, count));
    demand.cpu = {};
    demand.memory_mib = huge;
    for (std::int32_t count = 1; count <= 8; ++count) CHECK_FALSE(free.can_host(0, demand, count));
    CHECK_FALSE(free.claim(share(0, 1000, 1, huge)));
    CHECK_FALSE(free.claim(share(0, 1000, 1, 0, huge)));
    CHECK_FALSE(free.release(share(0, 1000, 1, huge, huge)));
    CHECK(same(free, fresh));
  }
}

TEST_CASE("meet: what is free in both ledgers") {
  Platform platform = make_platform(2, 2);
  for (Node& node : platform.nodes) node.cpu = Milli{1000}, node.memory_mib = 10;
  FreeResources a(platform), b(platform);
  REQUIRE(a.claim(share(0, 300, 1, 200, 1)));
  REQUIRE(b.claim(share(0, 500, 1, 100, 4)));
  REQUIRE(b.claim(share(1, 1000, 2)));
  FreeResources met = a;
  met.meet(b);
  CHECK(met.device_free(0, 0) == 500);
  CHECK(met.device_free(0, 1) == 1000);
  CHECK(met.device_free(1, 1) == 0);
  CHECK(met.cpu(0).value == 800);
  CHECK(met.memory_mib(0) == 6);
  CHECK(met.free_milli() == 2500);
  CHECK(met.whole_devices() == 2);
  CHECK(met.whole(1) == 1u);
  b.set_up(1, false);
  met = a;
  met.meet(b);
  CHECK_FALSE(met.up(1));
  CHECK(met.free_milli() == 1500);
}

TEST_CASE("S04: 10^6 random claims and releases against a plain model") {
  Platform platform;
  platform.types.push_back({.name = "t"});
  for (const int devices : {3, 64, 0}) {
    Node node;
    node.devices = devices;
    node.type = devices > 0 ? 0 : kNoDeviceType;
    node.cpu = Milli{4000};
    node.memory_mib = 100;
    platform.nodes.push_back(node);
  }
  FreeResources free(platform);
  struct Model {
    std::vector<int> device;
    std::int64_t cpu = 4000, memory = 100;
  };
  std::vector<Model> model(3);
  for (std::size_t n = 0; n < 3; ++n)
    model[n].device.assign(static_cast<std::size_t>(platform.nodes[n].devices), 1000);
  std::vector<NodeShare> held;
  Random random(2);
  std::size_t claimed = 0, refused = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    if (held.size() < 40 && random.below(2) == 0) {
      NodeShare s = share(random.below(3), 1000, 0, random.below(600), random.below(12));
      const int devices = platform.nodes[s.node].devices;
      if (devices > 0 && random.below(4) != 0) {
        s.share = random.below(2) == 0 ? 1000 : static_cast<std::int32_t>(1 + random.below(999));
        const int wanted = s.share == 1000 ? 1 + static_cast<int>(random.below(3)) : 1;
        for (int i = 0; i < wanted; ++i)
          s.devices |= std::uint64_t{1} << random.below(static_cast<std::uint32_t>(devices));
      }
      Model& m = model[s.node];
      bool fits = s.cpu.value <= m.cpu && s.memory_mib <= m.memory;
      for (std::size_t d = 0; d < m.device.size(); ++d)
        if ((s.devices >> d & 1) != 0) fits = fits && m.device[d] >= s.share;
      if (free.claim(s) != fits) FAIL("the ledger and the model disagree");
      (fits ? claimed : refused) += 1;
      if (!fits) continue;
      m.cpu -= s.cpu.value;
      m.memory -= s.memory_mib;
      for (std::size_t d = 0; d < m.device.size(); ++d)
        if ((s.devices >> d & 1) != 0) m.device[d] -= s.share;
      held.push_back(s);
    } else if (!held.empty()) {
      const std::size_t pick = random.below(static_cast<std::uint32_t>(held.size()));
      const NodeShare s = held[pick];
      held[pick] = held.back();
      held.pop_back();
      if (!free.release(s)) FAIL("a release of what is held was refused");
      Model& m = model[s.node];
      m.cpu += s.cpu.value;
      m.memory += s.memory_mib;
      for (std::size_t d = 0; d < m.device.size(); ++d)
        if ((s.devices >> d & 1) != 0) m.device[d] += s.share;
    }
    const std::size_t n = random.below(3);
    if (free.cpu(n).value != model[n].cpu || free.memory_mib(n) != model[n].memory) FAIL("host resources");
    for (std::size_t d = 0; d < model[n].device.size(); ++d)
      if (free.device_free(n, static_cast<int>(d)) != model[n].device[d] || model[n].device[d] < 0)
        FAIL("a device");
  }
  for (const NodeShare& s : held) REQUIRE(free.release(s));
  CHECK(same(free, FreeResources(platform)));
  CHECK(claimed > 100'000);
  CHECK(refused > 10'000);
}
