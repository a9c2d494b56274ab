#include "mara/workload/read_time.hpp"

#include "catch.hpp"

using mara::CivilTime;
using mara::days_since_1970;
using mara::parse_civil_time;

TEST_CASE("days of the Gregorian calendar") {
  CHECK(days_since_1970(1970, 1, 1) == 0);
  CHECK(days_since_1970(1969, 12, 31) == -1);
  CHECK(days_since_1970(2000, 3, 1) == 11017);
  CHECK(days_since_1970(2017, 9, 4) == 17413);
  CHECK(days_since_1970(1, 1, 1) == -719162);
  CHECK(days_since_1970(9999, 12, 31) == 2932896);
  // Day after day, month after month.
  std::int64_t expected = *days_since_1970(1890, 1, 1);
  for (int year = 1890; year < 2110; ++year)
    for (int month = 1; month <= 12; ++month)
      for (int day = 1; day <= 31; ++day) {
        const auto days = days_since_1970(year, month, day);
        if (!days) continue;
        CHECK(*days == expected);
        ++expected;
      }
  CHECK(expected == *days_since_1970(2110, 1, 1));
  CHECK_FALSE(days_since_1970(1900, 2, 29));
  CHECK(days_since_1970(2000, 2, 29));
  CHECK_FALSE(days_since_1970(2017, 4, 31));
  CHECK_FALSE(days_since_1970(2017, 0, 1));
  CHECK_FALSE(days_since_1970(2017, 13, 1));
  CHECK_FALSE(days_since_1970(2017, 1, 0));
  CHECK_FALSE(days_since_1970(0, 1, 1));
}

TEST_CASE("times of day") {
  CHECK(parse_civil_time("1970-01-02 00:00:01") == CivilTime{86401, 0});
  CHECK(parse_civil_time("2017-09-04T10:30:41") == CivilTime{1504521041, 0});
  CHECK(parse_civil_time("1970-01-01 00:00:00.9799600") == CivilTime{0, 979'960'000});
  CHECK(parse_civil_time("1970-01-01 00:00:00.000000001Z") == CivilTime{0, 1});
  CHECK(parse_civil_time("1970-01-01 23:59:59.5+00:00") == CivilTime{86399, 500'000'000});
  for (const char* bad :
       {"", "2017-09-04", "2017-09-04 10:30", "2017-9-04 10:30:41", "2017-09-04 24:00:00",
        "2017-09-04 10:60:00", "2017-09-04 10:30:60", "2017-09-31 10:30:41", "2017-09-04 10:30:41.",
        "2017-09-04 10:30:41.1234567890", "2017-09-04 10:30:41 ", "2017-09-04 10:30:41+01:00",
        "2017/09/04 10:30:41", "2017-09-04_10:30:41", "-017-09-04 10:30:41"})
    CHECK_FALSE(parse_civil_time(bad));
}

TEST_CASE("seconds since the first midnight") {
  const CivilTime times[] = {{2 * 86400 + 7, 500'000'000}, {86400 + 3600, 0}, {2 * 86400, 0}};
  CHECK(mara::seconds_since_first_midnight(times) == std::vector<double>{86407.5, 3600.0, 86400.0});
  const CivilTime early[] = {{-1, 0}};
  CHECK(mara::seconds_since_first_midnight(early) == std::vector<double>{86399.0});
  CHECK(mara::seconds_since_first_midnight({}).empty());
}
