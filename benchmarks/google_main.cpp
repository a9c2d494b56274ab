// The main function of the programs with Google Benchmark: its own options, and --markdown for the medians
// over
// --benchmark_repetitions as a table, in the order in which the source names them.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"

namespace {

/// Collects medians, prints one table at the end.
class MarkdownReporter : public benchmark::BenchmarkReporter {
 public:
  explicit MarkdownReporter(std::string title) : title_(std::move(title)) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median") medians_.push_back(run);
  }
  void Finalize() override {
    std::sort(medians_.begin(), medians_.end(), [](const Run& a, const Run& b) {
      return a.family_index != b.family_index ? a.family_index < b.family_index
                                              : a.per_family_instance_index < b.per_family_instance_index;
    });
    bench::Table table{title_ + ", medians", {"benchmark", "processor time", "unit"}, {}};
    std::vector<std::string> counters;
    for (const Run& run : medians_)
      for (const auto& [name, counter] : run.counters)
        if (std::find(counters.begin(), counters.end(), name) == counters.end()) counters.push_back(name);
    table.columns.insert(table.columns.end(), counters.begin(), counters.end());
    for (const Run& run : medians_) {
      std::vector<bench::Cell> row{"`" + run.run_name.str() + "`", bench::about(run.GetAdjustedCPUTime()),
                                   benchmark::GetTimeUnitString(run.time_unit)};
      for (const std::string& name : counters) {
        const auto found = run.counters.find(name);
        row.push_back(found == run.counters.end() ? bench::Cell{"-"} : bench::about(found->second.value));
      }
      table.rows.push_back(std::move(row));
    }
    bench::print({table}, false);
  }

 private:
  std::string title_;
  std::vector<Run> medians_;
};

}  // namespace

int main(int count, char** arguments) {
  bool markdown = false;
  int kept = 1;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--markdown") == 0) {
      markdown = true;
    } else {
      arguments[kept++] = arguments[i];
    }
  }
  std::string name = arguments[0];
  name.erase(0, name.find_last_of('/') + 1);
  benchmark::Initialize(&kept, arguments);
  if (benchmark::ReportUnrecognizedArguments(kept, arguments)) return 1;
  if (markdown) {
    MarkdownReporter reporter(name);
    benchmark::RunSpecifiedBenchmarks(&reporter);
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
}
