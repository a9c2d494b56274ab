#include "mara/simulation/validation.hpp"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("bad jobs are refused with their id and field (S17)", "[validation]") {
  const Cluster cluster = parse_cluster("a100:1x4/8c/1G,t4:1x8/8c/1G").value();
  struct Bad {
    std::function<void(Job&)> change;
    ErrorCode code;
    const char* field;
  };
  const std::vector<Bad> cases{
      {[](Job& j) { j.submit_s = kNan; }, ErrorCode::kNumerical, "submit_s is nan"},
      {[](Job& j) { j.submit_s = kInf; }, ErrorCode::kNumerical, "submit_s is inf"},
      {[](Job& j) { j.submit_s = -1.0; }, ErrorCode::kInvalidArgument, "submit_s is -1"},
      {[](Job& j) { j.work = kNan; }, ErrorCode::kNumerical, "work is nan"},
      {[](Job& j) { j.work = kInf; }, ErrorCode::kNumerical, "work is inf"},
      {[](Job& j) { j.work = -0.5; }, ErrorCode::kInvalidArgument, "work is -0.5"},
      {[](Job& j) { j.type_speed[1] = kNan; }, ErrorCode::kNumerical, "type_speed[1] is nan"},
      {[](Job& j) { j.type_speed[0] = -2.0; }, ErrorCode::kInvalidArgument, "type_speed[0] is -2"},
      {[](Job& j) { j.speed_up.parameter = kNan; }, ErrorCode::kNumerical, "speed_up.parameter is nan"},
      {[](Job& j) { j.speed_up.parameter = 0.0; }, ErrorCode::kInvalidArgument, "speed_up.parameter is 0"},
      {[](Job& j) { j.speed_up.parameter = 1.01; }, ErrorCode::kInvalidArgument,
       "speed_up.parameter is 1.01"},
      {[](Job& j) {
         j.speed_up = {SpeedUp::Kind::kAmdahl, -0.1};
       },
       ErrorCode::kInvalidArgument, "speed_up.parameter is -0.1"},
      {[](Job& j) { j.demand.gpu_memory_mib = -1; }, ErrorCode::kInvalidArgument,
       "demand.gpu_memory_mib is -1"},
      {[](Job& j) { j.demand.cpu = Milli{-1}; }, ErrorCode::kInvalidArgument, "demand.cpu (milli) is -1"},
      {[](Job& j) { j.demand.memory_mib = -1; }, ErrorCode::kInvalidArgument, "demand.memory_mib is -1"},
      {[](Job& j) { j.requested = Milli{0}; }, ErrorCode::kInvalidArgument, "requested (milli) is 0"},
      {[](Job& j) { j.requested = Milli{-1000}; }, ErrorCode::kInvalidArgument, "requested (milli) is -1000"},
      {[](Job& j) { j.requested = Milli{1500}; }, ErrorCode::kInvalidArgument, "requested (milli) is 1500"},
      {[](Job& j) { j.max_gpus = 0; }, ErrorCode::kInvalidArgument, "max_gpus is 0"},
      {[](Job& j) { j.requested = Milli::whole(2); }, ErrorCode::kInvalidArgument, "max_gpus is 1"},
      {[](Job& j) { j.type_speed = {}; }, ErrorCode::kCapacityExceeded, "requested"},
      {[](Job& j) { j.requested = Milli::whole(j.max_gpus = 9); }, ErrorCode::kCapacityExceeded, "9000"},
      {[](Job& j) {
         j.requested = Milli::whole(j.max_gpus = 8);  // only the t4 have eight, and it cannot run there
         j.type_speed[1] = 0.0;
       },
       ErrorCode::kCapacityExceeded, "8000"},
      {[](Job& j) { j.demand.gpu_memory_mib = 81921; }, ErrorCode::kCapacityExceeded, "ever hold"},
      {[](Job& j) { j.demand.cpu = Milli{8001}; }, ErrorCode::kCapacityExceeded, "ever hold"},
      {[](Job& j) { j.demand.memory_mib = 1025; }, ErrorCode::kCapacityExceeded, "ever hold"},
  };
  CHECK(check_job(cluster, job_of(1, 0.0, 1.0)));
  for (const Bad& bad : cases) {
    Job job = job_of(4711, 1.0, 1.0);
    bad.change(job);
    const auto simulator = Simulator::create(cluster, {job_of(1, 0.0, 1.0), job}, {});
    INFO(bad.field);
    REQUIRE_FALSE(simulator);
    INFO(simulator.error().message);
    CHECK(simulator.error().code == bad.code);
    CHECK(simulator.error().message.find("job 4711: ") == 0);
    CHECK(simulator.error().message.find(bad.field) != std::string::npos);
  }
}

