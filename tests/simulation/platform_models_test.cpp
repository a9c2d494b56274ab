// What starting, distance and neighbours cost on a platform, and how nodes fail.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/simulation/failures.hpp"
#include "mara/simulation/interference.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

Placement on(std::initializer_list<NodeShare> shares) {
  return Placement{shares};
}
ActiveJob holding(const Job& job, const Placement& placement) {
  ActiveJob active;
  active.job = job;
  active.placement = placement;
  active.running = true;
  return active;
}
std::string message(const Status& status) {
  return status ? std::string() : status.error().message;
}

}  // namespace

TEST_CASE("FixedOverhead: the decision's time comes on top of each start, resumption and move") {
  const FixedOverhead overhead{.start = 5.0, .resume = 7.0, .migrate = 11.0, .decision_s = 0.5};
  CHECK(overhead.start_s({}, {}) == 5.5);
  CHECK(overhead.resume_s({}, {}) == 7.5);
  CHECK(overhead.migrate_s({}, {}, {}) == 11.5);

  // One device; a shorter job takes it from a longer one: start 5, work 10, preempted at 15, back at 24.
  const Platform platform = make_platform(1, 1);
  ListDispatcher<ShortestJobOrder> srtf({.preemption = Preemption::kKeep});
  const Recorder r = run(platform, submissions({job(1, 0, 1, 100), job(2, 15, 1, 3.5)}), srtf, {}, overhead);
  CHECK(r.end(2) == 15 + 5.5 + 3.5);
  CHECK(r.end(1) == 24 + 7.5 + (100 - 9.5));
  CHECK(r.of(1).overhead_s == 5.5 + 7.5);
  CHECK(r.of(1).preemptions == 1);
  CHECK(r.of(1).executed_s == 100 + 13);
}

TEST_CASE("TopologyNetwork: the farthest boundary counts") {
  Platform platform = make_platform(4, 4);
  for (Node& node : platform.nodes) node.numa_domains = 2;
  platform.nodes[3].rack = 1;
  const TopologyNetwork network{.across_domains = 0.9, .across_nodes = 0.7, .across_racks = 0.4};
  const auto factor = [&](const Placement& placement) { return network.factor(platform, {}, placement); };
  CHECK(factor(on({{.node = 0, .devices = 0b0001}})) == 1.0);
  CHECK(factor(on({{.node = 0, .devices = 0b0011}})) == 1.0);
  CHECK(factor(on({{.node = 0, .devices = 0b1100}})) == 1.0);
  CHECK(factor(on({{.node = 0, .devices = 0b0110}})) == 0.9);
  CHECK(factor(on({{.node = 0, .devices = 1}, {.node = 1, .devices = 1}})) == 0.7);
  CHECK(factor(on({{.node = 0, .devices = 1}, {.node = 3, .devices = 1}})) == 0.4);
  CHECK(factor(on({{.node = 0}})) == 1.0);  // no device

  // Domains of a node whose devices do not divide evenly: the first ones are larger.
  Node odd;
  odd.devices = 5;
  odd.numa_domains = 2;
  CHECK(odd.domain_of(2) == 0);
  CHECK(odd.domain_of(3) == 1);

  // In a run: 6 devices of nodes with 4: two nodes, 100 s become 100 / 0.7.
  const Recorder r = run(platform, submissions({job(1, 0, 6, 100)}), ListDispatcher<>(), {}, NoOverhead{},
                         NoInterference{}, network);
  CHECK(r.end(1) == Approx(100 / 0.7).epsilon(1e-14));
}

