// Logs of a platform simulation: what is written reads back, replays to the same measures, and obeys the
// rules.

#include "mara/simulation/platform_log.hpp"

#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/simulation/platform_log_binary.hpp"
#include "mara/simulation/platform_log_check.hpp"
#include "mara/simulation/platform_metrics.hpp"
#include "mara/simulation/platform_simulator.hpp"

using namespace mara;

namespace {

const SpeedUpTable kTable{{1, 1.8, 3.1, 5.5, 9, 9, 9, 9}};

Platform mixed_platform() {
  Platform platform;
  platform.types = {{.name = "a", .idle_w = 30, .busy_w = 300, .price_per_hour = 2},
                    {.name = "b", .busy_w = 70}};
  for (int n = 0; n < 4; ++n) {
    Node node;
    node.name = "n" + std::to_string(n);
    node.type = n < 2 ? 0 : 1;
    node.devices = n == 3 ? 2 : 4;
    node.cpu = Milli::whole(8);
    node.memory_mib = 1000;
    platform.nodes.push_back(node);
  }
  return platform;
}

/// Jobs of all sorts: shares, gangs, CPU alone, dependencies, deadlines, classes, odd numbers.
struct Workload {
  std::vector<Job> jobs;
  std::vector<std::vector<std::int64_t>> after;
  std::size_t at = 0;
  bool next(Submission& next) {
    if (at == jobs.size()) return false;
    next.job = jobs[at];
    next.after = after[at++];
    return true;
  }
};

Workload random_workload(std::uint64_t seed, int count) {
  Random random(seed, 1);
  Workload workload;
  double now = 0.1;
  for (int i = 0; i < count; ++i) {
    Job job;
    job.id = 1000 - i;
    now += random.below(3) == 0 ? 0.0 : random.uniform() * 20.0;
    job.submit_s = now;
    job.work = random.uniform() * 60.0;
    const auto kind = random.below(8);
    job.requested = kind == 0   ? Milli{0}
                    : kind <= 2 ? Milli{100 + 100 * random.below(9)}
                                : Milli::whole(1 + random.below(6));
    job.max_gpus = static_cast<int>(job.requested.units());
    job.demand = {0, Milli{100 * random.below(12)}, 10 * random.below(20)};
    job.type_speed[0] = random.below(5) == 0 ? 0.0 : 1.0;
    job.type_speed[1] = 0.3 + 0.1 * random.below(5);
    if (job.requested > Milli::whole(4)) job.type_speed[0] = 1.0;
    job.speed_up = random.below(3) == 0   ? SpeedUp{SpeedUp::Kind::kTable, 1.0, &kTable}
                   : random.below(2) == 0 ? SpeedUp{SpeedUp::Kind::kAmdahl, 0.9}
                                          : SpeedUp{SpeedUp::Kind::kPower, 0.7};
    job.tenant = static_cast<int>(random.below(3));
    job.sla = static_cast<int>(random.below(2));
    if (random.below(2) == 0) job.deadline_s = now + random.uniform() * 100.0;
    job.estimate_s = 1.0 + random.uniform() * 100.0;
    workload.jobs.push_back(job);
    workload.after.emplace_back();
    if (i > 4 && random.below(4) == 0)
      workload.after.back().push_back(1000 - i + 1 + static_cast<std::int64_t>(random.below(4)));
  }
  return workload;
}

template <class Sink>
void simulate_all(const Platform& platform, std::uint64_t seed, double horizon_s, Sink& sink) {
  Workload workload = random_workload(seed, 60);
  PlatformConfig config;
  config.dependencies = true;
  config.horizon_s = horizon_s;
  config.outages = {{1, 50.0, 90.0, Outage::Kind::kFailure}, {2, 60.0, 75.0, Outage::Kind::kMaintenance}};
  config.checkpoint_interval_s = 7.0;
  ListOptions options;
  options.preemption = seed % 2 == 0 ? Preemption::kKeep : Preemption::kRepack;
  ListDispatcher<ShortestRemainingOrder> scheduler(options);
  PlatformSimulator<FixedOverhead> simulator(platform, config, FixedOverhead{0.25, 0.5, 1.0, 0.0});
  simulator.run(workload, scheduler, sink);
}

/// All measures as text, to the last bit.
std::string fingerprint(const PlatformMeter& meter) {
  const auto measured = meter.measure();
  REQUIRE(measured.has_value());
  const PlatformMetrics& m = *measured;
  std::string text;
  const auto add = [&](std::optional<double> value) {
    text += value ? format_number(*value) + " " : "none ";
  };
  for (const TimeSummary* times : {&m.jct_s, &m.queueing_s})
    for (const auto& value : {times->mean, times->p50, times->p95, times->p99}) add(value);
  for (const auto& value :
       {m.mean_slowdown, m.mean_bounded_slowdown, m.jain, m.mean_rho, m.max_rho, m.mean_jobs, m.makespan_s,
        m.gpu_utilisation, m.cpu_utilisation, m.memory_utilisation, m.goodput, m.overhead_share,
        m.preemptions_per_job, m.migrations_per_job, m.failures_per_job, m.deadline_miss_rate, m.tenant_jain})
    add(value);
  for (const double value : {m.first_submit_s, m.end_s, m.gpu_hours, m.energy_kwh, m.cost}) add(value);
  for (const auto& value : m.type_utilisation) add(value);
  for (const std::uint64_t value : {m.finished, m.unfinished, m.rejected, m.deadline_jobs, m.deadline_misses})
    text += std::to_string(value) + " ";
  for (const ClassMetrics& c : m.classes) {
    text += std::to_string(c.sla) + " " + std::to_string(c.jobs) + " ";
    add(c.mean_jct_s);
    add(c.p99_jct_s);
  }
  for (const TenantMetrics& t : m.tenants) {
    text += std::to_string(t.tenant) + " " + std::to_string(t.jobs) + " ";
    add(t.gpu_hours);
    add(t.mean_jct_s);
    add(t.mean_speed);
  }
  return text;
}

Placement placement_of(const std::string& text) {
  const auto placement = parse_placement(text);
  INFO(text);
  REQUIRE(placement.has_value());
  return *placement;
}

}  // namespace

