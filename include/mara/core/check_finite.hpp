#pragma once
// Guards for numbers that come from outside: the error names the field and the value.

#include <charconv>
#include <string>
#include <string_view>

#include "mara/core/libm.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The shortest decimal text that reads back as the same double; "nan", "inf", "-inf" otherwise. No locale.
inline std::string format_number(double value) {
  if (libm::isnan(value)) return "nan";  // to_chars would show its sign
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

/// Success when value is neither NaN nor infinite; otherwise kNumerical.
inline Status check_finite(double value, std::string_view field) {
  if (libm::isfinite(value)) return {};
  return Error{ErrorCode::kNumerical, std::string(field) + ": must be finite, is " + format_number(value)};
}

/// Success when value is finite and in [low, high]; otherwise kNumerical (not finite) or kInvalidArgument.
inline Status check_range(double value, double low, double high, std::string_view field) {
  if (Status finite = check_finite(value, field); !finite) return finite;
  if (value >= low && value <= high) return {};
  return Error{ErrorCode::kInvalidArgument, std::string(field) + ": must be in [" + format_number(low) +
                                                ", " + format_number(high) + "], is " + format_number(value)};
}

/// Success when value is finite and > 0; otherwise kNumerical (not finite) or kInvalidArgument.
inline Status check_positive(double value, std::string_view field) {
  if (Status finite = check_finite(value, field); !finite) return finite;
  if (value > 0.0) return {};
  return Error{ErrorCode::kInvalidArgument,
               std::string(field) + ": must be positive, is " + format_number(value)};
}

/// Success when value is finite and >= 0; otherwise kNumerical (not finite) or kInvalidArgument.
inline Status check_non_negative(double value, std::string_view field) {
  if (Status finite = check_finite(value, field); !finite) return finite;
  if (value >= 0.0) return {};
  return Error{ErrorCode::kInvalidArgument,
               std::string(field) + ": must not be negative, is " + format_number(value)};
}

}  // namespace mara
