#include "page.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "format.hpp"
#include "mara/cluster/cluster.hpp"
#include "table.hpp"

namespace lab {
namespace {

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1f2933; --quiet: #5f6c7b; --line: #dde3e9; --paper: #ffffff; --panel: #f6f8fa;
  --accent: #0b7285; --tint: #e6f4f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --quiet: #9aa7b4; --line: #34404b; --paper: #14191e;
  --panel: #1c2329; --accent: #5cc4d4; --tint: #15343a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .7rem; }
p { margin: .4rem 0; max-width: 46rem; }
.quiet { color: var(--quiet); }
.finding { border-left: 4px solid var(--accent); background: var(--tint); padding: .8rem 1.1rem; margin: 1.2rem 0;
  border-radius: 0 6px 6px 0; font-size: 1.08rem; }
.scroll + p { margin-top: .9rem; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .5rem .75rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
tr:last-child td, tr:last-child th { border-bottom: 0; }
thead th { background: var(--panel); font-weight: 600; vertical-align: bottom; }
th.text, td.text, tbody th { text-align: left; }
tbody th { font-weight: 600; position: sticky; left: 0; background: var(--paper); }
tr.mark td, tr.mark th { background: var(--tint); }
dl { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: .3rem 1.2rem; margin: .6rem 0;
  max-width: 60rem; }
dt { font-weight: 600; } dd { margin: 0; }
figure { margin: 1.2rem 0 2rem; }
figure img { display: block; width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: 8px; padding: .5rem; }
figcaption { color: var(--quiet); font-size: .9rem; margin-top: .5rem; max-width: 60rem; }
.wide { overflow-x: auto; } .wide img { min-width: 44rem; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto;
  font: .82rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
summary { cursor: pointer; } a { color: var(--accent); }
@media (max-width: 40rem) { body { padding: 1.2rem .8rem 3rem; } dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .6rem; } }
)css";

/// The result in one or two sentences.
std::string finding(const ReportInput& input, const std::vector<PolicyRow>& rows) {
  const std::string best = best_rule_name(rows);
  const auto find = [&](const std::string& name) -> const PolicyRow* {
    for (const PolicyRow& row : rows)
      if (row.name == name) return &row;
    return nullptr;
  };
  const PolicyRow* mara_row = find(input.timeline_policy);
  const PolicyRow* rule = find(best);
  if (mara_row == nullptr || rule == nullptr || !mara_row->metrics.mean_jct_s ||
      !mara_row->vs_best_rule_percent)
    return {};
  const mara::Interval& v = *mara_row->vs_best_rule_percent;
  std::string text = "<strong>" + escape(mara_row->name) + "</strong> completes jobs in " +
                     format_duration(mara_row->metrics.mean_jct_s) + " on average; the best rule, " +
                     escape(best) + ", in " + format_duration(rule->metrics.mean_jct_s) + ": <strong>" +
                     signed_percent(v.estimate) + "&nbsp;%</strong> (95&nbsp;% interval " +
                     signed_percent(v.low) + " to " + signed_percent(v.high) + ").";
  if (v.low <= 0.0 && v.high >= 0.0) text += " The interval holds zero: this run does not tell them apart.";
  return text;
}

std::string training_table(const ReportInput& input) {
  std::string html =
      "<h2>Training</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th "
      "class=\"text\">Learner</th><th>Seed</th>"
      "<th>Environment steps</th><th>Time</th><th>Steps to the best rule</th></tr></thead>\n<tbody>\n";
  for (const TrainingCurve& curve : input.training)
    html +=
        "<tr><th>" + escape(curve.name) + "</th><td>" + std::to_string(curve.seed) + "</td><td>" +
        std::to_string(curve.env_steps) + "</td><td>" + format_clock(curve.seconds) + "</td><td>" +
        (curve.steps_to_best_rule ? std::to_string(*curve.steps_to_best_rule) : std::string("not reached")) +
        "</td></tr>\n";
  return html +
         "</tbody></table></div>\n<p class=\"quiet\">Steps to the best rule: environment steps after which "
         "the mean JCT on "
         "the validation workloads was first at or below that of the best rule there.</p>\n";
}

}  // namespace

std::string render_page(const ReportInput& input, const std::vector<PolicyRow>& rows,
                        const std::vector<Figure>& figures) {
  const Table table = make_table(rows);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>mara: comparison of schedulers</title>\n"
      "<style>" +
      std::string(kStyle) + "</style>\n</head>\n<body>\n<header>\n<h1>Comparison of schedulers</h1>\n";
  html += "<p class=\"quiet\">" + escape(input.workload) +
          "<br>Cluster: " + escape(mara::to_string(input.cluster)) + " (" +
          std::to_string(input.cluster.gpus()) + " GPUs).</p>\n</header>\n<main>\n";
  if (const std::string text = finding(input, rows); !text.empty())
    html += "<p class=\"finding\">" + text + "</p>\n";

  html += "<h2>Results</h2>\n<div class=\"scroll\"><table>\n<thead><tr>";
  for (const TableColumn& column : table.columns)
    html += std::string("<th") + (column.numeric ? "" : " class=\"text\"") + " title=\"" +
            escape(column.meaning) + "\">" + escape(column.title) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += rows[r].name == input.timeline_policy ? "<tr class=\"mark\">" : "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      html += (c == 0 ? "<th>" : "<td>") + escape(table.cells[r][c]) + (c == 0 ? "</th>" : "</td>");
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  for (const std::string& note : input.notes) html += "<p>" + escape(note) + "</p>\n";
  html += "<details open><summary>What the columns say</summary>\n<dl>\n";
  for (const TableColumn& column : table.columns)
    html += "<dt>" + escape(column.title) + "</dt><dd>" + escape(column.meaning) + "</dd>\n";
  html += "</dl></details>\n<h2>Figures</h2>\n";
  for (const Figure& figure : figures)
    html += "<figure><div class=\"wide\"><a href=\"" + escape(figure.file) + "\"><img src=\"" +
            escape(figure.file) + "\" alt=\"" + escape(figure.title + ". " + figure.caption) +
            "\"></a></div><figcaption><strong>" + escape(figure.title) + ".</strong> " +
            escape(figure.caption) + "</figcaption></figure>\n";
  if (!input.training.empty()) html += training_table(input);

  html +=
      "<h2>Files</h2>\n<dl>\n<dt><a href=\"summary.json\">summary.json</a></dt><dd>All numbers of this page "
      "and the "
      "learning curves. Two runs with one seed differ in the member <code>timing</code> only.</dd>\n"
      "<dt><a href=\"jobs.csv\">jobs.csv</a></dt><dd>What became of each job under each policy: policy, job, "
      "submit, "
      "start, end (seconds), gpus and type at the end. Further seeds of a learner are named "
      "<code>mara#2</code>, "
      "<code>mara#3</code> and so on.</dd>\n";
  for (const ExtraFile& file : input.files)
    html += "<dt><a href=\"" + escape(file.name) + "\">" + escape(file.name) + "</a></dt><dd>" +
            escape(file.meaning) + "</dd>\n";
  html += "</dl>\n";
  if (input.configuration.is_object() && !input.configuration.empty()) {
    nlohmann::json configuration = input.configuration;
    for (const char* key : {"threads", "out", "json"}) configuration.erase(key);
    html += "<details><summary>Configuration</summary>\n<pre>" + escape(configuration.dump(2)) +
            "</pre></details>\n";
  }
  if (input.total_seconds)
    html += "<p class=\"quiet\">The whole comparison took " + format_clock(*input.total_seconds) + ".</p>\n";
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace lab
