#pragma once
// Fields of comma-separated text, as they are written.

#include <cstdint>
#include <string>
#include <string_view>

#include "mara/core/resource.hpp"

namespace mara {

/// A number of GPUs or cores in decimal without trailing zeros: "4", "0.46".
inline std::string gpus_text(Milli gpus) {
  std::string text = std::to_string(gpus.value / 1000);
  const std::int64_t thousandths = gpus.value % 1000;
  if (thousandths == 0) return text;
  text += "." + std::to_string(1000 + thousandths).substr(1);  // keeps leading zeros
  while (text.back() == '0') text.pop_back();
  return text;
}

/// `text` as one field of a CSV line: in quotes when it holds a comma, a quote or a line break (RFC 4180).
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace mara
