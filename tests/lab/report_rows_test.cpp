// From outcomes to the rows, the table and the JSON of a report: small cases computed by hand.

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "lab/format.hpp"
#include "lab/report.hpp"

namespace {

/// A run in which job i is submitted at i and completes after completion_s[i] seconds; negative: it does not.
lab::PolicyOutcome outcome(const std::string& name, int seed, const std::vector<double>& completion_s) {
  lab::PolicyOutcome result;
  result.name = name;
  result.seed = seed;
  double sum = 0.0;
  for (std::size_t i = 0; i < completion_s.size(); ++i) {
    mara::Job job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = static_cast<double>(i);
    mara::JobRecord record;
    if (completion_s[i] >= 0.0) {
      record.started = record.finished = true;
      record.end_s = job.submit_s + completion_s[i];
      sum += completion_s[i];
      ++result.metrics.finished;
    } else {
      ++result.metrics.unfinished;
    }
    result.result.jobs.push_back(job);
    result.result.records.push_back(record);
  }
  if (result.metrics.finished > 0)
    result.metrics.mean_jct_s = sum / static_cast<double>(result.metrics.finished);
  return result;
}

lab::ReportInput input_of(std::vector<lab::PolicyOutcome> outcomes) {
  lab::ReportInput input;
  input.outcomes = std::move(outcomes);
  input.cluster = mara::parse_cluster("a100:1x8,v100:1x8,t4:1x8").value();
  return input;
}

const lab::PolicyRow& row(const std::vector<lab::PolicyRow>& rows, const std::string& name) {
  for (const lab::PolicyRow& r : rows)
    if (r.name == name) return r;
  FAIL("no row " << name);
  return rows.front();
}

}  // namespace

TEST_CASE("the best rule is the one with fewest unfinished jobs, then the lowest mean") {
  const auto rows = lab::make_rows(input_of(
      {outcome("fcfs", -1, {10, 20, 30}), outcome("sjf", -1, {4, 8, -1}), outcome("srtf", -1, {10, 14, 30}),
       outcome("tuned-list", -1, {1, 1, 1}), outcome("mara", 1, {5, 7, 15})}));
  REQUIRE(rows);
  CHECK(lab::best_rule_name(*rows) == "srtf");  // the tuned list is no textbook rule
  CHECK_FALSE(row(*rows, "tuned-list").textbook);
  // 27 of 54 seconds: half the time.
  REQUIRE(row(*rows, "mara").vs_best_rule_percent);
  CHECK(row(*rows, "mara").vs_best_rule_percent->estimate == Approx(-50.0));
  CHECK(row(*rows, "mara").vs_best_rule_percent->low == Approx(-50.0));  // and for every job alike
  CHECK(row(*rows, "mara").vs_best_rule_percent->high == Approx(-50.0));
  CHECK_FALSE(row(*rows, "srtf").vs_best_rule_percent);
  REQUIRE(row(*rows, "fcfs").vs_best_rule_percent);
  CHECK(row(*rows, "fcfs").vs_best_rule_percent->low <= row(*rows, "fcfs").vs_best_rule_percent->estimate);
  CHECK(row(*rows, "fcfs").vs_best_rule_percent->high >= row(*rows, "fcfs").vs_best_rule_percent->estimate);
}

TEST_CASE("policies are compared over the jobs that both finished") {
  std::vector<double> rule, other;
  for (int i = 0; i < 40; ++i) {
    rule.push_back(i < 10 ? -1.0 : 10.0 + i);
    other.push_back(i < 10 ? 1000.0 : i >= 30 ? -1.0 : (10.0 + i) * (i % 2 == 0 ? 0.4 : 0.6));
  }
  const auto rows = lab::make_rows(input_of({outcome("fcfs", -1, rule), outcome("mara", 1, other)}));
  REQUIRE(rows);
  const auto& versus = row(*rows, "mara").vs_best_rule_percent;
  REQUIRE(versus);
  // Jobs 10 to 29 took 20, 21, ..., 39: 290 s the even ones and 300 s the odd ones.
  CHECK(versus->estimate == Approx(100.0 * ((0.4 * 290.0 + 0.6 * 300.0) / 590.0 - 1.0)));
  CHECK(versus->low > -60.0);
  CHECK(versus->low < versus->estimate - 1.0);
  CHECK(versus->high > versus->estimate + 1.0);
  CHECK(versus->high < -40.0);
}

