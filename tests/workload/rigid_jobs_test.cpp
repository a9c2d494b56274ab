// rigid_jobs: jobs of fixed size for the node-level engine.

#include "mara/workload/rigid_jobs.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/simulation/platform_records.hpp"

using namespace mara;

namespace {

TraceJob job(std::int64_t id, double submit_s, double duration_s, std::int64_t milli_gpus) {
  TraceJob job;
  job.id = id;
  job.submit_s = submit_s;
  job.duration_s = duration_s;
  job.gpus = Milli{milli_gpus};
  return job;
}

Platform two_types() {
  Platform platform;
  platform.types = {{.name = "v100m16", .memory_mib = 16384}, {.name = "p100", .memory_mib = 16384}};
  for (int n = 0; n < 3; ++n) {
    Node node;
    node.name = std::to_string(n);
    node.type = n < 2 ? 0 : 1;
    node.devices = 4;
    node.cpu = Milli::whole(16);
    node.memory_mib = 65536;
    platform.nodes.push_back(node);
  }
  return platform;
}

std::string error_of(const Trace& trace, const Platform& platform, const RigidOptions& options = {}) {
  const auto jobs = rigid_jobs(trace, platform, options);
  REQUIRE(!jobs.has_value());
  return jobs.error().message;
}

}  // namespace

static_assert(JobSource<RigidSource>);

TEST_CASE("rigid jobs: everything of a trace job is carried over") {
  Trace trace;
  TraceJob source = job(7, 12.5, 100.0, 4000);
  source.model = "bert";
  source.cpu = Milli{3500};
  source.memory_mib = 1024;
  source.priority = -3;
  source.tenant = 2;
  source.sla = 1;
  source.weight = 2.5;
  source.estimate_s = 300.0;
  source.deadline_s = 500.0;
  trace.jobs = {source, job(8, 13.0, 60.0, 500), job(9, 13.0, 60.0, 2000)};
  trace.jobs[1].model = "gpt2";
  trace.jobs[2].model = "bert";
  trace.jobs[2].after = {7, 8};
  RigidOptions options;
  options.speed_up = {SpeedUp::Kind::kPower, 0.5};
  options.max_gpus_factor = 1.5;
  const auto jobs = rigid_jobs(trace, two_types(), options);
  REQUIRE(jobs.has_value());
  REQUIRE(jobs->jobs.size() == 3);
  const Job& first = jobs->jobs[0];
  CHECK(first.id == 7);
  CHECK(first.submit_s == 12.5);
  CHECK(first.work == 200.0);  // 100 s x 4^0.5
  CHECK(first.requested == Milli::whole(4));
  CHECK(first.max_gpus == 6);
  CHECK(first.demand == Demand{0, Milli{3500}, 1024});
  CHECK(first.priority == -3);
  CHECK(first.tenant == 2);
  CHECK(first.sla == 1);
  CHECK(first.weight == 2.5);
  CHECK(first.estimate_s == 300.0);
  CHECK(first.deadline_s == 500.0);
  CHECK(first.type_speed[0] == 1.0);
  CHECK(first.type_speed[1] == 1.0);
  CHECK(first.type_speed[2] == 0.0);
  CHECK(jobs->models == std::vector<std::string>{"bert", "gpt2"});
  CHECK(first.profile == 0);
  CHECK(jobs->jobs[1].profile == 1);
  CHECK(jobs->jobs[2].profile == 0);
  CHECK(jobs->jobs[1].work == 30.0);  // half a GPU is half as fast
  CHECK(jobs->jobs[1].max_gpus == 1);
  CHECK(std::isinf(jobs->jobs[1].estimate_s));
  CHECK(jobs->has_dependencies());

  RigidSource source_of(*jobs);
  Submission next;
  for (int i = 0; i < 3; ++i) REQUIRE(source_of.next(next));
  CHECK(next.job.id == 9);
  CHECK(next.after == std::vector<std::int64_t>{7, 8});
  CHECK(!source_of.next(next));
}

TEST_CASE("rigid jobs: speeds and allowed types") {
  Trace trace;
  trace.jobs = {job(0, 0, 10, 1000), job(1, 0, 10, 1000), job(2, 0, 10, 1000), job(3, 0, 10, 1000)};
  trace.jobs[1].allowed_types = "V100";  // the family
  trace.jobs[2].allowed_types = "P100|H100";
  trace.jobs[3].allowed_types = "a100";  // none here: ignored
  RigidOptions options;
  options.speeds = {1.0, 0.25};
  const auto jobs = rigid_jobs(trace, two_types(), options);
  REQUIRE(jobs.has_value());
  const auto speeds = [&](std::size_t i) {
    return std::vector<double>{jobs->jobs[i].type_speed[0], jobs->jobs[i].type_speed[1]};
  };
  CHECK(speeds(0) == std::vector<double>{1.0, 0.25});
  CHECK(speeds(1) == std::vector<double>{1.0, 0.0});
  CHECK(speeds(2) == std::vector<double>{0.0, 0.25});
  CHECK(speeds(3) == std::vector<double>{1.0, 0.25});
  CHECK(jobs->constraints_ignored == 1);
}

