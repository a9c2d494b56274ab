#include "mara/workload/read_csv.hpp"

#include <limits>

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/core/random.hpp"
#include "mara/workload/write_csv.hpp"

using mara::Milli;
using mara::parse_trace_csv;
using mara::Trace;
using mara::TraceJob;

namespace {

std::string refused(const std::string& text) {
  const auto trace = parse_trace_csv(text, "f.csv");
  return trace ? "accepted" : trace.error().message;
}

/// A value of one column in an otherwise sound file.
std::string field(const std::string& column, const std::string& value) {
  return refused("id,submit,duration,gpus," + column + "\n1,0,1,1," + value + "\n");
}

std::string text_of(mara::Random& random) {
  constexpr std::string_view kPieces[] = {"a", "vc 1", ",", "\"", "\r\n",     "\n",
                                          "#", "#3",   ";", " ",  "\xC3\xA4", "|"};
  std::string text;
  for (std::uint32_t n = random.below(4); n > 0; --n) text += kPieces[random.below(12)];
  return text;
}

Trace random_trace(std::uint64_t seed) {
  mara::Random random(seed, 7);
  Trace trace;
  const bool named = random.below(2) == 0;
  // Names by first use, all different.
  if (named) trace.tenants = {text_of(random) + "x", text_of(random) + "y", "#" + text_of(random)};
  if (random.below(2) == 0) trace.sla_classes = {"", "soft"};
  double now = 0.0;
  const std::uint32_t plain = random.below(3);  // 0: only the required columns
  for (std::uint32_t i = 0; i < 3 + random.below(20); ++i) {
    TraceJob job;
    job.id = static_cast<std::int64_t>(i < 3 ? 1000 - i : 3 * i);
    now += random.below(3) == 0 ? 0.0 : random.uniform(0.0, 1e5);
    job.submit_s = now;
    job.duration_s = random.below(9) == 0 ? 5e-324 : random.uniform(1e-9, 1e9);
    job.gpus = random.below(2) == 0 ? Milli::whole(1 + random.below(64)) : Milli{1 + random.below(1000)};
    if (named) job.tenant = i < 3 ? static_cast<int>(i) : static_cast<int>(random.below(3));
    if (!trace.sla_classes.empty()) job.sla = i < 2 ? static_cast<int>(i) : static_cast<int>(random.below(2));
    if (plain != 0) {
      if (!named) job.tenant = static_cast<int>(random.below(5));
      if (trace.sla_classes.empty()) job.sla = static_cast<int>(random.below(2));
      job.model = text_of(random);
      job.allowed_types = random.below(2) == 0 ? "" : "T4|V100";
      job.cpu = Milli{random.below(100000)};
      job.memory_mib = random.below(100000);
      job.priority = static_cast<int>(random.below(7)) - 3;
      if (random.below(2) == 0) job.estimate_s = random.uniform(1e-3, 1e6);
      if (random.below(2) == 0) job.deadline_s = now + random.uniform(0.0, 1e6);
      if (random.below(2) == 0) job.weight = random.uniform(1e-6, 10.0);
      if (random.below(2) == 0) job.steps = random.uniform(0.0, 1e9);
      if (random.below(9) == 0) {
        job.gpus = Milli{0};
        job.cpu = Milli{1 + random.below(1000)};
      }
      for (const TraceJob& earlier : trace.jobs)
        if (random.below(8) == 0) job.after.push_back(earlier.id);
    }
    trace.jobs.push_back(job);
  }
  return trace;
}

}  // namespace

TEST_CASE("csv of our own: all columns") {
  const auto trace = parse_trace_csv(
      "steps,after,types,model,weight,sla,priority,tenant,memory_mib,cpu,deadline,estimate,gpus,duration,"
      "submit,id\r\n"
      "500,1,T4|V100,bert,2.5,gold,-3,ann,1024,0.125,99.5,20,0.46,10.25,7,2\r\n"
      ",,,,,,,,,,,,8,3,0,1\r\n",
      "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->tenants == std::vector<std::string>{"", "ann"});
  CHECK(trace->sla_classes == std::vector<std::string>{"", "gold"});
  CHECK(trace->jobs[0] == TraceJob{1, 0.0, 3.0, Milli::whole(8)});
  TraceJob full{2,  7.0, 10.25, Milli{460}, "bert", "T4|V100", Milli{125}, 1024,
                -3, 1,   20.0,  99.5,       1,      2.5,       500.0,      {1}};
  CHECK(trace->jobs[1] == full);
}

TEST_CASE("csv of our own: the required columns alone; rows that describe no run") {
  const auto trace = parse_trace_csv(
      "id,submit,duration,gpus\n5,10,1,1\n4,10,2,0.001\n3,9,3,16\n2,9,0,1\n1,9,1,0\n", "f.csv");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 3);
  CHECK(trace->jobs[0].id == 3);
  CHECK(trace->jobs[1].id == 5);  // equal times keep the order of the file
  CHECK(trace->jobs[2].gpus == Milli{1});
  CHECK(trace->skipped == mara::SkippedRows{1, 0, 1, 0});
  CHECK(trace->tenants.empty());
  CHECK(trace->sla_classes.empty());
}

