// The text form of a platform.

#include "mara/cluster/platform_text.hpp"

#include <string>

#include "catch.hpp"

using namespace mara;

namespace {
Platform parsed(const char* text) {
  auto platform = parse_platform(text);
  INFO(text << ": " << (platform ? "" : platform.error().message));
  REQUIRE(platform.has_value());
  return std::move(*platform);
}
std::string refused(const char* text) {
  const auto platform = parse_platform(text);
  INFO(text);
  REQUIRE(!platform.has_value());
  return platform.error().message;
}
}  // namespace

TEST_CASE("platform text: nodes and devices") {
  const Platform platform = parsed("8x4");
  REQUIRE(platform.nodes.size() == 8);
  CHECK(platform.devices() == 32);
  REQUIRE(platform.types.size() == 1);
  CHECK(platform.types[0].name == "gpu");
  CHECK(platform.nodes[7].name == "7");
  CHECK(platform.nodes[7].rack == 0);
  CHECK(platform.nodes[7].cpu == Milli{0});
  CHECK(describe(platform) == "8 x 4 gpu");
  CHECK(parsed("32x1").devices() == 32);
}

TEST_CASE("platform text: types, hosts, racks, prices") {
  const Platform platform = parsed("v100:3x8:96c1T/2,p100@12G=0.5:2x4:7.5c,2x0:64G,v100:1x2");
  REQUIRE(platform.nodes.size() == 8);
  REQUIRE(platform.types.size() == 2);
  CHECK(platform.types[0].name == "v100");
  CHECK(platform.types[0].memory_mib == 32 * 1024);
  CHECK(platform.types[0].busy_w == 300.0);
  CHECK(platform.types[0].idle_w == Approx(45.0));
  CHECK(platform.types[0].price_per_hour == 0.0);
  CHECK(platform.types[1].memory_mib == 12 * 1024);
  CHECK(platform.types[1].price_per_hour == 0.5);
  CHECK(platform.nodes[0].cpu == Milli::whole(96));
  CHECK(platform.nodes[0].memory_mib == 1024 * 1024);
  CHECK(platform.nodes[3].cpu == Milli{7500});
  CHECK(platform.nodes[3].memory_mib == 0);
  CHECK(platform.nodes[5].type == kNoDeviceType);
  CHECK(platform.nodes[5].memory_mib == 64 * 1024);
  CHECK(platform.nodes[7].type == 0);
  CHECK(platform.nodes[7].name == "v100-3");
  CHECK(platform.nodes[4].name == "p100-1");
  CHECK(platform.nodes[5].name == "0");
  std::string racks;
  for (const Node& node : platform.nodes) racks += std::to_string(node.rack);
  CHECK(racks == "00122334");
  CHECK(platform.devices_of(0) == 26);
  CHECK(describe(platform) == "3 x 8 v100, 2 x 4 p100, 2 x 0 devices, 1 x 2 v100");
  CHECK(parsed("my-xpu:2x8").types[0].name == "my-xpu");
  CHECK(parsed("my-xpu:2x8").types[0].busy_w == 0.0);
  CHECK(parsed("8x8:16c64G").nodes[0].memory_mib == 64 * 1024);
}

TEST_CASE("platform text: errors name the part") {
  CHECK(refused("") == "platform: empty text, expected such as 8x8");
  CHECK(refused("8") == "platform '8': '8' is not NODESxDEVICES, such as 8x8");
  CHECK(refused("8x8,") == "platform '': '' is not NODESxDEVICES, such as 8x8");
  CHECK(refused("v100:") == "platform 'v100:': '' is not NODESxDEVICES, such as 8x8");
  CHECK(refused("4x4,v100:axb") == "platform 'v100:axb': 'axb' is not NODESxDEVICES, such as 8x8");
  CHECK(refused("8x-1").find("'8x-1' is not NODESxDEVICES") != std::string::npos);
  CHECK(refused("0x8") == "platform '0x8': there are 0 nodes");
  CHECK(refused("8x65") == "platform '8x65': 65 devices a node, at most 64");
  CHECK(refused("1000001x8").find("more than 1000000 nodes") != std::string::npos);
  CHECK(refused("1000000x1,1x1").find("'1x1': more than 1000000 nodes in all") != std::string::npos);
  CHECK(refused("8x8:lots") ==
        "platform '8x8:lots': host resources 'lots' are not cores and memory, such as 16c64G");
  CHECK(refused("8x8:16c64").find("host resources '16c64'") != std::string::npos);
  CHECK(refused("8x8:").find("host resources ''") != std::string::npos);
  CHECK(refused("8x8/0") == "platform '8x8/0': nodes of a rack: '0' is not a number above 0");
  CHECK(refused("8x8/x").find("nodes of a rack: 'x'") != std::string::npos);
  CHECK(refused("v100@much:8x8").find("device memory 'much'") != std::string::npos);
  CHECK(refused("v100=-1:8x8").find("price '-1'") != std::string::npos);
  CHECK(refused("v100=nan:8x8").find("price 'nan'") != std::string::npos);
  CHECK(refused("@8G:8x8").find("the type has no name") != std::string::npos);
  CHECK(refused("my gpu:8x8").find("the name may hold no space") != std::string::npos);
  CHECK(refused("v100@16G:1x1,v100@32G:1x1") ==
        "platform 'v100@32G:1x1': type 'v100' has another memory or price in an earlier part");
  CHECK(refused("a:1x1,b:1x1,c:1x1,d:1x1,e:1x1,f:1x1,g:1x1,h:1x1,i:1x1").find("9 device types") !=
        std::string::npos);
}

TEST_CASE("platform text: devices in slices") {
  const Platform platform = parsed("a100%mig@40G=2.5:2x4:96c1T,A30-pcie%mig:1x2,v100:1x8,a100%mig:1x1");
  REQUIRE(platform.types.size() == 3);
  REQUIRE(platform.types[0].mig.has_value());
  CHECK(platform.types[0].name == "a100");
  CHECK(platform.types[0].mig->memory == 8);
  CHECK(platform.types[0].mig->find("3g") == 2);
  CHECK(platform.types[0].memory_mib == 40 * 1024);
  CHECK(platform.types[0].price_per_hour == 2.5);
  CHECK(platform.types[0].busy_w == 400.0);
  REQUIRE(platform.types[1].mig.has_value());
  CHECK(platform.types[1].mig->compute == 4);
  CHECK_FALSE(platform.types[2].mig.has_value());
  CHECK(platform.nodes[4].type == 0);
  CHECK(describe(platform) == "2 x 4 a100%mig, 1 x 2 A30-pcie%mig, 1 x 8 v100, 1 x 1 a100%mig");

  CHECK(refused("a100%slices:2x4") == "platform 'a100%slices:2x4': slicing '%slices' is not %mig");
  CHECK(refused("a100%:2x4") == "platform 'a100%:2x4': slicing '%' is not %mig");
  CHECK(refused("v100%mig:2x4") ==
        "platform 'v100%mig:2x4': type 'v100' is not known to be given in slices (%mig), as a100, a800, "
        "h100, h800, "
        "h200 and a30 are");
  CHECK(refused("a100%mig:2x4,a100:1x4") ==
        "platform 'a100:1x4': type 'a100' is %mig in one part and not in another");
}
