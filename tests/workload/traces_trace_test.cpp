// Tests on the real traces; the folder is named by MARA_TRACES.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/cluster/cluster_text.hpp"
#include "mara/workload/bind_jobs.hpp"
#include "mara/workload/fit_to_file.hpp"

using mara::Milli;
using workload_test::contains;

namespace {

bool skipped() {
  if (!workload_test::traces().empty()) return false;
  std::puts("skipped: set MARA_TRACES");
  return true;
}

std::string path(const std::string& name) {
  return workload_test::traces() + "/" + name;
}

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("the Philly virtual clusters have the counts of their source") {
  if (skipped()) return;
  auto trace = mara::read_muri(path("philly/muri_trace3.csv"));
  REQUIRE(trace);
  CHECK(trace->jobs.size() == 992);
  CHECK(trace->skipped.total() == 0);
  CHECK(mara::slice(*trace, 0.0, mara::time_at_fraction(*trace, 0.6)).jobs.size() == 658);
  CHECK(trace->jobs.front().duration_s == 927475.0);
  CHECK(trace->jobs.front().gpus == Milli::whole(4));
  const mara::WorkloadSummary s = mara::summarise(*trace);
  CHECK(s.span_s / 86400.0 == Approx(94.5).margin(0.05));
  CHECK(s.mean_gpu_seconds * 992 / 86400.0 == Approx(4862.1).margin(0.1));  // GPU-days
  CHECK(s.largest_request == Milli::whole(32));
  CHECK(mara::dense_start(*trace) == trace->jobs.front().submit_s);

  auto other = mara::read_muri(path("philly/muri_trace1.csv"));
  REQUIRE(other);
  CHECK(other->jobs.size() == 1494);
  CHECK(mara::summarise(*other).mean_gpu_seconds * 1494 / 86400.0 == Approx(15971.9).margin(0.1));
  CHECK(mara::read_muri(path("philly/muri_cluster_trace.csv"))->jobs.size() == 400);
}

TEST_CASE("files of another format are refused by column") {
  if (skipped()) return;
  CHECK(contains(mara::read_muri(path("philly/elasticflow_103959.csv")).error().message,
                 "elasticflow_103959.csv:1: field 'real_iteration': unknown column"));
  CHECK(contains(mara::read_muri(path("openb/openb_pod_list_default.csv")).error().message,
                 ":1: field 'name': unknown column"));
  CHECK(contains(mara::read_openb(path("openb/openb_pod_list_multigpu20.csv")).error().message,
                 "multigpu20.csv:1: field 'gpu_spec': column is missing"));
  CHECK(
      contains(mara::read_muri(path("philly/chronus_philly_slo.csv.gz")).error().message, "not a text file"));
}

TEST_CASE("openb has the counts of its source") {
  if (skipped()) return;
  auto trace = mara::read_openb(path("openb/openb_pod_list_default.csv"));
  REQUIRE(trace);
  CHECK(trace->jobs.size() + trace->skipped.total() == 8152);
  CHECK(trace->skipped.no_gpu == 1088);
  CHECK(trace->skipped.never_scheduled == 861);  // of 897, the others have no GPU either
  CHECK(trace->skipped.no_duration == 0);
  CHECK(trace->jobs.size() == 6203);
  CHECK(mara::dense_start(*trace) / 86400.0 == Approx(115.0).margin(0.5));
  const auto constrained_trace = mara::read_openb(path("openb/openb_pod_list_gpuspec33.csv"));
  REQUIRE(constrained_trace);
  std::size_t constrained = 0;
  for (const auto& job : constrained_trace->jobs) constrained += job.allowed_types.empty() ? 0 : 1;
  CHECK(constrained > 1800);

  auto cluster = mara::read_openb_nodes(path("openb/openb_node_list_gpu_node.csv"));
  REQUIRE(cluster);
  int gpus = 0;
  for (const auto& type : cluster->types) gpus += type.gpus();
  CHECK(gpus == 6212);
  CHECK(cluster->types.size() == 7);
  CHECK(cluster->types[static_cast<std::size_t>(cluster->find("g2"))].gpus() == 4392);
  CHECK(cluster->types[static_cast<std::size_t>(cluster->find("v100m16"))].gpus() == 195);
}

TEST_CASE("real jobs bind to real clusters") {
  if (skipped()) return;
  auto trace = mara::read_muri(path("philly/muri_trace3.csv"));
  REQUIRE(trace);
  auto cluster = mara::parse_cluster("a100:4x8,v100:4x8,t4:4x8");
  REQUIRE(cluster);
  auto jobs = mara::bind_jobs(*trace, *cluster);
  REQUIRE(jobs);
  CHECK(jobs->size() == 992);
  auto small = mara::parse_cluster("a100:2x8,v100:4x8,t4:2x8");
  REQUIRE(small);
  CHECK(contains(mara::bind_jobs(*trace, *small).error().message, "field 'num_gpu': 32 GPUs"));

  auto nodes = mara::read_openb_nodes(path("openb/openb_node_list_gpu_node.csv"));
  REQUIRE(nodes);
  mara::BindReport report;
  auto pods =
      mara::bind_jobs(*mara::read_openb(path("openb/openb_pod_list_gpuspec33.csv")), *nodes, {}, &report);
  REQUIRE(pods);
  CHECK(report.constraints_ignored == 0);
}

TEST_CASE("the shipped models are what fit_to_file writes") {
  if (skipped()) return;
  const std::filesystem::path models = std::filesystem::path(__FILE__).parent_path() / ".." / ".." / "models";
  const workload_test::TempFile folder("", "unused");
  REQUIRE(mara::fit_to_file(path("philly/muri_trace3.csv"), mara::TraceFormat::kMuri,
                            folder.sibling("philly.json")));
  CHECK(content(folder.sibling("philly.json")) == content((models / "philly.json").string()));
  REQUIRE(mara::fit_to_file(path("openb/openb_pod_list_default.csv"), mara::TraceFormat::kOpenb,
                            folder.sibling("openb.json")));
  CHECK(content(folder.sibling("openb.json")) == content((models / "openb.json").string()));
}

TEST_CASE("the first 60 % of a Philly trace can be fitted") {
  if (skipped()) return;
  auto trace = mara::read_muri(path("philly/muri_trace3.csv"));
  REQUIRE(trace);
  mara::FitOptions options;
  options.to_s = mara::time_at_fraction(*trace, 0.6);
  auto model = mara::fit(*trace, options);
  REQUIRE(model);
  CHECK(model->origin.jobs == 658);
  CHECK(model->fit.ks_duration < 0.04);
  CHECK(model->fit.ks_interarrival < 0.06);
  CHECK(model->fit.tv_gpus < 0.01);
  CHECK(model->fit.ratio_mean_work == Approx(1.0).margin(0.1));
}
