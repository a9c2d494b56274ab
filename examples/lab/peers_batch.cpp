// Peers from high-performance computing: Batsim (P1) and RLScheduler (P5).

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mara/schedule/conservative_backfill.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "peer_run.hpp"

namespace lab {

using namespace mara;  // NOLINT: the comparison speaks mara's words

namespace {

/// "0 4-6" as in Batsim's outputs.
std::string ranges(const std::vector<std::uint32_t>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t last = i;
    while (last + 1 < nodes.size() && nodes[last + 1] == nodes[last] + 1) ++last;
    text += (text.empty() ? "" : " ") + std::to_string(nodes[i]);
    if (last > i) text += "-" + std::to_string(nodes[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

PeerChecks check_batsim(const PeerFolders& folders) {
  const Platform platform = make_platform(32, 1, "processor");
  const auto jobs =
      peer_jobs(folders.traces + "/hpc/batsim_medium_late_801.csv", TraceFormat::kBatsim, platform);
  if (!jobs) return jobs.error();
  ListOptions wait;
  wait.when_blocked = WhenBlocked::kWait;
  const std::map<std::int64_t, PeerTimes> ours[] = {
      run_peer(platform, jobs->jobs, ListDispatcher<ArrivalJobOrder, AnyDevices, EasyBackfill>(wait)),
      run_peer(platform, jobs->jobs, ConservativeBackfill<ArrivalJobOrder, AnyDevices>())};
  const std::string names[] = {"easy", "conservative"};
  std::vector<PeerCheck> checks;
  for (const std::string& name : names) {
    checks.push_back({.peer = "P1 Batsim", .what = name + " starts", .unit = "s", .tolerance = 1e-6});
    checks.push_back({.peer = "P1 Batsim", .what = name + " machines", .unit = ""});
  }
  const auto status = for_each_golden(
      folders.golden + "/batsim_medium_late_801_easy_conservative.csv", [&](Csv& csv) -> Status {
        const auto id = csv.integer("job_id", 0, INT64_MAX);
        if (!id) return id.error();
        const std::string label = "job " + std::to_string(*id);
        for (std::size_t i = 0; i < 2; ++i) {
          const auto start = golden_number(csv, names[i] + "_start");
          if (!start) return start.error();
          const auto found = ours[i].find(*id);
          const PeerTimes times = found == ours[i].end() ? PeerTimes{} : found->second;
          checks[2 * i].compare(times.started ? times.start_s : std::nan(""), *start, label);
          checks[2 * i + 1].compare(ranges(times.nodes), std::string(csv.text(names[i] + "_machines")),
                                    label);
        }
        return {};
      });
  if (!status) return status.error();
  return checks;
}

PeerChecks check_rlscheduler(const PeerFolders& folders) {
  const Platform platform = make_platform(2, 64, "processor");
  TraceReadOptions options;
  options.time_divisor = 4;
  options.swf_negative_run_s = 10.0;
  auto all =
      peer_jobs(folders.traces + "/hpc/NASA-iPSC-1993-3.1-cln.swf.gz", TraceFormat::kSwf, platform, options);
  if (!all) return all.error();
  std::sort(all->jobs.begin(), all->jobs.end(), [](const Job& a, const Job& b) { return a.id < b.id; });
  constexpr std::size_t kFirst = 2000, kCount = 1024;
  if (all->jobs.size() < kFirst + kCount)
    return Error{ErrorCode::kInvalidArgument,
                 "NASA log: " + std::to_string(all->jobs.size()) + " jobs, the window needs 3024"};
  std::vector<Job> jobs(all->jobs.begin() + kFirst, all->jobs.begin() + kFirst + kCount);
  for (Job& job : jobs)  // a log without a request asks for the run time
    if (!std::isfinite(job.estimate_s)) job.estimate_s = job.work / job.requested.as_double();

  PlatformConfig config;
  config.batch = EventBatch::kArrivalsFirst;
  ListOptions list;
  list.when_blocked = WhenBlocked::kWait;
  list.commit_to_head = true;
  EasyBackfill backfill;
  backfill.strict = backfill.frozen = backfill.by_submission = true;
  backfill.may_outlast = false;
  std::vector<PeerColumn> columns;
  const auto add = [&]<class Order>(const std::string& name, Order order) {
    using Plain = ListDispatcher<Order, AnyDevices>;
    using Backfilling = ListDispatcher<Order, AnyDevices, EasyBackfill>;
    columns.push_back({name, run_peer(platform, jobs, Plain(list, order), config), {}, true});
    columns.push_back(
        {name + "_bf", run_peer(platform, jobs, Backfilling(list, order, {}, backfill), config), {}, true});
  };
  add("fcfs", ArrivalJobOrder{});
  add("sjf", ShortestJobOrder{});
  add("f1", F1Order{});
  for (PeerColumn& column : columns)
    column.check = {.peer = "P5 RLScheduler", .what = column.name, .unit = "s", .tolerance = 0.0};
  if (auto status = compare_columns(folders.golden + "/rls_jobs_nasa_div4_s2000_n1024.csv", columns); !status)
    return status.error();
  std::vector<PeerCheck> checks;
  for (PeerColumn& column : columns) checks.push_back(std::move(column.check));
  return checks;
}

}  // namespace lab
