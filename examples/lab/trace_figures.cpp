#include "trace_figures.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "figure_style.hpp"
#include "files.hpp"
#include "format.hpp"
#include "gnuplot.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFigures[] = {"arrivals", "durations", "gpus", "load"};
constexpr std::string_view kLine = "#0b7285";

/// Equal spans of time from the first submission to the last.
struct Bins {
  double first_s = 0.0, width_s = 3600.0;
  std::size_t count = 1;
};

/// The smallest usual width that makes no more than 500 bins.
Bins choose_bins(const mara::Trace& trace) {
  Bins bins;
  const double span = mara::summarise(trace).span_s;
  bins.first_s = trace.jobs.front().submit_s;
  bins.width_s = std::max(span / 500.0, 1.0);
  for (const double usual :
       {60.0, 300.0, 600.0, 1800.0, 3600.0, 10800.0, 21600.0, 43200.0, 86400.0, 604800.0})
    if (span <= 500.0 * usual) {
      bins.width_s = usual;
      break;
    }
  bins.count = static_cast<std::size_t>(std::floor(span / bins.width_s)) + 1;
  return bins;
}

/// Lines "time value" of steps, time in `unit` since the first submission.
std::vector<std::string> step_lines(const Bins& bins, const std::vector<double>& values,
                                    const TimeUnit& unit) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i <= values.size(); ++i)
    lines.push_back(join({exact(static_cast<double>(i) * bins.width_s / unit.seconds),
                          exact(values[std::min(i, values.size() - 1)])}));
  return lines;
}

std::vector<double> arrivals_per_hour(const mara::Trace& trace, const Bins& bins) {
  std::vector<double> rates(bins.count, 0.0);
  for (const mara::TraceJob& job : trace.jobs) {
    const auto bin = static_cast<std::size_t>((job.submit_s - bins.first_s) / bins.width_s);
    rates[std::min(bin, bins.count - 1)] += 3600.0 / bins.width_s;
  }
  return rates;
}

/// Mean number of busy GPUs in each bin when every job starts at its submission.
std::vector<double> busy_gpus(const mara::Trace& trace, const Bins& bins) {
  std::vector<double> busy(bins.count, 0.0), change(bins.count + 1, 0.0);
  const auto count = static_cast<double>(bins.count);
  for (const mara::TraceJob& job : trace.jobs) {
    const double gpus = job.gpus.as_double();
    const double from = (job.submit_s - bins.first_s) / bins.width_s;
    const double to = std::min(from + job.duration_s / bins.width_s, count);
    const auto first = std::min(static_cast<std::size_t>(from), bins.count - 1);
    const auto last = std::min(static_cast<std::size_t>(to), bins.count);
    if (first == last) {
      busy[first] += gpus * (to - from);
      continue;
    }
    busy[first] += gpus * (static_cast<double>(first + 1) - from);
    change[first + 1] += gpus;
    change[last] -= gpus;
    if (last < bins.count) busy[last] += gpus * (to - static_cast<double>(last));
  }
  double level = 0.0;
  for (std::size_t i = 0; i < bins.count; ++i) busy[i] = std::max(0.0, busy[i] + (level += change[i]));
  return busy;
}

/// Lines "value share" of the cumulative distribution, at most a few thousand.
std::vector<std::string> distribution_lines(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t step = std::max<std::size_t>(values.size() / 2000, 1);
  const auto total = static_cast<double>(values.size());
  std::vector<std::string> lines{join({exact(values.front()), "0"})};
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool last = i + 1 == values.size();
    if (!last && (values[i + 1] == values[i] || i + 1 - drawn < step)) continue;
    lines.push_back(join({exact(values[i]), exact(static_cast<double>(i + 1) / total)}));
    drawn = i + 1;
  }
  return lines;
}

