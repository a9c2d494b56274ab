// Every real trace in every format, against the counts of their source; the folder is named by MARA_TRACES.

#include <cmath>
#include <cstdio>
#include <set>
#include <string>

#include "catch.hpp"
#include "helpers.hpp"
#include "mara/interop/gzip.hpp"
#include "mara/workload/write_csv.hpp"

using mara::Milli;

namespace {

bool skipped() {
  if (!workload_test::traces().empty()) return false;
  std::puts("skipped: set MARA_TRACES");
  return true;
}

std::string path(const std::string& name) {
  return workload_test::traces() + "/" + name;
}

/// A trace whose format is guessed, which must be the named one; what is written of it reads back equal.
mara::Trace read(const std::string& name, std::string_view format,
                 const mara::TraceReadOptions& options = {}) {
  INFO(name);
  const auto guessed = mara::guess_trace_file_format(path(name));
  REQUIRE(guessed);
  CHECK(to_string(*guessed) == format);
  auto trace = mara::read_trace_file(path(name), {}, options);
  if (!trace) FAIL(trace.error().message);
  double last = 0.0;
  for (const mara::TraceJob& job : trace->jobs) {
    if (const auto sound = mara::check_trace_job(job); !sound) FAIL(sound.error().message);
    CHECK(job.submit_s >= last);
    last = job.submit_s;
  }
  const auto text = mara::trace_csv_text(*trace);
  REQUIRE(text);
  const auto back = mara::parse_trace_csv(*text, "own.csv");
  REQUIRE(back);
  CHECK((back->jobs == trace->jobs));
  CHECK((back->tenants == trace->tenants));
  CHECK((back->sla_classes == trace->sla_classes));
  return std::move(*trace);
}

double gpu_seconds(const mara::Trace& trace) {
  double sum = 0.0;
  for (const mara::TraceJob& job : trace.jobs) sum += job.gpus.as_double() * job.duration_s;
  return sum;
}

}  // namespace

TEST_CASE("SWF logs") {
  if (skipped()) return;
  const mara::Trace nasa = read("hpc/NASA-iPSC-1993-3.1-cln.swf.gz", "swf");
  CHECK(nasa.jobs.size() + nasa.skipped.total() == 18239);
  CHECK(nasa.skipped == mara::SkippedRows{0, 0, 173, 0});
  CHECK(nasa.tenants.size() == 69);
  CHECK(gpu_seconds(nasa) == 474238015.0);
  const double span = nasa.jobs.back().submit_s - nasa.jobs.front().submit_s;
  CHECK(span == 7948936.0);
  CHECK(gpu_seconds(nasa) / (128.0 * span) == Approx(0.466).margin(0.0005));
  CHECK(mara::summarise(nasa).largest_request == Milli::whole(128));
  const auto text = mara::read_text_file_or_gzip(path("hpc/NASA-iPSC-1993-3.1-cln.swf.gz"));
  CHECK(mara::swf_header_number(*text, "MaxProcs") == 128);
  CHECK(mara::swf_header_number(*text, "UnixStartTime") == 749458803);
  for (std::size_t i = 1; i < nasa.jobs.size(); ++i) CHECK(nasa.jobs[i].id > nasa.jobs[i - 1].id);

  // The input of a peer: submissions div 4, jobs without a run time dropped.
  mara::TraceReadOptions options;
  options.time_divisor = 4;
  options.swf_negative_run_s = 10.0;
  const mara::Trace divided = read("hpc/NASA-iPSC-1993-3.1-cln.swf.gz", "swf", options);
  REQUIRE(divided.jobs.size() == nasa.jobs.size());
  for (std::size_t i = 0; i < nasa.jobs.size(); ++i) {
    CHECK(divided.jobs[i].id == nasa.jobs[i].id);
    CHECK(divided.jobs[i].submit_s == std::floor(nasa.jobs[i].submit_s / 4.0));
  }

  const mara::Trace small = read("hpc/accasim_test_workload.swf", "swf");
  CHECK(small.jobs.size() == 25);  // the last line has no line end
  CHECK(small.skipped.total() == 0);
  CHECK(small.jobs[0].id == 184);
  CHECK(small.jobs[0].gpus == Milli::whole(16));
  CHECK(small.jobs[0].estimate_s == 43200.0);
  CHECK(small.jobs[0].memory_mib == 12800);  // 16 x 819200 kB requested
  CHECK(small.jobs[1].memory_mib == 900);    // 36 x 25600 kB used
}

TEST_CASE("Batsim and Tiresias") {
  if (skipped()) return;
  const mara::Trace batsim = read("hpc/batsim_medium_late_801.csv", "batsim");
  CHECK(batsim.jobs.size() == 801);
  CHECK(batsim.skipped.total() == 0);
  for (const mara::TraceJob& job : batsim.jobs) CHECK(job.estimate_s > job.duration_s);
  const mara::Trace tiresias = read("tiresias/60_job.csv", "tiresias");
  CHECK(tiresias.jobs.size() == 60);
  CHECK(tiresias.jobs[1].gpus == Milli::whole(8));
  CHECK(tiresias.jobs[1].duration_s == 147.0);
}

