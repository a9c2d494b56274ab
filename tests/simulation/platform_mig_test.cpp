// Slices in the node-level engine: S15, speeds, logs, interference, what is refused.
#include "mara/cluster/platform_mig.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/schedule/backfill.hpp"
#include "mara/schedule/conservative_backfill.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/schedule/tetris_dispatcher.hpp"
#include "mara/simulation/interference.hpp"
#include "mara/simulation/platform_log.hpp"
#include "mara/simulation/platform_log_binary.hpp"
#include "mara/simulation/platform_log_check.hpp"
#include "mara/simulation/platform_metrics.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

Platform sliced(int nodes, int devices) {
  Platform platform = make_platform(nodes, devices, "a100");
  platform.types[0].mig = mig_a100_40gb();
  return platform;
}
/// A job that would run `seconds` on one whole device per slice.
Submission on_slices(const Platform& platform, std::int64_t id, double submit_s, const char* profile,
                     double seconds, int count = 1) {
  Submission submission;
  submission.job = job(id, submit_s, count, seconds);
  submission.mig_profile = find_mig_profile(platform, profile);
  return submission;
}
Submission whole(std::int64_t id, double submit_s, int devices, double seconds) {
  Submission submission;
  submission.job = job(id, submit_s, devices, seconds);
  return submission;
}
/// 1 / (1 + neighbours).
struct Count {
  static constexpr bool kNone = false;
  double factor(const Platform&, const ActiveJob&, std::uint32_t,
                std::span<const ActiveJob* const> neighbours) const noexcept {
    return 1.0 / (1.0 + static_cast<double>(neighbours.size()));
  }
};
std::string error_of(const Platform& platform, const std::vector<Submission>& list) {
  const Recorder recorder = run(platform, list, ListDispatcher<ArrivalJobOrder>());
  return recorder.run.error ? recorder.run.error->message : std::string();
}

}  // namespace

TEST_CASE("S15 in the engine: 1g, 1g, 1g, 4g run at once, each at its part of the compute slices") {
  const Platform platform = sliced(1, 1);
  const std::vector<Submission> list{on_slices(platform, 1, 0, "1g", 10), on_slices(platform, 2, 0, "1g", 10),
                                     on_slices(platform, 3, 0, "1g", 10), on_slices(platform, 4, 0, "4g", 10),
                                     on_slices(platform, 5, 0, "1g", 10), whole(6, 1, 1, 10)};
  const Recorder r = run(platform, list, ListDispatcher<ArrivalJobOrder>());
  std::set<int> ones;
  for (const std::int64_t id : {1, 2, 3}) {
    CHECK(r.start(id) == 0.0);
    CHECK(r.end(id) == 10.0 / (1.0 / 7.0));
    ones.insert(r.of(id).last.shares.at(0).start);
  }
  CHECK(ones == std::set<int>{4, 5, 6});
  CHECK(r.end(4) == 10.0 / (4.0 / 7.0));
  CHECK(r.of(4).last.shares.at(0).start == 0);
  CHECK(r.start(5) == r.end(4));
  CHECK(r.of(5).attained_gpu_s == Approx(70.0 * 0.142));
  CHECK(r.start(6) == r.end(5));  // a whole device only when no slice is in use
  CHECK(r.end(6) == r.end(5) + 10.0);
}

TEST_CASE("S15 in the engine: 3g and 3g leave no room for a 1g, whoever ends first") {
  const Platform platform = sliced(1, 1);
  for (const double first : {7.0, 14.0}) {
    const Recorder r =
        run(platform,
            {on_slices(platform, 1, 0, "3g", first), on_slices(platform, 2, 0, "3g", 21 - first),
             on_slices(platform, 3, 1, "1g", 5), on_slices(platform, 4, 2, "3g", 6)},
            ListDispatcher<ArrivalJobOrder>());
    std::set<int> starts{r.of(1).last.shares.at(0).start, r.of(2).last.shares.at(0).start};
    CHECK(starts == std::set<int>{0, 4});
    CHECK(r.start(3) == std::min(r.end(1), r.end(2)));
    CHECK(r.start(4) == std::max(r.end(1), r.end(2)));  // the 1g is where a 3g would be
    CHECK(r.end(4) == Approx(r.start(4) + 14.0));
  }
}

