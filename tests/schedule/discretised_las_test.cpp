// Discretised least attained service on worked examples.
#include "mara/schedule/discretised_las.hpp"

#include <cmath>
#include <vector>

#include "mara/core/random.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

TEST_CASE("LAS: a job moves to the next queue when its service reaches the threshold") {
  // One device, threshold 10. A (0, 30 s), B (4, 5 s): A to 10, B 10-15, A to 35.
  Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 30), job(2, 4, 1, 5)}, DiscretisedLas<>({10.0}));
  CHECK(r.start(2) == 10);
  CHECK(r.end(2) == 15);
  CHECK(r.end(1) == 35);
  CHECK(r.of(1).preemptions == 1);
  // Jobs of one queue do not take turns: B of 30 s goes to the second queue behind A, which runs first again.
  r = run(make_platform(1, 1), {job(1, 0, 1, 30), job(2, 4, 1, 30)}, DiscretisedLas<>({10.0}));
  CHECK(r.start(2) == 10);
  CHECK(r.end(1) == 40);
  CHECK(r.end(2) == 60);
}

TEST_CASE("LAS: service counts GPUs: with two devices the threshold comes in half the time") {
  const Recorder r = run(make_platform(1, 2), {job(1, 0, 2, 30), job(2, 1, 2, 5)}, DiscretisedLas<>({10.0}));
  CHECK(r.start(2) == 5);
  CHECK(r.end(2) == 10);
  CHECK(r.end(1) == 35);
}

TEST_CASE("LAS: a new job comes before served ones at once") {
  const Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 100), job(2, 50, 1, 5), job(3, 50, 1, 20)},
                         DiscretisedLas<>({10.0, 40.0}));
  CHECK(r.start(2) == 50);
  CHECK(r.start(3) == 55);
  CHECK(r.of(3).preemptions == 0);  // queue 1 from 65, before job 1 in queue 2
  CHECK(r.end(3) == 75);
  CHECK(r.end(1) == 125);
}

TEST_CASE("LAS: thresholds are met at the right time whatever the clock shows") {
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const double t0 = random.uniform(0.0, trial % 2 == 0 ? 10.0 : 1e6);
    const Recorder r =
        run(make_platform(1, 1), {job(1, t0, 1, 100), job(2, t0 + 3.3, 1, 100), job(3, t0 + 4.4, 1, 7)},
            DiscretisedLas<>({10.0, 30.0}));
    REQUIRE(r.run.finished == 3);
    if (!(std::fabs(r.start(2) - (t0 + 10)) < 1e-8) || !(std::fabs(r.start(3) - (t0 + 20)) < 1e-8) ||
        r.run.decisions > 20)
      FAIL("t0 " << t0 << ": " << r.start(2) - t0 << " " << r.start(3) - t0 << ", decisions "
                 << r.run.decisions);
  }
}

TEST_CASE("LAS: a job that an outage stops stays in its queue, once") {
  PlatformConfig config;
  config.outages = {{0, 50, 60}};
  // Job 1 is in the second queue when its node fails; later jobs use slots again.
  const std::vector<Job> jobs{job(1, 0, 1, 100),  job(2, 55, 1, 20), job(3, 56, 1, 5),
                              job(4, 200, 1, 30), job(5, 201, 1, 5), job(6, 202, 1, 40)};
  const Recorder r = run(make_platform(1, 1), jobs, DiscretisedLas<>({20.0}), config);
  CHECK(r.run.finished == 6);
  CHECK(r.outcomes.size() == 6);
  CHECK(r.start(2) == 60);  // first queue first
  CHECK(r.start(3) == 80);
  CHECK(r.end(1) == 85 + 50);
  CHECK(r.of(1).failures == 1);
}

TEST_CASE("LAS: no threshold at all is first come first served with the running ones first") {
  const Recorder r =
      run(make_platform(1, 1), {job(1, 0, 1, 10), job(2, 1, 1, 5)}, DiscretisedLas<>(std::vector<double>{}));
  CHECK(r.end(1) == 10);
  CHECK(r.start(2) == 10);
}
