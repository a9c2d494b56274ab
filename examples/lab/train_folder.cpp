// What mara-lab train finds in its folder and writes there, but for what the training itself writes.

#include "train_folder.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "files.hpp"
#include "mara/core/file.hpp"
#include "mara/interop/reflect_json.hpp"

// Set by the build from the version of the project.
#ifndef MARA_VERSION
#define MARA_VERSION "unknown"
#endif

namespace lab {
namespace {

namespace fs = std::filesystem;
using mara::Error;
using mara::ErrorCode;
using mara::Result;
using mara::Status;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kSeedFiles = {kRunFile, "metrics.jsonl", "metrics.csv",
                                                        "checkpoint.mara", "best.mara"};
constexpr std::string_view kPartial = ".partial";  // of a file that was being written

Error refuse(const char* option, const fs::path& path, const std::string& what) {
  return Error{ErrorCode::kIo, std::string("--") + option + ": " + path.string() + ": " + what};
}

/// What stands in a folder, in the order of names; nothing when it is none.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    all.push_back(at->path());
  std::sort(all.begin(), all.end());
  return all;
}

bool is_seed_folder(const fs::path& path) {
  constexpr std::string_view kPrefix = "seed-";
  const std::string name = path.filename().string();
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

/// The first thing in the folder of a seed that mara-lab did not write; the folder itself when it is none.
std::optional<fs::path> foreign(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(fs::symlink_status(folder, code))) return folder;
  for (const fs::path& path : entries(folder)) {
    std::string name = path.filename().string();
    if (name.ends_with(kPartial)) name.resize(name.size() - kPartial.size());
    if (std::find(kSeedFiles.begin(), kSeedFiles.end(), name) == kSeedFiles.end() ||
        !fs::is_regular_file(fs::symlink_status(path, code)))
      return path;
  }
  return std::nullopt;
}

fs::path folder_of(const TrainOptions& options, std::uint64_t seed) {
  return fs::path(options.out) / ("seed-" + std::to_string(seed));
}

/// What the options of a training say, but for what changes nothing in it.
ordered_json settings(const TrainOptions& options) {
  nlohmann::json all = mara::to_json(options);
  for (const char* other : {"threads", "resume", "overwrite", "json", "out"}) all.erase(other);
  return ordered_json::parse(all.dump());
}

/// A run.json as it is written. Errors: kParse when it is not of mara-lab.
Result<ordered_json> read_record(const fs::path& path) {
  std::string bytes;
  if (const Status read = mara::read_file(path, bytes); !read) return read.error();
  auto record = ordered_json::parse(bytes, nullptr, false);
  if (record.is_discarded() || !record.is_object() || !record.contains("mara"))
    return Error{ErrorCode::kParse, path.string() + ": not the file of a training"};
  return record;
}

Result<RecordedRun> parse_record(const fs::path& path, const ordered_json& record) {
  nlohmann::json options = nlohmann::json::parse(record.dump());
  RecordedRun run;
  const nlohmann::json steps = options.value("schedule_steps", options.value("steps", nlohmann::json()));
  if (!steps.is_number_integer() || steps < 1)
    return Error{ErrorCode::kParse, path.string() + ": schedule_steps is no number of steps"};
  run.schedule_steps = steps.get<std::int64_t>();
  for (const char* other : {"mara", "version", "schedule_steps", "configuration"}) options.erase(other);
  if (const Status read = mara::from_json(options, run.options); !read)
    return Error{ErrorCode::kParse, path.string() + ": " + read.error().message};
  return run;
}

/// A resumed training must be the one that was begun, but for its length and more seeds.
Status check_same_run(const TrainOptions& begun_options, const TrainOptions& options) {
  const ordered_json begun = settings(begun_options), now = settings(options);
  const auto last = [](const TrainOptions& o) { return o.seed + static_cast<std::uint64_t>(o.seeds); };
  for (const auto& [key, value] : now.items()) {
    if (key == "steps" || key == "stop_at" || key == "patience") continue;
    if (key == "seed" && options.seed <= begun_options.seed) continue;
    if (key == "seeds" && last(options) >= last(begun_options)) continue;
    if (begun.contains(key) && begun[key] == value) continue;
    return Error{ErrorCode::kInvalidArgument, "--resume: '" + key + "' is " + value.dump() +
                                                  ", the run began with " +
                                                  (begun.contains(key) ? begun[key].dump() : "none")};
  }
  return {};
}

/// --resume: what each seed goes on from.
Status plan_resumed(const TrainOptions& options, TrainPlan& plan) {
  const fs::path out = options.out, path = out / kRunFile;
  std::error_code code;
  if (!fs::exists(path, code)) return refuse("out", out, "there is no training to resume");
  const auto record = read_record(path);
  if (!record) return record.error();
  const auto begun = parse_record(path, *record);
  if (!begun) return begun.error();
  if (const Status same = check_same_run(begun->options, options); !same) return same;
  plan.schedule_steps = begun->schedule_steps;
  for (PlannedSeed& planned : plan.seeds) {
    if (fs::exists(planned.folder / "checkpoint.mara", code)) {
      planned.resume = true;
      continue;
    }
    const bool exists = fs::exists(fs::symlink_status(planned.folder, code));
    if (const auto other = exists ? foreign(planned.folder) : std::nullopt)
      return refuse("out", planned.folder, "exists and holds something else; name another folder");
    for (const fs::path& file : entries(planned.folder)) plan.obsolete.push_back(file);
    plan.notes.push_back("seed " + std::to_string(planned.seed) + " has no checkpoint and begins" +
                         (exists ? " anew" : ""));
  }
  return {};
}

/// A training from its first step.
Status plan_new(const TrainOptions& options, TrainPlan& plan) {
  const fs::path out = options.out;
  std::error_code code;
  for (const PlannedSeed& planned : plan.seeds)
    if (const fs::path& folder = planned.folder;
        fs::exists(fs::symlink_status(folder, code)) && foreign(folder) && !options.overwrite)
      return refuse("out", folder, "exists and holds something else; name another folder");
  bool training = false;
  for (const fs::path& path : entries(out)) {
    if (path.filename() == kRunFile) {
      if (!read_record(path))
        return refuse("out", path, "exists and holds something else; name another folder");
      plan.obsolete.push_back(path);
    } else if (is_seed_folder(path)) {
      if (options.overwrite) {
        if (const auto other = foreign(path))
          return refuse("overwrite", *other, "mara-lab did not write this, so that nothing is removed");
      }
      const std::vector<fs::path> files = entries(path);
      if (files.empty() || foreign(path)) continue;  // another's folder, of no seed of this training
      plan.obsolete.insert(plan.obsolete.end(), files.begin(), files.end());
      plan.obsolete.push_back(path);
    } else {
      continue;
    }
    training = true;
  }
  if (training && !options.overwrite)
    return refuse(
        "out", out,
        "holds a training; go on with it (--resume), replace it (--overwrite) or name another --out");
  return {};
}

/// Writes a file unless it is as it should be.
Status update_file(const fs::path& path, const std::string& text) {
  std::string bytes;
  std::error_code code;
  if (fs::exists(path, code) && mara::read_file(path, bytes) && bytes == text) return {};
  return mara::write_file(path.string(), text);
}

}  // namespace

