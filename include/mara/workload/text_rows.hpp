#pragma once
// Files of one row a line without a header (SWF, Gavel): the columns have their names from the format.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/workload/read_field.hpp"

namespace mara {

/// How the fields of a line are separated: by any number of blanks and tabs, or by single tabs.
enum class Separator : std::uint8_t { kBlanks, kTab };

/// Rows of a text, LF or CRLF; blank lines and lines that begin with `comment` (after blanks; 0: none) are
/// skipped, a byte order mark is ignored.
class TextRows {
 public:
  /// `name` stands for the file in messages; `columns` must outlive the rows.
  TextRows(std::string text, std::string name, std::span<const std::string_view> columns, Separator separator,
           char comment)
      : text_(std::move(text)),
        name_(std::move(name)),
        columns_(columns),
        separator_(separator),
        comment_(comment) {
    if (std::string_view(text_).starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  /// Moves to the next row; false at the end. Errors: kParse for a wrong number of fields.
  Result<bool> next() {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line(text_.data() + at_, end - at_);
      at_ = end + 1;
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::size_t first = line.find_first_not_of(" \t");
      if (first == std::string_view::npos || (comment_ != '\0' && line[first] == comment_)) continue;
      split(line);
      if (fields_.size() == columns_.size()) return true;
      return Error{ErrorCode::kParse, name_ + ":" + std::to_string(line_) + ": " +
                                          std::to_string(fields_.size()) + " fields, expected " +
                                          std::to_string(columns_.size())};
    }
    return false;
  }

  /// Line of the present row, from 1.
  std::size_t line() const noexcept { return line_; }
  /// Text of a field of the present row; empty for an unknown name.
  std::string_view text(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == name) return fields_[i];
    return {};
  }
  /// Where a field of the present row stands.
  FieldPlace place(std::string_view name) const noexcept { return {name_, line_, name}; }

 private:
  void split(std::string_view line) {
    fields_.clear();
    if (separator_ == Separator::kTab) {
      for (;;) {
        const std::size_t tab = line.find('\t');
        fields_.push_back(line.substr(0, tab));
        if (tab == std::string_view::npos) return;
        line.remove_prefix(tab + 1);
      }
    }
    for (;;) {
      const std::size_t first = line.find_first_not_of(" \t");
      if (first == std::string_view::npos) return;
      line.remove_prefix(first);
      const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
      fields_.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }

  std::string text_, name_;
  std::span<const std::string_view> columns_;
  Separator separator_;
  char comment_;
  std::size_t at_ = 0, line_ = 0;
  std::vector<std::string_view> fields_;
};

}  // namespace mara