TEST_CASE("TimeSharing: each of n jobs on a device gets 1/n of it, whatever its share") {
  const Platform platform = make_platform(1, 2);
  const TimeSharing model;
  const Job j = fraction(1, 0, 250, 10);
  const ActiveJob a = holding(j, on({{.node = 0, .share = 250, .devices = 0b01}}));
  const ActiveJob b = holding(j, on({{.node = 0, .share = 100, .devices = 0b01}}));
  const ActiveJob c = holding(j, on({{.node = 0, .share = 900, .devices = 0b10}}));
  const ActiveJob host = holding(job(2, 0, 0, 1), on({{.node = 0}}));
  const std::vector<const ActiveJob*> with_b{&b, &c, &host}, with_a{&a, &c, &host}, none;
  CHECK(model.factor(platform, a, 0, none) == 4.0);             // 0.25 x 4: the whole device
  CHECK(model.factor(platform, a, 0, with_b) == 2.0);           // half of it
  CHECK(model.factor(platform, b, 0, with_a) == 1000 / 200.0);  // the other half
  CHECK(model.factor(platform, host, 0, with_b) == 1.0);
  const ActiveJob whole = holding(job(3, 0, 2, 10), on({{.node = 0, .devices = 0b11}}));
  CHECK(model.factor(platform, whole, 0, none) == 1.0);
  const TimeSharing slow{.quantum_s = 0.9, .switch_s = 0.1};
  CHECK(slow.factor(platform, a, 0, none) == 4.0);  // nobody to switch to
  CHECK(slow.factor(platform, a, 0, with_b) == Approx(2.0 * 0.9).epsilon(1e-15));

  // Two jobs of 10 s of a whole device's time; the second comes at 4: 4 + 2 x 6 = 16, then 4 alone: 20.
  std::vector<Job> jobs{fraction(1, 0, 300, 10 / 0.3), fraction(2, 4, 100, 10 / 0.1)};
  const Recorder r = run(make_platform(1, 1), submissions(jobs), ListDispatcher<>(), {}, NoOverhead{}, model);
  CHECK(r.end(1) == Approx(16).epsilon(1e-13));
  CHECK(r.end(2) == Approx(20).epsilon(1e-13));
}

TEST_CASE("TimeSharing: with decisions at ticks only, a neighbour's end counts at its real time") {
  PlatformConfig config;
  config.tick_s = 60;
  config.fixed_interval = true;
  std::vector<Job> jobs{fraction(1, 0, 500, 20), fraction(2, 0, 500, 200)};  // 10 s and 100 s of a device
  const Recorder r =
      run(make_platform(1, 1), submissions(jobs), ListDispatcher<>(), config, NoOverhead{}, TimeSharing{});
  CHECK(r.end(1) == Approx(20).epsilon(1e-13));
  CHECK(r.end(2) == Approx(110).epsilon(1e-13));
}

TEST_CASE("BandwidthInterference: what all need beyond what there is slows all down in proportion") {
  Platform platform = make_platform(2, 2);
  platform.types[0].bandwidth_gb_s = 1000;
  platform.nodes[0].pcie_gb_s = 30;
  const auto model = BandwidthInterference::make({600, 900, 0}, {10, 0, 20});
  REQUIRE(model);
  const auto with = [](int profile, const Placement& placement) {
    Job j = fraction(1, 0, 500, 10);
    j.profile = profile;
    return holding(j, placement);
  };
  const Placement left = on({{.node = 0, .share = 500, .devices = 1}});
  const Placement right = on({{.node = 0, .share = 500, .devices = 2}});
  const ActiveJob a = with(0, left), b = with(1, left), c = with(0, right), d = with(2, right),
                  e = with(-1, left);
  const std::vector<const ActiveJob*> none, only_b{&b}, only_a{&a}, only_c{&c}, c_d{&c, &d}, a_c{&a, &c},
      a_b{&a, &b};
  CHECK(model->factor(platform, a, 0, none) == 1.0);
  CHECK(model->factor(platform, a, 0, only_b) == 1000.0 / 1500.0);
  CHECK(model->factor(platform, b, 0, only_a) == 1000.0 / 1500.0);
  CHECK(model->factor(platform, b, 0, only_c) == 1.0);       // another device; no need of PCIe
  CHECK(model->factor(platform, a, 0, only_c) == 1.0);       // PCIe 20 of 30
  CHECK(model->factor(platform, a, 0, c_d) == 30.0 / 40.0);  // PCIe 40 of 30
  CHECK(model->factor(platform, d, 0, a_c) == 30.0 / 40.0);
  CHECK(model->factor(platform, e, 0, a_b) == 1.0);              // needs nothing
  CHECK(model->factor(platform, with(7, left), 0, a_b) == 1.0);  // not in the list
  // Two whole devices need twice the PCIe of one.
  Job two = job(9, 0, 2, 10);
  two.profile = 2;
  CHECK(model->factor(platform, holding(two, on({{.node = 0, .devices = 3}})), 0, none) == 30.0 / 40.0);
  CHECK(model->factor(platform, holding(two, on({{.node = 1, .devices = 3}})), 1, none) == 1.0);  // unknown
  platform.types[0].bandwidth_gb_s = 0;
  CHECK(model->factor(platform, b, 0, only_a) == 1.0);

  // In a run: 10 s each on their share; together both go at 2/3.
  platform.types[0].bandwidth_gb_s = 1000;
  Job x = fraction(1, 0, 500, 10), y = fraction(2, 0, 500, 10);
  x.profile = 0;
  y.profile = 1;
  const Recorder r = run(platform, submissions({x, y}), ListDispatcher<>(), {}, NoOverhead{}, *model);
  CHECK(r.end(1) == Approx(15).epsilon(1e-14));
  CHECK(r.end(2) == Approx(15).epsilon(1e-14));

  CHECK_FALSE(BandwidthInterference::make({1.0, -2.0}));
  CHECK(BandwidthInterference::make({1.0, std::nan("")}).error().message.find("memory need of profile 1") ==
        0);
  CHECK(BandwidthInterference::make({}, {kEndless}).error().message.find("PCIe need of profile 0") == 0);
}

