#pragma once
// Measured training speeds of Gavel (Narayanan et al., OSDI'20), alone and when two jobs share their GPUs.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "mara/core/json_cursor.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// The table of a `simulation_throughputs.json`: steps/s of a job, that is a model and its number of GPUs
/// ("scale"), on a GPU type, alone and together with another job on the same GPUs. 0 means that it cannot run
/// so (not enough memory). GPU types named "..._unconsolidated" are for GPUs on different nodes. Lookups are
/// logarithmic; for many of them, turn names into indices once.
class GavelThroughputs {
 public:
  /// GPU types in the order of the file.
  const std::vector<std::string>& gpu_types() const noexcept { return gpu_types_; }
  /// Index of a GPU type; -1 when it is not in the table.
  int type_index(std::string_view gpu_type) const noexcept {
    for (std::size_t i = 0; i < gpu_types_.size(); ++i)
      if (gpu_types_[i] == gpu_type) return static_cast<int>(i);
    return -1;
  }
  /// Index of a job, the same on every type; -1 when it is not in the table.
  int job_index(std::string_view model, int scale) const {
    const auto at = jobs_.find(JobKey(model, scale));
    return at == jobs_.end() ? -1 : at->second;
  }

  /// Steps/s of a job alone on its GPUs; nothing when it was not measured.
  std::optional<double> isolated(int type, int job) const {
    const auto pair = find(type, job, -1);
    return pair ? std::optional(pair->first) : std::nullopt;
  }
  std::optional<double> isolated(std::string_view gpu_type, std::string_view model, int scale) const {
    return isolated(type_index(gpu_type), job_index(model, scale));
  }
  /// Steps/s of the first and of the second job when they share GPUs; nothing when it was not measured.
  std::optional<std::pair<double, double>> together(int type, int job_a, int job_b) const {
    if (job_b < 0) return std::nullopt;
    return find(type, job_a, job_b);
  }
  std::optional<std::pair<double, double>> together(std::string_view gpu_type, std::string_view model_a,
                                                    int scale_a, std::string_view model_b,
                                                    int scale_b) const {
    return together(type_index(gpu_type), job_index(model_a, scale_a), job_index(model_b, scale_b));
  }

  /// Number of measurements: jobs alone, and ordered pairs.
  std::size_t isolated_count() const noexcept { return isolated_count_; }
  std::size_t pair_count() const noexcept { return speeds_.size() - isolated_count_; }

  friend Result<GavelThroughputs> parse_gavel_throughputs(std::string_view text, const std::string& name);

 private:
  using JobKey = std::pair<std::string, int>;
  using Speeds = std::pair<double, double>;

  std::optional<Speeds> find(int type, int job_a, int job_b) const {
    const auto at = speeds_.find({type, job_a, job_b});
    return at == speeds_.end() ? std::nullopt : std::optional(at->second);
  }
  /// The job that a key such as "('ResNet-18 (batch size 64)', 2)" names; -1 for another text.
  int add_job(std::string_view key) {
    constexpr std::string_view kBegin = "('", kMiddle = "', ", kEnd = ")";
    const std::size_t middle = key.rfind(kMiddle);
    if (!key.starts_with(kBegin) || !key.ends_with(kEnd) || middle == std::string_view::npos ||
        middle <= kBegin.size())
      return -1;
    const std::string_view digits =
        key.substr(middle + kMiddle.size(), key.size() - kEnd.size() - middle - kMiddle.size());
    int scale = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), scale);
    if (code != std::errc{} || end != digits.data() + digits.size() || scale < 1) return -1;
    const std::string_view model = key.substr(kBegin.size(), middle - kBegin.size());
    return jobs_.try_emplace(JobKey(model, scale), static_cast<int>(jobs_.size())).first->second;
  }

  std::vector<std::string> gpu_types_;
  std::map<JobKey, int> jobs_;
  std::map<std::tuple<int, int, int>, Speeds> speeds_;  // type, job, the other or -1: (steps/s, steps/s or 0)
  std::size_t isolated_count_ = 0;
};

/// Reads a table {GPU type: {job: {"null": steps/s, other job: [steps/s, steps/s of the other]}}} where a job
/// is written "('model', scale)". Errors: kParse, with the file and the place, for text that is not JSON or
/// has another shape, a job that is written otherwise, a number that is negative or no finite double, and an
/// entry that is there twice; and for an empty table.
inline Result<GavelThroughputs> parse_gavel_throughputs(std::string_view text, const std::string& name) {
  GavelThroughputs table;
  const std::string where = name + ": ";
  JsonCursor cursor(text, where);
  const auto speed = [&](double& value) {
    std::string_view number;
    if (!cursor.number(number)) return false;
    const auto parsed = parse_double(number, "throughput");
    if (!parsed) return cursor.fail(parsed.error().message);
    value = *parsed;
    return value >= 0.0 || cursor.fail("a throughput below 0: " + std::string(number));
  };
  const bool good = cursor.object([&](const std::string& gpu_type) {
    if (table.type_index(gpu_type) >= 0) return cursor.fail("GPU type " + gpu_type + " appears twice");
    const int type = static_cast<int>(table.gpu_types_.size());
    table.gpu_types_.push_back(gpu_type);
    return cursor.object([&](const std::string& key) {
      const int job = table.add_job(key);
      if (job < 0) return cursor.fail("expected ('model', scale), got " + detail::quoted(key));
      return cursor.object([&](const std::string& other_key) {
        const bool alone = other_key == "null";
        const int other = alone ? -1 : table.add_job(other_key);
        if (!alone && other < 0)
          return cursor.fail("expected null or ('model', scale), got " + detail::quoted(other_key));
        std::pair<double, double> speeds{};
        if (alone) {
          if (!speed(speeds.first)) return false;
        } else {
          int count = 0;
          if (!cursor.array([&] { return ++count <= 2 && speed(count == 1 ? speeds.first : speeds.second); }))
            return count <= 2 ? false : cursor.fail("expected two numbers");
          if (count != 2) return cursor.fail("expected two numbers");
        }
        if (!table.speeds_.try_emplace({type, job, other}, speeds).second)
          return cursor.fail("entry " + detail::quoted(other_key) + " appears twice");
        if (alone) ++table.isolated_count_;
        return true;
      });
    });
  });
  if (!good || !cursor.finish(true)) return cursor.error();
  if (table.isolated_count_ == 0) return Error{ErrorCode::kParse, where + "no throughput in the file"};
  return table;
}

}  // namespace mara
