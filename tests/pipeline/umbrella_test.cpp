// mara.hpp and the umbrellas that it names reach every header but the adapters, in the order of the floors.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> includes_of(const fs::path& file) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::string start = "#include \"mara/";
    if (line.rfind(start, 0) == 0) found.push_back(line.substr(10, line.find('"', 10) - 10));
  }
  return found;
}

std::string folder_of(const std::string& header) {
  return header.substr(5, header.find('/', 5) - 5);
}

}  // namespace

TEST_CASE("the umbrella is complete and in order", "[pipeline]") {
  const char* source = std::getenv("MARA_SOURCE_DIR");
  if (source == nullptr) {
    std::cout << "skipped: set MARA_SOURCE_DIR\n";
    return;
  }
  const fs::path include = fs::path(source) / "include";
  std::set<std::string> reached;
  std::vector<std::string> queue{"mara/mara.hpp", "mara/workload/workload.hpp",
                                 "mara/simulation/platform.hpp", "mara/schedule/dispatchers.hpp",
                                 "mara/learning/learners.hpp"};
  while (!queue.empty()) {
    const std::string header = queue.back();
    queue.pop_back();
    if (!reached.insert(header).second) continue;
    for (const std::string& next : includes_of(include / header)) queue.push_back(next);
  }
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(include / "mara")) {
    if (!entry.is_regular_file()) continue;
    const std::string header = fs::relative(entry.path(), include).generic_string();
    if (folder_of(header) == "interop") continue;
    INFO(header << " is not reached by an umbrella");
    CHECK(reached.count(header) == 1);
    ++count;
  }
  CHECK(count > 90);

  const std::vector<std::vector<std::string>> floors = {{"core", "math"},
                                                        {"autodiff"},
                                                        {"nn", "cluster", "workload"},
                                                        {"flow", "simulation", "action"},
                                                        {"schedule", "environment"},
                                                        {"critic", "expert"},
                                                        {"guidance"},
                                                        {"learning"},
                                                        {"pipeline", "deploy"}};
  std::size_t floor = 0;
  for (const std::string& header : includes_of(include / "mara" / "mara.hpp")) {
    INFO(header);
    const auto at = std::find_if(floors.begin(), floors.end(), [&](const std::vector<std::string>& folders) {
      return std::find(folders.begin(), folders.end(), folder_of(header)) != folders.end();
    });
    REQUIRE(at != floors.end());
    CHECK(static_cast<std::size_t>(at - floors.begin()) >= floor);
    floor = static_cast<std::size_t>(at - floors.begin());
  }
}
