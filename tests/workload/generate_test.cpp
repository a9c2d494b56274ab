#include "mara/workload/generate.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "catch.hpp"
#include "helpers.hpp"

using mara::ArrivalKind;
using mara::generate;
using mara::GenerateOptions;
using mara::Random;
using mara::TraceJob;
using mara::WorkloadModel;
using workload_test::contains;
using workload_test::small_model;

namespace {

// Found with g++ 12 and clang 14 alike.
constexpr std::uint64_t kPlain = 8227944753377521089ull;
constexpr std::uint64_t kModulated = 17548678816335534118ull;

std::vector<TraceJob> draw(const WorkloadModel& model, std::size_t jobs, std::uint64_t seed = 1,
                           double rate_scale = 1.0, ArrivalKind kind = ArrivalKind::kAsFitted) {
  Random random(seed);
  GenerateOptions options;
  options.jobs = jobs;
  options.rate_scale = rate_scale;
  options.kind = kind;
  auto drawn = generate(model, random, options);
  REQUIRE(drawn);
  return *drawn;
}

double mean_gap(const std::vector<TraceJob>& jobs) {
  return jobs.back().submit_s / static_cast<double>(jobs.size());
}

double work(const std::vector<TraceJob>& jobs) {
  double sum = 0.0;
  for (const TraceJob& job : jobs) sum += job.gpus.as_double() * job.duration_s;
  return sum / static_cast<double>(jobs.size());
}

}  // namespace

TEST_CASE("generated jobs have the model's moments") {
  const WorkloadModel model = small_model();
  const auto jobs = draw(model, 200'000);
  CHECK(mean_gap(jobs) == Approx(mara::mean_interarrival_s(model)).epsilon(0.02));
  CHECK(work(jobs) == Approx(mara::mean_gpu_seconds(model)).epsilon(0.02));
  CHECK(mara::load_gpus(model) == Approx(work(jobs) / mean_gap(jobs)).epsilon(0.04));
  std::map<std::int64_t, double> sizes;
  std::map<std::string, double> models;
  double priority = 0.0;
  for (const TraceJob& job : jobs) {
    sizes[job.gpus.value] += 1.0 / static_cast<double>(jobs.size());
    models[job.model] += 1.0 / static_cast<double>(jobs.size());
    priority += job.priority / static_cast<double>(jobs.size());
  }
  CHECK(sizes[1000] == Approx(0.6).margin(0.01));
  CHECK(sizes[8000] == Approx(0.3).margin(0.01));
  CHECK(sizes[500] == Approx(0.1).margin(0.01));
  CHECK(models["bert"] == Approx(0.25).margin(0.01));
  CHECK(priority == Approx(0.5).margin(0.01));
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    if (jobs[i].submit_s < jobs[i - 1].submit_s || !mara::check_trace_job(jobs[i])) FAIL("job " << i);
    if (jobs[i].id != static_cast<std::int64_t>(i)) FAIL("id of job " << i);
  }
}

TEST_CASE("copies follow the gap's regime") {
  const WorkloadModel model = small_model();
  const auto jobs = draw(model, 100'000);
  // By chance two jobs in a row share a shape with probability .36 + .09 + .01.
  double same[3] = {}, near[3] = {}, pairs[3] = {};
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    const double gap = jobs[i].submit_s - jobs[i - 1].submit_s;
    const std::size_t k = gap < std::pow(10.0, 4.0 / 3.0) ? 0 : gap < std::pow(10.0, 8.0 / 3.0) ? 1 : 2;
    pairs[k] += 1.0;
    if (jobs[i].gpus != jobs[i - 1].gpus) continue;
    same[k] += 1.0;
    // A rank moved by .02 in a table over two decades moves the duration by at most 10^.04.
    near[k] += std::fabs(std::log10(jobs[i].duration_s / jobs[i - 1].duration_s)) <= 0.0401;
  }
  const double repeat[3] = {0.8, 0.4, 0.1}, copy[3] = {0.6, 0.3, 0.0};
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(pairs[k] / 100'000.0 == Approx(1.0 / 3.0).margin(0.01));
    CHECK(same[k] / pairs[k] == Approx(repeat[k] + (1.0 - repeat[k]) * 0.46).margin(0.01));
    const double copied = copy[k] * repeat[k] / (repeat[k] + (1.0 - repeat[k]) * 0.46);
    CHECK(near[k] / same[k] == Approx(copied + (1.0 - copied) * 0.0396).margin(0.01));
  }
}

TEST_CASE("rate_scale compresses time and leaves the jobs alone") {
  const auto normal = draw(small_model(), 1000), fast = draw(small_model(), 1000, 1, 4.0);
  for (std::size_t i = 0; i < normal.size(); ++i) {
    CHECK(fast[i].submit_s == Approx(normal[i].submit_s / 4.0));
    CHECK(fast[i].duration_s == normal[i].duration_s);
  }
}

