#include "mara/cluster/allocation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

Cluster cluster_of(const char* text) {
  return parse_cluster(text).value();
}

Grant whole(int gpus, int type = 0) {
  return {type, Milli::whole(gpus)};
}
Grant milli(std::int64_t value, int type = 0) {
  return {type, Milli{value}};
}

}  // namespace

TEST_CASE("whole GPUs are counted exactly", "[allocation]") {
  Allocation ledger(cluster_of("a100:2x4,t4:1x2"));
  ledger.reset(4);
  CHECK(ledger.agents() == 4);
  CHECK(ledger.free_gpus(0) == 8);
  CHECK(ledger.free_gpus(1) == 2);
  CHECK(ledger.claim(0, {}, whole(5)));
  CHECK(ledger.free_gpus(0) == 3);
  CHECK(ledger.used(0) == Milli::whole(5));
  CHECK_FALSE(ledger.claim(1, {}, whole(4)));
  CHECK(ledger.claim(1, {}, whole(3)));
  CHECK_FALSE(ledger.fits({}, whole(1)));
  CHECK_FALSE(ledger.fits({}, milli(1)));
  CHECK(ledger.fits({}, whole(2, 1)));
  CHECK(ledger.grant(0) == whole(5));
  CHECK(ledger.grant(2).empty());
  CHECK(ledger.device(0) == -1);
  REQUIRE(ledger.grants().size() == 4);
  CHECK(ledger.grants()[1] == whole(3));
  ledger.release(0);
  CHECK(ledger.free_gpus(0) == 5);
  CHECK(ledger.grant(0).empty());
  ledger.reset(2);
  CHECK(ledger.free_gpus(0) == 8);
  CHECK(ledger.used(0) == Milli{});
  CHECK(ledger.grant(1).empty());
}

TEST_CASE("small amounts are exact (S04)", "[allocation]") {
  Allocation ledger(cluster_of("a100:1x1"));
  ledger.reset(1002);
  SECTION("0.9 and 0.1 fill a GPU") {
    CHECK(ledger.claim(0, {}, milli(900)));
    CHECK(ledger.claim(1, {}, milli(100)));
    CHECK(ledger.used(0) == Milli{1000});
    CHECK_FALSE(ledger.fits({}, milli(1)));
  }
  SECTION("ten of 0.1 fit, the eleventh does not, and any order of release gives all back") {
    Random random(4);
    for (int round = 0; round < 50; ++round) {
      for (std::size_t i = 0; i < 10; ++i) REQUIRE(ledger.claim(i, {}, milli(100)));
      CHECK_FALSE(ledger.claim(10, {}, milli(100)));
      std::array<std::size_t, 10> order{};
      std::iota(order.begin(), order.end(), std::size_t{0});
      random.shuffle(order);
      for (const std::size_t i : order) ledger.release(i);
      CHECK(ledger.used(0) == Milli{});
      CHECK(ledger.free_gpus(0) == 1);
      CHECK(ledger.fits({}, whole(1)));
    }
  }
  SECTION("the smallest unit works a thousand times") {
    for (std::size_t i = 0; i < 1000; ++i) REQUIRE(ledger.claim(i, {}, milli(1)));
    CHECK_FALSE(ledger.claim(1000, {}, milli(1)));
    CHECK(ledger.used(0) == Milli{1000});
  }
  SECTION("a second release changes nothing") {
    REQUIRE(ledger.claim(0, {}, milli(300)));
    REQUIRE(ledger.claim(1, {}, milli(300)));
    ledger.release(0);
    ledger.release(0);
    ledger.release(5000);
    CHECK(ledger.used(0) == Milli{300});
    CHECK(ledger.fits({}, milli(700)));
    CHECK_FALSE(ledger.fits({}, milli(701)));
  }
}

