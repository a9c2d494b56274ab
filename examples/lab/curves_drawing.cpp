// Learning curves.

#include <algorithm>
#include <cmath>
#include <map>

#include "drawings.hpp"
#include "format.hpp"

namespace lab {
namespace {

struct CurveGroup {
  std::string name;
  std::vector<const TrainingCurve*> curves;
};

/// Lines "steps mean low high" over the curves of a group at steps they share; one curve gives itself.
std::vector<std::string> group_lines(const CurveGroup& group, double CurvePoint::*member, double scale) {
  std::map<std::int64_t, std::vector<double>> at;
  for (const TrainingCurve* curve : group.curves)
    for (const CurvePoint& point : curve->points)
      if (std::isfinite(point.*member)) at[point.env_steps].push_back(point.*member / scale);
  std::vector<std::string> lines;
  for (const auto& [steps, values] : at) {
    if (values.size() < group.curves.size()) continue;
    double sum = 0.0;
    for (const double value : values) sum += value;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    lines.push_back(join({exact(static_cast<double>(steps) / 1000.0),
                          exact(sum / static_cast<double>(values.size())), exact(*low), exact(*high)}));
  }
  return lines;
}

struct ValueRange {
  double low = INFINITY, high = -INFINITY;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

}  // namespace

Drawing curves_drawing(const ReportInput& input) {
  std::vector<CurveGroup> groups;
  ValueRange jct, returns;
  double steps = 1.0;
  for (const TrainingCurve& curve : input.training) {
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const CurveGroup& g) { return g.name == curve.name; });
    if (group == groups.end()) group = groups.insert(groups.end(), CurveGroup{curve.name, {}});
    group->curves.push_back(&curve);
    for (const CurvePoint& point : curve.points) {
      jct.add(point.jct_s);
      returns.add(point.train_return);
      steps = std::max(steps, static_cast<double>(point.env_steps) / 1000.0);
    }
  }
  double level_high = 0.0;
  for (const ReferenceLevel& level : input.validation) {
    jct.add(level.jct_s);
    level_high = std::max(level_high, level.jct_s);
  }
  // The first, random policies may be many times worse than anything of interest: the axis ends above the
  // levels.
  double top = jct.empty() ? 1.0 : jct.high;
  if (level_high > 0.0) top = std::min(top, 2.5 * level_high);
  const TimeUnit unit = time_unit(top);
  top /= unit.seconds;
  const double bottom =
      jct.empty() ? 0.0 : std::max(0.0, jct.low / unit.seconds - 0.12 * (top - jct.low / unit.seconds));

  Drawing drawing;
  drawing.height = 470;
  const bool two = !returns.empty();
  const Panel left{86, two ? 545.0 : 930.0, 62, 404};
  const Panel right{780, 1080, 62, 404};
  std::string& body = drawing.body;
  const auto plots = [&](const std::string& tag, double CurvePoint::*member, double scale) {
    std::string bands, means;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto lines = group_lines(groups[g], member, scale);
      if (lines.empty()) continue;
      const std::string block = tag + std::to_string(g);
      const std::string colour = policy_colour(groups[g].name);
      body += data_block(block, lines);
      const std::size_t seeds = groups[g].curves.size();
      const std::string title =
          gnuplot_plain(groups[g].name) + (seeds > 1 ? ", " + std::to_string(seeds) + " seeds" : "");
      if (seeds > 1)
        bands += "$" + block +
                 " using 1:3:4 with filledcurves fillstyle transparent solid 0.16 noborder linecolor rgb '" +
                 colour + "' notitle, \\\n  ";
      means += "$" + block + " using 1:2 with " +
               (lines.size() > 40 ? "lines" : "linespoints pointtype 7 pointsize 0.35") +
               " linewidth 2.4 linecolor rgb '" + colour + "' title " + gnuplot_quote(title) + ", \\\n  ";
    }
    return bands + means;
  };

  const std::string jct_plots = plots("jct", &CurvePoint::jct_s, unit.seconds);
  const std::string return_plots = two ? plots("return", &CurvePoint::train_return, 1.0) : std::string();
  body += "set xlabel 'environment steps, thousands'\nset xrange [0:" + exact(steps) + "]\n";
  body += drawing.margins(left) + drawing.heading(24, 28, "Mean JCT on validation workloads") +
          "set ylabel 'mean JCT, " + unit.name + "' offset 0,0\nset yrange [" + exact(bottom) + ":" +
          exact(top) +
          "]\nset key at graph 0.97, graph 0.98 right top vertical Left reverse samplen 2 spacing 1.3 font "
          "',12'\n";
  // Levels, labelled right of the panel; labels that would touch are moved apart.
  std::vector<ReferenceLevel> levels;
  for (const ReferenceLevel& level : input.validation)
    if (std::isfinite(level.jct_s) && level.jct_s / unit.seconds <= top) levels.push_back(level);
  std::stable_sort(levels.begin(), levels.end(),
                   [](const auto& a, const auto& b) { return a.jct_s < b.jct_s; });
  const double apart = 0.052 * (top - bottom);
  std::vector<double> places;
  for (const ReferenceLevel& level : levels) {
    const double wanted = level.jct_s / unit.seconds;
    places.push_back(places.empty() ? wanted : std::max(wanted, places.back() + apart));
  }
  if (!places.empty() && places.back() > top) {
    places.back() = top;
    for (std::size_t i = places.size() - 1; i > 0; --i)
      places[i - 1] = std::min(places[i - 1], places[i] - apart);
  }
  std::string level_plots;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string colour = policy_colour(levels[i].name, true);
    const std::string value = exact(levels[i].jct_s / unit.seconds);
    level_plots +=
        value + " with lines linewidth 1.2 dashtype (6,4) linecolor rgb '" + colour + "' notitle, \\\n  ";
    body += "set label " +
            gnuplot_quote(gnuplot_plain(levels[i].name) + "  " + format_duration(levels[i].jct_s)) +
            " at graph 1.02, first " + exact(places[i]) + " left font ',11' textcolor rgb '" + colour + "'\n";
  }
  const auto without_comma = [](std::string text) { return text.substr(0, text.rfind(", \\")); };
  body += "plot " + without_comma(level_plots + jct_plots) + "\n";
  if (two && !return_plots.empty()) {
    body += "unset label\n" + drawing.margins(right) +
            drawing.heading(right.left - 80, 28, "Return while training") + "set ylabel " +
            gnuplot_quote(gnuplot_plain(input.return_label)) +
            " offset 0,0\nset yrange [*:*]\nset key off\nplot " + without_comma(return_plots) + "\n";
  }
  return drawing;
}

}  // namespace lab
