// What agents and critic see: hand-computed numbers, finite whatever comes in, the same for any numbering of
// agents.
#include "mara/environment/cluster_observation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "environment_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

template <int Types>
struct Observed {
  std::vector<std::uint32_t> order;
  std::vector<float> rows, global;
};

template <int Types>
Observed<Types> observe(const DecisionView& view, double unit_s = 300.0) {
  using Observation = ClusterObservation<Types>;
  Observation observation(ObservationConfig{unit_s});
  observation.prepare(view);
  Observed<Types> seen;
  seen.order.assign(observation.order().begin(), observation.order().end());
  seen.rows.assign(view.active.size() * Observation::kSize, -77.0f);
  seen.global.assign(Observation::kGlobal, -77.0f);
  observation.write_agents(view, seen.rows.data());
  observation.write_global(seen.global.data());
  return seen;
}

double log_time(double units) {
  return 0.25 * std::log(0.05 + units);
}
double log_count(double x) {
  return 0.25 * std::log1p(x);
}

void require_close(const float* got, const std::vector<double>& expected, const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(what << " entry " << i);
    CHECK(static_cast<double>(got[i]) == Approx(expected[i]).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("two jobs by hand", "[observation]") {
  using Observation = ClusterObservation<2>;
  STATIC_REQUIRE(Observation::kOwn == 29);
  STATIC_REQUIRE(Observation::kCluster == 20);
  STATIC_REQUIRE(Observation::kGlobal == 28);
  Scene scene;
  scene.cluster.types = {pool("fast", 4), pool("slow", 8)};
  scene.now_s = 500.0;
  // Runs on 2 slow GPUs, 100 s (on the fast type) of 400 left; 1 restart, 30 s of it unpaid.
  scene.add(job_of(300.0, 2, 400.0, 4), {1, Milli::whole(2)});
  scene.active[0].remaining_work = 200.0;
  scene.active[0].restarts = 1;
  scene.active[0].overhead_left_s = 30.0;
  // Waits for 1 fast GPU, which is all it can use; 800 s, S(k) = k^.5.
  Job captive = job_of(450.0, 1, 800.0, 2, SpeedUp{SpeedUp::Kind::kPower, 0.5});
  captive.type_speed = {2.0, 0.0};
  scene.add(captive);

  const auto seen = observe<2>(scene.view(), 100.0);
  CHECK(seen.order == std::vector<std::uint32_t>{0, 1});
  const std::vector<double> first{log_time(1.0),
                                  log_time(2.0),  // remaining on 2 GPUs of each type: 100 s, 200 s
                                  1.0,
                                  0.5,  // speeds relative to its best
                                  log_time(4.0),
                                  1.0 / 3.0,
                                  1.0,  // total; log2(2)/3; log2 S(2) of a linear job
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  1,
                                  0,  // holds option 1 + 1 * 3 + 1
                                  0.5 * std::log1p(200.0 / 400.0),
                                  log_count(2.0),  // age 200 s
                                  0.0,
                                  0.0,
                                  0.0,
                                  0.0,  // first in turn: nothing ahead, nothing held before it
                                  0.0,
                                  0.0,  // nor after it
                                  0.0,
                                  1.0,
                                  1.0,  // own class ahead; half of 2 and double of 2 exist
                                  0.3,
                                  1.0,
                                  0.5 * std::log1p(1.0),
                                  0.0};
  const std::vector<double> second{log_time(4.0),
                                   1.5,
                                   1.0,
                                   0.0,
                                   log_time(4.0),
                                   0.0,
                                   0.5,
                                   1,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0.5 * std::log1p(50.0 / 400.0),
                                   log_count(0.5),
                                   0.5,
                                   std::log1p(2.0 / 12.0),
                                   0.0,
                                   2.0 / 8.0,  // behind one agent that asked for 2 and holds 2 of 8 slow
                                   0.0,
                                   0.0,
                                   0.0,
                                   0.0,
                                   1.0,
                                   0.0,
                                   0.0,
                                   0.0,
                                   log_count(1.0)};
  REQUIRE(first.size() == 29);
  REQUIRE(second.size() == 29);
  require_close(seen.rows.data(), first, "running");
  require_close(seen.rows.data() + Observation::kSize, second, "waiting");

  const double work = (100.0 * 2.0 + 400.0 * 1.0) / 12.0 / 100.0;
  const std::vector<double> global{1.0,
                                   0.75,  // free per type
                                   0.5,
                                   0.5,  // one job runs on one type, one on two
                                   log_count(2),
                                   log_count(1),
                                   std::log1p(3.0 / 12.0),
                                   std::log1p(1.0 / 12.0),
                                   std::log1p(1.0 / 12.0),
                                   log_time(1),
                                   log_time(1),
                                   log_time(4),
                                   log_time(4),
                                   log_time(4),  // quantiles of remaining time
                                   log_count(2),
                                   log_count(2),  // younger than 4 and than 16 units
                                   log_count(work),
                                   (1.0 + 0.5) / 2.0,
                                   0.5 / 3.0,
                                   0.5,
                                   0.0,
                                   log_count(1),
                                   log_count(5.0),
                                   log_count(4.0),
                                   log_count(2.5),
                                   0.25 * (std::log1p(0.5) + std::log1p(0.125)),
                                   log_count(std::log1p(0.5) + std::log1p(0.125)),
                                   0.0};
  REQUIRE(global.size() == 28);
  require_close(seen.global.data(), global, "global");
  // The cluster's part of every row is the beginning of the critic's state.
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t c = 0; c < Observation::kCluster; ++c)
      CHECK(seen.rows[i * Observation::kSize + Observation::kOwn + c] == seen.global[c]);
}

TEST_CASE(
    "the shorter of two jobs that are alike otherwise has the earlier turn; equal ones keep their order",
    "[observation]") {
  Scene scene;
  scene.cluster.types = {pool("fast", 4), pool("slow", 8)};
  for (const double seconds : {900.0, 30.0, 100.0, 30.0, 5000.0}) scene.add(job_of(0.0, 2, seconds));
  CHECK(observe<2>(scene.view()).order == std::vector<std::uint32_t>{1, 3, 2, 0, 4});
}

TEST_CASE("the unit of time is all that matters: everything 128 times slower looks the same",
          "[observation]") {
  Random random(4);
  int compared = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Scene scene = random_scene<3>(random, 12);
    Scene slow = scene;
    slow.now_s *= 128.0;
    for (Job& job : slow.jobs) job.work *= 128.0, job.submit_s *= 128.0;
    for (JobState& state : slow.active) state.remaining_work *= 128.0, state.overhead_left_s *= 128.0;
    bool tiny = false;  // run times below a second are capped, which is not scale free
    for (const Job& job : scene.jobs)
      tiny = tiny || job.work / (2.0 * job.speed_up(job.requested.as_double())) < 1.0;
    if (tiny || scene.active.empty()) continue;
    ++compared;
    const auto seen = observe<3>(scene.view(), 300.0), same = observe<3>(slow.view(), 128.0 * 300.0);
    CHECK(seen.order == same.order);
    CHECK(seen.rows == same.rows);
    CHECK(seen.global == same.global);
  }
  CHECK(compared > 30);
}

