// List scheduling on a platform: gangs, preemption, what happens behind a blocked job.
#include "mara/schedule/list_dispatcher.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/schedule/place_scored.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

constexpr ListOptions kKeeping{.preemption = Preemption::kKeep};

template <class Order, class Placing = AnyDevices>
using Keeping = ListDispatcher<Order, Placing>;

/// Counts the preemptions of each decision and looks at who lost a place.
template <class S>
struct Spy {
  S inner;
  std::vector<std::vector<std::int64_t>> lost{};  // by decision
  static std::string_view name() noexcept { return "spy"; }
  void enter(Dispatch& d, JobSlot slot) { inner.enter(d, slot); }
  void leave(Dispatch& d, JobSlot slot) { inner.leave(d, slot); }
  void decide(Dispatch& d) {
    const std::vector<JobSlot> before(d.running().begin(), d.running().end());
    inner.decide(d);
    lost.emplace_back();
    for (const JobSlot slot : before)
      if (!d.job(slot).running) lost.back().push_back(d.job(slot).job.id);
  }
};

/// Looks whether the job with id 99, when it starts at 1 by taking places, could do without any one of them.
template <class Placing>
struct MinimalVictims {
  ListDispatcher<ShortestJobOrder, Placing> inner{kKeeping};
  std::size_t* decisions = nullptr;
  static std::string_view name() noexcept { return "minimal"; }
  void enter(Dispatch& d, JobSlot slot) { inner.enter(d, slot); }
  void leave(Dispatch& d, JobSlot slot) { inner.leave(d, slot); }
  void decide(Dispatch& d) {
    std::vector<std::pair<JobSlot, Placement>> before;
    for (const JobSlot slot : d.running()) before.emplace_back(slot, d.job(slot).placement);
    inner.decide(d);
    const ActiveJob* p = nullptr;
    for (const JobSlot slot : d.running())
      if (d.job(slot).job.id == 99 && d.now_s() == 1.0) p = &d.job(slot);
    if (p == nullptr) return;
    // Places lost or changed: victims. Beside all others that run now, and any one victim at its old place,
    // the job must not fit.
    std::vector<Placement> victims;
    std::size_t kept = 0;
    for (const auto& [slot, placement] : before) {
      if (!d.job(slot).running) victims.push_back(placement);
      kept += d.job(slot).running && d.job(slot).placement == placement ? 1 : 0;
    }
    if (kept + 1 != d.running().size()) return;  // victims found other places, at the cost of others
    FreeResources free(d.platform());
    for (const JobSlot slot : d.running())
      if (d.job(slot).job.id != 99 && !free.claim(d.job(slot).placement)) FAIL("places overlap");
    for (const Placement& victim : victims) {
      FreeResources with = free;
      Placement ignored;
      if (!with.claim(victim)) continue;  // its place went to another
      if (Placing{}.place(with, p->demand, ignored)) FAIL("a victim that was not needed");
      ++*decisions;
    }
  }
};

}  // namespace

TEST_CASE("S08: of two gangs of all nodes one runs and the other holds nothing") {
  const Recorder r = run(make_platform(100, 1), {job(1, 0, 100, 10), job(2, 0, 100, 10)}, ListDispatcher<>());
  CHECK(r.start(1) == 0);
  CHECK(r.start(2) == 10);
  for (const Recorder::Interval& i : r.intervals) CHECK(i.placement.device_count() == 100);
}

TEST_CASE("S08: a gang that does not fit holds nothing; a small job starts in the same decision") {
  const Recorder r = run(make_platform(9, 1), {job(1, 0, 10, 10), job(2, 0, 9, 5)}, ListDispatcher<>());
  CHECK(r.start(2) == 0);
  CHECK_FALSE(r.of(1).started);  // larger than the cluster
  CHECK(r.run.unfinished == 1);
  CHECK(r.run.stalled);
  CHECK(r.intervals_of(1).empty());
}

TEST_CASE("S08: 60 gangs of 1 to 8 on 16 devices: whenever all running ones end a waiting one starts") {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Job> jobs;
    for (int i = 0; i < 60; ++i)
      jobs.push_back(job(i, 0, 1 + static_cast<int>(random.below(8)), 1 + random.below(20)));
    const Recorder r = run(make_platform(2, 8), jobs, ListDispatcher<ArrivalJobOrder, Consolidated>());
    CHECK(r.run.finished == 60);
    double makespan = 0.0;
    for (const Recorder::Interval& i : r.intervals) makespan = std::max(makespan, i.end_s);
    std::vector<double> ends;
    for (const Recorder::Interval& i : r.intervals) ends.push_back(i.end_s);
    for (const double t : ends) {
      if (t == makespan) continue;
      const bool busy = std::any_of(r.intervals.begin(), r.intervals.end(),
                                    [t](const auto& i) { return i.start_s <= t && t < i.end_s; });
      CHECK(busy);
    }
  }
}

