// Peers that train networks on GPUs: Muri (P2), Tiresias (P3), DeepRM (P4).

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/slot_window.hpp"
#include "mara/simulation/muri_overhead.hpp"
#include "peer_run.hpp"

namespace lab {

using namespace mara;  // NOLINT: the comparison speaks mara's words

namespace {

PeerChecks compared(const std::string& golden, std::vector<PeerColumn>& columns) {
  if (auto status = compare_columns(golden, columns); !status) return status.error();
  std::vector<PeerCheck> checks;
  for (PeerColumn& column : columns) checks.push_back(std::move(column.check));
  return checks;
}

}  // namespace

PeerChecks check_muri(const PeerFolders& folders) {
  const Platform platform = make_platform(8, 8);
  TraceReadOptions options;
  options.muri_run_time = MuriRunTime::kIterations;
  const auto jobs =
      peer_jobs(folders.traces + "/philly/muri_trace3.csv", TraceFormat::kMuri, platform, options);
  if (!jobs) return jobs.error();
  const auto overhead = MuriOverhead::make(jobs->models);
  if (!overhead) return overhead.error();

  ListOptions repack;
  repack.preemption = Preemption::kRepack;
  std::vector<PeerColumn> columns;
  const auto add = [&](const std::string& name, const auto& scheduler) {
    columns.push_back({name, run_peer(platform, jobs->jobs, scheduler, {}, *overhead), {}});
    columns.push_back({name + "0", run_peer(platform, jobs->jobs, scheduler), {}});
  };
  add("srtf", ListDispatcher<ShortestRemainingOrder, Consolidated>(repack));
  add("srsf", ListDispatcher<ShortestServiceOrder, Consolidated>(repack));
  add("las", DiscretisedLas<AnyDevices>({3250.0, 7200.0}));
  for (PeerColumn& column : columns)
    column.check = {.peer = "P2 Muri", .what = column.name, .unit = "s", .tolerance = 1e-3};
  return compared(folders.golden + "/muri_jobs_trace3.csv", columns);
}

PeerChecks check_tiresias(const PeerFolders& folders) {
  const Platform platform = make_platform(4, 4);
  const auto jobs = peer_jobs(folders.traces + "/tiresias/60_job.csv", TraceFormat::kTiresias, platform);
  if (!jobs) return jobs.error();
  ListOptions skip, wait, repack;
  wait.when_blocked = WhenBlocked::kWait;
  repack.preemption = Preemption::kRepack;
  std::vector<PeerColumn> columns;
  const auto add = [&](const std::string& name, const auto& scheduler) {
    columns.push_back({name, run_peer(platform, jobs->jobs, scheduler), {}});
    columns.back().check = {.peer = "P3 Tiresias", .what = name, .unit = "s", .tolerance = 1e-6};
  };
  add("fifo-count", ListDispatcher<ArrivalJobOrder, AnyDevices>(wait));
  add("fjf-count", ListDispatcher<ArrivalJobOrder, AnyDevices>(skip));
  add("shortest-count", ListDispatcher<ShortestRemainingOrder, AnyDevices>(repack));
  add("shortest-gpu-count", ListDispatcher<ShortestServiceOrder, AnyDevices>(repack));
  add("fifo-yarn", ListDispatcher<ArrivalJobOrder, Consolidated>(wait));
  add("fjf-yarn", ListDispatcher<ArrivalJobOrder, Consolidated>(skip));
  return compared(folders.golden + "/tiresias_60jobs_4nodes_x4gpu.csv", columns);
}

PeerChecks check_deeprm(const PeerFolders& folders) {
  // One node; its ten slots of either resource are ten cores and ten times 1000 MiB.
  constexpr std::int64_t kSlots = 10, kMibPerSlot = 1000;
  Platform platform;
  platform.nodes.push_back(
      {.name = "machine", .cpu = Milli::whole(kSlots), .memory_mib = kSlots * kMibPerSlot});

  struct Row {
    Job job;
    double sjf_start, packer_start;
  };
  std::map<std::int64_t, std::vector<Row>> episodes;
  auto status = for_each_golden(folders.golden + "/deeprm_rate0.3.csv", [&](Csv& csv) -> Status {
    std::array<double, 8> values{};
    const std::array<const char*, 8> names{"episode", "job_id", "enter",     "len",
                                           "res0",    "res1",   "sjf_start", "packer_start"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto value = golden_number(csv, names[i]);
      if (!value) return value.error();
      values[i] = *value;
    }
    Row row{.job = {}, .sjf_start = values[6], .packer_start = values[7]};
    row.job.id = static_cast<std::int64_t>(values[1]);
    row.job.submit_s = values[2];
    row.job.work = values[3];
    row.job.requested = Milli{0};
    row.job.demand.cpu = Milli::whole(static_cast<std::int64_t>(values[4]));
    row.job.demand.memory_mib = static_cast<std::int64_t>(values[5]) * kMibPerSlot;
    episodes[static_cast<std::int64_t>(values[0])].push_back(std::move(row));
    return {};
  });
  if (!status) return status.error();

  std::vector<PeerCheck> checks{{.peer = "P4 DeepRM", .what = "sjf", .unit = "steps"},
                                {.peer = "P4 DeepRM", .what = "packer", .unit = "steps"}};
  for (const auto& [episode, rows] : episodes) {
    std::vector<Job> jobs;
    for (const Row& row : rows) jobs.push_back(row.job);
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return a.submit_s < b.submit_s; });
    const auto sjf = run_peer(platform, jobs, SlotWindow<ShortnessScore>(10, 60));
    const auto packer = run_peer(platform, jobs, SlotWindow<AlignmentScore>(10, 60));
    for (const Row& row : rows) {
      const std::string label = "episode " + std::to_string(episode) + " job " + std::to_string(row.job.id);
      checks[0].compare(sjf.at(row.job.id).start_s, row.sjf_start, label);
      checks[1].compare(packer.at(row.job.id).start_s, row.packer_start, label);
    }
  }
  return checks;
}

}  // namespace lab
