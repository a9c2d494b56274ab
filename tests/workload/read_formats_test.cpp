// The readers of the CSV formats that have little of their own: Batsim, Tiresias, Philly jobs, Chronus,
// ElasticFlow.

#include "catch.hpp"
#include "mara/workload/read_batsim.hpp"
#include "mara/workload/read_chronus.hpp"
#include "mara/workload/read_elasticflow.hpp"
#include "mara/workload/read_philly_jobs.hpp"
#include "mara/workload/read_tiresias.hpp"

using mara::Milli;

namespace {

using Reader = mara::Result<mara::Trace> (*)(std::string, const std::string&, const mara::TraceReadOptions&);

/// What is wrong with the last of the rows.
std::string refused(Reader reader, const std::string& header, const std::string& row) {
  const auto trace = reader(header + "\n" + row + "\n", "f.csv", {});
  return trace ? "accepted" : trace.error().message;
}

}  // namespace

TEST_CASE("batsim jobs") {
  const auto trace = mara::parse_batsim(
      "job_id,submission_time,procs,walltime,run_time\r\n"
      "1,4.709164,2,399.0,265.8\r\n0,0.0,1,149,88.51\r\n2,5,4,-1,10\r\n3,5,4,,10\r\n4,6,1,10,0\r\n",
      "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 4);
  CHECK(trace->skipped == mara::SkippedRows{0, 0, 1, 0});
  CHECK(trace->jobs[0].id == 0);
  CHECK(trace->jobs[1].submit_s == 4.709164);
  CHECK(trace->jobs[1].gpus == Milli::whole(2));
  CHECK(trace->jobs[1].estimate_s == 399.0);
  CHECK(trace->jobs[1].duration_s == 265.8);
  CHECK(trace->jobs[2].estimate_s == mara::kUnknownTime);
  CHECK(trace->jobs[3].estimate_s == mara::kUnknownTime);

  const auto bad = [](const std::string& row) {
    return refused(&mara::parse_batsim, "job_id,submission_time,procs,walltime,run_time", row);
  };
  CHECK(bad("0,0,1,10,5") == "accepted");
  CHECK(bad("0,0,0,10,5") == "f.csv:2: field 'procs': value '0' is below 1");
  CHECK(bad("0,0,1,0,5") == "f.csv:2: field 'walltime': value '0' is no time");
  CHECK(bad("0,0,1,-0.5,5") == "f.csv:2: field 'walltime': value '-0.5' is no time");
  CHECK(bad("0,0,1,-2,5") == "f.csv:2: field 'walltime': value '-2' is below -1");
  CHECK(bad("0,-1,1,10,5") == "f.csv:2: field 'submission_time': value '-1' is below 0");
  CHECK(bad("0,0,1,10,nan") == "f.csv:2: field 'run_time': value 'nan' is not finite");
  CHECK(bad("0,0,1,10,5\n0,0,1,10,5") == "f.csv:3: field 'job_id': value '0' appears twice");
  CHECK(bad("") == "f.csv: no job in the file");
}

TEST_CASE("tiresias jobs count seconds") {
  const auto trace = mara::parse_tiresias(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
      "1,8,30,133,vgg11,147,23\n0,1,0,606,vgg19,164,30\n2,0,31,1,vgg11,5,1\n3,3,31,1,vgg11,0,1\n",
      "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->skipped == mara::SkippedRows{1, 0, 1, 0});
  CHECK(trace->jobs[1] == [] {
    mara::TraceJob job{1, 30.0, 147.0, Milli::whole(8), "vgg11"};
    job.steps = 133.0;
    return job;
  }());
  const auto bad = [](const std::string& row) {
    return refused(&mara::parse_tiresias, "job_id,num_gpu,submit_time,duration", row);
  };
  CHECK(bad("0,3,0,5") == "accepted");
  CHECK(bad("0,-1,0,5") == "f.csv:2: field 'num_gpu': value '-1' is below 0");
  CHECK(bad("0,1,inf,5") == "f.csv:2: field 'submit_time': value 'inf' is not finite");
  CHECK(bad("0,1,0,-5") == "f.csv:2: field 'duration': value '-5' is below 0");
  CHECK(bad("0,1,0,5\n0,1,0,5") == "f.csv:3: field 'job_id': value '0' appears twice");
  CHECK(refused(&mara::parse_tiresias, "job_id,num_gpu,submit_time,duration,batch_size", "") ==
        "f.csv:1: field 'batch_size': unknown column");
}

TEST_CASE("philly jobs: local times become exact seconds since the first midnight") {
  const auto trace = mara::parse_philly_jobs(
      "timestamp,duration,num_gpus,gpu_time,cluster\r\n"
      "2016-03-01 00:00:05,100.5,2,201.0,7f04ca\r\n"
      "2016-02-28 23:59:59,60.0,1,60.0,103959\r\n"
      "2016-02-29 12:00:00,60.0,0,0.0,7f04ca\r\n"
      "2016-02-01 00:00:00,0.0,1,0.0,7f04ca\r\n"  // skipped: does not set the first midnight
      "2016-03-01 00:00:05,3,8,24,7f04ca\r\n",
      "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 3);
  CHECK(trace->skipped == mara::SkippedRows{1, 0, 1, 0});
  CHECK(trace->tenants == std::vector<std::string>{"103959", "7f04ca"});
  CHECK(trace->jobs[0].id == 1);
  CHECK(trace->jobs[0].submit_s == 86399.0);
  CHECK(trace->jobs[0].tenant == 0);
  CHECK(trace->jobs[1].id == 0);
  CHECK(trace->jobs[1].submit_s == 2.0 * 86400.0 + 5.0);  // 2016 is a leap year
  CHECK(trace->jobs[1].duration_s == 100.5);
  CHECK(trace->jobs[1].gpus == Milli::whole(2));
  CHECK(trace->jobs[1].tenant == 1);
  CHECK(trace->jobs[2].id == 4);

  const auto bad = [](const std::string& row) {
    return refused(&mara::parse_philly_jobs, "timestamp,duration,num_gpus,gpu_time,cluster", row);
  };
  CHECK(bad("2017-09-04 10:30:41,5,2,10,a") == "accepted");
  CHECK(bad("2017-09-04,5,2,10,a") ==
        "f.csv:2: field 'timestamp': value '2017-09-04' is not a time such as 2017-09-04 10:30:41");
  CHECK(bad("2017-02-29 10:30:41,5,2,10,a").starts_with("f.csv:2: field 'timestamp': "));
  CHECK(bad("2017-09-04 10:30:41,5,2,11,a") ==
        "f.csv:2: field 'gpu_time': value '11' is not duration x num_gpus");
  CHECK(bad("2017-09-04 10:30:41,5,-2,10,a") == "f.csv:2: field 'num_gpus': value '-2' is below 0");
  CHECK(bad("2017-09-04 10:30:41,inf,2,10,a") == "f.csv:2: field 'duration': value 'inf' is not finite");
  CHECK(bad("2017-09-04 10:30:41,5,2,10") == "f.csv:2: 4 fields, the header has 5");
  CHECK(bad("") == "f.csv: no job in the file");
}

TEST_CASE("chronus jobs count minutes") {
  const std::string header =
      "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
      "expect_value_list,best_effort,job_type";
  const auto trace = mara::parse_chronus(
      header +
          "\n7,vc_b,4,20,6910,resnet101,211,8,282,10,0,strict\n8,vc_a,1,10.5,5,bert,2,1,4-8-16,3-2-1,0,soft\n"
          "9,vc_b,1,30,5,bert,2,1,,,0,best\n10,vc_b,1,30,5,bert,2,1,9,0,1,strict\n"
          "11,vc_c,0,1,5,bert,2,1,9,10,0,strict\n12,vc_c,1,1,5,bert,0,1,9,10,0,strict\n",
      "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 4);
  CHECK(trace->skipped == mara::SkippedRows{1, 0, 1, 0});
  CHECK(trace->tenants == std::vector<std::string>{"vc_a", "vc_b"});
  CHECK(trace->sla_classes == std::vector<std::string>{"soft", "strict", "best"});
  const mara::TraceJob& soft = trace->jobs[0];
  CHECK(soft.id == 8);
  CHECK(soft.submit_s == 630.0);
  CHECK(soft.duration_s == 120.0);
  CHECK(soft.deadline_s == 630.0 + 240.0);
  CHECK(soft.weight == 3.0);
  CHECK(soft.sla == 0);
  const mara::TraceJob& strict = trace->jobs[1];
  CHECK(strict.deadline_s == 1200.0 + 282.0 * 60.0);
  CHECK(strict.gpus == Milli::whole(4));
  CHECK(strict.weight == 10.0);
  CHECK(strict.steps == 6910.0);
  CHECK(strict.model == "resnet101");
  for (const std::size_t best : {std::size_t{2}, std::size_t{3}}) {
    CHECK(trace->jobs[best].sla == 2);
    CHECK(trace->jobs[best].deadline_s == mara::kUnknownTime);
    CHECK(trace->jobs[best].weight == 1.0);
  }
  const auto bad = [&](const std::string& row) { return refused(&mara::parse_chronus, header, row); };
  CHECK(bad("7,a,1,20,1,m,211,8,282,10,0,hard") ==
        "f.csv:2: field 'job_type': value 'hard' is not one of strict, soft, best");
  CHECK(bad("7,a,1,20,1,m,211,8,,10,0,strict") ==
        "f.csv:2: field 'expect_time_list': value '' is not a number");
  CHECK(bad("7,a,1,20,1,m,211,8,-5,10,0,strict") ==
        "f.csv:2: field 'expect_time_list': value '' is not a number");
  CHECK(bad("7,a,1,20,1,m,211,8,5,nan,0,strict") ==
        "f.csv:2: field 'expect_value_list': value 'nan' is not finite");
  CHECK(bad("7,a,1,-20,1,m,211,8,5,1,0,strict") == "f.csv:2: field 'submit_time': value '-20' is below 0");
  CHECK(bad("7,a,1,20,1,m,211,8,5,1,2,strict") == "f.csv:2: field 'best_effort': value '2' is above 1");
}

TEST_CASE("elasticflow jobs have deadlines") {
  const std::string header =
      "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,iteration";
  const auto trace = mara::parse_elasticflow(
      header + "\n1,219316,1,vgg16,2065619,64,4,1792395,1792396,26446831\n0,0,1,bert,5,256,1,9,10,20\n",
      "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->jobs[0].deadline_s == 5.0);
  CHECK(trace->jobs[1].submit_s == 219316.0);
  CHECK(trace->jobs[1].deadline_s == 2065619.0);
  CHECK(trace->jobs[1].duration_s == 1792396.0);
  CHECK(trace->jobs[1].steps == 26446831.0);
  CHECK(trace->jobs[1].gpus == Milli::whole(4));
  const auto bad = [&](const std::string& row) { return refused(&mara::parse_elasticflow, header, row); };
  CHECK(bad("0,6,1,bert,5,256,1,9,10,20") == "f.csv:2: field 'ddl': value '5' is before submit_time");
  CHECK(bad("0,6,1,bert,,256,1,9,10,20") == "f.csv:2: field 'ddl': value '' is not a number");
  CHECK(bad("0,6,1,bert,inf,256,1,9,10,20") == "f.csv:2: field 'ddl': value 'inf' is not finite");
  CHECK(bad("0,6,1,bert,9,256,1.5,9,10,20") == "f.csv:2: field 'num_gpu': value '1.5' is not a whole number");
}

TEST_CASE("deadlines keep their distance when submissions are divided") {
  mara::TraceReadOptions options;
  options.time_divisor = 10;
  const auto trace =
      mara::parse_elasticflow("job_id,submit_time,ddl,num_gpu,duration\n0,105,120,1,1\n", "f.csv", options);
  REQUIRE(trace);
  CHECK(trace->jobs[0].submit_s == 10.0);
  CHECK(trace->jobs[0].deadline_s == 25.0);
}
