// Numbers as people read them.

#include "lab/format.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "lab/options.hpp"

TEST_CASE("three significant digits without an exponent") {
  CHECK(lab::format_three(0.0) == "0.00");
  CHECK(lab::format_three(0.01234) == "0.0123");
  CHECK(lab::format_three(0.9999) == "1.00");
  CHECK(lab::format_three(9.996) == "10.0");
  CHECK(lab::format_three(99.96) == "100");
  CHECK(lab::format_three(-12.34) == "-12.3");
  CHECK(lab::format_three(12345.6) == "12346");
  CHECK(lab::format_three(NAN) == "-");
  CHECK(lab::format_fixed(-0.04, 1) == "0.0");
  CHECK(lab::format_three(std::numeric_limits<double>::max()).size() == 309);
}

TEST_CASE("durations take the unit that reads well") {
  CHECK(lab::format_duration(12.34) == "12.3 s");
  CHECK(lab::format_duration(600.0) == "10.0 min");
  CHECK(lab::format_duration(7200.0) == "2.00 h");
  CHECK(lab::format_duration(40.0 * 86400.0) == "960 h");
  CHECK(lab::format_duration(50.0 * 86400.0) == "50.0 d");
  CHECK(lab::format_clock(59.4) == "59 s");
  CHECK(lab::format_clock(59.6) == "1:00");
  CHECK(lab::format_clock(3600.0) == "1:00:00");
  CHECK(lab::format_clock(std::numeric_limits<double>::infinity()) == "-");
}

TEST_CASE("counts and uncertainties") {
  CHECK(lab::format_count(950.0) == "950");
  CHECK(lab::format_count(999.6) == "1.00k");
  CHECK(lab::format_count(12345.0) == "12.3k");
  CHECK(lab::format_count(1234567.0) == "1.23M");
  CHECK(lab::format_plus_minus(2.934, 0.2) == "2.93 \u00b10.20");
  CHECK(lab::format_plus_minus(12.042, 0.021) == "12.04 \u00b10.02");
  CHECK(lab::format_exact(0.1) == "0.1");
  CHECK(lab::format_exact(NAN) == "NaN");
}

TEST_CASE("options that make no sense are named with their value") {
  const auto message = [](auto options) {
    const auto valid = lab::validate(options);
    return valid ? std::string("valid") : valid.error().message;
  };
  CHECK(message(lab::CompareOptions{}) == "valid");
  CHECK(message(lab::TuneOptions{}) == "valid");
  lab::CompareOptions options;
  options.load = NAN;
  CHECK(message(options) == "--load: must be above 0 and at most 10, got NaN");
  options = {};
  options.steps = 0;
  CHECK(message(options) == "--steps: must be from 1 to 1000000000, got 0");
  options = {};
  options.out.clear();
  CHECK(message(options) == "--out: must not be empty, got ''");
  options = {};
  options.seed = std::numeric_limits<std::uint64_t>::max();
  CHECK(message(options) == "--seed: must be from 0 to 2000000000, got 18446744073709551615");
  CHECK(message(lab::TraceOptions{}) == "--file: a trace file is needed, got ''");
}