TEST_CASE("renumbering the agents renumbers the rows", "[observation]") {
  constexpr std::size_t kSize = ClusterObservation<3>::kSize;
  Random random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const Scene scene = random_scene<3>(random, 15);
    std::vector<std::size_t> permutation(scene.active.size());
    std::iota(permutation.begin(), permutation.end(), std::size_t{0});
    random.shuffle(permutation);
    Scene other = scene;
    for (std::size_t i = 0; i < permutation.size(); ++i) other.active[i] = scene.active[permutation[i]];
    const auto seen = observe<3>(scene.view()), permuted = observe<3>(other.view());
    for (std::size_t i = 0; i < permutation.size(); ++i) {
      CHECK(permutation[permuted.order[i]] == seen.order[i]);
      for (std::size_t c = 0; c < kSize; ++c) {
        const float a = seen.rows[permutation[i] * kSize + c], b = permuted.rows[i * kSize + c];
        if (std::fabs(a - b) > 1e-6f * std::max(1.0f, std::fabs(a)))
          FAIL("agent " << i << ", entry " << c << ": " << a << ", " << b);
      }
    }
    for (std::size_t c = 0; c < seen.global.size(); ++c)
      CHECK(permuted.global[c] == Approx(seen.global[c]).margin(1e-6));
  }
}

