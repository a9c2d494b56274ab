#pragma once
// The drawings that the figures of a report are made of.

#include <span>
#include <string>
#include <vector>

#include "figure_style.hpp"
#include "report.hpp"

namespace lab {

/// Mean JCT of every policy, and the difference to the best rule (policies_drawing.cpp).
Drawing policies_drawing(const std::vector<PolicyRow>& rows);

/// JCT on the validation workloads and return, against environment steps (curves_drawing.cpp).
Drawing curves_drawing(const ReportInput& input);

/// What timelines have in common, so that they can be laid side by side.
struct TimelineScale {
  double begin_s = 0.0, end_s = 1.0;  ///< the time shown
  double waiting = 1.0;               ///< end of the axis of waiting jobs

  double span_s() const { return end_s - begin_s; }
};

/// The scale that fits all of `outcomes`.
TimelineScale timeline_scale(std::span<const PolicyOutcome* const> outcomes);

/// Jobs on GPUs over time, and the jobs that wait (timeline_drawing.cpp).
Drawing timeline_drawing(const ReportInput& input, const PolicyOutcome& outcome, const std::string& label,
                         const TimelineScale& scale);

}  // namespace lab