TEST_CASE("Tetris gives slices too, several of them on one node") {
  const Platform platform = sliced(1, 2);
  const Recorder r =
      run(platform,
          {on_slices(platform, 1, 0, "3g", 9, 3), on_slices(platform, 2, 0, "3g", 6), whole(3, 1, 1, 10)},
          TetrisDispatcher());
  CHECK(r.start(1) == 0.0);
  CHECK(r.start(2) == 0.0);
  CHECK(r.of(1).last.shares.size() == 3);
  CHECK(r.start(3) == r.end(1));  // of whose slices each device has one
}

TEST_CASE("Speeds: the type's and the slice's, times the speed-up at the number of slices") {
  Platform platform = sliced(1, 2);
  platform.types.push_back({.name = "a30"});
  platform.types[1].mig = mig_a30();
  platform.nodes.push_back(platform.nodes[0]);
  platform.nodes[1].type = 1;
  Submission one = on_slices(platform, 1, 0, "2g", 100), several = on_slices(platform, 2, 0, "1g", 100, 4);
  one.job.type_speed = {0.0, 0.5};
  several.job.type_speed = {2.0, 0.0};
  several.job.speed_up.parameter = 0.5;
  several.job.work = 100.0;
  const Recorder r = run(platform, {one, several}, ListDispatcher<ArrivalJobOrder>());
  CHECK(r.of(1).last.shares.at(0).node == 1);
  CHECK(r.end(1) == 100.0 / (0.5 * (2.0 / 4.0)));
  CHECK(r.of(2).last.device_count() == 4);
  CHECK(r.end(2) == Approx(100.0 / (2.0 / 7.0 * 2.0)));
  CHECK(*ideal_s(platform, one.job, one.mig_profile) == r.end(1));
  CHECK(*ideal_s(platform, several.job, several.mig_profile) == Approx(r.end(2)));
  CHECK(asked_gpus(platform, several.job, several.mig_profile) == 0.568);
  CHECK_FALSE(ideal_s(platform, one.job, find_mig_profile(platform, "7g")).has_value());
}

TEST_CASE("A slice has its part of the device's memory") {
  Platform platform = sliced(1, 1);
  platform.types[0].memory_mib = 40960;
  Submission fits = on_slices(platform, 1, 0, "3g", 1), large = on_slices(platform, 2, 0, "2g", 1);
  fits.job.demand.gpu_memory_mib = large.job.demand.gpu_memory_mib = 20480;
  const Recorder r = run(platform, {fits, large}, ListDispatcher<ArrivalJobOrder>());
  CHECK(r.end(1) > 0.0);
  CHECK_FALSE(r.of(2).started);
  CHECK(r.run.stalled);
}

TEST_CASE("What makes no sense on sliced types is refused by job, field and value") {
  Platform platform = sliced(1, 1);
  CHECK(error_of(platform, {whole(1, 0, 1, 1)}).empty());
  Submission bad = on_slices(platform, 7, 0, "1g", 1);
  bad.mig_profile = 5;
  CHECK(error_of(platform, {bad}) == "job 7: mig_profile: 5 is the number of no profile of the platform");
  CHECK(error_of(make_platform(1, 1), {on_slices(platform, 7, 0, "1g", 1)}) ==
        "job 7: mig_profile: 0 is the number of no profile of the platform");
  bad = on_slices(platform, 7, 0, "2g", 1);
  bad.job.requested = Milli{500};
  CHECK(error_of(platform, {bad}) == "job 7: requested (milli) is 500, no number of slices (mig_profile 1)");
  bad.job.requested = Milli{0};
  CHECK(error_of(platform, {bad}) == "job 7: requested (milli) is 0, no number of slices (mig_profile 1)");
  Submission part;
  part.job = fraction(8, 0, 500, 1);
  CHECK(error_of(platform, {part}) ==
        "job 8: requested (milli) is 500, a fraction, but device type 'a100' is given whole or in slices "
        "(mig_profile)");
  // Where there is another type, it goes there.
  platform.types.push_back({.name = "t4"});
  platform.nodes.push_back(platform.nodes[0]);
  platform.nodes[1].type = 1;
  const Recorder r = run(platform, {part}, ListDispatcher<ArrivalJobOrder>());
  CHECK(r.of(8).last.shares.at(0).node == 1);
}

