#pragma once
// Runs gnuplot as a child process.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files.hpp"
#include "mara/core/result.hpp"

namespace lab {

/// A folder that vanishes with all it holds when its owner does.
class TemporaryFolder {
 public:
  /// A new folder in the system's place for temporary files. Errors: kIo.
  static mara::Result<TemporaryFolder> create();
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Whether gnuplot can be run. Error kState: it is not installed; the message names the package.
mara::Status check_gnuplot();

/// Runs a script (without the user's start-up files) and waits for it. Errors: kState with the first line of
/// what gnuplot said; kIo when the script cannot be written to `folder`.
mara::Status run_gnuplot(std::string_view script, const std::filesystem::path& folder);

/// A string literal of gnuplot.
std::string gnuplot_quote(std::string_view text);
/// The same for text of several lines.
std::string gnuplot_quote_lines(const std::vector<std::string>& lines);
/// Text for gnuplot's enhanced mode in which nothing is markup.
std::string gnuplot_plain(std::string_view text);

}  // namespace lab
