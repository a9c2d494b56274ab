#include "mara/cluster/cluster.hpp"

#include <limits>
#include <string>

#include "catch.hpp"

using namespace mara;

TEST_CASE("parse_cluster reads types, counts and device memory", "[cluster]") {
  const auto cluster = parse_cluster("a100:2x8,v100:3x4,T4:1x2");
  REQUIRE(cluster);
  REQUIRE(cluster->type_count() == 3);
  CHECK(cluster->gpus() == 16 + 12 + 2);
  CHECK(cluster->types[0].name == "a100");
  CHECK(cluster->types[0].nodes == 2);
  CHECK(cluster->types[0].gpus_per_node == 8);
  CHECK(cluster->types[0].gpus() == 16);
  CHECK(cluster->types[0].gpu_memory_mib == 80 * 1024);
  CHECK(cluster->types[1].gpu_memory_mib == 32 * 1024);
  CHECK(cluster->types[2].gpu_memory_mib == 16 * 1024);
  CHECK(cluster->types[0].cpu() == Milli::whole(192));
  CHECK(cluster->types[1].memory_mib() == 3 * kDefaultMemoryMibPerNode);
  CHECK(cluster->find("v100") == 1);
  CHECK(cluster->find("h100") == -1);
}

TEST_CASE("parse_cluster reads device memory and host resources when given", "[cluster]") {
  const auto cluster = parse_cluster("mygpu@24G:2x8/64c/512G,small@1536M:1x1/7.05c");
  REQUIRE(cluster);
  CHECK(cluster->types[0].gpu_memory_mib == 24 * 1024);
  CHECK(cluster->types[0].cpu_per_node == Milli::whole(64));
  CHECK(cluster->types[0].memory_mib_per_node == 512 * 1024);
  CHECK(cluster->types[1].gpu_memory_mib == 1536);
  CHECK(cluster->types[1].cpu_per_node == Milli{7050});
  CHECK(cluster->types[1].memory_mib_per_node == kDefaultMemoryMibPerNode);
}

TEST_CASE("to_string is read back as the same cluster", "[cluster]") {
  for (const char* text : {"a100:2x8,v100:2x8,t4:2x8", "mygpu@24G:2x8", "x@1000M:1x1", "a100@40G:1x4",
                           "t4:7x3/64c/512G", "t4:7x3/0.001c", "a10:1x1/96c/3M"}) {
    const auto cluster = parse_cluster(text);
    REQUIRE(cluster);
    const auto again = parse_cluster(to_string(*cluster));
    REQUIRE(again);
    REQUIRE(again->types.size() == cluster->types.size());
    for (std::size_t i = 0; i < cluster->types.size(); ++i) {
      CHECK(again->types[i].name == cluster->types[i].name);
      CHECK(again->types[i].nodes == cluster->types[i].nodes);
      CHECK(again->types[i].gpus_per_node == cluster->types[i].gpus_per_node);
      CHECK(again->types[i].gpu_memory_mib == cluster->types[i].gpu_memory_mib);
      CHECK(again->types[i].cpu_per_node == cluster->types[i].cpu_per_node);
      CHECK(again->types[i].memory_mib_per_node == cluster->types[i].memory_mib_per_node);
    }
  }
  CHECK(to_string(*parse_cluster("a100:2x8,v100:2x8,t4:2x8")) == "a100:2x8,v100:2x8,t4:2x8");
}

