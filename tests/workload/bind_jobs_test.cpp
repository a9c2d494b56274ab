#include "mara/workload/bind_jobs.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "helpers.hpp"

using mara::bind_jobs;
using mara::BindOptions;
using mara::BindReport;
using mara::Cluster;
using mara::DeviceFamily;
using mara::ErrorCode;
using mara::Milli;
using mara::Trace;
using mara::TraceJob;
using workload_test::contains;

namespace {

Cluster three_types() {
  Cluster cluster;
  cluster.types = {{"a100", 2, 8, 81920, Milli{96000}, 786432},
                   {"v100", 2, 8, 32768, Milli{96000}, 786432},
                   {"t4", 4, 4, 16384, Milli{48000}, 196608}};
  return cluster;
}

Trace one(TraceJob job) {
  Trace trace;
  trace.jobs.push_back(std::move(job));
  return trace;
}

TraceJob typical() {
  TraceJob job;
  job.id = 12;
  job.submit_s = 5.0;
  job.duration_s = 100.0;
  job.gpus = Milli::whole(4);
  job.model = "resnet18";
  return job;
}

}  // namespace

TEST_CASE("the profile table keeps its promises") {
  for (const mara::JobProfile& profile : mara::kJobProfiles) {
    INFO(std::string(profile.name));
    const auto on = [&](const char* device) { return profile.speed_on(*mara::find_device(device)); };
    CHECK(on("a100") == 1.0);
    CHECK((on("v100") >= 0.4 && on("v100") <= 0.8));
    CHECK((on("t4") >= 0.15 && on("t4") <= 0.5));
    CHECK(on("h100") > 1.0);
    CHECK(on("k80") < on("t4"));
    CHECK(on("p100") < on("v100"));
    CHECK((profile.speed_up_exponent == 0.0 ||
           (profile.speed_up_exponent >= 0.6 && profile.speed_up_exponent <= 0.95)));
  }
  int beyond_t4 = 0, a100_only = 0;
  for (std::size_t i = 0; i < mara::kModelProfiles; ++i) {
    beyond_t4 += mara::kJobProfiles[i].gpu_memory_mib > 16384;
    a100_only += mara::kJobProfiles[i].gpu_memory_mib > 32768;
  }
  CHECK(beyond_t4 == 3);
  CHECK(a100_only == 1);
}

TEST_CASE("binding fills every field of a job") {
  TraceJob source = typical();
  source.cpu = Milli{8000};
  source.memory_mib = 1024;
  source.priority = 3;
  source.tenant = 9;
  auto jobs = bind_jobs(one(source), three_types());
  REQUIRE(jobs);
  const mara::Job& job = jobs->front();
  CHECK(job.id == 12);
  CHECK(job.submit_s == 5.0);
  CHECK(job.work == Approx(100.0 * std::pow(4.0, 0.87)));
  CHECK(job.requested == Milli::whole(4));
  CHECK(job.max_gpus == 8);
  CHECK(job.demand == mara::Demand{8192, Milli{8000}, 1024});
  CHECK(job.priority == 3);
  CHECK(job.tenant == 9);
  CHECK(job.type_speed[0] == 1.0);
  CHECK(job.type_speed[1] == Approx(0.62));
  CHECK(job.type_speed[2] == Approx(0.32));
  CHECK(job.type_speed[3] == 0.0);
  // Alone on what it asked for, on type 0, it takes its duration.
  CHECK(job.work / job.rate({0, Milli::whole(4)}) == Approx(100.0));
}

TEST_CASE("device memory restricts types, and the reference stays type 0") {
  TraceJob source = typical();
  source.model = "bert";  // 22 GiB
  CHECK(bind_jobs(one(source), three_types())->front().type_speed[2] == 0.0);
  source.model = "gpt2";  // 36 GiB
  const mara::Job job = bind_jobs(one(source), three_types())->front();
  CHECK(job.type_speed[0] == 1.0);
  CHECK(job.type_speed[1] == 0.0);

  Cluster inverted = three_types();
  std::swap(inverted.types[0], inverted.types[2]);  // t4 is type 0 now
  const mara::Job elsewhere = bind_jobs(one(source), inverted)->front();
  CHECK(elsewhere.type_speed[0] == 0.0);
  CHECK(elsewhere.type_speed[2] == Approx(1.0 / 0.15));

  Cluster small = three_types();
  small.types.erase(small.types.begin());
  auto refused = bind_jobs(one(source), small);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kCapacityExceeded);
  CHECK(contains(refused.error().message, "job 12: field 'gpu_memory_mib': 36864 MiB (gpt2)"));
  BindOptions options;
  options.check_memory = false;
  CHECK(bind_jobs(one(source), small, options));
}