/// One panel: a heading, axes and one line.
Drawing plot(const std::string& heading, const std::string& x_label, const std::string& y_label,
             const std::vector<std::string>& lines, const std::string& axes) {
  Drawing drawing;
  drawing.width = 900;
  drawing.height = 400;
  drawing.body = data_block("data", lines) + drawing.margins({86, 870, 56, 338}) +
                 drawing.heading(24, 28, gnuplot_plain(heading)) + "set xlabel " +
                 gnuplot_quote(gnuplot_plain(x_label)) + "\nset ylabel " +
                 gnuplot_quote(gnuplot_plain(y_label)) + "\n" + axes +
                 "plot $data using 1:2 with steps linewidth 2 linecolor rgb '" + std::string(kLine) +
                 "' notitle\n";
  return drawing;
}

/// A logarithmic axis that holds all values.
std::string log_axis(const std::vector<double>& values, int base) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return "set logscale x " + std::to_string(base) + "\nset xrange [" + exact(*low / 1.5) + ":" +
         exact(*high * 1.5) + "]\nset yrange [0:1]\n";
}

bool drawn_by_gnuplot(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(1000, ' ');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text.find("GNUPLOT") != std::string::npos;
}

}  // namespace

mara::Status check_trace_figures(const std::string& folder) {
  std::error_code code;
  fs::path there = folder;
  while (!there.empty() && !fs::exists(fs::symlink_status(there, code))) there = there.parent_path();
  const std::string existing = there.empty() ? "." : there.string();
  const auto refuse = [&](const std::string& what) {
    return mara::Error{mara::ErrorCode::kIo, "--out: " + folder + ": " + what};
  };
  if (!fs::is_directory(existing, code))
    return refuse(existing == folder ? "exists and is not a folder" : existing + " is not a folder");
  if (::access(existing.c_str(), W_OK | X_OK) != 0) return refuse(existing + " cannot be written to");
  if (existing == folder)
    for (const char* name : kFigures) {
      const std::string path = (fs::path(folder) / (std::string(name) + ".svg")).string();
      if (auto ready = check_target_file(path, "--out", drawn_by_gnuplot); !ready) return ready;
    }
  return check_gnuplot();
}

mara::Result<std::vector<std::string>> draw_trace_figures(const mara::Trace& trace,
                                                          const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (!fs::is_directory(folder))
    return mara::Error{mara::ErrorCode::kIo, "--out: " + folder + ": cannot be made: " + code.message()};
  auto scratch = TemporaryFolder::create();
  if (!scratch) return scratch.error();

  const Bins bins = choose_bins(trace);
  const double span_s = static_cast<double>(bins.count) * bins.width_s;
  const TimeUnit unit = time_unit(span_s);
  const std::string time_label = std::string("time since the first submission, ") + unit.name;
  const std::string time_axes = "set xrange [0:" + exact(span_s / unit.seconds) + "]\nset yrange [0:*]\n";
  std::vector<double> durations, gpus;
  for (const mara::TraceJob& job : trace.jobs) {
    durations.push_back(job.duration_s);
    gpus.push_back(std::max(job.gpus.as_double(), 0.001));
  }
  const std::string width = " (means over " + format_duration(bins.width_s) + ")";
  const Drawing drawings[] = {
      plot("Arrivals" + width, time_label, "jobs per hour",
           step_lines(bins, arrivals_per_hour(trace, bins), unit), time_axes),
      plot("Run times, cumulative", "run time, s", "share of the jobs", distribution_lines(durations),
           log_axis(durations, 10)),
      plot("GPUs asked for, cumulative", "GPUs", "share of the jobs", distribution_lines(gpus),
           log_axis(gpus, 2)),
      plot("GPUs busy if every job ran when it is submitted" + width, time_label, "GPUs",
           step_lines(bins, busy_gpus(trace, bins), unit), time_axes),
  };
  std::vector<std::string> files;
  for (std::size_t i = 0; i < std::size(kFigures); ++i) {
    if (auto drawn = draw(drawings[i], folder, kFigures[i], false, scratch->path()); !drawn)
      return drawn.error();
    files.push_back((fs::path(folder) / (std::string(kFigures[i]) + ".svg")).string());
  }
  return files;
}

}  // namespace lab