TEST_CASE("seeds of a learner are one row with Student's interval and the worst run's counts") {
  const auto rows = lab::make_rows(input_of({outcome("fcfs", -1, {10, 10}), outcome("mara", 1, {2, 4}),
                                             outcome("mara", 2, {4, 6}), outcome("mara", 3, {7, -1})}));
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  const lab::PolicyRow& mara_row = row(*rows, "mara");
  CHECK(mara_row.runs == 3);
  CHECK(mara_row.learner);
  CHECK_FALSE(row(*rows, "fcfs").learner);
  CHECK(*mara_row.metrics.mean_jct_s == Approx(5.0));  // of 3, 5 and 7
  CHECK(mara_row.metrics.finished == 1);
  CHECK(mara_row.metrics.unfinished == 1);
  // Deviation 2 over sqrt(3), times Student's 4.303 at two degrees of freedom.
  REQUIRE(mara_row.jct_over_seeds);
  CHECK(mara_row.jct_over_seeds->high == Approx(5.0 + 4.303 * 2.0 / std::sqrt(3.0)));
  CHECK(mara_row.jct_over_seeds->low == Approx(5.0 - 4.303 * 2.0 / std::sqrt(3.0)));
}

TEST_CASE("what is no comparison is refused") {
  CHECK_FALSE(lab::make_rows(input_of({})));
  const auto lengths = lab::make_rows(input_of({outcome("fcfs", -1, {1}), outcome("sjf", -1, {1, 2})}));
  REQUIRE_FALSE(lengths);
  CHECK(lengths.error().message.find("sjf") != std::string::npos);
  const auto nothing = lab::make_rows(input_of({outcome("fcfs", -1, {-1, -1})}));
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message.find("no policy finished any job") != std::string::npos);
}

TEST_CASE("a policy that finishes nothing leaves dashes and nulls, not NaN") {
  const auto input = input_of({outcome("fcfs", -1, {10, 20}), outcome("mara", 1, {-1, -1})});
  const auto rows = lab::make_rows(input);
  REQUIRE(rows);
  const auto json = lab::results_json(input, *rows);
  CHECK(json["policies"][1]["mean_jct_s"].is_null());
  CHECK(json["policies"][1]["vs_best_rule_percent"].is_null());
  CHECK(json["policies"][1]["unfinished"] == 2);
  CHECK(json["best_rule"] == "fcfs");
  const std::string table = lab::render_table(*rows);
  CHECK(table.find("nan") == std::string::npos);
  CHECK(table.find("open") != std::string::npos);
}

TEST_CASE("the lines of the table are equally wide at most, and 120 columns") {
  std::vector<lab::PolicyOutcome> outcomes;
  for (const char* name : {"fcfs", "flow-executed", "mara"})
    for (int seed = 1; seed <= 2; ++seed)
      outcomes.push_back(outcome(name, name[0] == 'f' && name[1] == 'c' ? -1 : seed, {1e6 * seed, 3.25e8}));
  const auto rows = lab::make_rows(input_of(std::move(outcomes)));
  REQUIRE(rows);
  const std::string table = lab::render_table(*rows);
  REQUIRE(table.back() == '\n');
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    CHECK(lab::display_width(table.substr(begin, end - begin)) <= 120);
    begin = end + 1;
  }
}

TEST_CASE("what two runs may differ in stands apart in the summary") {
  auto input = input_of({outcome("fcfs", -1, {10, 20}), outcome("mara", 1, {5, 5})});
  input.configuration = {{"threads", 2}, {"out", "there"}, {"json", true}, {"steps", 100}};
  input.training.push_back({"mara", 1, {{0, 0.5, 12.0, 1.0}, {64, 1.5, NAN, 2.0}}, 64, 1.5, std::nullopt});
  const auto summary = [&] {
    auto json = lab::summary_json(input, *lab::make_rows(input));
    json.erase("timing");
    return json.dump();
  };
  const std::string before = summary();
  input.configuration["threads"] = 8;
  input.configuration["out"] = "elsewhere";
  input.total_seconds = 99.0;
  input.training[0].seconds = 7.0;
  input.training[0].points[1].seconds = 6.0;
  for (auto& run : input.outcomes) run.metrics.decision_us_p50 = run.metrics.decision_us_p99 = 3.0;
  CHECK(summary() == before);
  input.configuration["steps"] = 101;
  CHECK(summary() != before);
}
