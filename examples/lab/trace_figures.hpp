#pragma once
// Figures of a trace.

#include <filesystem>
#include <string>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/workload/trace.hpp"

namespace lab {

/// Whether the figures can be drawn into `folder`, which need not exist. To be asked before the work. Errors:
/// kState when gnuplot is missing; kIo when `folder` is no folder, cannot be written, or has another file of
/// a figure's name.
mara::Status check_trace_figures(const std::string& folder);

/// Draws arrivals.svg (jobs per hour), durations.svg and gpus.svg (cumulative distributions) and load.svg
/// (GPUs busy if every job ran at once when it is submitted) into `folder`, made when it is missing. The
/// files' paths, in this order. Errors: kIo, and those of run_gnuplot.
mara::Result<std::vector<std::string>> draw_trace_figures(const mara::Trace& trace,
                                                          const std::string& folder);

}  // namespace lab