TEST_CASE("Muri traces by the rule of its simulator") {
  if (skipped()) return;
  mara::TraceReadOptions options;
  options.muri_run_time = mara::MuriRunTime::kIterations;
  const struct {
    const char* name;
    std::size_t jobs;
    double gpu_days;
  } expected[] = {
      {"muri_trace1", 1494, 16211.0}, {"muri_trace3", 992, 4935.0}, {"muri_cluster_trace", 400, 2791.0}};
  for (const auto& [name, jobs, gpu_days] : expected) {
    const mara::Trace trace = read("philly/" + std::string(name) + ".csv", "muri", options);
    CHECK(trace.jobs.size() == jobs);
    CHECK(gpu_seconds(trace) / 86400.0 == Approx(gpu_days).margin(1.0));
  }
}

TEST_CASE("the Philly job list") {
  if (skipped()) return;
  const mara::Trace trace = read("philly/philly_jobs_20170904_20171015.csv.gz", "philly-jobs");
  CHECK(trace.jobs.size() == 30065);
  CHECK(trace.skipped.total() == 0);
  CHECK(trace.tenants.size() == 12);
  CHECK(trace.jobs.front().submit_s == 10 * 3600.0 + 30 * 60.0 + 41.0);
  // 2017-10-15 23:51:54, 41 days later.
  CHECK(trace.jobs.back().submit_s == 41 * 86400.0 + 23 * 3600.0 + 51 * 60.0 + 54.0);
  std::size_t one_gpu = 0, largest_tenant = 0;
  for (const mara::TraceJob& job : trace.jobs) {
    one_gpu += job.gpus == Milli::whole(1) ? 1 : 0;
    largest_tenant += trace.tenants[static_cast<std::size_t>(job.tenant)] == "6214e9" ? 1 : 0;
  }
  CHECK(one_gpu == 28673);
  CHECK(largest_tenant == 23288);
}

TEST_CASE("Philly with deadlines") {
  if (skipped()) return;
  const mara::Trace chronus = read("philly/chronus_philly_slo.csv.gz", "chronus");
  CHECK(chronus.jobs.size() == 30735);
  CHECK(chronus.skipped == mara::SkippedRows{205, 0, 0, 0});
  CHECK(chronus.sla_classes == std::vector<std::string>{"strict"});
  CHECK(chronus.tenants.size() == 11);
  for (const mara::TraceJob& job : chronus.jobs) {
    CHECK(job.deadline_s >= job.submit_s + job.duration_s);
    CHECK(job.submit_s <= 20151 * 60.0);
  }
  const mara::Trace elasticflow = read("philly/elasticflow_103959.csv", "elasticflow");
  CHECK(elasticflow.jobs.size() == 876);
  std::size_t tight = 0;  // cannot be met on the GPUs asked for
  for (const mara::TraceJob& job : elasticflow.jobs)
    tight += job.deadline_s < job.submit_s + job.duration_s ? 1 : 0;
  CHECK(tight == 466);
}

TEST_CASE("openb pods and nodes") {
  if (skipped()) return;
  const mara::Trace trace = read("openb/openb_pod_list_default.csv", "openb");
  CHECK(trace.sla_classes.size() == 4);
  CHECK(read("openb/openb_pod_list_gpuspec33.csv", "openb").jobs.size() == 6203);
  const struct {
    const char* name;
    std::size_t pods;
    std::int64_t milli;
  } expected[] = {{"default", 8152, 6086800}, {"gpuspec33", 8152, 6086800}, {"multigpu20", 8324, 7086800}};
  for (const auto& [name, count, milli] : expected) {
    const auto pods = mara::read_openb_pods(path("openb/openb_pod_list_" + std::string(name) + ".csv"));
    REQUIRE(pods);
    CHECK(pods->size() == count);
    std::int64_t sum = 0;
    std::size_t without = 0, constrained = 0;
    for (const mara::PodRequest& pod : *pods) {
      sum += std::int64_t{pod.num_gpu} * pod.gpu_milli;
      without += pod.num_gpu == 0 ? 1 : 0;
      constrained += pod.gpu_spec.empty() ? 0 : 1;
    }
    CHECK(sum == milli);
    CHECK(without == 1088);
    CHECK((constrained > 0) == (std::string_view(name) == "gpuspec33"));
  }
  for (const auto& [name, rows, cores] :
       {std::tuple("all", std::size_t{1523}, 125514), std::tuple("gpu", std::size_t{1213}, 107018)}) {
    const auto nodes =
        mara::read_openb_node_list(path("openb/openb_node_list_" + std::string(name) + "_node.csv"));
    REQUIRE(nodes);
    CHECK(nodes->size() == rows);
    std::int64_t cpu_milli = 0;
    int gpus = 0, g2 = 0;
    for (const mara::OpenbNode& node : *nodes) {
      cpu_milli += node.cpu_milli;
      gpus += node.gpus;
      g2 += node.model == "G2" ? node.gpus : 0;
    }
    CHECK(cpu_milli == std::int64_t{cores} * 1000);
    CHECK(gpus == 6212);
    CHECK(g2 == 4392);
  }
  CHECK(workload_test::contains(
      mara::read_trace_file(path("openb/openb_node_list_gpu_node.csv")).error().message,
      "begins an openb node list, not a trace"));
}

