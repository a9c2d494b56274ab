#pragma once
// Writer for mara's own trace format, described at parse_trace_csv.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv_slices.hpp"
#include "mara/workload/csv_text.hpp"
#include "mara/workload/read_field.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

namespace detail {

/// Success when the format can hold the job, at its place in the trace.
inline Status check_writable(const Trace& trace, std::size_t place) {
  const TraceJob& job = trace.jobs[place];
  TraceJob checked = job;
  if (job.gpus.value == 0 && job.cpu.value > 0) checked.gpus = Milli::whole(1);  // a job without GPU
  if (const Status sound = check_trace_job(checked); !sound) return sound;
  if (job.id < 0) return job_error(job, "id", std::to_string(job.id) + " is negative");
  if (job.cpu > Milli::whole(1'000'000'000'000))
    return job_error(job, "cpu", std::to_string(job.cpu.value) + " milli-cores is out of range");
  if (place > 0 && job.submit_s < trace.jobs[place - 1].submit_s)
    return job_error(job, "submit_s", "the jobs are not in order of submission");
  const auto named = [](const std::vector<std::string>& names, int index) {
    return names.empty() || static_cast<std::size_t>(index) < names.size();
  };
  if (!named(trace.tenants, job.tenant))
    return job_error(job, "tenant", std::to_string(job.tenant) + " has no name");
  if (!named(trace.sla_classes, job.sla))
    return job_error(job, "sla", std::to_string(job.sla) + " has no name");
  for (const std::string* text : {&job.model, &job.allowed_types})
    if (text->find('\0') != std::string::npos) return job_error(job, "model", "holds a zero byte");
  return {};
}

}  // namespace detail

/// The text of a trace in mara's own format; optional columns that say nothing are left out. parse_trace_csv
/// gives back equal jobs (those without GPU with `keep_cpu_jobs`) and the names of the tenants and classes
/// that are in use, numbered by first use as every reader numbers them. Errors: those of check_trace_job and
/// check_dependencies; kInvalidArgument for no job, a negative id, jobs that are not in order of submission,
/// a tenant or class beyond the names, and text with a zero byte.
inline Result<std::string> trace_csv_text(const Trace& trace) {
  if (trace.jobs.empty()) return Error{ErrorCode::kInvalidArgument, "trace: has no job"};
  for (std::size_t i = 0; i < trace.jobs.size(); ++i)
    if (const Status sound = detail::check_writable(trace, i); !sound) return sound.error();
  if (const Status sound = check_dependencies(trace); !sound) return sound.error();
  for (const auto* names : {&trace.tenants, &trace.sla_classes})
    for (const std::string& name : *names)
      if (name.find('\0') != std::string::npos)
        return Error{ErrorCode::kInvalidArgument, "trace: a name holds a zero byte"};

  const auto number = [](double value) { return detail::short_number(value); };
  const auto time = [](double value) {
    return value == kUnknownTime ? std::string() : detail::short_number(value);
  };
  const auto name = [](const std::vector<std::string>& names, int index) {
    if (names.empty()) return "#" + std::to_string(index);
    const std::string& text = names[static_cast<std::size_t>(index)];
    return text.starts_with('#') ? "#" + text : text;
  };
  struct Column {
    std::string_view title;
    std::function<bool(const TraceJob&)> says;  // whether the column is needed for this job
    std::function<std::string(const TraceJob&)> text;
  };
  const auto always = [](const TraceJob&) { return true; };
  using Job = const TraceJob&;
  const Column columns[] = {
      {"id", always, [](Job j) { return std::to_string(j.id); }},
      {"submit", always, [&](Job j) { return number(j.submit_s); }},
      {"duration", always, [&](Job j) { return number(j.duration_s); }},
      {"gpus", always, [](Job j) { return gpus_text(j.gpus); }},
      {"estimate", [](Job j) { return j.estimate_s != kUnknownTime; },
       [&](Job j) { return time(j.estimate_s); }},
      {"deadline", [](Job j) { return j.deadline_s != kUnknownTime; },
       [&](Job j) { return time(j.deadline_s); }},
      {"cpu", [](Job j) { return j.cpu.value != 0; }, [](Job j) { return gpus_text(j.cpu); }},
      {"memory_mib", [](Job j) { return j.memory_mib != 0; },
       [](Job j) { return std::to_string(j.memory_mib); }},
      {"tenant", [&](Job j) { return j.tenant != 0 || !trace.tenants.empty(); },
       [&](Job j) { return name(trace.tenants, j.tenant); }},
      {"priority", [](Job j) { return j.priority != 0; }, [](Job j) { return std::to_string(j.priority); }},
      {"sla", [&](Job j) { return j.sla != 0 || !trace.sla_classes.empty(); },
       [&](Job j) { return name(trace.sla_classes, j.sla); }},
      {"weight", [](Job j) { return j.weight != 1.0; }, [&](Job j) { return number(j.weight); }},
      {"model", [](Job j) { return !j.model.empty(); }, [](Job j) { return j.model; }},
      {"types", [](Job j) { return !split_slices(j.allowed_types).types.empty(); },
       [](Job j) { return std::string(split_slices(j.allowed_types).types); }},
      {"mig_profile", [](Job j) { return !split_slices(j.allowed_types).profile.empty(); },
       [](Job j) { return std::string(split_slices(j.allowed_types).profile); }},
      {"after", [](Job j) { return !j.after.empty(); },
       [](Job j) {
         std::string ids;
         for (const std::int64_t id : j.after) ids += (ids.empty() ? "" : ";") + std::to_string(id);
         return ids;
       }},
      {"steps", [](Job j) { return j.steps != 0.0; }, [&](Job j) { return number(j.steps); }},
  };
  std::vector<const Column*> written;
  std::string text;
  for (const Column& column : columns) {
    if (!std::any_of(trace.jobs.begin(), trace.jobs.end(), column.says)) continue;
    text += (written.empty() ? "" : ",") + std::string(column.title);
    written.push_back(&column);
  }
  text += '\n';
  for (const TraceJob& job : trace.jobs) {
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (i > 0) text += ',';
      text += csv_field(written[i]->text(job));
    }
    text += '\n';
  }
  return text;
}

/// Writes a trace in mara's own format. Errors: those of trace_csv_text and of write_file; nothing is left
/// behind.
inline Status write_trace_csv(const Trace& trace, const std::string& path) {
  const auto text = trace_csv_text(trace);
  return text ? write_file(path, *text) : Status(text.error());
}

}  // namespace mara