TEST_CASE("S08: a gang that only an empty cluster can hold waits, and starts when it is empty") {
  const Recorder r = run(make_platform(4, 1), {job(1, 0, 1, 10), job(2, 0, 4, 5)}, ListDispatcher<>());
  CHECK(r.start(2) == 10);
}

TEST_CASE("S09: equal keys never preempt") {
  // Same priority, same estimate: the second waits for the first.
  std::vector<Job> jobs{job(1, 0, 1, 10), job(2, 1, 1, 10)};
  Recorder r = run(make_platform(1, 1), jobs, Keeping<ShortestJobOrder>(kKeeping));
  CHECK(r.of(1).preemptions == 0);
  CHECK(r.start(2) == 10);
  // EDF with one deadline for all; LAS at 0 service each when all come at once.
  for (Job& j : jobs) j.deadline_s = 100;
  r = run(make_platform(1, 1), jobs, Keeping<EarliestDeadlineOrder>(kKeeping));
  CHECK(r.of(1).preemptions == 0);
  // 12 slots, 24 equal jobs: no eviction at all.
  std::vector<Job> equal;
  for (int i = 0; i < 24; ++i) equal.push_back(job(i, 0, 1, 10));
  for (const Preemption preemption : {Preemption::kKeep, Preemption::kRepack}) {
    r = run(make_platform(12, 1), equal, ListDispatcher<ShortestJobOrder>({.preemption = preemption}));
    for (const Recorder::Outcome& o : r.outcomes) CHECK(o.preemptions + o.migrations == 0);
  }
}

TEST_CASE("S09: victims are those last in the order, and none more than must") {
  // Two nodes of 4. Running: 1 (2 devices), 2 (2), 3 (4); the longest are last. A short job of 4 comes.
  Spy<Keeping<ShortestJobOrder, Consolidated>> spy{Keeping<ShortestJobOrder, Consolidated>(kKeeping)};
  Recorder r = run(make_platform(2, 4),
                   {job(1, 0, 2, 500), job(2, 0, 2, 300), job(3, 0, 4, 400), job(4, 10, 4, 5)}, spy);
  // 1 (500) goes first but does not help; 3 (400) does: 1 keeps its place.
  CHECK(spy.lost[1] == std::vector<std::int64_t>{3});
  CHECK(r.start(4) == 10);
  CHECK(r.of(1).preemptions == 0);
  CHECK(r.of(2).preemptions == 0);
  CHECK(r.of(3).preemptions == 1);
  CHECK(r.end(3) == 405);
}

TEST_CASE("S09: minimal also for a rule that would take from several where one is enough") {
  // One node: job 1 (1 device, last of the order) on device 0, job 2 (2 devices) on 1 and 2. P wants 2: the
  // two of job 2 do, though AnyDevices would take the lowest, 0 and 1, once all three are free.
  Spy<Keeping<ShortestJobOrder>> spy{Keeping<ShortestJobOrder>(kKeeping)};
  const Recorder r = run(make_platform(1, 3), {job(1, 0, 1, 500), job(2, 0, 2, 300), job(3, 10, 2, 5)}, spy);
  CHECK(spy.lost[1] == std::vector<std::int64_t>{2});
  CHECK(r.of(1).preemptions + r.of(1).migrations == 0);
  CHECK(r.start(3) == 10);
}

TEST_CASE("S09: on random queues dropping any one victim makes the preemptor not fit") {
  Random random(6);
  std::size_t decisions = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Platform platform = make_platform(1 + static_cast<int>(random.below(3)), 4);
    std::vector<Job> jobs;
    for (int i = 0; i < 8; ++i)
      jobs.push_back(job(i, 0, 1 + static_cast<int>(random.below(4)), 100 + 10.0 * i + random.uniform()));
    jobs.push_back(job(99, 1, 1 + static_cast<int>(random.below(6)), 1));  // comes before all in the order
    MinimalVictims<AnyDevices> any;
    any.decisions = &decisions;
    MinimalVictims<Consolidated> consolidated;
    consolidated.decisions = &decisions;
    run(platform, jobs, any);
    run(platform, jobs, consolidated);
  }
  CHECK(decisions > 500);
}

