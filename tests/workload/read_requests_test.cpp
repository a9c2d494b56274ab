#include "mara/workload/read_requests.hpp"

#include <limits>

#include "catch.hpp"

using mara::Milli;
using mara::Request;

TEST_CASE("azure requests") {
  const std::string text =
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:17:04.0319600,3180,8\r\n"
      "2023-11-16 18:17:03.9799600,4808,10\r\n"
      "2023-11-17 00:00:00.5,0,0";
  const auto requests = mara::parse_azure_requests(text, "f.csv");
  REQUIRE(requests);
  REQUIRE(requests->size() == 3);
  CHECK((*requests)[0].arrival_s == Approx(18 * 3600 + 17 * 60 + 3.97996).margin(1e-9));
  CHECK((*requests)[0].input_tokens == 4808);
  CHECK((*requests)[0].output_tokens == 10);
  CHECK((*requests)[0].prefix_blocks.empty());
  CHECK((*requests)[1].input_tokens == 3180);
  CHECK((*requests)[2].arrival_s == 86400.5);

  mara::TraceReadOptions options;
  options.prefill_tokens_per_s = 1000.0;
  options.decode_tokens_per_s = 10.0;
  options.request_gpus = Milli{250};
  const auto trace = mara::parse_azure(text, "f.csv", options);
  REQUIRE(trace);
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->skipped.no_duration == 1);
  CHECK(trace->jobs[0].id == 0);
  CHECK(trace->jobs[0].duration_s == 4.808 + 1.0);
  CHECK(trace->jobs[0].steps == 4818.0);
  CHECK(trace->jobs[0].gpus == Milli{250});
  CHECK(trace->jobs[1].id == 1);

  const auto bad = [](const std::string& row) {
    return mara::parse_azure_requests("TIMESTAMP,ContextTokens,GeneratedTokens\n" + row + "\n", "f.csv")
        .error()
        .message;
  };
  CHECK(bad("18:17,1,1") ==
        "f.csv:2: field 'TIMESTAMP': value '18:17' is not a time such as 2023-11-16 18:17:03.9799600");
  CHECK(bad("2023-11-16 18:17:04,-1,1") == "f.csv:2: field 'ContextTokens': value '-1' is below 0");
  CHECK(bad("2023-11-16 18:17:04,1,nan") ==
        "f.csv:2: field 'GeneratedTokens': value 'nan' is not a whole number");
  CHECK(bad("") == "f.csv: no request in the file");
}

TEST_CASE("mooncake requests") {
  const std::string text =
      "{\"timestamp\": 1500, \"input_length\": 1024, \"output_length\": 20, \"hash_ids\": [0, 7]}\r\n"
      "\n"
      "{\"output_length\":3,\"timestamp\":27.5,\"hash_ids\":[],\"input_length\":1}\n"
      "{\"timestamp\": 27.5, \"input_length\": 2, \"output_length\": 0}";
  const auto requests = mara::parse_mooncake_requests(text, "f.jsonl");
  REQUIRE(requests);
  REQUIRE(requests->size() == 3);
  CHECK((*requests)[0] == Request{0.0275, 1, 3, {}});
  CHECK((*requests)[1] == Request{0.0275, 2, 0, {}});
  CHECK((*requests)[2] == Request{1.5, 1024, 20, {0, 7}});
  const auto trace = mara::parse_mooncake(text, "f.jsonl");
  REQUIRE(trace);
  CHECK(trace->jobs.size() == 3);
  CHECK(trace->jobs[2].duration_s == 1024.0 / 8000.0 + 20.0 / 40.0);  // the defaults
  CHECK(trace->jobs[2].gpus == Milli{100});

  const auto bad = [](const std::string& line) {
    return mara::parse_mooncake_requests("\n" + line + "\n", "f.jsonl").error().message;
  };
  CHECK(bad("{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1}") ==
        "f.jsonl:2: field 'timestamp': value '-1' is below 0");
  CHECK(bad("{\"timestamp\": 1, \"input_length\": 1.5, \"output_length\": 1}") ==
        "f.jsonl:2: field 'input_length': value '1.5' is not a whole number");
  CHECK(bad("{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [1, -2]}") ==
        "f.jsonl:2: field 'hash_ids': value '-2' is below 0");
  CHECK(bad("{\"timestamp\": 1, \"input_length\": 1}") == "f.jsonl:2: field 'output_length': key is missing");
  CHECK(bad("{\"timestamp\": 1, \"timestamp\": 1}") == "f.jsonl:2: field 'timestamp': key appears twice");
  CHECK(bad("{\"turn\": 1}") == "f.jsonl:2: field 'turn': unknown key");
  CHECK(bad("{\"timestamp\": NaN}") == "f.jsonl:2: byte 14: expected a value");
  CHECK(bad("{\"timestamp\": 1e999, \"input_length\": 1, \"output_length\": 1}") ==
        "f.jsonl:2: field 'timestamp': value '1e999' is out of range");
  CHECK(bad("{\"timestamp\": 1") == "f.jsonl:2: byte 15: expected '}'");
  CHECK(bad("{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1} x") ==
        "f.jsonl:2: byte 56: there is more than one value");
  CHECK(bad("[]") == "f.jsonl:2: byte 0: expected '{'");
  CHECK(bad("") == "f.jsonl: no request in the file");
}

TEST_CASE("requests: bad assumptions about the server are refused") {
  const std::vector<Request> one{{0.0, 10, 10, {}}};
  const auto message = [&](const mara::TraceReadOptions& options) {
    const auto trace = mara::trace_of_requests(one, "f", options);
    return trace ? "accepted" : trace.error().message;
  };
  mara::TraceReadOptions options;
  CHECK(message(options) == "accepted");
  for (const double rate :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    options = {};
    options.prefill_tokens_per_s = rate;
    CHECK(message(options).starts_with("prefill_tokens_per_s: must be finite"));
    options = {};
    options.decode_tokens_per_s = rate;
    CHECK(message(options).starts_with("decode_tokens_per_s: must be finite"));
  }
  for (const std::int64_t gpus :
       {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1500}, std::int64_t{65537000}}) {
    options = {};
    options.request_gpus = Milli{gpus};
    CHECK(message(options).starts_with("request_gpus: must be a share of a GPU or whole GPUs"));
  }
  const std::vector<Request> endless{{0.0, 0, 1'000'000'000'000, {}}};
  options = {};
  options.decode_tokens_per_s = 0.01;
  CHECK(mara::trace_of_requests(endless, "f", options)
            .error()
            .message.starts_with("job 0: field 'duration_s'"));
}
