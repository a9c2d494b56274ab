#pragma once
// Fields of text files as numbers: strict, and every error says file, line, field and value.

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Where a field stands.
struct FieldPlace {
  std::string_view file;
  std::size_t line = 0;
  std::string_view field;
};

namespace detail {

/// At most 40 characters of a field, none of them special: a message stays one short line of plain text
/// whatever the file holds.
inline std::string printable(std::string_view field) {
  std::string out;
  for (const char c : field.substr(0, 40)) out += (c < ' ' || c > '~') ? '?' : c;
  return field.size() > 40 ? out + "..." : out;
}

inline std::string short_number(double value) {
  char buffer[32];
  const auto done = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, done.ptr);
}

}  // namespace detail

/// "file:line: field 'name': what".
inline Error field_error(const FieldPlace& place, const std::string& what,
                         ErrorCode code = ErrorCode::kParse) {
  return Error{code, std::string(place.file) + ":" + std::to_string(place.line) + ": field '" +
                         std::string(place.field) + "': " + what};
}

/// "file:line: field 'name': value 'v' what".
inline Error bad_field(const FieldPlace& place, std::string_view text, const std::string& what,
                       ErrorCode code = ErrorCode::kInvalidArgument) {
  return field_error(place, "value '" + detail::printable(text) + "' " + what, code);
}

/// The text as a number in [low, high]. Errors: kParse (not a number), kNumerical (NaN, infinite),
/// kInvalidArgument (out of range).
inline Result<double> field_number(const FieldPlace& place, std::string_view text, double low, double high) {
  double value = 0.0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc::result_out_of_range) return bad_field(place, text, "is out of range");
  if (ec != std::errc{} || end != text.data() + text.size())
    return bad_field(place, text, "is not a number", ErrorCode::kParse);
  if (!std::isfinite(value)) return bad_field(place, text, "is not finite", ErrorCode::kNumerical);
  if (value < low) return bad_field(place, text, "is below " + detail::short_number(low));
  if (value > high) return bad_field(place, text, "is above " + detail::short_number(high));
  return value;
}

/// The text as a whole number in [low, high]. Errors as field_number.
inline Result<std::int64_t> field_integer(const FieldPlace& place, std::string_view text, std::int64_t low,
                                          std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc::result_out_of_range) return bad_field(place, text, "is out of range");
  if (ec != std::errc{} || end != text.data() + text.size())
    return bad_field(place, text, "is not a whole number", ErrorCode::kParse);
  if (value < low) return bad_field(place, text, "is below " + std::to_string(low));
  if (value > high) return bad_field(place, text, "is above " + std::to_string(high));
  return value;
}

/// The text, a decimal without exponent ("2", "0.46"), as an exact amount of 0 to `most` whole units. Errors
/// as field_number, and kInvalidArgument for an amount finer than a thousandth.
inline Result<Milli> field_milli(const FieldPlace& place, std::string_view text, std::int64_t most) {
  const auto number = field_number(place, text, 0.0, static_cast<double>(most));
  if (!number) return number.error();
  std::int64_t whole = 0;
  const char* const last = text.data() + text.size();
  const char* at = std::from_chars(text.data(), last, whole).ptr;
  Milli amount = Milli::whole(whole);
  if (at != last && *at == '.') {
    ++at;
    for (std::int64_t digit_value = 100; at != last && *at >= '0' && *at <= '9'; ++at, digit_value /= 10) {
      if (*at != '0' && digit_value == 0) return bad_field(place, text, "is finer than 0.001");
      amount.value += digit_value * (*at - '0');
    }
  }
  if (at != last) return bad_field(place, text, "is not a plain decimal number", ErrorCode::kParse);
  return amount;
}

/// Reads fields of the present row of a Csv or of TextRows; keeps the first error, after which every value is
/// the lowest that was allowed. To be asked at the end of the row.
template <class Rows>
class FieldReader {
 public:
  explicit FieldReader(const Rows& rows) : rows_(rows) {}

  double number(std::string_view name, double low, double high) {
    return keep(field_number(rows_.place(name), rows_.text(name), low, high), low);
  }
  std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high) {
    return keep(field_integer(rows_.place(name), rows_.text(name), low, high), low);
  }
  Milli milli(std::string_view name, std::int64_t most) {
    return keep(field_milli(rows_.place(name), rows_.text(name), most), Milli{});
  }
  /// The same for a column that may be absent or a field that may be empty.
  double number_or(std::string_view name, double low, double high, double otherwise) {
    return rows_.text(name).empty() ? otherwise : number(name, low, high);
  }
  std::int64_t integer_or(std::string_view name, std::int64_t low, std::int64_t high,
                          std::int64_t otherwise) {
    return rows_.text(name).empty() ? otherwise : integer(name, low, high);
  }
  /// Notes "value 'v' what" for a field unless there is an error already.
  void refuse(std::string_view name, const std::string& what) {
    if (!error_) error_ = bad_field(rows_.place(name), rows_.text(name), what);
  }
  /// What went wrong first, if anything did.
  const std::optional<Error>& error() const noexcept { return error_; }

 private:
  template <class T>
  T keep(const Result<T>& value, T otherwise) {
    if (value) return *value;
    if (!error_) error_ = value.error();
    return otherwise;
  }

  const Rows& rows_;
  std::optional<Error> error_;
};

}  // namespace mara
