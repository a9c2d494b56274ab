// mara-lab simulate: policies on the jobs of a trace, down to the device.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <thread>
#include <utility>

#include "commands.hpp"
#include "files.hpp"
#include "gnuplot.hpp"
#include "mara/cluster/platform_text.hpp"
#include "mara/core/parallel.hpp"
#include "mara/simulation/platform_log.hpp"
#include "simulate.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;
using mara::Error;
using mara::ErrorCode;
using mara::Status;

/// The beginning of a file.
std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(1000, ' ');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// Whether the results can be written to `folder`: it is absent or a folder, and holds no file of theirs that
/// is something else.
Status check_folder(const std::string& folder, const std::vector<std::string>& figures) {
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorCode::kIo, "--out: " + folder + ": " + what};
  };
  std::error_code code;
  fs::path there = folder;
  while (!there.empty() && !fs::exists(fs::symlink_status(there, code))) there = there.parent_path();
  const std::string existing = there.empty() ? "." : there.string();
  if (!fs::is_directory(existing, code))
    return refuse(existing == folder ? "exists and is not a folder" : existing + " is not a folder");
  if (::access(existing.c_str(), W_OK | X_OK) != 0) return refuse(existing + " cannot be written to");
  if (existing != folder) return {};
  const auto holds = [](const char* mark) {
    return [mark](const std::string& path) { return head_of(path).find(mark) != std::string::npos; };
  };
  std::vector<std::pair<std::string, std::function<bool(const std::string&)>>> targets = {
      {"summary.json", holds("\"mara-simulation\"")},
      {"jobs.csv", holds("policy,job,submit,")},
      {"intervals.csv", holds("policy,sequence,job,")}};
  for (const std::string& figure : figures) targets.emplace_back(figure, holds("GNUPLOT"));
  for (const auto& [name, ours] : targets)
    if (auto ready = check_target_file((fs::path(folder) / name).string(), "--out", ours); !ready)
      return ready;
  return {};
}

/// Removes from `folder` what an earlier run left there and this one, which writes `files`, does not replace:
/// by the names that such files have, and only where they begin as those do. Without an earlier summary the
/// folder is somebody else's.
Status remove_earlier(const fs::path& folder, const std::vector<std::string>& files) {
  const auto holds = [&](const std::string& name, const char* mark) {
    return head_of((folder / name).string()).find(mark) != std::string::npos;
  };
  if (!holds("summary.json", "\"mara-simulation\"")) return {};
  std::error_code code;
  std::vector<std::string> earlier;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!fs::is_regular_file(entry->symlink_status(ignored)) ||
        std::find(files.begin(), files.end(), name) != files.end())
      continue;
    if ((name == "intervals.csv" && holds(name, "policy,sequence,job,")) ||
        (is_simulation_figure(name) && holds(name, "GNUPLOT")))
      earlier.push_back(name);
  }
  for (const std::string& name : earlier)
    if (!code) fs::remove(folder / name, code);
  if (!code) return {};
  return Error{ErrorCode::kIo, "--out: " + folder.string() +
                                   ": files of an earlier run cannot be removed: " + code.message()};
}

/// The lines of all policies, which stand in files of their own, as one file with a header.
Status join_parts(const fs::path& target, std::string_view columns, const std::vector<fs::path>& parts) {
  const fs::path partial = target.string() + ".partial";
  std::ofstream out(partial, std::ios::binary);
  out << "policy," << columns << '\n';
  for (const fs::path& part : parts) {
    std::ifstream in(part, std::ios::binary);
    if (in.peek() != std::ifstream::traits_type::eof()) out << in.rdbuf();
  }
  out.close();
  std::error_code code;
  if (out) fs::rename(partial, target, code);
  if (out && !code) return {};
  std::error_code ignored;
  fs::remove(partial, ignored);
  return Error{ErrorCode::kIo, target.string() + ": cannot be written"};
}

mara::Result<std::vector<AnyScheduler>> make_schedulers(const SimulateOptions& options,
                                                        const SimulationInput& input) {
  PolicySetup setup;
  setup.platform = &input.platform;
  setup.jobs = &input.jobs;
  setup.placement = options.placement;
  setup.backfill = options.backfill;
  setup.preemption = options.preempt;
  setup.seed = options.seed;
  std::vector<AnyScheduler> schedulers;
  std::set<std::string> names;
  for (const std::string& name : options.policy) {
    auto scheduler = make_scheduler(name, setup);
    if (!scheduler) return scheduler.error();
    if (!names.insert(scheduler->name()).second)
      return Error{ErrorCode::kInvalidArgument, "--policy: '" + scheduler->name() + "' would run twice"};
    schedulers.push_back(std::move(*scheduler));
  }
  return schedulers;
}

