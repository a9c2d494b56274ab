#pragma once
// Reader for the Philly traces with deadlines in the form published with Chronus (Gao et al., SoCC'21).

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv_jobs.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads a Chronus CSV: `job_id`, `user` (the tenant), `num_gpu`, `submit_time`, `duration`,
/// `expect_time_list` and `job_type` are required; `iterations` (steps), `model_name`, `expect_value_list`
/// and `best_effort` are used when present, `interval` is not. Times count minutes and become seconds. The
/// deadline is the first of `expect_time_list` (separated by '-') after submission, the weight the first of
/// `expect_value_list` when it is above 0; `job_type`, strict, soft or best, is the class of service, and
/// best when `best_effort` is 1. Jobs of class best have no deadline. Rows that ask for no GPU or have
/// duration 0 are skipped and counted. Rows need not be sorted; jobs are sorted stably by submission. Errors
/// (file, line, field and value in the message): unknown, missing or repeated column; text that is no number;
/// NaN, infinite, negative or absurd
/// (> 1e10 min, > 65536 GPUs) values; unknown job_type; repeated job_id; no job at all.
inline Result<Trace> parse_chronus(std::string text, const std::string& name,
                                   const TraceReadOptions& options = {}) {
  constexpr double kMaxMinutes = 1e10;
  constexpr auto kTypes = std::to_array<std::string_view>({"strict", "soft", "best"});
  const detail::JobColumns columns{
      {"job_id", "user", "num_gpu", "submit_time", "duration", "expect_time_list", "job_type"},
      {"iterations", "model_name", "interval", "expect_value_list", "best_effort"}};
  return detail::read_csv_jobs(std::move(text), name, options, columns,
                               [&](const Csv& csv, auto& fields, auto& trace, TraceJob& job) -> Status {
                                 job.gpus = Milli::whole(fields.integer("num_gpu", 0, 65536));
                                 job.submit_s = 60.0 * fields.number("submit_time", 0.0, kMaxMinutes);
                                 job.duration_s = 60.0 * fields.number("duration", 0.0, kMaxMinutes);
                                 job.steps = fields.number_or("iterations", 0.0, 1e15, 0.0);
                                 const bool best_effort = fields.integer_or("best_effort", 0, 1, 0) == 1;
                                 std::string_view type = csv.text("job_type");
                                 if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
                                   fields.refuse("job_type", "is not one of strict, soft, best");
                                 if (best_effort) type = "best";
                                 if (fields.error()) return *fields.error();
                                 const auto first_of = [&](std::string_view list, double most) {
                                   const std::string_view value = csv.text(list);
                                   return field_number(csv.place(list), value.substr(0, value.find('-')), 0.0,
                                                       most);
                                 };
                                 if (type != "best") {
                                   const auto deadline = first_of("expect_time_list", kMaxMinutes);
                                   if (!deadline) return deadline.error();
                                   job.deadline_s = job.submit_s + 60.0 * *deadline;
                                 }
                                 if (!csv.text("expect_value_list").empty()) {
                                   const auto value = first_of("expect_value_list", 1e12);
                                   if (!value) return value.error();
                                   if (*value > 0.0) job.weight = *value;
                                 }
                                 if (job.gpus.value == 0 || !(job.duration_s > 0.0))
                                   return {};  // names only of jobs that count
                                 job.model = std::string(csv.text("model_name"));
                                 job.tenant = trace.tenant(csv.text("user"));
                                 job.sla = trace.sla(type);
                                 return {};
                               });
}

}  // namespace mara
