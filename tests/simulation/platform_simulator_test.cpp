// The platform engine on worked examples: times, ties, ticks, dependencies, outages, what it refuses.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/simulation/platform_check.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

using Fcfs = ListDispatcher<ArrivalJobOrder, AnyDevices>;

/// A scheduler made of a function.
struct Scripted {
  std::function<void(Dispatch&, const std::vector<JobSlot>&)> script;
  std::vector<JobSlot> waiting{};
  static std::string_view name() noexcept { return "scripted"; }
  void enter(Dispatch&, JobSlot slot) { waiting.push_back(slot); }
  void leave(Dispatch&, JobSlot slot) { std::erase(waiting, slot); }
  void decide(Dispatch& dispatch) { script(dispatch, waiting); }
};

Placement at(std::uint32_t node, std::uint64_t devices, std::int32_t share = 1000, std::int64_t cpu = 0,
             std::int64_t memory = 0) {
  return Placement{{NodeShare{node, share, devices, Milli{cpu}, memory}}};
}
std::string message(const Status& status) {
  return status ? std::string() : status.error().message;
}

}  // namespace

TEST_CASE("S16: a completion is at its real time, not at the end of the round") {
  PlatformConfig config;
  config.tick_s = 60;
  config.fixed_interval = true;
  const Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 61), job(2, 10, 1, 30)}, Fcfs(), config);
  CHECK(r.end(1) == 61);
  CHECK(r.start(2) == 120);  // decisions are at rounds
  CHECK(r.end(2) == 150);
  // Without the fixed interval the events decide too.
  config.fixed_interval = false;
  CHECK(run(make_platform(1, 1), {job(1, 0, 1, 61), job(2, 10, 1, 30)}, Fcfs(), config).start(2) == 61);
}

TEST_CASE("S16: intervals are [start, end): one job follows another on a node at the same instant") {
  const Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 10), job(2, 0, 1, 10)}, Fcfs());
  REQUIRE(r.intervals.size() == 2);
  CHECK(r.intervals[0].end_s == r.intervals[1].start_s);
  CHECK(r.end(2) == 20);
}

TEST_CASE("S16: a job of no length starts, ends at once, and others go on") {
  const Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 0), job(2, 0, 1, 5), job(3, 3, 1, 0)}, Fcfs());
  CHECK(r.start(1) == 0);
  CHECK(r.end(1) == 0);
  CHECK(r.start(2) == 0);
  CHECK(r.end(3) == 5);
  CHECK(r.of(1).executed_s == 0);
  CHECK(r.intervals_of(1).empty());
}

TEST_CASE(
    "At one instant: completions, repairs, failures, arrivals, one decision; or arrivals first, each alone") {
  // The arrival at 10 meets the completion at 10.
  const std::vector<Job> jobs{job(1, 0, 1, 10), job(2, 10, 1, 5)};
  int decisions = 0;
  const auto count = [&decisions](Dispatch& d, const std::vector<JobSlot>& waiting) {
    ++decisions;
    for (const JobSlot slot : waiting) d.start(slot, at(0, 1));
  };
  Recorder r = run(make_platform(1, 1), jobs, Scripted{count});
  CHECK(decisions == 2);
  CHECK(r.start(2) == 10);
  decisions = 0;
  PlatformConfig config;
  config.batch = EventBatch::kArrivalsFirst;
  r = run(make_platform(1, 1), jobs, Scripted{count}, config);
  CHECK(decisions == 3);  // at 10 once for the arrival, in vain, and once for the completion
  CHECK(r.start(2) == 10);
  // A failure at the instant of a completion hits nobody; a node repaired at 10 serves an arrival at 10.
  config = {};
  config.outages = {{0, 10, 20}};
  CHECK(run(make_platform(1, 1), {job(1, 0, 1, 10)}, Fcfs(), config).of(1).failures == 0);
  config.outages = {{0, 5, 10}};
  CHECK(run(make_platform(1, 1), {job(1, 10, 1, 10)}, Fcfs(), config).start(1) == 10);
  // An outage that follows another leaves the node down.
  config.outages = {{0, 10, 30}, {0, 5, 10}};
  CHECK(run(make_platform(1, 1), {job(1, 6, 1, 10)}, Fcfs(), config).start(1) == 30);
}

