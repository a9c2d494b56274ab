// The models that the options of mara-lab simulate choose.

#include "lab/simulate_models.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "lab/simulate.hpp"
#include "mara/cluster/platform_text.hpp"
#include "mara/simulation/failures.hpp"

namespace {

using namespace mara;
using lab::SimulateOptions;

/// Jobs on whole devices of type 0: (submission, seconds) each.
RigidJobs some_jobs(std::initializer_list<std::pair<double, double>> list, int devices = 1) {
  RigidJobs jobs;
  for (const auto& [submit_s, seconds] : list) {
    Job job;
    job.id = static_cast<std::int64_t>(jobs.jobs.size());
    job.submit_s = submit_s;
    job.requested = Milli::whole(devices);
    job.max_gpus = devices;
    job.work = seconds * devices;
    job.type_speed.fill(0.0);
    job.type_speed[0] = 1.0;
    jobs.jobs.push_back(job);
    jobs.after.emplace_back();
  }
  return jobs;
}

template <class T>
std::string message(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}

bool same(const Outage& a, const Outage& b) {
  return a.node == b.node && a.from_s == b.from_s && a.to_s == b.to_s && a.kind == b.kind;
}

}  // namespace

TEST_CASE("nothing is said: nothing fails, nothing costs") {
  SimulateOptions options;
  Platform platform = make_platform(2, 4);
  const RigidJobs jobs = some_jobs({{0, 100}});
  const auto outages = lab::make_outages(options, platform, jobs);
  REQUIRE(outages);
  CHECK(outages->list.empty());
  CHECK(std::isinf(outages->until_s));
  CHECK(lab::parse_checkpoint(options).value() == 0.0);
  const auto network = lab::make_network(options, platform);
  REQUIRE(network);
  CHECK(network->across_domains == 1.0);
  CHECK(network->across_nodes == 1.0);
  CHECK(network->across_racks == 1.0);
  CHECK(platform.nodes[0].numa_domains == 1);
  std::vector<std::string> notes;
  const auto interference = lab::make_interference(options, jobs, nullptr, platform, notes);
  REQUIRE(interference);
  CHECK_FALSE(interference->has_value());
  CHECK(notes.empty());
  const auto overhead = lab::make_overhead(options, jobs);
  REQUIRE(overhead);
  const auto& fixed = std::get<FixedOverhead>(*overhead);
  CHECK(fixed.start_s({}, {}) == 0.0);
  CHECK(fixed.migrate_s({}, {}, {}) == 0.0);
}

TEST_CASE("failures count from the first submission and reach as far as the jobs could") {
  SimulateOptions options;
  options.failures = "500,50";
  const Platform platform = make_platform(3, 4);
  const RigidJobs jobs = some_jobs({{7000, 4000}, {8000, 6000}});
  const auto outages = lab::make_outages(options, platform, jobs);
  REQUIRE(outages);
  CHECK(outages->until_s == 7000 + 1000 + 10000);
  CHECK(check_outages(outages->list, 3));
  REQUIRE(outages->list.size() > 20);
  for (const Outage& outage : outages->list) {
    CHECK(outage.from_s > 7000.0);
    CHECK(outage.from_s < 18000.0);
    CHECK(outage.kind == Outage::Kind::kFailure);
  }
  // The mean time from repair to failure, within five standard errors.
  double up_s = 0.0, last_s = 7000.0;
  std::uint32_t node = 0;
  for (const Outage& outage : outages->list) {
    if (outage.node != node) last_s = 7000.0;
    node = outage.node;
    up_s += outage.from_s - last_s;
    last_s = outage.to_s;
  }
  const auto count = static_cast<double>(outages->list.size());
  CHECK(std::fabs(up_s / count - 500.0) < 5.0 * 500.0 / std::sqrt(count));

  // The same with longer jobs, and more; others with another seed.
  const auto longer = lab::make_outages(options, platform, some_jobs({{7000, 4000}, {8000, 60000}}));
  REQUIRE(longer);
  CHECK(longer->list.size() > outages->list.size());
  for (const Outage& outage : outages->list)
    CHECK(std::any_of(longer->list.begin(), longer->list.end(),
                      [&](const Outage& other) { return same(outage, other); }));
  options.seed = 2;
  const auto other = lab::make_outages(options, platform, jobs);
  REQUIRE(other);
  CHECK_FALSE(same(other->list.front(), outages->list.front()));
}

