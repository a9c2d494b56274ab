// Properties that hold for every rule and workload, and classic theorems.

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>

#include "mara/schedule/rules.hpp"
#include "schedule_helpers.hpp"

using namespace schedule_test;

namespace {

template <class Rule>
constexpr bool kElastic = std::is_same_v<Rule, Optimus> || std::is_same_v<Rule, Hesrpt>;
template <class Rule>
constexpr bool kPreemptive = kElastic<Rule> || std::is_same_v<Rule, Srtf>;

/// Looks over a rule's shoulder at every decision.
template <class Rule>
struct Watched {
  Rule rule{};
  std::size_t wrong_size = 0;    // grants that are no tier of the job, or not exact for an inelastic rule
  std::size_t preempted = 0;     // grants taken away or changed
  std::size_t left_waiting = 0;  // waiting jobs for which there was room
  std::size_t idle = 0;          // decisions that run nothing

  static constexpr std::string_view name() noexcept { return Rule::name(); }
  void decide(const DecisionView& view, Allocation& allocation) {
    rule.decide(view, allocation);
    bool any = false;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      const Job& job = view.job(agent);
      const Grant grant = allocation.grant(agent), held = view.active[agent].held;
      any = any || !grant.empty();
      if (!held.empty() && grant != held) ++preempted;
      bool known = false, room = false;
      for (int tier = 0; tier < kTiers; ++tier) {
        if (!kElastic<Rule> && tier != 1) continue;
        const Milli gpus = tier_gpus(job, tier);
        if (gpus.value <= 0) continue;
        known = known || grant.gpus == gpus;
        for (int type = 0; type < view.cluster->type_count(); ++type)
          room = room || (job.type_speed[static_cast<std::size_t>(type)] > 0.0 &&
                          allocation.fits(job.demand, {type, gpus}));
      }
      if (!grant.empty() && !known) ++wrong_size;
      if (grant.empty() && room) ++left_waiting;
    }
    if (!any) ++idle;
  }
};

bool same(const SimulationResult& a, const SimulationResult& b) {
  if (a.records.size() != b.records.size() || a.intervals.size() != b.intervals.size()) return false;
  for (std::size_t i = 0; i < a.records.size(); ++i)
    if (a.records[i].end_s != b.records[i].end_s || a.records[i].start_s != b.records[i].start_s)
      return false;
  return a.intervals == b.intervals;
}

/// Least sum of flow times on one machine when any job may be preempted at whole seconds, by trying
/// everything. Four jobs of less than 6 seconds that are released before time 8.
class LeastFlow {
 public:
  explicit LeastFlow(std::array<int, 4> release) : release_(release), known_(6 * 6 * 6 * 6 * 32, -1) {}
  int operator()(std::array<int, 4> left, int now = 0) {
    if (left == std::array<int, 4>{}) return 0;
    int index = now;
    for (const int seconds : left) index = index * 6 + seconds;
    int& known = known_[static_cast<std::size_t>(index)];
    if (known >= 0) return known;
    int best = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == 0 || release_[i] > now) continue;
      auto next = left;
      const int flow = --next[i] == 0 ? now + 1 - release_[i] : 0;
      best = std::min(best, flow + (*this)(next, now + 1));
    }
    if (best == std::numeric_limits<int>::max()) best = (*this)(left, now + 1);  // nobody is there yet
    return known = best;
  }

 private:
  std::array<int, 4> release_;
  std::vector<int> known_;
};

}  // namespace

TEST_CASE("rules: every workload is finished, within the limits, with what the rule may grant") {
  for_each_rule([](auto& prototype) {
    using Rule = std::decay_t<decltype(prototype)>;
    INFO(Rule::name());
    double restarts = 0.0;
    int most_restarts = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      INFO("seed " << seed);
      const Cluster cluster = three_types(seed % 2 == 0 ? 8 : 16);
      const std::size_t count = 30;
      const bool ticks = seed % 3 == 0;
      Watched<Rule> watched;
      SimulationConfig config;
      config.tick_s = ticks ? 300.0 : 0.0;
      config.fixed_interval = ticks;
      if (seed % 5 == 0) config.overheads = {0.0, 0.0};
      const auto result =
          simulate(cluster, random_jobs(seed, count, seed % 4 < 2 ? 300.0 : 60.0, true), watched, config);
      REQUIRE(result);
      REQUIRE(
          std::all_of(result->records.begin(), result->records.end(), [](auto& r) { return r.finished; }));
      REQUIRE_FALSE(result->stalled);
      REQUIRE(result->refused_grants == 0);
      REQUIRE(watched.wrong_size == 0);
      REQUIRE(watched.left_waiting == 0);
      if (!ticks) REQUIRE(watched.idle == 0);
      if (!kPreemptive<Rule>) REQUIRE(watched.preempted == 0);
      restarts += restarts_per_job(*result);
      for (const JobRecord& record : result->records)
        most_restarts = std::max(most_restarts, record.restarts);
    }
    // Jobs must not be thrown about: on average a few restarts, and never one for each other job's coming and
    // going.
    INFO("restarts per job " << restarts / 200 << ", most " << most_restarts);
    CHECK(restarts / 200 < 4.0);
    CHECK(most_restarts < 60);
  });
}

