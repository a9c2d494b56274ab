#pragma once
// Parts of option texts of mara-lab simulate, and errors that name the option.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"
#include "options.hpp"

namespace lab {

/// An error that names the option, what it must be, and the text that it was given or a part of it.
inline mara::Error refuse_option(const std::string& option, const std::string& rule, std::string_view value) {
  return detail::bad_option(option, rule, "'" + std::string(value) + "'");
}

/// An error that names the option, then says what was wrong.
inline mara::Error at_option(const char* option, const mara::Error& error) {
  return mara::Error{error.code, "--" + std::string(option) + ": " + error.message};
}

/// The parts of a text between its commas; none of an empty one.
inline std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return parts;
}

/// Numbers between commas, each from 0 to `most`; nothing for any other text.
inline std::optional<std::vector<double>> numbers(std::string_view text, double most) {
  std::vector<double> values;
  for (const std::string_view part : split_at_commas(text)) {
    const auto number = mara::parse_double(part, "");
    if (!number || !(*number >= 0.0 && *number <= most)) return std::nullopt;
    values.push_back(*number);
  }
  return values;
}

/// "NAME=VALUE", parted at the last '='.
struct Setting {
  std::string_view name, value;
};
inline std::optional<Setting> setting(std::string_view part) {
  const std::size_t equals = part.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return Setting{part.substr(0, equals), part.substr(equals + 1)};
}

}  // namespace lab
