#pragma once
// The page of a report.

#include <string>
#include <vector>

#include "figures.hpp"
#include "report.hpp"

namespace lab {

/// index.html: one self-contained page beside its figures. Opens from disk, light or dark, on narrow screens
/// too.
std::string render_page(const ReportInput& input, const std::vector<PolicyRow>& rows,
                        const std::vector<Figure>& figures);

}  // namespace lab
