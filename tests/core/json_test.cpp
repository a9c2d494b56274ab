// JSON: what is read and written, and what is refused.
#include "mara/core/json.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using mara::Json;
using mara::json_number_text;
using mara::parse_json;

namespace {

std::string text_of(const Json& value) {
  std::string text;
  mara::write_json(value, text);
  return text;
}
std::string error_of(const std::string& text) {
  const auto value = parse_json(text);
  return value ? std::string() : value.error().message;
}

}  // namespace

TEST_CASE("numbers are written as the shortest decimal with a point or an exponent", "[json]") {
  const std::vector<std::pair<double, std::string>> expected{{0.0, "0.0"},
                                                             {-0.0, "-0.0"},
                                                             {1.0, "1.0"},
                                                             {-12.5, "-12.5"},
                                                             {0.1, "0.1"},
                                                             {100.0, "100.0"},
                                                             {123456789012345.0, "123456789012345.0"},
                                                             {1e15, "1e+15"},
                                                             {1.5e300, "1.5e+300"},
                                                             {0.001, "0.001"},
                                                             {0.00012, "0.00012"},
                                                             {0.00001, "1e-05"},
                                                             {5e-324, "5e-324"},
                                                             {1.0 / 3.0, "0.3333333333333333"}};
  for (const auto& [value, text] : expected) CHECK(json_number_text(value) == text);
  mara::Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random.next64();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof value);
    if (!(value - value == 0.0)) continue;
    const std::string text = json_number_text(value);
    REQUIRE(std::strtod(text.c_str(), nullptr) == value);
    REQUIRE(text.find_first_of(".e") != std::string::npos);
  }
}

TEST_CASE("a document survives reading and writing", "[json]") {
  const Json document = Json::object({{"a", 1},
                                      {"b", Json(std::vector<double>{1.0, 2.5})},
                                      {"c", Json::object({{"quote \" \n", "\xC3\xA9"}, {"no", Json()}})},
                                      {"d", Json::array({Json::boolean(true), Json::boolean(false), Json()})},
                                      {"e", Json::object()},
                                      {"f", std::numeric_limits<std::int64_t>::min()}});
  const std::string text = text_of(document);
  CHECK(text ==
        "{\n  \"a\": 1,\n  \"b\": [1.0, 2.5],\n  \"c\": {\n    \"quote \\\" \\u000a\": \"\xC3\xA9\",\n    "
        "\"no\": "
        "null\n  },\n  \"d\": [true, false, null],\n  \"e\": {},\n  \"f\": -9223372036854775808\n}");
  const auto read = parse_json(text + " \n");
  REQUIRE(read);
  CHECK(text_of(*read) == text);
  CHECK(read->find("c")->find("quote \" \n")->text() == "\xC3\xA9");
  CHECK(read->find("x") == nullptr);
  CHECK(read->keys() == std::vector<std::string>{"a", "b", "c", "d", "e", "f"});
  CHECK(text_of(parse_json("[ -1.50e+3 ,0.5E-2,\"\\ud83d\\ude00\",[],{} ]").value()) ==
        "[\n  -1.50e+3,\n  0.5E-2,\n  \"\xF0\x9F\x98\x80\",\n  [],\n  {}\n]");
}

TEST_CASE("text that is not JSON is refused with its place", "[json]") {
  CHECK(error_of("") == "not valid JSON: byte 0: expected a value");
  CHECK(error_of("[1, 2") == "not valid JSON: byte 5: expected ']'");
  CHECK(error_of("[] []") == "not valid JSON: byte 3: there is more than one value");
  CHECK(error_of("{\"a\": 1, \"a\": 2}") == "key 'a': appears twice");
  CHECK(error_of("{\"a\": 1, \"\\u0061\": 2}") == "key 'a': appears twice");
  CHECK(error_of("[1e999]") == "not valid JSON: byte 6: a number out of range, 1e999");
  for (const char* bad :
       {"nan",        "NaN",   "Infinity", "-",      "+1",       "01",    "1.",
        ".5",         "1e",    "0x1",      "tru",    "nulll",    "'a'",   "[1,]",
        "{\"a\":1,}", "{a:1}", "{\"a\"}",  "\"\t\"", "\"\xff\"", "[1 2]", "{\"a\":1 \"b\":2}",
        "]",          "}"}) {
    INFO(bad);
    CHECK(error_of(bad).rfind("not valid JSON: byte ", 0) == 0);
  }
}

TEST_CASE("nesting has an end", "[json]") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(error_of(nested(100)).empty());
  CHECK(error_of(nested(200)).find("nested too deep") != std::string::npos);
  CHECK_FALSE(error_of(std::string(1'000'000, '[')).empty());
  CHECK_FALSE(error_of(std::string(1'000'000, '{')).empty());
}
