// The folder of a report: written beside its place, put there whole.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "figures.hpp"
#include "gnuplot.hpp"
#include "mara/simulation/job_log.hpp"
#include "page.hpp"
#include "report.hpp"

namespace lab {
namespace fs = std::filesystem;
namespace {

/// Where a report is written until it is whole.
constexpr const char* kFreshFolder = ".mara-report.new-XXXXXX";

mara::Error io_error(const fs::path& path, const std::string& what) {
  return mara::Error{mara::ErrorCode::kIo, path.string() + ": " + what};
}

/// Whether a report writes files of this name.
bool is_report_file(const std::string& name) {
  if (name == "index.html" || name == "summary.json" || name == "jobs.csv" || name == "mara.actor")
    return true;
  const bool image = name.ends_with(".svg") || name.ends_with(".png");
  return image && (name.starts_with("policies.") || name.starts_with("learning_curves.") ||
                   name.starts_with("timeline_"));
}

/// Whether `folder` holds an earlier report.
bool holds_report(const fs::path& folder) {
  std::ifstream file(folder / "summary.json", std::ios::binary);
  if (!file) return false;
  const auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_object() && json.contains("format") && json["format"] == "mara-report";
}

/// The absolute place of the report, links resolved.
mara::Result<fs::path> resolve(const fs::path& out) {
  std::error_code code;
  fs::path path = fs::weakly_canonical(fs::absolute(out, code), code);
  if (code) return io_error(out, "is no usable path: " + code.message());
  if (!path.has_filename()) path = path.parent_path();
  if (!path.has_filename()) return io_error(out, "cannot hold a report");
  return path;
}

mara::Status check_folder(const fs::path& out) {
  const auto place = resolve(out);
  if (!place) return place.error();
  std::error_code code;
  const auto status = fs::status(*place, code);
  fs::path parent = place->parent_path();
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) return io_error(out, "exists and is not a folder");
    const fs::path here = fs::weakly_canonical(fs::current_path(code), code);
    const auto [end, rest] = std::mismatch(place->begin(), place->end(), here.begin(), here.end());
    if (end == place->end()) return io_error(out, "is the current folder or holds it; name another folder");
    if (!holds_report(*place)) {
      for (const auto& entry : fs::directory_iterator(*place, code)) {
        if (is_report_file(entry.path().filename().string()))
          return io_error(entry.path(),
                          "would be replaced, and is not from an earlier report; name another folder");
      }
      if (code) return io_error(out, "cannot be read: " + code.message());
    }
  } else {
    while (!parent.empty() && !fs::exists(parent, code) && parent != parent.parent_path())
      parent = parent.parent_path();
  }
  if (!fs::is_directory(parent, code)) return io_error(parent, "is not a folder");
  if (::access(parent.c_str(), W_OK | X_OK) != 0)
    return io_error(parent, "cannot be written: " + std::string(std::strerror(errno)));
  // Permissions do not say everything (/proc, a full table of inodes): try.
  std::string probe = (parent / kFreshFolder).string();
  if (::mkdtemp(probe.data()) == nullptr)
    return io_error(parent, "no folder can be created there: " + std::string(std::strerror(errno)));
  ::rmdir(probe.c_str());
  return {};
}

/// Removes a folder when it goes out of scope, unless released.
struct FolderGuard {
  fs::path path;
  ~FolderGuard() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

/// Swaps two paths in one step where the file system can; false (and errno) where it cannot.
bool exchange(const fs::path& a, const fs::path& b) {
#if defined(SYS_renameat2)
  return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 2u /* RENAME_EXCHANGE */) == 0;
#else
  errno = ENOSYS;
  return false;
#endif
}

/// Puts `fresh` in the place of `place`. On success `fresh` names what was there, if anything.
mara::Status put_in_place(const fs::path& fresh, const fs::path& place) {
  std::error_code code;
  if (!fs::exists(place, code)) {
    fs::rename(fresh, place, code);
    return code ? mara::Status(io_error(place, "cannot be created: " + code.message())) : mara::Status();
  }
  if (exchange(fresh, place)) return {};
  const fs::path aside = fresh.string() + ".old";
  fs::rename(place, aside, code);
  if (code) return io_error(place, "cannot be replaced: " + code.message());
  fs::rename(fresh, place, code);
  if (code) {
    const std::string reason = code.message();
    fs::rename(aside, place, code);
    return io_error(place, "cannot be replaced: " + reason);
  }
  fs::rename(aside, fresh, code);
  return {};
}

mara::Status write_jobs(const ReportInput& input, const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  if (!file) return io_error(path, "cannot be written: " + std::string(std::strerror(errno)));
  std::vector<std::pair<std::string, int>> runs;
  bool header = true;
  for (const PolicyOutcome& outcome : input.outcomes) {
    auto run = std::find_if(runs.begin(), runs.end(), [&](const auto& r) { return r.first == outcome.name; });
    if (run == runs.end()) run = runs.insert(runs.end(), {outcome.name, 0});
    if (auto written = mara::write_jobs_csv(file, run_label(outcome.name, run->second++), outcome.result,
                                            input.cluster, header);
        !written)
      return io_error(path, written.error().message);
    header = false;
  }
  file.close();
  if (!file) return io_error(path, "cannot be written: " + std::string(std::strerror(errno)));
  return {};
}

}  // namespace

mara::Status check_report_target(const fs::path& out) {
  if (auto folder = check_folder(out); !folder)
    return mara::Error{folder.error().code, "--out: " + folder.error().message};
  return check_gnuplot();
}

mara::Status write_report(const ReportInput& input, const std::vector<PolicyRow>& rows, const fs::path& out) {
  if (auto ready = check_report_target(out); !ready) return ready;
  const fs::path place = *resolve(out);
  std::error_code code;
  fs::create_directories(place.parent_path(), code);
  if (code) return io_error(place.parent_path(), "cannot be created: " + code.message());
  std::string fresh = (place.parent_path() / kFreshFolder).string();
  if (::mkdtemp(fresh.data()) == nullptr)
    return io_error(fresh, "cannot be created: " + std::string(std::strerror(errno)));
  FolderGuard guard{fresh};
  // mkdtemp keeps others out; a report is as readable as any new folder.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  fs::permissions(fresh, static_cast<fs::perms>(0777 & ~mask), code);

  const auto figures = draw_figures(input, rows, fresh);
  if (!figures) return figures.error();
  if (auto written = write_jobs(input, guard.path / "jobs.csv"); !written) return written;
  const std::string summary =
      summary_json(input, rows).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (auto written = write_file(guard.path / "summary.json", summary); !written) return written;
  if (auto written = write_file(guard.path / "index.html", render_page(input, rows, *figures)); !written)
    return written;

  for (const ExtraFile& extra : input.files)
    if (auto written = extra.write((guard.path / extra.name).string()); !written) return written;

  if (auto placed = put_in_place(guard.path, place); !placed) return placed;
  // What was in the folder and is not a report's comes along (checkpoints, the user's own files).
  std::vector<fs::path> others;
  if (fs::exists(guard.path, code))
    for (const auto& entry : fs::directory_iterator(guard.path, code))
      if (!is_report_file(entry.path().filename().string())) others.push_back(entry.path());
  for (const fs::path& other : others) {
    fs::rename(other, place / other.filename(), code);
    if (!code) continue;
    guard.path.clear();  // nothing of the user's is deleted
    return io_error(other, "cannot be moved to " + place.string() + ": " + code.message());
  }
  return {};
}

}  // namespace lab
