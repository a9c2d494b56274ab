// Orders of service: their keys, and ageing (S11).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

ActiveJob waiting(const Job& job, double entered_s = 0.0) {
  ActiveJob active;
  active.job = job;
  active.remaining_work = job.work;
  active.entered_s = entered_s;
  return active;
}

}  // namespace

TEST_CASE("S11: ageing: ages 0, 60, 600, 6000 and -30") {
  const AgeingOrder order;  // weight 1000, cap 600 s
  CHECK(order.bonus(0.0) == 0.0);
  CHECK(order.bonus(60.0) == Approx(100.0).epsilon(1e-14));
  CHECK(order.bonus(600.0) == Approx(1000.0).epsilon(1e-14));
  CHECK(order.bonus(6000.0) == order.bonus(600.0));
  CHECK(order.bonus(-30.0) == 0.0);
  const Platform platform = make_platform(1, 1);
  const Dispatch now(platform);  // at 0
  Job j = job(1, 0, 1, 10);
  j.priority = 7;
  CHECK(order.key(now, waiting(j, 0.0)) == -7.0);
  CHECK(order.key(now, waiting(j, -60.0)) == Approx(-107.0).epsilon(1e-14));
  CHECK(order.key(now, waiting(j, 30.0)) == -7.0);  // the clock went back
}

TEST_CASE("S11: base 0 against an endless stream of base 10, rate 0.1/s: first after 100 s at most") {
  std::vector<Job> jobs;
  Job old = job(1000, 0, 1, 5);
  jobs.push_back(job(0, 0, 1, 5));
  jobs.back().priority = 10;
  jobs.push_back(old);
  for (int i = 1; i < 60; ++i) {
    jobs.push_back(job(i, 5.0 * i, 1, 5));
    jobs.back().priority = 10;
  }
  const AgeingOrder order{0.1, 200.0};
  // At 100 both scores are 10: the older is first.
  CHECK(run(make_platform(1, 1), jobs, ListDispatcher<AgeingOrder>({}, order)).start(1000) == 100);
  // Without ageing it waits for the end of the stream.
  CHECK(
      run(make_platform(1, 1), jobs, ListDispatcher<AgeingOrder>({}, AgeingOrder{0.0, 200.0})).start(1000) ==
      300);
}

TEST_CASE(
    "S11: one now for a decision: keys are a strict weak order, the same for any permutation of the input") {
  const Platform platform = make_platform(1, 1);
  const Dispatch now(platform);
  Random random(5);
  const AgeingOrder order;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<std::pair<double, int>> keys;
    for (int i = 0; i < 30; ++i) {
      Job j = job(i, 0, 1, 10);
      j.priority = static_cast<int>(random.below(3));
      const double key = order.key(now, waiting(j, -100.0 * random.below(10)));
      CHECK_FALSE(std::isnan(key));
      keys.emplace_back(key, i);
    }
    std::vector<std::pair<double, int>> other = keys;
    random.shuffle(other);
    std::sort(keys.begin(), keys.end());
    std::sort(other.begin(), other.end());
    CHECK(keys == other);
  }
}

TEST_CASE("Keys of the orders") {
  const Platform platform = make_platform(1, 8);
  const Dispatch now(platform);
  Job j = job(1, 100, 4, 50, 200);
  j.deadline_s = 900;
  const ActiveJob a = waiting(j);
  CHECK(ArrivalJobOrder::key(now, a) == 100.0);
  CHECK(ShortestJobOrder::key(now, a) == 200.0);
  CHECK(LongestJobOrder::key(now, a) == -200.0);
  CHECK(ShortestRemainingOrder::key(now, a) == 200.0);
  CHECK(ShortestServiceOrder::key(now, a) == 800.0);
  CHECK(SmallestJobOrder::key(now, a) == 4.0);
  CHECK(LeastAttainedOrder::key(now, a) == 0.0);
  CHECK(EarliestDeadlineOrder::key(now, a) == 900.0);
  CHECK(F1Order::key(now, a) == Approx(std::log10(200.0) * 4 + 870 * std::log10(100.0)).epsilon(1e-15));
  // Without an estimate the real run time on what was asked for.
  j.estimate_s = kEndless;
  CHECK(ShortestJobOrder::key(now, waiting(j)) == 50.0);
  ActiveJob half = waiting(j);
  half.remaining_work = 80;
  CHECK(ShortestRemainingOrder::key(now, half) == 20.0);
  // An estimate that has run out is 0, not negative.
  j.estimate_s = 200;
  ActiveJob late = waiting(j);
  late.executed_s = 300;
  CHECK(ShortestRemainingOrder::key(now, late) == 0.0);
  // What is not above 0 counts as 0.1 in F1.
  j.submit_s = 0;
  j.estimate_s = 0;
  CHECK(F1Order::key(now, waiting(j)) == Approx(-4.0 - 870.0).epsilon(1e-15));
  CHECK(std::isfinite(Wfp3Order::key(now, waiting(j))));
  CHECK(std::isfinite(UnicefOrder::key(now, waiting(j))));
  CHECK(std::isfinite(FinishTimeFairOrder{}.key(now, waiting(j))));
}

TEST_CASE("Fair orders: who has waited longest for its size comes first") {
  // One device, all at 0: 100 s and 10 s; at 0 the ratios are equal, later the small one suffers more.
  const std::vector<Job> jobs{job(0, 0, 1, 50), job(1, 1, 1, 100), job(2, 1, 1, 10)};
  const Platform platform = make_platform(1, 1);
  CHECK(run(platform, jobs, ListDispatcher<FinishTimeFairOrder>()).start(2) == 50);
  CHECK(run(platform, jobs, ListDispatcher<Wfp3Order>()).start(2) == 50);
  CHECK(run(platform, jobs, ListDispatcher<UnicefOrder>()).start(2) == 50);
  CHECK(run(platform, jobs, ListDispatcher<>()).start(2) == 150);
}

TEST_CASE("RandomJobOrder: a seed gives one order, another seed another") {
  std::vector<Job> jobs;
  for (int i = 0; i < 30; ++i) jobs.push_back(job(i, 0, 1, 1));
  const auto starts = [&](std::uint64_t seed) {
    const Recorder r =
        run(make_platform(1, 1), jobs, ListDispatcher<RandomJobOrder>({}, RandomJobOrder{seed}));
    std::vector<double> all;
    for (int i = 0; i < 30; ++i) all.push_back(r.start(i));
    return all;
  };
  CHECK(starts(1) == starts(1));
  CHECK(starts(1) != starts(2));
}
