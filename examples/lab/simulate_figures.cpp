// The figures of mara-lab simulate.

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "figure_style.hpp"
#include "format.hpp"
#include "gnuplot.hpp"
#include "simulate.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// Colours that are told apart; after the last they begin again.
std::string line_colour(std::size_t index) {
  constexpr std::string_view kColours[] = {"#0b7285", "#e8590c", "#7048a8", "#b58900", "#2b8a3e", "#c2255c",
                                           "#1864ab", "#868e96", "#5c3d2e", "#66a80f", "#e64980", "#15aabf"};
  return std::string(kColours[index % std::size(kColours)]);
}

/// A policy's name as a part of a file name.
std::string file_part(const std::string& name) {
  std::string part;
  for (const char c : name)
    part += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ? c : '_';
  return part;
}

TimeUnit axis_unit(double span_s) {
  return span_s > 4.0 * 86400.0  ? TimeUnit{"days", 86400.0}
         : span_s > 4.0 * 3600.0 ? TimeUnit{"hours", 3600.0}
                                 : time_unit(span_s);
}

/// "plot" with a line for each run over the data blocks `prefix`0, `prefix`1, ...
std::string plot_lines(const std::vector<PolicyRun>& runs, const std::string& prefix,
                       const std::string& style) {
  std::string text = "plot ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) text += ", \\\n  ";
    text += "$" + prefix + std::to_string(i) + " using 1:2 with " + style + " linewidth 1.6 linecolor rgb '" +
            line_colour(i) + "' title " + gnuplot_quote(gnuplot_plain(runs[i].name));
  }
  return text + "\n";
}

/// JCT of each policy as a cumulative distribution.
Drawing distribution_drawing(const std::vector<PolicyRun>& runs) {
  constexpr std::size_t kMostPoints = 1500;
  Drawing drawing;
  drawing.width = 900;
  drawing.height = 480;
  double least = 1e300, most = 0.0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<double> jct = runs[i].jct_s;
    std::sort(jct.begin(), jct.end());
    for (double& value : jct) value = std::max(value, 1e-3);  // the axis is logarithmic
    const auto count = static_cast<double>(jct.size());
    const std::size_t step = std::max<std::size_t>(1, jct.size() / kMostPoints);
    std::vector<std::string> lines;
    for (std::size_t k = 0; k < jct.size(); ++k)
      if (k % step == 0 || k + 1 == jct.size())
        lines.push_back(join({exact(jct[k]), exact(static_cast<double>(k + 1) / count)}));
    if (lines.empty()) lines.push_back("1 NaN");
    if (!jct.empty()) {
      least = std::min(least, jct.front());
      most = std::max(most, jct.back());
    }
    drawing.body += data_block("jct" + std::to_string(i), lines);
  }
  if (!(most > 0.0)) least = most = 1.0;
  drawing.body += drawing.margins({70, 880, 56, 418}) +
                  drawing.heading(24, 28, "Job completion time, cumulative") +
                  "set logscale x 10\nset xrange [" + exact(least / 1.5) + ":" + exact(most * 1.5) +
                  "]\nset yrange [0:1]\nset xlabel 'completion time, s'\nset ylabel 'share of the finished "
                  "jobs'\nset key top left\n" +
                  plot_lines(runs, "jct", "steps");
  return drawing;
}

/// GPUs held and jobs in the system over time, means over bins.
Drawing usage_drawing(const SimulationInput& input, const std::vector<PolicyRun>& runs) {
  Drawing drawing;
  drawing.width = 1100;
  drawing.height = 640;
  const double gpus = std::max<double>(1.0, static_cast<double>(input.platform.devices()));
  double span_s = 1e-3;
  for (const PolicyRun& run : runs) span_s = std::max(span_s, run.metrics.end_s - run.metrics.first_submit_s);
  const TimeUnit unit = axis_unit(span_s);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const UsageProfile& usage = runs[i].usage;
    std::vector<double> held(BinnedSeries::kBins, 0.0);
    for (std::size_t row = 0; row < usage.rows(); ++row) {
      const std::vector<double> means = usage.held(row).means();
      for (std::size_t b = 0; b < held.size(); ++b) held[b] += means[b] / gpus;
    }
    const std::vector<double> jobs = usage.jobs().means();
    std::vector<std::string> held_lines, job_lines;
    const double width = usage.jobs().width_s();
    for (std::size_t b = 0; b < held.size(); ++b) {
      const double at = static_cast<double>(b) * width;
      if (at > runs[i].metrics.end_s - runs[i].metrics.first_submit_s) break;
      held_lines.push_back(join({exact(at / unit.seconds), exact(held[b])}));
      job_lines.push_back(join({exact(at / unit.seconds), exact(jobs[b])}));
    }
    drawing.body += data_block("held" + std::to_string(i), held_lines) +
                    data_block("jobs" + std::to_string(i), job_lines);
  }
  const std::string xrange = "set xrange [0:" + exact(span_s / unit.seconds) + "]\n";
  drawing.body +=
      drawing.margins({80, 1080, 56, 296}) + drawing.heading(24, 28, "GPUs held over time") + xrange +
      "set yrange [0:1.05]\nset ylabel 'share of the GPUs'\nset key outside top right horizontal\n" +
      plot_lines(runs, "held", "fsteps") + "unset label\nset key off\n" +
      drawing.margins({80, 1080, 374, 580}) + drawing.heading(24, 348, "Jobs in the system") + xrange +
      "set yrange [0:*]\nset ylabel 'jobs'\nset xlabel 'time since the first submission, " + unit.name +
      "'\n" + plot_lines(runs, "jobs", "fsteps");
  return drawing;
}