TEST_CASE("a job larger than every type is refused") {
  TraceJob source = typical();
  source.gpus = Milli::whole(32);
  CHECK(bind_jobs(one(source), three_types()).error().message ==
        "job 12: field 'num_gpu': 32 GPUs are more than any GPU type of the cluster that it may use has");
  source.gpus = Milli::whole(16);
  CHECK(bind_jobs(one(source), three_types()));
  source.cpu = Milli{200'000};
  CHECK(contains(bind_jobs(one(source), three_types()).error().message,
                 "job 12: field 'cpu, memory_mib': 200000 milli-CPU"));
}

TEST_CASE("a share of a GPU is linear work on one device with a share of the memory") {
  TraceJob source = typical();
  source.gpus = Milli{470};
  const mara::Job job = bind_jobs(one(source), three_types())->front();
  CHECK(job.work == Approx(47.0));
  CHECK(job.max_gpus == 1);
  CHECK(job.demand.gpu_memory_mib == 8192 * 470 / 1000);
}

TEST_CASE("allowed types: openb's names, families, and constraints that name nothing here") {
  TraceJob source = typical();
  BindReport report;
  source.allowed_types = "V100M16|V100M32";
  auto jobs = bind_jobs(one(source), three_types(), {}, &report);
  REQUIRE(jobs);
  CHECK(jobs->front().type_speed[0] == 0.0);
  CHECK(jobs->front().type_speed[1] == Approx(0.62));
  CHECK(jobs->front().type_speed[2] == 0.0);
  CHECK(report.constraints_ignored == 0);

  source.allowed_types = "P100|T4";
  CHECK(bind_jobs(one(source), three_types())->front().type_speed[2] > 0.0);
  CHECK(bind_jobs(one(source), three_types())->front().type_speed[1] == 0.0);

  source.allowed_types = "P100";
  jobs = bind_jobs(one(source), three_types(), {}, &report);
  REQUIRE(jobs);
  CHECK(report.constraints_ignored == 1);
  CHECK(jobs->front().type_speed[0] == 1.0);

  // The trace says it runs on a T4: its profile's memory need yields.
  source.model = "bert";
  source.allowed_types = "T4";
  jobs = bind_jobs(one(source), three_types());
  REQUIRE(jobs);
  CHECK(jobs->front().demand.gpu_memory_mib == 16384);
  CHECK(jobs->front().type_speed[2] == Approx(0.24));

  // An exact name beats the family.
  Cluster both = three_types();
  both.types[2] = {"v100m16", 1, 8, 16384, Milli{96000}, 786432};
  source.model = "resnet18";
  source.allowed_types = "V100M16";
  CHECK(bind_jobs(one(source), both)->front().type_speed[1] == 0.0);
  CHECK(bind_jobs(one(source), both)->front().type_speed[2] > 0.0);
}

TEST_CASE("jobs without a known model get a class from id and seed alone") {
  Trace trace;
  for (int i = 0; i < 4000; ++i) {
    TraceJob job = typical();
    job.id = i;
    job.model = i % 2 == 0 ? "" : "some other net";
    trace.jobs.push_back(job);
  }
  BindReport report;
  auto jobs = bind_jobs(trace, three_types(), {}, &report);
  REQUIRE(jobs);
  CHECK(report.unknown_models == 2000);
  double classes[3] = {};
  for (const mara::Job& job : *jobs) {
    classes[job.type_speed[1] == 0.0 ? 2 : job.type_speed[2] == 0.0 ? 1 : 0] += 1.0 / 4000.0;
    CHECK((job.speed_up.parameter >= 0.6 && job.speed_up.parameter < 0.95));
  }
  CHECK(classes[0] == Approx(0.5).margin(0.03));
  CHECK(classes[1] == Approx(0.3).margin(0.03));
  CHECK(classes[2] == Approx(0.2).margin(0.03));
  // Alone or among others, the same job.
  const mara::Job alone = bind_jobs(one(trace.jobs[77]), three_types())->front();
  CHECK(alone.work == (*jobs)[77].work);
  CHECK(alone.type_speed == (*jobs)[77].type_speed);
  BindOptions other;
  other.seed = 2;
  int changed = 0;
  auto again = bind_jobs(trace, three_types(), other);
  for (std::size_t i = 0; i < jobs->size(); ++i) changed += (*again)[i].work != (*jobs)[i].work;
  CHECK(changed > 3900);
}

TEST_CASE("bad numbers stop at the door") {
  const auto message = [](auto change) {
    TraceJob job = typical();
    change(job);
    auto jobs = bind_jobs(one(job), three_types());
    return jobs ? std::string("accepted") : jobs.error().message;
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(message([&](TraceJob& j) { j.submit_s = kNan; }), "job 12: field 'submit_s'"));
  CHECK(contains(message([&](TraceJob& j) { j.submit_s = -1.0; }), "job 12: field 'submit_s'"));
  CHECK(contains(message([&](TraceJob& j) { j.duration_s = HUGE_VAL; }), "job 12: field 'duration_s'"));
  CHECK(contains(message([&](TraceJob& j) { j.duration_s = 0.0; }), "job 12: field 'duration_s'"));
  CHECK(contains(message([&](TraceJob& j) { j.gpus = Milli{0}; }), "job 12: field 'gpus'"));
  CHECK(contains(message([&](TraceJob& j) { j.gpus = Milli{1500}; }), "job 12: field 'gpus': 1500"));
  CHECK(contains(message([&](TraceJob& j) { j.gpus = Milli{std::numeric_limits<std::int64_t>::max()}; }),
                 "job 12: field 'gpus'"));
  CHECK(contains(message([&](TraceJob& j) { j.cpu = Milli{-1}; }), "job 12: field 'cpu'"));
  CHECK(contains(message([&](TraceJob& j) { j.memory_mib = -1; }), "job 12: field 'memory_mib'"));
  Cluster unknown = three_types();
  unknown.types[1].name = "mygpu";
  CHECK(contains(bind_jobs(one(typical()), unknown).error().message, "'mygpu'"));
  BindOptions options;
  options.extra_speeds = {{"mygpu", 0.5}};
  CHECK(bind_jobs(one(typical()), unknown, options)->front().type_speed[1] == 0.5);
  options.max_gpus_factor = kNan;
  CHECK(contains(bind_jobs(one(typical()), three_types(), options).error().message, "max_gpus_factor"));
  CHECK(contains(bind_jobs(one(typical()), Cluster{}).error().message, "cluster: 0 GPU types"));
}

TEST_CASE("trace summary, slice and split by time") {
  Trace trace;
  for (int i = 0; i < 11; ++i) {
    TraceJob job = typical();
    job.id = i;
    job.submit_s = 100.0 + 10.0 * i;
    trace.jobs.push_back(job);
  }
  const mara::WorkloadSummary s = mara::summarise(trace);
  CHECK(s.jobs == 11);
  CHECK(s.span_s == 100.0);
  CHECK(s.mean_interarrival_s == 10.0);
  CHECK(s.mean_gpu_seconds == Approx(400.0));
  CHECK(s.load_gpus == Approx(40.0));
  CHECK(s.largest_request == Milli::whole(4));
  CHECK(mara::time_at_fraction(trace, 0.6) == Approx(160.0));
  const Trace late = mara::slice(trace, 160.0, 200.0, true);
  REQUIRE(late.jobs.size() == 4);
  CHECK(late.jobs.front().id == 6);
  CHECK(late.jobs.front().submit_s == 0.0);
  CHECK(mara::summarise(Trace{}).load_gpus == 0.0);
}
