// The checkpoint archive: what goes in comes out, and no damaged file is taken for a whole one.
#include "mara/core/archive.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

using Bytes = std::vector<unsigned char>;

/// A file in the temporary folder that disappears with the object.
struct TemporaryFile {
  std::filesystem::path path;
  explicit TemporaryFile(const char* name) : path(std::filesystem::temp_directory_path() / name) { remove(); }
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Bytes read() const {
    std::ifstream in(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  void write(const Bytes& bytes) const {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
};

ArchiveWriter small_archive() {
  ArchiveWriter out("sample");
  out.put("numbers", std::vector<float>{1.5f, -2.0f, std::numeric_limits<float>::infinity()});
  out.put_value("count", std::int64_t{-7});
  out.put("nothing", std::vector<double>{});
  out.put("bytes", std::vector<std::uint8_t>{0, 255, 7});
  return out;
}

/// Appends the checksum that makes a hand-made body a formally whole file.
Bytes sealed(Bytes body) {
  const std::uint64_t hash = fnv1a(body);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&hash);
  body.insert(body.end(), bytes, bytes + sizeof hash);
  return body;
}

bool mentions(const Error& error, const std::string& text) {
  return error.message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("FNV-1a: published values", "[archive]") {
  const auto hash = [](const std::string& text) {
    return fnv1a({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  };
  CHECK(hash("") == 0xcbf29ce484222325ull);
  CHECK(hash("a") == 0xaf63dc4c8601ec8cull);
  CHECK(hash("foobar") == 0x85944171f73967e8ull);
}

TEST_CASE("an archive reads back what was written", "[archive]") {
  const TemporaryFile file("mara_archive_round_trip");
  REQUIRE(small_archive().write(file.path));
  auto in = ArchiveReader::open(file.path, "sample");
  REQUIRE(in);
  std::vector<float> numbers;
  REQUIRE(in->get("numbers", numbers));
  CHECK(numbers == std::vector<float>{1.5f, -2.0f, std::numeric_limits<float>::infinity()});
  std::int64_t count = 0;
  REQUIRE(in->get_value("count", count));
  CHECK(count == -7);
  std::vector<double> nothing{1.0};
  REQUIRE(in->get("nothing", nothing));
  CHECK(nothing.empty());
  std::array<std::uint8_t, 3> bytes{};
  REQUIRE(in->get_exact("bytes", std::span<std::uint8_t>(bytes)));
  CHECK(bytes == std::array<std::uint8_t, 3>{0, 255, 7});
  const Status more = in->get_value("count", count);  // there is no further section
  REQUIRE_FALSE(more);
  CHECK(mentions(more.error(), "count"));
}

TEST_CASE("writing twice gives the same file, and leaves nothing beside it", "[archive]") {
  const TemporaryFile file("mara_archive_twice");
  ArchiveWriter out = small_archive();
  REQUIRE(out.write(file.path));
  const Bytes first = file.read();
  REQUIRE(out.write(file.path));
  CHECK(file.read() == first);
  CHECK_FALSE(std::filesystem::exists(file.path.string() + ".partial"));
  std::uint64_t magic = 0;
  std::memcpy(&magic, first.data(), sizeof magic);
  CHECK(magic == 0x54504b434152414dull);  // "MARACKPT"
}

TEST_CASE("a file cut at any byte is refused", "[archive]") {
  const TemporaryFile file("mara_archive_cut");
  REQUIRE(small_archive().write(file.path));
  const Bytes whole = file.read();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    file.write(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const auto in = ArchiveReader::open(file.path, "sample");
    INFO("cut to " << size << " of " << whole.size());
    REQUIRE_FALSE(in);
    CHECK(in.error().code == ErrorCode::kParse);
    CHECK(mentions(in.error(), file.path.string()));
  }
}

TEST_CASE("a flipped bit anywhere is noticed", "[archive]") {
  const TemporaryFile file("mara_archive_flip");
  REQUIRE(small_archive().write(file.path));
  const Bytes whole = file.read();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] = static_cast<unsigned char>(damaged[at] ^ (1u << (at % 8)));
    file.write(damaged);
    INFO("byte " << at);
    REQUIRE_FALSE(ArchiveReader::open(file.path, "sample"));
  }
  Bytes longer = whole;
  longer.push_back(0);
  file.write(longer);
  CHECK_FALSE(ArchiveReader::open(file.path, "sample"));
}

TEST_CASE("another kind, another version and no archive at all are told apart", "[archive]") {
  const TemporaryFile file("mara_archive_kind");
  REQUIRE(small_archive().write(file.path));
  const auto kind = ArchiveReader::open(file.path, "other");
  REQUIRE_FALSE(kind);
  CHECK(mentions(kind.error(), "holds 'sample', expected 'other'"));

  Bytes body = file.read();
  body.resize(body.size() - 8);
  body[8] = 9;  // the version follows the eight bytes of the magic
  file.write(sealed(body));
  const auto version = ArchiveReader::open(file.path, "sample");
  REQUIRE_FALSE(version);
  CHECK(mentions(version.error(), "version 9, expected 1"));

  file.write(Bytes(100, 'x'));
  const auto text = ArchiveReader::open(file.path, "sample");
  REQUIRE_FALSE(text);
  CHECK(mentions(text.error(), "not a mara archive"));
}

TEST_CASE("lengths that exceed the file are refused even under a right checksum", "[archive]") {
  const TemporaryFile file("mara_archive_lengths");
  REQUIRE(small_archive().write(file.path));
  Bytes body = file.read();
  body.resize(body.size() - 8);
  const std::size_t kind_length = 12, name_length = kind_length + 4 + 6;           // "sample"
  const std::size_t element_size = name_length + 4 + 7, count = element_size + 4;  // "numbers"
  std::vector<float> numbers{4.0f};
  SECTION("the kind's length") {
    for (int i = 0; i < 4; ++i) body[kind_length + static_cast<std::size_t>(i)] = 255;
    file.write(sealed(body));
    CHECK_FALSE(ArchiveReader::open(file.path, "sample"));
  }
  SECTION("a section name's length") {
    for (int i = 0; i < 4; ++i) body[name_length + static_cast<std::size_t>(i)] = 255;
    file.write(sealed(body));
    auto in = ArchiveReader::open(file.path, "sample");
    REQUIRE(in);
    CHECK_FALSE(in->get("numbers", numbers));
  }
  SECTION("the element size") {
    body[element_size] = 8;
    file.write(sealed(body));
    auto in = ArchiveReader::open(file.path, "sample");
    REQUIRE(in);
    const Status got = in->get("numbers", numbers);
    REQUIRE_FALSE(got);
    CHECK(mentions(got.error(), "element size 8"));
  }
  SECTION("the count, also one whose bytes overflow 64 bits") {
    for (int i = 0; i < 8; ++i) body[count + static_cast<std::size_t>(i)] = i == 7 ? 0x40 : 0;
    file.write(sealed(body));
    auto in = ArchiveReader::open(file.path, "sample");
    REQUIRE(in);
    const Status got = in->get("numbers", numbers);
    REQUIRE_FALSE(got);
    CHECK(mentions(got.error(), "exceeds the file"));
  }
  CHECK(numbers == std::vector<float>{4.0f});
}

TEST_CASE("a section of another name or extent is an error that says both", "[archive]") {
  const TemporaryFile file("mara_archive_sections");
  REQUIRE(small_archive().write(file.path));
  auto in = ArchiveReader::open(file.path, "sample");
  REQUIRE(in);
  std::vector<float> two(2, 5.0f);
  const Status extent = in->get_exact("numbers", std::span<float>(two));
  REQUIRE_FALSE(extent);
  CHECK(mentions(extent.error(), "section 'numbers': 3 values, expected 2"));
  CHECK(two == std::vector<float>(2, 5.0f));
  double number = 0.0;
  const Status name = in->get_value("size", number);
  REQUIRE_FALSE(name);
  CHECK(mentions(name.error(), "section 'count', expected 'size'"));
}

TEST_CASE("paths that cannot be read or written are errors, not exceptions", "[archive]") {
  const auto folder = std::filesystem::temp_directory_path() / "mara_archive_no_such_folder";
  const auto missing = ArchiveReader::open(folder / "file", "sample");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kIo);
  const Status unwritten = small_archive().write(folder / "file");
  REQUIRE_FALSE(unwritten);
  CHECK(unwritten.error().code == ErrorCode::kIo);

  const TemporaryFile directory("mara_archive_directory");
  std::filesystem::create_directories(directory.path / "inside");
  const auto opened = ArchiveReader::open(directory.path, "sample");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::kIo);
  const Status over_directory = small_archive().write(directory.path);
  REQUIRE_FALSE(over_directory);
  CHECK(over_directory.error().code == ErrorCode::kIo);
  CHECK_FALSE(std::filesystem::exists(directory.path.string() + ".partial"));
}
