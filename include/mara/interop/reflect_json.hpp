#pragma once
// Reflected structs to JSON and back, strictly: a misspelt key or a wrong type is an error, never a silent
// default.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "mara/core/result.hpp"
#include "mara/interop/reflect.hpp"

namespace mara {

template <Reflected T>
nlohmann::json to_json(const T& value);
template <Reflected T>
Status from_json(const nlohmann::json& json, T& value);

namespace detail {

/// A float as the double with the same shortest decimal text, so that 0.3f is written 0.3.
inline double json_float(float value) {
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value);
  double wide = 0.0;
  const auto read = std::from_chars(buffer, written.ptr, wide);
  return read.ec == std::errc{} && static_cast<float>(wide) == value ? wide : static_cast<double>(value);
}

/// A JSON value as one short line for an error message.
inline std::string json_excerpt(const nlohmann::json& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    const double number = json.get<double>();
    return std::isnan(number) ? "NaN" : number > 0 ? "infinity" : "-infinity";
  }
  std::string text = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text.replace(57, std::string::npos, "...");
  return text;
}

inline Error json_error(const std::string& path, std::string_view expected, const nlohmann::json& json) {
  return Error{ErrorCode::kParse, (path.empty() ? std::string("(whole document)") : path) + ": expected " +
                                      std::string(expected) + ", got " + json_excerpt(json)};
}

template <ReflectedMember T>
nlohmann::json member_to_json(const T& value) {
  if constexpr (Reflected<T>) {
    return mara::to_json(value);
  } else if constexpr (ReflectedVector<T>) {
    nlohmann::json array = nlohmann::json::array();
    for (const auto& element : value) array.push_back(member_to_json(element));
    return array;
  } else if constexpr (ReflectedOptional<T>) {
    return value ? member_to_json(*value) : nlohmann::json(nullptr);
  } else if constexpr (NamedEnum<T>) {
    return std::string(enum_name(value));
  } else if constexpr (std::same_as<T, float>) {
    return json_float(value);
  } else {
    return value;
  }
}

template <ReflectedInteger T>
Status integer_from_json(const nlohmann::json& json, const std::string& path, T& value) {
  const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<std::uint64_t>())
                    : json.is_number_integer() ? std::in_range<T>(json.get<std::int64_t>())
                                               : false;
  if (!fits) {
    const std::string range = "a whole number from " + std::to_string(std::numeric_limits<T>::min()) +
                              " to " + std::to_string(std::numeric_limits<T>::max());
    return json_error(path, json.is_number_integer() ? range : "a whole number", json);
  }
  value = json.get<T>();
  return {};
}

template <ReflectedMember T>
Status member_from_json(const nlohmann::json& json, const std::string& path, T& value);

template <Reflected T>
Status struct_from_json(const nlohmann::json& json, const std::string& path, T& value) {
  if (!json.is_object()) return json_error(path, "an object", json);
  constexpr auto names = member_names<T>();
  for (const auto& [key, entry] : json.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    std::string known;
    for (std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
    return Error{ErrorCode::kParse, (path.empty() ? key : path + "." + key) + ": unknown key (value " +
                                        json_excerpt(entry) + "); known here: " + known};
  }
  Status status;
  for_each_member(value, [&](std::string_view name, auto& member) {
    if (!status) return;
    const auto found = json.find(std::string(name));
    if (found == json.end()) return;
    status =
        member_from_json(*found, path.empty() ? std::string(name) : path + "." + std::string(name), member);
  });
  return status;
}

template <ReflectedMember T>
Status member_from_json(const nlohmann::json& json, const std::string& path, T& value) {
  if constexpr (Reflected<T>) {
    return struct_from_json(json, path, value);
  } else if constexpr (ReflectedVector<T>) {
    if (!json.is_array()) return json_error(path, "an array", json);
    T parsed;
    for (std::size_t i = 0; i < json.size(); ++i) {
      typename T::value_type element{};
      if (auto status = member_from_json(json[i], path + "[" + std::to_string(i) + "]", element); !status)
        return status;
      parsed.push_back(std::move(element));
    }
    value = std::move(parsed);
  } else if constexpr (ReflectedOptional<T>) {
    if (json.is_null()) {
      value.reset();
      return {};
    }
    typename T::value_type element{};
    if (auto status = member_from_json(json, path, element); !status) return status;
    value = std::move(element);
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return json_error(path, "true or false", json);
    value = json.get<bool>();
  } else if constexpr (ReflectedInteger<T>) {
    return integer_from_json(json, path, value);
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number()) return json_error(path, "a number", json);
    const T number = static_cast<T>(json.get<double>());
    if (!std::isfinite(number)) {
      Error error = json_error(path, "a finite number", json);
      error.code = ErrorCode::kNumerical;
      return error;
    }
    value = number;
  } else if constexpr (NamedEnum<T>) {
    const auto parsed = json.is_string() ? enum_value<T>(json.get_ref<const std::string&>()) : std::nullopt;
    if (!parsed) return json_error(path, "one of " + enum_choices<T>(), json);
    value = *parsed;
  } else {
    if (!json.is_string()) return json_error(path, "a string", json);
    value = json.get<std::string>();
  }
  return {};
}

}  // namespace detail

/// A reflected struct as a JSON object, members by name; nested structs are nested objects, vectors arrays,
/// named enums strings, empty optionals null.
template <Reflected T>
nlohmann::json to_json(const T& value) {
  nlohmann::json object = nlohmann::json::object();
  for_each_member(value, [&](std::string_view name, const auto& member) {
    static_assert(
        ReflectedMember<std::remove_cvref_t<decltype(member)>>,
        "mara::to_json: a reflected member must be bool, an integer, float, double, std::string, an enum "
        "with mara::EnumNames, a std::vector or std::optional of these, or a reflected struct");
    object[std::string(name)] = detail::member_to_json(member);
  });
  return object;
}

/// Reads a reflected struct from a JSON object. Missing keys keep what `value` holds. Errors: kParse for an
/// unknown key, a wrong type, an integer out of range, an unknown enumerator; kNumerical for NaN, infinity or
/// overflow. The message names the path of the field ("ppo.clip") and the value; `value` is then unchanged.
template <Reflected T>
Status from_json(const nlohmann::json& json, T& value) {
  T parsed = value;
  if (auto status = detail::struct_from_json(json, std::string(), parsed); !status) return status;
  value = std::move(parsed);
  return {};
}

/// As above, from text. A syntax error is kParse with its line and column.
template <Reflected T>
Status from_json_text(std::string_view text, T& value) {
  // The SAX error handler is avoided: an exception inside, caught here, carries the position in its message.
  try {
    return from_json(nlohmann::json::parse(text.begin(), text.end()), value);
  } catch (const nlohmann::json::exception& exception) {
    std::string message = exception.what();
    if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
    return Error{ErrorCode::kParse, "JSON: " + message};
  }
}

}  // namespace mara

/// json.get<T>() would find mara::from_json and drop its Status; so it does not compile for reflected
/// structs.
template <mara::Reflected T>
struct nlohmann::adl_serializer<T, void> {};
