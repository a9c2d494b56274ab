// The safetensors reader and writer: what goes in comes out, and no file that lies is believed.
#include "mara/core/safetensors.hpp"

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

/// A file with this header and these bytes behind it.
std::string file_of(const std::string& json, const std::string& buffer = {}) {
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + json + buffer;
}
template <class T>
std::string bytes_of(std::initializer_list<T> numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(T));
}
/// The error of parsing; "" when there is none.
std::string error_of(const std::string& bytes) {
  const auto file = SafetensorsFile::parse(bytes, "f");
  if (file) return {};
  CHECK(file.error().code == ErrorCode::kParse);
  REQUIRE(file.error().message.rfind("f: ", 0) == 0);
  return file.error().message.substr(3);
}
/// The same of a header that describes `bytes` bytes.
std::string header_error(const std::string& json, std::size_t bytes = 0) {
  return error_of(file_of(json, std::string(bytes, '\0')));
}
std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

SafetensorsWriter small_writer() {
  SafetensorsWriter out;
  out.metadata("kind", "sample");
  out.metadata("odd \"text\"\n", "\x01 \\ \xC3\xA9 \xF0\x9F\x98\x80");
  const std::vector<float> floats{1.5f, -2.0f, 0.0f, -0.0f, 3e38f, 1e-45f};
  const std::vector<double> doubles{1e300, -0.1};
  out.tensor<float>("a.weight", {2, 3}, floats);
  out.tensor<double>("b", {2}, doubles);
  out.tensor<float>("nothing", {0, 4}, {});
  out.tensor<float>("scalar", {}, std::span(floats).first(1));
  return out;
}
std::string small_file() {
  std::string bytes;
  small_writer().write(bytes).value();
  return bytes;
}

struct TemporaryFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "mara_safetensors_test";
  TemporaryFolder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

TEST_CASE("a safetensors file reads back what was written", "[safetensors]") {
  const TemporaryFolder folder;
  REQUIRE(small_writer().write(folder.path / "file"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "file.partial"));
  const auto file = SafetensorsFile::open(folder.path / "file");
  REQUIRE(file);
  REQUIRE(file->tensors().size() == 4);
  const TensorInfo* a = file->find("a.weight");
  REQUIRE(a != nullptr);
  CHECK(a->dtype == "F32");
  CHECK(a->shape == std::vector<std::uint64_t>{2, 3});
  std::vector<float> floats(6);
  REQUIRE(file->read(*a, std::span(floats)));
  CHECK(floats == std::vector<float>{1.5f, -2.0f, 0.0f, -0.0f, 3e38f, 1e-45f});
  CHECK(std::signbit(floats[3]));
  std::vector<double> doubles(2), from_floats(6);
  REQUIRE(file->read(*file->find("b"), std::span(doubles)));
  CHECK(doubles == std::vector<double>{1e300, -0.1});
  REQUIRE(file->read(*a, std::span(from_floats)));
  CHECK(from_floats[4] == static_cast<double>(3e38f));
  CHECK(file->find("nothing")->shape == std::vector<std::uint64_t>{0, 4});
  REQUIRE(file->read(*file->find("nothing"), std::span<float>()));
  float scalar = 0.0f;
  REQUIRE(file->read(*file->find("scalar"), std::span(&scalar, 1)));
  CHECK(scalar == 1.5f);
  CHECK(file->find("c") == nullptr);
  CHECK(*file->find_metadata("kind") == "sample");
  CHECK(*file->find_metadata("odd \"text\"\n") == "\x01 \\ \xC3\xA9 \xF0\x9F\x98\x80");
  CHECK(file->find_metadata("no") == nullptr);
}