TEST_CASE("placement text: there and back") {
  for (const char* text : {"", "0:0-7", "0:0-7 3:0-1+4/4000/16384", "2:5*460", "7:/500/20", "1:0+2+4+6+63",
                           "0:0 1:0 2:0", "5:1*1/0/7"})
    CHECK(placement_text(placement_of(text)) == text);
  CHECK(nodes_text(placement_of("0:0 4:0 5:0 6:0 9:1")) == "0 4-6 9");
  CHECK(nodes_text(placement_of("")).empty());
  for (const char* text : {" ", "0", "0:0  1:0", "0:64", "0:3-1", "0:0*0", "0:0*1001", "0:0/1", "0:0/1/",
                           "x:0", "-1:0", "1:0 0:0", "0:0 0:1", "0:0+", "0:0-", "0:0,1", "99999999999:0"}) {
    INFO(text);
    CHECK(!parse_placement(text).has_value());
  }
}

TEST_CASE("log: columns of the jobs") {
  const Platform platform = make_platform(2, 4);
  std::ostringstream jobs, intervals;
  CsvLog log(&jobs, &intervals, "p,1");
  Job job;
  job.id = 5;
  job.submit_s = 1.5;
  job.work = 30;
  job.requested = Milli::whole(6);
  job.type_speed[0] = 1;
  const Placement placement = placement_of("0:0-3 1:0-1");
  log.interval({&job, 2, &placement, 2.0, 7.0});
  JobOutcome outcome;
  outcome.job = &job;
  outcome.sequence = 2;
  outcome.started = outcome.finished = true;
  outcome.entered_s = 1.5;
  outcome.start_s = 2;
  outcome.end_s = 7;
  outcome.executed_s = 5;
  outcome.attained_gpu_s = 30;
  outcome.last = &placement;
  log.job(outcome);
  outcome.started = outcome.finished = false;
  outcome.executed_s = outcome.attained_gpu_s = 0;
  const Placement none;
  outcome.last = &none;
  log.job(outcome);
  REQUIRE(log.finish().has_value());
  CHECK(jobs.str() ==
        "policy," + std::string(kPlatformJobColumns) +
            "\n\"p,1\",5,1.5,2,7,0-1,6,finished,7,2,1.5,5,30,0,0,0,0,0,6,30,1,power:1,0,0,,0:0-3 1:0-1\n"
            "\"p,1\",5,1.5,,,,,unfinished,7,2,1.5,0,0,0,0,0,0,0,6,30,1,power:1,0,0,,\n");
  CHECK(intervals.str() == "policy,sequence,job,start,end,placement\n\"p,1\",2,5,2,7,0:0-3 1:0-1\n");
}