TEST_CASE("entries past the cluster's types are ignored", "[validation]") {
  Job job = job_of(1, 0.0, 1.0);
  job.type_speed[3] = kNan;
  CHECK(check_job(parse_cluster("a100:1x1").value(), job));
}

TEST_CASE("a job that only one type holds is accepted and accepted only there", "[validation]") {
  const Cluster cluster = parse_cluster("a100:1x4,t4:1x8").value();
  Job job = job_of(1, 0.0, 1.0);
  job.requested = Milli::whole(8);
  job.max_gpus = 8;
  CHECK(check_job(cluster, job));
  CHECK_FALSE(could_run(cluster, job, 0));
  CHECK(could_run(cluster, job, 1));
  CHECK_FALSE(could_run(cluster, job, 2));
  CHECK_FALSE(could_run(cluster, job, -1));
}

TEST_CASE("accepts: whole grants for whole jobs, the exact fraction for fractional ones", "[validation]") {
  Job job = job_of(1, 0.0, 1.0);
  job.max_gpus = 3;
  job.type_speed = {1.0, 0.0, 1e-320};
  CHECK(accepts(job, whole(1)));
  CHECK(accepts(job, whole(3)));
  CHECK_FALSE(accepts(job, whole(4)));
  CHECK_FALSE(accepts(job, whole(1, 1)));
  CHECK(accepts(job, whole(1, 2)));
  CHECK_FALSE(accepts(job, whole(1, 8)));
  CHECK_FALSE(accepts(job, Grant{}));
  CHECK_FALSE(accepts(job, {0, Milli{0}}));
  CHECK_FALSE(accepts(job, {0, Milli{2500}}));
  CHECK_FALSE(accepts(job, {0, Milli{-1000}}));
  job.requested = Milli{250};
  CHECK(accepts(job, {0, Milli{250}}));
  CHECK_FALSE(accepts(job, {0, Milli{251}}));
  CHECK_FALSE(accepts(job, whole(1)));
}

TEST_CASE("bad configurations are refused with the field", "[validation]") {
  const auto message = [](auto change) {
    SimulationConfig config;
    change(config);
    const auto simulator =
        Simulator::create(parse_cluster("a100:1x1").value(), {job_of(1, 1e6, 1.0)}, config);
    return simulator ? std::string() : simulator.error().message;
  };
  const auto names = [&message](auto change, const char* field) {
    return message(change).find(field) != std::string::npos;
  };
  CHECK(message([](SimulationConfig&) {}).empty());
  CHECK(names([](SimulationConfig& c) { c.overheads.start_s = kNan; }, "overheads.start_s is nan"));
  CHECK(names([](SimulationConfig& c) { c.overheads.restart_s = -1.0; }, "overheads.restart_s is -1"));
  CHECK(names([](SimulationConfig& c) { c.overheads.restart_s = kInf; }, "overheads.restart_s is inf"));
  CHECK(names([](SimulationConfig& c) { c.tick_s = kNan; }, "tick_s is nan"));
  CHECK(names([](SimulationConfig& c) { c.tick_s = -5.0; }, "tick_s is -5"));
  CHECK(names([](SimulationConfig& c) { c.fixed_interval = true; }, "tick_s is 0"));
  CHECK(names([](SimulationConfig& c) { c.tick_s = 1e-12; }, "too small"));
  CHECK(names([](SimulationConfig& c) { c.tick_s = 1e-320; }, "too small"));
  CHECK(names([](SimulationConfig& c) { c.horizon_s = kNan; }, "horizon_s is nan"));
  CHECK(names([](SimulationConfig& c) { c.horizon_s = -1.0; }, "horizon_s is -1"));
  CHECK(names([](SimulationConfig& c) { c.stall_ticks = 0; }, "stall_ticks is 0"));
  CHECK_FALSE(Simulator::create(Cluster{}, {}, {}));
}