TEST_CASE(
    "Completions of one instant are reported in order of submission, and equal jobs served in the source's "
    "order") {
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(job(100 - i, 0, 1, 10));
  const Recorder r = run(make_platform(4, 1), jobs, Fcfs());
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(r.outcomes[i].job.id == 100 - static_cast<std::int64_t>(i));
    CHECK(r.outcomes[i].sequence == i);
  }
}

TEST_CASE("Dependencies: a job arrives when the last of those it waits for has finished") {
  PlatformConfig config;
  config.dependencies = true;
  const Platform platform = make_platform(4, 1);
  const std::vector<Submission> diamond{
      {job(4, 0, 1, 1), {2, 3}}, {job(2, 0, 1, 5), {1}}, {job(3, 0, 1, 7), {1}}, {job(1, 0, 1, 10), {}}};
  Recorder r = run(platform, diamond, Fcfs(), config);
  CHECK(r.end(1) == 10);
  CHECK(r.start(2) == 10);
  CHECK(r.start(3) == 10);
  CHECK(r.start(4) == 17);
  CHECK(r.of(4).entered_s == 17);
  // On what has finished long ago, on the same job twice, and on what does not wait at all.
  r = run(platform, {{job(1, 0, 1, 1), {}}, {job(2, 5, 1, 1), {1, 1}}}, Fcfs(), config);
  CHECK(r.start(2) == 5);
  // On itself, in a circle, on nobody: never, and the run says so.
  for (const std::vector<Submission>& list :
       {std::vector<Submission>{{job(1, 0, 1, 1), {1}}},
        std::vector<Submission>{{job(1, 0, 1, 1), {2}}, {job(2, 0, 1, 1), {1}}},
        std::vector<Submission>{{job(1, 0, 1, 1), {77}}}}) {
    r = run(platform, list, Fcfs(), config);
    CHECK(r.run.finished == 0);
    CHECK(r.run.unfinished == list.size());
    CHECK(r.run.stalled);
    CHECK_FALSE(r.of(1).started);
  }
}

TEST_CASE(
    "The horizon: a completion exactly then counts, what runs on is cut, what comes later is not seen") {
  PlatformConfig config;
  config.horizon_s = 20;
  const std::vector<Job> jobs{job(1, 0, 1, 20), job(2, 0, 1, 21), job(3, 20, 1, 1), job(4, 25, 1, 1)};
  const Recorder r = run(make_platform(2, 1), jobs, Fcfs(), config);
  CHECK(r.end(1) == 20);
  CHECK_FALSE(r.of(2).finished);
  CHECK(r.of(2).executed_s == 20);
  CHECK(r.of(2).end_s == 20);
  CHECK(r.run.end_s == 20);
  CHECK(r.run.submitted == 2);
  CHECK(r.run.unfinished == 1);
  CHECK(r.intervals_of(2).front().end_s == 20);
  CHECK_FALSE(r.run.stalled);
  config.horizon_s = 0;
  CHECK(run(make_platform(2, 1), jobs, Fcfs(), config).run.submitted == 0);
}

TEST_CASE("A failure stops jobs and may cost work; maintenance stops them; both go on elsewhere or later") {
  PlatformConfig config;
  config.outages = {{0, 50, 60}};
  config.checkpoint_interval_s = 20;
  Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 100)}, Fcfs(), config);
  CHECK(r.of(1).failures == 1);
  CHECK(r.of(1).lost_s == 10);  // since the checkpoint at 40
  CHECK(r.end(1) == 120);
  CHECK(r.of(1).executed_s == 110);
  config.outages[0].kind = Outage::Kind::kMaintenance;
  r = run(make_platform(1, 1), {job(1, 0, 1, 100)}, Fcfs(), config);
  CHECK(r.of(1).failures == 0);
  CHECK(r.of(1).preemptions == 1);
  CHECK(r.end(1) == 110);
  // A gang loses all its places when one of its nodes fails, and starts again where it can.
  config.outages = {{1, 50, 60}};
  config.checkpoint_interval_s = 0;
  r = run(make_platform(3, 2), {job(1, 0, 4, 100)}, Fcfs(), config);
  REQUIRE(r.intervals.size() == 2);
  CHECK(r.intervals[1].placement.shares[1].node == 2);
  CHECK(r.end(1) == 100);
}