TEST_CASE("log: replays to the same measures to the last bit, and obeys the rules") {
  const Platform platform = mixed_platform();
  std::size_t preempted = 0, unfinished = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    std::ostringstream jobs, intervals, binary(std::ios::binary);
    PlatformMeter meter(platform);
    CsvLog csv(&jobs, &intervals, seed % 3 == 0 ? "x" : "");
    BinaryLog packed(binary);
    LogChecker checker(platform);
    const Workload workload = random_workload(seed, 60);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
      checker.waits_for(workload.jobs[i].id, workload.after[i]);
    TeeSink logs(csv, packed);
    TeeSink watched(meter, checker);
    TeeSink sink(watched, logs);
    simulate_all(platform, seed, seed % 4 == 1 ? 200.0 : std::numeric_limits<double>::infinity(), sink);
    REQUIRE(csv.finish().has_value());
    REQUIRE(packed.finish().has_value());
    const auto checked = checker.check();
    INFO((checked ? "" : checked.error().message));
    REQUIRE(checked.has_value());
    const std::string expected = fingerprint(meter);
    preempted += meter.measure()->preemptions;
    unfinished += meter.measure()->unfinished;

    PlatformMeter from_csv(platform);
    auto replayed = replay_jobs_csv(jobs.str(), "jobs.csv", from_csv, seed % 3 == 0 ? "x" : "");
    INFO((replayed ? "" : replayed.error().message));
    REQUIRE(replayed.has_value());
    replayed = replay_intervals_csv(intervals.str(), "intervals.csv", from_csv);
    REQUIRE(replayed.has_value());
    CHECK(fingerprint(from_csv) == expected);

    PlatformMeter from_binary(platform);
    std::ostringstream again(std::ios::binary);
    BinaryLog rewritten(again);
    TeeSink both(from_binary, rewritten);
    std::istringstream in(binary.str(), std::ios::binary);
    replayed = replay_binary_log(in, "run.log", both);
    INFO((replayed ? "" : replayed.error().message));
    REQUIRE(replayed.has_value());
    CHECK(fingerprint(from_binary) == expected);
    REQUIRE(rewritten.finish().has_value());
    CHECK(again.str() == binary.str());
  }
  CHECK(preempted > 0);  // or the test would show little
  CHECK(unfinished > 0);
}

TEST_CASE("log: one policy of many") {
  const Platform platform = make_platform(1, 1);
  std::string text = "policy," + std::string(kPlatformJobColumns) + "\n";
  for (const char* policy : {"a", "b", "a"})
    text += std::string(policy) + ",0,0,0,1,0,1,finished,1,0,0,1,1,0,0,0,0,0,1,1,1,power:1,0,0,,0:0\n";
  PlatformMeter a(platform), all(platform);
  REQUIRE(replay_jobs_csv(text, "jobs.csv", a, "a").has_value());
  REQUIRE(replay_jobs_csv(text, "jobs.csv", all).has_value());
  CHECK(a.measure()->finished == 2);
  CHECK(all.measure()->finished == 3);
}