/// How much of each node's GPUs was held over time, as colours.
Drawing timeline_drawing(const SimulationInput& input, const PolicyRun& run) {
  const UsageProfile& usage = run.usage;
  const double span_s = std::max(1e-3, run.metrics.end_s - run.metrics.first_submit_s);
  const double width = usage.jobs().width_s();
  const auto shown =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(span_s / width)), 2, BinnedSeries::kBins);
  const TimeUnit unit = axis_unit(span_s);
  // Cells are boxes of their own, so that neither their number nor their size bounds the figure; nothing is
  // drawn where nothing is held, and equal neighbours are one.
  std::vector<std::string> boxes;
  std::string ytics;
  const std::size_t rows = usage.rows(), label_each = std::max<std::size_t>(1, rows / 16);
  for (std::size_t row = 0; row < rows; ++row) {
    const double gpus = usage.gpus(row);
    const std::vector<double> held = usage.held(row).means();
    const auto level = [&](std::size_t b) {
      return gpus > 0.0 ? std::lround(20.0 * std::min(1.0, held[b] / gpus)) : 0L;
    };
    for (std::size_t b = 0; b < shown;) {
      std::size_t end = b + 1;
      while (end < shown && level(end) == level(b)) ++end;
      if (level(b) > 0) {
        const auto mix = [&](long light, long dark) { return light + (dark - light) * level(b) / 20; };
        const long colour = (mix(0xe6, 0x0b) * 256 + mix(0xf2, 0x52)) * 256 + mix(0xf4, 0x6b);
        const double from = static_cast<double>(b) * width / unit.seconds,
                     to = static_cast<double>(end) * width / unit.seconds, low = static_cast<double>(row);
        boxes.push_back(join({exact(from), exact(low), exact(from), exact(to), exact(low), exact(low + 0.92),
                              std::to_string(colour)}));
      }
      b = end;
    }
    if (row % label_each == 0)
      ytics += (ytics.empty() ? "" : ", ") +
               gnuplot_quote(gnuplot_plain(input.platform.nodes[usage.first_node(row)].name)) + " " +
               exact(static_cast<double>(row) + 0.46);
  }
  if (boxes.empty()) boxes.push_back("0 0 0 0 0 0 0");
  Drawing drawing;
  drawing.width = 1100;
  const double height = std::clamp(14.0 * static_cast<double>(rows), 120.0, 640.0);
  drawing.height = 130 + height;
  drawing.body =
      data_block("boxes", boxes) + drawing.margins({120, 1080, 66, 66 + height}) +
      drawing.heading(24, 26, gnuplot_plain(run.name) + ": GPUs held on each node") +
      drawing.heading(24, 48,
                      gnuplot_plain(rows < input.platform.nodes.size()
                                        ? "a row is a group of neighbouring nodes; dark: all held"
                                        : "a row is a node; dark: all held"),
                      12, kQuiet, false) +
      "set xrange [0:" + exact(span_s / unit.seconds) + "]\nset yrange [" + exact(static_cast<double>(rows)) +
      ":0]\nset border 0\nunset grid\nset ytics (" + ytics +
      ") scale 0\nset key off\nset xlabel 'time since the first submission, " + unit.name +
      "'\nplot $boxes using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 noborder linecolor rgb "
      "variable\n";
  return drawing;
}

}  // namespace

std::vector<std::string> simulation_figures(const std::vector<std::string>& policies) {
  std::vector<std::string> files = {"jct_cdf.svg", "utilisation.svg"};
  for (const std::string& policy : policies) files.push_back("timeline_" + file_part(policy) + ".svg");
  return files;
}

bool is_simulation_figure(const std::string& name) {
  constexpr std::string_view kBegin = "timeline_", kEnd = ".svg";
  if (name == "jct_cdf.svg" || name == "utilisation.svg") return true;
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() < kBegin.size() + kEnd.size())
    return false;
  const std::string part = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  // A policy's name, and what backfilling and preemption add to it.
  return std::any_of(policies().begin(), policies().end(), [&](const Policy& policy) {
    const std::string known = file_part(std::string(policy.name));
    return part.starts_with(known) && (part.size() == known.size() || part[known.size()] == '-');
  });
}

mara::Status draw_simulation(const SimulationInput& input, const std::vector<PolicyRun>& runs,
                             const fs::path& folder) {
  auto scratch = TemporaryFolder::create();
  if (!scratch) return scratch.error();
  if (auto drawn = draw(distribution_drawing(runs), folder, "jct_cdf", false, scratch->path()); !drawn)
    return drawn;
  if (auto drawn = draw(usage_drawing(input, runs), folder, "utilisation", false, scratch->path()); !drawn)
    return drawn;
  for (const PolicyRun& run : runs)
    if (auto drawn = draw(timeline_drawing(input, run), folder, "timeline_" + file_part(run.name), false,
                          scratch->path());
        !drawn)
      return drawn;
  return {};
}

}  // namespace lab
