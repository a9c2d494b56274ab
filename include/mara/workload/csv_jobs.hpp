#pragma once
// The loop that readers of comma-separated job lists share.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara::detail {

/// Larger times are absurd.
inline constexpr double kMaxJobSeconds = 1e12;

/// Columns of a job list.
struct JobColumns {
  std::initializer_list<std::string_view> required, optional;
};

/// Reads a job list with a column `job_id`, a row a job. fill(csv, fields, trace, job) -> Status takes all
/// else from the row: errors of `fields` need not be looked at; begin(csv) -> Status looks at the header.
/// Rows that ask for no GPU or have no run time are skipped and counted. Errors: those of Csv, begin and
/// fill, a repeated job_id, no job at all.
template <class Begin, class Fill>
Result<Trace> read_csv_jobs(std::string text, const std::string& name, const TraceReadOptions& options,
                            const JobColumns& columns, Begin&& begin, Fill&& fill) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns(columns.required, columns.optional); !ok) return ok.error();
  if (const Status ok = begin(csv); !ok) return ok.error();
  TraceBuilder trace(name, options);
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) return trace.finish();
    FieldReader fields(csv);
    TraceJob job;
    job.id = fields.integer("job_id", 0, INT64_MAX);
    const Status filled = fill(csv, fields, trace, job);
    if (fields.error()) return *fields.error();
    if (!filled) return filled.error();
    if (!trace.new_id(job.id)) return csv.bad("job_id", "appears twice");
    if (job.gpus.value == 0) {
      ++trace.skipped().no_gpu;
    } else if (job.duration_s > 0.0) {
      trace.add(std::move(job));
    } else {
      ++trace.skipped().no_duration;
    }
  }
}
template <class Fill>
Result<Trace> read_csv_jobs(std::string text, const std::string& name, const TraceReadOptions& options,
                            const JobColumns& columns, Fill&& fill) {
  return read_csv_jobs(
      std::move(text), name, options, columns, [](const Csv&) { return Status{}; }, std::forward<Fill>(fill));
}

}  // namespace mara::detail