TEST_CASE("the bytes follow the format: a small file by hand", "[safetensors]") {
  SafetensorsWriter out;
  const std::vector<float> ones{1.0f};
  out.tensor<float>("x", {1}, ones);
  std::string bytes;
  REQUIRE(out.write(bytes));
  const std::string head = "{\"__metadata__\":{\"fnv1a\":\"",
                    tail = "\"},\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0, 4]}}";
  const std::size_t length = (head.size() + 16 + tail.size() + 7) / 8 * 8;
  REQUIRE(bytes.size() == 8 + length + 4);
  CHECK(bytes.substr(0, 8) == std::string{static_cast<char>(length), 0, 0, 0, 0, 0, 0, 0});
  CHECK(bytes.substr(8, head.size()) == head);
  CHECK(bytes.substr(8 + head.size() + 16, tail.size()) == tail);
  for (std::size_t i = 8 + head.size() + 16 + tail.size(); i < 8 + length; ++i) CHECK(bytes[i] == ' ');
  CHECK(bytes.substr(8 + length) == std::string("\0\0\x80\x3f", 4));
}

TEST_CASE("numbers are aligned where the header is: doubles come first", "[safetensors]") {
  const auto file = SafetensorsFile::parse(small_file(), "f");
  REQUIRE(file);
  for (const TensorInfo& info : file->tensors()) CHECK(info.begin % dtype_bytes(info.dtype) == 0);
  std::uint64_t length = 0;
  const std::string bytes = small_file();
  std::memcpy(&length, bytes.data(), sizeof length);
  CHECK(length % 8 == 0);
}

TEST_CASE("the files of other tools are read: order, blanks, escapes, dtypes", "[safetensors]") {
  const std::string json =
      "{ \"second\" : {\"shape\": [ 2 ] , \"data_offsets\":[8,12],\"dtype\":\"BF16\"},\n\t"
      "\"f\\u0069rst \\ud83d\\ude00\\/\": {\"dtype\": \"F32\", \"shape\": [2, 1], \"data_offsets\": [0, 8]},"
      "\"half\":{\"dtype\":\"F16\",\"shape\":[5],\"data_offsets\":[12,22]},"
      "\"ids\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[22,30]},"
      "\"later\":{\"dtype\":\"F4_X\",\"shape\":[3],\"data_offsets\":[30,32]},"
      "\"__metadata__\":{\"format\":\"pt\",\"empty\":\"\"}}   ";
  const std::string buffer = bytes_of<float>({1.0f, 2.0f}) + bytes_of<std::uint16_t>({0x3f80, 0xc040}) +
                             bytes_of<std::uint16_t>({0x3c00, 0x8001, 0x7bff, 0x8000, 0x0400}) +
                             bytes_of<std::int64_t>({7}) + "ab";
  const auto file = SafetensorsFile::parse(file_of(json, buffer), "f");
  REQUIRE(file);
  CHECK(file->tensors().front().name == "first \xF0\x9F\x98\x80/");
  CHECK(file->tensors()[1].name == "second");
  std::array<float, 2> two{};
  REQUIRE(file->read(file->tensors()[1], std::span<float>(two)));
  CHECK(two == std::array<float, 2>{1.0f, -3.0f});
  std::array<double, 5> five{};
  REQUIRE(file->read(*file->find("half"), std::span<double>(five)));
  CHECK(five == std::array<double, 5>{1.0, -0x1p-24, 65504.0, 0.0, 0x1p-14});
  CHECK(std::signbit(five[3]));
  CHECK(*file->find_metadata("format") == "pt");
  CHECK(file->find_metadata("empty")->empty());
  float one = 5.0f;
  const Status ids = file->read(*file->find("ids"), std::span(&one, 1));
  REQUIRE_FALSE(ids);
  CHECK(ids.error().message == "f: tensor \"ids\": dtype \"I64\", expected F32, F64, F16 or BF16");
  std::array<float, 3> three{};
  CHECK_FALSE(file->read(*file->find("later"), std::span<float>(three)));  // a dtype of tomorrow
  CHECK(one == 5.0f);
}

TEST_CASE("append() takes memory only for what the file has", "[safetensors]") {
  const std::string json = "{" + tensor("a", "F32", "[2]", "[0,8]") + "," +
                           tensor("lie", "X9", "[1152921504606846976]", "[8,12]") + "}";
  const auto file = SafetensorsFile::parse(file_of(json, bytes_of<float>({3.0f, 4.0f, 5.0f})), "f");
  REQUIRE(file);
  std::vector<float> to{1.0f};
  REQUIRE(file->append(*file->find("a"), to));
  CHECK(to == std::vector<float>{1.0f, 3.0f, 4.0f});
  const Status lie = file->append(*file->find("lie"), to);
  REQUIRE_FALSE(lie);
  CHECK(lie.error().message == "f: tensor \"lie\": dtype \"X9\", expected F32, F64, F16 or BF16");
  CHECK(to == std::vector<float>{1.0f, 3.0f, 4.0f});
}

