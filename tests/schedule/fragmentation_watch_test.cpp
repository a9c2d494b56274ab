// Fragmentation over time, worked out by hand.

#include "mara/schedule/fragmentation_watch.hpp"

#include <vector>

#include "catch.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/simulation/platform_simulator.hpp"

using namespace mara;

namespace {

Job job_of(std::int64_t id, double submit, std::int64_t milli, double seconds) {
  Job job;
  job.id = id;
  job.submit_s = submit;
  job.requested = Milli{milli};
  job.work =
      seconds * (milli < 1000 ? static_cast<double>(milli) / 1000.0 : static_cast<double>(milli / 1000));
  job.type_speed[0] = 1.0;
  return job;
}

TypicalDemand wanting(std::int32_t devices, std::int32_t share, double weight) {
  TypicalDemand typical;
  typical.demand.devices = devices;
  typical.demand.share = share;
  typical.weight = weight;
  return typical;
}

}  // namespace

TEST_CASE("the watch integrates fragmentation between events and changes no decision") {
  // One node of two GPUs; everybody wants a whole GPU. A job of 0.4 GPU from 0 to 10: 0.6 is of no use. A job
  // of one GPU from 4 to 14.
  const Platform platform = make_platform(1, 2);
  const std::vector<Job> jobs{job_of(0, 0.0, 400, 10.0), job_of(1, 4.0, 1000, 10.0)};
  ListDispatcher<> plain;
  FragmentationWatch watch(plain, {wanting(1, 1000, 1.0)});
  ListSource source(jobs);
  NullSink sink;
  PlatformSimulator<> simulator(platform, {});
  const PlatformRun run = simulator.run(source, watch, sink);
  CHECK(run.finished == 2);
  CHECK(run.end_s == 14.0);
  CHECK(watch.name() == plain.name());
  // [0, 4): 1.6 free, 0.6 fragmented; [4, 10): 0.6 and 0.6; [10, 14): 1 and 0.
  REQUIRE(watch.mean_share());
  CHECK(*watch.mean_share() == Approx((4 * 0.6 + 6 * 0.6) / (4 * 1.6 + 6 * 0.6 + 4 * 1.0)));
  CHECK(watch.fragmented_milli() == 0.0);
}

TEST_CASE("a watched scheduler decides as an unwatched one") {
  Random random(3);
  std::vector<Job> jobs;
  double now = 0.0;
  for (std::int64_t i = 0; i < 400; ++i) {
    now += random.exponential(0.4);
    jobs.push_back(job_of(i, now, random.uniform() < 0.5 ? 300 : 1000, random.exponential(0.1)));
  }
  const Platform platform = make_platform(2, 3);
  struct Starts {
    std::vector<double> at;
    void job(const JobOutcome& outcome) { at.push_back(outcome.start_s); }
    void interval(const PlacedInterval&) noexcept {}
  };
  const auto run = [&](auto& scheduler) {
    ListSource source(jobs);
    Starts starts;
    PlatformSimulator<> simulator(platform, {});
    CHECK(simulator.run(source, scheduler, starts).finished == jobs.size());
    return starts.at;
  };
  using Sjf = ListDispatcher<ShortestJobOrder, ScoredPlacement<BestFitScoring>>;
  Sjf plain, watched;
  FragmentationWatch watch(watched, {wanting(1, 300, 0.5), wanting(1, 1000, 0.5)});
  CHECK(run(plain) == run(watch));
  REQUIRE(watch.mean_share());
  CHECK((*watch.mean_share() > 0.0 && *watch.mean_share() < 1.0));
}

TEST_CASE("a platform without free GPUs has no share of them fragmented") {
  ListDispatcher<> plain;
  const FragmentationWatch watch(plain, {wanting(1, 1000, 1.0)});
  CHECK_FALSE(watch.mean_share());
}
