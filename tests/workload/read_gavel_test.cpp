#include "mara/workload/read_gavel.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"

using mara::Milli;
using mara::parse_gavel_throughputs;

namespace {

/// JSON that is written with ` for ".
std::string json(std::string text) {
  std::replace(text.begin(), text.end(), '`', '"');
  return text;
}

const std::string kTable = json(
    "{`v100`: {\n"
    "  `('LM (batch size 5)', 1)`: {`null`: 100.0, `('A3C', 1)`: [60, 2.5]},\n"
    "  `('LM (batch size 5)', 2)`: {`null`: 150.0},\n"
    "  `('A3C', 1)`: {`null`: 4.0, `('LM (batch size 5)', 1)`: [2.5, 60]}},\n"
    " `k80`: {`('LM (batch size 5)', 1)`: {`null`: 0.0, `('A3C', 1)`: [0.0, 0.0]}}}");

std::string bad_table(const std::string& text) {
  const auto table = parse_gavel_throughputs(text, "t.json");
  return table ? "accepted" : table.error().message;
}

/// job_type, total_steps, scale_factor, priority_weight, SLO, arrival.
std::string row(const std::string& type, const std::string& steps, const std::string& scale,
                const std::string& weight, const std::string& slo, const std::string& arrival) {
  return type + "\tpython3 main.py\tdir\t--steps\t1\t" + steps + "\t" + scale + "\t" + weight + "\t" + slo +
         "\t" + arrival + "\n";
}

}  // namespace

TEST_CASE("gavel throughputs: alone and together") {
  const auto table = parse_gavel_throughputs(kTable, "t.json");
  REQUIRE(table);
  CHECK(table->gpu_types() == std::vector<std::string>{"v100", "k80"});
  CHECK(table->isolated_count() == 4);
  CHECK(table->pair_count() == 3);
  CHECK(table->isolated("v100", "LM (batch size 5)", 1) == 100.0);
  CHECK(table->isolated("v100", "LM (batch size 5)", 2) == 150.0);
  CHECK(table->isolated("k80", "LM (batch size 5)", 1) == 0.0);
  CHECK_FALSE(table->isolated("k80", "A3C", 1));  // a partner there, never alone
  CHECK_FALSE(table->isolated("v100", "A3C", 2));
  CHECK_FALSE(table->isolated("p100", "A3C", 1));
  CHECK(table->together("v100", "LM (batch size 5)", 1, "A3C", 1) == std::pair(60.0, 2.5));
  CHECK(table->together("v100", "A3C", 1, "LM (batch size 5)", 1) == std::pair(2.5, 60.0));
  CHECK(table->together("k80", "LM (batch size 5)", 1, "A3C", 1) == std::pair(0.0, 0.0));
  CHECK_FALSE(table->together("k80", "A3C", 1, "LM (batch size 5)", 1));
  CHECK_FALSE(table->together("v100", "A3C", 1, "BERT", 1));
  const int v100 = table->type_index("v100"), lm = table->job_index("LM (batch size 5)", 1);
  CHECK(table->isolated(v100, lm) == 100.0);
  CHECK(table->job_index("LM", 1) == -1);
}

TEST_CASE("gavel throughputs: bad tables") {
  const auto says = [](const std::string& text, const std::string& part) {
    INFO(text);
    const std::string message = bad_table(json(text));
    CHECK(message.starts_with("t.json: "));
    CHECK_THAT(message, Catch::Matchers::EndsWith(part));
  };
  const auto job = [](const std::string& entries) { return "{`v100`: {`('A', 1)`: {" + entries + "}}}"; };
  CHECK(bad_table(json(job("`null`: 1"))) == "accepted");
  says("[]", "byte 0: expected '{'");
  says("{}", "no throughput in the file");
  says(kTable.substr(0, 100), "byte 100: a string without an end");
  says(kTable + "x", "there is more than one value");
  says("{`v100`: {`A`: {`null`: 1}}}", "expected ('model', scale), got \"A\"");
  says("{`v100`: {`('A', 0)`: {`null`: 1}}}", "expected ('model', scale), got \"('A', 0)\"");
  says("{`v100`: {`('A', x)`: {`null`: 1}}}", "expected ('model', scale), got \"('A', x)\"");
  says("{`v100`: {`('A', )`: {`null`: 1}}}", "expected ('model', scale), got \"('A', )\"");
  says("{`v100`: {`('', 1)`: {`null`: 1}}}", "expected ('model', scale), got \"('', 1)\"");
  says("{`v100`: {`('A', 1`: {`null`: 1}}}", "expected ('model', scale), got \"('A', 1\"");
  says(job("`null`: -1"), "a throughput below 0: -1");
  says(job("`null`: NaN"), "expected a value");
  says(job("`null`: 1e999"), "throughput: \"1e999\" is out of range for a finite number");
  says(job("`null`: [1, 2]"), "expected a value");
  says(job("`null`: 1, `null`: 1"), "entry \"null\" appears twice");
  says(job("`null`: 1, `('A', 1)`: [1]"), "expected two numbers");
  says(job("`null`: 1, `('A', 1)`: [1, 2, 3]"), "expected two numbers");
  says(job("`null`: 1, `B`: [1, 2]"), "expected null or ('model', scale), got \"B\"");
  says("{`v100`: {}, `v100`: {}}", "GPU type v100 appears twice");
}