TEST_CASE("every half is what the definition says", "[safetensors]") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    const float value = detail::float_of_half(half);
    if (exponent == 31) {
      CHECK((fraction == 0 ? std::isinf(value) : std::isnan(value)));
      continue;
    }
    const double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (std::fabs(static_cast<double>(value)) != expected || std::signbit(value) != (bits >= 32768))
      FAIL(bits);
  }
}

TEST_CASE("numbers that are not finite are refused by name, place and value", "[safetensors]") {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  SafetensorsWriter out;
  const std::vector<float> bad{1, 2, 3, 4, nan, -infinity};
  const std::vector<double> large{1.0, 1e39};
  out.tensor<float>("w", {2, 3}, bad);
  out.tensor<double>("d", {2}, large);
  std::string bytes;
  REQUIRE(out.write(bytes));
  const auto file = SafetensorsFile::parse(bytes, "f");
  REQUIRE(file);
  std::vector<float> to(6, 9.0f);
  Status read = file->read(*file->find("w"), std::span(to));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::kNumerical);
  CHECK(read.error().message == "f: tensor \"w\": number [1, 1] must be finite, is nan");
  CHECK(to == std::vector<float>(6, 9.0f));
  read = file->read(*file->find("d"), std::span(to).first(2));
  REQUIRE_FALSE(read);
  CHECK(read.error().message == "f: tensor \"d\": number [1] must be finite, is 1e+39");
  CHECK(to == std::vector<float>(6, 9.0f));
  std::vector<double> doubles(2);
  CHECK(file->read(*file->find("d"), std::span(doubles)));
  read = file->read(*file->find("d"), std::span(to));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::kShapeMismatch);
  CHECK(read.error().message == "f: tensor \"d\": shape [2], expected 6 numbers");
}

TEST_CASE("a file cut at any byte, or with a byte too many, is refused", "[safetensors]") {
  const std::string whole = small_file();
  REQUIRE(error_of(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut to " << size << " of " << whole.size());
    CHECK_FALSE(error_of(whole.substr(0, size)).empty());
  }
  CHECK(error_of(whole + '\0') == "there are bytes behind the last tensor");
  CHECK(error_of("") == "is no safetensors file: 0 bytes");
  CHECK(error_of(whole.substr(0, 20)).rfind("is truncated: header of ", 0) == 0);
  CHECK(error_of(whole.substr(0, whole.size() - 3)).rfind("is truncated: tensors of ", 0) == 0);
}

TEST_CASE("a flipped bit anywhere in a safetensors file is noticed", "[safetensors]") {
  const std::string whole = small_file();
  const SafetensorsFile good = SafetensorsFile::parse(whole, "f").value();
  std::size_t harmless = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto file = SafetensorsFile::parse(damaged, "f");
      if (!file) continue;
      // Only the key of the checksum itself, and the case of a hexadecimal digit of an escape.
      ++harmless;
      INFO("byte " << at << ", bit " << bit);
      for (const char* key : {"kind", "odd \"text\"\n"}) {
        REQUIRE(file->find_metadata(key) != nullptr);
        CHECK(*file->find_metadata(key) == *good.find_metadata(key));
      }
      REQUIRE(file->tensors().size() == good.tensors().size());
      for (std::size_t t = 0; t < good.tensors().size(); ++t) {
        CHECK(file->tensors()[t].name == good.tensors()[t].name);
        CHECK(file->tensors()[t].shape == good.tensors()[t].shape);
        std::vector<double> expected(good.tensors()[t].count), found(expected.size());
        REQUIRE(good.read(good.tensors()[t], std::span(expected)));
        REQUIRE(file->read(file->tensors()[t], std::span(found)));
        CHECK(found == expected);
      }
    }
  }
  CHECK(harmless < 60);
}