TEST_CASE("Gavel and Shockwave") {
  if (skipped()) return;
  const auto text = mara::read_text_file_or_gzip(path("gavel/simulation_throughputs.json.gz"));
  REQUIRE(text);
  CHECK(text->size() == 1240176);
  const auto table = mara::parse_gavel_throughputs(*text, "simulation_throughputs.json");
  REQUIRE(table);
  CHECK(table->gpu_types() == std::vector<std::string>{"k80", "p100", "v100", "v100_unconsolidated",
                                                       "p100_unconsolidated", "k80_unconsolidated"});
  CHECK(table->isolated_count() == 492);
  CHECK(table->pair_count() == 10338);
  CHECK(table->isolated("k80", "ResNet-18 (batch size 16)", 1) == 4.795294551566172);
  CHECK(table->isolated("k80", "ResNet-50 (batch size 128)", 8) == 0.0);
  CHECK(table->together("k80", "ResNet-18 (batch size 16)", 1, "ResNet-18 (batch size 32)", 1) ==
        std::pair(2.539979567443098, 3.1201925448827033));
  CHECK(table->together("k80", "ResNet-18 (batch size 16)", 1, "ResNet-50 (batch size 128)", 1) ==
        std::pair(0.0, 0.0));

  mara::TraceReadOptions options;
  options.gavel_throughputs = &*table;
  CHECK(read("gavel/small_test.trace", "gavel", options).jobs.size() == 20);
  const mara::Trace gavel = read("gavel/max_min_fairness.trace", "gavel", options);
  REQUIRE(gavel.jobs.size() == 96);
  CHECK(gavel.jobs[0].model == "ResNet-18 (batch size 128)");
  CHECK(gavel.jobs[0].steps == 925982.0);
  CHECK(gavel.jobs[0].duration_s == 925982.0 / 69.95051765177759);
  CHECK(gavel.jobs[0].deadline_s == mara::kUnknownTime);
  CHECK(mara::read_trace_file(path("gavel/small_test.trace")).error().code ==
        mara::ErrorCode::kInvalidArgument);

  const mara::Trace shockwave = read("shockwave/tacc_120jobs.trace", "shockwave");
  CHECK(shockwave.jobs.size() == 120);
  CHECK(shockwave.jobs.back().submit_s == 5011.0);
  // Its run times come from the same measurements.
  std::size_t close = 0;
  for (const mara::TraceJob& job : shockwave.jobs) {
    const auto speed = table->isolated("v100", job.model, static_cast<int>(job.gpus.units()));
    close += speed && std::fabs(job.steps / *speed / job.duration_s - 1.0) < 0.35 ? 1 : 0;
  }
  CHECK(close > 60);
}

TEST_CASE("requests to language models") {
  if (skipped()) return;
  const auto azure_text = mara::read_text_file(path("azure/AzureLLMInferenceTrace_code.csv"));
  REQUIRE(azure_text);
  const auto azure = mara::parse_azure_requests(*azure_text, "azure.csv");
  REQUIRE(azure);
  CHECK(azure->size() == 8819);
  CHECK(azure->front().arrival_s == Approx(65823.97996).margin(1e-7));
  CHECK(azure->back().arrival_s == Approx(69259.928016).margin(1e-7));
  std::int64_t input = 0, output = 0;
  for (const mara::Request& request : *azure) {
    input += request.input_tokens;
    output += request.output_tokens;
  }
  CHECK(input == 18059974);
  CHECK(output == 245896);
  CHECK(read("azure/AzureLLMInferenceTrace_code.csv", "azure").jobs.size() == 8819);

  const auto mooncake_text = mara::read_text_file(path("mooncake/conversation_first3000.jsonl"));
  REQUIRE(mooncake_text);
  const auto mooncake = mara::parse_mooncake_requests(*mooncake_text, "mooncake.jsonl");
  REQUIRE(mooncake);
  CHECK(mooncake->size() == 3000);
  CHECK(mooncake->back().arrival_s == 987.0);
  std::set<std::int64_t> blocks;
  std::size_t references = 0;
  for (const mara::Request& request : *mooncake) {
    references += request.prefix_blocks.size();
    blocks.insert(request.prefix_blocks.begin(), request.prefix_blocks.end());
  }
  CHECK(references == 80619);
  CHECK(blocks.size() == 55287);
  CHECK(100.0 * (1.0 - static_cast<double>(blocks.size()) / static_cast<double>(references)) ==
        Approx(31.4).margin(0.05));
  CHECK(read("mooncake/conversation_first3000.jsonl", "mooncake").jobs.size() == 3000);
}
