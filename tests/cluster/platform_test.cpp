// Platforms: what is refused, what is made of pooled clusters, and what a demand deals to a node.
#include "mara/cluster/platform.hpp"

#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "catch.hpp"
#include "mara/cluster/placement.hpp"

using namespace mara;

namespace {

std::string message(const Platform& platform) {
  const Status status = check_platform(platform);
  return status ? std::string() : status.error().message;
}

}  // namespace

TEST_CASE("S17: a platform with bad numbers is refused, and the message names what and where") {
  const Platform good = make_platform(2, 4);
  REQUIRE(check_platform(good));
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const auto with_node = [&](auto&& change) {
    Platform platform = good;
    change(platform.nodes[1]);
    return message(platform);
  };
  CHECK(message(Platform{}) == "platform: no node");
  CHECK(with_node([](Node& n) { n.devices = -1; }) == "node '1': devices is -1");
  CHECK(with_node([](Node& n) { n.devices = 65; }) == "node '1': devices is 65");
  CHECK(with_node([](Node& n) { n.devices = 64; }).empty());
  CHECK(with_node([](Node& n) { n.type = 1; }) == "node '1': type is 1");
  CHECK(with_node([](Node& n) { n.type = -2; }) == "node '1': type is -2");
  CHECK(with_node([](Node& n) { n.devices = 0; }) == "node '1': type is 0");
  CHECK(with_node([](Node& n) { n.devices = 0, n.type = kNoDeviceType; }).empty());
  CHECK(with_node([](Node& n) { n.cpu = Milli{-1}; }) == "node '1': cpu (milli) is -1");
  CHECK(with_node([](Node& n) {
          n.cpu = Milli{std::numeric_limits<std::int64_t>::max()};
        }).find("cpu (milli)") != std::string::npos);
  CHECK(with_node([](Node& n) { n.cpu = Milli{kMostOfANode}; }).empty());
  CHECK(with_node([](Node& n) { n.memory_mib = kMostOfANode + 1; }).find("memory_mib") != std::string::npos);
  CHECK(with_node([](Node& n) {
          n.memory_mib = std::numeric_limits<std::int64_t>::min();
        }).find("memory_mib") != std::string::npos);
  CHECK(with_node([](Node& n) { n.numa_domains = 0; }) == "node '1': numa_domains is 0");
  CHECK(with_node([](Node& n) { n.numa_domains = INT_MAX; }).find("numa_domains") != std::string::npos);
  for (const double bad : {nan, inf, -inf, -1.0}) {
    CHECK(with_node([&](Node& n) { n.network_gb_s = bad; }).find("node '1': network_gb_s is ") == 0);
    CHECK(with_node([&](Node& n) { n.pcie_gb_s = bad; }).find("node '1': pcie_gb_s is ") == 0);
    for (double DeviceType::*field : {&DeviceType::idle_w, &DeviceType::busy_w, &DeviceType::price_per_hour,
                                      &DeviceType::bandwidth_gb_s}) {
      Platform platform = good;
      platform.types[0].*field = bad;
      CHECK(message(platform).find("device type 'gpu': ") == 0);
    }
  }
  Platform platform = good;
  platform.types[0].memory_mib = -1;
  CHECK(message(platform) == "device type 'gpu': memory_mib is -1");
  platform = good;
  platform.types.resize(kMaxDeviceTypes + 1);
  CHECK(message(platform).find("device types, at most") != std::string::npos);
}

TEST_CASE("Platform counts devices, and is made of a pooled cluster and made one again") {
  Cluster cluster;
  cluster.types = {{"a", 2, 4, 1000, Milli{8000}, 64}, {"b", 1, 8, 2000, Milli{16000}, 128}};
  const auto platform = make_platform(cluster);
  REQUIRE(platform);
  REQUIRE(platform->nodes.size() == 3);
  CHECK(platform->nodes[1].name == "a-1");
  CHECK(platform->nodes[2].type == 1);
  CHECK(platform->devices() == 16);
  CHECK(platform->devices_of(0) == 8);
  CHECK(platform->devices_of(1) == 8);
  CHECK(platform->devices_of(2) == 0);
  const Cluster again = pooled(*platform);
  REQUIRE(again.types.size() == 2);
  CHECK(again.types[0].nodes * again.types[0].gpus_per_node == 8);
  CHECK(again.types[0].cpu_per_node.value == 2000);
  CHECK(again.types[1].memory_mib_per_node == 16);
  cluster.types[0].gpus_per_node = 65;
  CHECK_FALSE(make_platform(cluster));
}

TEST_CASE("S04: host resources are dealt in proportion and rounded up, never to less than asked") {
  PlacementDemand demand;
  demand.devices = 3;
  demand.cpu = Milli{1000};
  demand.memory_mib = 100;
  CHECK(demand.cpu_of(1).value == 334);
  CHECK(demand.cpu_of(2).value == 667);
  CHECK(demand.cpu_of(3).value == 1000);
  CHECK(demand.memory_of(1) == 34);
  CHECK(demand.gpus().value == 3000);
  for (std::int32_t devices = 1; devices <= 20; ++devices)
    for (std::int64_t amount = 0; amount < 100; ++amount) {
      PlacementDemand d;
      d.devices = devices;
      d.memory_mib = amount;
      for (std::int32_t count = 0; count <= devices; ++count)
        REQUIRE(d.memory_of(count) == (devices == 1 ? amount : (amount * count + devices - 1) / devices));
    }
}

TEST_CASE("S17: an amount near 2^63 is dealt without wrapping") {
  PlacementDemand demand;
  demand.devices = 1000;
  demand.cpu = Milli{std::numeric_limits<std::int64_t>::max()};
  std::int64_t last = 0;
  for (const std::int32_t count : {1, 2, 500, 999, 1000}) {
    const std::int64_t dealt = demand.cpu_of(count).value;
    CHECK(dealt > last);
    last = dealt;
  }
  CHECK(last == std::numeric_limits<std::int64_t>::max());
}
