#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/simulation/interval_log.hpp"
#include "mara/simulation/job_log.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

TEST_CASE("the job log, line by line", "[log]") {
  const Cluster cluster = parse_cluster("a100:1x4,t4:1x1").value();
  std::vector<Job> jobs{job_of(7, 0.0, 100.0), job_of(9, 0.1, 10.0), job_of(11, 1.0, 1e9),
                        job_of(13, 2.0, 10.0)};
  jobs[0].requested = Milli::whole(4);
  jobs[0].max_gpus = 4;
  jobs[1].requested = Milli{460};
  jobs[1].type_speed = {0.0, 1.0};
  jobs[2].type_speed = {0.0, 1.0};
  jobs[3].type_speed = {0.0, 1.0};
  SimulationConfig config = plain();
  config.horizon_s = 1000.0;
  auto scheduler = fcfs();
  const auto result = simulate(cluster, jobs, scheduler, config).value();
  std::ostringstream out;
  CHECK(write_jobs_csv(out, "fcfs", result, cluster, true));
  const std::string end = format_number(0.1 + 10.0 / 0.46);
  CHECK(out.str() ==
        "policy,job,submit,start,end,gpus,type\n"
        "fcfs,7,0,0,25,4,a100\n"
        "fcfs,9,0.1,0.1," +
            end + ",0.46,t4\n" + "fcfs,11,1," + end + ",,1,t4\n" + "fcfs,13,2,,,,\n");
}

TEST_CASE("times in the job log read back as the same double", "[log]") {
  SimulationResult result;
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    result.jobs.push_back(job_of(i, random.exponential(1e-5), 1.0));
    JobRecord record;
    record.started = record.finished = true;
    record.start_s = result.jobs.back().submit_s * random.uniform(1.0, 2.0);
    record.end_s = record.start_s + random.exponential(1e3);
    record.last_grant = whole(1);
    result.records.push_back(record);
  }
  std::stringstream stream;
  CHECK(write_jobs_csv(stream, "p", result, parse_cluster("a100:1x1").value(), false));
  std::string line;
  for (std::size_t i = 0; i < 500; ++i) {
    REQUIRE(std::getline(stream, line));
    std::vector<std::string> fields{""};
    for (const char c : line) {
      if (c == ',')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    REQUIRE(fields.size() == 7);
    CHECK(std::stod(fields[2]) == result.jobs[i].submit_s);
    CHECK(std::stod(fields[3]) == result.records[i].start_s);
    CHECK(std::stod(fields[4]) == result.records[i].end_s);
  }
}

TEST_CASE("GPUs in decimal, fields in quotes, a broken stream is an error", "[log]") {
  CHECK(gpus_text(Milli::whole(16)) == "16");
  CHECK(gpus_text(Milli{460}) == "0.46");
  CHECK(gpus_text(Milli{5}) == "0.005");
  CHECK(gpus_text(Milli{300}) == "0.3");
  CHECK(gpus_text(Milli{0}) == "0");
  CHECK(csv_field("plain") == "plain");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const auto status = write_jobs_csv(out, "p", SimulationResult{}, Cluster{}, true);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kIo);
}

TEST_CASE("an interval log is added up over [start, end) and refused when over-committed (S16)", "[log]") {
  const Cluster cluster = parse_cluster("a100:1x2/4c/1G,t4:1x1").value();
  std::vector<Job> jobs{job_of(1, 0.0, 1.0), job_of(2, 5.0, 1.0), job_of(3, 0.0, 1.0)};
  jobs[0].demand = {0, Milli::whole(3), 512};
  using Log = std::vector<GrantInterval>;
  SECTION("touching intervals do not overlap") {
    const Log log{{0, whole(2), 0.0, 10.0}, {1, whole(2), 10.0, 20.0}, {0, whole(1, 1), 10.0, 14.0}};
    const auto total = add_intervals(cluster, jobs, log).value();
    CHECK(total.use.gpu_s[0] == 40.0);
    CHECK(total.use.gpu_s[1] == 4.0);
    CHECK(total.use.cpu_s == 3.0 * 14.0);
    CHECK(total.use.memory_mib_s == 512.0 * 14.0);
    CHECK(total.peak_gpus[0] == Milli::whole(2));
  }
  const auto message = [&](const Log& log) {
    const auto total = add_intervals(cluster, jobs, log);
    return total ? std::string() : total.error().message;
  };
  CHECK(message({{0, whole(2), 0.0, 10.0}, {1, {0, Milli{1}}, 9.0, 20.0}}).find("GPUs held at 9") !=
        std::string::npos);
  CHECK(message({{0, whole(1), 0.0, 10.0}, {0, whole(1), 5.0, 12.0}}).find("overlaps") != std::string::npos);
  CHECK(message({{1, whole(1), 4.0, 10.0}}).find("starts at 4, submitted at 5") != std::string::npos);
  CHECK(message({{0, whole(1), 4.0, 4.0}}).find("from 4 to 4") != std::string::npos);
  CHECK(message({{0, whole(1), 4.0, std::numeric_limits<double>::quiet_NaN()}}).find("nan") !=
        std::string::npos);
  CHECK(message({{9, whole(1), 4.0, 5.0}}).find("no such job") != std::string::npos);
  CHECK(message({{0, whole(1, 2), 4.0, 5.0}}).find("type is 2") != std::string::npos);
  CHECK(message({{0, {0, Milli{0}}, 4.0, 5.0}}).find("gpus") != std::string::npos);
  jobs[2].demand = {0, Milli{1001}, 0};
  CHECK(message({{0, whole(1), 0.0, 10.0}, {2, whole(1), 3.0, 4.0}}).find("CPU (milli) held at 3") !=
        std::string::npos);
  jobs[2].demand = {0, Milli{1000}, 513};
  CHECK(message({{0, whole(1), 0.0, 10.0}, {2, whole(1), 3.0, 4.0}}).find("memory (MiB) held at 3") !=
        std::string::npos);
}
