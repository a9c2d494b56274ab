// Slices in the ledger of a platform: legal starts, no overlap, exact accounting, nothing lost.
#include "mara/cluster/platform_mig.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/free_resources.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

constexpr std::int32_t k1g = 0, k2g = 1, k3g = 2, k4g = 3, k7g = 4;

Platform sliced(int nodes, int devices) {
  Platform platform = make_platform(nodes, devices, "a100");
  platform.types[0].mig = mig_a100_40gb();
  return platform;
}
NodeShare slice(std::uint32_t node, int device, std::int32_t profile, std::int32_t start) {
  static constexpr int kCompute[] = {1, 2, 3, 4, 7};
  NodeShare share;
  share.node = node;
  share.devices = std::uint64_t{1} << device;
  share.profile = profile;
  share.start = start;
  share.share = profile >= 0 && profile < 5 ? 1000 * kCompute[profile] / 7 : 142;
  return share;
}
NodeShare whole(std::uint32_t node, int device) {
  NodeShare share;
  share.node = node;
  share.devices = std::uint64_t{1} << device;
  return share;
}
PlacementDemand slices(const Platform& platform, std::int32_t profile, int count = 1) {
  return slice_demand(platform, profile, count).value();
}
/// Claims one slice where the ledger puts it: device and start, or (-1, -1).
std::pair<int, int> ask(FreeResources& free, const Platform& platform, std::int32_t profile) {
  const PlacementDemand demand = slices(platform, profile);
  if (!free.can_host(0, demand, 1)) return {-1, -1};
  const NodeShare share = free.lowest(0, demand, 1);
  REQUIRE(free.claim(share));
  return {std::countr_zero(share.devices), share.start};
}
bool same(const FreeResources& a, const FreeResources& b) {
  if (a.whole_devices() != b.whole_devices() || a.free_milli() != b.free_milli()) return false;
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a.whole(n) != b.whole(n) || a.whole_count(n) != b.whole_count(n) || a.cpu(n) != b.cpu(n) ||
        a.memory_mib(n) != b.memory_mib(n) || a.up(n) != b.up(n) || a.fingerprint(n) != b.fingerprint(n) ||
        !std::ranges::equal(a.device_free(n), b.device_free(n)))
      return false;
    for (int d = 0; a.mig_table(n) != nullptr && d < a.devices(n); ++d)
      if (a.mig_use(n, d) != b.mig_use(n, d)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("S15 in the ledger: legal starts count, not free slices") {
  const Platform platform = sliced(1, 1);
  FreeResources free(platform);
  for (const int start : {0, 1, 5}) REQUIRE(free.claim(slice(0, 0, k1g, start)));
  CHECK(free.device_free(0, 0) == 1000 - 3 * 142);
  for (const std::int32_t profile : {k3g, k4g, k7g})
    CHECK_FALSE(free.can_host(0, slices(platform, profile), 1));
  CHECK(ask(free, platform, k2g) == std::pair(0, 2));
  CHECK(ask(free, platform, k2g) == std::pair(-1, -1));
}

TEST_CASE("S15 in the ledger: 1g, 1g, 1g, 4g all fit, in 4, 5, 6 and 0") {
  const Platform platform = sliced(1, 1);
  FreeResources free(platform);
  std::set<int> ones;
  for (int i = 0; i < 3; ++i) ones.insert(ask(free, platform, k1g).second);
  CHECK(ones == std::set<int>{4, 5, 6});
  CHECK(ask(free, platform, k4g) == std::pair(0, 0));
  CHECK(free.mig_use(0, 0).compute == 7);
  for (std::int32_t profile = 0; profile < 5; ++profile)
    CHECK_FALSE(free.can_host(0, slices(platform, profile), 1));
}

TEST_CASE("S15 in the ledger: 3g, 3g at 0 and 4; freed in any order nothing is lost") {
  const Platform platform = sliced(1, 1);
  const FreeResources fresh(platform);
  for (const int first_freed : {0, 4}) {
    FreeResources free(platform);
    for (int again = 0; again < 3; ++again) {
      std::set<int> starts{ask(free, platform, k3g).second, ask(free, platform, k3g).second};
      CHECK(starts == std::set<int>{0, 4});
      CHECK(ask(free, platform, k1g).second == -1);
      CHECK(free.device_free(0, 0) == 1000 - 2 * 428);  // a seventh that nobody can use
      CHECK(free.release(slice(0, 0, k3g, first_freed)));
      CHECK(free.release(slice(0, 0, k3g, 4 - first_freed)));
      CHECK(same(free, fresh));
    }
  }
}

TEST_CASE("A device is given whole or in slices, never both, and never in fractions") {
  const Platform platform = sliced(1, 2);
  FreeResources free(platform);
  REQUIRE(free.claim(slice(0, 0, k1g, 6)));
  CHECK(free.whole(0) == 2u);
  CHECK(free.whole_devices() == 1);
  CHECK_FALSE(free.claim(whole(0, 0)));
  REQUIRE(free.claim(whole(0, 1)));
  for (std::int32_t profile = 0; profile < 5; ++profile) CHECK_FALSE(free.claim(slice(0, 1, profile, 0)));
  PlacementDemand demand;
  CHECK_FALSE(free.can_host(0, demand, 1));
  REQUIRE(free.release(whole(0, 1)));
  CHECK(free.can_host(0, demand, 1));

  demand.share = 500;
  CHECK_FALSE(free.can_host(0, demand, 1));
  CHECK(free.tightest_device(0, 500) == -1);
  NodeShare fraction = whole(0, 1);
  fraction.share = 500;
  CHECK_FALSE(free.claim(fraction));

  REQUIRE(free.claim(slice(0, 1, k7g, 0)));  // all of the device, but a slice
  CHECK(free.whole_devices() == 0);
  CHECK_FALSE(free.release(whole(0, 1)));
  CHECK(free.release(slice(0, 1, k7g, 0)));
  CHECK(free.release(slice(0, 0, k1g, 6)));
  CHECK(same(free, FreeResources(platform)));
}

TEST_CASE("Slices that cannot be are refused, and change nothing") {
  const Platform platform = sliced(1, 2);
  FreeResources free(platform);
  REQUIRE(free.claim(slice(0, 0, k2g, 2)));
  const FreeResources held = free;
  NodeShare odd = slice(0, 0, k1g, 0);
  odd.share = 143;
  NodeShare nowhere = slice(0, 0, k1g, 0);
  nowhere.devices = 0;
  for (const NodeShare& bad :
       {slice(0, 1, k2g, 1), slice(0, 1, k3g, 2), slice(0, 1, k1g, 7), slice(0, 1, k1g, -1),
        slice(0, 1, k7g, 4), slice(0, 1, k1g, 1000), slice(0, 1, 5, 0), slice(0, 1, -2, 0),
        slice(0, 1, 1 << 30, 0), slice(0, 2, k1g, 0), slice(1, 0, k1g, 0), slice(0, 0, k1g, 3),
        slice(0, 0, k3g, 0), odd, nowhere}) {
    CHECK_FALSE(free.claim(bad));
    CHECK(same(free, held));
  }
  for (const NodeShare& bad :
       {slice(0, 0, k2g, 0), slice(0, 0, k1g, 2), slice(0, 0, k1g, 3), slice(0, 1, k2g, 2), whole(0, 0), odd,
        nowhere, slice(0, 0, -2, 2), slice(0, 0, k2g, 1 << 20)}) {
    CHECK_FALSE(free.release(bad));
    CHECK(same(free, held));
  }
  CHECK_FALSE(free.claim(Placement{{slice(0, 1, k3g, 0), slice(0, 1, k4g, 0)}}));  // all or nothing
  CHECK(same(free, held));
  // A type that is not sliced has no slices.
  FreeResources plain(make_platform(1, 1));
  CHECK_FALSE(plain.claim(slice(0, 0, k1g, 0)));
  CHECK_FALSE(plain.can_host(0, slices(platform, k1g), 1));
}

TEST_CASE("Several slices: on the tightest devices of the node first") {
  Platform platform = sliced(1, 2);
  platform.nodes[0].cpu = Milli{1000};
  FreeResources free(platform);
  REQUIRE(free.claim(slice(0, 1, k3g, 4)));
  PlacementDemand demand = slices(platform, k3g, 3);
  demand.cpu = Milli{100};
  CHECK(free.slices(0, demand, 9) == 3);
  CHECK(free.capacity(0, demand) == 4);
  REQUIRE(free.can_host(0, demand, 3));
  Placement placement;
  free.give(0, demand, 3, placement);
  REQUIRE(placement.shares.size() == 3);
  CHECK(placement.shares[0].devices == 2u);  // the rest of the device in use
  CHECK(placement.shares[0].start == 0);
  CHECK(placement.shares[1].devices == 1u);
  CHECK(placement.shares[0].cpu == Milli{100});
  CHECK(placement.shares[1].cpu == Milli{0});
  CHECK(placement.device_count() == 3);
  REQUIRE(free.claim(placement));
  CHECK_FALSE(free.can_host(0, demand, 1));
  demand.cpu = Milli{1001};
  CHECK_FALSE(free.can_host(0, demand, 1));
  REQUIRE(free.release(placement));
  CHECK_FALSE(free.can_host(0, slices(platform, k3g, 4), 4));
}

TEST_CASE("meet: the slices in use in either ledger") {
  const Platform platform = sliced(2, 1);
  FreeResources a(platform), b(platform);
  REQUIRE(a.claim(slice(0, 0, k1g, 0)));
  REQUIRE(a.claim(slice(1, 0, k4g, 0)));
  REQUIRE(b.claim(slice(0, 0, k3g, 4)));
  REQUIRE(b.claim(whole(1, 0)));
  FreeResources met = a;
  met.meet(b);
  CHECK(met.mig_use(0, 0) == MigUse{0xf1u, 3});
  CHECK(met.device_free(0, 0) == 1000 - 428);
  CHECK(met.whole_devices() == 0);
  CHECK(met.can_host(0, slices(platform, k2g), 1));
  CHECK(met.lowest(0, slices(platform, k2g), 1).start == 2);
  CHECK_FALSE(met.can_host(0, slices(platform, k3g), 1));
  CHECK_FALSE(met.can_host(1, slices(platform, k1g), 1));
  FreeResources other = b;
  other.meet(a);
  CHECK(same(met, other));
}

TEST_CASE("Profiles are numbered over all types; a demand takes the types that have its profile") {
  Platform platform = sliced(1, 1);
  platform.types.push_back({.name = "v100"});
  platform.types.push_back({.name = "a30"});
  platform.types[2].mig = mig_a30();
  platform.types.push_back({.name = "odd"});
  platform.types[3].mig = MigTable{"odd", 2, 2, {{"half", 1, 1, {0, 1}}, {"2g", 2, 2, {0}}}};
  for (std::int32_t t = 1; t < 4; ++t) {
    platform.nodes.push_back(platform.nodes[0]);
    platform.nodes.back().type = t;
  }
  REQUIRE(check_platform(platform));
  CHECK(mig_profiles(platform) == std::vector<std::string>{"1g", "2g", "3g", "4g", "7g", "half"});
  CHECK(find_mig_profile(platform, "half") == 5);
  CHECK(find_mig_profile(platform, "8g") == kNoMigProfile);
  CHECK(mig_profile(platform, 2, k4g)->compute == 4);
  CHECK(mig_profile(platform, 2, k3g) == nullptr);
  CHECK(mig_profile(platform, 1, k1g) == nullptr);
  CHECK(mig_profile(platform, 3, 5)->name == "half");
  CHECK(mig_profile(platform, 3, 6) == nullptr);
  CHECK(mig_profile(platform, -1, 0) == nullptr);
  CHECK(mig_speed(platform, 2, k1g) == 0.25);
  CHECK(mig_speed(platform, 0, k3g) == 3.0 / 7.0);

  CHECK(slice_demand(platform, "2g").value().types == 0b1101u);
  CHECK(slice_demand(platform, "2g").value().share == 285);
  CHECK(slice_demand(platform, "7g").value().types == 0b0001u);
  CHECK(slice_demand(platform, "7g").value().share < 1000);
  CHECK(slice_demand(platform, "8g").error().message ==
        "mig_profile: '8g' is no profile of the platform, which has 1g, 2g, 3g, 4g, 7g, half");
  CHECK(slice_demand(make_platform(1, 1), "1g").error().message ==
        "mig_profile: '1g' is no profile of the platform, which has no device type in slices");
  CHECK(slice_demand(platform, 6).error().message ==
        "mig_profile: 6 is the number of no profile of the platform");
  CHECK(slice_demand(platform, -1).error().message ==
        "mig_profile: -1 is the number of no profile of the platform");
  CHECK(slice_demand(platform, "1g", 0).error().message == "slices: 0 of mig_profile 0");

  FreeResources free(platform);
  CHECK_FALSE(free.can_host(1, slice_demand(platform, "2g").value(), 1));
  const PlacementDemand half = slice_demand(platform, "half").value();
  CHECK(free.capacity(3, half) == 2);
  CHECK(free.capacity(0, half) == 0);
  REQUIRE(free.can_host(3, half, 1));
  REQUIRE(free.claim(free.lowest(3, half, 1)));
  CHECK(free.device_free(3, 0) == 500);

  platform.types[3].mig->profiles[1].starts = {1};
  CHECK(check_platform(platform).error().message ==
        "device type 'odd': MIG table 'odd': profile '2g': start is 1");
  platform.types[3].mig->profiles[1] = platform.types[3].mig->profiles[0];
  CHECK(check_platform(platform).error().message ==
        "device type 'odd': MIG table 'odd': profile 'half': is there twice");
}

TEST_CASE(
    "Random claims and releases of slices and wholes: no overlap, exact amounts, fingerprints restored") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Platform platform = sliced(2, 1 + static_cast<int>(random.below(4)));
    platform.types.push_back({.name = "a30"});
    platform.types[1].mig =
        seed % 2 == 0 ? mig_a30() : MigTable{"wide", 5, 32, {{"1g", 1, 7, {0, 3, 9, 25}}, {"x", 5, 32, {0}}}};
    platform.types.push_back({.name = "plain"});
    for (std::int32_t t = 1; t < 3; ++t) {
      platform.nodes.push_back(platform.nodes[0]);
      platform.nodes.back().type = t;
    }
    for (Node& node : platform.nodes) node.cpu = Milli{3000};
    REQUIRE(check_platform(platform));
    const auto profiles = static_cast<std::int32_t>(mig_profiles(platform).size());
    FreeResources free(platform);
    const FreeResources fresh = free;
    std::vector<NodeShare> held;
    std::size_t taken = 0, refused = 0;
    for (int step = 0; step < 20'000; ++step) {
      const auto node = static_cast<std::uint32_t>(random.below(4));
      const Node& machine = platform.nodes[node];
      const auto devices = static_cast<std::uint32_t>(machine.devices);
      if (random.below(100) == 0) {
        free.set_up(node, !free.up(node));
      } else if (held.size() < 30 && random.below(2) == 0) {
        NodeShare share = whole(node, static_cast<int>(random.below(devices)));
        share.cpu = Milli{random.below(200)};
        if (random.below(8) != 0) {
          share.profile = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(profiles)));
          share.start = static_cast<std::int32_t>(random.below(random.below(2) == 0 ? 8 : 32));
          const MigProfile* profile = mig_profile(platform, machine.type, share.profile);
          if (profile != nullptr)
            share.share =
                1000 * profile->compute / platform.types[static_cast<std::size_t>(machine.type)].mig->compute;
        }
        // The model: what is held of that device.
        bool fits = free.up(node);
        std::int64_t cpu = share.cpu.value;
        std::uint64_t memory = 0;
        int compute = 0;
        const MigProfile* wanted = mig_profile(platform, machine.type, share.profile);
        if (share.profile != kNoMigProfile)
          fits = fits && wanted != nullptr &&
                 std::count(wanted->starts.begin(), wanted->starts.end(), share.start) > 0;
        for (const NodeShare& other : held) {
          if (other.node != node) continue;
          cpu += other.cpu.value;
          if (other.devices != share.devices) continue;
          if (other.profile == kNoMigProfile || share.profile == kNoMigProfile) {
            fits = false;
            continue;
          }
          const MigProfile* there = mig_profile(platform, machine.type, other.profile);
          memory |= ((std::uint64_t{1} << there->memory) - 1) << other.start;
          compute += there->compute;
        }
        if (fits && wanted != nullptr)
          fits = (memory & (((std::uint64_t{1} << wanted->memory) - 1) << share.start)) == 0 &&
                 compute + wanted->compute <=
                     platform.types[static_cast<std::size_t>(machine.type)].mig->compute;
        fits = fits && cpu <= 3000;
        const FreeResources before = free;
        const bool claimed = free.claim(share);
        if (claimed != fits) FAIL("the ledger and the model disagree");
        if (!claimed && !same(free, before)) FAIL("a refused claim changed something");
        (claimed ? taken : refused) += 1;
        if (!claimed) continue;
        if (free.release(share), !same(free, before)) FAIL("claim and release are not inverse");
        free.claim(share);
        held.push_back(share);
      } else if (!held.empty()) {
        const std::size_t pick = random.below(static_cast<std::uint32_t>(held.size()));
        const NodeShare share = held[pick];
        held[pick] = held.back();
        held.pop_back();
        if (!free.release(share)) FAIL("a release of what is held was refused");
      }
      // Exact amounts.
      std::int64_t whole_devices = 0, free_milli = 0;
      for (std::size_t n = 0; n < 4; ++n)
        for (int d = 0; d < platform.nodes[n].devices; ++d) {
          int milli = 1000;
          for (const NodeShare& share : held)
            if (share.node == n && (share.devices >> d & 1u) != 0) milli -= share.share;
          if (free.device_free(n, d) != milli || milli < 0) FAIL("milli of a device");
          if (((free.whole(n) >> d & 1u) != 0) != (free.up(n) && milli == 1000)) FAIL("whole devices");
          if (!free.up(n)) continue;
          free_milli += milli;
          whole_devices += milli == 1000 ? 1 : 0;
        }
      if (free.free_milli() != free_milli || free.whole_devices() != whole_devices) FAIL("sums");
      // A ledger with the same claims in another order has the same fingerprints, met or not.
      if (step % 200 != 0) continue;
      FreeResources other(platform);
      random.shuffle(held);
      for (const NodeShare& share : held)
        if (!other.claim(share)) FAIL("what is held does not fit together");
      for (std::size_t n = 0; n < 4; ++n) other.set_up(n, free.up(n));
      if (!same(free, other)) FAIL("history matters");
      other.meet(free);
      if (!same(free, other)) FAIL("met with itself it changed");
    }
    for (const NodeShare& share : held) REQUIRE(free.release(share));
    for (std::size_t n = 0; n < 4; ++n) free.set_up(n, true);
    CHECK(same(free, fresh));
    CHECK(taken > 500);
    CHECK(refused > 500);
  }
}

