#pragma once
// Reflected structs to command-line options (CLI11): member `learning_rate` becomes --learning-rate, with its
// help text and its default.

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/interop/reflect.hpp"

namespace mara {

/// "learning_rate" to "learning-rate".
inline std::string kebab_case(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c == '_') c = '-';
  return text;
}

namespace detail {

inline Error text_error(std::string_view expected, std::string_view text) {
  return Error{ErrorCode::kParse, "expected " + std::string(expected) + ", got '" + std::string(text) + "'"};
}

/// Splits at commas; "" has no parts.
inline std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) parts.push_back(text);
  }
  return parts;
}

/// Name of a member type for the help: INT, NUMBER, TEXT, a list of choices, or a comma list of these.
template <class T>
std::string option_type() {
  if constexpr (ReflectedVector<T>) {
    return option_type<typename T::value_type>() + ",...";
  } else if constexpr (ReflectedOptional<T>) {
    return option_type<typename T::value_type>();
  } else if constexpr (std::same_as<T, bool>) {
    return "true|false";
  } else if constexpr (ReflectedInteger<T>) {
    return "INT";
  } else if constexpr (std::floating_point<T>) {
    return "NUMBER";
  } else if constexpr (NamedEnum<T>) {
    return enum_choices<T>();
  } else {
    return "TEXT";
  }
}

}  // namespace detail

/// Reads a member's value from text: the whole of it, in its range, finite. Vectors are comma lists. Errors:
/// kParse (kNumerical for NaN and infinity) with the value; `value` is then unchanged.
template <class T>
requires ReflectedScalar<T> || ReflectedVector<T> || ReflectedOptional<T> Status
parse_text(std::string_view text, T& value) {
  if constexpr (ReflectedVector<T>) {
    T parsed;
    for (std::string_view part : detail::split_commas(text)) {
      typename T::value_type element{};
      if (auto status = parse_text(part, element); !status) return status;
      parsed.push_back(std::move(element));
    }
    value = std::move(parsed);
  } else if constexpr (ReflectedOptional<T>) {
    typename T::value_type element{};
    if (auto status = parse_text(text, element); !status) return status;
    value = std::move(element);
  } else if constexpr (std::same_as<T, bool>) {
    if (text != "true" && text != "false") return detail::text_error("true or false", text);
    value = text == "true";
  } else if constexpr (NamedEnum<T>) {
    const auto parsed = enum_value<T>(text);
    if (!parsed) return detail::text_error("one of " + enum_choices<T>(), text);
    value = *parsed;
  } else if constexpr (std::same_as<T, std::string>) {
    value = std::string(text);
  } else {
    constexpr std::string_view kKind = ReflectedInteger<T> ? "a whole number" : "a number";
    T number{};
    const char* const end = text.data() + text.size();
    const auto [position, code] = std::from_chars(text.data(), end, number);
    if (code == std::errc::result_out_of_range) {
      if constexpr (ReflectedInteger<T>)
        return detail::text_error("a whole number from " + std::to_string(std::numeric_limits<T>::min()) +
                                      " to " + std::to_string(std::numeric_limits<T>::max()),
                                  text);
    }
    if (code != std::errc{} || position != end) return detail::text_error(kKind, text);
    if constexpr (std::floating_point<T>) {
      if (!std::isfinite(number))
        return Error{ErrorCode::kNumerical, detail::text_error("a finite number", text).message};
    }
    value = number;
  }
  return {};
}

/// A member's value as the text that parse_text reads.
template <class T>
requires ReflectedScalar<T> || ReflectedVector<T> || ReflectedOptional<T> std::string to_text(
    const T& value) {
  if constexpr (ReflectedVector<T>) {
    std::string text;
    std::string_view separator = "";
    for (const auto& element : value) {
      text.append(separator).append(to_text(element));
      separator = ",";
    }
    return text;
  } else if constexpr (ReflectedOptional<T>) {
    return value ? to_text(*value) : std::string();
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (NamedEnum<T>) {
    return std::string(enum_name(value));
  } else if constexpr (std::same_as<T, std::string>) {
    return value;
  } else {
    char buffer[40];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  }
}

namespace detail {

template <class T>
void add_option(CLI::App& app, T& member, const std::string& name, const MemberHelp& about) {
  const std::string help(about.text);
  if constexpr (std::same_as<T, bool>) {
    // A switch; one that is on by default can be switched off.
    app.add_flag(member ? name + ",!--no-" + name.substr(2) : name, member,
                 help + (member ? " (default: on)" : ""));
  } else {
    CLI::Option* option = app.add_option_function<std::string>(
        name,
        [&member, name](const std::string& text) {
          if (const auto status = parse_text(text, member); !status)
            throw CLI::ValidationError(name, status.error().message);
        },
        help);
    option->type_name(about.type.empty() ? option_type<T>() : std::string(about.type))
        ->default_str(to_text(member));
  }
}

template <Reflected T>
void add_struct_options(CLI::App& app, T& value, const std::string& prefix) {
  for_each_member(value, [&](std::string_view name, auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    static_assert(
        ReflectedMember<Member>,
        "mara::add_options: a reflected member must be bool, an integer, float, double, std::string, an "
        "enum with mara::EnumNames, a std::vector or std::optional of these, or a reflected struct");
    const std::string option = prefix + kebab_case(name);
    if constexpr (Reflected<Member>) {
      add_struct_options(app, member, option + "-");
    } else {
      add_option(app, member, "--" + option, member_help<T>(name));
    }
  });
}

}  // namespace detail

/// Adds an option for each member of `value`, which must outlive `app`: --kebab-case of prefix and name,
/// nested structs as --outer-inner; present values are the defaults shown. bool is a switch. While CLI11
/// parses, a bad value is a CLI::ValidationError (a CLI::ParseError) that names the option and the value.
/// Errors: kInvalidArgument when an option of that name exists already.
template <Reflected T>
Status add_options(CLI::App& app, T& value, std::string_view prefix = {}) {
  try {
    detail::add_struct_options(app, value, std::string(prefix));
  } catch (const CLI::Error& error) {
    return Error{ErrorCode::kInvalidArgument, error.what()};
  }
  return {};
}

}  // namespace mara