TEST_CASE("Dispatch: a job on slices starts on just those that it asked for") {
  struct Tries {
    std::vector<std::string> said;
    static std::string_view name() noexcept { return "tries"; }
    void enter(Dispatch&, JobSlot) {}
    void leave(Dispatch&, JobSlot) {}
    void decide(Dispatch& dispatch) {
      if (!dispatch.running().empty()) return;
      for (const char* text : {"0:0", "0:0*142%0@0", "0:0*285%1@1", "0:0*285%1@2 0:0*285%1@4", "0:0*286%1@2",
                               "0:0*285", "0:0*285%1@2"})
        said.push_back(std::string(text) +
                       (dispatch.start(0, parse_placement(text).value()) ? " yes" : " no"));
    }
  } tries;
  const Platform platform = sliced(1, 1);
  run(platform, {on_slices(platform, 1, 0, "2g", 1)}, tries);
  CHECK(tries.said == std::vector<std::string>{"0:0 no", "0:0*142%0@0 no", "0:0*285%1@1 no",
                                               "0:0*285%1@2 0:0*285%1@4 no", "0:0*286%1@2 no", "0:0*285 no",
                                               "0:0*285%1@2 yes"});
}

TEST_CASE("Slices do not share: time slicing and bandwidth of neighbours do not reach them") {
  Platform platform = sliced(1, 1);
  platform.types[0].bandwidth_gb_s = 800;
  platform.nodes[0].pcie_gb_s = 20;
  Submission a = on_slices(platform, 1, 0, "3g", 30), b = on_slices(platform, 2, 0, "3g", 30);
  const ListDispatcher<ArrivalJobOrder> fcfs;
  auto turns = run(platform, {a, b}, ListDispatcher<ArrivalJobOrder>(), {}, NoOverhead{}, TimeSharing{});
  CHECK(turns.end(1) == Approx(70.0));
  CHECK(turns.end(2) == Approx(70.0));
  a.job.profile = 0;
  b.job.profile = 1;
  // Half of the memory slices, half of the bandwidth: 400 of the 500 that a needs.
  auto memory = run(platform, {a, b}, ListDispatcher<ArrivalJobOrder>(), {}, NoOverhead{},
                    BandwidthInterference::make({500, 300}).value());
  CHECK(memory.end(1) == Approx(70.0 / 0.8));
  CHECK(memory.end(2) == Approx(70.0));
  // PCIe belongs to the node.
  auto link = run(platform, {a, b}, ListDispatcher<ArrivalJobOrder>(), {}, NoOverhead{},
                  BandwidthInterference::make({}, {15, 25}).value());
  CHECK(link.end(1) == Approx(140.0));
  // Several slices on a node are one neighbour, and no distance apart.
  const std::vector<Submission> pair{on_slices(platform, 1, 0, "1g", 10, 2),
                                     on_slices(platform, 2, 0, "1g", 10, 2)};
  auto counted = run(platform, pair, ListDispatcher<ArrivalJobOrder>(), {}, NoOverhead{}, Count{},
                     TopologyNetwork{0.5, 0.25, 0.125});
  CHECK(counted.end(1) == Approx(140.0));
}