TEST_CASE("a header whose length lies is refused before anything is allocated", "[safetensors]") {
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::string bytes = small_file();
    std::memcpy(bytes.data(), &length, sizeof length);
    CHECK(error_of(bytes) ==
          "is no safetensors file: header of " + std::to_string(length) + " bytes, at most 100000000");
  }
  std::string bytes = small_file();
  const std::uint64_t length = 99'000'000;
  std::memcpy(bytes.data(), &length, sizeof length);
  CHECK(error_of(bytes).rfind("is truncated: header of 99000000 bytes", 0) == 0);
}

TEST_CASE("extents that lie are refused", "[safetensors]") {
  const auto one = [](const std::string& shape, const std::string& offsets, std::size_t bytes) {
    return header_error("{" + tensor("t", "F32", shape, offsets) + "}", bytes);
  };
  CHECK(one("[2]", "[0,8]", 8).empty());
  CHECK(one("[2]", "[0,4]", 4) == "tensor \"t\": shape [2] of F32 needs 8 bytes, data_offsets [0, 4] are 4");
  CHECK(one("[2]", "[8,0]", 8) == "tensor \"t\": data_offsets [8, 0] end before they begin");
  CHECK(one("[2]", "[4,12]", 12) == "tensor \"t\": begins at byte 4, the tensors before it end at 0");
  CHECK(one("[2]", "[0,8]", 7) == "is truncated: tensors of 8 bytes, the file has 7");
  CHECK(one("[2]", "[0,8]", 9) == "there are bytes behind the last tensor");
  CHECK(one("[1000000000000]", "[0,4000000000000]", 4).rfind("is truncated", 0) == 0);
  // Products and sums that overflow 64 bits.
  CHECK(one("[4294967296, 4294967296]", "[0,0]", 0) ==
        "tensor \"t\": shape [4294967296, 4294967296] is larger than any memory");
  CHECK(one("[4611686018427387904]", "[0,0]", 0).find("larger than any memory") != std::string::npos);
  CHECK(one("[18446744073709551615]", "[0,18446744073709551612]", 0).find("larger than") !=
        std::string::npos);
  CHECK(one("[0, 18446744073709551615]", "[0,0]", 0).empty());
  CHECK(one("[18446744073709551616]", "[0,0]", 0).find("does not fit 64 bits") != std::string::npos);
  CHECK(one("[2]", "[18446744073709551608,18446744073709551615]", 8).find("needs 8 bytes") !=
        std::string::npos);

  const auto two = [](const std::string& first, const std::string& second) {
    return header_error(
        "{" + tensor("a", "F32", "[2]", first) + "," + tensor("b", "F32", "[2]", second) + "}", 16);
  };
  CHECK(two("[0,8]", "[8,16]").empty());
  CHECK(two("[8,16]", "[0,8]").empty());
  CHECK(two("[0,8]", "[4,12]") ==
        "tensor \"b\": begins at byte 4, the tensors before it end at 8");  // overlap
  CHECK(two("[0,8]", "[0,8]") == "tensor \"b\": begins at byte 0, the tensors before it end at 8");  // alias
  CHECK(two("[0,8]", "[12,20]") ==
        "tensor \"b\": begins at byte 12, the tensors before it end at 8");  // hole
}

TEST_CASE("names that occur twice are refused", "[safetensors]") {
  const std::string t = tensor("t", "F32", "[0]", "[0,0]");
  CHECK(header_error("{" + t + "," + t + "}") == "tensor \"t\": is there twice");
  CHECK(header_error("{" + t + "," + tensor("\\u0074", "F32", "[0]", "[0,0]") + "}") ==
        "tensor \"t\": is there twice");
  CHECK(header_error("{\"__metadata__\":{\"a\":\"1\",\"b\":\"\",\"a\":\"1\"}}") ==
        "metadata \"a\" is there twice");
  CHECK(header_error("{\"__metadata__\":{},\"__metadata__\":{}}").find("\"__metadata__\" twice") !=
        std::string::npos);
  CHECK(header_error("{\"t\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}") ==
        "header, byte 28: tensor \"t\": key \"dtype\" is unknown, or there twice");
}

