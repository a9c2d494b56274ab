#include "gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern char** environ;

namespace lab {
namespace {

constexpr const char* kMissing =
    "gnuplot was not found; the figures of the report need it: install the package gnuplot-nox (or another "
    "gnuplot) "
    "and make sure it is in PATH";

/// Runs gnuplot with `arguments`, its output going to `log`. The exit code, or an error.
mara::Result<int> spawn_gnuplot(std::vector<std::string> arguments, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "gnuplot", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT) return mara::Error{mara::ErrorCode::kState, kMissing};
  if (failed != 0)
    return mara::Error{mara::ErrorCode::kState,
                       std::string("gnuplot could not be started: ") + std::strerror(failed)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      return mara::Error{mara::ErrorCode::kState,
                         std::string("waiting for gnuplot: ") + std::strerror(errno)};
  }
  if (WIFSIGNALED(status))
    return mara::Error{mara::ErrorCode::kState,
                       "gnuplot was killed by signal " + std::to_string(WTERMSIG(status))};
  return WEXITSTATUS(status);
}

/// What gnuplot complained about, in one line: the line with "line N:", else the last that is not empty.
std::string complaint(const std::string& log) {
  std::ifstream file(log);
  std::string line, chosen;
  while (std::getline(file, line)) {
    if (line.find_first_not_of(" \t^") == std::string::npos) continue;
    chosen = line;
    if (line.find(" line ") != std::string::npos) break;
  }
  return chosen.empty() ? "no message" : chosen;
}

}  // namespace

mara::Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code code;
  std::filesystem::path base = std::filesystem::temp_directory_path(code);
  if (code) base = "/tmp";
  std::string name = (base / "mara-lab-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return mara::Error{mara::ErrorCode::kIo, name + ": cannot be created: " + std::strerror(errno)};
  return TemporaryFolder(std::filesystem::path(name));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

mara::Status check_gnuplot() {
  const auto code = spawn_gnuplot({"gnuplot", "--version"}, "/dev/null");
  if (!code) return code.error();
  if (*code == 127) return mara::Error{mara::ErrorCode::kState, kMissing};
  if (*code != 0)
    return mara::Error{mara::ErrorCode::kState,
                       "gnuplot --version failed with exit code " + std::to_string(*code)};
  return {};
}

mara::Status run_gnuplot(std::string_view script, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "figure.gp";
  const std::string log = (folder / "figure.log").string();
  if (auto written = write_file(file, script); !written) return written;
  const auto code = spawn_gnuplot({"gnuplot", "-d", file.string()}, log);
  if (!code) return code.error();
  if (*code == 127) return mara::Error{mara::ErrorCode::kState, kMissing};
  if (*code != 0) return mara::Error{mara::ErrorCode::kState, "gnuplot failed: " + complaint(log)};
  return {};
}

std::string gnuplot_quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    quoted += c;
    if (c == '\'') quoted += '\'';
  }
  return quoted + "'";
}

std::string gnuplot_quote_lines(const std::vector<std::string>& lines) {
  std::string quoted = "\"";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) quoted += "\\n";
    for (const char c : lines[i]) {
      if (c == '\n' || c == '\r') continue;
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string gnuplot_plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::string_view("_^{}@&~\\").find(c) != std::string_view::npos) plain += '\\';
    plain += c;
  }
  return plain;
}

}  // namespace lab
