#pragma once
// Shared by the workload tests: temporary files, a small model, a hash of jobs.

#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "mara/workload/trace.hpp"
#include "mara/workload/workload_model.hpp"

namespace workload_test {

/// A file with given content, removed at the end of the scope.
class TempFile {
 public:
  explicit TempFile(std::string_view content, std::string_view name = "input.csv") {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("mara_workload_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / name).string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::filesystem::remove_all(folder_); }
  const std::string& path() const { return path_; }
  std::string sibling(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Log-linear quantiles from low to high.
inline mara::QuantileTable log_uniform(double low, double high) {
  mara::QuantileTable table;
  for (const double level : mara::kQuantileLevels)
    table.values.push_back(low * mara::portable_exp(level * mara::portable_log(high / low)));
  return table;
}

/// Two shapes, three sticky regimes of gaps, two run-time classes.
inline mara::WorkloadModel small_model() {
  mara::WorkloadModel model;
  model.name = "small";
  model.gaps = log_uniform(1.0, 10'000.0);
  model.regimes = {{{0.7, 0.2, 0.1}, 0.8, 0.6}, {{0.2, 0.6, 0.2}, 0.4, 0.3}, {{0.1, 0.2, 0.7}, 0.1, 0.0}};
  model.shapes = {{mara::Milli{1000}, mara::Milli{4000}, 8192, 0.6, 0},
                  {mara::Milli{8000}, mara::Milli{32000}, 65536, 0.3, 1},
                  {mara::Milli{500}, mara::Milli{2000}, 4096, 0.1, 0}};
  model.durations = {log_uniform(60.0, 6000.0), log_uniform(600.0, 60'000.0)};
  model.models = {{"bert", 0.25}, {"resnet18", 0.75}};
  model.priorities = {{0, 0.5}, {1, 0.5}};
  return model;
}

/// FNV-1a over the bits of every number and character of the jobs.
inline std::uint64_t hash_jobs(std::span<const mara::TraceJob> jobs) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto mix = [&](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 1099511628211ull;
  };
  for (const mara::TraceJob& job : jobs) {
    mix(static_cast<std::uint64_t>(job.id));
    mix(std::bit_cast<std::uint64_t>(job.submit_s));
    mix(std::bit_cast<std::uint64_t>(job.duration_s));
    mix(static_cast<std::uint64_t>(job.gpus.value));
    mix(static_cast<std::uint64_t>(job.cpu.value));
    mix(static_cast<std::uint64_t>(job.memory_mib));
    mix(static_cast<std::uint64_t>(job.priority));
    for (const char c : job.model) mix(static_cast<unsigned char>(c));
  }
  return hash;
}

inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

/// The folder of the real traces, or empty.
inline std::string traces() {
  const char* folder = std::getenv("MARA_TRACES");
  return folder == nullptr ? std::string{} : std::string(folder);
}

}  // namespace workload_test
