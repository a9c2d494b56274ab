#include "mara/workload/fit.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/workload/dense_start.hpp"

using mara::fit;
using mara::FitOptions;
using mara::Trace;
using mara::TraceJob;
using mara::WorkloadModel;
using workload_test::contains;
using workload_test::small_model;

namespace {

FitOptions three_regimes() {
  FitOptions options;
  options.regimes = 3;
  options.sample_jobs = 20'000;
  return options;
}

Trace drawn(const WorkloadModel& model, std::size_t jobs, std::uint64_t seed = 5) {
  return *mara::trace_from_model(model, seed, jobs);
}

}  // namespace

TEST_CASE("fit, generate, fit recovers the parameters") {
  const WorkloadModel truth = small_model();
  auto fitted = fit(drawn(truth, 40'000), three_regimes());
  REQUIRE(fitted);
  CHECK(mara::mean_interarrival_s(*fitted) == Approx(mara::mean_interarrival_s(truth)).epsilon(0.03));
  CHECK(mara::mean_gpu_seconds(*fitted) == Approx(mara::mean_gpu_seconds(truth)).epsilon(0.05));
  CHECK(fitted->modulation.sigma < 0.3);
  CHECK(fitted->modulation.hourly.empty());
  REQUIRE(fitted->regimes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(fitted->regimes[i].next[j] == Approx(truth.regimes[i].next[j]).margin(0.02));
    CHECK(fitted->regimes[i].repeat_shape == Approx(truth.regimes[i].repeat_shape).margin(0.02));
    CHECK(fitted->regimes[i].repeat_duration == Approx(truth.regimes[i].repeat_duration).margin(0.04));
  }
  REQUIRE(fitted->shapes.size() == 3);  // commonest first
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(fitted->shapes[i].gpus == truth.shapes[i].gpus);
    CHECK(fitted->shapes[i].cpu == truth.shapes[i].cpu);
    CHECK(fitted->shapes[i].memory_mib == truth.shapes[i].memory_mib);
    CHECK(fitted->shapes[i].probability == Approx(truth.shapes[i].probability).margin(0.015));
    const auto& table = fitted->durations[static_cast<std::size_t>(fitted->shapes[i].duration_class)];
    const auto& expected = truth.durations[static_cast<std::size_t>(truth.shapes[i].duration_class)];
    for (const double u : {0.1, 0.5, 0.9})
      CHECK(std::log(table.at(u) / expected.at(u)) == Approx(0.0).margin(0.2));
  }
  for (const double u : {0.1, 0.5, 0.9})
    CHECK(std::log(fitted->gaps.at(u) / truth.gaps.at(u)) == Approx(0.0).margin(0.2));
  CHECK(fitted->models[0].probability == Approx(0.25).margin(0.01));
  CHECK(fitted->fit.ks_duration < 0.03);
  CHECK(fitted->fit.ks_interarrival < 0.03);
  CHECK(fitted->fit.tv_gpus < 0.03);
  CHECK(fitted->fit.ratio_mean_work == Approx(1.0).margin(0.06));
  CHECK(fitted->fit.ratio_dispersion_hour == Approx(1.0).margin(0.1));
  CHECK(fitted->origin.jobs == 40'000);
  // And once more from the fitted model.
  auto again = fit(drawn(*fitted, 40'000, 6), three_regimes());
  REQUIRE(again);
  CHECK(again->regimes[0].repeat_shape == Approx(0.8).margin(0.03));
  CHECK(again->regimes[0].next[0] == Approx(0.7).margin(0.03));
  CHECK(mara::load_gpus(*again) == Approx(mara::load_gpus(truth)).epsilon(0.1));
}

TEST_CASE("slow changes of the rate are found") {
  WorkloadModel truth = small_model();
  truth.modulation.sigma = 0.6;
  truth.modulation.correlation = 0.7;
  truth.modulation.hourly.assign(24, 0.4);
  for (std::size_t h = 12; h < 24; ++h) truth.modulation.hourly[h] = 1.6;
  FitOptions options = three_regimes();
  options.sample_jobs = 100'000;
  auto fitted = fit(drawn(truth, 60'000, 6), options);
  REQUIRE(fitted);
  CHECK(fitted->modulation.sigma == Approx(0.6).margin(0.1));
  CHECK(fitted->modulation.correlation == Approx(0.7).margin(0.15));
  REQUIRE(fitted->modulation.hourly.size() == 24);
  for (std::size_t h = 0; h < 24; ++h)
    CHECK(fitted->modulation.hourly[h] == Approx(truth.modulation.hourly[h]).margin(0.25));
  CHECK(fitted->fit.ratio_dispersion_day == Approx(1.0).margin(0.3));
}

TEST_CASE("only jobs in the window count, and many shapes are merged") {
  Trace trace = drawn(small_model(), 3000);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i)
    trace.jobs[i].memory_mib = static_cast<std::int64_t>(i % 100);
  FitOptions options = three_regimes();
  options.from_s = trace.jobs[1000].submit_s;
  options.to_s = trace.jobs[2500].submit_s;
  auto model = fit(trace, options);
  REQUIRE(model);
  CHECK(model->origin.jobs == 1500);
  CHECK(model->shapes.size() <= 35);
  double shares = 0.0;
  for (const auto& shape : model->shapes) shares += shape.probability;
  CHECK(shares == Approx(1.0).margin(1e-4));
  CHECK(model->fit.tv_gpus < 0.05);
}

TEST_CASE("bad fits are refused with a reason") {
  const Trace trace = drawn(small_model(), 100);
  const auto message = [](const Trace& t, const FitOptions& o) {
    auto model = fit(t, o);
    return model ? std::string("accepted") : model.error().message;
  };
  CHECK(message(trace, three_regimes()) == "accepted");
  FitOptions options = three_regimes();
  options.from_s = trace.jobs[80].submit_s;
  CHECK(contains(message(trace, options), "at least 30 jobs in [from_s, to_s), there are 20"));
  options.from_s = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(message(trace, options), "from_s: must be below to_s, are nan"));
  options = three_regimes();
  options.regimes = 0;
  CHECK(contains(message(trace, options), "regimes: must be 1 to 16, is 0"));
  options = three_regimes();
  options.sample_jobs = 10;
  CHECK(contains(message(trace, options), "sample_jobs"));
  Trace bad = trace;
  std::swap(bad.jobs[3].submit_s, bad.jobs[60].submit_s);
  CHECK(contains(message(bad, three_regimes()), "in order of submission"));
  bad = trace;
  for (TraceJob& job : bad.jobs) job.submit_s = 5.0;
  CHECK(contains(message(bad, three_regimes()), "submitted at the same time"));
  bad = trace;
  bad.jobs[7].duration_s = std::numeric_limits<double>::infinity();
  CHECK(contains(message(bad, three_regimes()), "job 7: field 'duration_s'"));
  CHECK(contains(message(Trace{}, three_regimes()), "there are 0"));
  CHECK_FALSE(mara::goodness_of_fit(small_model(), {}, 1000, 1));
}

TEST_CASE("statistics of a table") {
  std::vector<TraceJob> jobs(4);
  const double submits[] = {0.0, 10.0, 15.0, 40.0};
  for (std::size_t i = 0; i < 4; ++i) jobs[i].submit_s = submits[i];
  const mara::TraceTable table = mara::trace_table(jobs);
  CHECK(table.shape(0) == 4);
  CHECK(mara::interarrivals(table) == std::vector<double>{10.0, 5.0, 25.0});
  CHECK(mara::column(table, mara::kGpusColumn) == std::vector<double>(4, 1.0));
  // [0,20): 3 arrivals, [20,40): 0; the last time opens a window that is not whole.
  CHECK(mara::window_counts(mara::column(table, mara::kSubmitColumn), 20.0) == std::vector<double>{3.0, 0.0});
  CHECK(mara::dispersion(mara::column(table, mara::kSubmitColumn), 20.0) == Approx(1.5));
  CHECK(mara::dispersion({}, 20.0) == 0.0);
  CHECK(mara::ks_distance({1.0, 2.0, 3.0, 4.0}, {1.0, 2.0, 3.0, 4.0}) == 0.0);
  CHECK(mara::ks_distance({1.0, 2.0}, {3.0, 4.0}) == 1.0);
  CHECK(mara::ks_distance({1.0, 2.0, 3.0, 4.0}, {2.5}) == 0.5);
  CHECK(mara::ks_distance({0.0, 0.0, 0.0, 1.0}, {0.0, 1.0, 1.0, 1.0}) == 0.5);
}

TEST_CASE("the sparse beginning of a record is cut, an even one is not") {
  Trace trace = drawn(small_model(), 3000);
  CHECK(mara::dense_start(trace) == trace.jobs.front().submit_s);
  CHECK(mara::dense_start(Trace{}) == 0.0);
  const double span = trace.jobs.back().submit_s;
  Trace late;
  for (int i = 0; i < 5; ++i) {
    late.jobs.push_back(trace.jobs[0]);
    late.jobs.back().submit_s = 0.5 * span * i;
  }
  for (TraceJob job : trace.jobs) {
    job.submit_s += 3.0 * span;
    late.jobs.push_back(job);
  }
  CHECK(mara::dense_start(late) == Approx(3.0 * span).epsilon(0.01));
}