TEST_CASE("log: bad CSV is refused with its place") {
  NullSink sink;
  const std::string header(kPlatformJobColumns);
  const std::string good = "0,0,0,1,0,1,finished,1,0,0,1,1,0,0,0,0,0,1,1,1,power:1,0,0,,0:0";
  REQUIRE(replay_jobs_csv(header + "\n" + good + "\n", "j", sink).has_value());
  const auto refused = [&](const std::string& row) {
    const auto status = replay_jobs_csv(header + "\n" + row + "\n", "j", sink);
    return status ? std::string("accepted") : status.error().message;
  };
  const auto with = [&](int column, const std::string& value) {
    std::vector<std::string> fields;
    std::istringstream in(good);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    fields[static_cast<std::size_t>(column)] = value;
    std::string row;
    for (const std::string& field : fields) row += (row.empty() ? "" : ",") + field;
    return row;
  };
  CHECK(refused(with(1, "-1")) == "j:2: field 'submit': value '-1' is below 0");
  CHECK(refused(with(1, "nan")) == "j:2: field 'submit': value 'nan' is not finite");
  CHECK(refused(with(6, "lost")).find("j:2: field 'state'") == 0);
  CHECK(refused(with(3, "2")).find("j:2: field 'end'") == 0);
  CHECK(refused(with(19, "1;x")).find("j:2: field 'type_speed'") == 0);
  CHECK(refused(with(20, "cubic:1")).find("j:2: field 'speed_up'") == 0);
  CHECK(refused(with(24, "0:99")).find("j:2: field 'placement'") == 0);
  CHECK(refused("1,2").find("j:2: 2 fields") == 0);
  CHECK(replay_jobs_csv("job,submit\n", "j", sink).error().message ==
        "j:1: field 'start': column is missing");
  CHECK(replay_intervals_csv("sequence,job,start,end,placement\n0,0,5,4,0:0\n", "i", sink).error().message ==
        "i:2: field 'end': value '4' is before the start");
}

TEST_CASE("log: a damaged binary log is refused") {
  const Platform platform = mixed_platform();
  std::ostringstream out(std::ios::binary);
  BinaryLog log(out);
  simulate_all(platform, 3, 150.0, log);
  REQUIRE(log.finish().has_value());
  const std::string whole = out.str();
  const auto refused = [&](const std::string& bytes) {
    std::istringstream in(bytes, std::ios::binary);
    NullSink sink;
    const auto status = replay_binary_log(in, "run.log", sink);
    return status ? std::string() : status.error().message;
  };
  CHECK(refused(whole).empty());
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 37) {
    INFO("cut at " << size);
    CHECK(!refused(whole.substr(0, size)).empty());
  }
  for (std::size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 41) {
    INFO("damaged at " << at);
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x24);
    CHECK(!refused(bytes).empty());
  }
  CHECK(refused(whole + "x").find("goes on behind its end") != std::string::npos);
  std::string newer = whole;
  newer[8] = 2;
  CHECK(refused(newer) == "run.log: is of version 2, this program reads version 1");
  CHECK(refused("job,submit\n").find("run.log: is no log of a platform simulation") == 0);

  std::string damaged = whole;
  Random random(5, 5);
  for (int i = 0; i < 3000; ++i) {  // no input may do more than be refused
    damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] = static_cast<char>(random.below(256));
    refused(damaged);
    if (i % 20 == 0) damaged = whole;
  }
}

