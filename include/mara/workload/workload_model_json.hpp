#pragma once
// Workload models as JSON files. What works on JSON is a template over its type, so that a program which
// includes this and reads no model does not compile it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/json.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/workload_model.hpp"

namespace mara {

/// The value of the key "format" of a workload model file.
inline constexpr const char* kWorkloadModelFormat = "mara workload model 1";

namespace detail {

/// A place in a JSON document. The first error met anywhere is kept; reads after it give zero values.
template <class Value>
class JsonPlace {
 public:
  JsonPlace(const Value& value, std::string path, Status& status)
      : value_(&value), path_(std::move(path)), status_(&status) {}

  /// Checks that this is an object with exactly these keys.
  const JsonPlace& keys(std::initializer_list<std::string_view> names) const {
    if (value_->kind() != Value::Kind::kObject) return fail("must be an object"), *this;
    for (const std::string& key : value_->keys()) {
      bool known = false;
      for (const std::string_view name : names) known = known || name == key;
      if (!known) child(key).fail("unknown key");
    }
    for (const std::string_view name : names)
      if (value_->find(name) == nullptr) child(name).fail("key is missing");
    return *this;
  }

  /// Member of an object.
  JsonPlace operator[](std::string_view key) const {
    static const Value kNothing;
    const Value* found = value_->find(key);
    return {found == nullptr ? kNothing : *found, child(key).path_, *status_};
  }

  /// Elements of an array.
  std::vector<JsonPlace> items() const {
    std::vector<JsonPlace> out;
    if (value_->kind() != Value::Kind::kArray) return fail("must be an array"), out;
    for (std::size_t i = 0; i < value_->items().size(); ++i)
      out.push_back({value_->items()[i], path_ + "[" + std::to_string(i) + "]", *status_});
    return out;
  }

  double number() const {
    if (value_->kind() != Value::Kind::kNumber) return fail("must be a number"), 0.0;
    return parse_double(value_->text(), path_).value();  // the reader refused what a double cannot hold
  }

  std::int64_t integer() const {
    const auto value = parse_int(value_->text(), path_);
    if (value_->kind() != Value::Kind::kNumber || !value) return fail("must be a whole number"), 0;
    return *value;
  }

  int small_integer() const {
    const std::int64_t value = integer();
    if (value < -1'000'000'000 || value > 1'000'000'000) return fail("is out of range"), 0;
    return static_cast<int>(value);
  }

  std::size_t count() const {
    const std::int64_t value = integer();
    if (value < 0) return fail("must not be negative"), 0;
    return static_cast<std::size_t>(value);
  }

  std::string text() const {
    if (value_->kind() != Value::Kind::kString) return fail("must be a string"), std::string{};
    return value_->text();
  }

  std::vector<double> numbers() const {
    std::vector<double> out;
    for (const JsonPlace& item : items()) out.push_back(item.number());
    return out;
  }

  void fail(const std::string& what) const {
    if (!*status_) return;
    const bool plain = value_->kind() != Value::Kind::kNull && !value_->structured();
    const std::string shown = plain ? ", is " + value_->scalar_text() : "";
    *status_ = Error{ErrorCode::kParse, "key '" + path_ + "': " + what + shown};
  }

 private:
  JsonPlace child(std::string_view key) const {
    return {*value_, path_.empty() ? std::string(key) : path_ + "." + std::string(key), *status_};
  }