TEST_CASE("rules: the same input gives the same run, whatever the rule did before") {
  const Cluster cluster = three_types(8);
  for_each_rule([&](auto& used) {
    using Rule = std::decay_t<decltype(used)>;
    INFO(Rule::name());
    const auto jobs = random_jobs(7, 60, 120.0, true);
    const auto first = run(cluster, jobs, Rule{}, {30, 90});
    const auto other = random_jobs(8, 90, 60.0);
    SimulationConfig config;
    config.record_intervals = true;
    REQUIRE(simulate(cluster, other, used, config));
    const auto again = simulate(cluster, jobs, used, config);
    REQUIRE(again);
    CHECK(same(first, *again));
  });
}

TEST_CASE("rules: names and order") {
  std::vector<std::string_view> names;
  for_each_rule([&](auto& rule) { names.push_back(rule.name()); });
  CHECK(names == std::vector<std::string_view>{"fcfs", "sjf", "srtf", "tetris", "optimus", "hesrpt"});
  CHECK(std::equal(names.begin(), names.end(), kRuleNames.begin(), kRuleNames.end()));
  CHECK(StrictFcfs::name() == "fcfs-strict");
}

TEST_CASE("rules: a gang holds all its GPUs or none (S08)") {
  const Cluster cluster{{pool("only", 100)}};
  for_each_rule([&](auto& rule) {
    INFO(rule.name());
    auto jobs = numbered({job(0, 100, 10), job(0, 100, 10)});
    const auto result = run(cluster, jobs, rule);
    if (kElastic<std::decay_t<decltype(rule)>>) {
      // Half of the request is an option of its own; nothing else below it is.
      for (const auto& interval : result.intervals)
        CHECK((interval.grant.gpus == Milli::whole(50) || interval.grant.gpus == Milli::whole(100)));
    } else {
      require_times(ends(result), {10, 20});
      for (const auto& interval : result.intervals) CHECK(interval.grant.gpus == Milli::whole(100));
    }
  });
}

TEST_CASE("rules: sjf runs in order of size, whatever the order of submission") {
  const Cluster cluster{{pool("only", 1)}};
  const auto result = run(cluster, numbered({job(0, 1, 7), job(0, 1, 2), job(0, 1, 5), job(0, 1, 2)}), Sjf{});
  require_times(ends(result), {16, 2, 9, 4});  // 2, 2 (submitted later), 5, 7
}

TEST_CASE("rules: sjf orders by the time on the best type, not by work") {
  // Both need 2 GPUs. The first has twice the work, but runs it at double speed thanks to its speed-up.
  const Cluster cluster{{pool("only", 2)}};
  auto a = job(0, 2, 4, 0.0, 2, {SpeedUp::Kind::kPower, 1.0});   // work 8
  auto b = job(0, 2, 5, 0.0, 2, {SpeedUp::Kind::kAmdahl, 0.0});  // work 5
  require_times(ends(run(cluster, numbered({b, a}), Sjf{})), {9, 4});
}

TEST_CASE("rules: srtf is optimal on one GPU without restart costs") {
  const Cluster cluster{{pool("only", 1)}};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 3);
    std::vector<Job> jobs;
    std::array<int, 4> release{}, left{};
    for (std::size_t i = 0; i < 4; ++i) {
      release[i] = static_cast<int>(random.below(8));
      left[i] = 1 + static_cast<int>(random.below(5));
      jobs.push_back(job(release[i], 1, left[i]));
    }
    const double best = LeastFlow(release)(left);
    INFO("seed " << seed);
    CHECK(4.0 * mean_jct_s(run(cluster, numbered(jobs), Srtf{})) == Approx(best));
    for_each_rule([&](auto& rule) {
      INFO(rule.name());
      CHECK(4.0 * mean_jct_s(run(cluster, numbered(jobs), rule)) >= best - 1e-9);
    });
  }
}

TEST_CASE("rules: each is as strong as its place in the table") {
  // Clairvoyance, preemption and elasticity each gain much on heavy-tailed loads; a rule that loses its place
  // has become a weak rival.
  const Cluster cluster = three_types(16);
  std::vector<double> jct(kRuleNames.size());
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    std::size_t index = 0;
    for_each_rule([&](auto& rule) {
      jct[index++] +=
          mean_jct_s(run(cluster, random_jobs(100 + seed, 700, 380.0), rule, {30, 90}, 300.0)) / 4 / 3600;
    });
  }
  const auto [fcfs, sjf, srtf, tetris, optimus, hesrpt] =
      std::tie(jct[0], jct[1], jct[2], jct[3], jct[4], jct[5]);
  INFO("hours: fcfs " << fcfs << ", sjf " << sjf << ", srtf " << srtf << ", tetris " << tetris << ", optimus "
                      << optimus << ", hesrpt " << hesrpt);
  CHECK(sjf < 0.8 * fcfs);
  CHECK(tetris < 0.8 * fcfs);
  CHECK(srtf < 0.9 * sjf);
  CHECK(optimus < 0.9 * srtf);
  CHECK(hesrpt < 0.9 * srtf);
}
