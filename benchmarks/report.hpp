#pragma once
// Tables of results, printed as Markdown for people or as JSON for programs.

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

/// A number with the decimals to print it with; in JSON it keeps all of them.
struct Number {
  double value = 0.0;
  int decimals = 0;
};

/// Text or a number.
using Cell = std::variant<std::string, Number>;

/// A time in nanoseconds or whatever else needs about four digits.
inline Number about(double value) {
  const double size = std::abs(value);
  return {value, size >= 1000.0 ? 0 : size >= 100.0 ? 1 : size >= 1.0 ? 2 : 4};
}
inline Number ratio(double value) {
  return {value, std::abs(value) >= 10.0 ? 1 : 2};
}

/// A titled table; every row has as many cells as there are columns.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

namespace detail {

inline void print_quoted(const std::string& text) {
  std::putchar('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') std::putchar('\\');
    std::putchar(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  std::putchar('"');
}

/// 12345.6 as 12,346 (groups of three before the point).
inline std::string grouped(const Number& number) {
  if (!std::isfinite(number.value)) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", number.decimals, number.value);
  std::string text = buffer;
  const std::size_t point = text.find('.');
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t at = point == std::string::npos ? text.size() : point; at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

inline void print_markdown(const Table& table) {
  std::printf("**%s**\n\n|", table.title.c_str());
  for (const std::string& column : table.columns) std::printf(" %s |", column.c_str());
  std::printf("\n|");
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool numeric = !table.rows.empty() && std::holds_alternative<Number>(table.rows.front()[c]);
    std::printf(numeric ? " ---: |" : " --- |");
  }
  std::printf("\n");
  for (const auto& row : table.rows) {
    std::printf("|");
    for (const Cell& cell : row) {
      const auto* text = std::get_if<std::string>(&cell);
      std::printf(" %s |", text != nullptr ? text->c_str() : grouped(std::get<Number>(cell)).c_str());
    }
    std::printf("\n");
  }
  std::printf("\n");
}

inline void print_json(const Table& table) {
  std::printf("{\"title\": ");
  print_quoted(table.title);
  std::printf(", \"rows\": [");
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::printf(r == 0 ? "\n  {" : ",\n  {");
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) std::printf(", ");
      print_quoted(table.columns[c]);
      std::printf(": ");
      const Cell& cell = table.rows[r][c];
      if (const auto* text = std::get_if<std::string>(&cell)) {
        print_quoted(*text);
      } else if (const double value = std::get<Number>(cell).value; std::isfinite(value)) {
        std::printf("%.9g", value);
      } else {
        std::printf("null");
      }
    }
    std::printf("}");
  }
  std::printf("]}");
}

}  // namespace detail

/// Prints to standard output: Markdown tables one after the other, or one JSON array of {title, rows}.
inline void print(const std::vector<Table>& tables, bool json) {
  if (!json) {
    for (const Table& table : tables) detail::print_markdown(table);
    return;
  }
  std::printf("[");
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) std::printf(",\n");
    detail::print_json(tables[i]);
  }
  std::printf("]\n");
}

}  // namespace bench
