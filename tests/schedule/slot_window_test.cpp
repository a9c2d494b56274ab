// A scheduler that sees the first slots of its queue only.
#include "mara/schedule/slot_window.hpp"

#include <vector>

#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

TEST_CASE(
    "SlotWindow: the shortest of the visible jobs that fit starts; its slot takes the head of the backlog") {
  // One device; two slots. Jobs of 10, 8, 6, 4 s at 0: 10 and 8 are visible.
  const std::vector<Job> jobs{job(1, 0, 1, 10), job(2, 0, 1, 8), job(3, 0, 1, 6), job(4, 0, 1, 4)};
  const Recorder r = run(make_platform(1, 1), jobs, SlotWindow<>(2, 10));
  CHECK(r.start(2) == 0);
  CHECK(r.start(3) == 8);
  CHECK(r.start(4) == 14);
  CHECK(r.start(1) == 18);
}

TEST_CASE("SlotWindow: ties go to the lower slot; what does not fit is passed over") {
  Recorder r = run(make_platform(1, 1), {job(1, 0, 1, 5), job(2, 0, 1, 5)}, SlotWindow<>(2, 10));
  CHECK(r.start(1) == 0);
  r = run(make_platform(2, 1), {job(1, 0, 1, 20), job(2, 1, 2, 1), job(3, 1, 1, 5)}, SlotWindow<>(2, 10));
  CHECK(r.start(3) == 1);
  CHECK(r.start(2) == 20);
}

TEST_CASE("SlotWindow: when slots and backlog are full a job is rejected") {
  std::vector<Job> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(job(i, 0, 1, 10));
  const Recorder r = run(make_platform(1, 1), jobs, SlotWindow<>(2, 1));
  CHECK(r.run.rejected == 3);
  CHECK(r.run.finished == 3);
  for (const std::int64_t id : {3, 4, 5}) {
    CHECK(r.of(id).rejected);
    CHECK_FALSE(r.of(id).started);
  }
}

TEST_CASE("SlotWindow: the packer prefers what lines up with what is free") {
  Platform platform = make_platform(1, 4);
  platform.nodes[0].cpu = Milli{4000};
  std::vector<Job> jobs{job(1, 0, 1, 10), job(2, 0, 3, 10), job(3, 0, 2, 10)};
  const Recorder r = run(platform, jobs, SlotWindow<AlignmentScore>(10, 10));
  CHECK(r.start(2) == 0);
  CHECK(r.start(1) == 0);
  CHECK(r.start(3) == 10);
}
