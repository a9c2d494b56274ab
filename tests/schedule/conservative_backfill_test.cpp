// Conservative backfilling on worked examples.
#include "mara/schedule/conservative_backfill.hpp"

#include <vector>

#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

/// Stops a scheduler that is asked without end.
template <class S>
struct Patient {
  S inner{};
  int left = 1000;
  std::vector<double> reserved{};
  static std::string_view name() noexcept { return "patient"; }
  void enter(Dispatch& d, JobSlot slot) { inner.enter(d, slot); }
  void leave(Dispatch& d, JobSlot slot) { inner.leave(d, slot); }
  void decide(Dispatch& d) {
    if (--left == 0) FAIL("1000 decisions, at " << d.now_s());
    inner.decide(d);
    reserved.push_back(inner.reserved_s(1));
  }
};
using Plan = Patient<ConservativeBackfill<>>;

}  // namespace

TEST_CASE("S10: conservative, the worked example") {
  Plan plan{};
  const Recorder r = run(
      make_platform(10, 1),
      {job(0, 0, 6, 100), job(1, 0, 8, 50), job(4, 0, 4, 101), job(2, 0, 4, 100), job(3, 0, 2, 500)}, plan);
  CHECK(r.start(2) == 0);
  CHECK(r.start(1) == 100);
  CHECK(r.start(3) == 100);
  CHECK(r.start(4) == 150);
}

TEST_CASE("S10: conservative delays nobody booked before, where EASY delays the second in the queue") {
  // 2 nodes. A: both until 10 (one node each of two jobs: until 10 and until 20). H1 wants 2 (at 20), H2
  // wants 1 for 100: behind H1. B wants 1 for 10 s: ends by 20 at node 0.
  Plan plan{};
  const Recorder r =
      run(make_platform(2, 1),
          {job(0, 0, 1, 10), job(5, 0, 1, 20), job(1, 0, 2, 5), job(2, 0, 1, 100), job(3, 0, 1, 10)}, plan);
  CHECK(r.start(3) == 10);
  CHECK(r.start(1) == 20);
  CHECK(r.start(2) == 25);
}

TEST_CASE("S10: conservative: early ends move reservations forward, never back; starvation ends") {
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(job(i, 2.5 * i, 1, 10));
  jobs.insert(jobs.begin() + 1, job(100, 1, 4, 10));
  Plan plan{};
  CHECK(run(make_platform(4, 1), jobs, plan).start(100) == 10);

  Plan early{};
  const Recorder r = run(make_platform(2, 1),
                         {job(0, 0, 2, 40, 100), job(1, 1, 2, 10), job(2, 2, 1, 60), job(3, 3, 1, 5)}, early);
  CHECK(r.start(1) == 40);
  CHECK(r.start(2) == 50);
  CHECK(r.start(3) == 50);
  for (std::size_t i = 1; i < early.reserved.size() && early.reserved[i] < kEndless; ++i)
    if (early.reserved[i - 1] < kEndless) CHECK(early.reserved[i] <= early.reserved[i - 1]);
}

TEST_CASE("S10: conservative: a missing estimate counts as endless") {
  Plan plan{};
  const Recorder r =
      run(make_platform(2, 1), {job(0, 0, 1, 10), job(1, 0, 2, 10), job(2, 0, 1, 5, kEndless)}, plan);
  CHECK(r.start(1) == 10);
  CHECK(r.start(2) == 20);
  Plan other{};
  // An endless job on the only node: the next one waits for its real end.
  CHECK(run(make_platform(1, 1), {job(0, 0, 1, 10, kEndless), job(1, 0, 1, 10)}, other).start(1) == 10);
}

