// Bars of mean JCT, and the difference to the best rule.

#include <algorithm>

#include "drawings.hpp"
#include "format.hpp"
#include "table.hpp"

namespace lab {

Drawing policies_drawing(const std::vector<PolicyRow>& rows) {
  std::vector<const PolicyRow*> shown;
  for (const PolicyRow& row : rows)
    if (row.metrics.mean_jct_s) shown.push_back(&row);
  std::stable_sort(shown.begin(), shown.end(), [](const PolicyRow* a, const PolicyRow* b) {
    return *a->metrics.mean_jct_s > *b->metrics.mean_jct_s;
  });
  const TimeUnit unit = report_unit(rows);
  const auto count = static_cast<double>(shown.size());
  const double largest = *shown.front()->metrics.mean_jct_s / unit.seconds;
  const double smallest = *shown.back()->metrics.mean_jct_s / unit.seconds;
  // One hopeless policy must not squeeze the others: its bar is cut and says so.
  const double limit = largest > 6.0 * smallest ? 5.0 * smallest : largest * 1.02;
  double span = limit;  // whiskers may reach further, within reason
  for (const PolicyRow* row : shown)
    if (row->jct_over_seeds)
      span = std::max(span, std::min(row->jct_over_seeds->high / unit.seconds, 1.5 * limit));

  Drawing drawing;
  drawing.height = 134.0 + 34.0 * count;
  const bool compared = std::any_of(shown.begin(), shown.end(), [](const auto* r) { return r->best_rule; });
  const Panel left{120, compared ? 560.0 : 1020.0, 62, drawing.height - 66};
  const Panel right{690, 1020, left.top, left.bottom};

  std::vector<std::string> bars, texts, whiskers, names, versus, outside;
  double low = -10.0, high = 10.0;
  for (const PolicyRow* row : shown) {
    if (!row->vs_best_rule_percent) continue;
    low = std::min(low, row->vs_best_rule_percent->low);
    high = std::max(high, row->vs_best_rule_percent->high);
  }
  high = std::min(high, 100.0) * 1.05;
  low *= 1.15;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const PolicyRow& row = *shown[i];
    const auto y = static_cast<double>(i) + 1.0;
    const double value = *row.metrics.mean_jct_s / unit.seconds;
    const std::string colour = colour_number(policy_colour(row.name, row.best_rule));
    const double end = std::min(value, limit);
    bars.push_back(
        join({exact(end / 2), exact(y), "0", exact(end), exact(y - 0.32), exact(y + 0.32), colour}));
    double reach = end;
    std::string text = format_three(value);
    if (row.jct_over_seeds && value <= limit) {
      const double half = (row.jct_over_seeds->high - row.jct_over_seeds->estimate) / unit.seconds;
      reach = std::min(value + half, span);
      whiskers.push_back(join({exact(value), exact(y), exact(std::max(0.0, value - half)), exact(reach)}));
      text = format_plus_minus(value, half);
    }
    if (value > limit) text += " \u2192";
    texts.push_back(join({exact(reach), exact(y), "\"  " + text + "\""}));
    names.push_back(gnuplot_quote(gnuplot_plain(row.name)) + " " + exact(y));
    if (row.best_rule) {
      versus.push_back(join({"0", exact(y), "0", "0", colour}));
    } else if (row.vs_best_rule_percent) {
      const mara::Interval& v = *row.vs_best_rule_percent;
      if (v.estimate <= high)
        versus.push_back(
            join({exact(v.estimate), exact(y), exact(v.low), exact(std::min(v.high, high)), colour}));
      else
        outside.push_back(join({exact(high), exact(y), "\"" + signed_percent(v.estimate) + " % \u2192\""}));
    }
  }
  std::string ytics = "set ytics (";
  for (std::size_t i = 0; i < names.size(); ++i) ytics += (i == 0 ? "" : ", ") + names[i];
  ytics += ") scale 0\n";
  std::string& body = drawing.body;
  body += data_block("bars", bars) + data_block("texts", texts);
  if (!whiskers.empty()) body += data_block("whiskers", whiskers);
  if (!versus.empty()) body += data_block("versus", versus);
  if (!outside.empty()) body += data_block("outside", outside);
  const std::string yrange = "set yrange [0.35:" + exact(count + 0.65) + "]\n";
  body += drawing.margins(left) + yrange + ytics + "set grid noytics xtics\nset border 2\n" +
          "set xrange [0:" + exact(span * 1.3) + "]\nset xlabel 'mean JCT, " + unit.name + "'\n" +
          drawing.heading(24, 28, "Mean job completion time") +
          "plot $bars using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 noborder linecolor rgb "
          "variable notitle, \\\n" +
          (whiskers.empty()
               ? std::string()
               : "  $whiskers using 1:2:3:4 with xerrorbars pointtype 0 linewidth 1.4 linecolor rgb '" +
                     std::string(kInk) + "' notitle, \\\n") +
          "  $texts using 1:2:3 with labels left font ',11' textcolor rgb '" + std::string(kInk) +
          "' notitle\n";
  if (compared && !versus.empty()) {
    body +=
        "unset label\n" + drawing.margins(right) + yrange + "set xrange [" + exact(low) + ":" + exact(high) +
        "]\nset xlabel 'difference of mean JCT, %'\nset border 0\nset xtics scale 0.5\n" +
        drawing.heading(right.left - 96, 28,
                        "Against the best rule (" + gnuplot_plain(best_rule_name(rows)) + "), same jobs") +
        "set arrow 1 from 0, graph 0 to 0, graph 1 nohead linewidth 1.2 linecolor rgb '" +
        std::string(kBestRule) +
        "'\nplot $versus using 1:2:3:4:5 with xerrorbars pointtype 7 pointsize 0.8 linewidth 1.8 linecolor "
        "rgb "
        "variable notitle" +
        (outside.empty() ? std::string()
                         : ", \\\n  $outside using 1:2:3 with labels right font ',11' textcolor rgb '" +
                               std::string(kQuiet) + "' notitle") +
        "\n";
  }
  return drawing;
}

}  // namespace lab
