#include "figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "figure_style.hpp"
#include "format.hpp"
#include "lanes.hpp"
#include "table.hpp"

namespace lab {
namespace {

std::string join(std::initializer_list<std::string> fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : " ") + field;
  return line;
}
std::string exact(double value) {
  return format_exact(value);
}
std::string colour_number(const std::string& hex) {
  return std::to_string(std::stol(hex.substr(1), nullptr, 16));
}

// ---- policies: mean JCT, and the difference to the best rule ----

Drawing policies_drawing(const std::vector<PolicyRow>& rows) {
  std::vector<const PolicyRow*> shown;
  for (const PolicyRow& row : rows)
    if (row.metrics.mean_jct_s) shown.push_back(&row);
  std::stable_sort(shown.begin(), shown.end(), [](const PolicyRow* a, const PolicyRow* b) {
    return *a->metrics.mean_jct_s > *b->metrics.mean_jct_s;
  });
  const TimeUnit unit = report_unit(rows);
  const auto count = static_cast<double>(shown.size());
  const double largest = *shown.front()->metrics.mean_jct_s / unit.seconds;
  const double smallest = *shown.back()->metrics.mean_jct_s / unit.seconds;
  // One hopeless policy must not squeeze the others: its bar is cut and says so.
  const double limit = largest > 6.0 * smallest ? 5.0 * smallest : largest * 1.02;
  double span = limit;  // whiskers may reach further, within reason
  for (const PolicyRow* row : shown)
    if (row->jct_over_seeds)
      span = std::max(span, std::min(row->jct_over_seeds->high / unit.seconds, 1.5 * limit));

  Drawing drawing;
  drawing.height = 134.0 + 34.0 * count;
  const bool compared = std::any_of(shown.begin(), shown.end(), [](const auto* r) { return r->best_rule; });
  const Panel left{120, compared ? 560.0 : 1020.0, 62, drawing.height - 66};
  const Panel right{690, 1020, left.top, left.bottom};

  std::vector<std::string> bars, texts, whiskers, names, versus, outside;
  double low = -10.0, high = 10.0;
  for (const PolicyRow* row : shown) {
    if (!row->vs_best_rule_percent) continue;
    low = std::min(low, row->vs_best_rule_percent->low);
    high = std::max(high, row->vs_best_rule_percent->high);
  }
  high = std::min(high, 100.0) * 1.05;
  low *= 1.15;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const PolicyRow& row = *shown[i];
    const auto y = static_cast<double>(i) + 1.0;
    const double value = *row.metrics.mean_jct_s / unit.seconds;
    const std::string colour = colour_number(policy_colour(row.name, row.best_rule));
    const double end = std::min(value, limit);
    bars.push_back(
        join({exact(end / 2), exact(y), "0", exact(end), exact(y - 0.32), exact(y + 0.32), colour}));
    double reach = end;
    std::string text = format_three(value);
    if (row.jct_over_seeds && value <= limit) {
      const double half = (row.jct_over_seeds->high - row.jct_over_seeds->estimate) / unit.seconds;
      reach = std::min(value + half, span);
      whiskers.push_back(join({exact(value), exact(y), exact(std::max(0.0, value - half)), exact(reach)}));
      text = format_plus_minus(value, half);
    }
    if (value > limit) text += " \u2192";
    texts.push_back(join({exact(reach), exact(y), "\"  " + text + "\""}));
    names.push_back(gnuplot_quote(gnuplot_plain(row.name)) + " " + exact(y));
    if (row.best_rule) {
      versus.push_back(join({"0", exact(y), "0", "0", colour}));
    } else if (row.vs_best_rule_percent) {
      const mara::Interval& v = *row.vs_best_rule_percent;
      if (v.estimate <= high)
        versus.push_back(
            join({exact(v.estimate), exact(y), exact(v.low), exact(std::min(v.high, high)), colour}));
      else
        outside.push_back(join({exact(high), exact(y), "\"" + signed_percent(v.estimate) + " % \u2192\""}));
    }
  }
  std::string ytics = "set ytics (";
  for (std::size_t i = 0; i < names.size(); ++i) ytics += (i == 0 ? "" : ", ") + names[i];
  ytics += ") scale 0\n";
  std::string& body = drawing.body;
  body += data_block("bars", bars) + data_block("texts", texts);
  if (!whiskers.empty()) body += data_block("whiskers", whiskers);
  if (!versus.empty()) body += data_block("versus", versus);
  if (!outside.empty()) body += data_block("outside", outside);
  const std::string yrange = "set yrange [0.35:" + exact(count + 0.65) + "]\n";
  body += drawing.margins(left) + yrange + ytics + "set grid noytics xtics\nset border 2\n" +
          "set xrange [0:" + exact(span * 1.3) + "]\nset xlabel 'mean JCT, " + unit.name + "'\n" +
          drawing.heading(24, 28, "Mean job completion time") +
          "plot $bars using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 noborder linecolor rgb "
          "variable notitle, \\\n" +
          (whiskers.empty()
               ? std::string()
               : "  $whiskers using 1:2:3:4 with xerrorbars pointtype 0 linewidth 1.4 linecolor rgb '" +
                     std::string(kInk) + "' notitle, \\\n") +
          "  $texts using 1:2:3 with labels left font ',11' textcolor rgb '" + std::string(kInk) +
          "' notitle\n";
  if (compared && !versus.empty()) {
    body +=
        "unset label\n" + drawing.margins(right) + yrange + "set xrange [" + exact(low) + ":" + exact(high) +
        "]\nset xlabel 'difference of mean JCT, %'\nset border 0\nset xtics scale 0.5\n" +
        drawing.heading(right.left - 96, 28,
                        "Against the best rule (" + gnuplot_plain(best_rule_name(rows)) + "), same jobs") +
        "set arrow 1 from 0, graph 0 to 0, graph 1 nohead linewidth 1.2 linecolor rgb '" +
        std::string(kBestRule) +
        "'\nplot $versus using 1:2:3:4:5 with xerrorbars pointtype 7 pointsize 0.8 linewidth 1.8 linecolor "
        "rgb "
        "variable notitle" +
        (outside.empty() ? std::string()
                         : ", \\\n  $outside using 1:2:3 with labels right font ',11' textcolor rgb '" +
                               std::string(kQuiet) + "' notitle") +
        "\n";
  }
  return drawing;
}