TEST_CASE("csv of our own: numbered tenants stay numbers") {
  const auto trace = parse_trace_csv("id,submit,duration,gpus,tenant\n1,0,1,1,#3\n2,0,1,1,#0\n", "f.csv");
  REQUIRE(trace);
  CHECK(trace->jobs[0].tenant == 3);
  CHECK(trace->jobs[1].tenant == 0);
  CHECK(trace->tenants.empty());
  const auto named = parse_trace_csv("id,submit,duration,gpus,tenant\n1,0,1,1,3\n2,0,1,1,##3\n", "f.csv");
  REQUIRE(named);
  CHECK(named->tenants == std::vector<std::string>{"3", "#3"});
}

TEST_CASE("csv of our own: bad rows are refused with line, field and value") {
  CHECK(refused("id,submit,duration,gpus\n1,0,1,1\n") == "accepted");
  CHECK(refused("id,submit,duration\n1,0,1\n") == "f.csv:1: field 'gpus': column is missing");
  CHECK(refused("id,submit,duration,gpus,colour\n") == "f.csv:1: field 'colour': unknown column");
  CHECK(refused("id,submit,duration,gpus\n") == "f.csv: no job in the file");
  CHECK(refused("id,submit,duration,gpus\n1,0,1,1\n1,0,1,1\n") ==
        "f.csv:3: field 'id': value '1' appears twice");
  CHECK(refused("id,submit,duration,gpus\n-1,0,1,1\n") == "f.csv:2: field 'id': value '-1' is below 0");
  CHECK(refused("id,submit,duration,gpus\n1,nan,1,1\n") ==
        "f.csv:2: field 'submit': value 'nan' is not finite");
  CHECK(refused("id,submit,duration,gpus\n1,-1,1,1\n") == "f.csv:2: field 'submit': value '-1' is below 0");
  CHECK(refused("id,submit,duration,gpus\n1,0,inf,1\n") ==
        "f.csv:2: field 'duration': value 'inf' is not finite");
  CHECK(refused("id,submit,duration,gpus\n1,0,-1,1\n") == "f.csv:2: field 'duration': value '-1' is below 0");
  const auto gpus = [](const std::string& value) {
    return refused("id,submit,duration,gpus\n1,0,1," + value + "\n");
  };
  CHECK(gpus("0.5000") == "accepted");
  CHECK(gpus("16.0") == "accepted");
  CHECK(gpus("0.0005") == "f.csv:2: field 'gpus': value '0.0005' is finer than 0.001");
  CHECK(gpus("1.5") == "f.csv:2: field 'gpus': value '1.5' is above 1 and not whole");
  CHECK(gpus("-0.5") == "f.csv:2: field 'gpus': value '-0.5' is below 0");
  CHECK(gpus("1e-1") == "f.csv:2: field 'gpus': value '1e-1' is not a plain decimal number");
  CHECK(gpus("nan") == "f.csv:2: field 'gpus': value 'nan' is not finite");
  CHECK(gpus("1000001") == "f.csv:2: field 'gpus': value '1000001' is above 1e+06");
  CHECK(gpus("") == "f.csv:2: field 'gpus': value '' is not a number");
  CHECK(field("estimate", "0") == "f.csv:2: field 'estimate': value '0' is not above 0");
  CHECK(field("estimate", "inf") == "f.csv:2: field 'estimate': value 'inf' is not finite");
  CHECK(field("deadline", "x") == "f.csv:2: field 'deadline': value 'x' is not a number");
  CHECK(field("cpu", "-1") == "f.csv:2: field 'cpu': value '-1' is below 0");
  CHECK(field("cpu", "0.0001") == "f.csv:2: field 'cpu': value '0.0001' is finer than 0.001");
  CHECK(field("memory_mib", "1.5") == "f.csv:2: field 'memory_mib': value '1.5' is not a whole number");
  CHECK(field("memory_mib", "9223372036854775808") ==
        "f.csv:2: field 'memory_mib': value '9223372036854775808' is out of range");
  CHECK(field("priority", "3000000000") ==
        "f.csv:2: field 'priority': value '3000000000' is above 2147483647");
  CHECK(field("weight", "0") == "f.csv:2: field 'weight': value '0' is not above 0");
  CHECK(field("weight", "nan") == "f.csv:2: field 'weight': value 'nan' is not finite");
  CHECK(field("steps", "-1") == "f.csv:2: field 'steps': value '-1' is below 0");
  CHECK(field("tenant", "#x") == "f.csv:2: field 'tenant': value 'x' is not a whole number");
  CHECK(refused("id,submit,duration,gpus,sla\n1,0,1,1,#0\n2,0,1,1,gold\n") ==
        "f.csv:3: field 'sla': value 'gold' mixes numbers (#3) and names in a column");
}