TEST_CASE("Poisson arrivals have the same rate and no memory") {
  const WorkloadModel model = small_model();
  const auto jobs = draw(model, 100'000, 3, 1.0, ArrivalKind::kPoisson);
  const double mean = mean_gap(jobs);
  CHECK(mean == Approx(mara::mean_interarrival_s(model)).epsilon(0.02));
  double variance = 0.0, same = 0.0;
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    const double gap = jobs[i].submit_s - jobs[i - 1].submit_s;
    variance += (gap - mean) * (gap - mean) / 100'000.0;
    same += (jobs[i].gpus == jobs[i - 1].gpus) / 100'000.0;
  }
  CHECK(std::sqrt(variance) / mean == Approx(1.0).epsilon(0.02));
  CHECK(same == Approx(0.46).margin(0.01));
  CHECK(work(jobs) == Approx(mara::mean_gpu_seconds(model)).epsilon(0.02));
}

TEST_CASE("modulation of days and hours keeps the mean rate") {
  WorkloadModel model = small_model();
  model.modulation.sigma = 0.5;
  model.modulation.correlation = 0.5;
  model.modulation.hourly.assign(24, 0.5);
  for (std::size_t h = 12; h < 24; ++h) model.modulation.hourly[h] = 1.5;
  const auto jobs = draw(model, 400'000);
  CHECK(mean_gap(jobs) == Approx(mara::mean_interarrival_s(model)).epsilon(0.04));
  double late = 0.0;
  for (const TraceJob& job : jobs) late += std::fmod(job.submit_s, 86400.0) >= 43200.0;
  CHECK(late / 400'000.0 == Approx(0.75).margin(0.01));
}

TEST_CASE("a horizon ends the sequence, and both limits count") {
  const WorkloadModel model = small_model();
  Random a(1), b(1);
  GenerateOptions options;
  options.horizon_s = 100'000.0;
  auto until = generate(model, a, options);
  REQUIRE(until);
  CHECK(until->back().submit_s < 100'000.0);
  const auto longer = draw(model, until->size() + 1);
  CHECK(longer.back().submit_s >= 100'000.0);
  options.jobs = 3;
  CHECK(generate(model, b, options)->size() == 3);
}

TEST_CASE("the same seed gives the same bits everywhere") {
  WorkloadModel model = small_model();
  CHECK(workload_test::hash_jobs(draw(model, 5000, 42)) == kPlain);
  model.modulation = {0.5, 0.7, std::vector<double>(24, 1.0)};
  CHECK(workload_test::hash_jobs(draw(model, 5000, 42, 2.0)) == kModulated);
  auto trace = mara::trace_from_model(small_model(), 42, 5000);
  REQUIRE(trace);
  CHECK(workload_test::hash_jobs(trace->jobs) == kPlain);
  CHECK(trace->source == "model small");
}

TEST_CASE("bad options and models are refused by name") {
  WorkloadModel model = small_model();
  const auto message = [&](auto change) {
    GenerateOptions options;
    options.jobs = 1;
    change(options);
    Random random(1);
    auto drawn = generate(model, random, options);
    return drawn ? std::string("accepted") : drawn.error().message;
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message([](GenerateOptions&) {}) == "accepted");
  CHECK(contains(message([](GenerateOptions& o) { o.jobs = 0; }), "horizon_s, jobs"));
  CHECK(contains(message([](GenerateOptions& o) { o.horizon_s = -1.0; }), "horizon_s"));
  CHECK(contains(message([](GenerateOptions& o) { o.horizon_s = kNan; }), "horizon_s"));
  CHECK(contains(message([](GenerateOptions& o) { o.rate_scale = 0.0; }), "rate_scale"));
  CHECK(contains(message([](GenerateOptions& o) { o.rate_scale = kNan; }), "rate_scale"));
  CHECK(contains(message([](GenerateOptions& o) { o.jobs = 1'000'000'000; }), "jobs"));
  model.shapes[1].probability = 0.5;
  CHECK(contains(message([](GenerateOptions&) {}), "shapes.probability: must sum to 1"));
  model = small_model();
  model.shapes[1].duration_class = 2;
  CHECK(contains(message([](GenerateOptions&) {}), "shapes[1].duration_class"));
  model = small_model();
  model.regimes[2].next.pop_back();
  CHECK(contains(message([](GenerateOptions&) {}), "regimes[2].next"));
  model = small_model();
  model.models.clear();
  CHECK(contains(message([](GenerateOptions&) {}), "models.probability"));
  model = small_model();
  model.modulation.hourly.assign(23, 1.0);
  CHECK(contains(message([](GenerateOptions&) {}), "modulation.hourly"));
  CHECK_FALSE(mara::trace_from_model(small_model(), 1, 0));
}
