#pragma once
// How --help looks: names in a left column, wrapped explanations with the default in the right one.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

namespace lab {

/// `text` wrapped at `width`; lines after the first start with `indent` spaces.
inline std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (column > 0 && column + 1 + word.size() > width) {
      wrapped.append("\n").append(indent, ' ');
      column = 0;
    } else if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped.append(word);
    column += word.size();
  }
  return wrapped;
}

/// CLI11's help with wrapped texts and "(default: x)".
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_type_name().empty()) return {};
    return " " + option->get_type_name() + (option->get_required() ? " (required)" : "");
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_type_size() != 0 && !option->get_default_str().empty())
      text += " (default: " + option->get_default_str() + ")";
    return wrap(text, kWidth - kColumn, 0);  // CLI11 indents what follows a line break
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::string line = "  " + command->get_name();
    line.resize(std::max<std::size_t>(line.size() + 1, 12), ' ');
    return line + wrap(command->get_description(), kWidth - 12, 12) + "\n";
  }

 private:
  static constexpr std::size_t kColumn = 27, kWidth = 100;
};

}  // namespace lab