TEST_CASE("extreme and broken readings stay finite, and every agent has one turn", "[observation]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInf = std::numeric_limits<double>::infinity();
  const double extremes[] = {0.0,  1e-300, 1e300, std::numeric_limits<double>::max(),
                             kInf, kNan,   -1.0,  -1e300};
  Random random(6);
  const auto pick = [&](double usual) { return random.below(3) == 0 ? extremes[random.below(8)] : usual; };
  for (int trial = 0; trial < 500; ++trial) {
    Scene scene = random_scene<3>(random, 40);
    for (Job& job : scene.jobs) {
      job.work = pick(job.work);
      job.submit_s = pick(job.submit_s);
      job.type_speed[random.below(3)] = pick(1.0);
      if (random.below(3) == 0) job.requested = Milli::whole(1'000'000'000);
    }
    for (JobState& state : scene.active) {
      state.remaining_work = pick(state.remaining_work);
      state.overhead_left_s = pick(state.overhead_left_s);
      if (random.below(10) == 0) state.restarts = std::numeric_limits<int>::max();
      if (random.below(10) == 0) state.held = Grant{7, Milli::whole(1)};
    }
    scene.now_s = pick(scene.now_s);
    const auto seen = observe<3>(scene.view(), random.below(2) == 0 ? 300.0 : 1e-9);
    std::vector<std::uint32_t> turns = seen.order;
    std::sort(turns.begin(), turns.end());
    for (std::size_t i = 0; i < turns.size(); ++i) REQUIRE(turns[i] == i);
    const auto finite = [](float x) { return std::isfinite(x); };
    REQUIRE(std::all_of(seen.rows.begin(), seen.rows.end(), finite));
    REQUIRE(std::all_of(seen.global.begin(), seen.global.end(), finite));
    REQUIRE(std::count(seen.rows.begin(), seen.rows.end(), -77.0f) == 0);
    REQUIRE(std::count(seen.global.begin(), seen.global.end(), -77.0f) == 0);
  }
}

TEST_CASE("a broken reading has the last turn", "[observation]") {
  Scene scene;
  scene.cluster.types = {pool("fast", 4), pool("slow", 8)};
  for (const double seconds : {900.0, 30.0, 100.0, 30.0, 5000.0}) scene.add(job_of(0.0, 2, seconds));
  scene.active[1].remaining_work = std::numeric_limits<double>::quiet_NaN();
  scene.active[2].remaining_work = -1e9;  // its logarithm is no number either
  CHECK(observe<2>(scene.view()).order == std::vector<std::uint32_t>{3, 0, 4, 1, 2});
}

TEST_CASE("an empty system has a summary", "[observation]") {
  using Observation = ClusterObservation<2>;
  Cluster cluster;
  cluster.types = {pool("fast", 4), pool("slow", 8)};
  Observation observation(ObservationConfig{});
  observation.prepare_empty(cluster);
  CHECK(observation.order().empty());
  std::vector<float> row(Observation::kGlobal, -77.0f);
  observation.write_global(row.data());
  CHECK(row[0] == 1.0f);
  CHECK(row[1] == 1.0f);
  for (std::size_t i = 2; i < 14; ++i) CHECK(row[i] == 0.0f);
}