TEST_CASE("a thousand tensors in any order", "[safetensors]") {
  std::string json;
  for (int i = 999; i >= 0; --i) {
    const int at = i * 7919 % 1000;
    json += (json.empty() ? "{" : ",") +
            tensor("t" + std::to_string(at), "U8", "[3]",
                   "[" + std::to_string(3 * at) + "," + std::to_string(3 * at + 3) + "]");
  }
  const auto file = SafetensorsFile::parse(file_of(json + "}", std::string(3000, 'x')), "f");
  REQUIRE(file);
  for (std::size_t i = 0; i < 1000; ++i) CHECK(file->tensors()[i].name == "t" + std::to_string(i));
}

TEST_CASE("JSON that is no header is refused with its place", "[safetensors]") {
  CHECK(header_error("{}").empty());
  CHECK(header_error("{}   ").empty());
  CHECK(header_error("") == "header: does not begin with '{'");
  CHECK(header_error(" {}") == "header: does not begin with '{'");
  CHECK(header_error("{} {}") == "header, byte 3: there is more than one value");
  CHECK(header_error("{}\n") == "header, byte 2: there is more than one value");
  CHECK(header_error("{") == "header, byte 1: expected '\"'");
  CHECK(header_error("{\"a\"}") == "header, byte 4: expected ':'");
  const std::string good = tensor("t", "F32", "[1]", "[0,4]");
  CHECK(header_error("{" + good + "}", 4).empty());
  CHECK_FALSE(header_error("{" + good + ",}", 4).empty());
  CHECK_FALSE(header_error("{," + good + "}", 4).empty());
  for (const char* value :
       {"null", "[]", "1", "\"x\"", "{}", "{\"dtype\":\"F32\"}", "{\"dtype\":\"F32\",\"shape\":[]}", "true",
        "[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":{\"a\":{"})
    CHECK_FALSE(header_error(std::string("{\"t\":") + value + "}").empty());
  for (const char* shape : {"1", "[1,]", "[-1]", "[+1]", "[1.0]", "[1e0]", "[01]", "[ ]x", "[\"1\"]", "[[1]]",
                            "[null]", "[0x1]", "[1"})
    CHECK_FALSE(header_error("{" + tensor("t", "F32", shape, "[0,4]") + "}", 4).empty());
  for (const char* offsets : {"[]", "[0]", "[0,4,4]", "4", "[0,4.0]"})
    CHECK_FALSE(header_error("{" + tensor("t", "F32", "[1]", offsets) + "}", 4).empty());
  for (const char* metadata :
       {"{\"a\":1}", "{\"a\":null}", "{\"a\":{}}", "[]", "\"a\"", "{\"a\"}", "{1:\"a\"}"})
    CHECK_FALSE(header_error(std::string("{\"__metadata__\":") + metadata + "}").empty());
  CHECK_FALSE(
      header_error("{\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", 4).empty());
}

TEST_CASE("strings: escapes, control characters and UTF-8", "[safetensors]") {
  const auto name = [](const std::string& text) {
    const auto file = SafetensorsFile::parse(file_of("{" + tensor(text, "U8", "[0]", "[0,0]") + "}"), "f");
    return file ? file->tensors().front().name : "error: " + file.error().message;
  };
  CHECK(name("") == "");
  CHECK(name("\\\"\\\\\\/\\b\\f\\n\\r\\t") == "\"\\/\b\f\n\r\t");
  CHECK(name("\\u0041\\u00e9\\u20AC\\uD834\\uDD1E") == "A\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E");
  CHECK(name("\\u0000x") == std::string("\0x", 2));
  CHECK(name("\xC3\xA9\xED\x9F\xBF\xF4\x8F\xBF\xBF") == "\xC3\xA9\xED\x9F\xBF\xF4\x8F\xBF\xBF");
  for (const char* bad : {"\\x",
                          "\\u12",
                          "\\u12g4",
                          "\\ud800",
                          "\\ud800x",
                          "\\ud800\\u0041",
                          "\\udc00",
                          "\\",
                          "a\nb",
                          "\x01",
                          "\xff",
                          "\xC3",
                          "\xC0\x80",
                          "\xC1\xBF",
                          "\xE0\x80\x80",
                          "\xED\xA0\x80",
                          "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80",
                          "\xF5\x80\x80\x80",
                          "\x80",
                          "\xE2\x82",
                          "\xC3\\u0041"}) {
    INFO(bad);
    CHECK(name(bad).rfind("error: f: header, byte ", 0) == 0);
  }
}

TEST_CASE("the writer refuses what no reader would take", "[safetensors]") {
  const std::vector<float> one{1.0f};
  const auto error = [](const SafetensorsWriter& out) {
    std::string bytes = "kept";
    const Status written = out.write(bytes);
    CHECK(bytes == "kept");
    return written ? std::string() : written.error().message;
  };
  SafetensorsWriter twice, named, bad_name, count, overflow, key, text, checksum;
  twice.tensor<float>("x", {1}, one);
  twice.tensor<float>("x", {1}, one);
  CHECK(error(twice) == "tensor \"x\": is no new name in UTF-8");
  named.tensor<float>("__metadata__", {1}, one);
  CHECK(error(named) == "tensor \"__metadata__\": is no new name in UTF-8");
  bad_name.tensor<float>("\xff", {1}, one);
  CHECK_FALSE(error(bad_name).empty());
  count.tensor<float>("x", {2, 2}, one);
  CHECK(error(count) == "tensor \"x\": shape [2, 2] does not have 1 values");
  overflow.tensor<float>("x", {std::uint64_t{1} << 63, 2}, {});
  CHECK_FALSE(error(overflow).empty());
  key.metadata("a", "1");
  key.metadata("a", "2");
  CHECK(error(key) == "metadata \"a\": is no new key in UTF-8");
  text.metadata("a", "\xff");
  CHECK(error(text) == "metadata \"a\": is not UTF-8");
  checksum.metadata("fnv1a", "0");
  CHECK_FALSE(error(checksum).empty());
  const TemporaryFolder folder;
  const Status written = twice.write(folder.path / "file");
  REQUIRE_FALSE(written);
  CHECK(written.error().message ==
        (folder.path / "file").string() + ": tensor \"x\": is no new name in UTF-8");
  CHECK_FALSE(std::filesystem::exists(folder.path / "file"));
}

TEST_CASE("pipes are read, and devices refused before they are opened", "[safetensors]") {
  const std::string bytes = small_file();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], bytes.data(), bytes.size()) == static_cast<::ssize_t>(bytes.size()));
  ::close(ends[1]);
  const std::string pipe = "/dev/fd/" + std::to_string(ends[0]);
  CHECK(SafetensorsFile::open(pipe));
  std::string rest;
  CHECK(read_file(pipe, rest));
  CHECK(rest.empty());
  ::close(ends[0]);
  // The first has no end, the second is empty, the others are block devices where there are any.
  for (const char* device : {"/dev/zero", "/dev/null", "/dev/loop0", "/dev/sda", "/dev/vda"}) {
    if (!std::filesystem::exists(device)) continue;
    InputFile file;
    const Status opened = file.open(device);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::kIo);
    CHECK(opened.error().message == std::string(device) + ": is neither a file nor a pipe");
    CHECK(SafetensorsFile::open(device).error().message == opened.error().message);
  }
}

TEST_CASE("paths that cannot be read or written are errors with their reason", "[safetensors]") {
  const TemporaryFolder folder;
  const auto missing = SafetensorsFile::open(folder.path / "none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kIo);
  CHECK(missing.error().message == (folder.path / "none").string() + ": no such file");
  const auto directory = SafetensorsFile::open(folder.path);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().code == ErrorCode::kIo);
  CHECK(directory.error().message == folder.path.string() + ": is a directory");
  const Status unwritten = small_writer().write(folder.path / "none" / "file");
  REQUIRE_FALSE(unwritten);
  CHECK(unwritten.error().code == ErrorCode::kIo);
  CHECK(unwritten.error().message ==
        (folder.path / "none" / "file").string() + ": cannot be written: No such file or directory");
  std::filesystem::create_directories(folder.path / "taken" / "inside");
  CHECK_FALSE(small_writer().write(folder.path / "taken"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "taken.partial"));
}
