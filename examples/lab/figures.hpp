#pragma once
// The figures of a report.

#include <filesystem>
#include <string>
#include <vector>

#include "mara/core/result.hpp"
#include "report.hpp"

namespace lab {

/// A figure that was drawn.
struct Figure {
  std::string file;  ///< SVG, relative to the report
  std::string title;
  std::string caption;  ///< how to read it
};

/// Draws all figures of a report into `folder`: policies.svg and .png, learning_curves.svg and .png (when
/// there was training), timeline_<policy>.svg (when intervals were recorded). Errors: those of run_gnuplot
/// and write_file.
mara::Result<std::vector<Figure>> draw_figures(const ReportInput& input, const std::vector<PolicyRow>& rows,
                                               const std::filesystem::path& folder);

}  // namespace lab