TEST_CASE("S09: preemptions of a closed run are bounded by N^2") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Job> jobs;
    double clock = 0.0;
    for (int i = 0; i < 20; ++i)
      jobs.push_back(
          job(i, clock += random.below(5), 1 + static_cast<int>(random.below(4)), 1 + random.below(30)));
    const auto total = [](const Recorder& r) {
      int sum = 0;
      for (const Recorder::Outcome& o : r.outcomes) sum += o.preemptions + o.migrations;
      return sum;
    };
    const Platform platform = make_platform(2, 2);
    const Recorder a = run(platform, jobs, Keeping<ShortestRemainingOrder>(kKeeping));
    const Recorder b = run(platform, jobs, Keeping<LeastAttainedOrder>(kKeeping));
    CHECK(a.run.finished == 20);
    CHECK(b.run.finished == 20);
    CHECK(total(a) <= 400);
    CHECK(total(b) <= 400);
  }
}

TEST_CASE("A job that lost its place to one before it may displace those behind it") {
  // Device 0: 1 (est 50), device 1: 2 (est 100). 3 (est 10) comes: takes from 2, the last. Nobody else moves.
  Recorder r = run(make_platform(2, 1), {job(1, 0, 1, 50), job(2, 0, 1, 100), job(3, 1, 1, 10)},
                   Keeping<ShortestJobOrder>(kKeeping));
  CHECK(r.of(1).preemptions == 0);
  CHECK(r.of(2).preemptions == 1);
  // Types: 3 can only run on type 0, where 1 runs, which then takes device 1 from 2.
  Platform platform = make_platform(2, 1);
  platform.types.push_back({.name = "other"});
  platform.nodes[1].type = 1;
  std::vector<Job> jobs{job(1, 0, 1, 50), job(2, 0, 1, 100), job(3, 1, 1, 10)};
  jobs[2].type_speed = {1.0, 0.0};
  r = run(platform, jobs, Keeping<ShortestJobOrder>(kKeeping));
  CHECK(r.start(3) == 1);
  CHECK(r.of(1).migrations == 1);
  CHECK(r.of(1).preemptions == 0);
  CHECK(r.of(2).preemptions == 1);
  CHECK(r.end(1) == 50);
}

TEST_CASE("kSkip, kWait and kDrop: the jobs behind one that does not fit") {
  const std::vector<Job> jobs{job(1, 0, 3, 10), job(2, 1, 4, 10), job(3, 2, 1, 10)};
  const Platform platform = make_platform(4, 1);
  CHECK(run(platform, jobs, ListDispatcher<ArrivalJobOrder, AnyDevices>({.when_blocked = WhenBlocked::kSkip}))
            .start(3) == 2);
  CHECK(run(platform, jobs, ListDispatcher<ArrivalJobOrder, AnyDevices>({.when_blocked = WhenBlocked::kWait}))
            .start(3) == 20);
  const Recorder r =
      run(platform, jobs, ListDispatcher<ArrivalJobOrder, AnyDevices>({.when_blocked = WhenBlocked::kDrop}));
  CHECK(r.of(2).rejected);
  CHECK(r.of(2).end_s == 1);
  CHECK(r.start(3) == 2);
  CHECK(r.run.rejected == 1);
}

TEST_CASE("commit_to_head: who has become the first stays it, whoever comes") {
  // The long job waits as the head; a short one comes later.
  const std::vector<Job> jobs{job(1, 0, 1, 10), job(2, 1, 1, 100), job(3, 5, 1, 1)};
  ListOptions options{.when_blocked = WhenBlocked::kWait};
  const Platform platform = make_platform(1, 1);
  CHECK(run(platform, jobs, ListDispatcher<ShortestJobOrder, AnyDevices>(options)).start(3) == 10);
  options.commit_to_head = true;
  CHECK(run(platform, jobs, ListDispatcher<ShortestJobOrder, AnyDevices>(options)).start(3) == 110);
}

TEST_CASE("kRepack: running jobs move together so that a large one fits") {
  // Two nodes of 2, jobs of 1 on both; with all placed anew, short ones first, the job of 2 fits.
  Platform platform = make_platform(2, 2);
  const std::vector<Job> jobs{job(1, 0, 2, 5), job(2, 0, 1, 100), job(4, 0, 1, 6), job(3, 6, 2, 200)};
  ListDispatcher<ShortestRemainingOrder, Consolidated> repack({.preemption = Preemption::kRepack});
  const Recorder r = run(platform, jobs, repack);
  CHECK(r.start(3) == 6);
  CHECK(r.end(2) == 100);
  CHECK(r.of(2).preemptions == 0);
}
