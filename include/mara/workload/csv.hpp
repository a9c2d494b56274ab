#pragma once
// Comma-separated files with a header row: fields by column name, every error with file, line and field.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/read_field.hpp"

namespace mara {

/// Success for text; kParse, naming the file, when it is empty or has NUL bytes.
inline Status check_text(std::string_view text, const std::string& name) {
  if (text.empty()) return Error{ErrorCode::kParse, name + ": the file is empty"};
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return Error{ErrorCode::kParse,
                 name + ": not a text file (zero byte at offset " + std::to_string(nul) + ")"};
  return {};
}

/// Reads a whole text file. Errors: kIo for what is missing, a directory or unreadable; those of check_text.
inline Result<std::string> read_text_file(const std::string& path) {
  std::string text;
  if (const Status read = read_file(path, text); !read) return read.error();
  if (const Status sound = check_text(text, path); !sound) return sound.error();
  return text;
}

/// A CSV document (RFC 4180: quotes, doubled quotes, line breaks inside quotes, LF or CRLF; blank lines are
/// skipped; a UTF-8 byte order mark is ignored) read row by row.
class Csv {
 public:
  /// Opens a file and reads its header. Errors: those of read_text_file and of parse.
  static Result<Csv> open(const std::string& path) {
    auto text = read_text_file(path);
    if (!text) return text.error();
    return parse(std::move(*text), path);
  }

  /// Takes the document itself; `name` stands for the file in messages. Errors: kParse for no header, an
  /// empty or a repeated column name, or bad quoting.
  static Result<Csv> parse(std::string text, std::string name) {
    Csv csv(std::move(text), std::move(name));
    if (csv.text_.starts_with("\xEF\xBB\xBF")) csv.position_ = 3;
    auto found = csv.read_record(csv.header_);
    if (!found) return found.error();
    if (!*found) return Error{ErrorCode::kParse, csv.name_ + ": the file has no header row"};
    for (std::size_t i = 0; i < csv.header_.size(); ++i) {
      const std::string& column = csv.header_[i];
      if (column.empty()) return csv.error("", "empty name of column " + std::to_string(i + 1));
      for (std::size_t j = 0; j < i; ++j)
        if (csv.header_[j] == column) return csv.error(detail::printable(column), "column appears twice");
    }
    return csv;
  }

  /// Checks the header: every required column is there, and none is outside required and optional.
  /// Errors: kParse naming the column.
  Status expect_columns(std::initializer_list<std::string_view> required,
                        std::initializer_list<std::string_view> optional) const {
    for (const std::string& column : header_) {
      bool known = false;
      for (auto name : required) known = known || name == column;
      for (auto name : optional) known = known || name == column;
      if (!known) return error(detail::printable(column), "unknown column");
    }
    for (auto name : required)
      if (column(name) < 0) return error(name, "column is missing");
    return {};
  }

  /// Index of a column, or -1.
  int column(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < header_.size(); ++i)
      if (header_[i] == name) return static_cast<int>(i);
    return -1;
  }

  /// Moves to the next row; false at the end. Errors: kParse for bad quoting or a wrong number of fields.
  Result<bool> next() {
    auto found = read_record(row_);
    if (!found || !*found) return found;
    if (row_.size() != header_.size())
      return Error{ErrorCode::kParse, position_text() + ": " + std::to_string(row_.size()) +
                                          " fields, the header has " + std::to_string(header_.size())};
    return true;
  }

  /// Line on which the present row starts, from 1.
  std::size_t line() const noexcept { return line_; }

  /// Text of a field of the present row; empty when the column is absent.
  std::string_view text(std::string_view name) const noexcept {
    const int i = column(name);
    return i < 0 ? std::string_view{} : std::string_view{row_[static_cast<std::size_t>(i)]};
  }

  /// Field as a number in [low, high]. Errors: those of field_number, naming file, line, field and value.
  Result<double> number(std::string_view name, double low, double high) const {
    return field_number(place(name), text(name), low, high);
  }

  /// Field as a whole number in [low, high]. Errors as number().
  Result<std::int64_t> integer(std::string_view name, std::int64_t low, std::int64_t high) const {
    return field_integer(place(name), text(name), low, high);
  }

  /// Where a field of the present row stands.
  FieldPlace place(std::string_view name) const noexcept { return {name_, line_, name}; }

  /// An error about a field of the present row: "file:line: field 'name': value 'v' what".
  Error bad(std::string_view name, const std::string& what,
            ErrorCode code = ErrorCode::kInvalidArgument) const {
    return bad_field(place(name), text(name), what, code);
  }

  /// An error about the present row: "file:line: field 'name': what".
  Error error(std::string_view name, const std::string& what, ErrorCode code = ErrorCode::kParse) const {
    return field_error(place(name), what, code);
  }

 private:
  Csv(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}

  std::string position_text() const { return name_ + ":" + std::to_string(line_); }

  bool at_line_end() const noexcept {
    return position_ >= text_.size() || text_[position_] == '\n' ||
           (text_[position_] == '\r' && position_ + 1 < text_.size() && text_[position_ + 1] == '\n');
  }

  void skip_line_end() noexcept {
    if (position_ < text_.size() && text_[position_] == '\r') ++position_;
    if (position_ < text_.size()) ++position_;
    ++next_line_;
  }

  Result<bool> read_record(std::vector<std::string>& fields) {
    while (position_ < text_.size() && at_line_end()) skip_line_end();
    if (position_ >= text_.size()) return false;
    line_ = next_line_;
    fields.clear();
    for (;;) {
      std::string field;
      if (position_ < text_.size() && text_[position_] == '"') {
        if (auto status = read_quoted(field); !status) return status.error();
      } else {
        while (!at_line_end() && text_[position_] != ',') {
          if (text_[position_] == '"')
            return Error{ErrorCode::kParse, position_text() + ": quote inside an unquoted field"};
          field += text_[position_++];
        }
      }
      fields.push_back(std::move(field));
      if (at_line_end()) break;
      ++position_;  // the comma
    }
    if (position_ < text_.size()) skip_line_end();
    return true;
  }

  Status read_quoted(std::string& field) {
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] == '\n') ++next_line_;
      if (text_[position_] == '"') {
        if (position_ + 1 < text_.size() && text_[position_ + 1] == '"') {
          ++position_;
        } else {
          ++position_;
          if (!at_line_end() && text_[position_] != ',')
            return Error{ErrorCode::kParse, position_text() + ": text after a closing quote"};
          return {};
        }
      }
      field += text_[position_];
    }
    return Error{ErrorCode::kParse, position_text() + ": quote that is never closed"};
  }

  std::string text_, name_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
  std::vector<std::string> header_, row_;
};

}  // namespace mara