TEST_CASE("Outages and preemption take slices and give them back") {
  const Platform platform = sliced(2, 1);
  PlatformConfig config;
  config.outages = {{0, 10.0, 20.0, Outage::Kind::kFailure}};
  const Recorder r = run(platform, {on_slices(platform, 1, 0, "4g", 40), on_slices(platform, 2, 0, "7g", 12)},
                         ListDispatcher<ArrivalJobOrder>(), config);
  CHECK(r.of(1).failures == 1);
  CHECK(r.start(2) == 0.0);
  CHECK(r.end(2) == 12.0);
  REQUIRE(r.intervals_of(1).size() == 2);
  CHECK(r.intervals_of(1)[1].start_s == 12.0);
  CHECK(r.end(1) == Approx(2.0 + 70.0));

  ListOptions keep;
  keep.preemption = Preemption::kKeep;
  const Recorder srtf = run(platform,
                            {on_slices(platform, 1, 0, "7g", 100), on_slices(platform, 2, 0, "7g", 90),
                             on_slices(platform, 3, 1, "1g", 1)},
                            ListDispatcher<ShortestRemainingOrder>(keep));
  CHECK(srtf.start(3) == 1.0);
  CHECK(srtf.of(1).preemptions == 1);
  CHECK(srtf.end(1) == Approx(107.0));
}

TEST_CASE("Backfilling beside slices: the head's reservation is of slices") {
  const Platform platform = sliced(1, 1);
  // 4g until 70; the head wants 7g; a 3g that ends in time may overtake, a longer one not.
  std::vector<Submission> list{on_slices(platform, 1, 0, "4g", 40), on_slices(platform, 2, 1, "7g", 10),
                               on_slices(platform, 3, 2, "3g", 40), on_slices(platform, 4, 3, "3g", 20)};
  const double parts[] = {4.0 / 7, 1.0, 3.0 / 7, 3.0 / 7};
  for (std::size_t i = 0; i < list.size(); ++i) list[i].job.estimate_s = list[i].job.work / parts[i];
  ListOptions wait;
  wait.when_blocked = WhenBlocked::kWait;
  const Recorder easy =
      run(platform, list, ListDispatcher<ArrivalJobOrder, Consolidated, EasyBackfill>(wait));
  CHECK(easy.start(4) == 3.0);
  CHECK(easy.start(2) == Approx(70.0));
  CHECK(easy.start(3) == Approx(80.0));
  const Recorder plan = run(platform, list, ConservativeBackfill<ArrivalJobOrder, Consolidated>());
  CHECK(plan.start(4) == 3.0);
  CHECK(plan.start(2) == Approx(70.0));
}

TEST_CASE("placement text of slices: there and back") {
  for (const std::string text : {"0:3*428%2@4", "0:0%4@0/100/5 0:1*142%0@6 2:0-7", "1:0-1*142%511@31"}) {
    const auto placement = parse_placement(text);
    INFO(text);
    REQUIRE(placement.has_value());
    CHECK(placement_text(*placement) == text);
  }
  const Placement two = parse_placement("0:0*142%0@0 0:0*142%0@1 1:0*142%0@0").value();
  CHECK(nodes_text(two) == "0-1");
  CHECK(nodes_text(parse_placement("3:0*142%0@0 3:0*142%0@1").value()) == "3");
  for (const char* bad : {"0:0%", "0:0%1", "0:0%1@", "0:%1@0", "0:0%-1@0", "0:0%1@32", "0:0%512@0",
                          "0:0%1@0*142", "0:0 0:1", "0:0%0@0 0:1", "1:0%0@0 0:0%0@0"}) {
    INFO(bad);
    CHECK_FALSE(parse_placement(bad).has_value());
  }
}

