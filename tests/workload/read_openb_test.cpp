#include "mara/workload/read_openb.hpp"

#include "catch.hpp"
#include "helpers.hpp"

using mara::Milli;
using mara::read_openb;
using mara::read_openb_nodes;
using workload_test::contains;
using workload_test::TempFile;

namespace {

const std::string kHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
    "scheduled_time\n";

std::string refused(const std::string& row) {
  const TempFile file(kHeader + "openb-pod-0000,12000,16384,1,1000,,LS,Running,0,100,0\n" + row + "\n");
  auto trace = read_openb(file.path());
  if (trace) return "accepted";
  const std::string& message = trace.error().message;
  return message.substr(std::min(message.size(), message.find("input.csv")));
}

}  // namespace

TEST_CASE("openb pods become jobs; rows without a run are skipped and counted") {
  const TempFile file(kHeader +
                      "openb-pod-0005,6000,12288,1,460,T4|V100M16,BE,Succeeded,50,200,80\n"
                      "openb-pod-0001,12000,16384,8,1000,,Guaranteed,Running,10,100,40\n"
                      "openb-pod-0002,1000,1024,0,0,,LS,Running,0,100,0\n"
                      "openb-pod-0003,1000,1024,1,1000,,LS,Pending,0,100,\n"
                      "openb-pod-0004,1000,1024,1,1000,,Burstable,Failed,0,70,70\n"
                      "openb-pod-0006,1000,1024,1,1000,,LS,Failed,0,60,70\n");
  auto trace = read_openb(file.path());
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->skipped == mara::SkippedRows{1, 1, 2});
  CHECK(trace->sla_classes == std::vector<std::string>{"Guaranteed", "BE"});  // by first use
  const mara::TraceJob expected_first{1, 10.0, 60.0, Milli{8000}, "", "", Milli{12000}, 16384, 3, 0};
  mara::TraceJob expected_second{5, 50.0, 120.0, Milli{460}, "", "T4|V100M16", Milli{6000}, 12288, 0, 0};
  expected_second.sla = 1;
  CHECK(trace->jobs[0] == expected_first);
  CHECK(trace->jobs[1] == expected_second);
}

TEST_CASE("openb: bad rows are refused with line, field and value") {
  CHECK(refused("openb-pod-0001,1,1,1,1000,,LS,Running,0,100,0") == "accepted");
  CHECK(refused("openb-pod,1,1,1,1000,,LS,Running,0,100,0") ==
        "input.csv:3: field 'name': value 'openb-pod' does not end in a number");
  CHECK(refused("openb-pod-0,1,1,1,1000,,LS,Running,0,100,0") ==
        "input.csv:3: field 'name': value 'openb-pod-0' appears twice");
  CHECK(refused("p1,-1,1,1,1000,,LS,Running,0,100,0") ==
        "input.csv:3: field 'cpu_milli': value '-1' is below 0");
  CHECK(refused("p1,1,x,1,1000,,LS,Running,0,100,0") ==
        "input.csv:3: field 'memory_mib': value 'x' is not a whole number");
  CHECK(refused("p1,1,1,-1,1000,,LS,Running,0,100,0") ==
        "input.csv:3: field 'num_gpu': value '-1' is below 0");
  CHECK(refused("p1,1,1,1,1001,,LS,Running,0,100,0") ==
        "input.csv:3: field 'gpu_milli': value '1001' is above 1000");
  CHECK(refused("p1,1,1,2,500,,LS,Running,0,100,0") ==
        "input.csv:3: field 'gpu_milli': value '500' is a share, but num_gpu is above 1");
  CHECK(refused("p1,1,1,1,1000,,XX,Running,0,100,0") ==
        "input.csv:3: field 'qos': value 'XX' is not one of BE, Burstable, LS, Guaranteed");
  CHECK(refused("p1,1,1,1,1000,,LS,Running,-1,100,0") ==
        "input.csv:3: field 'creation_time': value '-1' is below 0");
  CHECK(refused("p1,1,1,1,1000,,LS,Running,0,,0") ==
        "input.csv:3: field 'deletion_time': value '' is not a whole number");
  CHECK(refused("p1,1,1,1,1000,,LS,Running,0,100,nan") ==
        "input.csv:3: field 'scheduled_time': value 'nan' is not a whole number");
}

TEST_CASE("openb: pods without GPU are kept when asked for") {
  mara::TraceReadOptions options;
  options.keep_cpu_jobs = true;
  const auto trace = mara::parse_openb(kHeader +
                                           "p1,1000,1024,0,0,,LS,Running,0,100,10\n"
                                           "p2,0,1024,0,0,,LS,Running,0,100,10\n",
                                       "f.csv", options);
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 1);
  CHECK(trace->jobs[0].gpus == Milli{0});
  CHECK(trace->jobs[0].cpu == Milli{1000});
  CHECK(trace->skipped.no_gpu == 1);
}

