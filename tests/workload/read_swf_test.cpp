#include "mara/workload/read_swf.hpp"

#include <limits>

#include "catch.hpp"

using mara::Milli;
using mara::parse_swf;

namespace {

// job submit wait run allocated cpu used requested req.time req.mem status user group exe queue part. prec.
// think
const std::string kGood = "1 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1\n";

std::string refused(const std::string& line, const mara::TraceReadOptions& options = {}) {
  const auto trace = parse_swf(kGood + line + "\n", "f.swf", options);
  return trace ? "accepted" : trace.error().message;
}

}  // namespace

TEST_CASE("swf lines become jobs, by the rules for what is unknown") {
  const auto trace = parse_swf(
      "; Version: 2.2\r\n;\tMaxProcs:  128 \r\n\r\n"
      "  1  100   -1   50    4   -1  1024   -1    -1  2049  1   12  1 -1 -1 -1 -1 -1\r\n"
      "2\t20 0 316.5 -1 316.04 -1 8 43200 -1 1 -1 1 -1 -1 -1 -1 -1\n"  // requested, no allocated
      "3 100 0 7 2 -1 3000 5 0 -1 0 12 1 -1 -1 -1 1 30\n"              // the larger; no estimate; after 1
      " ; a comment between jobs\n"
      "4 100 0 -1 2 -1 -1 2 50 -1 1 3 1 -1 -1 -1 -1 -1\n"   // run unknown
      "5 100 0 0 2 -1 -1 2 50 -1 1 3 1 -1 -1 -1 -1 -1\n"    // run 0
      "6 100 0 9 -1 -1 -1 -1 50 -1 1 3 1 -1 -1 -1 -1 -1\n"  // no size
      "7 100 0 -1 2 -1 -1 2 50 -1 5 3 1 -1 -1 -1 -1 -1\n"   // cancelled before it ran
      "8 100 0 9 2 -1 -1 2 50 -1 5 12 1 -1 -1 -1 4 -1\n"    // cancelled while it ran; after a skipped job
      "8 100 0 4 2 -1 -1 2 50 -1 2 12 1 -1 -1 -1 -1 -1\n"   // part of 8
      "9 -1 0 9 2 -1 -1 2 50 -1 1 3 1 -1 -1 -1 -1 -1",      // submission unknown
      "dir/f.swf");
  REQUIRE(trace);
  CHECK(trace->source == "f.swf");
  REQUIRE(trace->jobs.size() == 4);
  CHECK(trace->skipped == mara::SkippedRows{0, 1, 2, 3});
  CHECK(trace->tenants == std::vector<std::string>{"unknown", "12"});

  const mara::TraceJob& second = trace->jobs[0];
  CHECK(second.id == 2);
  CHECK(second.submit_s == 20.0);
  CHECK(second.duration_s == 316.5);
  CHECK(second.gpus == Milli::whole(8));
  CHECK(second.estimate_s == 43200.0);
  CHECK(second.memory_mib == 0);
  CHECK(second.tenant == 0);

  const mara::TraceJob& first = trace->jobs[1];
  CHECK(first.id == 1);
  CHECK(first.estimate_s == mara::kUnknownTime);
  CHECK(first.memory_mib == 9);  // 4 x 2049 kB, rounded up
  CHECK(first.tenant == 1);
  CHECK(first.after.empty());

  const mara::TraceJob& third = trace->jobs[2];
  CHECK(third.id == 3);
  CHECK(third.gpus == Milli::whole(5));
  CHECK(third.estimate_s == mara::kUnknownTime);
  CHECK(third.memory_mib == 15);  // 5 x 3000 kB
  CHECK(third.after == std::vector<std::int64_t>{1});

  CHECK(trace->jobs[3].id == 8);
  CHECK(trace->jobs[3].after.empty());
}

TEST_CASE("swf: a run time for jobs without one, and submissions divided") {
  mara::TraceReadOptions options;
  options.swf_negative_run_s = 10.0;
  options.time_divisor = 4;
  const auto trace = parse_swf(
      "1 11 0 -1 4 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n"
      "2 8 0 5 4 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n"
      "3 13 0 0 4 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n",
      "f.swf", options);
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->jobs[0].id == 1);  // 11 div 4 = 8 div 4: in order of the file
  CHECK(trace->jobs[0].submit_s == 2.0);
  CHECK(trace->jobs[0].duration_s == 10.0);
  CHECK(trace->jobs[1].submit_s == 2.0);
  CHECK(trace->skipped.no_duration == 1);

  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    options.swf_negative_run_s = bad;
    CHECK(parse_swf(kGood, "f.swf", options).error().message.starts_with("swf_negative_run_s: must be"));
  }
  options.swf_negative_run_s.reset();
  options.time_divisor = 0;
  CHECK(parse_swf(kGood, "f.swf", options).error().message ==
        "time_divisor: must be from 1 to 1000000, got 0");
}

TEST_CASE("swf: bad lines are refused with line, field and value") {
  CHECK(refused("2 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") == "accepted");
  CHECK(refused("1 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'job': value '1' appears twice");
  CHECK(refused("2 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1") == "f.swf:2: 17 fields, expected 18");
  CHECK(refused("2 nan 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'submit': value 'nan' is not finite");
  CHECK(refused("2 10 0 inf 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'run': value 'inf' is not finite");
  CHECK(refused("2 10 0 -2 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'run': value '-2' is below -1");
  CHECK(refused("2 10 0 60 1000001 -1 -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'allocated': value '1000001' is above 1000000");
  CHECK(refused("2 10 0 60 4 -1 -1 4.5 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'requested': value '4.5' is not a whole number");
  CHECK(refused("2 10 0 60 4 -1 -1 4 1e13 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'requested_time': value '1e13' is above 1e+12");
  CHECK(refused("2 10 0 60 4 -1 -1 4 100 1e15 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'requested_memory': value '1e15' is too large");
  CHECK(refused("2 10 0 60 4 x -1 4 100 -1 1 7 1 -1 -1 -1 -1 -1") ==
        "f.swf:2: field 'cpu_time': value 'x' is not a number");
  CHECK(refused("2 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 2 -1") ==
        "f.swf:2: field 'preceding': value '2' is the job itself");
  CHECK(refused("2 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 3 -1\n"
                "3 10 0 60 4 -1 -1 4 100 -1 1 7 1 -1 -1 -1 2 -1") ==
        "f.swf: job 2: field 'after': waits for itself: 2 -> 3 -> 2");
  CHECK(parse_swf("; nothing\n", "f.swf").error().message == "f.swf: no job in the file");
}

TEST_CASE("swf: numbers of the header") {
  const std::string text =
      "; Version: 2.2\n\n; MaxProcs:  128 \r\n;MaxNodes:64\n; TimeZone: x\n" + kGood + "; MaxJobs: 5\n";
  CHECK(mara::swf_header_number(text, "MaxProcs") == 128);
  CHECK(mara::swf_header_number(text, "MaxNodes") == 64);
  CHECK_FALSE(mara::swf_header_number(text, "Max"));
  CHECK_FALSE(mara::swf_header_number(text, "TimeZone"));
  CHECK_FALSE(mara::swf_header_number(text, "Version"));
  CHECK_FALSE(mara::swf_header_number(text, "MaxJobs"));  // after the first job
  CHECK_FALSE(mara::swf_header_number("", "MaxProcs"));
}