  const Value* value_;
  std::string path_;
  Status* status_;
};

}  // namespace detail

/// The JSON text of a model; equal models give equal text.
template <class Value = Json>
std::string workload_model_to_json(const WorkloadModel& model) {
  std::vector<Value> regimes, shapes, durations, models, priorities;
  for (const GapRegime& regime : model.regimes)
    regimes.push_back(Value::object({{"next", regime.next},
                                     {"repeat_shape", regime.repeat_shape},
                                     {"repeat_duration", regime.repeat_duration}}));
  for (const JobShape& shape : model.shapes)
    shapes.push_back(Value::object({{"gpu_milli", shape.gpus.value},
                                    {"cpu_milli", shape.cpu.value},
                                    {"memory_mib", shape.memory_mib},
                                    {"probability", shape.probability},
                                    {"duration_class", shape.duration_class}}));
  for (const QuantileTable& table : model.durations) durations.push_back(table.values);
  for (const ModelShare& share : model.models)
    models.push_back(Value::object({{"model", share.model}, {"probability", share.probability}}));
  for (const PriorityShare& share : model.priorities)
    priorities.push_back(Value::object({{"priority", share.priority}, {"probability", share.probability}}));
  const std::vector<double> levels(kQuantileLevels.begin(), kQuantileLevels.end());
  const Value document = Value::object(
      {{"format", kWorkloadModelFormat},
       {"name", model.name},
       {"origin", Value::object({{"trace", model.origin.trace},
                                 {"command", model.origin.command},
                                 {"jobs", model.origin.jobs},
                                 {"from_s", model.origin.from_s},
                                 {"to_s", model.origin.to_s}})},
       {"quantile_levels", levels},
       {"arrivals", Value::object({{"gap_quantiles_s", model.gaps.values},
                                   {"regimes", Value::array(std::move(regimes))},
                                   {"daily_sigma", model.modulation.sigma},
                                   {"daily_correlation", model.modulation.correlation},
                                   {"hourly", model.modulation.hourly}})},
       {"jobs", Value::object({{"shapes", Value::array(std::move(shapes))},
                               {"duration_quantiles_s", Value::array(std::move(durations))},
                               {"duration_jitter", model.duration_jitter},
                               {"models", Value::array(std::move(models))},
                               {"priorities", Value::array(std::move(priorities))}})},
       {"goodness_of_fit", Value::object({{"ks_duration", model.fit.ks_duration},
                                          {"ks_interarrival", model.fit.ks_interarrival},
                                          {"tv_gpus", model.fit.tv_gpus},
                                          {"ratio_mean_interarrival", model.fit.ratio_mean_interarrival},
                                          {"ratio_mean_work", model.fit.ratio_mean_work},
                                          {"ratio_dispersion_hour", model.fit.ratio_dispersion_hour},
                                          {"ratio_dispersion_day", model.fit.ratio_dispersion_day},
                                          {"ratio_repeat_gpus", model.fit.ratio_repeat_gpus},
                                          {"sample_jobs", model.fit.sample_jobs}})}});
  std::string out;
  write_json(document, out);
  return out + "\n";
}

/// Reads a model from JSON text, strictly. Errors (kParse and those of check_workload_model) name the key:
/// text that is no JSON, unknown, missing or repeated key, wrong type, number out of its domain, falling
/// quantiles.
template <class Value = Json>
Result<WorkloadModel> workload_model_from_json(const std::string& text) {
  auto document = parse_json<Value>(text);
  if (!document) return document.error();
  Status status;
  const detail::JsonPlace<Value> root(*document, "", status);
  root.keys({"format", "name", "origin", "quantile_levels", "arrivals", "jobs", "goodness_of_fit"});
  if (status && root["format"].text() != kWorkloadModelFormat)
    root["format"].fail(std::string("must be \"") + kWorkloadModelFormat + "\"");
  if (!status) return status.error();

  WorkloadModel model;
  model.name = root["name"].text();
  const auto origin = root["origin"].keys({"trace", "command", "jobs", "from_s", "to_s"});
  model.origin = {origin["trace"].text(), origin["command"].text(), origin["jobs"].count(),
                  origin["from_s"].number(), origin["to_s"].number()};
  const std::vector<double> levels = root["quantile_levels"].numbers();
  if (!std::equal(levels.begin(), levels.end(), kQuantileLevels.begin(), kQuantileLevels.end()))
    root["quantile_levels"].fail("must be the 33 levels of this version");

  const auto arrivals =
      root["arrivals"].keys({"gap_quantiles_s", "regimes", "daily_sigma", "daily_correlation", "hourly"});
  model.gaps.values = arrivals["gap_quantiles_s"].numbers();
  for (const auto& item : arrivals["regimes"].items()) {
    item.keys({"next", "repeat_shape", "repeat_duration"});
    model.regimes.push_back(
        {item["next"].numbers(), item["repeat_shape"].number(), item["repeat_duration"].number()});
  }
  model.modulation = {arrivals["daily_sigma"].number(), arrivals["daily_correlation"].number(),
                      arrivals["hourly"].numbers()};

  const auto jobs =
      root["jobs"].keys({"shapes", "duration_quantiles_s", "duration_jitter", "models", "priorities"});
  for (const auto& item : jobs["shapes"].items()) {
    item.keys({"gpu_milli", "cpu_milli", "memory_mib", "probability", "duration_class"});
    model.shapes.push_back({Milli{item["gpu_milli"].integer()}, Milli{item["cpu_milli"].integer()},
                            item["memory_mib"].integer(), item["probability"].number(),
                            item["duration_class"].small_integer()});
  }
  for (const auto& item : jobs["duration_quantiles_s"].items()) model.durations.push_back({item.numbers()});
  model.duration_jitter = jobs["duration_jitter"].number();
  for (const auto& item : jobs["models"].items()) {
    item.keys({"model", "probability"});
    model.models.push_back({item["model"].text(), item["probability"].number()});
  }
  for (const auto& item : jobs["priorities"].items()) {
    item.keys({"priority", "probability"});
    model.priorities.push_back({item["priority"].small_integer(), item["probability"].number()});
  }

  const auto fit = root["goodness_of_fit"].keys(
      {"ks_duration", "ks_interarrival", "tv_gpus", "ratio_mean_interarrival", "ratio_mean_work",
       "ratio_dispersion_hour", "ratio_dispersion_day", "ratio_repeat_gpus", "sample_jobs"});
  model.fit = {fit["ks_duration"].number(),
               fit["ks_interarrival"].number(),
               fit["tv_gpus"].number(),
               fit["ratio_mean_interarrival"].number(),
               fit["ratio_mean_work"].number(),
               fit["ratio_dispersion_hour"].number(),
               fit["ratio_dispersion_day"].number(),
               fit["ratio_repeat_gpus"].number(),
               fit["sample_jobs"].count()};
  if (!status) return status.error();
  if (auto ok = check_workload_model(model); !ok) return ok.error();
  return model;
}

/// Reads a model file. Errors: those of read_text_file and workload_model_from_json, after the file's name.
template <class Value = Json>
Result<WorkloadModel> load_workload_model(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  auto model = workload_model_from_json<Value>(*text);
  if (!model) return Error{model.error().code, path + ": " + model.error().message};
  return model;
}

/// Writes a model file. Errors: kIo.
template <class Value = Json>
Status save_workload_model(const WorkloadModel& model, const std::string& path) {
  return write_file(path, workload_model_to_json<Value>(model));
}

}  // namespace mara
