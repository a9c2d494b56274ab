// The platform engine against queueing theory (F5): one server, Poisson arrivals.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "batch_means.hpp"
#include "mara/core/random.hpp"
#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/simulation/interference.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

void check_within(const std::vector<double>& values, double expected) {
  const Estimate estimate = batch_means(values);
  INFO("estimate " << estimate.mean << " +- " << estimate.standard_error << ", theory " << expected);
  CHECK(std::fabs(estimate.mean - expected) < 3.0 * estimate.standard_error);
  CHECK(estimate.standard_error < 0.05 * expected);  // else the test would prove nothing
}

constexpr std::size_t kWarmUp = 5'000;

using Size = std::function<double(Random&)>;

/// Poisson arrivals drawn one at a time. Jobs ask for `share` milli of the device; its work is its size.
class Arrivals {
 public:
  Arrivals(double rate, std::uint64_t seed, std::size_t jobs, std::int64_t share, Size size)
      : random_(seed), rate_(rate), left_(jobs), share_(share), size_(std::move(size)) {}
  bool next(Submission& next) {
    if (left_ == 0) return false;
    --left_;
    clock_ += random_.exponential(rate_);
    next.job = job(id_++, clock_, 1, size_(random_));
    next.job.requested = Milli{share_};
    next.after.clear();
    return true;
  }

 private:
  Random random_;
  double rate_, clock_ = 0.0;
  std::size_t left_;
  std::int64_t share_, id_ = 0;
  Size size_;
};

/// Per job, in order of arrival.
struct Times {
  struct One {
    double size = 0.0, wait = 0.0, response = 0.0;
  };
  std::vector<One> jobs;
  void job(const JobOutcome& o) {
    REQUIRE(o.finished);
    if (o.sequence >= jobs.size()) jobs.resize(o.sequence + 1);
    jobs[o.sequence] = {o.job->work, o.start_s - o.job->submit_s, o.end_s - o.job->submit_s};
  }
  void interval(const PlacedInterval&) noexcept {}
};

template <class Interference = NoInterference>
std::vector<Times::One> play(double rate, std::uint64_t seed, std::size_t count, std::int64_t share,
                             Size size, Interference interference = {}) {
  const Platform platform = make_platform(1, 1);
  Arrivals source(rate, seed, count, share, std::move(size));
  ListDispatcher<> fcfs;
  Times times;
  PlatformSimulator<NoOverhead, Interference> simulator(platform, {}, {}, interference);
  const PlatformRun run = simulator.run(source, fcfs, times);
  REQUIRE(run.finished == count);
  return {times.jobs.begin() + kWarmUp, times.jobs.end()};
}

template <class Of>
std::vector<double> map(const std::vector<Times::One>& jobs, Of&& of) {
  std::vector<double> values;
  for (const Times::One& j : jobs) values.push_back(of(j));
  return values;
}

double exponential_size(Random& random) {
  return random.exponential(1.0);
}

}  // namespace

