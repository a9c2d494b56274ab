#pragma once
// Files that a command writes.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "mara/core/result.hpp"

namespace lab {

/// Writes a whole file. Error kIo with the path.
inline mara::Status write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    return mara::Error{mara::ErrorCode::kIo, path.string() + ": cannot be written: " + std::strerror(errno)};
  return {};
}

/// Whether `path` may be written: its folder is there and can be written to, and what is at `path` already,
/// if anything, is an empty file, one for which `ours(path)` holds, or a device. To be asked before the work.
/// The error (kIo) names `option` and the path.
inline mara::Status check_target_file(const std::string& path, const std::string& option,
                                      const std::function<bool(const std::string&)>& ours) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& what) {
    return mara::Error{mara::ErrorCode::kIo, option + ": " + path + ": " + what};
  };
  std::error_code code;
  const auto status = fs::status(path, code);
  if (fs::is_directory(status)) return refuse("is a directory");
  if (fs::exists(status)) {
    if (fs::is_regular_file(status) && fs::file_size(path, code) > 0 && !ours(path))
      return refuse("exists and holds something else; name another file");
    if (::access(path.c_str(), W_OK) != 0)
      return refuse("cannot be written: " + std::string(std::strerror(errno)));
    return {};
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, code)) return refuse("there is no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return refuse("cannot be written: " + std::string(std::strerror(errno)));
  return {};
}

}  // namespace lab
