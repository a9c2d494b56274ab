#pragma once
// Reader for mara's own trace format, a plain CSV that holds all that a Trace can say; write_csv.hpp writes
// it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/csv_slices.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

namespace detail {

/// Tenants or classes of service of a column: names, or numbers written "#3" when the trace has no names; a
/// name that begins with '#' has a second one before it.
class NameColumn {
 public:
  /// The index for a field of the present row; an error for a column with numbers and names.
  Result<int> read(const Csv& csv, std::string_view column, TraceBuilder& trace,
                   int (TraceBuilder::*index)(std::string_view)) {
    std::string_view text = csv.text(column);
    const bool numbered = text.starts_with('#') && !text.starts_with("##");
    if (rows_++ > 0 && numbered != numbered_)
      return csv.bad(column, "mixes numbers (#3) and names in a column");
    numbered_ = numbered;
    if (text.starts_with('#')) text.remove_prefix(1);
    if (!numbered) return (trace.*index)(text);
    const auto number = field_integer(csv.place(column), text, 0, std::numeric_limits<int>::max());
    if (!number) return number.error();
    return static_cast<int>(*number);
  }

 private:
  std::size_t rows_ = 0;
  bool numbered_ = false;
};

/// The ids of a list "3;5;8".
inline Result<std::vector<std::int64_t>> read_ids(const Csv& csv, std::string_view column) {
  std::vector<std::int64_t> ids;
  std::string_view text = csv.text(column);
  for (bool more = !text.empty(); more;) {
    const std::size_t end = text.find(';');
    const auto id = field_integer(csv.place(column), text.substr(0, end), 0, INT64_MAX);
    if (!id) return id.error();
    ids.push_back(*id);
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return ids;
}

}  // namespace detail

/// Reads mara's own format, a CSV with the columns, in any order,
///   id        whole number >= 0, unique
///   submit    s
///   duration  s on the GPUs asked for, of the reference type
///   gpus      whole GPUs, or a decimal below 1 such as 0.46 for a share of one
/// and, where there is something to say,
///   estimate  the user's estimate of the run time, s; empty: none
///   deadline  s on the axis of submit; empty: none
///   cpu       cores of the whole job, at most three decimals
///   memory_mib  of the whole job
///   tenant    a name ("#3" for number 3 without a name)
///   priority  whole number, larger is more urgent
///   sla       name of the class of service ("#3" as for tenant)
///   weight    above 0; empty: 1
///   model     name of the model
///   types     GPU types the job may use, separated by '|'; empty: any
///   mig_profile  the GPUs asked for are slices of this profile of such a type; empty: whole or a share
///   after     ids of the jobs it waits for, separated by ';'
///   steps     training steps
/// Empty optional fields mean what an absent column means. Rows with duration 0, and without GPU (unless
/// `keep_cpu_jobs` and with cpu), are skipped and counted; dependencies on them are dropped. Jobs are sorted
/// stably by submission. Errors (file, line, field and value in the message): unknown, missing or repeated
/// column; text that is no number; NaN, infinite, negative or absurd (> 1e12 s, > 1e6 GPUs) values; GPUs or
/// cores finer than 0.001, a broken number of GPUs above 1, or of slices; repeated id; an unknown id in
/// after, or a circle; no job at all.
inline Result<Trace> parse_trace_csv(std::string text, const std::string& name,
                                     const TraceReadOptions& options = {}) {
  constexpr double kMaxSeconds = 1e12;
  constexpr std::int64_t kMostCores = 1'000'000'000'000;
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"id", "submit", "duration", "gpus"},
                                   {"estimate", "deadline", "cpu", "memory_mib", "tenant", "priority", "sla",
                                    "weight", "model", "types", "mig_profile", "after", "steps"});
      !ok)
    return ok.error();
  const bool has_tenant = csv.column("tenant") >= 0, has_sla = csv.column("sla") >= 0;
  detail::TraceBuilder trace(name, options);
  detail::NameColumn tenants, sla_classes;
  std::vector<std::pair<std::int64_t, std::size_t>> waits_for;  // id, line
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(csv);
    TraceJob job;
    job.id = fields.integer("id", 0, INT64_MAX);
    job.submit_s = fields.number("submit", 0.0, kMaxSeconds);
    job.duration_s = fields.number("duration", 0.0, kMaxSeconds);
    job.gpus = fields.milli("gpus", 1'000'000);
    if (job.gpus.value > 1000 && !job.gpus.is_whole()) fields.refuse("gpus", "is above 1 and not whole");
    job.estimate_s = fields.number_or("estimate", 0.0, kMaxSeconds, kUnknownTime);
    if (!(job.estimate_s > 0.0)) fields.refuse("estimate", "is not above 0");
    job.deadline_s = fields.number_or("deadline", -kMaxSeconds, kMaxSeconds, kUnknownTime);
    if (!csv.text("cpu").empty()) job.cpu = fields.milli("cpu", kMostCores);
    job.memory_mib = fields.integer_or("memory_mib", 0, INT64_MAX, 0);
    job.priority = static_cast<int>(
        fields.integer_or("priority", std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 0));
    job.weight = fields.number_or("weight", 0.0, 1e12, 1.0);
    if (!(job.weight > 0.0)) fields.refuse("weight", "is not above 0");
    job.steps = fields.number_or("steps", 0.0, std::numeric_limits<double>::max(), 0.0);
    if (fields.error()) return *fields.error();
    job.model = std::string(csv.text("model"));
    const std::string_view profile = csv.text("mig_profile");
    if (profile.find_first_of("%|") != std::string_view::npos)
      return csv.bad("mig_profile", "is no name of a profile");
    if (!profile.empty() && !job.gpus.is_whole()) return csv.bad("gpus", "is no number of slices");
    job.allowed_types = join_slices(csv.text("types"), profile);
    auto after = detail::read_ids(csv, "after");
    if (!after) return after.error();
    job.after = std::move(*after);
    if (!trace.new_id(job.id)) return csv.bad("id", "appears twice");
    for (const std::int64_t id : job.after) waits_for.emplace_back(id, csv.line());
    if (job.gpus.value == 0 && (!options.keep_cpu_jobs || job.cpu.value == 0)) {
      ++trace.skipped().no_gpu;
      continue;
    }
    if (!(job.duration_s > 0.0)) {
      ++trace.skipped().no_duration;
      continue;
    }
    if (has_tenant) {
      const auto tenant = tenants.read(csv, "tenant", trace, &detail::TraceBuilder::tenant);
      if (!tenant) return tenant.error();
      job.tenant = *tenant;
    }
    if (has_sla) {
      const auto sla = sla_classes.read(csv, "sla", trace, &detail::TraceBuilder::sla);
      if (!sla) return sla.error();
      job.sla = *sla;
    }
    trace.add(std::move(job));
  }
  for (const auto& [id, line] : waits_for)
    if (!trace.knows(id))
      return field_error({name, line, "after"}, "value '" + std::to_string(id) + "' is the id of no row",
                         ErrorCode::kInvalidArgument);
  return trace.finish();
}

}  // namespace mara