// ---- learning curves ----

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

// ---- timeline ----

/// A colour for a job: neighbours in the queue are far apart on the colour circle.
std::string job_colour(std::uint32_t job) {
  const double hue = std::fmod(0.08 + 0.6180339887498949 * job, 1.0) * 6.0;
  const double light = job % 3 == 0 ? 0.42 : job % 3 == 1 ? 0.54 : 0.66;
  const double chroma = (1.0 - std::fabs(2.0 * light - 1.0)) * 0.50;
  const double second = chroma * (1.0 - std::fabs(std::fmod(hue, 2.0) - 1.0));
  const double base = light - chroma / 2.0;
  const double table[6][3] = {{chroma, second, 0}, {second, chroma, 0}, {0, chroma, second},
                              {0, second, chroma}, {second, 0, chroma}, {chroma, 0, second}};
  long colour = 0;
  for (const double channel : table[static_cast<int>(hue) % 6])
    colour = colour * 256 + std::lround((channel + base) * 255.0);
  return std::to_string(colour);
}

struct TimelineScale {
  double begin_s = 0.0, end_s = 1.0;  ///< the time shown
  double waiting = 1.0;               ///< end of the axis of waiting jobs

  double span_s() const { return end_s - begin_s; }
};

/// Mean number of jobs that wait (submitted, not finished, without GPUs) in each of `bins` equal parts of the
/// time shown.
std::vector<double> waiting_jobs(const mara::SimulationResult& result, const TimelineScale& scale,
                                 std::size_t bins) {
  std::vector<double> job_s(bins, 0.0);
  const double width = scale.span_s() / static_cast<double>(bins);
  const auto add = [&](double from, double to, double sign) {
    from = std::clamp(from - scale.begin_s, 0.0, scale.span_s());
    to = std::clamp(to - scale.begin_s, from, scale.span_s());
    for (auto bin = static_cast<std::size_t>(from / width); bin < bins; ++bin) {
      const double begin = static_cast<double>(bin) * width;
      if (begin >= to) break;
      job_s[bin] += sign * (std::min(to, begin + width) - std::max(from, begin));
    }
  };
  for (std::size_t i = 0; i < result.jobs.size(); ++i)
    add(result.jobs[i].submit_s, result.records[i].finished ? result.records[i].end_s : result.end_s, 1.0);
  for (const mara::GrantInterval& interval : result.intervals) add(interval.start_s, interval.end_s, -1.0);
  for (double& value : job_s) value = std::max(0.0, value / width);
  return job_s;
}

constexpr std::size_t kWaitingBins = 900;