TEST_CASE("the number of outages is bounded") {
  SimulateOptions options;
  options.failures = "0.001,0.001";
  const auto outages = lab::make_outages(options, make_platform(10, 1), some_jobs({{0, 1e6}}));
  REQUIRE(outages);
  CHECK(outages->until_s == Approx(200.0));
  CHECK(outages->list.size() < 1'100'000);
}

TEST_CASE("maintenance is planned for every node, and once also when that is late") {
  SimulateOptions options;
  options.maintenance = "1000,50,0,100";
  const RigidJobs jobs = some_jobs({{500, 10}});
  const auto once = lab::make_outages(options, make_platform(3, 1), jobs);
  REQUIRE(once);
  REQUIRE(once->list.size() == 3);
  CHECK(std::isinf(once->until_s));
  for (std::uint32_t n = 0; n < 3; ++n)
    CHECK(same(once->list[n], {n, 1500.0 + 100.0 * n, 1550.0 + 100.0 * n, Outage::Kind::kMaintenance}));
  options.maintenance = "0,50,60";
  const auto often = lab::make_outages(options, make_platform(1, 1), some_jobs({{500, 1000}}));
  REQUIRE(often);
  CHECK(often->list.size() == 17);  // at 0, 60, ..., 960 of 1000 s
  // A node that fails during its maintenance is down once.
  options.failures = "100,10";
  const auto both = lab::make_outages(options, make_platform(2, 1), some_jobs({{0, 20000}}));
  REQUIRE(both);
  CHECK(check_outages(both->list, 2));
}

TEST_CASE("checkpoints") {
  SimulateOptions options;
  options.failures = "100,10";
  CHECK(lab::parse_checkpoint(options).value() == 0.0);
  options.checkpoint = "1.5";
  CHECK(lab::parse_checkpoint(options).value() == 1.5);
  options.checkpoint = "never";
  CHECK(std::isinf(lab::parse_checkpoint(options).value()));
  options.checkpoint = "0";
  CHECK(message(lab::parse_checkpoint(options)) ==
        "--checkpoint: must be seconds above 0, or never, got '0'");
}

TEST_CASE("the time of a decision comes on top of any overhead") {
  SimulateOptions options;
  options.decision_time = 2.0;
  options.overhead = "fixed:1,3,5";
  RigidJobs jobs = some_jobs({{0, 100}});
  const auto fixed = lab::make_overhead(options, jobs);
  REQUIRE(fixed);
  CHECK(std::get<FixedOverhead>(*fixed).start_s({}, {}) == 3.0);
  CHECK(std::get<FixedOverhead>(*fixed).resume_s({}, {}) == 5.0);
  CHECK(std::get<FixedOverhead>(*fixed).migrate_s({}, {}, {}) == 7.0);
  options.overhead = "muri";
  jobs.models = {"bert"};
  jobs.jobs[0].profile = 0;
  const auto muri = lab::make_overhead(options, jobs);
  REQUIRE(muri);
  const auto& delayed = std::get<lab::DelayedOverhead<MuriOverhead>>(*muri);
  CHECK(delayed.start_s(jobs.jobs[0], {}) == 2.0);
  CHECK(delayed.resume_s(jobs.jobs[0], {}) == 2.0);
  CHECK(delayed.decision_loss_s(jobs.jobs[0]) == 10.0);
}

TEST_CASE("topology sets the domains of the nodes and the speeds") {
  SimulateOptions options;
  options.topology = "rack=0.25,domains=2,numa=0.75";
  Platform platform = parse_platform("4x4/2").value();
  const auto network = lab::make_network(options, platform);
  REQUIRE(network);
  CHECK(network->across_domains == 0.75);
  CHECK(network->across_nodes == 1.0);
  CHECK(network->across_racks == 0.25);
  for (const Node& node : platform.nodes) CHECK(node.numa_domains == 2);
  CHECK(network->factor(platform, {}, Placement{{{.node = 0, .devices = 0b0110}}}) == 0.75);
  CHECK(network->factor(platform, {}, Placement{{{.node = 1, .devices = 1}, {.node = 2, .devices = 1}}}) ==
        0.25);
}