TEST_CASE("gavel jobs run as long as their steps take on the reference type") {
  const auto table = parse_gavel_throughputs(kTable, "t.json");
  REQUIRE(table);
  mara::TraceReadOptions options;
  options.gavel_throughputs = &*table;
  const auto trace = mara::parse_gavel(row("LM (batch size 5)", "3000", "2", "1", "1.500000", "12.5") +
                                           row("A3C", "10", "1", "2.5", "-1.000000", "0") +
                                           row("A3C", "0", "1", "1", "-1", "0"),
                                       "f.trace", options);
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->skipped.no_duration == 1);
  CHECK(trace->jobs[0].id == 1);
  CHECK(trace->jobs[0].duration_s == 2.5);
  CHECK(trace->jobs[0].weight == 2.5);
  CHECK(trace->jobs[0].deadline_s == mara::kUnknownTime);
  CHECK(trace->jobs[1].model == "LM (batch size 5)");
  CHECK(trace->jobs[1].gpus == Milli::whole(2));
  CHECK(trace->jobs[1].steps == 3000.0);
  CHECK(trace->jobs[1].duration_s == 20.0);
  CHECK(trace->jobs[1].deadline_s == 12.5 + 1.5 * 20.0);

  const auto bad = [&](const std::string& text) {
    const auto refused = mara::parse_gavel(text, "f.trace", options);
    return refused ? "accepted" : refused.error().message;
  };
  CHECK(bad(row("BERT", "1", "1", "1", "-1", "0")) ==
        "f.trace:1: field 'job_type': value 'BERT' has no measured throughput on 1 GPUs of type v100");
  CHECK(bad(row("A3C", "-1", "1", "1", "-1", "0")) ==
        "f.trace:1: field 'total_steps': value '-1' is below 0");
  CHECK(bad(row("A3C", "1", "0", "1", "-1", "0")) == "f.trace:1: field 'scale_factor': value '0' is below 1");
  CHECK(bad(row("A3C", "1", "1", "0", "-1", "0")) ==
        "f.trace:1: field 'priority_weight': value '0' is not above 0");
  CHECK(bad(row("A3C", "1", "1", "1", "-0.5", "0")) ==
        "f.trace:1: field 'SLO': value '-0.5' is neither -1 nor a multiple of the run time");
  CHECK(bad(row("A3C", "1", "1", "1", "nan", "0")) == "f.trace:1: field 'SLO': value 'nan' is not finite");
  CHECK(bad(row("A3C", "1", "1", "1", "-1", "inf")) ==
        "f.trace:1: field 'arrival': value 'inf' is not finite");
  CHECK(bad(row("A3C", "1e14", "1", "1", "-1", "0")) ==
        "f.trace:1: field 'total_steps': value '1e14' makes the run time too long");
  CHECK(bad("A3C\t1\t2\n") == "f.trace:1: 3 fields, expected 10");
  CHECK(bad("\n") == "f.trace: no job in the file");
  options.gavel_reference = "k80";
  CHECK(bad(row("LM (batch size 5)", "1", "1", "1", "-1", "0")) ==
        "f.trace:1: field 'job_type': value 'LM (batch size 5)' cannot run on 1 GPUs of type k80");
  options.gavel_reference = "h100";
  CHECK(bad(row("A3C", "1", "1", "1", "-1", "0")) == "gavel_reference: the table has no GPU type 'h100'");
  options.gavel_throughputs = nullptr;
  CHECK(bad(row("A3C", "1", "1", "1", "-1", "0")).starts_with("f.trace: a Gavel trace has no run times"));
}

TEST_CASE("shockwave jobs bring their run times") {
  const auto line = [](const std::string& mode, const std::string& slo, const std::string& duration) {
    return "LM (batch size 10)\tpython3\tdir\t--steps\t1\t134583\t4\t" + mode + "\t1\t" + slo + "\t" +
           duration + "\t55\r\n";
  };
  const auto trace =
      mara::parse_shockwave(line("gns", "-1.000000", "1418") + line("static", "2", "100"), "f.trace");
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->jobs[0].submit_s == 55.0);
  CHECK(trace->jobs[0].duration_s == 1418.0);
  CHECK(trace->jobs[0].steps == 134583.0);
  CHECK(trace->jobs[0].gpus == Milli::whole(4));
  CHECK(trace->jobs[1].deadline_s == 255.0);
  const auto bad = [](const std::string& text) {
    return mara::parse_shockwave(text, "f.trace").error().message;
  };
  CHECK(bad(line("adaptive", "-1", "5")) ==
        "f.trace:1: field 'mode': value 'adaptive' is not one of static, accordion, gns");
  CHECK(bad(line("gns", "-1", "-5")) == "f.trace:1: field 'duration': value '-5' is below 0");
  CHECK(bad(line("gns", "-1", "0")) == "f.trace: no job in the file");
}