TEST_CASE("parse_cluster refuses bad text and names the part", "[cluster]") {
  struct Bad {
    const char* text;
    ErrorCode code;
    const char* named;
  };
  const Bad cases[] = {
      {"", ErrorCode::kParse, "empty"},
      {"a100", ErrorCode::kParse, "a100"},
      {"a100:2x8,", ErrorCode::kParse, "expected"},
      {"a100:8", ErrorCode::kParse, "8"},
      {"a100:-1x8", ErrorCode::kParse, "-1x8"},
      {"a100:+1x8", ErrorCode::kParse, "+1x8"},
      {"a100:1.5x8", ErrorCode::kParse, "1.5x8"},
      {"a100:2x8x2", ErrorCode::kParse, "2x8x2"},
      {"a100:nanx8", ErrorCode::kParse, "nanx8"},
      {"a100:99999999999999999999x8", ErrorCode::kParse, "99999999999999999999"},
      {":2x8", ErrorCode::kParse, "no name"},
      {"mygpu:2x8", ErrorCode::kParse, "mygpu"},
      {"mygpu@:2x8", ErrorCode::kParse, "device memory"},
      {"mygpu@24:2x8", ErrorCode::kParse, "'24'"},
      {"mygpu@-24G:2x8", ErrorCode::kParse, "-24G"},
      {"mygpu@99999999999999T:2x8", ErrorCode::kParse, "99999999999999T"},
      {"a 100@1G:2x8", ErrorCode::kParse, "a 100"},
      {"t4:1x1/", ErrorCode::kParse, "nothing after"},
      {"t4:1x1/64", ErrorCode::kParse, "'64'"},
      {"t4:1x1/6.1234c", ErrorCode::kParse, "6.1234c"},
      {"t4:1x1/64c/", ErrorCode::kParse, "host memory"},
      {"a100:0x8", ErrorCode::kInvalidArgument, "zero"},
      {"a100:2x0", ErrorCode::kInvalidArgument, "zero"},
      {"a100:1000000x1000000", ErrorCode::kInvalidArgument, "more than"},
      {"a100:1x1,a100:2x2", ErrorCode::kInvalidArgument, "twice"},
      {"a@1G:1x1,b@1G:1x1,c@1G:1x1,d@1G:1x1,e@1G:1x1,f@1G:1x1,g@1G:1x1,h@1G:1x1,i@1G:1x1",
       ErrorCode::kInvalidArgument, "9 GPU types"},
  };
  for (const Bad& bad : cases) {
    INFO(bad.text);
    const auto cluster = parse_cluster(bad.text);
    REQUIRE_FALSE(cluster);
    INFO(cluster.error().message);
    CHECK(cluster.error().code == bad.code);
    CHECK(cluster.error().message.find(bad.named) != std::string::npos);
  }
}

TEST_CASE("check_cluster names what is wrong in an aggregate", "[cluster]") {
  const GpuType good{"a100", 2, 8, 81920, Milli::whole(96), 1024};
  CHECK(check_cluster(Cluster{{good}}));
  const auto message = [&good](auto change) {
    Cluster cluster{{good}};
    change(cluster.types[0]);
    const auto status = check_cluster(cluster);
    return status ? std::string() : status.error().message;
  };
  CHECK(message([](GpuType& t) { t.nodes = 0; }) == "cluster type 'a100': nodes is 0");
  CHECK(message([](GpuType& t) { t.gpus_per_node = -3; }) == "cluster type 'a100': gpus_per_node is -3");
  CHECK(message([](GpuType& t) { t.gpu_memory_mib = -1; }) == "cluster type 'a100': gpu_memory_mib is -1");
  CHECK(message([](GpuType& t) { t.cpu_per_node = Milli{-1}; }) ==
        "cluster type 'a100': cpu_per_node (milli) is -1");
  CHECK(message([](GpuType& t) { t.memory_mib_per_node = -1; }) ==
        "cluster type 'a100': memory_mib_per_node is -1");
  CHECK(message([](GpuType& t) { t.nodes = 1'000'000; }).find("8000000") != std::string::npos);
  CHECK(message([](GpuType& t) { t.name.clear(); }).find("no name") != std::string::npos);
  CHECK_FALSE(check_cluster(Cluster{}));
}

TEST_CASE("absurd counts saturate instead of wrapping (S17)", "[cluster]") {
  constexpr int kInt = std::numeric_limits<int>::max();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const GpuType type{"x", kInt, kInt, 1, Milli{kMost}, kMost};
  CHECK(type.gpus() == kInt);
  CHECK(type.cpu().value == kMost);
  CHECK(type.memory_mib() == kMost);
  CHECK(Cluster{{type, type}}.gpus() == kInt);
  CHECK(GpuType{"x", -2, -2, 1, Milli{-5}, -5}.gpus() == 0);
  CHECK(GpuType{"x", 2, 2, 1, Milli{-5}, -5}.cpu() == Milli{0});
}

TEST_CASE("could_hold compares every resource with the empty pool", "[cluster]") {
  const GpuType type{"x", 2, 4, 1000, Milli::whole(10), 100};
  CHECK(type.could_hold({}, Milli::whole(8)));
  CHECK_FALSE(type.could_hold({}, Milli::whole(9)));
  CHECK(type.could_hold({}, Milli{1}));
  CHECK_FALSE(type.could_hold({}, Milli{0}));
  CHECK_FALSE(type.could_hold({}, Milli{-1000}));
  CHECK_FALSE(type.could_hold({}, Milli{1500}));
  CHECK(type.could_hold({1000, Milli::whole(20), 200}, Milli::whole(1)));
  CHECK_FALSE(type.could_hold({1001, Milli{}, 0}, Milli::whole(1)));
  CHECK_FALSE(type.could_hold({0, Milli{20001}, 0}, Milli::whole(1)));
  CHECK_FALSE(type.could_hold({0, Milli{}, 201}, Milli::whole(1)));
  CHECK_FALSE(type.could_hold({-1, Milli{}, 0}, Milli::whole(1)));
}
