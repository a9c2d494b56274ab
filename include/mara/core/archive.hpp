#pragma once
// A small binary archive for checkpoints: named sections, a version, and a checksum over everything.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mara/core/checksum.hpp"
#include "mara/core/file.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Collects named arrays of trivially copyable numbers and writes them atomically. Little-endian layout:
/// "MARACKPT", version, then per section: name length, name, element size, count, bytes; then the checksum.
class ArchiveWriter {
 public:
  static constexpr std::uint32_t kVersion = 1;

  /// `kind` says what the archive holds; a reader asks for it by name.
  explicit ArchiveWriter(std::string_view kind) {
    append("MARACKPT", 8);
    put_u32(kVersion);
    put_text(kind);
  }

  /// Appends a section. Sections are read back in the same order.
  template <class T>
  void put(std::string_view name, std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_text(name);
    put_u32(static_cast<std::uint32_t>(sizeof(T)));
    const std::uint64_t count = values.size();
    append(&count, sizeof count);
    append(values.data(), values.size_bytes());
  }
  template <class T>
  void put(std::string_view name, const std::vector<T>& values) {
    put(name, std::span<const T>(values));
  }
  /// Appends a section of one value.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_value(std::string_view name, const T& value) { put(name, std::span<const T>(&value, 1)); }

  /// Writes beside `path` and renames, so that a crash leaves the old file or the new one. Errors: kIo.
  Status write(const FilePath& path) const {
    Fnv1a hash;
    hash.add(bytes_);
    const std::uint64_t sum = hash.value();
    return write_file(path, bytes_, {reinterpret_cast<const char*>(&sum), sizeof sum});
  }

 private:
  void append(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  void put_u32(std::uint32_t value) { append(&value, sizeof value); }
  void put_text(std::string_view text) {
    put_u32(static_cast<std::uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  std::string bytes_;
};

/// Reads an archive back. Everything is checked before anything is handed out: magic, version, kind,
/// checksum, section names and extents; the error says which.
class ArchiveReader {
 public:
  /// Errors: kIo for a file that cannot be read, kParse for one that is no whole archive of this kind and
  /// version.
  static Result<ArchiveReader> open(const FilePath& path, std::string_view kind) {
    ArchiveReader reader;
    reader.name_ = path.string();
    if (const Status read = read_file(path, reader.bytes_); !read) return read.error();
    if (reader.bytes_.size() < 8 + 4 + 4 + 8 || std::memcmp(reader.bytes_.data(), "MARACKPT", 8) != 0) {
      return reader.fail("is not a mara archive");
    }
    std::uint64_t stored = 0;
    const std::size_t body = reader.bytes_.size() - sizeof stored;
    std::memcpy(&stored, reader.bytes_.data() + body, sizeof stored);
    Fnv1a hash;
    hash.add({reader.bytes_.data(), body});
    if (stored != hash.value()) {
      return reader.fail("checksum does not match: the file is damaged or truncated");
    }
    reader.bytes_.resize(body);
    reader.at_ = 8;
    std::uint32_t version = 0;
    if (!reader.take(&version, sizeof version) || version != ArchiveWriter::kVersion) {
      return reader.fail("version " + std::to_string(version) + ", expected " +
                         std::to_string(ArchiveWriter::kVersion));
    }
    std::string found;
    if (!reader.take_text(found) || found != kind) {
      return reader.fail("holds '" + found + "', expected '" + std::string(kind) + "'");
    }
    return reader;
  }

  /// Reads the next section, which must be called `name`, into `values` (resized).
  template <class T>
  Status get(std::string_view name, std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::string found;
    std::uint32_t size = 0;
    std::uint64_t count = 0;
    if (!take_text(found) || found != name)
      return fail("section '" + found + "', expected '" + std::string(name) + "'");
    if (!take(&size, sizeof size) || size != sizeof(T))
      return fail("section '" + found + "': element size " + std::to_string(size));
    if (!take(&count, sizeof count) || count > (bytes_.size() - at_) / sizeof(T)) {
      return fail("section '" + found + "': count " + std::to_string(count) + " exceeds the file");
    }
    values.resize(static_cast<std::size_t>(count));
    take(values.data(), values.size() * sizeof(T));
    return {};
  }
  /// The same into an array whose extent must agree.
  template <class T>
  Status get_exact(std::string_view name, std::span<T> values) {
    std::vector<T> read;
    if (const Status status = get(name, read); !status) return status;
    if (read.size() != values.size()) {
      return fail("section '" + std::string(name) + "': " + std::to_string(read.size()) +
                  " values, expected " + std::to_string(values.size()));
    }
    if (!read.empty()) std::memcpy(values.data(), read.data(), values.size_bytes());
    return {};
  }
  /// The same into one value.
  template <class T>
  requires std::is_trivially_copyable_v<T> Status get_value(std::string_view name, T& value) {
    return get_exact(name, std::span<T>(&value, 1));
  }

 private:
  Error fail(const std::string& what) const { return Error{ErrorCode::kParse, name_ + ": " + what}; }
  bool take(void* out, std::size_t size) {
    if (size > bytes_.size() - at_) return false;
    if (size > 0) std::memcpy(out, bytes_.data() + at_, size);
    at_ += size;
    return true;
  }
  bool take_text(std::string& out) {
    std::uint32_t size = 0;
    if (!take(&size, sizeof size) || size > bytes_.size() - at_) return false;
    out.assign(bytes_.data() + at_, size);
    at_ += size;
    return true;
  }
  std::string name_;
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace mara