TEST_CASE("F5: M/M/1 FCFS: mean response 1 / (mu - lambda)", "[queueing]") {
  const auto response = [](const Times::One& j) { return j.response; };
  check_within(map(play(0.5, 11, 200'000, 1000, exponential_size), response), 2.0);
  check_within(map(play(0.7, 12, 200'000, 1000, exponential_size), response), 1.0 / 0.3);
  check_within(map(play(0.8, 13, 400'000, 1000, exponential_size), response), 5.0);
}

TEST_CASE("F5: M/G/1 FCFS: mean wait lambda E[S^2] / (2 (1 - rho)), Pollaczek and Khinchine", "[queueing]") {
  const auto wait = [](const Times::One& j) { return j.wait; };
  SECTION("constant sizes") {
    check_within(map(play(0.8, 14, 200'000, 1000, [](Random&) { return 1.0; }), wait), 0.8 / (2.0 * 0.2));
  }
  SECTION("0.5 with probability .9, else 5.5: E S = 1, E S^2 = 3.25") {
    check_within(
        map(play(0.6, 15, 200'000, 1000, [](Random& r) { return r.uniform() < 0.9 ? 0.5 : 5.5; }), wait),
        0.6 * 3.25 / (2.0 * 0.4));
  }
  SECTION("log-normal, sigma 1, mean 1: E S^2 = e") {
    check_within(map(play(0.6, 16, 200'000, 1000, [](Random& r) { return r.log_normal(-0.5, 1.0); }), wait),
                 0.6 * std::exp(1.0) / (2.0 * 0.4));
  }
}

TEST_CASE("F5: M/G/1 processor sharing: mean slowdown 1 / (1 - rho) for every size", "[queueing]") {
  const auto slowdown = [](const Times::One& j) { return j.response / j.size; };
  const auto check = [&](const std::vector<Times::One>& jobs, double rho, double cut) {
    std::vector<Times::One> small, large;
    for (const Times::One& j : jobs) (j.size < cut ? small : large).push_back(j);
    REQUIRE(small.size() > 10'000);
    REQUIRE(large.size() > 10'000);
    check_within(map(jobs, slowdown), 1.0 / (1.0 - rho));
    check_within(map(small, slowdown), 1.0 / (1.0 - rho));
    check_within(map(large, slowdown), 1.0 / (1.0 - rho));
    // Mean response E S / (1 - rho), whatever the distribution.
    check_within(map(jobs, [](const Times::One& j) { return j.response; }), 1.0 / (1.0 - rho));
  };
  SECTION("exponential sizes, rho .5") {
    check(play(0.5, 17, 150'000, 1, exponential_size, TimeSharing{}), 0.5, 0.7);
  }
  SECTION("two sizes, rho .7") {
    check(play(
              0.7, 18, 300'000, 1, [](Random& r) { return r.uniform() < 0.9 ? 0.5 : 5.5; }, TimeSharing{}),
          0.7, 1.0);
  }
}

TEST_CASE("F5: on one server SRPT has the least mean response of all disciplines on every sample path",
          "[queueing]") {
  const Platform platform = make_platform(1, 1);
  Random random(19);
  std::size_t better = 0;
  for (int path = 0; path < 1000; ++path) {
    std::vector<Job> jobs;
    double clock = 0.0;
    // Whole seconds: sums are exact, and so is the comparison.
    for (int i = 0; i < 15; ++i) {
      clock += random.below(8);
      jobs.push_back(job(i, clock, 1, 1 + random.below(12)));
    }
    std::vector<Job> shares = jobs;
    for (Job& j : shares) j.requested = Milli{1};
    const auto total = [](const Recorder& r) {
      double sum = 0.0;
      for (const Recorder::Outcome& o : r.outcomes) {
        if (!o.finished) FAIL("a job did not finish");
        sum += o.end_s - o.job.submit_s;
      }
      return sum;
    };
    const ListOptions keep{.preemption = Preemption::kKeep}, repack{.preemption = Preemption::kRepack};
    const double srpt = total(run(platform, jobs, ListDispatcher<ShortestRemainingOrder>(keep)));
    const std::pair<const char*, double> others[] = {
        {"srpt, placed anew", total(run(platform, jobs, ListDispatcher<ShortestRemainingOrder>(repack)))},
        {"fcfs", total(run(platform, jobs, ListDispatcher<>()))},
        {"sjf", total(run(platform, jobs, ListDispatcher<ShortestJobOrder>()))},
        {"sjf, preemptive", total(run(platform, jobs, ListDispatcher<ShortestJobOrder>(keep)))},
        {"ljf, preemptive", total(run(platform, jobs, ListDispatcher<LongestJobOrder>(keep)))},
        {"las, exact", total(run(platform, jobs, ListDispatcher<LeastAttainedOrder>(keep)))},
        {"las", total(run(platform, jobs, DiscretisedLas<>({3.0, 7.0})))},
        {"random",
         total(run(platform, jobs,
                   ListDispatcher<RandomJobOrder>({}, RandomJobOrder{static_cast<std::uint64_t>(path)})))},
        {"fcfs, resumed", total(run(platform, jobs, ListDispatcher<ArrivalJobOrder>(keep)))},
        {"themis, preemptive", total(run(platform, jobs, ListDispatcher<FinishTimeFairOrder>(keep)))},
    };
    for (const auto& [name, sum] : others) {
      INFO("path " << path << ": " << name << " " << sum << ", srpt " << srpt);
      if (!(srpt <= sum)) FAIL();
      better += srpt < sum ? 1 : 0;
    }
    const double ps =
        total(run(platform, submissions(shares), ListDispatcher<>(), {}, NoOverhead{}, TimeSharing{}));
    if (!(srpt <= ps * (1.0 + 1e-12))) FAIL("processor sharing is better on path " << path);
    if (others[0].second != srpt) FAIL("one discipline, two results");
  }
  CHECK(better > 5000);
}