TEST_CASE("a fraction lives on one device (S05)", "[allocation]") {
  SECTION("sixteen GPUs hold sixteen 0.6, no two on one device") {
    Allocation ledger(cluster_of("a100:2x8"));
    ledger.reset(17);
    std::vector<int> devices;
    for (std::size_t i = 0; i < 16; ++i) {
      REQUIRE(ledger.claim(i, {}, milli(600)));
      devices.push_back(ledger.device(i));
    }
    std::sort(devices.begin(), devices.end());
    CHECK(std::adjacent_find(devices.begin(), devices.end()) == devices.end());
    CHECK_FALSE(ledger.claim(16, {}, milli(600)));
    CHECK(ledger.claim(16, {}, milli(400)));
  }
  SECTION("0.3 and 0.4 left on two devices do not hold 0.5") {
    Allocation ledger(cluster_of("a100:1x2"));
    ledger.reset(3);
    REQUIRE(ledger.claim(0, {}, milli(700)));
    REQUIRE(ledger.claim(1, {}, milli(600)));
    CHECK_FALSE(ledger.fits({}, milli(500)));
    CHECK(ledger.fits({}, milli(400)));
    CHECK_FALSE(ledger.fits({}, whole(1)));
  }
  SECTION("1.5 GPUs are refused") {
    Allocation ledger(cluster_of("a100:1x4"));
    ledger.reset(1);
    CHECK_FALSE(ledger.claim(0, {}, milli(1500)));
    CHECK_FALSE(ledger.claim(0, {}, milli(1001)));
    CHECK(ledger.claim(0, {}, milli(2000)));
  }
}

TEST_CASE("fractions go to the fullest opened device that holds them (S14)", "[allocation]") {
  Allocation ledger(cluster_of("a100:1x3"));
  ledger.reset(8);
  REQUIRE(ledger.claim(0, {}, milli(300)));  // device 0: 700 left
  REQUIRE(ledger.claim(1, {}, milli(800)));  // device 1: 200 left
  CHECK(ledger.device(0) == 0);
  CHECK(ledger.device(1) == 1);
  CHECK(ledger.free_gpus(0) == 1);
  REQUIRE(ledger.claim(2, {}, milli(200)));  // the fuller one, although device 0 has the lower index
  CHECK(ledger.device(2) == 1);
  REQUIRE(ledger.claim(3, {}, milli(500)));
  CHECK(ledger.device(3) == 0);
  CHECK(ledger.free_gpus(0) == 1);  // no device was opened needlessly
  REQUIRE(ledger.claim(4, {}, milli(500)));
  CHECK(ledger.device(4) == 2);
  // Equal room: the lowest index.
  ledger.release(3);                         // device 0: 700 left
  ledger.release(4);                         // device 2 is wholly free again
  REQUIRE(ledger.claim(5, {}, milli(200)));  // device 0: 500 left
  CHECK(ledger.device(5) == 0);
  REQUIRE(ledger.claim(6, {}, milli(501)));
  CHECK(ledger.device(6) == 2);
  ledger.release(6);
  REQUIRE(ledger.claim(6, {}, milli(1)));
  CHECK(ledger.device(6) == 0);
}

TEST_CASE("an emptied device in the middle is whole again and reopened first", "[allocation]") {
  Allocation ledger(cluster_of("a100:1x3"));
  ledger.reset(6);
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(ledger.claim(i, {}, milli(600)));
  CHECK(ledger.free_gpus(0) == 0);
  ledger.release(1);
  CHECK(ledger.free_gpus(0) == 1);
  REQUIRE(ledger.claim(3, {}, whole(1)));  // a whole grant takes it
  CHECK_FALSE(ledger.fits({}, milli(600)));
  ledger.release(3);
  REQUIRE(ledger.claim(4, {}, milli(600)));
  CHECK(ledger.device(4) == 1);
}

TEST_CASE("host resources and device memory are hard limits", "[allocation]") {
  Allocation ledger(cluster_of("a100:2x4/10c/100M,t4:1x4/10c/100M"));
  ledger.reset(4);
  CHECK(ledger.free_cpu(0) == Milli::whole(20));
  CHECK(ledger.free_memory_mib(0) == 200);
  CHECK(ledger.claim(0, {0, Milli{19999}, 150}, whole(1)));
  CHECK_FALSE(ledger.fits({0, Milli{2}, 0}, whole(1)));
  CHECK(ledger.fits({0, Milli{1}, 0}, whole(1)));
  CHECK_FALSE(ledger.fits({0, Milli{}, 51}, whole(1)));
  CHECK(ledger.fits({0, Milli{}, 50}, whole(1)));
  CHECK(ledger.fits({0, Milli{2}, 51}, whole(1, 1)));  // the other pool has its own hosts
  CHECK(ledger.fits({80 * 1024, Milli{}, 0}, whole(1)));
  CHECK_FALSE(ledger.fits({80 * 1024 + 1, Milli{}, 0}, whole(1)));
  CHECK_FALSE(ledger.fits({16 * 1024 + 1, Milli{}, 0}, whole(1, 1)));
  CHECK(ledger.demand(0) == Demand{0, Milli{19999}, 150});
  ledger.release(0);
  CHECK(ledger.free_cpu(0) == Milli::whole(20));
  CHECK(ledger.free_memory_mib(0) == 200);
}

