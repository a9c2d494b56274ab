// Timelines: jobs on GPUs over time.

#include <algorithm>
#include <cmath>

#include "drawings.hpp"
#include "format.hpp"
#include "lanes.hpp"

namespace lab {
namespace {

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

}  // namespace

TimelineScale timeline_scale(std::span<const PolicyOutcome* const> outcomes) {
  TimelineScale scale;
  if (!outcomes.empty()) scale.begin_s = outcomes.front()->result.jobs.front().submit_s;
  scale.end_s = scale.begin_s + 1.0;
  for (const PolicyOutcome* outcome : outcomes) scale.end_s = std::max(scale.end_s, outcome->result.end_s);
  for (const PolicyOutcome* outcome : outcomes)
    for (const double waiting : waiting_jobs(outcome->result, scale, kWaitingBins))
      scale.waiting = std::max(scale.waiting, waiting);
  scale.waiting = round_up(1.02 * scale.waiting);
  return scale;
}

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

}  // namespace lab
