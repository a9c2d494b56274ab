#pragma once
// Readers for requests to language models: Azure's traces (Patel et al., "Splitwise", ISCA'24) and Mooncake's
// (Qin et al., FAST'25), as requests and as jobs.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/json_cursor.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/read_options.hpp"
#include "mara/workload/read_time.hpp"
#include "mara/workload/trace.hpp"

namespace mara {

/// One request to a language model.
struct Request {
  double arrival_s = 0.0;  ///< seconds on the trace's own time axis
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::vector<std::int64_t> prefix_blocks;  ///< ids of blocks of input tokens; equal ids, equal content

  friend bool operator==(const Request&, const Request&) = default;
};

namespace detail {
inline constexpr std::int64_t kMostTokens = 1'000'000'000'000;

inline void sort_requests(std::vector<Request>& requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival_s < b.arrival_s; });
}
}  // namespace detail

/// Reads a CSV of Azure: `TIMESTAMP` ("2023-11-16 18:17:03.9799600"), `ContextTokens` (input) and
/// `GeneratedTokens` (output). Arrivals are seconds since the midnight before the first. Sorted stably by
/// arrival. Errors (file, line, field and value in the message): unknown, missing or repeated column; text
/// that is no time or no whole number; negative or absurd (> 1e12) values; no request at all.
inline Result<std::vector<Request>> parse_azure_requests(std::string text, const std::string& name) {
  auto opened = Csv::parse(std::move(text), name);
  if (!opened) return opened.error();
  Csv& csv = *opened;
  if (auto ok = csv.expect_columns({"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, {}); !ok)
    return ok.error();
  std::vector<Request> requests;
  std::vector<CivilTime> times;
  for (;;) {
    const auto row = csv.next();
    if (!row) return row.error();
    if (!*row) break;
    FieldReader fields(csv);
    const auto time = parse_civil_time(csv.text("TIMESTAMP"));
    if (!time) fields.refuse("TIMESTAMP", "is not a time such as 2023-11-16 18:17:03.9799600");
    Request request;
    request.input_tokens = fields.integer("ContextTokens", 0, detail::kMostTokens);
    request.output_tokens = fields.integer("GeneratedTokens", 0, detail::kMostTokens);
    if (fields.error()) return *fields.error();
    times.push_back(*time);
    requests.push_back(std::move(request));
  }
  if (requests.empty()) return Error{ErrorCode::kParse, name + ": no request in the file"};
  const std::vector<double> seconds = seconds_since_first_midnight(times);
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].arrival_s = seconds[i];
  detail::sort_requests(requests);
  return requests;
}

/// Reads JSON lines of Mooncake: objects with `timestamp` (ms), `input_length` and `output_length` (tokens),
/// and `hash_ids` (blocks of 512 input tokens; may be left out). Sorted stably by arrival. Errors (file, line
/// and field in the message): text that is not JSON of this shape; unknown, missing or repeated key; no whole
/// number where one is needed; NaN, infinite, negative or absurd (> 1e12 tokens, > 1e15 ms) values; no
/// request at all.
inline Result<std::vector<Request>> parse_mooncake_requests(std::string_view text, const std::string& name) {
  std::vector<Request> requests;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;

    constexpr std::string_view kKeys[] = {"timestamp", "input_length", "output_length", "hash_ids"};
    bool seen[4] = {};
    Request request;
    Status problem;
    JsonCursor cursor(line, "");
    const auto integer = [&](std::string_view key, std::int64_t most, std::int64_t& value) {
      std::string_view digits;
      if (!cursor.number(digits)) return false;
      const auto read = field_integer({name, number, key}, digits, 0, most);
      if (read) value = *read;
      if (!read) problem = read.error();
      return read.has_value();
    };
    const bool good = cursor.object([&](const std::string& key) {
      const auto which = static_cast<std::size_t>(std::find(kKeys, kKeys + 4, key) - kKeys);
      const FieldPlace place{name, number, key};
      if (which == 4 || seen[which]) {
        problem = field_error(place, which == 4 ? "unknown key" : "key appears twice");
        return false;
      }
      seen[which] = true;
      if (which == 1) return integer(key, detail::kMostTokens, request.input_tokens);
      if (which == 2) return integer(key, detail::kMostTokens, request.output_tokens);
      if (which == 3)
        return cursor.array([&] { return integer(key, INT64_MAX, request.prefix_blocks.emplace_back()); });
      std::string_view digits;
      if (!cursor.number(digits)) return false;
      const auto ms = field_number(place, digits, 0.0, 1e15);
      if (ms) request.arrival_s = *ms / 1000.0;
      if (!ms) problem = ms.error();
      return ms.has_value();
    });
    if (!problem) return problem.error();
    if (!good || !cursor.finish(true))
      return Error{ErrorCode::kParse, name + ":" + std::to_string(number) + ": " + cursor.error().message};
    for (std::size_t i = 0; i < 3; ++i)
      if (!seen[i]) return field_error({name, number, kKeys[i]}, "key is missing");
    requests.push_back(std::move(request));
  }
  if (requests.empty()) return Error{ErrorCode::kParse, name + ": no request in the file"};
  detail::sort_requests(requests);
  return requests;
}

/// Jobs of requests: ids count the requests, the run time is input / `prefill_tokens_per_s` + output /
/// `decode_tokens_per_s`, GPUs are `request_gpus`, steps are all tokens. That is an assumption about the
/// server (see TraceReadOptions); reuse of prefixes is not counted. Requests without a token are skipped and
/// counted. Errors: kInvalidArgument for a rate that is not finite and above 0, or GPUs that are neither a
/// share nor whole; those of TraceBuilder.
inline Result<Trace> trace_of_requests(const std::vector<Request>& requests, const std::string& name,
                                       const TraceReadOptions& options = {}) {
  for (const auto& [option, rate] : {std::pair("prefill_tokens_per_s", options.prefill_tokens_per_s),
                                     std::pair("decode_tokens_per_s", options.decode_tokens_per_s)})
    if (!(std::isfinite(rate) && rate >= 1e-3))
      return Error{ErrorCode::kInvalidArgument,
                   std::string(option) + ": must be finite and at least 0.001, got " + std::to_string(rate)};
  const Milli gpus = options.request_gpus;
  if (gpus.value < 1 || gpus > Milli::whole(65536) || (gpus.value > 1000 && !gpus.is_whole()))
    return Error{ErrorCode::kInvalidArgument, "request_gpus: must be a share of a GPU or whole GPUs, got " +
                                                  std::to_string(gpus.value) + " milli-GPU"};
  detail::TraceBuilder trace(name, options);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    const auto input = static_cast<double>(request.input_tokens);
    const auto output = static_cast<double>(request.output_tokens);
    TraceJob job;
    job.id = static_cast<std::int64_t>(i);
    job.submit_s = request.arrival_s;
    job.duration_s = input / options.prefill_tokens_per_s + output / options.decode_tokens_per_s;
    job.gpus = gpus;
    job.steps = input + output;
    if (job.duration_s > 1e12)
      return job_error(job, "duration_s", "value " + std::to_string(job.duration_s) + " is out of range");
    if (job.duration_s > 0.0) {
      trace.add(std::move(job));
    } else {
      ++trace.skipped().no_duration;
    }
  }
  return trace.finish();
}

/// The requests of an Azure CSV as jobs. Errors: those of parse_azure_requests and trace_of_requests.
inline Result<Trace> parse_azure(std::string text, const std::string& name,
                                 const TraceReadOptions& options = {}) {
  const auto requests = parse_azure_requests(std::move(text), name);
  if (!requests) return requests.error();
  return trace_of_requests(*requests, name, options);
}

/// The requests of Mooncake's JSON lines as jobs. Errors: those of parse_mooncake_requests and
/// trace_of_requests.
inline Result<Trace> parse_mooncake(const std::string& text, const std::string& name,
                                    const TraceReadOptions& options = {}) {
  const auto requests = parse_mooncake_requests(text, name);
  if (!requests) return requests.error();
  return trace_of_requests(*requests, name, options);
}

}  // namespace mara
