#include "mara/workload/workload_model_json.hpp"

#include <filesystem>

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/workload/fit_to_file.hpp"

using mara::workload_model_from_json;
using mara::workload_model_to_json;
using mara::WorkloadModel;
using workload_test::contains;
using workload_test::small_model;
using workload_test::TempFile;

namespace {

// Found with g++ 12 and clang 14 alike.
constexpr std::uint64_t kFit = 14116221123191090417ull;

std::filesystem::path models() {
  return std::filesystem::path(__FILE__).parent_path() / ".." / ".." / "models";
}

// The message after replacing the first `from` of a good document by `to`.
std::string refused(const std::string& from, const std::string& to) {
  std::string text = workload_model_to_json(small_model());
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  auto model = workload_model_from_json(text);
  return model ? "accepted" : model.error().message;
}

}  // namespace

TEST_CASE("a model survives JSON exactly, and its text is stable") {
  WorkloadModel model = small_model();
  model.modulation = {0.25, 0.5, std::vector<double>(24, 1.0)};
  model.origin = {"t.csv", "command", 12, 0.5, 99.0};
  model.fit.ks_duration = 0.125;
  model.fit.sample_jobs = 7;
  model.models[0].model = "quote \" and \\ and é";
  const std::string text = workload_model_to_json(model);
  auto read = workload_model_from_json(text);
  REQUIRE(read);
  CHECK(workload_model_to_json(*read) == text);
  CHECK(read->name == "small");
  CHECK(read->gaps == model.gaps);
  CHECK(read->durations == model.durations);
  CHECK(read->regimes[1].next == model.regimes[1].next);
  CHECK(read->regimes[1].repeat_shape == 0.4);
  CHECK(read->shapes[1].gpus == mara::Milli{8000});
  CHECK(read->modulation.hourly.size() == 24);
  CHECK(read->models[0].model == model.models[0].model);
  CHECK(read->origin.jobs == 12);
  CHECK(read->fit.ks_duration == 0.125);
}

TEST_CASE("a bad model file is refused by key") {
  CHECK(refused("\"name\"", "\"name\"") == "accepted");
  CHECK(refused("\"name\"", "\"nam\"") == "key 'nam': unknown key");
  CHECK(contains(refused("\"name\": \"small\",", ""), "key 'name': key is missing"));
  CHECK(contains(refused("\"name\": \"small\"", "\"name\": 3"), "key 'name': must be a string, is 3"));
  CHECK(contains(refused("\"name\"", "\"name\": \"x\", \"name\""), "key 'name': appears twice"));
  CHECK(contains(refused("\"repeat_shape\": 0.8", "\"repeat_shape\": \"0.8\""),
                 "key 'arrivals.regimes[0].repeat_shape': must be a number"));
  CHECK(contains(refused("\"repeat_shape\": 0.8", "\"repeat_shape\": 1.8"),
                 "regimes[0].repeat_shape: must be in [0, 1], is 1.8"));
  CHECK(contains(refused("\"repeat_shape\": 0.8", "\"repeat_shape\": NaN"), "not valid JSON"));
  CHECK(contains(refused("\"repeat_shape\": 0.8", "\"repeat_shape\": 1e999"), "not valid JSON"));
  CHECK(contains(refused("\"repeat_shape\": 0.8", "\"repeat_shape\": null"), "must be a number"));
  CHECK(contains(refused("\"repeat_shape\"", "\"x\": 1, \"repeat_shape\""),
                 "key 'arrivals.regimes[0].x': unknown key"));
  CHECK(contains(refused("\"gpu_milli\": 8000", "\"gpu_milli\": 8000.5"),
                 "key 'jobs.shapes[1].gpu_milli': must be a whole number"));
  CHECK(
      contains(refused("\"gpu_milli\": 8000", "\"gpu_milli\": 1500"), "shapes[1].gpu_milli: bad value 1500"));
  CHECK(contains(refused("\"gpu_milli\": 8000", "\"gpu_milli\": 18446744073709551615"),
                 "key 'jobs.shapes[1].gpu_milli': must be a whole number"));
  CHECK(contains(refused("\"jobs\": 0", "\"jobs\": -1"), "key 'origin.jobs': must not be negative"));
  CHECK(contains(refused("\"quantile_levels\": [0.0, 0.005", "\"quantile_levels\": [0.0, 0.006"),
                 "key 'quantile_levels'"));
  CHECK(contains(refused("\"gap_quantiles_s\": [1.0", "\"gap_quantiles_s\": [2.0"),
                 "gaps[1]: quantiles must not fall"));
  CHECK(contains(refused("\"gap_quantiles_s\": [1.0, ", "\"gap_quantiles_s\": ["), "gaps: 32 quantiles"));
  CHECK(contains(refused("\"gap_quantiles_s\": [1.0", "\"gap_quantiles_s\": [\"1.0\""),
                 "key 'arrivals.gap_quantiles_s[0]': must be a number"));
  CHECK(contains(refused("\"format\": \"mara workload model 1\"", "\"format\": \"other\""),
                 "key 'format': must be"));
  CHECK(contains(refused("{", "["), "not valid JSON"));
  CHECK(contains(workload_model_from_json("[]").error().message, "must be an object"));
  CHECK(contains(workload_model_from_json("").error().message, "not valid JSON"));
  CHECK(contains(workload_model_from_json(workload_model_to_json(small_model()) + "x").error().message,
                 "not valid JSON"));
}