TEST_CASE("openb: any pod list gives what the pods ask for") {
  const auto five = mara::parse_openb_pods(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nb,12000,16384,2,1000\na,1,2,1,460\nc,3,4,0,0\n", "f.csv");
  REQUIRE(five);
  REQUIRE(five->size() == 3);
  CHECK((*five)[0] == mara::PodRequest{"b", 12000, 16384, 2, 1000, ""});
  CHECK((*five)[1] == mara::PodRequest{"a", 1, 2, 1, 460, ""});
  CHECK((*five)[2] == mara::PodRequest{"c", 3, 4, 0, 0, ""});
  const auto full = mara::parse_openb_pods(kHeader + "p,1,2,1,1000,T4|G2,LS,Pending,0,100,\n", "f.csv");
  REQUIRE(full);
  CHECK((*full)[0] == mara::PodRequest{"p", 1, 2, 1, 1000, "T4|G2"});

  const auto bad = [](const std::string& rows) {
    return mara::parse_openb_pods("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n" + rows, "f.csv")
        .error()
        .message;
  };
  CHECK(bad("a,1,1,1,1000\na,1,1,1,1000\n") == "f.csv:3: field 'name': value 'a' appears twice");
  CHECK(bad("a,1,1,2,500\n") == "f.csv:2: field 'gpu_milli': value '500' is a share, but num_gpu is above 1");
  CHECK(bad("a,1,inf,1,500\n") == "f.csv:2: field 'memory_mib': value 'inf' is not a whole number");
  CHECK(bad("a,1,1,1,-1\n") == "f.csv:2: field 'gpu_milli': value '-1' is below 0");
  CHECK(bad("") == "f.csv: no pod in the file");
}

TEST_CASE("openb: the list without times is refused for its missing column") {
  const TempFile file("name,cpu_milli,memory_mib,num_gpu,gpu_milli\nopenb-pod-0000,12000,16384,1,1000\n");
  CHECK(
      contains(read_openb(file.path()).error().message, "input.csv:1: field 'gpu_spec': column is missing"));
}

TEST_CASE("openb nodes become a cluster with the exact number of GPUs") {
  const TempFile file(
      "sn,cpu_milli,memory_mib,gpu,model\n"
      "n0,32000,262144,0,\n"
      "n1,64000,262144,2,T4\n"
      "n2,96000,393216,4,T4\n"
      "n3,128000,786432,8,G3\n"
      "n4,8000,32768,1,V100M16\n"
      "n5,32001,131072,4,V100M16\n");
  auto cluster = read_openb_nodes(file.path());
  REQUIRE(cluster);
  REQUIRE(cluster->type_count() == 3);
  CHECK(cluster->types[0].name == "g3");
  CHECK(cluster->types[0].nodes == 1);
  CHECK(cluster->types[0].gpus_per_node == 8);
  CHECK(cluster->types[0].gpu_memory_mib == 81920);
  CHECK(cluster->types[1].name == "v100m16");
  CHECK(cluster->types[1].gpus() == 5);
  CHECK(cluster->types[1].gpus_per_node == 1);
  CHECK(cluster->types[1].cpu_per_node == Milli{8000});  // (8000 + 32001) / 5, rounded down
  CHECK(cluster->types[2].name == "t4");
  CHECK(cluster->types[2].gpus_per_node == 2);
  CHECK(cluster->types[2].nodes == 3);
  CHECK(cluster->types[2].memory_mib_per_node == (262144 + 393216) / 3);
}

TEST_CASE("openb node lists keep every node") {
  const auto nodes = mara::parse_openb_node_list(
      "sn,cpu_milli,memory_mib,gpu,model\r\nn1,64000,262144,2,T4\r\nn0,32000,131072,0,\r\n", "f.csv");
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 2);
  CHECK((*nodes)[0] == mara::OpenbNode{"n1", 64000, 262144, 2, "T4"});
  CHECK((*nodes)[1] == mara::OpenbNode{"n0", 32000, 131072, 0, ""});
  const auto bad = [](const std::string& rows) {
    return mara::parse_openb_node_list("sn,cpu_milli,memory_mib,gpu,model\n" + rows, "f.csv").error().message;
  };
  CHECK(bad("n,1,1,1,T4\nn,1,1,1,T4\n") == "f.csv:3: field 'sn': value 'n' appears twice");
  CHECK(bad("n,1,1,2000,T4\n") == "f.csv:2: field 'gpu': value '2000' is above 1024");
  CHECK(bad("") == "f.csv: no node in the file");
}

TEST_CASE("openb nodes: bad lists") {
  const std::string header = "sn,cpu_milli,memory_mib,gpu,model\n";
  const auto message = [&](const std::string& rows) {
    const TempFile file(header + rows);
    return read_openb_nodes(file.path()).error().message;
  };
  CHECK(contains(message("n0,1,1,1,\n"), ":2: field 'model': value '' is empty on a node with GPUs"));
  CHECK(contains(message("n0,1,1,1,B9\n"), ":2: field 'model': value 'B9' is not a known GPU type"));
  CHECK(contains(message("n0,1,1,-1,T4\n"), ":2: field 'gpu': value '-1' is below 0"));
  CHECK(contains(message("n0,1,1,0,\n"), "no node with a GPU"));
}