/// Runs all policies, several at a time; lines of the logs go to parts in `scratch`.
mara::Result<std::vector<PolicyRun>> run_all(const SimulateOptions& options, const SimulationInput& input,
                                             std::vector<AnyScheduler> schedulers, const fs::path& scratch) {
  const std::size_t count = schedulers.size();
  std::vector<std::optional<mara::Result<PolicyRun>>> results(count);
  const int wanted =
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  mara::ThreadPool pool(std::min(wanted, static_cast<int>(count)));
  pool.for_each(count, [&](std::size_t i) {
    std::ofstream jobs, intervals;
    if (!options.out.empty()) jobs.open(scratch / ("jobs" + std::to_string(i)), std::ios::binary);
    if (options.intervals) intervals.open(scratch / ("intervals" + std::to_string(i)), std::ios::binary);
    results[i] = run_policy(input, std::move(schedulers[i]), options.out.empty() ? nullptr : &jobs,
                            options.intervals ? &intervals : nullptr);
  });
  std::vector<PolicyRun> runs;
  for (auto& result : results) {
    if (!*result) return result->error();
    runs.push_back(std::move(**result));
  }
  return runs;
}

Status write_results(const SimulateOptions& options, const SimulationInput& input,
                     const std::vector<PolicyRun>& runs, const fs::path& scratch, bool figures,
                     std::vector<std::string>& files) {
  std::error_code code;
  fs::create_directories(options.out, code);
  if (!fs::is_directory(options.out))
    return Error{ErrorCode::kIo, "--out: " + options.out + ": cannot be made: " + code.message()};
  const fs::path folder = options.out;
  const auto parts = [&](const std::string& name) {
    std::vector<fs::path> paths;
    for (std::size_t i = 0; i < runs.size(); ++i) paths.push_back(scratch / (name + std::to_string(i)));
    return paths;
  };
  files = {"jobs.csv"};
  if (options.intervals) files.push_back("intervals.csv");
  if (figures) {
    std::vector<std::string> names;
    for (const PolicyRun& run : runs) names.push_back(run.name);
    for (const std::string& figure : simulation_figures(names)) files.push_back(figure);
  }
  files.push_back("summary.json");
  if (auto removed = remove_earlier(folder, files); !removed) return removed;
  if (auto done = join_parts(folder / "jobs.csv", mara::kPlatformJobColumns, parts("jobs")); !done)
    return done;
  if (options.intervals)
    if (auto done = join_parts(folder / "intervals.csv", mara::kPlatformIntervalColumns, parts("intervals"));
        !done)
      return done;
  if (figures)
    if (auto drawn = draw_simulation(input, runs, folder); !drawn) return drawn;
  const std::string text = simulation_json(options, input, runs, files)
                               .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return mara::write_file(folder / "summary.json", text, "\n");
}

std::string plural(std::uint64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

void print_text(const SimulateOptions& options, const SimulationInput& input,
                const std::vector<PolicyRun>& runs, const std::vector<std::string>& files) {
  std::printf("%s (%s): %s\n", options.trace.c_str(), std::string(mara::to_string(input.format)).c_str(),
              plural(input.jobs.jobs.size(), "job").c_str());
  std::printf("cluster: %s\n",
              options.cluster[0] == '@'
                  ? (options.cluster.substr(1) + ": " + plural(input.platform.nodes.size(), "node")).c_str()
                  : mara::describe(input.platform).c_str());
  std::printf("load: %s GPU-seconds asked for per second and GPU\n", format_three(input.load).c_str());
  if (input.lower_bound_s)
    std::printf("bound: no scheduler has a mean JCT below %s\n",
                format_duration(input.lower_bound_s).c_str());
  for (const std::string& note : input.notes) std::printf("note: %s\n", note.c_str());
  std::printf("\n%s", render_simulation_table(options, input, runs).c_str());
  bool blank = false;
  for (const std::string& file : files) {
    if (!std::exchange(blank, true)) std::printf("\n");
    std::printf("written: %s\n", (fs::path(options.out) / file).string().c_str());
  }
}

}  // namespace

Status run_simulate(const SimulateOptions& options) {
  auto input = read_simulation_input(options);
  if (!input) return input.error();
  auto schedulers = make_schedulers(options, *input);
  if (!schedulers) return schedulers.error();
  std::optional<TemporaryFolder> scratch;
  bool figures = false;
  if (!options.out.empty()) {
    std::vector<std::string> names;
    for (const AnyScheduler& scheduler : *schedulers) names.push_back(scheduler.name());
    if (auto ready = check_folder(options.out, simulation_figures(names)); !ready) return ready;
    const Status gnuplot = check_gnuplot();
    figures = gnuplot.has_value();
    if (!figures) {
      input->notes.push_back("no figures: " + gnuplot.error().message);
      std::fprintf(stderr, "mara-lab simulate: no figures: %s\n", gnuplot.error().message.c_str());
    }
    auto made = TemporaryFolder::create();
    if (!made) return made.error();
    scratch.emplace(std::move(*made));
  }
  auto runs = run_all(options, *input, std::move(*schedulers), scratch ? scratch->path() : fs::path());
  if (!runs) return runs.error();
  for (const PolicyRun& run : *runs) {
    if (!run.note.empty()) input->notes.push_back(run.name + ": " + run.note);
    if (run.run.stalled)
      input->notes.push_back(run.name + ": " + plural(run.metrics.unfinished, "job") +
                             " left that wait for room which never comes");
  }
  std::vector<std::string> files;
  if (!options.out.empty())
    if (auto written = write_results(options, *input, *runs, scratch->path(), figures, files); !written)
      return written;
  if (options.json) {
    std::printf("%s\n", simulation_json(options, *input, *runs, files)
                            .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                            .c_str());
  } else {
    print_text(options, *input, *runs, files);
  }
  return {};
}

}  // namespace lab