TEST_CASE("Checkpoints count work, not the time that starting takes") {
  PlatformConfig config;
  config.outages = {{0, 110, 120}, {0, 135, 140}};
  config.checkpoint_interval_s = 100;
  // Starts cost 10. At 110: 100 of work, saved. From 120: 10 to resume, 5 of work until 135, lost.
  const Recorder r = run(make_platform(1, 1), submissions({job(1, 0, 1, 1000)}), Fcfs(), config,
                         FixedOverhead{.start = 10, .resume = 10});
  CHECK(r.of(1).lost_s == 5);
  CHECK(r.end(1) == 140 + 10 + 900);
}

TEST_CASE("Outages of an empty system, or after the last job, cost nothing") {
  PlatformConfig config;
  config.outages = {{0, 5, 10}, {0, 1000, 2000}, {1, 1, kEndless}};
  const Recorder r = run(make_platform(2, 1), {job(1, 20, 1, 10)}, Fcfs(), config);
  CHECK(r.end(1) == 30);
  CHECK(r.run.end_s == 30);
}

TEST_CASE("Stalls are told from waits for a repair") {
  PlatformConfig config;
  config.tick_s = 1;
  config.stall_ticks = 10;
  config.outages = {{0, 0, 500}};
  Recorder r = run(make_platform(1, 1), {job(1, 1, 1, 5)}, Fcfs(), config);
  CHECK(r.start(1) == 500);
  CHECK_FALSE(r.run.stalled);
  config.outages = {{0, 0, kEndless}};
  r = run(make_platform(1, 1), {job(1, 1, 1, 5)}, Fcfs(), config);
  CHECK(r.run.stalled);
  CHECK(r.run.decisions < 50);
  // Without ticks nothing has to be counted.
  config.tick_s = 0;
  r = run(make_platform(1, 1), {job(1, 1, 1, 5)}, Fcfs(), config);
  CHECK(r.run.stalled);
}

TEST_CASE("Ticks of an empty system are skipped") {
  PlatformConfig config;
  config.tick_s = 1;
  const Recorder r = run(make_platform(1, 1), {job(1, 1e6, 1, 3), job(2, 2e6, 1, 3)}, Fcfs(), config);
  CHECK(r.end(2) == 2e6 + 3);
  CHECK(r.run.decisions < 20);
}

