#include "mara/workload/read_muri.hpp"

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/workload/read_trace.hpp"

using mara::Milli;
using mara::read_muri;
using workload_test::TempFile;

namespace {

const std::string kHeader = "job_id,num_gpu,submit_time,duration,model_name,priority\n";

// The message for one bad row (line 3, after a good one), without the folder.
std::string refused(const std::string& row) {
  const TempFile file(kHeader + "0,1,0,1000,bert,0\n" + row + "\n");
  auto trace = read_muri(file.path());
  if (trace) return "accepted";
  const std::string& message = trace.error().message;
  return message.substr(std::min(message.size(), message.find("input.csv")));
}

}  // namespace

TEST_CASE("muri rows become jobs, sorted stably by submission") {
  const TempFile file(kHeader +
                      "7,8,2000,60500,bert,1\n3,1,1000,1,,0\n4,2,2000,5000,unknown,0\n5,1,0,0,bert,0\n");
  auto trace = read_muri(file.path());
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 3);
  CHECK(trace->source == "input.csv");
  CHECK(trace->skipped.no_duration == 1);
  CHECK(trace->skipped.total() == 1);
  CHECK(trace->jobs[0].id == 3);
  CHECK(trace->jobs[0].submit_s == 1.0);
  CHECK(trace->jobs[0].duration_s == 0.001);
  CHECK(trace->jobs[0].model.empty());
  CHECK(trace->jobs[1].id == 7);
  CHECK(trace->jobs[1].gpus == Milli::whole(8));
  CHECK(trace->jobs[1].duration_s == 60.5);
  CHECK(trace->jobs[1].model == "bert");
  CHECK(trace->jobs[1].priority == 1);
  CHECK(trace->jobs[2].id == 4);
}

TEST_CASE("muri: the optional columns may be absent, the order is free") {
  const TempFile file("duration,submit_time,num_gpu,job_id\r\n1000,5000,4,1\r\n");
  auto trace = mara::read_trace(file.path(), mara::TraceFormat::kMuri);
  REQUIRE(trace);
  CHECK(trace->jobs[0].gpus == Milli::whole(4));
  CHECK(trace->jobs[0].submit_s == 5.0);
}

TEST_CASE("muri: bad rows are refused with line, field and value") {
  CHECK(refused("1,1,5,1000,bert,0") == "accepted");
  CHECK(refused("1,0,5,1000,bert,0") == "input.csv:3: field 'num_gpu': value '0' is below 1");
  CHECK(refused("1,-2,5,1000,bert,0") == "input.csv:3: field 'num_gpu': value '-2' is below 1");
  CHECK(refused("1,3,5,1000,bert,0") == "input.csv:3: field 'num_gpu': value '3' is not a power of two");
  CHECK(refused("1,1.5,5,1000,bert,0") == "input.csv:3: field 'num_gpu': value '1.5' is not a whole number");
  CHECK(refused("1,131072,5,1000,bert,0") == "input.csv:3: field 'num_gpu': value '131072' is above 65536");
  CHECK(refused("1,,5,1000,bert,0") == "input.csv:3: field 'num_gpu': value '' is not a whole number");
  CHECK(refused("1,1,-5,1000,bert,0") == "input.csv:3: field 'submit_time': value '-5' is below 0");
  CHECK(refused("1,1,nan,1000,bert,0") == "input.csv:3: field 'submit_time': value 'nan' is not finite");
  CHECK(refused("1,1,5,inf,bert,0") == "input.csv:3: field 'duration': value 'inf' is not finite");
  CHECK(refused("1,1,5,-1,bert,0") == "input.csv:3: field 'duration': value '-1' is below 0");
  CHECK(refused("1,1,5,1e14,bert,0") == "input.csv:3: field 'duration': value '1e14' is above 1e+13");
  CHECK(refused("1,1,5,abc,bert,0") == "input.csv:3: field 'duration': value 'abc' is not a number");
  CHECK(refused("0,1,5,1000,bert,0") == "input.csv:3: field 'job_id': value '0' appears twice");
  CHECK(refused("x,1,5,1000,bert,0") == "input.csv:3: field 'job_id': value 'x' is not a whole number");
  CHECK(refused("1,1,5,1000,bert,high") ==
        "input.csv:3: field 'priority': value 'high' is not a whole number");
  CHECK(refused("1,1,5,1000,bert") == "input.csv:3: 5 fields, the header has 6");
  CHECK(refused("1,1,5,1000,\"bert,0") == "input.csv:3: quote that is never closed");
}

TEST_CASE("muri: bad files are refused") {
  const auto message = [](const TempFile& file) { return read_muri(file.path()).error().message; };
  using workload_test::contains;
  CHECK(contains(message(TempFile("job_id,num_gpu,submit_time\n0,1,0\n")),
                 ":1: field 'duration': column is missing"));
  CHECK(contains(message(TempFile("job_id,num_gpu,submit_time,duration,color\n")),
                 ":1: field 'color': unknown column"));
  CHECK(contains(message(TempFile("5,1,0,1000\n")), ":1: field '5': unknown column"));
  CHECK(contains(message(TempFile(kHeader)), ": no job in the file"));
  CHECK(contains(message(TempFile("")), ": the file is empty"));
  CHECK(contains(message(TempFile("\n \n")), ":2: field ' ': unknown column"));
  CHECK(contains(message(TempFile(std::string("\x7f"
                                              "ELF\x02\x01\0\0\0",
                                              9))),
                 ": not a text file"));
  CHECK(contains(read_muri("/").error().message, "/: is a directory"));
  CHECK(contains(read_muri("").error().message, ": no such file"));
}

TEST_CASE("muri: run times of Muri's simulator") {
  const std::string text =
      "job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time\n"
      "0,4,1500,1000,bert,927000,886\n"
      "1,1,2000,0,dqn,5000,490\n";
  mara::TraceReadOptions options;
  const auto logged = mara::parse_muri(text, "f.csv", options);
  REQUIRE(logged);
  REQUIRE(logged->jobs.size() == 2);
  CHECK(logged->jobs[0].duration_s == 927.0);
  CHECK(logged->jobs[0].steps == 1000.0);
  options.muri_run_time = mara::MuriRunTime::kIterations;
  const auto simulated = mara::parse_muri(text, "f.csv", options);
  REQUIRE(simulated);
  REQUIRE(simulated->jobs.size() == 1);
  CHECK(simulated->skipped.no_duration == 1);
  CHECK(simulated->jobs[0].submit_s == 1.5);
  CHECK(simulated->jobs[0].duration_s == 1000.0 * (886.0 * 1.015 / 1000.0));

  const auto bad = [&](const std::string& csv) {
    return mara::parse_muri(csv, "f.csv", options).error().message;
  };
  CHECK(bad("job_id,num_gpu,submit_time,duration,iterations\n0,1,0,1,1\n") ==
        "f.csv:1: field 'iteration_time': column is missing");
  CHECK(bad("job_id,num_gpu,submit_time,duration,iterations,iteration_time\n0,1,0,1,1,nan\n") ==
        "f.csv:2: field 'iteration_time': value 'nan' is not finite");
  CHECK(bad("job_id,num_gpu,submit_time,duration,iterations,iteration_time\n0,1,0,1,-1,1\n") ==
        "f.csv:2: field 'iterations': value '-1' is below 0");
  CHECK(bad("job_id,num_gpu,submit_time,duration,iterations,iteration_time\n0,1,0,1,1e15,1e9\n") ==
        "f.csv:2: field 'iterations': value '1e15' makes the run time too long");
}
