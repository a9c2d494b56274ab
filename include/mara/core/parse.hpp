#pragma once
// Strict reading of numbers from text: the whole text is one finite number, or there is an error. No locale,
// no surrounding blanks, no leading plus sign, no hexadecimal.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mara/core/libm.hpp"
#include "mara/core/result.hpp"

namespace mara {
namespace detail {

/// text in double quotes for a message of one line: at most 40 bytes of it, control bytes shown as '?'.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return shown + (text.size() > kShown ? "...\"" : "\"");
}

template <class Number>
Result<Number> parse_number(std::string_view text, std::string_view field, const char* expected) {
  const auto refuse = [&](const char* why) {
    return Error{ErrorCode::kParse, std::string(field) + ": " + quoted(text) + " " + why + expected};
  };
  if (text.empty()) return refuse("is empty, expected ");
  Number value{};
  const char* const last = text.data() + text.size();
  const std::from_chars_result end = std::from_chars(text.data(), last, value);
  if (end.ec == std::errc::result_out_of_range && end.ptr == last) return refuse("is out of range for ");
  if (end.ec != std::errc{} || end.ptr != last) return refuse("is not ");
  return value;
}

}  // namespace detail

/// The finite decimal number that `text` spells ("12", "-0.5", "1e-3"). kParse, with `field` and the text in
/// the message, when it is empty, has anything else in it, overflows, underflows to zero, or is "nan" or
/// "inf".
inline Result<double> parse_double(std::string_view text, std::string_view field) {
  Result<double> parsed = detail::parse_number<double>(text, field, "a finite number");
  if (parsed && !libm::isfinite(*parsed)) {
    return Error{ErrorCode::kParse,
                 std::string(field) + ": " + detail::quoted(text) + " is not a finite number"};
  }
  return parsed;
}

/// The 64-bit integer that `text` spells in base 10; errors as parse_double ("3.0" is not an integer).
inline Result<std::int64_t> parse_int(std::string_view text, std::string_view field) {
  return detail::parse_number<std::int64_t>(text, field, "a 64-bit integer");
}

}  // namespace mara
