#include "mara/schedule/option_table.hpp"

#include <cmath>

#include "schedule_helpers.hpp"

using namespace schedule_test;

namespace {

struct Scene {
  Cluster cluster{{pool("fast", 4, 80 * 1024), pool("slow", 4, 16 * 1024)}};
  std::vector<Job> jobs;
  std::vector<JobState> active;
  Allocation allocation{cluster};
  DecisionView view;
  OptionTable table;

  explicit Scene(std::vector<Job> list) : jobs(std::move(list)) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      JobState state;
      state.job = static_cast<std::uint32_t>(i);
      state.remaining_work = jobs[i].work;
      active.push_back(state);
    }
    allocation.reset(active.size());
  }
  void build(bool elastic) {
    view = {0.0, &cluster, jobs, active, {30.0, 90.0}};
    table.build(view, allocation, elastic);
  }
};

constexpr double kNever = OptionTable::kNever;

}  // namespace

TEST_CASE("option table: times of every option, costs included") {
  Scene scene({job(0, 2, 100, 0.5, 4)});  // S(k) = k: work 200
  SECTION("never started: the start cost") {
    scene.build(true);
    CHECK(scene.table.seconds(0, {0, 0}) == Approx(200 + 30));
    CHECK(scene.table.seconds(0, {0, 1}) == Approx(100 + 30));
    CHECK(scene.table.seconds(0, {0, 2}) == Approx(50 + 30));
    CHECK(scene.table.seconds(0, {1, 1}) == Approx(200 + 30));
    CHECK(scene.table.ideal_s(0) == Approx(100));
    CHECK(scene.table.best_s(0) == Approx(130));
    CHECK(scene.table.gpu_seconds(0) == Approx(200));
    CHECK(scene.table.smallest_tier(0) == 0);
  }
  SECTION("running: what is left of its cost, a restart for everything else") {
    scene.active[0].started = true;
    scene.active[0].held = {1, Milli::whole(2)};
    scene.active[0].overhead_left_s = 7.0;
    scene.build(true);
    CHECK(scene.table.seconds(0, {1, 1}) == Approx(200 + 7));
    CHECK(scene.table.seconds(0, {1, 2}) == Approx(100 + 90));
    CHECK(scene.table.seconds(0, {0, 1}) == Approx(100 + 90));
    CHECK(scene.table.best_s(0) == Approx(190));
  }
  SECTION("preempted: a restart for all") {
    scene.active[0].started = true;
    scene.build(true);
    CHECK(scene.table.seconds(0, {0, 1}) == Approx(100 + 90));
  }
  SECTION("inelastic: the request alone") {
    scene.build(false);
    CHECK(scene.table.seconds(0, {0, 0}) == kNever);
    CHECK(scene.table.seconds(0, {0, 1}) == Approx(130));
    CHECK(scene.table.seconds(0, {0, 2}) == kNever);
    CHECK(scene.table.smallest_tier(0) == OptionTable::kExact);
  }
}

TEST_CASE("option table: what a job can never hold is no option") {
  auto large_memory = job(0, 1, 10);
  large_memory.demand.gpu_memory_mib = 60 * 1024;
  auto no_slow = job(0, 3, 10, 0.0, 6);
  auto fraction = job(0, 1, 10);
  fraction.requested = Milli{250};
  auto broken = job(0, 1, 10);
  broken.type_speed[0] = std::nan("");
  broken.type_speed[1] = -1.0;
  Scene scene({large_memory, no_slow, fraction, broken});
  scene.build(true);
  CHECK(scene.table.seconds(0, {0, 1}) < kNever);
  CHECK(scene.table.seconds(0, {1, 1}) == kNever);  // device memory
  CHECK(scene.table.seconds(0, {0, 0}) == kNever);  // half of one GPU
  CHECK(scene.table.seconds(0, {0, 2}) == kNever);  // double is above max_gpus
  CHECK(scene.table.seconds(1, {1, 1}) == kNever);  // speed 0
  CHECK(scene.table.gpus(1, 0) == Milli::whole(1));
  CHECK(scene.table.seconds(1, {0, 2}) == kNever);  // 6 of 4 GPUs
  CHECK(scene.table.seconds(2, {0, 1}) < kNever);
  CHECK(scene.table.seconds(2, {0, 0}) == kNever);
  CHECK(scene.table.best_s(3) == kNever);
  CHECK(scene.table.soonest(scene.view, scene.allocation, 3, 0, 2).none());
}

TEST_CASE("option table: the soonest option that fits, ties to the held grant and the lower type") {
  Scene scene({job(0, 2, 100, 1.0, 4), job(0, 2, 100, 1.0, 4)});
  scene.build(true);
  const auto soonest = [&](int first, int last) {
    return scene.table.soonest(scene.view, scene.allocation, 0, first, last);
  };
  CHECK(soonest(1, 1) == RunOption{0, 1});
  CHECK(soonest(0, 2) == RunOption{0, 2});
  REQUIRE(scene.allocation.claim(1, {}, {0, Milli::whole(3)}));
  CHECK(soonest(0, 2) == RunOption{1, 2});
  CHECK(soonest(0, 0) == RunOption{0, 0});
  scene.allocation.release(1);
  REQUIRE(claim_option(scene.view, scene.table, scene.allocation, 1, {1, 2}));
  CHECK(scene.allocation.grant(1) == Grant{1, Milli::whole(4)});
  CHECK_FALSE(claim_option(scene.view, scene.table, scene.allocation, 0, {1, 0}));
  CHECK_FALSE(claim_option(scene.view, scene.table, scene.allocation, 0, {}));
  // Equal times on both types, and it holds the second: no move.
  scene.allocation.reset(2);
  scene.active[0].held = {1, Milli::whole(2)};
  scene.active[0].started = true;
  scene.active[0].overhead_left_s = 90.0;
  scene.build(true);
  CHECK(soonest(1, 1) == RunOption{1, 1});
}