TEST_CASE("MeasuredPairs: throughput together over alone, by type and profile") {
  const std::string text = R"json({
    "v100": {"('A', 1)": {"null": 10.0, "('A', 1)": [6.0, 6.0], "('B', 1)": [8.0, 3.0]},
             "('B', 1)": {"null": 4.0, "('A', 1)": [3.0, 8.0], "('B', 1)": [0.0, 0.0]}},
    "k80": {"('A', 1)": {"null": 2.0}, "('B', 1)": {"null": 1.0}}})json";
  const auto table = parse_gavel_throughputs(text, "t");
  REQUIRE(table);
  const std::vector<std::string> types{"v100", "k80"};
  const std::vector<std::pair<std::string, int>> profiles{{"B", 1}, {"A", 1}};
  const auto model = MeasuredPairs::make(*table, types, profiles);
  REQUIRE(model);
  CHECK(model->pair(0, 1, 0) == 0.8);
  CHECK(model->pair(0, 0, 1) == 0.75);
  CHECK(model->pair(0, 1, 1) == 0.6);
  CHECK(model->pair(0, 0, 0) == 1e-3);  // does not run so
  CHECK(model->pair(1, 0, 1) == 0.5);   // not measured
  CHECK(model->pair(0, 2, 0) == 0.5);
  CHECK(model->pair(0, 0, -1) == 0.5);

  Platform platform = make_platform(1, 2);
  const auto with = [](int profile, std::uint64_t devices) {
    Job j = fraction(1, 0, 250, 10);
    j.profile = profile;
    return holding(j, on({{.node = 0, .share = 250, .devices = devices}}));
  };
  const ActiveJob a = with(1, 1), b = with(0, 1), elsewhere = with(0, 2);
  const std::vector<const ActiveJob*> none, pair{&b, &elsewhere}, three{&a, &b};
  CHECK(model->factor(platform, a, 0, none) == 4.0);
  CHECK(model->factor(platform, a, 0, pair) == 4.0 * 0.8);
  CHECK(model->factor(platform, a, 0, three) == 4.0 * 0.6 * 0.8);

  const std::vector<std::string> wrong{"v100", "h100"};
  CHECK(MeasuredPairs::make(*table, wrong, profiles).error().message.find("'h100'") != std::string::npos);
  const std::vector<std::pair<std::string, int>> unknown{{"A", 2}};
  CHECK(MeasuredPairs::make(*table, types, unknown).error().message.find("'A' on 2 GPUs") !=
        std::string::npos);
  CHECK_FALSE(MeasuredPairs::make(*table, types, profiles, {.unmeasured = 0.0}));
  CHECK_FALSE(MeasuredPairs::make(*table, types, profiles, {.unmeasured = 0.5, .impossible = std::nan("")}));
}

