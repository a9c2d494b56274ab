#pragma once
// Dates with a time of day, as traces write them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mara {

/// A moment of the Gregorian calendar: seconds since 1970-01-01 00:00:00 of whatever clock wrote it, every
/// day having 86400 s, and what is beyond the second.
struct CivilTime {
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;

  friend bool operator==(const CivilTime&, const CivilTime&) = default;
};

/// Days from 1970-01-01 to a date, of the years 1 to 9999; nothing for a date that does not exist.
constexpr std::optional<std::int64_t> days_since_1970(int year, int month, int day) noexcept {
  constexpr int kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return std::nullopt;
  const int length = kBefore[month] - kBefore[month - 1] + (leap && month == 2 ? 1 : 0);
  if (day > length) return std::nullopt;
  const std::int64_t years = year - 1;
  const std::int64_t first_day = 365 * years + years / 4 - years / 100 + years / 400;
  constexpr std::int64_t kFirstDayOf1970 = 719162;
  return first_day - kFirstDayOf1970 + kBefore[month - 1] + (leap && month > 2 ? 1 : 0) + day - 1;
}

/// Reads "2017-09-04 10:30:41", with 'T' for the blank if need be, with up to nine decimals of a second, and
/// with "Z" or "+00:00" behind. Nothing for any other text, a date that does not exist, or 24:00 and beyond.
inline std::optional<CivilTime> parse_civil_time(std::string_view text) noexcept {
  constexpr std::string_view kPattern = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kPattern.size()) return std::nullopt;
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool good = kPattern[i] == 'd'   ? digit
                      : kPattern[i] == ' ' ? text[i] == ' ' || text[i] == 'T'
                                           : text[i] == kPattern[i];
    if (!good) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (std::size_t i = at; i < at + digits; ++i) value = value * 10 + (text[i] - '0');
    return value;
  };
  const auto days = days_since_1970(number(0, 4), number(5, 2), number(8, 2));
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!days || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  CivilTime time{*days * 86400 + hour * 3600 + minute * 60 + second, 0};
  text.remove_prefix(kPattern.size());
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    std::size_t digits = 0;
    for (std::int32_t value = 100'000'000; digits < text.size() && text[digits] >= '0' && text[digits] <= '9';
         ++digits, value /= 10)
      time.nanoseconds += value * (text[digits] - '0');
    if (digits == 0 || digits > 9) return std::nullopt;
    text.remove_prefix(digits);
  }
  if (!text.empty() && text != "Z" && text != "+00:00") return std::nullopt;
  return time;
}

/// Each time in seconds since the midnight before the earliest of them, so that hours of the day stay what
/// they were.
inline std::vector<double> seconds_since_first_midnight(std::span<const CivilTime> times) {
  std::int64_t first = INT64_MAX;
  for (const CivilTime& time : times) first = std::min(first, time.seconds);
  std::int64_t midnight = first - first % 86400;
  if (midnight > first) midnight -= 86400;  // before 1970
  std::vector<double> seconds;
  for (const CivilTime& time : times)
    seconds.push_back(static_cast<double>(time.seconds - midnight) +
                      static_cast<double>(time.nanoseconds) * 1e-9);
  return seconds;
}

}  // namespace mara