TEST_CASE("Orders that cannot be: refused, and nothing changes") {
  Platform platform = make_platform(2, 2);
  platform.types.push_back({.name = "other"});
  platform.nodes[1].type = 1;
  for (Node& node : platform.nodes) node.cpu = Milli{1000}, node.memory_mib = 10;
  Node host;
  host.cpu = Milli{1000};
  host.memory_mib = 10;
  platform.nodes.push_back(host);
  Job whole = job(1, 0, 2, 10), part = fraction(2, 0, 500, 10), cpu_only = job(3, 0, 0, 10);
  whole.type_speed = {1.0, 0.0};
  whole.demand.cpu = Milli{500};
  cpu_only.demand.memory_mib = 4;
  bool checked = false;
  const Recorder r =
      run(platform, {whole, part, cpu_only}, Scripted{[&](Dispatch& d, const std::vector<JobSlot>& waiting) {
            if (checked) return;
            checked = true;
            const JobSlot w = waiting[0], p = waiting[1], c = waiting[2];
            const auto refused = [&](JobSlot slot, const Placement& placement) {
              return !d.start(slot, placement) && d.running().empty() && d.free().free_milli() == 4000;
            };
            CHECK(refused(w, {}));
            CHECK(refused(w, at(0, 0b111, 1000, 500)));  // a device that is not there
            CHECK(refused(w, at(7, 0b1, 1000, 500)));    // a node that is not there
            CHECK(refused(w, at(2, 0b1, 1000, 500)));    // a node without devices
            CHECK(refused(w, at(1, 0b11, 1000, 500)));   // a type that cannot run it
            CHECK(refused(w, at(0, 0b11, 500, 500)));    // shares of devices
            CHECK(refused(w, at(0, 0b11, 1000, 499)));   // too little CPU
            CHECK(refused(w, at(0, 0b11, 1000, 1001)));  // more than there is
            CHECK(refused(w, at(0, 0b11, 1000, -1)));
            CHECK(refused(w, at(0, 0, 1000, 500)));  // no device
            CHECK(refused(p, at(0, 0b11, 500)));     // a fraction on two devices
            CHECK(refused(p, at(0, 0b1, 400)));      // another fraction
            CHECK(refused(p, at(0, 0b1, 1000)));
            CHECK(refused(c, at(0, 0b1, 1000, 0, 4)));  // a device for a job without
            CHECK(refused(c, at(2, 0, 1000, 0, 3)));
            CHECK(d.start(w, at(0, 0b11, 1000, 500)));
            CHECK_FALSE(d.start(w, at(1, 0b1, 1000, 500)));  // it runs
            CHECK_FALSE(d.start(p, at(0, 0b1, 500)));        // taken
            CHECK(d.start(p, at(1, 0b1, 500)));
            CHECK(d.start(c, at(2, 0, 1000, 0, 4)));
            d.reject(c);  // harmless: it runs
            d.preempt(p);
            d.preempt(p);  // harmless: it waits
            CHECK(d.start(p, at(1, 0b10, 500)));
          }});
  REQUIRE(checked);
  CHECK(r.run.finished == 3);
  CHECK(r.run.rejected == 0);
  CHECK(r.of(2).preemptions == 0);  // it had not run before
  CHECK(r.of(2).migrations == 0);
}

TEST_CASE("A job that is preempted and started again on its place within a decision runs on") {
  int step = 0;
  const Recorder r = run(make_platform(2, 1), submissions({job(1, 0, 1, 10), job(2, 5, 1, 1)}),
                         Scripted{[&](Dispatch& d, const std::vector<JobSlot>& waiting) {
                           if (step++ == 0) {
                             CHECK(d.start(waiting[0], at(0, 1)));
                             return;
                           }
                           for (const JobSlot slot : waiting) {
                             if (d.job(slot).job.id == 1) {
                               d.preempt(slot);
                               CHECK(d.start(slot, at(1, 1)));
                               d.preempt(slot);
                               CHECK(d.start(slot, at(0, 1)));
                             } else if (!d.job(slot).running) {
                               d.start(slot, at(1, 1));
                             }
                           }
                         }},
                         {}, FixedOverhead{.start = 2, .resume = 50, .migrate = 100});
  CHECK(r.end(1) == 12);
  CHECK(r.of(1).preemptions + r.of(1).migrations == 0);
  CHECK(r.intervals_of(1).size() == 1);
}

TEST_CASE("Jobs given more devices than asked for, up to their most, speed up") {
  Job j = job(1, 0, 1, 100);
  j.max_gpus = 4;
  j.speed_up = {SpeedUp::Kind::kAmdahl, 0.8};
  const auto give = [](std::uint64_t devices) {
    return Scripted{[devices](Dispatch& d, const std::vector<JobSlot>& waiting) {
      if (!d.job(waiting[0]).running) d.start(waiting[0], at(0, devices));
    }};
  };
  CHECK(run(make_platform(1, 8), {j}, give(0b1111)).end(1) == Approx(100 * (0.2 + 0.8 / 4)).epsilon(1e-14));
  CHECK(run(make_platform(1, 8), {j}, give(0b11111)).run.unfinished == 1);  // more than its most
}

TEST_CASE("Rejected jobs leave; one that is started after all does not") {
  const Recorder r = run(make_platform(2, 1), {job(1, 0, 1, 10), job(2, 0, 1, 10)},
                         Scripted{[](Dispatch& d, const std::vector<JobSlot>& waiting) {
                           for (const JobSlot slot : waiting) {
                             d.reject(slot);
                             d.reject(slot);
                             if (d.job(slot).job.id == 2) d.start(slot, at(0, 1));
                           }
                         }});
  CHECK(r.of(1).rejected);
  CHECK(r.of(2).finished);
  CHECK(r.run.rejected == 1);
  CHECK(r.outcomes.size() == 2);
}

