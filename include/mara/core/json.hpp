#pragma once
// JSON documents (RFC 8259): read strictly, written so that equal values give equal text. Functions are
// templates, so that only programs that read or write JSON compile them.

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/json_cursor.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The text of a finite number in JSON: the shortest decimal that reads back as the same double, with a point
/// or an exponent ("1.0", "0.001", "1e-05", "1e+20").
inline std::string json_number_text(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
  std::string out;
  if (text.front() == '-') {
    out = "-";
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  const std::size_t sign = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + sign, text.data() + text.size(), exponent);
  const int count = static_cast<int>(digits.size()), point = exponent + 1;  // digits before the point
  const auto zeros = [](int n) { return std::string(static_cast<std::size_t>(n), '0'); };
  if (count <= point && point <= 15) return out + digits + zeros(point - count) + ".0";
  if (0 < point && point <= 15) return out + digits.insert(static_cast<std::size_t>(point), 1, '.');
  if (-4 < point && point <= 0) return out + "0." + zeros(-point) + digits;
  if (count > 1) digits.insert(1, 1, '.');
  const std::string power = std::to_string(exponent < 0 ? -exponent : exponent);
  return out + digits + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
}

/// A JSON value. Objects keep the order of their members; numbers keep their text.
class Json {
 public:
  enum class Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, Json>;

  Json() = default;
  Json(double value) : kind_(Kind::kNumber), text_(json_number_text(value)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : kind_(Kind::kNumber), text_(std::to_string(value)) {}
  Json(std::string value) : kind_(Kind::kString), text_(std::move(value)) {}
  Json(const char* value) : kind_(Kind::kString), text_(value) {}
  /// An array.
  template <std::convertible_to<Json> T>
  Json(const std::vector<T>& values) : kind_(Kind::kArray) {
    for (const T& value : values) items_.push_back(Json(value));
  }
  static Json array(std::vector<Json> values) {
    Json json;
    json.kind_ = Kind::kArray;
    json.items_ = std::move(values);
    return json;
  }
  static Json boolean(bool value) {
    Json json;
    json.kind_ = Kind::kBoolean;
    json.text_ = value ? "true" : "false";
    return json;
  }
  /// A number of which only the text is known.
  static Json number(std::string_view text) {
    Json json;
    json.kind_ = Kind::kNumber;
    json.text_ = text;
    return json;
  }
  static Json object(std::vector<std::pair<std::string, Json>> members = {}) {
    Json json;
    json.kind_ = Kind::kObject;
    for (auto& [key, value] : members) json.add(std::move(key), std::move(value));
    return json;
  }

  Kind kind() const noexcept { return kind_; }
  bool structured() const noexcept { return kind_ == Kind::kArray || kind_ == Kind::kObject; }
  /// What a string says; the text of a number; "true" or "false".
  const std::string& text() const noexcept { return text_; }
  /// Elements of an array, or values of an object.
  const std::vector<Json>& items() const noexcept { return items_; }
  /// Names of an object's values, in the same order.
  const std::vector<std::string>& keys() const noexcept { return keys_; }
  /// The value of a key, or null.
  const Json* find(std::string_view key) const noexcept {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (keys_[i] == key) return &items_[i];
    return nullptr;
  }
  /// Appends to an array or an object.
  void add(Json value) { items_.push_back(std::move(value)); }
  void add(std::string key, Json value) {
    keys_.push_back(std::move(key));
    items_.push_back(std::move(value));
  }
  /// The text of a value that is not structured.
  std::string scalar_text() const {
    std::string out = kind_ == Kind::kNull ? "null" : text_;
    if (kind_ != Kind::kString) return out;
    out.clear();
    append_json_string(out, text_);
    return out;
  }

 private:
  Kind kind_ = Kind::kNull;
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::string> keys_;
};

/// JSON text with objects over several lines, and on one line each array of plain values and, from the fourth
/// level on, each object of plain values.
template <class Value>
void write_json(const Value& value, std::string& out, int depth = 0) {
  const auto& items = value.items();
  if (!value.structured()) {
    out += value.scalar_text();
    return;
  }
  const bool object = value.kind() == Value::Kind::kObject;
  bool one_line = !object || depth > 2;
  for (const Value& item : items) one_line = one_line && !item.structured();
  const std::string line = "\n" + std::string(static_cast<std::size_t>(2 * depth), ' ');
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += one_line ? ", " : ",";
    if (!one_line) out += line + "  ";
    if (object) {
      append_json_string(out, value.keys()[i]);
      out += ": ";
    }
    write_json(items[i], out, depth + 1);
  }
  if (!one_line && !items.empty()) out += line;
  out += object ? '}' : ']';
}

namespace detail {

/// Reads any value; false when it went wrong. `twice`: the first key that is in an object for the second
/// time.
template <class Value>
bool read_json(JsonCursor& cursor, Value& value, int depth, std::string& twice) {
  constexpr int kDeepest = 100;
  if (depth > kDeepest) return cursor.fail("nested too deep");
  switch (cursor.peek()) {
    case '{':
      value = Value::object();
      return cursor.object([&](std::string& key) {
        if (twice.empty() && value.find(key) != nullptr) twice = key;
        Value member;
        if (!read_json(cursor, member, depth + 1, twice)) return false;
        value.add(std::move(key), std::move(member));
        return true;
      });
    case '[':
      value = Value::array({});
      return cursor.array([&] {
        Value item;
        if (!read_json(cursor, item, depth + 1, twice)) return false;
        value.add(std::move(item));
        return true;
      });
    case '"': {
      std::string text;
      const bool good = cursor.string(text);
      value = Value(std::move(text));
      return good;
    }
    case 't':
      value = Value::boolean(true);
      return cursor.word("true");
    case 'f':
      value = Value::boolean(false);
      return cursor.word("false");
    case 'n':
      return cursor.word("null");
    default:
      std::string_view text;
      if (!cursor.number(text)) return false;
      if (!parse_double(text, "number")) return cursor.fail("a number out of range, " + std::string(text));
      value = Value::number(text);
      return true;
  }
}

}  // namespace detail

/// Reads a document. kParse for text that is not JSON, with the place; for a number that no double holds; for
/// more than 100 levels; and for a key that an object has twice.
template <class Value = Json>
Result<Value> parse_json(std::string_view text) {
  JsonCursor cursor(text, "not valid JSON: ");
  Value value;
  std::string twice;
  if (!detail::read_json(cursor, value, 0, twice) || !cursor.finish(true)) return cursor.error();
  if (!twice.empty()) return Error{ErrorCode::kParse, "key '" + twice + "': appears twice"};
  return value;
}

}  // namespace mara