TEST_CASE("csv of our own: dependencies") {
  const auto after = [](const std::string& first, const std::string& second, const std::string& third) {
    return refused("id,submit,duration,gpus,after\n1,0,1,1," + first + "\n2,0,1,1," + second + "\n3,0,1,1," +
                   third + "\n");
  };
  CHECK(after("2;3", "3", "") == "accepted");
  CHECK(after("", "1", "1;2") == "accepted");  // a diamond is no circle
  CHECK(after("", "9", "") == "f.csv:3: field 'after': value '9' is the id of no row");
  CHECK(after("", "2", "") == "f.csv: job 2: field 'after': waits for itself: 2 -> 2");
  CHECK(after("3", "1", "2") == "f.csv: job 1: field 'after': waits for itself: 1 -> 3 -> 2 -> 1");
  CHECK(after("", "1;", "") == "f.csv:3: field 'after': value '' is not a whole number");
  CHECK(after("", "1,2", "") == "f.csv:3: 6 fields, the header has 5");
  // A job that is skipped counts as finished.
  const auto trace = parse_trace_csv("id,submit,duration,gpus,after\n1,0,0,1,\n2,0,1,1,1\n", "f.csv");
  REQUIRE(trace);
  CHECK(trace->jobs[0].after.empty());
  // A long chain needs no deep recursion.
  std::string chain = "id,submit,duration,gpus,after\n0,0,1,1,\n";
  for (int i = 1; i < 100000; ++i) chain += std::to_string(i) + ",0,1,1," + std::to_string(i - 1) + "\n";
  CHECK(refused(chain) == "accepted");
}

TEST_CASE("csv of our own: what is written reads back equal") {
  mara::TraceReadOptions options;
  options.keep_cpu_jobs = true;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Trace trace = random_trace(seed);
    const auto text = mara::trace_csv_text(trace);
    REQUIRE(text);
    const auto back = parse_trace_csv(*text, "f.csv", options);
    INFO(*text);
    REQUIRE(back);
    CHECK(back->jobs == trace.jobs);
    CHECK(back->tenants == trace.tenants);
    CHECK(back->sla_classes == trace.sla_classes);
    CHECK(back->skipped.total() == 0);
    CHECK(*mara::trace_csv_text(*back) == *text);
  }
  const workload_test::TempFile folder("", "unused");
  const std::string path = folder.sibling("out.csv");
  REQUIRE(mara::write_trace_csv(random_trace(1), path));
  CHECK(*mara::read_text_file(path) == *mara::trace_csv_text(random_trace(1)));
}

TEST_CASE("csv of our own: what cannot be written is refused") {
  const auto message = [](const auto& change) {
    Trace trace;
    trace.jobs = {TraceJob{1, 0.0, 1.0, Milli{1000}}, TraceJob{2, 5.0, 1.0, Milli{1000}}};
    change(trace);
    const auto text = mara::trace_csv_text(trace);
    return text ? *text : text.error().message;
  };
  CHECK(message([](Trace&) {}) == "id,submit,duration,gpus\n1,0,1,1\n2,5,1,1\n");
  CHECK(message([](Trace& t) { t.jobs.clear(); }) == "trace: has no job");
  CHECK(message([](Trace& t) { t.jobs[1].id = 1; }) == "job 1: field 'id': appears twice");
  CHECK(message([](Trace& t) { t.jobs[1].id = -1; }) == "job -1: field 'id': -1 is negative");
  CHECK(message([](Trace& t) { t.jobs[0].submit_s = 6.0; }) ==
        "job 2: field 'submit_s': the jobs are not in order of submission");
  CHECK(message([](Trace& t) { t.jobs[1].tenant = 1, t.tenants = {"a"}; }) ==
        "job 2: field 'tenant': 1 has no name");
  CHECK(message([](Trace& t) { t.jobs[1].sla = -1; }) == "job 2: field 'sla': -1 is negative");
  CHECK(message([](Trace& t) { t.jobs[1].after = {7}; }) == "job 2: field 'after': 7 is the id of no job");
  CHECK(message([](Trace& t) { t.jobs[1].model = std::string("a\0b", 3); }) ==
        "job 2: field 'model': holds a zero byte");
  CHECK(message([](Trace& t) { t.tenants = {std::string(1, '\0')}; }) == "trace: a name holds a zero byte");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (double TraceJob::*member : {&TraceJob::submit_s, &TraceJob::duration_s, &TraceJob::estimate_s,
                                   &TraceJob::deadline_s, &TraceJob::weight, &TraceJob::steps})
    for (const double bad : {nan, -infinity, 1e300})
      if (!(member == &TraceJob::steps && bad > 0.0))
        CHECK(message([&](Trace& t) { t.jobs[1].*member = bad; }).starts_with("job 2: field '"));
}
