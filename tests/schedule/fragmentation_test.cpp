// Expected fragmentation, and the mix of demands it expects.
#include "mara/schedule/fragmentation.hpp"

#include <vector>

#include "catch.hpp"
#include "mara/cluster/free_resources.hpp"

using namespace mara;

namespace {

PlacementDemand demand(std::int32_t devices, std::int32_t share, std::int64_t cpu = 0) {
  PlacementDemand d;
  d.devices = devices;
  d.share = share;
  d.cpu = Milli{cpu};
  return d;
}
NodeFree node(std::int64_t cpu, std::vector<std::int16_t> devices) {
  NodeFree free;
  free.cpu = cpu;
  free.type_bit = 1;
  free.devices = static_cast<int>(devices.size());
  std::copy(devices.begin(), devices.end(), free.free.begin());
  return free;
}

}  // namespace

TEST_CASE("S14: F of one node: 250 before, 500 or 0 after") {
  const Fragmentation f({{demand(1, 500), 0.5}, {demand(1, 1000), 0.5}});
  CHECK(f(node(100000, {1000, 500})) == 250.0);
  CHECK(f(node(100000, {500, 500})) == 500.0);
  CHECK(f(node(100000, {1000, 0})) == 0.0);
}

TEST_CASE("S14: F over nodes: X 0 -> 1700, Y 360 -> 240") {
  const Fragmentation f({{demand(1, 300, 2000), 0.6}, {demand(1, 1000, 2000), 0.4}});
  CHECK(f(node(2000, {1000, 1000})) == 0.0);
  CHECK(f(node(0, {700, 1000})) == Approx(1700.0).epsilon(1e-15));
  CHECK(f(node(8000, {600, 300})) == Approx(360.0).epsilon(1e-15));
  CHECK(f(node(6000, {600, 0})) == Approx(240.0).epsilon(1e-15));
}

TEST_CASE("F: demands without GPU, of other types, or of several devices") {
  CHECK(Fragmentation({{demand(0, 1000), 1.0}})(node(1000, {300, 700})) == 1000.0);
  PlacementDemand other = demand(1, 100);
  other.types = 2;
  CHECK(Fragmentation({{other, 1.0}})(node(1000, {300, 700})) == 1000.0);
  const Fragmentation two({{demand(2, 1000), 1.0}});
  CHECK(two(node(1000, {1000, 1000, 400})) == 400.0);
  CHECK(two(node(1000, {1000, 999, 400})) == 2399.0);
  CHECK(two(node(1000, {0, 0})) == 0.0);
  CHECK(Fragmentation({})(node(1000, {500})) == 0.0);
}

TEST_CASE("typical_mix: the most frequent in steps of ten until they make up the share") {
  std::vector<PlacementDemand> demands;
  for (int i = 0; i < 40; ++i) demands.push_back(demand(1, 500));
  for (int i = 0; i < 60; ++i) demands.push_back(demand(2, 1000));
  demands[0].memory_mib = 77;  // not looked at
  const auto mix = typical_mix(demands);
  REQUIRE(mix.size() == 2);
  CHECK(mix[0].demand.devices == 2);
  CHECK(mix[0].weight == 0.6);
  CHECK(mix[1].weight == 0.4);
  demands.clear();
  for (int k = 1; k <= 30; ++k) demands.push_back(demand(k, 1000));
  CHECK(typical_mix(demands, 0.3).size() == 10);
  CHECK(typical_mix(demands, 0.34).size() == 20);
  CHECK(typical_mix(demands, 1.0).size() == 30);
  double sum = 0.0;
  for (const TypicalDemand& typical : typical_mix(demands, 0.34)) sum += typical.weight;
  CHECK(sum == Approx(1.0));
  CHECK(typical_mix({}).empty());
}
