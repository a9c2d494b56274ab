#pragma once
// Files as bytes, through the C library: <fstream> and <filesystem> would cost a program that deploys an
// actor more compile time than all the rest of it.

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mara/core/result.hpp"

namespace mara {

/// Where a file is: made from text, or from a std::filesystem::path, which this header does not include.
class FilePath {
 public:
  FilePath(const char* text) : text_(text) {}
  FilePath(std::string text) : text_(std::move(text)) {}
  template <class Path>
  requires requires(const Path& path) {
    path.string();
    path.native();
  }
  FilePath(const Path& path) : text_(path.string()) {}

  const std::string& string() const noexcept { return text_; }
  const char* c_str() const noexcept { return text_.c_str(); }

 private:
  std::string text_;
};

/// What a FilePath can be made of. Functions that take any Path are templates, so that a program which reads
/// no file of a kind does not pay for its reader at compile time.
template <class P>
concept PathLike = std::is_constructible_v<FilePath, const P&>;

namespace detail {
/// kIo: "path: cannot be read: why", where `why` is an errno. The two usual ones read "path: no such file"
/// and "path: is a directory".
inline Error read_error(const FilePath& path, int why) {
  const char* usual = why == ENOENT ? "no such file" : why == EISDIR ? "is a directory" : nullptr;
  if (usual != nullptr) return Error{ErrorCode::kIo, path.string() + ": " + usual};
  return Error{ErrorCode::kIo, path.string() + ": cannot be read: " + std::strerror(why)};
}
inline Error write_error(const FilePath& path, int why) {
  return Error{ErrorCode::kIo, path.string() + ": cannot be written: " + std::strerror(why)};
}
/// Writes all parts into a file. 0, or the errno of what went wrong.
inline int write_parts(const char* path, std::initializer_list<std::string_view> parts) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return errno;
  int why = 0;
  for (const std::string_view part : parts)
    if (why == 0 && !part.empty() && std::fwrite(part.data(), 1, part.size(), file) != part.size())
      why = errno;
  if (std::fclose(file) != 0 && why == 0) why = errno;
  return why;
}
}  // namespace detail

/// A file that is open for reading; closes with the object.
class InputFile {
 public:
  InputFile() = default;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    if (file_ != nullptr) std::fclose(file_);
  }

  /// Opens the one file of this object: a file or a pipe, which have an end. Errors: kIo with the path and
  /// the reason; a folder, a device or a socket is refused unopened.
  Status open(const FilePath& path) {
    struct stat there {};
    if (::stat(path.c_str(), &there) != 0) return detail::read_error(path, errno);
    if (S_ISDIR(there.st_mode)) return detail::read_error(path, EISDIR);
    if (!S_ISREG(there.st_mode) && !S_ISFIFO(there.st_mode))
      return Error{ErrorCode::kIo, path.string() + ": is neither a file nor a pipe"};
    path_ = path;
    file_ = std::fopen(path.c_str(), "rb");
    return file_ != nullptr ? Status() : detail::read_error(path, errno);
  }

  /// Appends the next `most` bytes to `bytes`, fewer only where the file ends. Memory grows with what is
  /// there, not with `most`. Errors: kIo (a failing disk, more than memory holds).
  Status read(std::uint64_t most, std::string& bytes) {
    constexpr std::size_t kFirst = 65536;
    std::size_t chunk = kFirst;
    while (most > 0) {
      const std::size_t begin = bytes.size();
      if (chunk > most) chunk = static_cast<std::size_t>(most);
      try {
        bytes.resize(begin + chunk);
      } catch (...) {
        return detail::read_error(path_, ENOMEM);
      }
      const std::size_t got = std::fread(bytes.data() + begin, 1, chunk, file_);
      bytes.resize(begin + got);
      most -= got;
      if (got == chunk) {
        chunk *= 2;
        continue;
      }
      if (std::ferror(file_)) return detail::read_error(path_, errno);
      break;
    }
    return {};
  }
  /// All that is left.
  Status read(std::string& bytes) { return read(~std::uint64_t{0}, bytes); }

 private:
  std::FILE* file_ = nullptr;
  FilePath path_ = "";
};

/// What follows the last '/' of a path: "trace.csv" of "data/trace.csv".
inline std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Appends the bytes of a whole file. Errors: kIo.
inline Status read_file(const FilePath& path, std::string& bytes) {
  InputFile file;
  const Status opened = file.open(path);
  return opened ? file.read(bytes) : opened;
}

/// Writes `first`, `second` and `third` into a file beside `path` and renames it, so that a reader sees the
/// old file or the new one; a device or a pipe is written directly. Errors: kIo; nothing is left behind.
inline Status write_file(const FilePath& path, std::string_view first, std::string_view second = {},
                         std::string_view third = {}) {
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    const int why =
        S_ISDIR(there.st_mode) ? EISDIR : detail::write_parts(path.c_str(), {first, second, third});
    return why == 0 ? Status() : detail::write_error(path, why);
  }
  const std::string partial = path.string() + ".partial";
  int why = detail::write_parts(partial.c_str(), {first, second, third});
  if (why == 0 && std::rename(partial.c_str(), path.c_str()) != 0) why = errno;
  if (why == 0) return {};
  std::remove(partial.c_str());
  return detail::write_error(path, why);
}

}  // namespace mara