TEST_CASE("model files that cannot be read or written") {
  const TempFile file("not json", "m.json");
  CHECK(contains(mara::load_workload_model(file.path()).error().message, file.path() + ": not valid JSON"));
  CHECK(contains(mara::load_workload_model("/nonexistent.json").error().message, "no such file"));
  CHECK(mara::save_workload_model(small_model(), "/nonexistent/m.json").error().message ==
        "/nonexistent/m.json: cannot be written: No such file or directory");
}

TEST_CASE("fit_to_file writes a model that says where it came from, and nothing on error") {
  std::string csv = "job_id,num_gpu,submit_time,duration,model_name,priority\n";
  auto trace = mara::trace_from_model(small_model(), 1, 500);
  REQUIRE(trace);
  for (const mara::TraceJob& job : trace->jobs)
    csv += std::to_string(job.id) + "," + std::to_string(std::max<std::int64_t>(job.gpus.units(), 1)) + "," +
           std::to_string(static_cast<std::int64_t>(job.submit_s * 1000)) + "," +
           std::to_string(static_cast<std::int64_t>(job.duration_s * 1000)) + "," + job.model + ",0\n";
  const TempFile file(csv);
  const std::string out = file.sibling("fitted.json");
  REQUIRE(mara::fit_to_file(file.path(), mara::TraceFormat::kMuri, out));
  auto model = mara::load_workload_model(out);
  REQUIRE(model);
  CHECK(model->name == "fitted");
  CHECK(model->origin.trace == "input.csv");
  CHECK(model->origin.command == "mara-lab trace input.csv --format muri --fit fitted.json");
  CHECK(model->origin.jobs == 500);

  const TempFile bad("job_id,num_gpu,submit_time,duration\n0,1,0,-1\n");
  CHECK_FALSE(mara::fit_to_file(bad.path(), mara::TraceFormat::kMuri, bad.sibling("out.json")));
  CHECK_FALSE(std::filesystem::exists(bad.sibling("out.json")));
  const TempFile few("job_id,num_gpu,submit_time,duration\n0,1,0,1\n");
  CHECK(contains(
      mara::fit_to_file(few.path(), mara::TraceFormat::kMuri, few.sibling("out.json")).error().message,
      few.path() + ": trace: a fit needs at least 30 jobs"));
}

TEST_CASE("a fit is bit-identical everywhere") {
  mara::FitOptions options;
  options.regimes = 3;
  options.sample_jobs = 20'000;
  auto model = mara::fit(*mara::trace_from_model(small_model(), 5, 2000), options);
  REQUIRE(model);
  CHECK(workload_test::hash_text(workload_model_to_json(*model)) == kFit);
}

TEST_CASE("the shipped models load and say how well they fit") {
  for (const char* name : {"philly", "openb"}) {
    INFO(name);
    auto model = mara::load_workload_model((models() / (std::string(name) + ".json")).string());
    REQUIRE(model);
    CHECK(model->name == name);
    CHECK(contains(model->origin.command, "mara-lab trace " + model->origin.trace));
    CHECK(model->fit.ks_duration < 0.03);
    CHECK(model->fit.ks_interarrival < 0.05);
    CHECK(model->fit.tv_gpus < 0.02);
    CHECK(model->fit.ratio_mean_work == Approx(1.0).margin(0.1));
    CHECK(model->fit.ratio_dispersion_day == Approx(1.0).margin(0.2));
    CHECK(mara::trace_from_model(*model, 1, 100)->jobs.size() == 100);
  }
}
