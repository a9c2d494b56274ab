#pragma once
// Reads JSON piece by piece (RFC 8259). The caller says what may stand where, so nothing nests deeper than
// the caller's code.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Whether text is UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
inline bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < static_cast<std::size_t>(more)) return false;
    // The first byte that follows is bounded further where the code point would be overlong, a surrogate or
    // too large.
    unsigned char low = 0x80, high = 0xBF;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    for (int k = 0; k < more; ++k, low = 0x80, high = 0xBF) {
      const auto byte = static_cast<unsigned char>(text[i++]);
      if (byte < low || byte > high) return false;
    }
  }
  return true;
}

/// Appends text as a JSON string, quotes included. The text must be UTF-8.
inline void append_json_string(std::string& json, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      json += "\\u00";
      json += kDigits[byte >> 4];
      json += kDigits[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += '"';
}

/// A place in a JSON text. Every function reads one thing and moves on, or returns false and keeps the error.
class JsonCursor {
 public:
  /// `where`: what messages call the text.
  explicit JsonCursor(std::string_view text, std::string_view where = "header, ")
      : text_(text), where_(where) {}

  /// Notes what is wrong here; returns false.
  bool fail(std::string_view what) {
    message_ = std::string(where_) + "byte " + std::to_string(at_) + ": ";
    message_ += what;
    return false;
  }
  /// kParse, with what was noted.
  Error error() const { return Error{ErrorCode::kParse, message_}; }

  /// An object; member(key) reads each value and returns whether that went well.
  template <class F>
  bool object(F&& member) {
    if (!expect('{')) return false;
    if (next('}')) return true;
    std::string key;
    do {
      if (!string(key) || !expect(':') || !member(key)) return false;
    } while (next(','));
    return expect('}');
  }
  /// An array; item() reads each value.
  template <class F>
  bool array(F&& item) {
    if (!expect('[')) return false;
    if (next(']')) return true;
    do {
      if (!item()) return false;
    } while (next(','));
    return expect(']');
  }
  /// A number without sign, fraction or exponent that fits 64 bits.
  bool natural(std::uint64_t& value) {
    skip_blanks();
    const std::size_t begin = at_;
    value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (~std::uint64_t{0} - digit) / 10) return fail("a number that does not fit 64 bits");
      value = value * 10 + digit;
    }
    if (at_ == begin) return fail("expected a natural number");
    if (text_[begin] == '0' && at_ - begin > 1) return fail("a number with a leading zero");
    return true;
  }
  /// Any number: its text, which is a JSON number.
  bool number(std::string_view& text);
  /// The next character that is no blank, not taken; 0 at the end.
  char peek() noexcept {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// "true", "false" or "null".
  bool word(std::string_view expected) {
    skip_blanks();
    if (text_.substr(at_, expected.size()) != expected) return fail("expected a value");
    at_ += expected.size();
    return true;
  }
  /// A string, its escapes resolved; UTF-8.
  bool string(std::string& value);
  /// The end of the text; only spaces may be left, or any blanks.
  bool finish(bool any_blanks = false) {
    if (any_blanks) skip_blanks();
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size() || fail("there is more than one value");
  }

 private:
  void skip_blanks() noexcept {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool next(char c) noexcept {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool expect(char c) { return next(c) || fail(std::string("expected '") + c + "'"); }
  bool escape(std::string& value);
  bool hexadecimal(std::uint32_t& unit);

  std::string_view text_, where_;
  std::size_t at_ = 0;
  std::string message_;
};

inline bool JsonCursor::number(std::string_view& text) {
  skip_blanks();
  const std::size_t begin = at_;
  const auto at_digit = [this] { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; };
  const auto at_one_of = [this](char a, char b) {
    return at_ < text_.size() && (text_[at_] == a || text_[at_] == b);
  };
  const auto digits = [&] {
    const std::size_t first = at_;
    while (at_digit()) ++at_;
    return at_ > first;
  };
  if (at_one_of('-', '-')) ++at_;
  const std::size_t whole = at_;
  bool good = digits() && (text_[whole] != '0' || at_ == whole + 1);
  if (good && at_one_of('.', '.')) {
    ++at_;
    good = digits();
  }
  if (good && at_one_of('e', 'E')) {
    ++at_;
    if (at_one_of('+', '-')) ++at_;
    good = digits();
  }
  text = text_.substr(begin, at_ - begin);
  return good || fail("expected a value");
}

inline bool JsonCursor::string(std::string& value) {
  if (!expect('"')) return false;
  value.clear();
  for (std::size_t begin = at_;; begin = at_) {
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    const std::string_view plain = text_.substr(begin, at_ - begin);
    if (!is_utf8(plain)) return fail("text that is not UTF-8");
    value += plain;
    if (at_ == text_.size()) return fail("a string without an end");
    const char c = text_[at_++];
    if (c == '"') return true;
    if (c != '\\') return fail("a control character in a string");
    if (!escape(value)) return false;
  }
}

/// What follows a backslash.
inline bool JsonCursor::escape(std::string& value) {
  if (at_ == text_.size()) return fail("a string without an end");
  const char c = text_[at_++];
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const std::size_t which = kNames.find(c); which != std::string_view::npos) {
    value += kMeanings[which];
    return true;
  }
  std::uint32_t code = 0, low = 0;
  if (c != 'u') return fail("an unknown escape");
  if (!hexadecimal(code)) return false;
  if (code >= 0xD800 && code < 0xE000) {  // half of a pair, UTF-16
    if (code >= 0xDC00 || text_.substr(at_, 2) != "\\u") return fail("half of a surrogate pair");
    at_ += 2;
    if (!hexadecimal(low)) return false;
    if (low < 0xDC00 || low >= 0xE000) return fail("half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  const auto put = [&value](std::uint32_t byte) {
    value += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 63));
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  }
  return true;
}

inline bool JsonCursor::hexadecimal(std::uint32_t& unit) {
  unit = 0;
  for (int k = 0; k < 4; ++k) {
    const char c = at_ < text_.size() ? text_[at_] : ' ';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return fail("\\u needs four hexadecimal digits");
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
    ++at_;
  }
  return true;
}

}  // namespace mara