TEST_CASE("What the ledger gives can be claimed, and it gives whenever some legal start is free") {
  Random random(5);
  std::size_t given = 0;
  for (int trial = 0; trial < 2'000; ++trial) {
    const Platform platform = sliced(1, 1 + static_cast<int>(random.below(3)));
    FreeResources free(platform);
    for (int i = 0; i < 12; ++i) {
      const auto profile = static_cast<std::int32_t>(random.below(5));
      const int count = 1 + static_cast<int>(random.below(3));
      const PlacementDemand demand = slices(platform, profile, count);
      // Of each profile alone the starts do not overlap: as many fit as there are free ones.
      int room = 0;
      const MigProfile& shape = platform.types[0].mig->profiles[static_cast<std::size_t>(profile)];
      for (int d = 0; d < platform.nodes[0].devices; ++d) {
        const MigUse use = free.mig_use(0, d);
        int here = 0;
        for (const int start : shape.starts) here += (use.memory & mig_bits(shape, start)) == 0 ? 1 : 0;
        room += std::min(here, (7 - use.compute) / shape.compute);
      }
      if (free.can_host(0, demand, count) != (room >= count)) FAIL("can_host");
      if (room < count) continue;
      Placement placement;
      free.give(0, demand, count, placement);
      if (static_cast<int>(placement.shares.size()) != count || !free.claim(placement))
        FAIL("cannot be claimed");
      ++given;
    }
  }
  CHECK(given > 4'000);
}
