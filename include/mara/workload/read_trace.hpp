#pragma once
// One door for every trace format.

#include <string>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_batsim.hpp"
#include "mara/workload/read_chronus.hpp"
#include "mara/workload/read_csv.hpp"
#include "mara/workload/read_elasticflow.hpp"
#include "mara/workload/read_gavel.hpp"
#include "mara/workload/read_muri.hpp"
#include "mara/workload/read_openb.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/read_philly_jobs.hpp"
#include "mara/workload/read_requests.hpp"
#include "mara/workload/read_swf.hpp"
#include "mara/workload/read_tiresias.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_format.hpp"

namespace mara {

/// Reads a trace from a text; `name` stands for the file in messages and in Trace::source. Errors: those of
/// the format's reader.
inline Result<Trace> parse_trace(std::string text, const std::string& name, TraceFormat format,
                                 const TraceReadOptions& options = {}) {
  switch (format) {
    case TraceFormat::kMuri:
      return parse_muri(std::move(text), name, options);
    case TraceFormat::kOpenb:
      return parse_openb(std::move(text), name, options);
    case TraceFormat::kSwf:
      return parse_swf(std::move(text), name, options);
    case TraceFormat::kPhillyJobs:
      return parse_philly_jobs(std::move(text), name, options);
    case TraceFormat::kGavel:
      return parse_gavel(std::move(text), name, options);
    case TraceFormat::kShockwave:
      return parse_shockwave(std::move(text), name, options);
    case TraceFormat::kBatsim:
      return parse_batsim(std::move(text), name, options);
    case TraceFormat::kTiresias:
      return parse_tiresias(std::move(text), name, options);
    case TraceFormat::kChronus:
      return parse_chronus(std::move(text), name, options);
    case TraceFormat::kElasticflow:
      return parse_elasticflow(std::move(text), name, options);
    case TraceFormat::kAzure:
      return parse_azure(std::move(text), name, options);
    case TraceFormat::kMooncake:
      return parse_mooncake(text, name, options);
    case TraceFormat::kCsv:
      return parse_trace_csv(std::move(text), name, options);
  }
  return Error{ErrorCode::kInvalidArgument, "format: not one of " + trace_format_names()};
}

/// Reads the trace at `path`, a plain text file (interop/gzip.hpp reads compressed ones too, and guesses the
/// format). Errors: those of read_text_file and parse_trace.
inline Result<Trace> read_trace(const std::string& path, TraceFormat format,
                                const TraceReadOptions& options = {}) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_trace(std::move(*text), path, format, options);
}

}  // namespace mara
