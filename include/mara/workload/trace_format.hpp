#pragma once
// The file formats of traces, by name, and how a text shows which one it is.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/workload/read_field.hpp"

namespace mara {

/// File formats of read_trace; each is described at the reader named after it.
enum class TraceFormat : std::uint8_t {
  kMuri,         ///< Philly virtual clusters as published with Muri (read_muri.hpp)
  kOpenb,        ///< pod lists of the Alibaba GPU cluster trace of 2023 (read_openb.hpp)
  kSwf,          ///< Standard Workload Format 2.2 (read_swf.hpp)
  kPhillyJobs,   ///< job list of Philly (read_philly_jobs.hpp)
  kGavel,        ///< traces of Gavel (read_gavel.hpp)
  kShockwave,    ///< traces of Shockwave (read_gavel.hpp)
  kBatsim,       ///< jobs of Batsim (read_batsim.hpp)
  kTiresias,     ///< jobs of Tiresias (read_tiresias.hpp)
  kChronus,      ///< Philly with deadlines as published with Chronus (read_chronus.hpp)
  kElasticflow,  ///< Philly with deadlines as published with ElasticFlow (read_elasticflow.hpp)
  kAzure,        ///< LLM inference requests of Azure (read_requests.hpp)
  kMooncake,     ///< LLM inference requests of Mooncake (read_requests.hpp)
  kCsv,          ///< mara's own (read_csv.hpp)
};

/// A format and its name.
struct TraceFormatName {
  TraceFormat format{};
  std::string_view name;
};

/// Every format in the order of the enumerators.
inline constexpr auto kTraceFormats = std::to_array<TraceFormatName>({
    {TraceFormat::kMuri, "muri"},
    {TraceFormat::kOpenb, "openb"},
    {TraceFormat::kSwf, "swf"},
    {TraceFormat::kPhillyJobs, "philly-jobs"},
    {TraceFormat::kGavel, "gavel"},
    {TraceFormat::kShockwave, "shockwave"},
    {TraceFormat::kBatsim, "batsim"},
    {TraceFormat::kTiresias, "tiresias"},
    {TraceFormat::kChronus, "chronus"},
    {TraceFormat::kElasticflow, "elasticflow"},
    {TraceFormat::kAzure, "azure"},
    {TraceFormat::kMooncake, "mooncake"},
    {TraceFormat::kCsv, "csv"},
});

/// "muri", "openb", ...
inline std::string_view to_string(TraceFormat format) noexcept {
  return kTraceFormats[static_cast<std::size_t>(format)].name;
}

/// The names of all formats: "muri, openb, ... or csv".
inline std::string trace_format_names() {
  std::string text;
  for (const auto& [format, name] : kTraceFormats) {
    if (!text.empty()) text += format == TraceFormat::kCsv ? " or " : ", ";
    text += name;
  }
  return text;
}

/// The format called `name`. Errors: kInvalidArgument naming the value.
inline Result<TraceFormat> parse_trace_format(std::string_view name) {
  for (const auto& known : kTraceFormats)
    if (known.name == name) return known.format;
  return Error{ErrorCode::kInvalidArgument,
               "format: must be " + trace_format_names() + ", got '" + detail::printable(name) + "'"};
}

/// The column that holds a job's id in the formats with a header; empty for the others, whose ids are in the
/// file without a name, or count the rows.
inline std::string_view id_column(TraceFormat format) noexcept {
  switch (format) {
    case TraceFormat::kMuri:
    case TraceFormat::kTiresias:
    case TraceFormat::kChronus:
    case TraceFormat::kElasticflow:
    case TraceFormat::kBatsim:
      return "job_id";
    case TraceFormat::kOpenb:
      return "name";
    case TraceFormat::kCsv:
      return "id";
    default:
      return {};
  }
}

namespace detail {

/// Fields of a header, quotes taken off.
inline std::vector<std::string_view> header_names(std::string_view line) {
  std::vector<std::string_view> names;
  for (bool more = true; more;) {
    const std::size_t comma = line.find(',');
    std::string_view name = line.substr(0, comma);
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.push_back(name);
    more = comma != std::string_view::npos;
    if (more) line.remove_prefix(comma + 1);
  }
  return names;
}

/// Whether the line is 18 numbers with blanks between them.
inline bool looks_like_swf(std::string_view line) {
  std::size_t fields = 0;
  for (;;) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return fields == 18;
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    if (!field_number({}, line.substr(0, end), -1e300, 1e300)) return false;
    line.remove_prefix(end);
    ++fields;
  }
}

}  // namespace detail

/// The format that the first line with content shows: columns that only one format has, tabs and how many, 18
/// numbers, a comment of SWF, an object with `input_length`. The line need not be sound: a file with a column
/// too few is still told by the others, so that its reader can say what is wrong. Errors: kParse with that
/// line and all known formats; also for columns that several formats share in different units (job_id,
/// num_gpu, submit_time and duration alone: seconds in tiresias, milliseconds in muri).
inline Result<TraceFormat> guess_trace_format(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string_view line;
  while (!text.empty() && line.find_first_not_of(" \t\r") == std::string_view::npos) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return Error{ErrorCode::kParse, "format: the file has no header row and no job"};
  if (line[first] == ';' || detail::looks_like_swf(line)) return TraceFormat::kSwf;
  if (line[first] == '{' && line.find("\"input_length\"") != std::string_view::npos)
    return TraceFormat::kMooncake;
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  if (tabs == 9) return TraceFormat::kGavel;
  if (tabs == 11) return TraceFormat::kShockwave;

  const std::vector<std::string_view> names = detail::header_names(line);
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("submission_time") || has("walltime")) return TraceFormat::kBatsim;
  if (has("ContextTokens") || has("GeneratedTokens")) return TraceFormat::kAzure;
  if (has("num_gpus") && (has("timestamp") || has("gpu_time"))) return TraceFormat::kPhillyJobs;
  if (has("expect_time_list") || has("job_type")) return TraceFormat::kChronus;
  if (has("ddl") || has("real_iteration")) return TraceFormat::kElasticflow;
  if (has("gpu_milli") || (has("qos") && has("cpu_milli"))) return TraceFormat::kOpenb;
  const std::string shown = "format: '" + detail::printable(line) + "' ";
  if (has("sn") && has("cpu_milli"))
    return Error{ErrorCode::kParse, shown + "begins an openb node list, not a trace"};
  if (has("iteration_time") || has("resource_time_0") || (has("num_gpu") && has("priority")))
    return TraceFormat::kMuri;
  if (has("iterations") && has("interval") && has("model_name")) return TraceFormat::kTiresias;
  if (has("submit") || (has("id") && has("gpus"))) return TraceFormat::kCsv;
  if (has("submit_time") && has("duration") && has("num_gpu"))
    return Error{
        ErrorCode::kParse,
        shown + "may begin a trace of tiresias (seconds) or of muri (milliseconds); name the format"};
  return Error{ErrorCode::kParse,
               shown + "begins no known format; name it if it is one of " + trace_format_names()};
}

}  // namespace mara