TEST_CASE("interference: what is chosen is what the engine asks") {
  SimulateOptions options;
  Platform platform = make_platform(1, 2, "v100");
  RigidJobs jobs = some_jobs({{0, 100}, {0, 100}});
  jobs.models = {"a", "b"};
  std::vector<ActiveJob> active(2);
  for (std::size_t i = 0; i < 2; ++i) {
    jobs.jobs[i].requested = Milli{500};
    jobs.jobs[i].profile = static_cast<int>(i);
    active[i].job = jobs.jobs[i];
    NodeShare half;
    half.devices = 1;
    half.share = 500;
    active[i].placement.shares = {half};
    active[i].running = true;
  }
  std::vector<std::string> notes;
  const auto factor = [&](const std::string& interference, std::size_t job, bool alone) {
    options.interference = interference;
    const auto model = lab::make_interference(options, jobs, nullptr, platform, notes);
    REQUIRE(model);
    REQUIRE(model->has_value());
    const ActiveJob* neighbour = &active[1 - job];
    return (*model)->factor(platform, active[job], 0,
                            alone ? std::span<const ActiveJob* const>() : std::span(&neighbour, 1));
  };
  CHECK(factor("sharing", 0, true) == 2.0);
  CHECK(factor("sharing", 0, false) == 1.0);
  CHECK(factor("sharing:4,1", 0, false) == Approx(0.8));
  options.bandwidth = "v100=900,pcie=10";
  CHECK(factor("bandwidth:a=1000,b=800", 0, true) == 0.9);
  CHECK(factor("bandwidth:a=1000,b=800", 1, true) == 1.0);
  CHECK(factor("bandwidth:a=1000,b=800", 1, false) == 0.5);
  CHECK(factor("bandwidth:a=0/16,*=0/4", 0, false) == 0.5);
  CHECK(factor("bandwidth:b=100/4,*=50/16", 0, false) == 0.5);
  CHECK(platform.types[0].bandwidth_gb_s == 900.0);
  CHECK(platform.nodes[0].pcie_gb_s == 10.0);
  CHECK(notes.empty());

  // Measured pairs: b is not in the table.
  options.bandwidth.clear();
  options.interference = "measured";
  const auto table = parse_gavel_throughputs(
      R"json({"v100": {"('a', 1)": {"null": 10.0, "('a', 1)": [4.0, 4.0]}}})json", "table");
  REQUIRE(table);
  const auto measured = lab::make_interference(options, jobs, &*table, platform, notes);
  REQUIRE(measured);
  const ActiveJob *twin = &active[0], *stranger = &active[1];
  const auto beside = [&](const ActiveJob*& other) {
    return (**measured).factor(platform, active[0], 0, std::span(&other, 1));
  };
  CHECK(beside(twin) == Approx(2.0 * 0.4));
  CHECK(beside(stranger) == 2.0 * 0.5);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("1 job on a share of a device"));
}

TEST_CASE("figures are known by their names") {
  for (const char* name : {"jct_cdf.svg", "utilisation.svg", "timeline_fcfs.svg", "timeline_fcfs-strict.svg",
                           "timeline_las-exact.svg", "timeline_sjf-conservative.svg"})
    CHECK(lab::is_simulation_figure(name));
  for (const char* name : {"timeline_.svg", "timeline_mine.svg", "timeline_fcfs.png", "timeline_fcfs2.svg",
                           "my_timeline_fcfs.svg", "jobs.csv", "timeline_.svgx", "timeline.svg", ""})
    CHECK_FALSE(lab::is_simulation_figure(name));
  for (const std::string& name : lab::simulation_figures({"srtf", "fcfs-easy"}))
    CHECK(lab::is_simulation_figure(name));
}
