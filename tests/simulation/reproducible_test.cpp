// The same bits on every compiler: a hash of many runs against a constant.
#include <bit>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/simulation/metrics.hpp"
#include "simulation_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

/// FNV-1a over 64-bit words.
struct Hash {
  std::uint64_t value = 14695981039346656037ull;
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      value ^= word >> (8 * byte) & 0xff;
      value *= 1099511628211ull;
    }
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
};

std::uint64_t hash_of_runs() {
  Hash hash;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(99, seed);
    const Workload workload = random_workload(random, 40, true);
    RandomScheduler scheduler{Random(7, seed)};
    const auto result = simulate(workload.cluster, workload.jobs, scheduler, workload.config).value();
    for (const JobRecord& record : result.records) {
      hash.add(record.start_s);
      hash.add(record.end_s);
      hash.add(record.gpu_s);
      hash.add(static_cast<std::uint64_t>(record.last_grant.gpus.value));
      hash.add(static_cast<std::uint64_t>(record.restarts));
    }
    for (const GrantInterval& interval : result.intervals) {
      hash.add(std::uint64_t{interval.job});
      hash.add(interval.start_s);
      hash.add(interval.end_s);
    }
    const Metrics metrics = measure(workload.cluster, result);
    hash.add(metrics.mean_jct_s.value_or(-1.0));
    hash.add(metrics.p95_jct_s.value_or(-1.0));
    hash.add(metrics.mean_slowdown.value_or(-1.0));
    hash.add(metrics.jain.value_or(-1.0));
    hash.add(metrics.gpu_utilisation);
  }
  return hash.value;
}

}  // namespace

TEST_CASE("200 random runs have the same bits on every compiler", "[reproducible]") {
  CHECK(hash_of_runs() == 0xe6581224dad7899cull);
}