TEST_CASE("draw_failures: availability and number of failures as renewal theory has them") {
  struct Case {
    double mtbf, mttr, up_shape, down_shape;
  };
  for (const Case& c : {Case{100, 25, 1, 1}, Case{50, 50, 0.7, 1}, Case{200, 20, 2.5, 0.8}}) {
    constexpr std::size_t kNodes = 400;
    const double until = 400 * (c.mtbf + c.mttr);
    const auto outages = draw_failures({c.mtbf, c.mttr, c.up_shape, c.down_shape, 5}, kNodes, until);
    REQUIRE(outages);
    REQUIRE(check_outages(*outages, kNodes));
    std::vector<double> down(kNodes, 0.0), count(kNodes, 0.0);
    double downs = 0.0;
    for (const Outage& outage : *outages) {
      downs += outage.to_s - outage.from_s;
      const std::uint32_t node = outage.node;
      down[node] += std::min(outage.to_s, until) - outage.from_s;
      count[node] += 1.0;
      CHECK(outage.kind == Outage::Kind::kFailure);
    }
    const auto within = [](const std::vector<double>& values, double scale, double expected) {
      double sum = 0.0, squares = 0.0;
      for (const double v : values) {
        sum += v / scale;
        squares += (v / scale) * (v / scale);
      }
      const double n = static_cast<double>(values.size()), mean = sum / n;
      const double error = std::sqrt((squares / n - mean * mean) / (n - 1.0));
      INFO(mean << " +- " << error << ", theory " << expected);
      CHECK(std::fabs(mean - expected) < 3.0 * error);
      CHECK(error < 0.01 * expected);
    };
    within(down, until, c.mttr / (c.mtbf + c.mttr));
    // The number of failures differs from time / (mtbf + mttr) by about one in 400.
    const double n = static_cast<double>(outages->size());
    CHECK(n / (400.0 * kNodes) == Approx(1.0).epsilon(0.01));
    CHECK(downs / n == Approx(c.mttr).epsilon(0.02));
  }
}

TEST_CASE(
    "draw_failures: a node's outages depend on the seed and its number alone; bad numbers are refused") {
  const FailureModel model{1000, 10, 1, 1, 3};
  const auto few = draw_failures(model, 2, 1e5), many = draw_failures(model, 5, 1e5);
  REQUIRE(few);
  REQUIRE(many);
  REQUIRE(few->size() > 100);
  for (std::size_t i = 0; i < few->size(); ++i) CHECK((*few)[i].from_s == (*many)[i].from_s);
  FailureModel other = model;
  other.seed = 4;
  CHECK(draw_failures(other, 2, 1e5)->front().from_s != few->front().from_s);
  CHECK(draw_failures(model, 0, 1e5)->empty());
  CHECK(draw_failures(model, 2, 0.0)->empty());
  // Repairs shorter than the clock can show still take time.
  REQUIRE(check_outages(*draw_failures({1e6, 1e-12, 1, 1, 1}, 3, 1e9), 3));

  const double nan = std::nan("");
  for (const double bad : {0.0, -1.0, nan, kEndless}) {
    CHECK(draw_failures({bad, 1}, 1, 1).error().message.find("mtbf_s") != std::string::npos);
    CHECK(draw_failures({1, bad}, 1, 1).error().message.find("mttr_s") != std::string::npos);
    CHECK(draw_failures({1, 1, bad}, 1, 1).error().message.find("mtbf_shape") != std::string::npos);
    CHECK(draw_failures({1, 1, 1, bad}, 1, 1).error().message.find("mttr_shape") != std::string::npos);
  }
  for (const double bad : {-1.0, nan, kEndless}) CHECK_FALSE(draw_failures(model, 1, bad));
  CHECK_FALSE(draw_failures({1e-9, 1e-9}, 1000, 1e9));  // more than memory holds
}

