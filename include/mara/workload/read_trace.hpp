#pragma once
// One door for every trace format.

#include <string>

#include "mara/workload/read_muri.hpp"
#include "mara/workload/read_openb.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// Reads the trace at `path`. Errors: those of the format's reader.
inline Result<Trace> read_trace(const std::string& path, TraceFormat format) {
  return format == TraceFormat::kMuri ? read_muri(path) : read_openb(path);
}

}  // namespace mara
