#include "figures.hpp"

#include <algorithm>
#include <cctype>

#include "drawings.hpp"

namespace lab {
namespace {

/// A name that is safe in a file name.
std::string file_part(const std::string& name) {
  std::string part;
  for (const char c : name) part += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
  return part;
}

}  // namespace

mara::Result<std::vector<Figure>> draw_figures(const ReportInput& input, const std::vector<PolicyRow>& rows,
                                               const std::filesystem::path& folder) {
  auto scratch = TemporaryFolder::create();
  if (!scratch) return scratch.error();
  std::vector<Figure> figures;
  if (auto drawn = draw(policies_drawing(rows), folder, "policies", true, scratch->path()); !drawn)
    return drawn.error();
  figures.push_back(
      {"policies.svg", "Policies",
       "Left: mean job completion time of each policy; the whiskers of learners are 95 % intervals over "
       "seeds. Right: the difference to the best rule on the same jobs, with 95 % intervals by a paired "
       "bootstrap over jobs and seeds; left of the line is better."});
  const bool trained = std::any_of(input.training.begin(), input.training.end(),
                                   [](const TrainingCurve& curve) { return !curve.points.empty(); });
  if (trained) {
    if (auto drawn = draw(curves_drawing(input), folder, "learning_curves", true, scratch->path()); !drawn)
      return drawn.error();
    figures.push_back({"learning_curves.svg", "Learning",
                       "Mean job completion time on validation workloads, and the " + input.return_label +
                           ", against the environment steps of the training; lines are means over the seeds, "
                           "bands their range. Dashed: other policies on the same "
                           "validation workloads. A curve that begins above the frame is cut there."});
  }
  // Timelines on one scale, so that they can be laid side by side.
  std::vector<const PolicyOutcome*> shown;
  for (const std::string& name : {best_rule_name(rows), input.timeline_policy}) {
    const auto found = std::find_if(input.outcomes.begin(), input.outcomes.end(),
                                    [&](const PolicyOutcome& outcome) { return outcome.name == name; });
    if (found != input.outcomes.end() && !found->result.intervals.empty() &&
        std::find(shown.begin(), shown.end(), &*found) == shown.end())
      shown.push_back(&*found);
  }
  const TimelineScale scale = timeline_scale(shown);
  for (const PolicyOutcome* outcome : shown) {
    const std::string name = "timeline_" + file_part(outcome->name);
    if (auto drawn = draw(timeline_drawing(input, *outcome, outcome->name, scale), folder, name, false,
                          scratch->path());
        !drawn)
      return drawn.error();
    figures.push_back(
        {name + ".svg", "Timeline of " + outcome->name,
         "Each row is a GPU, each colour a job; grey is idle. Below: jobs that were submitted and hold no "
         "GPU. The simulator counts the GPUs of a type without naming them, so the rows are one possible "
         "assignment."});
  }
  return figures;
}

}  // namespace lab
