#pragma once
// Readers for the traces of Gavel (Narayanan et al., OSDI'20) and of Shockwave (Zheng et al., NSDI'23).

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/gavel_throughputs.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/text_rows.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

inline constexpr auto kGavelFields =
    std::to_array<std::string_view>({"job_type", "command", "directory", "steps_flag", "needs_data",
                                     "total_steps", "scale_factor", "priority_weight", "SLO", "arrival"});
inline constexpr auto kShockwaveFields = std::to_array<std::string_view>(
    {"job_type", "command", "directory", "steps_flag", "needs_data", "total_steps", "scale_factor", "mode",
     "priority_weight", "SLO", "duration", "arrival"});

namespace detail {

/// What the two formats share. duration(rows, fields, job) gives the run time, s.
template <class Duration>
Result<Trace> parse_gavel_rows(TextRows rows, const std::string& name, const TraceReadOptions& options,
                               Duration&& duration) {
  TraceBuilder trace(name, options);
  for (std::int64_t id = 0;; ++id) {
    const auto row = rows.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(rows);
    TraceJob job;
    job.id = id;
    job.model = std::string(rows.text("job_type"));
    if (job.model.empty()) fields.refuse("job_type", "is empty");
    job.steps = fields.number("total_steps", 0.0, 1e15);
    job.gpus = Milli::whole(fields.integer("scale_factor", 1, 65536));
    job.weight = fields.number("priority_weight", 0.0, 1e12);
    if (!(job.weight > 0.0)) fields.refuse("priority_weight", "is not above 0");
    job.submit_s = fields.number("arrival", 0.0, 1e12);
    const double slo = fields.number("SLO", -1.0, 1e9);
    if (slo < 0.0 && slo != -1.0) fields.refuse("SLO", "is neither -1 nor a multiple of the run time");
    if (fields.error()) return *fields.error();
    job.duration_s = duration(rows, fields, job);
    if (fields.error()) return *fields.error();
    if (!(job.duration_s > 0.0)) {
      ++trace.skipped().no_duration;
      continue;
    }
    if (slo >= 0.0) job.deadline_s = job.submit_s + slo * job.duration_s;
    trace.add(std::move(job));
  }
  return trace.finish();
}

}  // namespace detail

/// Reads a Gavel trace, ten fields (kGavelFields) between tabs without a header: `job_type` is the model,
/// `scale_factor` the GPUs, `total_steps` the steps, `priority_weight` the weight, `arrival` the submission
/// (s), and SLO, unless -1, the deadline as a multiple of the run time, as Gavel's scheduler takes it. Ids
/// count the rows from 0. The run time is total_steps / the measured steps/s on `gavel_reference`; so the
/// table `gavel_throughputs` is needed. Rows with 0 steps are skipped and counted. Jobs are sorted stably by
/// submission. Errors (file, line, field and value in the message): no table, or none for that GPU type; a
/// job that was not measured on it, or cannot run there; not ten fields; text that is no number; NaN,
/// infinite, negative or absurd values; no job at all.
inline Result<Trace> parse_gavel(std::string text, const std::string& name,
                                 const TraceReadOptions& options = {}) {
  const GavelThroughputs* table = options.gavel_throughputs;
  if (table == nullptr)
    return Error{ErrorCode::kInvalidArgument,
                 name +
                     ": a Gavel trace has no run times; it needs the table of throughputs "
                     "(simulation_throughputs.json of Gavel)"};
  const int type = table->type_index(options.gavel_reference);
  if (type < 0)
    return Error{ErrorCode::kInvalidArgument, "gavel_reference: the table has no GPU type '" +
                                                  detail::printable(options.gavel_reference) + "'"};
  return detail::parse_gavel_rows(
      TextRows(std::move(text), name, kGavelFields, Separator::kTab, '\0'), name, options,
      [&](const TextRows&, FieldReader<TextRows>& fields, const TraceJob& job) {
        const int scale = static_cast<int>(job.gpus.units());
        const auto speed = table->isolated(type, table->job_index(job.model, scale));
        const std::string on = " on " + std::to_string(scale) + " GPUs of type " + options.gavel_reference;
        if (!speed) fields.refuse("job_type", "has no measured throughput" + on);
        if (speed && !(*speed > 0.0)) fields.refuse("job_type", "cannot run" + on);
        if (fields.error()) return 0.0;
        if (job.steps / *speed > 1e12) fields.refuse("total_steps", "makes the run time too long");
        return job.steps / *speed;
      });
}

/// Reads a Shockwave trace, twelve fields (kShockwaveFields): as parse_gavel, with `duration` (s on
/// scale_factor GPUs) in the file and `mode` (static, accordion or gns: how the batch size adapts), which is
/// checked and not kept. Rows with duration 0 are skipped and counted. Errors: as parse_gavel, without those
/// of the table.
inline Result<Trace> parse_shockwave(std::string text, const std::string& name,
                                     const TraceReadOptions& options = {}) {
  return detail::parse_gavel_rows(
      TextRows(std::move(text), name, kShockwaveFields, Separator::kTab, '\0'), name, options,
      [](const TextRows& rows, FieldReader<TextRows>& fields, const TraceJob&) {
        constexpr auto kModes = std::to_array<std::string_view>({"static", "accordion", "gns"});
        if (std::find(kModes.begin(), kModes.end(), rows.text("mode")) == kModes.end())
          fields.refuse("mode", "is not one of static, accordion, gns");
        return fields.number("duration", 0.0, 1e12);
      });
}

}  // namespace mara
