// EASY backfilling on worked examples.
#include <cmath>
#include <vector>

#include "mara/schedule/list_dispatcher.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

using Fcfs = ListDispatcher<ArrivalJobOrder, AnyDevices, EasyBackfill>;
Fcfs easy(EasyBackfill options = {}) {
  return Fcfs({.when_blocked = WhenBlocked::kWait}, {}, {}, options);
}

// R uses 6 of 10 nodes until 100; then (nodes, estimate) (8, 50), (4, 101), (4, 100), (2, 500).
std::vector<Job> worked_example() {
  return {job(0, 0, 6, 100), job(1, 0, 8, 50), job(4, 0, 4, 101), job(2, 0, 4, 100), job(3, 0, 2, 500)};
}

}  // namespace

TEST_CASE("S10: EASY, the worked example") {
  const Recorder r = run(make_platform(10, 1), worked_example(), easy());
  CHECK(r.start(2) == 0);  // ends exactly at the shadow time
  CHECK(r.start(1) == 100);
  CHECK(r.start(3) == 100);  // two nodes are left over
  CHECK(r.start(4) == 150);
}

TEST_CASE("S10: EASY, strict: a job must end before the shadow time; may_outlast off: nobody outlasts it") {
  EasyBackfill strict;
  strict.strict = true;
  Recorder r = run(make_platform(10, 1), worked_example(), easy(strict));
  CHECK(r.start(3) == 0);  // in place of J2, on nodes left over at 100
  CHECK(r.start(2) > 0);
  CHECK(r.start(1) == 100);
  EasyBackfill none;
  none.may_outlast = false;
  r = run(make_platform(10, 1), worked_example(), easy(none));
  CHECK(r.start(2) == 0);
  CHECK(r.start(1) == 100);
  CHECK(r.start(4) == 150);
  CHECK(r.start(3) == 150);
}

TEST_CASE("S10: a reservation ends starvation") {
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(job(i, 2.5 * i, 1, 10));
  jobs.insert(jobs.begin() + 1, job(100, 1, 4, 10));
  const Platform platform = make_platform(4, 1);
  CHECK(run(platform, jobs, easy()).start(100) == 10);
  CHECK(run(platform, jobs, ListDispatcher<ArrivalJobOrder, AnyDevices>()).start(100) == 107.5);
}

TEST_CASE("S10: a missing estimate counts as endless, not as 0") {
  // Two nodes; R on one until 10; the head wants both; B (1 node, 5 s) has no estimate.
  std::vector<Job> jobs{job(0, 0, 1, 10), job(1, 0, 2, 10), job(2, 0, 1, 5, kEndless)};
  Recorder r = run(make_platform(2, 1), jobs, easy());
  CHECK(r.start(1) == 10);
  CHECK(r.start(2) == 20);
  jobs[2].estimate_s = 5;
  r = run(make_platform(2, 1), jobs, easy());
  CHECK(r.start(2) == 0);
  CHECK(r.start(1) == 10);
  // When R's end is not known the shadow time is never: jobs with an estimate are in time.
  jobs[0].estimate_s = kEndless;
  r = run(make_platform(2, 1), jobs, easy());
  CHECK(r.start(2) == 0);
  CHECK(r.start(1) == 10);
}

TEST_CASE("S10: behind jobs without estimates that may not overtake, one with an estimate may") {
  std::vector<Job> jobs{job(0, 0, 1, 100, kEndless), job(1, 1, 2, 10), job(2, 2, 1, 10, kEndless),
                        job(3, 2, 1, 10, kEndless), job(4, 2, 1, 5)};
  const Recorder r = run(make_platform(2, 1), jobs, easy());
  CHECK(r.start(4) == 2);
  CHECK(r.start(1) == 100);
}

TEST_CASE("S10: a job that no node can take now still gets its reservation") {
  // Node 0 has 4 devices, node 1 has 2. The head wants a whole node 0, of which R holds half until 50.
  Platform platform = make_platform(2, 4);
  platform.nodes[1].devices = 2;
  ListDispatcher<ArrivalJobOrder, Consolidated, EasyBackfill> scheduler({.when_blocked = WhenBlocked::kWait});
  const Recorder r = run(
      platform, {job(0, 0, 2, 50), job(1, 0, 2, 20), job(2, 1, 4, 10), job(3, 2, 2, 49), job(4, 2, 2, 48)},
      scheduler);
  // R and job 1 are packed on node 0; later ones may use node 1, and node 0 only until 50.
  CHECK(r.start(2) == 50);
  CHECK(r.start(3) == 2);  // on node 1
  CHECK(r.start(4) > 2);
  CHECK(r.of(3).last.shares.front().node == 1);
}

TEST_CASE("S10: an early end moves the reservation forward") {
  const Recorder r =
      run(make_platform(2, 1), {job(0, 0, 2, 40, 100), job(1, 1, 2, 10), job(2, 2, 1, 60)}, easy());
  CHECK(r.start(1) == 40);
  CHECK(r.start(2) == 50);
}

TEST_CASE("S10: a job that outlives its estimate counts as about to end; nothing hangs") {
  const Recorder r =
      run(make_platform(2, 1), {job(0, 0, 1, 100, 10), job(1, 1, 2, 10), job(2, 20, 1, 30)}, easy());
  CHECK(r.start(2) == 100 + 10);  // it may not begin at 20: the head could start any moment
  CHECK(r.start(1) == 100);
  CHECK(r.run.decisions < 20);
}

TEST_CASE("S10: a node lost under a reservation: it is made anew") {
  PlatformConfig config;
  config.outages = {{1, 5, 200}};
  // The head wants 2 of 3 nodes; node 1 fails under R1 at 5, which starts again at 30 or later.
  const std::vector<Job> jobs{job(0, 0, 1, 30), job(1, 0, 1, 50), job(2, 1, 3, 10), job(3, 6, 1, 20),
                              job(4, 6, 1, 300)};
  const Recorder r = run(make_platform(3, 1), jobs, easy(), config);
  for (const Recorder::Outcome& o : r.outcomes) CHECK(o.finished);
  CHECK(r.of(1).failures == 1);
  CHECK(r.start(2) >= 200);
  CHECK_FALSE(r.run.stalled);
}
