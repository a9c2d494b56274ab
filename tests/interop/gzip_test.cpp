#include "mara/interop/gzip.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "catch.hpp"
#include "mara/core/random.hpp"

namespace {

std::string pack(const std::string& text, int window = 15 + 16) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  std::string packed(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return code == Z_STREAM_END ? packed : "";
}

std::string message(const std::string& packed, std::uint64_t limit = mara::kLargestUnpackedFile) {
  const auto text = mara::unpack_gzip(packed, "f.gz", limit);
  return text ? "accepted" : text.error().message;
}

/// A file of given bytes, removed at the end of the scope.
struct File {
  explicit File(const std::string& bytes)
      : path(
            (std::filesystem::temp_directory_path() / ("mara_gzip_" + std::to_string(::getpid()))).string()) {
    REQUIRE(mara::write_file(path, bytes));
  }
  ~File() { std::filesystem::remove(path); }
  std::string path;
};

const std::string kCsv = "id,submit,duration,gpus\n1,0,1,1\n";

}  // namespace

TEST_CASE("gzip streams of any size are unpacked") {
  mara::Random random(1, 2);
  for (const std::size_t size : {0u, 1u, 1000u, 65536u, 65537u, 1'000'000u}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random.below(4));
    const auto back = mara::unpack_gzip(pack(text), "f.gz");
    REQUIRE(back);
    CHECK(*back == text);
  }
  const std::string zeros(20'000'000, '0');  // a thousandfold
  CHECK(*mara::unpack_gzip(pack(zeros), "f.gz") == zeros);
}

TEST_CASE("several members, and zeros behind the last") {
  CHECK(*mara::unpack_gzip(pack("one\n") + pack("") + pack("two\n"), "f.gz") == "one\ntwo\n");
  CHECK(*mara::unpack_gzip(pack("one\n") + std::string(512, '\0'), "f.gz") == "one\n");
}

TEST_CASE("what is no sound stream is refused") {
  const std::string packed = pack(kCsv);
  CHECK(message(packed) == "accepted");
  CHECK(message("") == "f.gz: gzip: not a gzip stream");
  CHECK(message(kCsv) == "f.gz: gzip: not a gzip stream");
  CHECK(message(pack(kCsv, 15)) == "f.gz: gzip: not a gzip stream");  // zlib's own header
  for (std::size_t length = 2; length < packed.size(); ++length) {
    const std::string cut = message(packed.substr(0, length));
    CHECK(cut == "f.gz: gzip: cut short at byte " + std::to_string(length));
  }
  CHECK(message(packed + pack(kCsv).substr(0, 12)) ==
        "f.gz: gzip: cut short at byte " + std::to_string(packed.size() + 12));
  CHECK(message(packed + "tail") ==
        "f.gz: gzip: something else follows the stream, at byte " + std::to_string(packed.size()));
  // Every bit of the stream counts, but for those of the header that say nothing about the text: time, flags
  // of the packer, system.
  std::size_t unnoticed = 0;
  for (std::size_t i = 2; i < packed.size(); ++i) {
    std::string flipped = packed;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    const auto text = mara::unpack_gzip(flipped, "f.gz");
    if (!text) continue;
    CHECK((i < 10 || i == packed.size() - 9));
    CHECK(*text == kCsv);
    ++unnoticed;
  }
  CHECK(unnoticed <= 8);
}

TEST_CASE("a stream that holds more than the limit is refused") {
  const std::string packed = pack(std::string(100'000, 'x'));
  CHECK(message(packed, 100'000) == "accepted");
  CHECK(message(packed, 99'999) == "f.gz: gzip: holds more than 99999 bytes");
  CHECK(message(packed, 0) == "f.gz: gzip: holds more than 0 bytes");
  CHECK(mara::unpack_gzip(packed, "f.gz", 10).error().code == mara::ErrorCode::kCapacityExceeded);
}

TEST_CASE("text files, packed or not") {
  for (const std::string& bytes : {kCsv, pack(kCsv)}) {
    const File file(bytes);
    CHECK(*mara::read_text_file_or_gzip(file.path) == kCsv);
    CHECK(*mara::guess_trace_file_format(file.path) == mara::TraceFormat::kCsv);
    CHECK(mara::read_trace_file(file.path)->jobs.size() == 1);
    CHECK(mara::read_trace_file(file.path, mara::TraceFormat::kCsv)->jobs.size() == 1);
    CHECK(mara::read_trace_file(file.path, mara::TraceFormat::kSwf).error().message ==
          file.path + ":1: 1 fields, expected 18");
  }
  const auto refused = [](const std::string& bytes) {
    const File file(bytes);
    const auto trace = mara::read_trace_file(file.path);
    return trace ? "accepted" : trace.error().message.substr(file.path.size());
  };
  CHECK(refused("") == ": the file is empty");
  CHECK(refused(pack("")) == ": the file is empty");
  CHECK(refused(pack(std::string("a\0b", 3))) == ": not a text file (zero byte at offset 1)");
  CHECK(refused(pack(kCsv).substr(0, 20)) == ": gzip: cut short at byte 20");
  CHECK(refused("hello\n").starts_with(": format: 'hello' begins no known format"));
  CHECK(mara::read_trace_file("absent.gz").error().message == "absent.gz: no such file");
  CHECK(mara::read_text_file_or_gzip("/").error().message == "/: is a directory");
}
