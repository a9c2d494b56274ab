// mara-lab validate: the engine beside independent simulators, job by job.

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "format.hpp"
#include "peers.hpp"

namespace lab {
namespace {

using nlohmann::ordered_json;

/// The value of an option, or of the environment variable that stands for it.
mara::Result<std::string> folder(const std::string& given, const char* option, const char* variable) {
  if (!given.empty()) return given;
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') return std::string(value);
  return mara::Error{mara::ErrorCode::kInvalidArgument,
                     std::string("--") + option + ": not given, and " + variable + " is not set"};
}

void print_text(const std::vector<PeerCheck>& checks) {
  std::printf("%-16s%-28s%10s%12s%16s%12s\n", "peer", "policy", "compared", "mismatches", "largest error",
              "tolerance");
  for (const PeerCheck& check : checks) {
    const bool numbers = !check.unit.empty();
    std::printf("%-16s%-28s%10zu%12zu%16s%12s%s%s\n", check.peer.c_str(), check.what.c_str(), check.compared,
                check.mismatches, numbers ? format_three(check.largest_error).c_str() : "-",
                numbers ? format_three(check.tolerance).c_str() : "exact", numbers ? " " : "",
                check.unit.c_str());
    if (check.mismatches > 0) std::printf("  first: %s\n", check.first_mismatch.c_str());
  }
}

void print_json(const std::vector<PeerCheck>& checks) {
  ordered_json rows = ordered_json::array();
  for (const PeerCheck& check : checks)
    rows.push_back({{"peer", check.peer},
                    {"policy", check.what},
                    {"compared", check.compared},
                    {"mismatches", check.mismatches},
                    {"largest_error", check.largest_error},
                    {"tolerance", check.tolerance},
                    {"unit", check.unit},
                    {"first_mismatch", check.first_mismatch}});
  std::printf("%s\n", ordered_json{{"checks", rows}}.dump(1).c_str());
}

}  // namespace

mara::Status run_validate(const ValidateOptions& options) {
  auto traces = folder(options.traces, "traces", "MARA_TRACES");
  if (!traces) return traces.error();
  auto golden = folder(options.golden, "golden", "MARA_GOLDEN");
  if (!golden) return golden.error();
  const PeerFolders folders{std::move(*traces), std::move(*golden)};
  std::vector<PeerCheck> checks;
  for (const auto check :
       {check_batsim, check_muri, check_tiresias, check_deeprm, check_rlscheduler, check_fgd}) {
    auto found = check(folders);
    if (!found) return found.error();
    for (PeerCheck& row : *found) checks.push_back(std::move(row));
  }
  options.json ? print_json(checks) : print_text(checks);
  std::size_t mismatches = 0, compared = 0;
  for (const PeerCheck& check : checks) {
    mismatches += check.mismatches;
    compared += check.compared;
  }
  if (mismatches == 0) return {};
  return mara::Error{mara::ErrorCode::kState,
                     std::to_string(mismatches) + " of " + std::to_string(compared) + " values differ"};
}

}  // namespace lab