Result<TrainPlan> plan_training(const TrainOptions& options) {
  TrainPlan plan;
  plan.schedule_steps = options.steps;
  for (int i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    plan.seeds.push_back({seed, folder_of(options, seed)});
  }
  std::error_code code;
  if (fs::exists(options.out, code) && !fs::is_directory(options.out, code))
    return refuse("out", options.out, "exists and is not a folder");
  const Status planned = options.resume ? plan_resumed(options, plan) : plan_new(options, plan);
  if (!planned) return planned.error();
  return plan;
}

Status prepare_training(const TrainOptions& options, const TrainPlan& plan, const Learner& learner) {
  std::error_code code;
  for (const fs::path& path : plan.obsolete) {
    fs::remove(path, code);
    if (code) return refuse("out", path, "cannot be removed: " + code.message());
  }
  for (const PlannedSeed& planned : plan.seeds) {
    fs::create_directories(planned.folder, code);
    if (code) return refuse("out", planned.folder, "cannot be created: " + code.message());
  }
  ordered_json run = {{"mara", "training"}, {"version", MARA_VERSION}};
  run.update(settings(options));
  run["schedule_steps"] = plan.schedule_steps;
  run["configuration"] = learner.configuration;
  if (const Status written = update_file(fs::path(options.out) / kRunFile, run.dump(1) + "\n"); !written)
    return written;
  run["seeds"] = 1;
  for (const PlannedSeed& planned : plan.seeds) {
    run["seed"] = planned.seed;
    if (const Status written = update_file(planned.folder / kRunFile, run.dump(1) + "\n"); !written)
      return written;
  }
  return {};
}

Result<RecordedRun> read_run(const fs::path& folder) {
  const fs::path path = folder / kRunFile;
  const auto record = read_record(path);
  if (!record) return record.error();
  auto run = parse_record(path, *record);
  std::error_code code;
  if (run && !fs::exists(folder / "best.mara", code)) {
    const fs::path seed = folder / ("seed-" + std::to_string(run->options.seed));
    if (fs::exists(seed, code))
      return Error{
          ErrorCode::kIo,
          folder.string() + ": holds a training; name the folder of a seed, such as " + seed.string()};
  }
  return run;
}

}  // namespace lab
