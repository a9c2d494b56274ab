#pragma once
// Readers for the pod lists of the Alibaba GPU cluster trace of 2023 ("openb"; Weng et al., "Beware of
// fragmentation", ATC'23); the node lists are read by read_openb_nodes.hpp.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_openb_nodes.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// What a pod of an openb pod list asks for, without its times: the input of studies of placement.
struct PodRequest {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int num_gpu = 0;
  int gpu_milli = 0;     ///< of each GPU, 1..1000; below 1000 only with one GPU; 0 without GPU
  std::string gpu_spec;  ///< GPU types it may use, separated by '|'; empty: any

  friend bool operator==(const PodRequest&, const PodRequest&) = default;
};

namespace detail {

/// The columns that all pod lists have, of the present row.
inline PodRequest pod_request(const Csv& csv, FieldReader<Csv>& fields) {
  PodRequest pod;
  pod.name = std::string(csv.text("name"));
  pod.cpu_milli = fields.integer("cpu_milli", 0, 1'000'000'000);
  pod.memory_mib = fields.integer("memory_mib", 0, 1'000'000'000);
  pod.num_gpu = static_cast<int>(fields.integer("num_gpu", 0, 65536));
  pod.gpu_milli = static_cast<int>(fields.integer("gpu_milli", 0, 1000));
  pod.gpu_spec = std::string(csv.text("gpu_spec"));
  if (pod.num_gpu > 1 && pod.gpu_milli != 1000 && pod.gpu_milli != 0)
    fields.refuse("gpu_milli", "is a share, but num_gpu is above 1");
  if (pod.num_gpu == 0 || pod.gpu_milli == 0) pod.num_gpu = pod.gpu_milli = 0;
  return pod;
}

}  // namespace detail

/// Reads any openb pod list for what the pods ask: columns `name`, `cpu_milli`, `memory_mib`, `num_gpu` and
/// `gpu_milli`, and `gpu_spec` when present; those of times and phases are not used. Every row in the order
/// of the file, pods without GPU and pods that were never scheduled included. Errors (file, line, field and
/// value in the message): unknown, missing or repeated column; text that is no whole number; negative or
/// absurd
/// (> 1e9) values; gpu_milli above 1000, or below 1000 with several GPUs; repeated name; no pod at all.
inline Result<std::vector<PodRequest>> parse_openb_pods(std::string text, const std::string& name) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns(
          {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"},
          {"gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"});
      !ok)
    return ok.error();
  std::vector<PodRequest> pods;
  std::set<std::string> names;
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(csv);
    PodRequest pod = detail::pod_request(csv, fields);
    if (fields.error()) return *fields.error();
    if (!names.insert(pod.name).second) return csv.bad("name", "appears twice");
    pods.push_back(std::move(pod));
  }
  if (pods.empty()) return Error{ErrorCode::kParse, name + ": no pod in the file"};
  return pods;
}

/// Reads an openb pod list (the files with the columns `gpu_spec`, `qos`, `pod_phase`, `creation_time`,
/// `deletion_time`, `scheduled_time`). One pod is one job: submitted at its creation, running from
/// `scheduled_time` to `deletion_time`, GPUs = num_gpu x gpu_milli, `gpu_spec` as the allowed types, id = the
/// number that ends its name, `qos` as the class of service, and priority by it: BE 0, Burstable 1, LS 2,
/// Guaranteed 3. The time axis is the file's. Pods without GPU (unless `keep_cpu_jobs`), never scheduled, or
/// with deletion <= scheduled are skipped and counted. Errors (file, line, field and value in the message):
/// unknown, missing or repeated column (the multigpu20 file has no times and is refused for its missing
/// column); text that is no whole number; negative values; gpu_milli above 1000, or below 1000 with several
/// GPUs; unknown qos; repeated name; no job at all.
inline Result<Trace> parse_openb(std::string text, const std::string& name,
                                 const TraceReadOptions& options = {}) {
  constexpr std::int64_t kMaxSeconds = 10'000'000'000;
  constexpr auto kClasses = std::to_array<std::string_view>({"BE", "Burstable", "LS", "Guaranteed"});
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec",
                                    "qos", "creation_time", "deletion_time", "scheduled_time"},
                                   {"pod_phase"});
      !ok)
    return ok.error();

  detail::TraceBuilder trace(name, options);
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    TraceJob job;
    const std::string_view pod_name = csv.text("name");
    const std::string_view digits =
        pod_name.substr(std::min(pod_name.size(), pod_name.find_last_not_of("0123456789") + 1));
    if (digits.empty() ||
        std::from_chars(digits.data(), digits.data() + digits.size(), job.id).ec != std::errc{})
      return csv.bad("name", "does not end in a number");
    if (!trace.new_id(job.id)) return csv.bad("name", "appears twice");

    FieldReader fields(csv);
    PodRequest pod = detail::pod_request(csv, fields);
    const std::int64_t created = fields.integer("creation_time", 0, kMaxSeconds);
    const std::int64_t deleted = fields.integer("deletion_time", 0, kMaxSeconds);
    const std::int64_t scheduled = fields.integer_or("scheduled_time", 0, kMaxSeconds, -1);
    const auto found = std::find(kClasses.begin(), kClasses.end(), csv.text("qos"));
    if (found == kClasses.end()) fields.refuse("qos", "is not one of BE, Burstable, LS, Guaranteed");
    if (fields.error()) return *fields.error();

    if (pod.num_gpu == 0 && (!options.keep_cpu_jobs || pod.cpu_milli == 0)) {
      ++trace.skipped().no_gpu;
    } else if (scheduled < 0) {
      ++trace.skipped().never_scheduled;
    } else if (deleted <= scheduled) {
      ++trace.skipped().no_duration;
    } else {
      job.submit_s = static_cast<double>(created);
      job.duration_s = static_cast<double>(deleted - scheduled);
      job.gpus = Milli{std::int64_t{pod.num_gpu} * pod.gpu_milli};
      job.allowed_types = std::move(pod.gpu_spec);
      job.cpu = Milli{pod.cpu_milli};
      job.memory_mib = pod.memory_mib;
      job.priority = static_cast<int>(found - kClasses.begin());
      job.sla = trace.sla(*found);
      trace.add(std::move(job));
    }
  }
  return trace.finish();
}

/// parse_openb of a file. Errors: also those of read_text_file.
inline Result<Trace> read_openb(const std::string& path, const TraceReadOptions& options = {}) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_openb(std::move(*text), path, options);
}

/// parse_openb_pods of a file. Errors: also those of read_text_file.
inline Result<std::vector<PodRequest>> read_openb_pods(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_openb_pods(std::move(*text), path);
}

}  // namespace mara
