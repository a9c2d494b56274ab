#pragma once
// Progress of one or several trainings on stderr: a bar on a terminal, a line now and then elsewhere.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format.hpp"

namespace lab {

/// Shows how far a set of tasks is. Every member may be called from any thread. Draws at most ten times a
/// second on a terminal, and a line every ten seconds otherwise; time is only shown, it decides nothing.
class Progress {
 public:
  explicit Progress(std::string title, std::string unit = "steps", std::FILE* stream = stderr)
      : title_(std::move(title)),
        unit_(std::move(unit)),
        stream_(stream),
        terminal_(::isatty(::fileno(stream)) == 1),
        start_(Clock::now()) {
    last_draw_ = start_;
  }
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Announces a task of `total` steps. Tasks of one `name` (the seeds of a learner) share one figure of JCT.
  /// A task of another kind says how many steps one of its own takes as long as; those are not counted as
  /// steps.
  std::size_t add(std::string name, std::int64_t total, std::optional<double> as_steps = std::nullopt) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(Task{std::move(name), std::max<std::int64_t>(total, 1), 0, std::nullopt, as_steps});
    return tasks_.size() - 1;
  }

  /// Task `task` has done `steps` of its steps; `jct_s` is its present mean JCT in seconds, when it is known.
  void update(std::size_t task, std::int64_t steps, std::optional<double> jct_s = std::nullopt) {
    const std::lock_guard lock(mutex_);
    if (task >= tasks_.size() || finished_) return;
    tasks_[task].done = std::clamp<std::int64_t>(steps, 0, tasks_[task].total);
    if (jct_s) tasks_[task].jct_s = jct_s;
    const auto now = Clock::now();
    if (now - last_draw_ < (terminal_ ? kBarPeriod : kLinePeriod)) return;
    draw(now);
  }

  /// Clears the bar and leaves one line of what was done. Harmless when repeated.
  void finish() {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    if (tasks_.empty()) return;
    const double seconds = since(start_, Clock::now());
    const std::string text = title_ + ": " + std::to_string(steps_done()) + " " + unit_ + " in " +
                             format_clock(seconds) + jct_text();
    std::fprintf(stream_, "%s%s\n", terminal_ ? "\r\033[K" : "", text.c_str());
    std::fflush(stream_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kBarPeriod = std::chrono::milliseconds(100);
  static constexpr auto kLinePeriod = std::chrono::milliseconds(10000);
  struct Task {
    std::string name;
    std::int64_t total = 1, done = 0;
    std::optional<double> jct_s;
    std::optional<double> as_steps;
  };
  struct Sample {
    Clock::time_point at;
    std::int64_t steps;
    double work;
  };

  static double since(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }
  std::int64_t steps_done() const {
    std::int64_t sum = 0;
    for (const Task& task : tasks_)
      if (!task.as_steps) sum += task.done;
    return sum;
  }

  /// ", mara 2.31 h, mappo 3.20 h": mean over the seeds of each name.
  std::string jct_text() const {
    std::vector<std::pair<std::string, std::vector<double>>> groups;
    for (const Task& task : tasks_) {
      if (!task.jct_s) continue;
      auto group =
          std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == task.name; });
      if (group == groups.end()) group = groups.insert(groups.end(), {task.name, {}});
      group->second.push_back(*task.jct_s);
    }
    std::string text;
    for (const auto& [name, values] : groups) {
      double sum = 0.0;
      for (const double value : values) sum += value;
      text += ", " + name + " JCT " + format_duration(sum / static_cast<double>(values.size()));
    }
    return text;
  }

  std::size_t columns() const {
    winsize size{};
    if (::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
    return 100;
  }

  void draw(Clock::time_point now) {
    last_draw_ = now;
    double total = 0.0, work = 0.0;
    for (const Task& task : tasks_) {
      total += task.as_steps.value_or(1.0) * static_cast<double>(task.total);
      work += task.as_steps.value_or(1.0) * static_cast<double>(task.done);
    }
    // The speed is that of the last half minute; it changes when trainings of another kind begin.
    samples_.push_back({now, steps_done(), work});
    while (samples_.size() > 2 && since(samples_.front().at, now) > 30.0) samples_.pop_front();
    const Sample first = samples_.size() > 1 ? samples_.front() : Sample{start_, 0, 0.0};
    const double seconds = std::max(1e-9, since(first.at, now));
    const double rate = static_cast<double>(samples_.back().steps - first.steps) / seconds;
    const double pace = (work - first.work) / seconds;
    const double share = work / std::max(total, 1e-9);
    char percent[8];
    std::snprintf(percent, sizeof(percent), "%3d %%", static_cast<int>(share * 100.0));
    std::string tail = percent;
    if (rate > 0.0)
      tail += "  " + (rate < 9.995 ? format_three(rate) : format_count(rate)) + " " + unit_ + "/s";
    tail += jct_text();
    if (pace > 0.0) tail += ", " + format_clock((total - work) / pace) + " left";
    if (!terminal_) {
      std::fprintf(stream_, "%s: %s\n", title_.c_str(), tail.c_str());
      std::fflush(stream_);
      return;
    }
    const std::size_t width = columns() - 1;
    const std::size_t used = title_.size() + 4 + tail.size();
    std::string line = title_ + " ";
    if (used + 8 <= width) {
      const std::size_t bar = std::min<std::size_t>(30, width - used);
      const auto full = static_cast<std::size_t>(share * static_cast<double>(bar));
      line += "[" + std::string(full, '#') + std::string(bar - full, '.') + "] ";
    }
    line += tail;
    if (line.size() > width) line.resize(width);
    std::fprintf(stream_, "\r%s\033[K", line.c_str());
    std::fflush(stream_);
  }

  std::mutex mutex_;
  std::string title_, unit_;
  std::FILE* stream_;
  bool terminal_;
  bool finished_ = false;
  Clock::time_point start_, last_draw_;
  std::vector<Task> tasks_;
  std::deque<Sample> samples_;
};

}  // namespace lab
