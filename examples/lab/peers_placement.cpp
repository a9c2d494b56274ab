// The peer that places pods on nodes: the FGD simulator (P6).

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/workload/openb_platform.hpp"
#include "peer_run.hpp"

namespace lab {

using namespace mara;  // NOLINT: the comparison speaks mara's words

namespace {

constexpr int kSeeds = 10;
constexpr double kArrived = 1.3;  // of the GPU capacity

/// Device types by name, numbered as they come.
std::uint32_t type_bit(std::vector<std::string>& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return std::uint32_t{1} << i;
  names.push_back(name);
  return std::uint32_t{1} << (names.size() - 1);
}

/// Fragmentation of single nodes.
PeerChecks check_fragmentation(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  PeerCheck check{
      .peer = "P6 FGD", .what = "fragmentation of a node", .unit = "milli-GPU", .tolerance = 0.01};
  try {
    const auto json = nlohmann::json::parse(*text);
    std::vector<std::string> types;
    for (const auto& test : json.at("frag_cases")) {
      std::vector<TypicalDemand> mix;
      for (const auto& pod : json.at("typical_pods").at(test.at("pods").get<std::string>())) {
        TypicalDemand typical;
        typical.demand.cpu = Milli{pod.at("cpu_milli").get<std::int64_t>()};
        typical.demand.share = pod.at("gpu_milli").get<std::int32_t>();
        typical.demand.devices = pod.at("gpus").get<std::int32_t>();
        const auto type = pod.at("gpu_type").get<std::string>();
        if (!type.empty()) typical.demand.types = type_bit(types, type);
        typical.weight = pod.at("weight").get<double>();
        mix.push_back(typical);
      }
      const auto& node = test.at("node");
      NodeFree free;
      free.cpu = node.at("cpu_milli_left").get<std::int64_t>();
      free.type_bit = type_bit(types, node.at("gpu_type").get<std::string>());
      for (const auto& left : node.at("gpu_milli_left"))
        free.free.at(static_cast<std::size_t>(free.devices++)) = left.get<std::int16_t>();
      check.compare(Fragmentation(mix)(free), test.at("frag_gpu_milli").get<double>(),
                    "case " + std::to_string(check.compared));
    }
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::kParse, path + ": " + error.what()};
  }
  return std::vector<PeerCheck>{check};
}

struct Workload {
  Platform platform;
  std::vector<PlacementDemand> demands;
  double capacity = 0.0;  // milli-GPU
};

/// Pods drawn from the list until they ask for kArrived of the capacity, in random order, one a second, for
/// ever.
std::vector<Job> draw(const Workload& workload, std::uint64_t seed) {
  Random random(seed, 0x6f70656e62u);
  std::vector<std::size_t> pods(workload.demands.size());
  double asked = 0.0;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    pods[i] = i;
    asked += static_cast<double>(workload.demands[i].gpus().value);
  }
  while (asked < kArrived * workload.capacity) {
    pods.push_back(random.below64(workload.demands.size()));
    asked += static_cast<double>(workload.demands[pods.back()].gpus().value);
  }
  random.shuffle(pods);
  std::vector<Job> jobs;
  for (const std::size_t pod : pods) {
    const PlacementDemand& demand = workload.demands[pod];
    Job job;
    job.id = static_cast<std::int64_t>(jobs.size());
    job.submit_s = static_cast<double>(jobs.size());
    job.work = 1e15;
    job.requested = demand.gpus();
    job.max_gpus = std::max(1, demand.devices);
    job.demand.cpu = demand.cpu;
    job.demand.memory_mib = demand.memory_mib;
    for (std::size_t t = 0; t < job.type_speed.size(); ++t)
      job.type_speed[t] = (demand.types >> t & 1u) != 0 ? 1.0 : 0.0;
    jobs.push_back(job);
  }
  return jobs;
}

/// Percent of the GPUs that are allocated when all have come, mean over the seeds.
template <class Make>
double allocated(const Workload& workload, const Make& make) {
  ListOptions drop;
  drop.when_blocked = WhenBlocked::kDrop;
  PlatformConfig config;
  config.horizon_s = 1e9;
  double sum = 0.0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<Job> jobs = draw(workload, static_cast<std::uint64_t>(seed));
    auto placing = make(static_cast<std::uint64_t>(seed));
    using Placing = decltype(placing);
    const auto times =
        run_peer(workload.platform, jobs,
                 ListDispatcher<ArrivalJobOrder, Placing>(drop, {}, std::move(placing)), config);
    double placed = 0.0;
    for (const Job& job : jobs)
      if (times.at(job.id).started) placed += static_cast<double>(job.requested.value);
    sum += 100.0 * placed / workload.capacity;
  }
  return sum / kSeeds;
}

}  // namespace

PeerChecks check_fgd(const PeerFolders& folders) {
  auto checks = check_fragmentation(folders.golden + "/fgd_frag_unit.json");
  if (!checks) return checks;
  const std::string openb = folders.traces + "/openb/";
  const auto node_text = read_text_file_or_gzip(openb + "openb_node_list_gpu_node.csv");
  if (!node_text) return node_text.error();
  auto nodes = parse_openb_node_list(*node_text, "openb_node_list_gpu_node.csv");
  if (!nodes) return nodes.error();
  auto platform = openb_platform(std::move(*nodes));
  if (!platform) return platform.error();
  Workload workload;
  workload.platform = std::move(*platform);
  workload.capacity = 1000.0 * static_cast<double>(workload.platform.devices());

  for (const std::string list : {"openb_pod_list_default", "openb_pod_list_gpuspec33"}) {
    const auto pod_text = read_text_file_or_gzip(openb + list + ".csv");
    if (!pod_text) return pod_text.error();
    const auto pods = parse_openb_pods(*pod_text, list + ".csv");
    if (!pods) return pods.error();
    workload.demands.clear();
    for (const PodRequest& pod : *pods) workload.demands.push_back(demand_of(workload.platform, pod));
    const auto mix = typical_mix(workload.demands);
    const std::pair<std::string, double> ours[] = {
        {"01-Random", allocated(workload, [](std::uint64_t seed) { return RandomPlacement(seed); })},
        {"05-BestFit", allocated(workload, [](std::uint64_t) { return ScoredPlacement<BestFitScoring>(); })},
        {"06-FGD", allocated(workload, [&](std::uint64_t) {
           return ScoredPlacement<FragmentationScoring>(FragmentationScoring(mix));
         })}};
    for (const auto& mine : ours) {
      const std::string& policy = mine.first;
      const double percent = mine.second;
      PeerCheck check{.peer = "P6 FGD",
                      .what = list.substr(15) + " " + policy.substr(3),
                      .unit = "% of GPUs",
                      .tolerance = 1.0};
      const auto status =
          for_each_golden(folders.golden + "/fgd_expected_default.csv", [&](Csv& csv) -> Status {
            if (csv.text("workload") != list || csv.text("policy") != policy ||
                csv.text("metric") != "gpu_alloc_pct" || csv.text("arrived_pct_of_capacity") != "130")
              return {};
            const auto expected = golden_number(csv, "mean_10_seeds");
            if (!expected) return expected.error();
            check.compare(percent, *expected, "allocated");
            return {};
          });
      if (!status) return status.error();
      if (check.compared != 1)
        return Error{ErrorCode::kParse, "fgd_expected_default.csv: " + std::to_string(check.compared) +
                                            " rows for " + list + " " + policy};
      checks->push_back(std::move(check));
    }
  }
  return checks;
}

}  // namespace lab
