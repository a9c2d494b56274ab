#include "mara/workload/trace_format.hpp"

#include "catch.hpp"
#include "mara/workload/read_trace.hpp"

using mara::guess_trace_format;
using mara::TraceFormat;

namespace {

std::string guess(const std::string& text) {
  const auto format = guess_trace_format(text);
  return format ? std::string(to_string(*format)) : format.error().message;
}

}  // namespace

TEST_CASE("formats have names") {
  for (std::size_t i = 0; i < mara::kTraceFormats.size(); ++i) {
    CHECK(static_cast<std::size_t>(mara::kTraceFormats[i].format) == i);
    const auto parsed = mara::parse_trace_format(mara::kTraceFormats[i].name);
    REQUIRE(parsed);
    CHECK(*parsed == mara::kTraceFormats[i].format);
    CHECK(to_string(*parsed) == mara::kTraceFormats[i].name);
  }
  CHECK(mara::parse_trace_format("xls").error().message ==
        "format: must be muri, openb, swf, philly-jobs, gavel, shockwave, batsim, tiresias, chronus, "
        "elasticflow, "
        "azure, mooncake or csv, got 'xls'");
  CHECK_FALSE(mara::parse_trace_format(""));
  CHECK_FALSE(mara::parse_trace_format("SWF"));
}

TEST_CASE("formats are known by their first line") {
  CHECK(guess("; Version: 2.2\n") == "swf");
  CHECK(guess("\r\n\n  1 2 3 4 5 -1 -1 8 9 10 1 1 1 1 -1 1 -1 316.04\n") == "swf");
  CHECK(guess("1 2 3 4 5 -1 -1 8 9 10 1 1 1 1 -1 1 -1") != "swf");
  CHECK(guess("job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
              "resource_time_0,resource_time_1,resource_time_2,priority\n") == "muri");
  CHECK(guess("\xEF\xBB\xBF"
              "duration,\"job_id\",submit_time,num_gpu,model_name,\"priority\"\r\n") == "muri");
  CHECK(guess("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n") == "tiresias");
  CHECK(
      guess("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
            "scheduled_time\n") == "openb");
  CHECK(guess("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n") == "openb");
  CHECK(guess("timestamp,duration,num_gpus,gpu_time,cluster\n") == "philly-jobs");
  CHECK(guess("A\tB\tC\tD\t1\t925982\t4\t1\t-1.000000\t0\n") == "gavel");
  CHECK(guess("A\tB\tC\tD\t1\t134583\t1\tgns\t1\t-1.000000\t1418\t0\n") == "shockwave");
  CHECK(guess("job_id,submission_time,procs,walltime,run_time\n") == "batsim");
  CHECK(guess("job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
              "expect_value_list,best_effort,job_type\n") == "chronus");
  CHECK(guess("job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,"
              "iteration\n") == "elasticflow");
  CHECK(guess("TIMESTAMP,ContextTokens,GeneratedTokens\r\n") == "azure");
  CHECK(guess("{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0]}\n") ==
        "mooncake");
  CHECK(guess("id,submit,duration,gpus") == "csv");
}

TEST_CASE("what is no known format is said with the line and the known ones") {
  CHECK(guess("") == "format: the file has no header row and no job");
  CHECK(guess("\n \t\r\n") == "format: the file has no header row and no job");
  CHECK(guess("episode,job_id,enter\n1,2,3\n") ==
        "format: 'episode,job_id,enter' begins no known format; name it if it is one of muri, openb, swf, "
        "philly-jobs, gavel, shockwave, batsim, tiresias, chronus, elasticflow, azure, mooncake or csv");
  CHECK(guess("sn,cpu_milli,memory_mib,gpu,model\n").ends_with("begins an openb node list, not a trace"));
  CHECK(guess("job_id,num_gpu,submit_time,duration\n") ==
        "format: 'job_id,num_gpu,submit_time,duration' may begin a trace of tiresias (seconds) or of muri "
        "(milliseconds); name the format");
  CHECK(guess("{\n").starts_with("format: '{' begins no known format"));
  CHECK(guess(std::string(300, 'x')).size() < 300);
}

TEST_CASE("one door for every format") {
  const std::string csv = "id,submit,duration,gpus\n1,0,1,1\n";
  CHECK(mara::parse_trace(csv, "f", TraceFormat::kCsv)->jobs.size() == 1);
  // Each format has its reader: it names what it misses.
  for (const auto& [format, name] : mara::kTraceFormats) {
    if (format == TraceFormat::kCsv) continue;
    const auto trace = mara::parse_trace(csv, "f", format);
    REQUIRE_FALSE(trace);
    CHECK(trace.error().message.starts_with("f:"));
  }
  CHECK(mara::read_trace("absent.csv", TraceFormat::kCsv).error().message == "absent.csv: no such file");
}