TEST_CASE("Maintenance: every node in its turn, and again; merged with failures it stays a legal list") {
  const std::vector<std::uint32_t> nodes{2, 0};
  const auto plan =
      plan_maintenance({.first_s = 10, .length_s = 5, .every_s = 100, .stagger_s = 7}, nodes, 120);
  REQUIRE(plan);
  REQUIRE(plan->size() == 4);
  CHECK((*plan)[0].node == 2);
  CHECK((*plan)[0].from_s == 10);
  CHECK((*plan)[0].to_s == 15);
  CHECK((*plan)[1].node == 0);
  CHECK((*plan)[1].from_s == 17);
  CHECK((*plan)[3].from_s == 117);
  CHECK((*plan)[3].kind == Outage::Kind::kMaintenance);
  CHECK(plan_maintenance({.first_s = 10, .length_s = 5}, nodes, 1e9)->size() == 2);
  CHECK_FALSE(plan_maintenance({.length_s = 0}, nodes, 10));
  CHECK_FALSE(plan_maintenance({.length_s = 5, .every_s = 4}, nodes, 10));
  CHECK_FALSE(plan_maintenance({.first_s = std::nan(""), .length_s = 5}, nodes, 10));
  CHECK_FALSE(plan_maintenance({.length_s = 1e-9, .every_s = 1e-9}, nodes, 1e9));

  std::vector<Outage> all = *plan;
  all.push_back({2, 12, 30, Outage::Kind::kFailure});  // fails while it is down
  all.push_back({0, 16, 18, Outage::Kind::kFailure});  // down before maintenance
  all.push_back({0, 22, 23, Outage::Kind::kFailure});  // at its end: another one
  CHECK_FALSE(check_outages(all, 3));
  const std::vector<Outage> merged = merge_outages(all);
  REQUIRE(check_outages(merged, 3));
  REQUIRE(merged.size() == 5);
  CHECK(merged[0].from_s == 16);
  CHECK(merged[0].to_s == 22);
  CHECK(merged[0].kind == Outage::Kind::kFailure);
  CHECK(merged[1].from_s == 22);
  CHECK(merged[3].to_s == 30);
  CHECK(merged[3].kind == Outage::Kind::kMaintenance);

  // Random lists: a merged one is legal and covers the same times.
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Outage> drawn;
    for (int i = 0; i < 8; ++i) {
      const double from = static_cast<double>(random.below(20));
      drawn.push_back({random.below(2), from, from + 1 + random.below(6)});
    }
    const std::vector<Outage> one = merge_outages(drawn);
    REQUIRE(check_outages(one, 2));
    const auto covered = [](const std::vector<Outage>& list, std::uint32_t node, double time) {
      for (const Outage& o : list)
        if (o.node == node && o.from_s <= time && time < o.to_s) return true;
      return false;
    };
    for (std::uint32_t node = 0; node < 2; ++node)
      for (double t = 0.5; t < 30; t += 1.0) CHECK(covered(drawn, node, t) == covered(one, node, t));
  }
}

TEST_CASE("S17: outages with bad numbers are refused by node and field") {
  CHECK(message(check_outages(std::vector<Outage>{{3, 0, 1}}, 3)).find("node 3") != std::string::npos);
  CHECK(message(check_outages(std::vector<Outage>{{0, -1, 1}}, 1)).find("from_s is -1") != std::string::npos);
  CHECK(message(check_outages(std::vector<Outage>{{0, std::nan(""), 1}}, 1)).find("from_s is nan") !=
        std::string::npos);
  CHECK(message(check_outages(std::vector<Outage>{{0, 2, 2}}, 1)).find("to_s is 2") != std::string::npos);
  CHECK(message(check_outages(std::vector<Outage>{{0, 2, std::nan("")}}, 1)).find("to_s is nan") !=
        std::string::npos);
  CHECK(message(check_outages(std::vector<Outage>{{0, 2, 5}, {0, 4, 6}}, 1)).find("overlaps") !=
        std::string::npos);
  CHECK(check_outages(std::vector<Outage>{{0, 2, 5}, {0, 5, 6}, {1, 0, kEndless}}, 2));
}
