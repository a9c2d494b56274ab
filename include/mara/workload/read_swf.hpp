#pragma once
// Reader for the Standard Workload Format of the Parallel Workloads Archive, version 2.2 (Chapin et al.,
// JSSPP'99; Feitelson, Tsafrir and Krakov, JPDC 74, 2014).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/text_rows.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Names of the 18 fields of an SWF line, as messages call them.
inline constexpr auto kSwfFields =
    std::to_array<std::string_view>({"job", "submit", "wait", "run", "allocated", "cpu_time", "used_memory",
                                     "requested", "requested_time", "requested_memory", "status", "user",
                                     "group", "executable", "queue", "partition", "preceding", "think_time"});

/// Reads an SWF log: 18 numbers a line, -1 = unknown, lines that begin with ';' are comments.
/// - Processors = the larger of allocated and requested, taken as GPUs; run time and requested time (the
///   estimate; none when unknown or 0) in s; `user` is the tenant, named by its number ("unknown" for -1).
/// - Memory of the job = requested (or else used) kB per processor x processors, in MiB rounded up.
/// - `preceding` becomes a dependency when that job is replayed too; think times are not kept.
/// - Skipped and counted: no processors or no submission time, and partial executions, status 2 to 4, whose
/// job
///   has a line of its own (malformed); cancelled before it ran: status 5 without a run time
///   (never_scheduled); run time 0, or negative unless `swf_negative_run_s` says what to take (no_duration).
/// Jobs are sorted stably by submission. Errors (file, line, field and value in the message): a line that has
/// not 18 fields; text that is no number; NaN, infinite, below -1 or absurd (> 1e12 s, > 1e6 processors)
/// values; repeated job; circular dependencies; a bad `swf_negative_run_s`; no job at all.
inline Result<Trace> parse_swf(std::string text, const std::string& name,
                               const TraceReadOptions& options = {}) {
  constexpr double kMaxSeconds = 1e12;
  if (options.swf_negative_run_s &&
      !(*options.swf_negative_run_s > 0.0 && *options.swf_negative_run_s <= kMaxSeconds))
    return Error{ErrorCode::kInvalidArgument, "swf_negative_run_s: must be above 0 and at most 1e12, got " +
                                                  std::to_string(*options.swf_negative_run_s)};
  TextRows rows(std::move(text), name, kSwfFields, Separator::kBlanks, ';');
  detail::TraceBuilder trace(name, options);
  for (;;) {
    const auto row = rows.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(rows);
    TraceJob job;
    job.id = fields.integer("job", 0, INT64_MAX);
    job.submit_s = fields.number("submit", -1.0, kMaxSeconds);
    job.duration_s = fields.number("run", -1.0, kMaxSeconds);
    const std::int64_t processors =
        std::max(fields.integer("allocated", -1, 1'000'000), fields.integer("requested", -1, 1'000'000));
    const double used_kb = fields.number("used_memory", -1.0, 1e15);
    const double requested_kb = fields.number("requested_memory", -1.0, 1e15);
    const double requested_s = fields.number("requested_time", -1.0, kMaxSeconds);
    const std::int64_t status = fields.integer("status", -1, 1'000);
    const std::int64_t user = fields.integer("user", -1, INT64_MAX);
    const std::int64_t preceding = fields.integer("preceding", -1, INT64_MAX);
    for (const std::string_view unused :
         {"wait", "cpu_time", "group", "executable", "queue", "partition", "think_time"})
      fields.number(unused, -1.0, 1e18);
    const double kb = (requested_kb > 0.0 ? requested_kb : used_kb) * static_cast<double>(processors);
    if (kb > 1e15) fields.refuse(requested_kb > 0.0 ? "requested_memory" : "used_memory", "is too large");
    if (preceding == job.id) fields.refuse("preceding", "is the job itself");
    if (fields.error()) return *fields.error();

    if (status >= 2 && status <= 4) {
      ++trace.skipped().malformed;
      continue;
    }
    if (!trace.new_id(job.id)) return bad_field(rows.place("job"), rows.text("job"), "appears twice");
    if (processors < 1 || job.submit_s < 0.0) {
      ++trace.skipped().malformed;
      continue;
    }
    if (job.duration_s < 0.0 && options.swf_negative_run_s) job.duration_s = *options.swf_negative_run_s;
    if (!(job.duration_s > 0.0)) {
      ++(status == 5 ? trace.skipped().never_scheduled : trace.skipped().no_duration);
      continue;
    }
    job.gpus = Milli::whole(processors);
    if (kb > 0.0) job.memory_mib = static_cast<std::int64_t>(std::ceil(kb / 1024.0));
    if (requested_s > 0.0) job.estimate_s = requested_s;
    if (preceding >= 0) job.after = {preceding};
    job.tenant = trace.tenant(user < 0 ? "unknown" : rows.text("user"));
    trace.add(std::move(job));
  }
  return trace.finish();
}

/// A number from the header comments of an SWF log ("; MaxProcs: 128"), such as MaxProcs, MaxNodes or
/// UnixStartTime; nothing when it is not there or no whole number.
inline std::optional<std::int64_t> swf_header_number(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto strip = [&] {
      line.remove_prefix(std::min(line.find_first_not_of("; \t"), line.size()));
      line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    };
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    if (line[first] != ';') return std::nullopt;  // the jobs begin
    strip();
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (!line.starts_with(':')) continue;
    line.remove_prefix(1);
    strip();
    const auto value = field_integer({}, line, 0, INT64_MAX);
    if (value) return *value;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace mara