TEST_CASE("Logs of slices replay to the same measures and records, and obey the rules") {
  Platform platform = sliced(2, 2);
  platform.types.push_back({.name = "a30", .memory_mib = 24000, .busy_w = 165});
  platform.types[1].mig = mig_a30();
  platform.types[0].memory_mib = 40000;
  platform.nodes.push_back(platform.nodes[0]);
  platform.nodes[2].type = 1;
  for (Node& node : platform.nodes) node.cpu = Milli::whole(8);
  static constexpr const char* kProfiles[] = {"1g", "2g", "3g", "4g", "7g"};
  std::size_t moved = 0, several = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::vector<Submission> list;
    double now = 0.0;
    for (std::int64_t id = 0; id < 60; ++id) {
      now += random.uniform() * 3.0;
      Submission next = random.below(5) == 0
                            ? whole(id, now, 1 + static_cast<int>(random.below(2)), 20 * random.uniform())
                            : on_slices(platform, id, now, kProfiles[random.below(5)], 20 * random.uniform(),
                                        1 + static_cast<int>(random.below(3)));
      next.job.demand.cpu = Milli{100 * random.below(20)};
      next.job.type_speed = {1.0, 0.6};
      several += next.mig_profile != kNoMigProfile && next.job.requested.value > 1000 ? 1 : 0;
      list.push_back(next);
    }
    PlatformConfig config;
    config.outages = {{1, 20.0, 40.0, Outage::Kind::kFailure}};
    config.checkpoint_interval_s = 3.0;
    ListOptions options;
    options.preemption = seed % 2 == 0 ? Preemption::kKeep : Preemption::kRepack;
    ListDispatcher<ShortestRemainingOrder, ScoredPlacement<PackingScoring>> scheduler(options);
    std::ostringstream jobs, intervals, binary(std::ios::binary);
    PlatformMeter meter(platform);
    CsvLog csv(&jobs, &intervals);
    BinaryLog packed(binary);
    LogChecker checker(platform);
    TeeSink logs(csv, packed);
    TeeSink watched(meter, checker);
    TeeSink sink(watched, logs);
    SubmissionSource source(list);
    PlatformSimulator<FixedOverhead> simulator(platform, config, FixedOverhead{0.25, 0.5, 1.0, 0.0});
    REQUIRE_FALSE(simulator.run(source, scheduler, sink).error);
    REQUIRE(csv.finish());
    REQUIRE(packed.finish());
    const Status checked = checker.check();
    INFO((checked ? "" : checked.error().message));
    REQUIRE(checked);
    const PlatformMetrics expected = meter.measure().value();
    moved += expected.preemptions + expected.migrations + expected.failures;
    CHECK(expected.finished == 60);

    const auto same = [&](const PlatformMeter& other) {
      const PlatformMetrics m = other.measure().value();
      return m.jct_s.mean == expected.jct_s.mean && m.mean_slowdown == expected.mean_slowdown &&
             m.jain == expected.jain && m.max_rho == expected.max_rho && m.mean_rho == expected.mean_rho &&
             m.gpu_utilisation == expected.gpu_utilisation && m.energy_kwh == expected.energy_kwh &&
             m.gpu_hours == expected.gpu_hours && m.type_utilisation == expected.type_utilisation &&
             m.goodput == expected.goodput;
    };
    PlatformMeter from_csv(platform), from_binary(platform);
    std::ostringstream jobs_again, intervals_again, binary_again(std::ios::binary);
    CsvLog csv_again(&jobs_again, &intervals_again);
    LogChecker csv_checker(platform);
    TeeSink csv_watched(from_csv, csv_checker);
    TeeSink csv_sink(csv_watched, csv_again);
    REQUIRE(replay_jobs_csv(jobs.str(), "jobs.csv", csv_sink));
    REQUIRE(replay_intervals_csv(intervals.str(), "intervals.csv", csv_sink));
    CHECK(same(from_csv));
    CHECK(csv_checker.check());
    CHECK(jobs_again.str() == jobs.str());
    CHECK(intervals_again.str() == intervals.str());
    BinaryLog packed_again(binary_again);
    TeeSink both(from_binary, packed_again);
    std::istringstream in(binary.str(), std::ios::binary);
    REQUIRE(replay_binary_log(in, "run.log", both));
    REQUIRE(packed_again.finish());
    CHECK(same(from_binary));
    CHECK(binary_again.str() == binary.str());
  }
  CHECK(moved > 100);
  CHECK(several > 100);
}

