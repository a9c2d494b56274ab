#pragma once
// Numbers as people read them.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace lab {

/// `value` with `decimals` digits after the point; "-" for NaN and infinity.
inline std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  char buffer[400];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  std::string text = buffer;
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') text.erase(0, 1);  // no "-0.0"
  return text;
}
inline std::string format_fixed(std::optional<double> value, int decimals) {
  return value ? format_fixed(*value, decimals) : "-";
}

/// Three significant digits without an exponent: 0.0123, 1.23, 12.3, 123, 12346.
inline std::string format_three(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  const int decimals = size >= 99.95                   ? 0
                       : size >= 9.995                 ? 1
                       : size >= 0.9995 || size == 0.0 ? 2
                       : size >= 0.09995               ? 3
                                                       : 4;
  return format_fixed(value, decimals);
}
inline std::string format_three(std::optional<double> value) {
  return value ? format_three(*value) : "-";
}

/// "2.93 ±0.03", "12.04 ±0.02": three significant digits, and at most one decimal more when the uncertainty
/// needs it; both with the same number of decimals.
inline std::string format_plus_minus(double value, double half) {
  const std::string text = format_three(value);
  const std::size_t point = text.find('.');
  int decimals = point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
  if (half < 0.95 * std::pow(10.0, -decimals)) ++decimals;
  return format_fixed(value, decimals) + " \u00b1" + format_fixed(half, decimals);
}

/// Microseconds: one decimal below 100.
inline std::string format_us(std::optional<double> value) {
  return value ? format_fixed(*value, std::fabs(*value) < 99.95 ? 1 : 0) : "-";
}

/// The shortest text that reads back as the same double; "NaN" when it is not finite.
inline std::string format_exact(double value) {
  if (!std::isfinite(value)) return "NaN";
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

/// 950, 12.3k, 1.23M.
inline std::string format_count(double value) {
  if (!(std::fabs(value) < 1e15)) return "-";
  if (std::fabs(value) < 999.5) return format_fixed(value, 0);
  if (std::fabs(value) < 999500.0) return format_three(value / 1e3) + "k";
  return format_three(value / 1e6) + "M";
}

/// A unit of time and how many seconds it has.
struct TimeUnit {
  const char* name = "h";
  double seconds = 3600.0;
};

/// The unit in which a set of durations reads well, given the largest that matters.
inline TimeUnit time_unit(double largest_s) {
  if (largest_s < 120.0) return {"s", 1.0};
  if (largest_s < 2.0 * 3600.0) return {"min", 60.0};
  if (largest_s < 1000.0 * 3600.0) return {"h", 3600.0};
  return {"d", 86400.0};
}

/// 12.3 s, 4.56 min, 2.31 h, 45.0 d.
inline std::string format_duration(double seconds) {
  const TimeUnit unit = time_unit(std::fabs(seconds));
  return format_three(seconds / unit.seconds) + " " + unit.name;
}
inline std::string format_duration(std::optional<double> seconds) {
  return seconds ? format_duration(*seconds) : "-";
}

/// A wall-clock span: 7 s, 1:05, 1:02:03.
inline std::string format_clock(double seconds) {
  if (!(seconds < 3.6e8)) return "-";
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  char buffer[48];
  if (whole < 60)
    std::snprintf(buffer, sizeof(buffer), "%lld s", static_cast<long long>(whole));
  else if (whole < 3600)
    std::snprintf(buffer, sizeof(buffer), "%lld:%02lld", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  else
    std::snprintf(buffer, sizeof(buffer), "%lld:%02lld:%02lld", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60), static_cast<long long>(whole % 60));
  return buffer;
}

/// Columns that UTF-8 `text` takes on a terminal (one per code point; no wide or combining characters are
/// used here).
inline std::size_t display_width(const std::string& text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  return width;
}

}  // namespace lab