TEST_CASE("wake_at: a decision when nothing happens, the earliest wish, once") {
  std::vector<double> times;
  run(make_platform(1, 1), {job(1, 0, 1, 10)},
      Scripted{[&](Dispatch& d, const std::vector<JobSlot>& waiting) {
        times.push_back(d.now_s());
        if (!waiting.empty() && !d.job(waiting[0]).running) d.start(waiting[0], at(0, 1));
        if (times.size() == 1) {
          d.wake_at(7);
          d.wake_at(3);
          d.wake_at(0);  // not later than now
          d.wake_at(-1);
          d.wake_at(kEndless);
          d.wake_at(std::nan(""));
        }
      }});
  CHECK(times == std::vector<double>{0, 3});
}

TEST_CASE("Memory is that of the jobs alive: slots are used again") {
  // 100,000 jobs, at most a few at a time.
  struct Stream {
    std::int64_t left = 100'000;
    bool next(Submission& next) {
      if (left == 0) return false;
      --left;
      next.job = job(left, static_cast<double>(100'000 - left), 1, 2.5);
      return true;
    }
  } stream;
  JobSlot highest = 0;
  Scripted scheduler{[&](Dispatch& d, const std::vector<JobSlot>& waiting) {
    for (const JobSlot slot : waiting) {
      highest = std::max(highest, slot);
      for (std::uint32_t n = 0; n < 4 && !d.job(slot).running; ++n) d.start(slot, at(n, 1));
    }
  }};
  const Platform platform = make_platform(4, 1);
  NullSink sink;
  PlatformSimulator<> simulator(platform, {});
  const PlatformRun r = simulator.run(stream, scheduler, sink);
  CHECK(r.finished == 100'000);
  CHECK(highest < 4);
  CHECK(r.job_events == 300'000);
}

TEST_CASE("The same input gives the same bits; an empty source gives an empty run") {
  Random random(8);
  std::vector<Job> jobs;
  double clock = 0;
  for (int i = 0; i < 300; ++i)
    jobs.push_back(job(i, clock += random.exponential(0.3), 1 + static_cast<int>(random.below(4)),
                       random.exponential(0.1)));
  const auto play = [&] {
    return run(make_platform(3, 4), jobs,
               ListDispatcher<ShortestRemainingOrder>({.preemption = Preemption::kRepack}));
  };
  const Recorder a = play(), b = play();
  REQUIRE(a.outcomes.size() == 300);
  for (std::size_t i = 0; i < 300; ++i) {
    CHECK(a.outcomes[i].job.id == b.outcomes[i].job.id);
    CHECK(a.outcomes[i].end_s == b.outcomes[i].end_s);
    CHECK(a.outcomes[i].last == b.outcomes[i].last);
  }
  const Recorder none = run(make_platform(1, 1), std::vector<Job>{}, Fcfs());
  CHECK(none.run.submitted == 0);
  CHECK(none.run.decisions == 0);
  CHECK_FALSE(none.run.stalled);
}

TEST_CASE("S17: a configuration with bad numbers is refused by field") {
  const Platform platform = make_platform(1, 1);
  const auto with = [&](auto&& change) {
    PlatformConfig config;
    change(config);
    return message(check_config(config, platform));
  };
  CHECK(with([](PlatformConfig&) {}).empty());
  const double nan = std::nan("");
  for (const double bad : {nan, -1.0}) {
    CHECK(with([&](PlatformConfig& c) { c.tick_s = bad; }).find("tick_s") != std::string::npos);
    CHECK(with([&](PlatformConfig& c) { c.horizon_s = bad; }).find("horizon_s") != std::string::npos);
    CHECK(with([&](PlatformConfig& c) { c.checkpoint_interval_s = bad; }).find("checkpoint_interval_s") !=
          std::string::npos);
  }
  CHECK(with([](PlatformConfig& c) { c.tick_s = kEndless; }).find("tick_s") != std::string::npos);
  CHECK(with([](PlatformConfig& c) { c.fixed_interval = true; }).find("tick_s") != std::string::npos);
  CHECK(with([](PlatformConfig& c) { c.stall_ticks = 0; }).find("stall_ticks") != std::string::npos);
  CHECK(with([](PlatformConfig& c) { c.outages = {{1, 0, 1}}; }).find("node 1") != std::string::npos);
}

TEST_CASE("S17: a job with bad numbers ends the run with an error that names it and the field") {
  const Platform platform = make_platform(1, 4);
  const auto refused = [&](auto&& change) {
    Job bad = job(2, 5, 1, 10);
    change(bad);
    const Status status = check_job(platform, bad);
    const Recorder r = run(platform, {job(1, 0, 1, 3), bad, job(3, 6, 1, 1)}, Fcfs());
    REQUIRE(r.run.error.has_value() == !status);
    if (status) return std::string();
    CHECK(r.outcomes.size() == 1);  // the job before it, as far as it had come when the bad one was read
    CHECK(r.of(1).started);
    CHECK(r.run.error->message == status.error().message);
    CHECK(status.error().message.find("job 2: ") == 0);
    return status.error().message;
  };
  CHECK(refused([](Job&) {}).empty());
  const double nan = std::nan("");
  for (const double bad : {nan, -kEndless, -1.0}) {
    CHECK(refused([&](Job& j) { j.submit_s = bad; }).find("submit_s") != std::string::npos);
    CHECK(refused([&](Job& j) { j.work = bad; }).find("work") != std::string::npos);
    CHECK(refused([&](Job& j) { j.estimate_s = bad; }).find("estimate_s") != std::string::npos);
    CHECK(refused([&](Job& j) { j.deadline_s = bad; }).find("deadline_s") != std::string::npos);
    CHECK(refused([&](Job& j) { j.weight = bad; }).find("weight") != std::string::npos);
    CHECK(refused([&](Job& j) { j.type_speed[0] = bad; }).find("type_speed") != std::string::npos);
    CHECK(refused([&](Job& j) { j.speed_up.parameter = bad; }).find("speed_up") != std::string::npos);
  }
  CHECK(refused([](Job& j) { j.submit_s = kEndless; }).find("submit_s") != std::string::npos);
  CHECK(refused([](Job& j) { j.work = kEndless; }).find("work") != std::string::npos);
  CHECK(refused([](Job& j) { j.type_speed[0] = kEndless; }).find("type_speed") != std::string::npos);
  CHECK(refused([](Job& j) { j.estimate_s = kEndless; }).empty());
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                         kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t bad : {std::int64_t{-1}, kLeast, kMost}) {
    CHECK(refused([&](Job& j) { j.requested = Milli{bad}; }).find("requested") != std::string::npos);
    CHECK(refused([&](Job& j) { j.demand.cpu = Milli{bad}; }).find("demand.cpu") != std::string::npos);
    CHECK(refused([&](Job& j) { j.demand.memory_mib = bad; }).find("demand.memory_mib") != std::string::npos);
    CHECK(refused([&](Job& j) { j.demand.gpu_memory_mib = bad; }).find("demand.gpu_memory_mib") !=
          std::string::npos);
  }
  CHECK(refused([](Job& j) { j.requested = Milli{1500}; }).find("requested (milli) is 1500") !=
        std::string::npos);  // S05
  CHECK(refused([](Job& j) { j.max_gpus = 0; }).find("max_gpus") != std::string::npos);
  // Out of order.
  const Recorder r = run(platform, {job(1, 5, 1, 1), job(2, 4, 1, 1)}, Fcfs());
  REQUIRE(r.run.error);
  CHECK(r.run.error->message.find("submit_s is 4") != std::string::npos);
  CHECK(r.outcomes.size() == 1);
}

TEST_CASE("S17: a job larger than the platform waits and harms nobody") {
  const Platform platform = make_platform(1, 4);
  std::vector<Job> jobs{job(1, 0, 900'000, 10), job(2, 0, 4, 10), job(3, 0, 1, 10)};
  jobs[2].demand.cpu = Milli{kMostOfANode};
  const Recorder r = run(platform, jobs, Fcfs());
  CHECK(r.end(2) == 10);
  CHECK(r.run.unfinished == 2);
  CHECK(r.run.stalled);
}