TEST_CASE("log: slices in the column of GPUs that are none are refused with their place") {
  const Platform platform = sliced(1, 1);
  std::ostringstream jobs;
  CsvLog log(&jobs, nullptr);
  SubmissionSource source({});
  const std::vector<Submission> list{on_slices(platform, 1, 0, "2g", 7, 2)};
  SubmissionSource one(list);
  ListDispatcher<ArrivalJobOrder> scheduler;
  PlatformSimulator<> simulator(platform, {});
  simulator.run(one, scheduler, log);
  const std::string good = jobs.str();
  REQUIRE(good.find(",2%1,") != std::string::npos);
  NullSink sink;
  REQUIRE(replay_jobs_csv(good, "jobs.csv", sink));
  for (const char* bad : {",2%,", ",%1,", ",0%1,", ",2%-1,", ",2%512,", ",1.5%1,", ",2%1%1,"}) {
    std::string text = good;
    text.replace(text.find(",2%1,"), 5, bad);
    const Status status = replay_jobs_csv(text, "jobs.csv", sink);
    INFO(bad);
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("jobs.csv:2: field 'gpus'") == 0);
  }
}

TEST_CASE("log check: broken rules of slices are named") {
  const Platform platform = sliced(1, 2);
  const auto checked = [&](const std::vector<const char*>& placements) {
    LogChecker checker(platform);
    std::vector<Job> jobs(placements.size());
    const Placement none;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].id = static_cast<std::int64_t>(i + 1);
      const Placement placement = parse_placement(placements[i]).value();
      checker.interval({&jobs[i], i, &placement, 0.0, 5.0});
      JobOutcome outcome;
      outcome.job = &jobs[i];
      outcome.sequence = i;
      outcome.finished = outcome.started = true;
      outcome.end_s = outcome.executed_s = 5.0;
      outcome.attained_gpu_s = 5.0 * placement.gpus().as_double();
      outcome.last = &none;
      checker.job(outcome);
    }
    const Status status = checker.check();
    return status ? std::string() : status.error().message;
  };
  const std::string where = "of device 0 of node '0' (0), ";
  CHECK(checked({"0:0*428%2@0", "0:0*428%2@4", "0:1"}).empty());
  CHECK(checked({"0:0*428%2@2"}) ==
        "job 1: takes a slice '3g' at 2 " + where + "where it may not begin, at 0 s");
  CHECK(checked({"0:0*428%2@4", "0:0*142%0@5"}) ==
        "job 2: takes a slice '1g' at 5 " + where + "which overlaps another, at 0 s");
  CHECK(checked({"0:0*571%3@0", "0:0*285%1@4", "0:0*142%0@6"}).empty());
  CHECK(checked({"0:0*571%3@0", "0:0*428%2@4", "0:0*142%0@6"}) ==
        "job 3: takes a slice '1g' at 6 " + where + "which overlaps another, at 0 s");
  CHECK(checked({"0:0", "0:0*142%0@6"}) ==
        "job 2: takes a slice '1g' at 6 " + where + "which is held whole, at 0 s");
  CHECK(checked({"0:0*142%0@6", "0:0"}) ==
        "job 2: takes 1000 milli of device 0 of node '0' (0), which has 858 free, at 0 s");
  CHECK(checked({"0:0*143%0@6"}) ==
        "job 1: takes a slice '1g' at 6 " + where + "as 143 milli instead of 142, at 0 s");
  CHECK(checked({"0:0*143%9@6"}) ==
        "job 1: takes a slice of profile 9 " + where + "which has no such profile, at 0 s");
  CHECK(checked({"0:0*500"}) ==
        "job 1: takes 500 milli of device 0 of node '0' (0), which is given whole or in slices, at 0 s");
}
