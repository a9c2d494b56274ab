#pragma once
// From a trace file to a workload model file: what `mara-lab trace FILE --format F --fit OUT` does.

#include <string>

#include "mara/core/file.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/dense_start.hpp"
#include "mara/workload/fit.hpp"
#include "mara/workload/read_trace.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_format.hpp"
#include "mara/workload/workload_model_json.hpp"

namespace mara {

/// Fits a model to the dense part (dense_start()) of a trace that was read from `trace_path` and writes it,
/// with its goodness of fit and the command that repeats it; the model is called after the output file.
/// Nothing is written on error. Errors: those of fit and save_workload_model.
template <class Value = Json>
Result<void> fit_to_file(const Trace& trace, const std::string& trace_path, TraceFormat format,
                         const std::string& out_path) {
  FitOptions options;
  options.from_s = dense_start(trace);
  auto model = fit(trace, options);
  if (!model) return Error{model.error().code, trace_path + ": " + model.error().message};
  const std::string file = file_name(out_path);
  // Without the extension; a name that begins with its only dot has none.
  const std::size_t dot = file.rfind('.');
  model->name = dot == 0 ? file : file.substr(0, dot);
  model->origin.command =
      "mara-lab trace " + trace.source + " --format " + std::string(to_string(format)) + " --fit " + file;
  return save_workload_model<Value>(*model, out_path);
}

/// The same for a plain text file. Errors: also those of read_trace.
template <class Value = Json>
Result<void> fit_to_file(const std::string& trace_path, TraceFormat format, const std::string& out_path) {
  const auto trace = read_trace(trace_path, format);
  if (!trace) return trace.error();
  return fit_to_file<Value>(*trace, trace_path, format, out_path);
}

}  // namespace mara
