#include "mara/core/parse.hpp"

#include <clocale>
#include <limits>
#include <string>

#include "catch.hpp"

using mara::ErrorCode;
using mara::parse_double;
using mara::parse_int;

TEST_CASE("numbers are read exactly", "[parse]") {
  CHECK(parse_double("0", "x").value() == 0.0);
  CHECK(parse_double("12", "x").value() == 12.0);
  CHECK(parse_double("-0.5", "x").value() == -0.5);
  CHECK(parse_double("1e-3", "x").value() == 1e-3);
  CHECK(parse_double(".25", "x").value() == 0.25);
  CHECK(parse_double("0.1", "x").value() == 0.1);
  CHECK(parse_double("1.7976931348623157e308", "x").value() == std::numeric_limits<double>::max());
  CHECK(parse_double("4.9406564584124654e-324", "x").value() == std::numeric_limits<double>::denorm_min());
  CHECK(parse_int("0", "n").value() == 0);
  CHECK(parse_int("-17", "n").value() == -17);
  CHECK(parse_int("9223372036854775807", "n").value() == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_int("-9223372036854775808", "n").value() == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("a view into longer text is read to its own end", "[parse]") {
  const std::string line = "12,345";
  CHECK(parse_int(std::string_view(line).substr(0, 2), "n").value() == 12);
  CHECK(parse_double(std::string_view(line).substr(3, 2), "n").value() == 34.0);
}

TEST_CASE("text that is not one finite number is refused", "[parse]") {
  for (const char* text : {"",       " ",     " 1",   "1 ",       "1\n",   "+1",     "1,5",   "1.2.3", "1e",
                           "abc",    "12abc", "0x10", "--1",      "-",     ".",      "nan",   "NaN",   "-nan",
                           "nan(1)", "inf",   "-inf", "infinity", "1e999", "-1e999", "1e-999"}) {
    INFO("text: \"" << text << "\"");
    const auto parsed = parse_double(text, "work");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == ErrorCode::kParse);
  }
  for (const char* text : {"", " 1", "1 ", "+1", "3.0", "1e3", "x", "9223372036854775808",
                           "-9223372036854775809", "-", "0x1", "nan"}) {
    INFO("text: \"" << text << "\"");
    const auto parsed = parse_int(text, "gpus");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == ErrorCode::kParse);
  }
}

TEST_CASE("a parse error names the field and the value on one line", "[parse]") {
  CHECK(parse_double("12abc", "arrival").error().message == "arrival: \"12abc\" is not a finite number");
  CHECK(parse_double("nan", "arrival").error().message == "arrival: \"nan\" is not a finite number");
  CHECK(parse_double("1e999", "arrival").error().message ==
        "arrival: \"1e999\" is out of range for a finite number");
  CHECK(parse_int("", "gpus").error().message == "gpus: \"\" is empty, expected a 64-bit integer");
  CHECK(parse_int("3.5", "gpus").error().message == "gpus: \"3.5\" is not a 64-bit integer");
  CHECK(parse_int("1\n2", "gpus").error().message == "gpus: \"1?2\" is not a 64-bit integer");
  CHECK(parse_int(std::string(1000, 'x'), "gpus").error().message ==
        "gpus: \"" + std::string(40, 'x') + "...\" is not a 64-bit integer");
}

TEST_CASE("a NUL byte inside the text is junk, not its end", "[parse]") {
  CHECK_FALSE(parse_int(std::string_view("12\0", 3), "n").has_value());
  CHECK_FALSE(parse_double(std::string_view("1\0002", 3), "n").has_value());
}