Drawing timeline_drawing(const ReportInput& input, const PolicyOutcome& outcome, const std::string& label,
                         const TimelineScale& scale) {
  constexpr std::size_t kMostBoxes = 6000;  // keeps the file below a megabyte
  const mara::Cluster& cluster = input.cluster;
  const double gap = std::max(0.6, 0.012 * cluster.gpus());
  std::vector<double> offset;
  double total = 0.0;
  for (const mara::GpuType& type : cluster.types) {
    offset.push_back(total);
    total += type.gpus() + gap;
  }
  total -= gap;
  const TimeUnit unit =
      scale.span_s() > 2.0 * 86400.0 ? TimeUnit{"days", 86400.0} : TimeUnit{"hours", 3600.0};
  const auto x = [&](double seconds) { return exact((seconds - scale.begin_s) / unit.seconds); };

  std::vector<std::string> boxes, idle;
  std::string ytics;
  for (std::size_t type = 0; type < cluster.types.size(); ++type) {
    const double height = cluster.types[type].gpus();
    idle.push_back(join({x(scale.begin_s), exact(offset[type]), x(scale.begin_s), x(scale.end_s),
                         exact(offset[type]), exact(offset[type] + height)}));
    ytics += std::string(type == 0 ? "" : ", ") +
             gnuplot_quote_lines({gnuplot_plain(cluster.types[type].name),
                                  "{/*0.85 " + std::to_string(cluster.types[type].gpus()) + " GPUs}"}) +
             " " + exact(offset[type] + height / 2.0);
  }
  const double pixels = std::clamp(total * 7.0, 220.0, 640.0);
  const double inset = std::min(0.12, 0.5 * total / pixels);  // a hair of background between jobs
  for (const LaneBox& box :
       thin_boxes(assign_lanes(cluster, outcome.result.intervals), scale.span_s(), kMostBoxes)) {
    const double low = offset[static_cast<std::size_t>(box.type)] + box.lane;
    const double trim = 0.5 * std::min(inset, 0.2 * box.height);
    boxes.push_back(join({x(box.start_s), exact(low), x(box.start_s), x(box.end_s), exact(low + trim),
                          exact(low + box.height - trim), job_colour(box.job)}));
  }
  const auto waiting = waiting_jobs(outcome.result, scale, kWaitingBins);
  std::vector<std::string> queue;
  for (std::size_t bin = 0; bin < kWaitingBins; ++bin) {
    const double share = (static_cast<double>(bin) + 0.5) / static_cast<double>(kWaitingBins);
    queue.push_back(join({x(scale.begin_s + share * scale.span_s()), exact(waiting[bin])}));
  }

  Drawing drawing;
  drawing.width = 1200;
  drawing.height = 62 + pixels + 22 + 90 + 68;
  const Panel top{96, 1180, 62, 62 + pixels};
  const Panel bottom{96, 1180, top.bottom + 22, top.bottom + 22 + 90};
  std::string& body = drawing.body;
  body += data_block("idle", idle) + data_block("queue", queue);
  if (!boxes.empty()) body += data_block("boxes", boxes);
  std::string summary;
  if (outcome.metrics.mean_jct_s)
    summary += "mean JCT " + format_duration(outcome.metrics.mean_jct_s) + ",  ";
  summary += "GPU use " + format_fixed(100.0 * outcome.metrics.gpu_utilisation, 0) + " %";
  const std::string xrange = "set xrange [0:" + x(scale.end_s) + "]\n";
  body +=
      drawing.margins(top) + drawing.heading(24, 26, gnuplot_plain(label) + ": jobs on GPUs over time") +
      drawing.heading(24, 46, gnuplot_plain(summary), 12, kQuiet, false) + xrange + "set yrange [" +
      exact(total) + ":0]\nset border 0\nunset grid\nset xtics format ''\nset ytics (" + ytics +
      ") scale 0\nset key off\nplot $idle using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1.0 noborder "
      "linecolor "
      "rgb '#eceff3'" +
      (boxes.empty()
           ? std::string()
           : ", \\\n  $boxes using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 noborder linecolor rgb "
             "variable") +
      "\n";
  body += "unset label\n" + drawing.margins(bottom) + xrange + "set yrange [0:" + exact(scale.waiting) +
          "]\nset border 3\nset grid ytics\nset xtics format '%g'\nset xlabel 'time since the first "
          "submission, " +
          unit.name + "'\nset ytics 0, " + exact(scale.waiting / 2.0) + ", " + exact(scale.waiting) +
          " scale 0.5\nset ylabel 'jobs waiting' offset 0.5,0\nplot $queue using 1:2 with filledcurves y1=0 "
          "fillstyle "
          "solid 0.35 noborder linecolor rgb '" +
          std::string(kBestRule) + "', $queue using 1:2 with lines linewidth 1.2 linecolor rgb '" +
          std::string(kBestRule) + "'\n";
  return drawing;
}

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
  TimelineScale scale;
  if (!shown.empty()) scale.begin_s = shown.front()->result.jobs.front().submit_s;
  scale.end_s = scale.begin_s + 1.0;
  for (const PolicyOutcome* outcome : shown) scale.end_s = std::max(scale.end_s, outcome->result.end_s);
  for (const PolicyOutcome* outcome : shown)
    for (const double waiting : waiting_jobs(outcome->result, scale, kWaitingBins))
      scale.waiting = std::max(scale.waiting, waiting);
  scale.waiting = round_up(1.02 * scale.waiting);
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
