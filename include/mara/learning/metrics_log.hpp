#pragma once
// What a training writes while it runs: one line an event, as JSON lines and as CSV.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/result.hpp"
#include "mara/learning/game_trainer.hpp"

namespace mara {

/// The returns that every line shows: sums of team rewards over an episode as the game pays them.
inline constexpr std::string_view kReturnConvention = "team, unshaped, undiscounted sum over the episode";

/// Writes metrics.jsonl and metrics.csv of a folder, line by line as they come, so that a run that is killed
/// leaves whole lines. In JSON a number that is not finite is null, in CSV an empty cell. The columns of the
/// CSV are those of an evaluation and of the first round; a later name that it lacks is in the JSON lines
/// alone.
class MetricsLog {
 public:
  MetricsLog() = default;

  /// Opens both files. `keep_until`: goes on behind the lines of a run that was interrupted, up to so many
  /// environment steps; what it wrote later goes, since it will be written again. Errors: kIo.
  Status open(const std::string& folder, std::optional<std::int64_t> keep_until = std::nullopt) {
    json_name_ = folder + "/metrics.jsonl";
    csv_name_ = folder + "/metrics.csv";
    columns_.clear();
    if (keep_until) {
      std::string header;
      Status kept = keep(json_name_, "\"env_steps\":", *keep_until, nullptr);
      if (kept) kept = keep(csv_name_, ",", *keep_until, &header);
      if (!kept) return kept;
      for (std::size_t at = 0; !header.empty() && at <= header.size();) {
        const std::size_t comma = std::min(header.find(',', at), header.size());
        columns_.push_back(header.substr(at, comma - at));
        at = comma + 1;
      }
    }
    json_.reset(std::fopen(json_name_.c_str(), keep_until ? "ab" : "wb"));
    if (!json_) return detail::write_error(json_name_, errno);
    csv_.reset(std::fopen(csv_name_.c_str(), keep_until ? "ab" : "wb"));
    if (!csv_) return detail::write_error(csv_name_, errno);
    return {};
  }
  bool is_open() const noexcept { return json_ != nullptr; }

  /// One line: an event ("round", "evaluation"), the environment steps so far, numbers by name. Errors: kIo.
  Status write(std::string_view event, std::int64_t env_steps,
               const std::vector<std::pair<std::string, double>>& values) {
    std::string line = "{\"event\":\"" + std::string(event) +
                       "\",\"env_steps\":" + std::to_string(env_steps) + ",\"return_convention\":\"" +
                       std::string(kReturnConvention) + "\"";
    for (const auto& [name, value] : values) {
      const std::string number = text(value);
      line += ",\"" + name + "\":" + (number.empty() ? "null" : number);
    }
    line += "}\n";
    if (const Status written = put(json_.get(), json_name_, line); !written) return written;
    std::string row;
    if (columns_.empty()) {
      columns_ = {"event",
                  "env_steps",
                  "return_convention",
                  "evaluation_return",
                  "evaluation_sd",
                  "evaluation_return_min",
                  "evaluation_return_max",
                  "evaluation_steps",
                  "evaluation_episodes"};
      for (const auto& [name, value] : values)
        if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) columns_.push_back(name);
      for (const std::string& column : columns_) row += (row.empty() ? "" : ",") + column;
      row += '\n';
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) row += ',';
      if (columns_[c] == "event")
        row += event;
      else if (columns_[c] == "env_steps")
        row += std::to_string(env_steps);
      else if (columns_[c] == "return_convention")
        row += '"' + std::string(kReturnConvention) + '"';
      else
        for (const auto& [name, value] : values)
          if (name == columns_[c]) row += text(value);
    }
    return put(csv_.get(), csv_name_, row + "\n");
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  /// Shortest text that reads back as the same number; empty when it is not finite.
  static std::string text(double value) {
    if (!std::isfinite(value)) return {};
    char buffer[40];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  /// Keeps the whole lines of a file in which the number behind the first `mark` is at most `most`. `header`:
  /// takes the first line, which has no number and stays; null: there is none. A file that is not there is
  /// fine.
  static Status keep(const std::string& name, std::string_view mark, std::int64_t most, std::string* header) {
    std::string bytes, kept;
    InputFile file;
    if (!file.open(name)) return {};
    if (const Status read = file.read(bytes); !read) return read;
    for (std::size_t at = 0, end = 0; (end = bytes.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string_view line(bytes.data() + at, end - at);
      if (header != nullptr && at == 0) {
        *header = line;
      } else {
        const std::size_t found = line.find(mark);
        std::int64_t steps = 0;
        if (found == std::string_view::npos) continue;
        const char* const from = line.data() + found + mark.size();
        const auto parsed = std::from_chars(from, line.data() + line.size(), steps);
        if (parsed.ec != std::errc() || steps > most) continue;
      }
      kept += line;
      kept += '\n';
    }
    return kept == bytes ? Status() : write_file(name, kept);
  }
  static Status put(std::FILE* file, const std::string& name, const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0)
      return detail::write_error(name, errno);
    return {};
  }

  std::string json_name_, csv_name_;
  std::unique_ptr<std::FILE, Close> json_, csv_;
  std::vector<std::string> columns_;
};

/// The rounds since the last line, as one: means over the rounds that have a number (NaN is none), the sum of
/// the episodes and their mean return, the optimiser steps so far.
class RoundMeans {
 public:
  bool empty() const noexcept { return rounds_ == 0; }

  void add(const TrainingReport& report) {
    ++rounds_;
    env_steps_ = report.env_steps;
    updates_ = report.updates;
    episodes_ += report.episodes;
    if (report.episodes > 0 && !std::isnan(report.episode_return)) {
      counted_ += report.episodes;
      return_ += (report.episode_return - return_) *
                 (static_cast<double>(report.episodes) / static_cast<double>(counted_));
    }
    for (const auto& entry : report.values) {
      auto sum =
          std::find_if(sums_.begin(), sums_.end(), [&](const Sum& s) { return s.name == entry.first; });
      if (sum == sums_.end()) sum = sums_.insert(sum, Sum{entry.first, 0.0, 0});
      const double value = entry.second;
      if (std::isnan(value)) continue;
      ++sum->count;
      sum->mean += (value - sum->mean) / static_cast<double>(sum->count);  // equal values keep their bits
    }
  }

  /// Writes the line of these rounds and forgets them; nothing when there are none. Errors: kIo.
  Status write(MetricsLog& log) {
    if (empty()) return {};
    std::vector<std::pair<std::string, double>> values = {{"updates", static_cast<double>(updates_)},
                                                          {"episodes", static_cast<double>(episodes_)},
                                                          {"episode_return", counted_ > 0 ? return_ : kNone}};
    for (const Sum& sum : sums_) values.emplace_back(sum.name, sum.count > 0 ? sum.mean : kNone);
    const std::int64_t env_steps = env_steps_;
    *this = {};
    return log.write("round", env_steps, values);
  }

 private:
  struct Sum {
    std::string name{};
    double mean = 0.0;
    std::int64_t count = 0;
  };
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::int64_t rounds_ = 0, env_steps_ = 0, updates_ = 0, episodes_ = 0, counted_ = 0;
  double return_ = 0.0;
  std::vector<Sum> sums_;
};

}  // namespace mara
