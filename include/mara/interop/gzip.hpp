#pragma once
// Text files that may be compressed with gzip (RFC 1952), through zlib. A program that includes this header
// links with zlib itself (CMake: find_package(ZLIB) and ZLIB::ZLIB); mara::mara does not bring it.

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/file.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_trace.hpp"
#include "mara/workload/trace_format.hpp"

namespace mara {

/// The most bytes that a compressed file may hold: 4 GiB.
inline constexpr std::uint64_t kLargestUnpackedFile = std::uint64_t{4} << 30;

/// Whether bytes begin as a gzip stream does.
inline bool is_gzip(std::string_view bytes) noexcept {
  return bytes.starts_with("\x1f\x8b");
}

/// Unpacks a gzip stream of one or several members, with no more than zeros behind the last; `name` stands
/// for the file in messages. Memory grows with what is unpacked. Errors: kParse for what is no gzip stream,
/// is cut short, or damaged (checksums are compared); kCapacityExceeded for more than `limit` bytes; kIo when
/// memory does not suffice.
inline Result<std::string> unpack_gzip(std::string_view packed, const std::string& name,
                                       std::uint64_t limit = kLargestUnpackedFile) {
  const auto damaged = [&](const std::string& what) {
    return Error{ErrorCode::kParse, name + ": gzip: " + what};
  };
  if (!is_gzip(packed)) return damaged("not a gzip stream");
  z_stream stream{};
  constexpr int kGzipOnly = 15 + 16;  // the largest window; no zlib or raw streams
  if (inflateInit2(&stream, kGzipOnly) != Z_OK)
    return Error{ErrorCode::kIo, name + ": gzip: not enough memory"};
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } end{stream};

  constexpr std::size_t kSmallest = 65536, kLargestStep = std::size_t{1} << 30;
  std::string text;
  std::size_t read = 0;
  for (bool done = false; !done;) {
    // zlib counts in 32 bits.
    const std::size_t in = std::min(packed.size() - read, kLargestStep);
    const std::size_t written = text.size();
    const std::size_t room = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::clamp(written, kSmallest, kLargestStep), limit - written + 1));
    try {
      text.resize(written + room);
    } catch (...) {
      return Error{ErrorCode::kIo, name + ": gzip: not enough memory"};
    }
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    text.resize(written + room - stream.avail_out);
    if (text.size() > limit)
      return Error{ErrorCode::kCapacityExceeded,
                   name + ": gzip: holds more than " + std::to_string(limit) + " bytes"};
    if (code == Z_STREAM_END) {
      const std::string_view left = packed.substr(read);
      if (is_gzip(left)) {
        inflateReset(&stream);
      } else if (left.find_first_not_of('\0') == std::string_view::npos) {
        done = true;
      } else {
        return damaged("something else follows the stream, at byte " + std::to_string(read));
      }
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return damaged("damaged before byte " + std::to_string(read) +
                     (stream.msg != nullptr ? ": " + std::string(stream.msg) : std::string()));
    } else if (read == packed.size() && stream.avail_out > 0) {
      return damaged("cut short at byte " + std::to_string(read));
    }
  }
  return text;
}

/// Reads a whole text file, unpacked first when it begins as a gzip stream does. Errors: those of
/// read_text_file and of unpack_gzip.
inline Result<std::string> read_text_file_or_gzip(const std::string& path) {
  std::string text;
  if (const Status read = read_file(path, text); !read) return read.error();
  if (is_gzip(text)) {
    auto unpacked = unpack_gzip(text, path);
    if (!unpacked) return unpacked.error();
    text = std::move(*unpacked);
  }
  if (const Status sound = check_text(text, path); !sound) return sound.error();
  return text;
}

/// The format of the trace at `path`, packed or not, from its first line. Errors: those of
/// read_text_file_or_gzip and of guess_trace_format, which then name the file.
inline Result<TraceFormat> guess_trace_file_format(const std::string& path) {
  const auto text = read_text_file_or_gzip(path);
  if (!text) return text.error();
  const auto format = guess_trace_format(*text);
  if (!format) return Error{format.error().code, path + ": " + format.error().message};
  return *format;
}

/// Reads the trace at `path`, packed or not; without a format the one that its first line shows. Errors:
/// those of read_text_file_or_gzip, guess_trace_format and parse_trace.
inline Result<Trace> read_trace_file(const std::string& path, std::optional<TraceFormat> format = {},
                                     const TraceReadOptions& options = {}) {
  auto text = read_text_file_or_gzip(path);
  if (!text) return text.error();
  if (!format) {
    const auto guessed = guess_trace_format(*text);
    if (!guessed) return Error{guessed.error().code, path + ": " + guessed.error().message};
    format = *guessed;
  }
  return parse_trace(std::move(*text), path, *format, options);
}

}  // namespace mara