TEST_CASE("S10: conservative: jobs that outlive their estimates do not hang the plan") {
  Plan plan{};
  const Recorder r =
      run(make_platform(1, 1), {job(0, 0, 1, 100, 10), job(1, 1, 1, 5), job(2, 2, 1, 5, 0)}, plan);
  CHECK(r.start(1) == 100);
  CHECK(r.end(2) == 110);
  CHECK(r.run.decisions < 20);
  Plan many{};
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back(job(i, 0.1 * i, 1 + i % 2, 20 + i, i % 3 == 0 ? 0.0 : 1.0));
  CHECK(run(make_platform(2, 1), jobs, many).run.finished == 12);
  CHECK(many.left > 800);
}

TEST_CASE("S10: conservative: an end one rounding later than estimated does not overturn the plan") {
  // 3 devices for 5.5296... s: work / 3 rounds up. The order would put job 2 first if the plan were made
  // anew.
  Job first = job(0, 0.1, 3, 1);
  first.estimate_s = 5.5296376860456196;
  first.work = 3 * first.estimate_s * (1 + 1e-15);
  ConservativeBackfill<ShortestJobOrder> plan;
  const Recorder r = run(make_platform(1, 3), {first, job(1, 0.2, 3, 50), job(2, 0.3, 3, 1)}, plan);
  CHECK(r.start(1) < 6);
  CHECK(r.start(2) > 50);
}

TEST_CASE("S10: conservative: a node lost under a plan, and one that comes and goes between two ticks") {
  PlatformConfig config;
  config.outages = {{1, 5, 200}};
  Plan plan{};
  Recorder r =
      run(make_platform(3, 1),
          {job(0, 0, 1, 30), job(1, 0, 1, 50), job(2, 1, 3, 10), job(3, 6, 1, 20), job(4, 6, 1, 300)}, plan,
          config);
  CHECK(r.run.finished == 5);
  CHECK(r.of(1).failures == 1);
  CHECK(r.start(2) >= 200);

  config = {};
  config.tick_s = 60;
  config.fixed_interval = true;
  config.outages = {{0, 70, 80}};
  Plan ticking{};
  r = run(make_platform(1, 1), {job(0, 0, 1, 100), job(1, 1, 1, 50)}, ticking, config);
  CHECK(r.run.finished == 2);
  // Evicted at 70 with 30 s to go it is booked again behind the other, whose turn comes at the tick at 120.
  CHECK(r.start(1) == 120);
  CHECK(r.end(0) == 180 + 30);
}

TEST_CASE("ResourceProfile: holes, bookings and their ends") {
  const Platform platform = make_platform(2, 1);
  ResourceProfile profile;
  CHECK(profile.empty());
  profile.reset(0.0, FreeResources(platform));
  AnyDevices any;
  ResourceProfile::Hole hole;
  PlacementDemand one, two;
  two.devices = 2;
  REQUIRE(profile.find(two, 10.0, any, hole));
  CHECK(hole.start_s == 0.0);
  const Placement both = hole.placement;
  profile.reserve(5.0, 10.0, both);
  REQUIRE(profile.find(one, 5.0, any, hole));
  CHECK(hole.start_s == 0.0);
  REQUIRE(profile.find(one, 5.1, any, hole));
  CHECK(hole.start_s == 10.0);
  const Placement single = hole.placement;
  profile.reserve(10.0, kEndless, single);
  REQUIRE(profile.find(one, kEndless, any, hole));
  CHECK(hole.start_s == 10.0);
  CHECK_FALSE(hole.placement == single);
  CHECK_FALSE(profile.find(two, 6.0, any, hole));
  profile.release(10.0, kEndless, single);
  profile.release(5.0, 10.0, both);
  REQUIRE(profile.find(two, kEndless, any, hole));
  CHECK(hole.start_s == 0.0);
  profile.reserve(5.0, 10.0, both);
  profile.advance(7.0);
  REQUIRE(profile.find(one, 1.0, any, hole));
  CHECK(hole.start_s == 10.0);
  profile.release(5.0, 10.0, both);  // what lies before now is past
  REQUIRE(profile.find(two, 1.0, any, hole));
  CHECK(hole.start_s == 7.0);
  PlacementDemand three;
  three.devices = 3;
  CHECK_FALSE(profile.find(three, 1.0, any, hole));
}
