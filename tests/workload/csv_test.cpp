#include "mara/workload/csv.hpp"

#include "catch.hpp"
#include "helpers.hpp"

using mara::Csv;
using mara::ErrorCode;

namespace {

std::string first_error(const std::string& text) {
  auto csv = Csv::parse(text, "f.csv");
  if (!csv) return csv.error().message;
  for (;;) {
    auto row = csv->next();
    if (!row) return row.error().message;
    if (!*row) return "";
  }
}

}  // namespace

TEST_CASE("csv reads fields by name, whatever the order and line ends") {
  auto csv = Csv::parse(
      "\xEF\xBB\xBF"
      "b,a\r\n\r\n1,\"x, \"\"y\"\"\"\r\n2,\"two\nlines\"\n\n3,\n",
      "f.csv");
  REQUIRE(csv);
  REQUIRE(*csv->next());
  CHECK(csv->line() == 3);
  CHECK(csv->text("a") == "x, \"y\"");
  CHECK(*csv->integer("b", 0, 9) == 1);
  REQUIRE(*csv->next());
  CHECK(csv->line() == 4);
  CHECK(csv->text("a") == "two\nlines");
  REQUIRE(*csv->next());
  CHECK(csv->line() == 7);  // the quoted line break and the blank line count
  CHECK(csv->text("a").empty());
  CHECK(csv->text("absent").empty());
  CHECK_FALSE(*csv->next());
  CHECK_FALSE(*csv->next());
}

TEST_CASE("csv without a last line end, and with empty last fields") {
  auto csv = Csv::parse("a,b\n1,2\n3,", "f.csv");
  REQUIRE(csv);
  REQUIRE(*csv->next());
  REQUIRE(*csv->next());
  CHECK(csv->text("a") == "3");
  CHECK(csv->text("b").empty());
  CHECK_FALSE(*csv->next());
}

TEST_CASE("csv structure errors say where") {
  CHECK(first_error("a,b\n1,2\n1,2,3\n") == "f.csv:3: 3 fields, the header has 2");
  CHECK(first_error("a,b\n1\n") == "f.csv:2: 1 fields, the header has 2");
  CHECK(first_error("a,b\n1,\"2\n3,4\n") == "f.csv:2: quote that is never closed");
  CHECK(first_error("a,b\n1,\"2\"x\n") == "f.csv:2: text after a closing quote");
  CHECK(first_error("a,b\n1,2\"x\"\n") == "f.csv:2: quote inside an unquoted field");
  CHECK(first_error("a,b,a\n") == "f.csv:1: field 'a': column appears twice");
  CHECK(first_error("a,,b\n") == "f.csv:1: field '': empty name of column 2");
  CHECK(first_error("\n\n") == "f.csv: the file has no header row");
}

TEST_CASE("csv number errors name file, line, field and value") {
  auto csv = Csv::parse("a\nnan\ninf\n-1\nx\n1.5\n1e400\n 1\n99999999999999999999\n\"\"\n", "f.csv");
  REQUIRE(csv);
  const auto message = [&](bool whole) {
    REQUIRE(*csv->next());
    if (whole) return csv->integer("a", 0, 10).error().message;
    return csv->number("a", 0.0, 10.0).error().message;
  };
  CHECK(message(false) == "f.csv:2: field 'a': value 'nan' is not finite");
  CHECK(message(false) == "f.csv:3: field 'a': value 'inf' is not finite");
  CHECK(message(false) == "f.csv:4: field 'a': value '-1' is below 0");
  CHECK(message(false) == "f.csv:5: field 'a': value 'x' is not a number");
  CHECK(message(true) == "f.csv:6: field 'a': value '1.5' is not a whole number");
  CHECK(message(false) == "f.csv:7: field 'a': value '1e400' is out of range");
  CHECK(message(false) == "f.csv:8: field 'a': value ' 1' is not a number");
  CHECK(message(true) == "f.csv:9: field 'a': value '99999999999999999999' is out of range");
  CHECK(message(false) == "f.csv:10: field 'a': value '' is not a number");
}

TEST_CASE("csv columns: unknown, missing") {
  auto csv = Csv::parse("a,b\n", "f.csv");
  REQUIRE(csv);
  CHECK(csv->expect_columns({"a"}, {"b"}));
  CHECK(csv->expect_columns({"a"}, {}).error().message == "f.csv:1: field 'b': unknown column");
  CHECK(csv->expect_columns({"a", "c"}, {"b"}).error().message == "f.csv:1: field 'c': column is missing");
}

TEST_CASE("csv files that are no text files") {
  const workload_test::TempFile empty(""), binary(std::string_view("a,b\n1,\0", 7));
  CHECK(Csv::open("/nonexistent/x.csv").error().code == ErrorCode::kIo);
  CHECK(Csv::open("/nonexistent/x.csv").error().message == "/nonexistent/x.csv: no such file");
  CHECK(Csv::open("/").error().message == "/: is a directory");
  CHECK(Csv::open(empty.path()).error().message == empty.path() + ": the file is empty");
  CHECK(Csv::open(binary.path()).error().message ==
        binary.path() + ": not a text file (zero byte at offset 6)");
}

TEST_CASE("csv messages stay one short printable line") {
  const std::string garbage = first_error("a\x01\x7f" + std::string(100, 'z') + ",b,b\n");
  CHECK(garbage == "f.csv:1: field 'b': column appears twice");
  auto csv = Csv::parse("\x01\xff" + std::string(100, 'z') + "\n", "f.csv");
  REQUIRE(csv);
  const std::string message = csv->expect_columns({"a"}, {}).error().message;
  CHECK(message == "f.csv:1: field '??" + std::string(38, 'z') + "...': unknown column");
}
