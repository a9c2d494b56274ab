#pragma once
// What the figures have in common: a page of pixels, colours, and gnuplot's settings.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "format.hpp"
#include "gnuplot.hpp"
#include "report.hpp"

namespace lab {

inline constexpr std::string_view kInk = "#1f2933", kQuiet = "#6b7785", kGrid = "#e4e8ec", kRule = "#a9b4c0",
                                  kBestRule = "#5b6b7c";

/// The colour of a policy, the same in every figure.
inline std::string policy_colour(std::string_view name, bool best_rule = false) {
  if (name == "mara") return "#0b7285";
  if (name == "mappo") return "#e8590c";
  if (name == "tuned-list") return "#b58900";
  if (name == "flow-executed") return "#7048a8";
  return std::string(best_rule ? kBestRule : kRule);
}

/// A rectangle of a figure in pixels from its upper left corner.
struct Panel {
  double left, right, top, bottom;
};

/// A drawing of a given size: `body` is a gnuplot script that places its panels by margins().
struct Drawing {
  double width = 1100.0, height = 500.0;
  std::string body;

  /// Puts the next plot into `panel`.
  std::string margins(const Panel& panel) const {
    return "set lmargin at screen " + format_exact(panel.left / width) + "\nset rmargin at screen " +
           format_exact(panel.right / width) + "\nset tmargin at screen " +
           format_exact(1.0 - panel.top / height) + "\nset bmargin at screen " +
           format_exact(1.0 - panel.bottom / height) + "\n";
  }
  /// A heading at a place in pixels; `text` is already fit for enhanced mode.
  std::string heading(double x, double y, const std::string& text, int size = 15,
                      std::string_view colour = kInk, bool bold = true) const {
    return "set label " + gnuplot_quote((bold ? "{/:Bold " : "{") + text + "}") + " at screen " +
           format_exact(x / width) + ", screen " + format_exact(1.0 - y / height) + " left font '," +
           std::to_string(size) + "' textcolor rgb '" + std::string(colour) + "'\n";
  }

  /// The whole script for one terminal: "svg" or "png".
  std::string script(std::string_view terminal, const std::filesystem::path& output) const {
    const std::string size = format_exact(width) + "," + format_exact(height);
    std::string text = "set encoding utf8\n";
    if (terminal == "svg") {
      text +=
          "set terminal svg size " + size + " dynamic enhanced font 'sans-serif,13' background rgb 'white'\n";
    } else {
      // Twice the pixels; sizes of text and lines follow.
      text += "set terminal pngcairo size " + format_exact(2 * width) + "," + format_exact(2 * height) +
              " enhanced font 'Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background rgb 'white'\n";
    }
    text += "set output " + gnuplot_quote(output.string()) + "\n";
    text +=
        "set border 3 linecolor rgb '#9aa5b1' linewidth 0.8\nset tics nomirror out scale 0.5 textcolor rgb "
        "'" +
        std::string(kInk) + "'\nset grid linetype 1 linecolor rgb '" + std::string(kGrid) +
        "' linewidth 0.8\nset format '%g'\nset xlabel textcolor rgb '" + std::string(kInk) +
        "'\nset ylabel textcolor rgb '" + std::string(kInk) + "'\nset key textcolor rgb '" +
        std::string(kInk) + "'\nset multiplot\n";
    return text + body + "unset multiplot\nunset output\n";
  }
};

/// Draws to folder/name.svg, and to folder/name.png as well when `png`. Errors: those of run_gnuplot; kIo for
/// a file that is missing or cut short, which gnuplot does not report (a full disk).
inline mara::Status draw(const Drawing& drawing, const std::filesystem::path& folder, const std::string& name,
                         bool png, const std::filesystem::path& scratch) {
  for (const std::string_view kind : {"svg", "png"}) {
    if (kind == "png" && !png) continue;
    const std::filesystem::path file = folder / (name + "." + std::string(kind));
    if (auto drawn = run_gnuplot(drawing.script(kind, file), scratch); !drawn) return drawn;
    std::ifstream written(file, std::ios::binary);
    std::string tail(16, ' ');
    written.seekg(-16, std::ios::end);
    written.read(tail.data(), 16);
    if (!written || tail.find(kind == "svg" ? "</svg>" : "IEND") == std::string::npos)
      return mara::Error{mara::ErrorCode::kIo,
                         file.string() + ": could not be written whole; is the disk full?"};
  }
  return {};
}

/// Fields of a line of a data block.
inline std::string join(std::initializer_list<std::string> fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : " ") + field;
  return line;
}
/// A number as gnuplot reads it back.
inline std::string exact(double value) {
  return format_exact(value);
}
/// "#ff8000" as the number that gnuplot takes for a variable colour.
inline std::string colour_number(const std::string& hex) {
  return std::to_string(std::stol(hex.substr(1), nullptr, 16));
}

/// A data block for the beginning of a script.
inline std::string data_block(const std::string& name, const std::vector<std::string>& lines) {
  std::string text = "$" + name + " << EOD\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + "EOD\n";
}

/// A round number of at least value.
inline double round_up(double value) {
  if (!(value > 0.0)) return 1.0;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
    if (value <= step * power * (1.0 + 1e-9)) return step * power;
  return 10.0 * power;
}

}  // namespace lab
