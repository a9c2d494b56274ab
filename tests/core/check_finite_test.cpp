#include "mara/core/check_finite.hpp"

#include <limits>

#include "catch.hpp"

using namespace mara;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("numbers are shown by their shortest text", "[check]") {
  CHECK(format_number(0.1) == "0.1");
  CHECK(format_number(3.0) == "3");
  CHECK(format_number(-2.5e-9) == "-2.5e-09");
  CHECK(format_number(std::numeric_limits<double>::denorm_min()) == "5e-324");
  CHECK(format_number(-std::numeric_limits<double>::max()) == "-1.7976931348623157e+308");
  CHECK(format_number(kInfinity) == "inf");
  CHECK(format_number(-kInfinity) == "-inf");
  CHECK(format_number(-kNan) == "nan");
}

TEST_CASE("finite numbers in their domain pass", "[check]") {
  CHECK(check_finite(-3.0, "x").has_value());
  CHECK(check_positive(5e-324, "x").has_value());
  CHECK(check_non_negative(0.0, "x").has_value());
  CHECK(check_non_negative(-0.0, "x").has_value());
  CHECK(check_range(0.0, 0.0, 1.0, "x").has_value());
  CHECK(check_range(1.0, 0.0, 1.0, "x").has_value());
}

TEST_CASE("others are refused by name and value", "[check]") {
  CHECK(check_finite(kNan, "work").error().message == "work: must be finite, is nan");
  CHECK(check_finite(kInfinity, "work").error().code == ErrorCode::kNumerical);
  CHECK(check_positive(0.0, "rate").error().message == "rate: must be positive, is 0");
  CHECK(check_positive(-1.5, "rate").error().code == ErrorCode::kInvalidArgument);
  CHECK(check_positive(kInfinity, "rate").error().code == ErrorCode::kNumerical);
  CHECK(check_non_negative(-0.25, "time").error().message == "time: must not be negative, is -0.25");
  CHECK(check_non_negative(kNan, "time").error().code == ErrorCode::kNumerical);
  CHECK(check_range(1.5, 0.0, 1.0, "share").error().message == "share: must be in [0, 1], is 1.5");
  CHECK(check_range(-kInfinity, 0.0, 1.0, "share").error().code == ErrorCode::kNumerical);
}