TEST_CASE("log check: broken rules are named") {
  const Platform platform = mixed_platform();
  Job a, b;
  a.id = 1;
  b.id = 2;
  b.submit_s = 5.0;
  struct Run {
    const Job* job;
    double start_s, end_s;
    const char* placement;
  };
  const auto checked = [&](const std::vector<Run>& runs, std::vector<std::int64_t> b_waits = {},
                           double a_reports = -1.0) {
    LogChecker checker(platform);
    checker.waits_for(2, std::move(b_waits));
    double executed[2] = {}, gpus[2] = {}, end[2] = {0.0, 5.0}, first[2] = {1e9, 1e9};
    const Placement none;
    for (const Run& run : runs) {
      const Placement placement = placement_of(run.placement);
      const std::uint64_t sequence = run.job == &a ? 0 : 1;
      checker.interval({run.job, sequence, &placement, run.start_s, run.end_s});
      executed[sequence] += run.end_s - run.start_s;
      gpus[sequence] += (run.end_s - run.start_s) * placement.gpus().as_double();
      end[sequence] = std::max(end[sequence], run.end_s);
      first[sequence] = std::min(first[sequence], run.start_s);
    }
    if (a_reports >= 0.0) executed[0] = a_reports;
    for (std::uint64_t sequence : {0u, 1u}) {
      JobOutcome outcome;
      outcome.job = sequence == 0 ? &a : &b;
      outcome.sequence = sequence;
      outcome.finished = outcome.started = true;
      outcome.entered_s = outcome.job->submit_s;
      outcome.start_s = first[sequence];
      outcome.end_s = end[sequence];
      outcome.executed_s = executed[sequence];
      outcome.attained_gpu_s = gpus[sequence];
      outcome.last = &none;
      checker.job(outcome);
    }
    const auto status = checker.check();
    return status ? std::string() : status.error().message;
  };
  CHECK(checked({{&a, 0, 5, "0:0-3"}, {&b, 5, 9, "0:0-3"}}).empty());  // one ends as the other starts
  CHECK(checked({{&a, 0, 7, "0:0*500"}, {&b, 5, 9, "0:0*500"}}).empty());
  CHECK(checked({{&a, 0, 7, "0:0-1"}, {&b, 5, 9, "0:1-2"}}) ==
        "job 2: takes 1000 milli of device 1 of node 'n0' (0), which has 0 free, at 5 s");
  CHECK(checked({{&a, 0, 7, "0:0*600"}, {&b, 5, 9, "0:0*500"}}) ==
        "job 2: takes 500 milli of device 0 of node 'n0' (0), which has 400 free, at 5 s");
  CHECK(checked({{&a, 0, 7, "0:0/5000/0"}, {&b, 5, 9, "0:1/3001/0"}}) ==
        "job 2: takes 3001 milli-CPU of node 'n0' (0), which has 3000 free, at 5 s");
  CHECK(checked({{&a, 0, 7, "0:0/0/600"}, {&b, 5, 9, "0:1/0/401"}}) ==
        "job 2: takes 401 MiB of node 'n0' (0), which has 400 free, at 5 s");
  CHECK(checked({{&a, 0, 7, "3:2"}}) == "job 1: takes device 2 of node 'n3' (3), which it has not, at 0 s");
  CHECK(checked({{&a, 0, 7, "4:0"}}) == "job 1: runs on node 4, which there is not, at 0 s");
  CHECK(checked({{&b, 4, 9, "0:0"}}) == "job 2: runs before its submission at 5, at 4 s");
  CHECK(checked({{&a, 0, 7, "0:0"}, {&a, 6, 8, "1:0"}}) == "job 1: runs in two places at once, at 6 s");
  CHECK(checked({{&a, 0, 7, "0:0"}, {&b, 7, 9, "1:0"}}, {1}).empty());
  CHECK(checked({{&a, 0, 7, "0:0"}, {&b, 6, 9, "1:0"}}, {1}) ==
        "job 2: runs before job 1 has finished, at 6 s");
  CHECK(checked({{&b, 6, 9, "1:0"}}, {77}) == "job 2: runs before job 77 has finished, at 6 s");
  CHECK(checked({{&a, 0, 7, "0:0"}}, {}, 6.0) ==
        "job 1: reports 6 s of execution, its intervals have 7, at 7 s");
}