TEST_CASE("rigid jobs: too large is refused, or dropped with all that wait for it") {
  Trace trace;
  trace.jobs = {job(0, 0, 10, 8000), job(1, 0, 10, 9000), job(2, 1, 10, 1000), job(3, 2, 10, 1000)};
  trace.jobs[2].after = {1};
  trace.jobs[3].after = {2};
  CHECK(error_of(trace, two_types()) ==
        "job 1: field 'gpus': 9 GPUs are more than any type of the platform that it may use has");
  RigidOptions drop;
  drop.too_large = TooLarge::kDrop;
  const auto jobs = rigid_jobs(trace, two_types(), drop);
  REQUIRE(jobs.has_value());
  REQUIRE(jobs->jobs.size() == 1);  // types do not mix: 8 of v100 fit, 9 do not although there are 12
  CHECK(jobs->jobs[0].id == 0);
  CHECK(jobs->after.size() == 1);
  CHECK(jobs->dropped == 3);

  trace.jobs = {job(5, 0, 10, 1000)};
  trace.jobs[0].cpu = Milli::whole(17);
  CHECK(error_of(trace, two_types()).find("job 5: field 'cpu, memory_mib': 17000 milli-CPU") == 0);
  trace.jobs = {job(5, 0, 10, 8000)};
  trace.jobs[0].cpu = Milli::whole(32);  // 16 on each of two nodes
  CHECK(rigid_jobs(trace, two_types()).has_value());
  trace.jobs[0].allowed_types = "p100";
  CHECK(error_of(trace, two_types()).find("field 'gpus': 8 GPUs") != std::string::npos);
}

TEST_CASE("rigid jobs: a platform without host resources asks for none, and CPU jobs need no device") {
  Trace trace;
  trace.jobs = {job(0, 0, 10, 1000), job(1, 0, 25, 0)};
  trace.jobs[0].cpu = Milli{100};
  trace.jobs[0].memory_mib = 5;
  const auto jobs = rigid_jobs(trace, make_platform(1, 1));
  REQUIRE(jobs.has_value());
  CHECK(jobs->jobs[0].demand == Demand{});
  CHECK(jobs->cpu_ignored);
  CHECK(jobs->memory_ignored);
  CHECK(jobs->jobs[1].work == 25.0);
  CHECK(jobs->jobs[1].requested == Milli{0});
  trace.jobs[1].cpu = Milli::whole(17);
  CHECK(error_of(trace, two_types()).find("job 1: field 'cpu, memory_mib'") == 0);
}

TEST_CASE("rigid jobs: bad numbers stop at the door, case S17") {
  const Platform platform = make_platform(2, 8);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [&](auto&& change) {
    Trace trace;
    trace.jobs = {job(3, 10, 10, 1000)};
    change(trace.jobs[0]);
    return error_of(trace, platform);
  };
  CHECK(with([&](TraceJob& j) { j.duration_s = nan; }).find("job 3: field 'duration_s'") == 0);
  CHECK(with([&](TraceJob& j) { j.submit_s = -1; }).find("job 3: field 'submit_s'") == 0);
  CHECK(with([&](TraceJob& j) { j.gpus = Milli{1500}; }).find("job 3: field 'gpus'") == 0);
  CHECK(with([&](TraceJob& j) { j.gpus = Milli{-1}; }).find("job 3: field 'gpus'") == 0);
  CHECK(with([&](TraceJob& j) { j.estimate_s = 0; }).find("job 3: field 'estimate_s'") == 0);
  CHECK(with([&](TraceJob& j) { j.cpu = Milli{-5}; }).find("job 3: field 'cpu'") == 0);

  Trace trace;
  trace.jobs = {job(1, 5, 10, 1000), job(2, 4, 10, 1000)};
  CHECK(error_of(trace, platform) ==
        "job 2: field 'submit_s': value 4 is before that of the job before it, 5");
  trace.jobs.resize(1);
  RigidOptions options;
  options.speeds = {1.0, 2.0};
  CHECK(error_of(trace, platform, options) == "speeds: 2 values for 1 device types");
  options.speeds = {0.0};
  CHECK(error_of(trace, platform, options).find("speeds: must be positive") == 0);
  options.speeds = {};
  options.max_gpus_factor = nan;
  CHECK(error_of(trace, platform, options).find("max_gpus_factor") == 0);
  CHECK(error_of(trace, Platform{}) == "platform: no node");
}

TEST_CASE("rigid jobs: measured throughputs give each job its own speeds") {
  std::string json =
      "{`v100`: {`('LM', 1)`: {`null`: 100.0}, `('LM', 2)`: {`null`: 150.0}, `('A3C', 1)`: {`null`: 4.0}},"
      " `p100`: {`('LM', 1)`: {`null`: 25.0}, `('LM', 2)`: {`null`: 0.0}}}";
  for (char& c : json)
    if (c == '`') c = '"';
  const auto table = parse_gavel_throughputs(json, "t.json");
  REQUIRE(table);
  Platform platform = two_types();
  platform.types[0].name = "v100";
  Trace trace;
  for (const auto& [model, gpus] : {std::pair("LM", 1), {"LM", 2}, {"A3C", 1}, {"other", 1}}) {
    trace.jobs.push_back(job(static_cast<std::int64_t>(trace.jobs.size()), 0.0, 10.0, gpus * 1000));
    trace.jobs.back().model = model;
  }
  RigidOptions options;
  options.speeds = {1.0, 0.5};
  options.throughputs = &*table;
  const auto jobs = rigid_jobs(trace, platform, options);
  REQUIRE(jobs);
  CHECK(jobs->jobs[0].type_speed[0] == 1.0);
  CHECK(jobs->jobs[0].type_speed[1] == 0.25);
  CHECK(jobs->jobs[1].type_speed[1] == 0.0);  // measured: does not run there
  CHECK(jobs->jobs[2].type_speed[1] == 0.5);  // the table does not say
  CHECK(jobs->jobs[3].type_speed[1] == 0.5);

  // Where the table rules out every type with room, the job is too large.
  platform.nodes.erase(platform.nodes.begin(), platform.nodes.begin() + 2);
  trace.jobs = {trace.jobs[1]};
  const auto none = rigid_jobs(trace, platform, options);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kCapacityExceeded);
}