TEST_CASE("bad asks are refused and change nothing (S17)", "[allocation]") {
  Allocation ledger(cluster_of("a100:1x4,t4:1x4"));
  ledger.reset(2);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  for (const Grant grant :
       {milli(0), milli(-1), milli(-1000), milli(kMost), milli(kLeast), whole(1, -1), whole(1, 2),
        whole(1, 1000), whole(1, std::numeric_limits<int>::min()), whole(1'000'000'000), Grant{}}) {
    CHECK_FALSE(ledger.fits({}, grant));
    CHECK_FALSE(ledger.claim(0, {}, grant));
  }
  for (const Demand demand :
       {Demand{-1, Milli{}, 0}, Demand{0, Milli{-1}, 0}, Demand{0, Milli{}, -1}, Demand{kMost, Milli{}, 0},
        Demand{0, Milli{kMost}, 0}, Demand{0, Milli{}, kMost}, Demand{0, Milli{kLeast}, kLeast}}) {
    CHECK_FALSE(ledger.claim(0, demand, whole(1)));
  }
  CHECK_FALSE(ledger.claim(2, {}, whole(1)));  // no such agent
  CHECK(ledger.used(0) == Milli{});
  CHECK(ledger.free_gpus(0) == 4);
  CHECK(ledger.free_cpu(0) == kDefaultCpuPerNode);
  REQUIRE(ledger.claim(0, {}, whole(1)));
  CHECK_FALSE(ledger.claim(0, {}, whole(1)));  // holds something already
  CHECK(ledger.used(0) == Milli::whole(1));
  CHECK(ledger.free_gpus(-1) == 0);
  CHECK(ledger.free_gpus(2) == 0);
  CHECK(ledger.used(7) == Milli{});
  CHECK(ledger.free_cpu(99) == Milli{});
  CHECK(ledger.free_memory_mib(99) == 0);
  CHECK(ledger.grant(12).empty());
}

TEST_CASE("two huge asks do not wrap", "[allocation]") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Cluster cluster{{GpuType{"x", 2, 2, 1, Milli{kMost}, kMost}}};
  Allocation ledger(cluster);
  ledger.reset(3);
  const Demand huge{0, Milli{kMost - 5}, kMost - 5};
  CHECK(ledger.claim(0, huge, whole(1)));
  CHECK_FALSE(ledger.claim(1, huge, whole(1)));
  CHECK(ledger.claim(1, {0, Milli{5}, 5}, whole(1)));
  CHECK(ledger.free_cpu(0) == Milli{0});
  ledger.release(0);
  ledger.release(1);
  CHECK(ledger.free_cpu(0).value == kMost);
}

// Claims and releases at random against a model that keeps a list of what every device holds.
TEST_CASE("a million random claims and releases agree with a plain model (S04)", "[allocation]") {
  const Cluster cluster = cluster_of("a100:3x2/8c/4096M,v100:1x4/6c/2048M,t4:2x1/4c/1024M");
  constexpr std::size_t kAgents = 24;
  Allocation ledger(cluster);
  ledger.reset(kAgents);
  Random random(17);

  struct Pool {
    std::map<int, std::int64_t> left;  // opened devices
    std::int64_t whole = 0, cpu = 0, memory = 0, used = 0;
  };
  struct Claim {
    Grant grant{};
    Demand demand{};
    int device = -1;
  };
  std::array<Pool, 3> pools{};
  std::array<Claim, kAgents> claims{};
  const auto opened = [&pools](std::size_t t) { return static_cast<std::int64_t>(pools[t].left.size()); };

  std::int64_t granted = 0, refused = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    const std::size_t agent = random.below(kAgents);
    if (random.below(2) == 0) {
      const Claim claim = claims[agent];
      ledger.release(agent);
      if (!claim.grant.empty()) {
        Pool& pool = pools[static_cast<std::size_t>(claim.grant.type)];
        if (claim.device >= 0) {
          pool.left[claim.device] += claim.grant.gpus.value;
          if (pool.left[claim.device] == 1000) pool.left.erase(claim.device);
        } else {
          pool.whole -= claim.grant.gpus.units();
        }
        pool.cpu -= claim.demand.cpu.value;
        pool.memory -= claim.demand.memory_mib;
        pool.used -= claim.grant.gpus.value;
        claims[agent] = Claim{};
      }
    } else {
      const auto t = static_cast<std::size_t>(random.below(3));
      const GpuType& type = cluster.types[t];
      const std::int64_t gpus = random.below(2) == 0 ? 1 + random.below(1000) : 1000 * (1 + random.below(4));
      const Grant grant{static_cast<std::int32_t>(t), Milli{gpus}};
      const Demand demand{0, Milli{random.below(3000)}, random.below(700)};
      Pool& pool = pools[t];
      int device = -1;
      bool room = false;
      if (gpus < 1000) {
        std::int64_t least = 1000;
        for (const auto& [index, left] : pool.left)
          if (left >= gpus && left < least) {
            least = left;
            device = index;
          }
        room = device >= 0;
        if (!room && pool.whole + opened(t) < type.gpus()) {
          room = true;
          for (device = 0; pool.left.count(device) != 0;) ++device;
        }
      } else {
        room = pool.whole + opened(t) + gpus / 1000 <= type.gpus();
      }
      const bool expected = room && pool.cpu + demand.cpu.value <= type.cpu().value &&
                            pool.memory + demand.memory_mib <= type.memory_mib();
      if (ledger.fits(demand, grant) != expected) FAIL("fits differs at step " << step);
      const bool free_agent = claims[agent].grant.empty();
      if (ledger.claim(agent, demand, grant) != (expected && free_agent))
        FAIL("claim differs at step " << step);
      (expected ? granted : refused) += 1;
      if (expected && free_agent) {
        if (gpus < 1000) {
          pool.left.try_emplace(device, 1000);
          pool.left[device] -= gpus;
          if (ledger.device(agent) != device) FAIL("device differs at step " << step);
        } else {
          pool.whole += gpus / 1000;
        }
        pool.cpu += demand.cpu.value;
        pool.memory += demand.memory_mib;
        pool.used += gpus;
        claims[agent] = {grant, demand, gpus < 1000 ? device : -1};
      }
    }
    for (std::size_t t = 0; t < 3; ++t) {
      const int type = static_cast<int>(t);
      const Pool& pool = pools[t];
      const std::int64_t free = cluster.types[t].gpus() - pool.whole - opened(t);
      const bool same = ledger.free_gpus(type) == free && free >= 0 && ledger.used(type).value == pool.used &&
                        ledger.free_cpu(type).value == cluster.types[t].cpu().value - pool.cpu &&
                        ledger.free_memory_mib(type) == cluster.types[t].memory_mib() - pool.memory &&
                        ledger.free_cpu(type).value >= 0 && ledger.free_memory_mib(type) >= 0;
      if (!same) FAIL("amounts differ at step " << step);
    }
  }
  CHECK(granted > 50'000);  // both answers were asked for often
  CHECK(refused > 50'000);
  for (std::size_t i = 0; i < kAgents; ++i) ledger.release(i);
  for (int t = 0; t < 3; ++t) {
    CHECK(ledger.used(t) == Milli{});
    CHECK(ledger.free_gpus(t) == cluster.types[static_cast<std::size_t>(t)].gpus());
  }
}

TEST_CASE("a reset after fractions leaves no trace of them", "[allocation]") {
  Allocation ledger(cluster_of("a100:1x4,t4:1x4"));
  for (int round = 0; round < 3; ++round) {
    ledger.reset(9);
    for (std::size_t i = 0; i < 4; ++i) REQUIRE(ledger.claim(i, {}, milli(900)));
    for (std::size_t i = 4; i < 8; ++i) REQUIRE(ledger.claim(i, {}, milli(501, 1)));
    CHECK_FALSE(ledger.claim(8, {}, milli(101)));
    CHECK_FALSE(ledger.claim(8, {}, whole(1, 1)));
  }
  ledger.reset(1);
  CHECK(ledger.claim(0, {}, whole(4, 1)));
}
