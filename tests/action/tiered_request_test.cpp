// Tiers, the option space of a job, and its masks.
#include "mara/action/tiered_request.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

Job job_of(Milli requested, int max_gpus) {
  Job job;
  job.requested = requested;
  job.max_gpus = max_gpus;
  job.work = 100.0;
  job.type_speed = {1.0, 0.5, 0.25};
  return job;
}

GpuType pool(std::string name, int gpus, std::int64_t memory) {
  return {std::move(name), 1, gpus, memory, Milli::whole(16), 64 * 1024};
}

constexpr int kHalf = 0, kExact = 1, kDouble = 2;

}  // namespace

TEST_CASE("tiers by hand", "[tier]") {
  const Job four = job_of(Milli::whole(4), 8);
  CHECK(tier_gpus(four, kHalf) == Milli::whole(2));
  CHECK(tier_gpus(four, kExact) == Milli::whole(4));
  CHECK(tier_gpus(four, kDouble) == Milli::whole(8));
  const Job three = job_of(Milli::whole(3), 5);
  CHECK(tier_gpus(three, kHalf) == Milli::whole(1));
  CHECK(tier_gpus(three, kDouble) == Milli{0});  // 6 > 5
  const Job one = job_of(Milli::whole(1), 2);
  CHECK(tier_gpus(one, kHalf) == Milli{0});
  CHECK(tier_gpus(one, kDouble) == Milli::whole(2));
  const Job part = job_of(Milli{250}, 4);
  CHECK(tier_gpus(part, kHalf) == Milli{0});
  CHECK(tier_gpus(part, kExact) == Milli{250});
  CHECK(tier_gpus(part, kDouble) == Milli{0});
  CHECK(tier_gpus(four, 3) == Milli{0});
  CHECK(tier_gpus(four, -1) == Milli{0});
}

TEST_CASE("options and grants are inverse to each other", "[tier]") {
  using Request = TieredRequest<3>;
  STATIC_REQUIRE(Request::kOptions == 10);
  CHECK(Request::option(0, Tier::kHalf) == 1);
  CHECK(Request::option(2, Tier::kDouble) == 9);
  for (const std::int64_t requested :
       {std::int64_t{250}, std::int64_t{1000}, std::int64_t{2000}, std::int64_t{3000}, std::int64_t{8000}}) {
    for (const int most : {1, 2, 8, 16}) {
      const Job job = job_of(Milli{requested}, most);
      int existing = 0;
      for (int option = 1; option < Request::kOptions; ++option) {
        const Grant grant = Request::grant(job, option);
        if (grant.empty()) continue;
        ++existing;
        INFO("requested " << requested << ", at most " << most << ", option " << option);
        CHECK(grant.type == (option - 1) / kTiers);
        CHECK(grant.gpus.value > 0);
        CHECK(Request::option_of(job, grant) == option);
      }
      CHECK(existing % 3 == 0);
      CHECK(existing >= 3);  // exactly what was requested exists on every type
    }
  }
}

TEST_CASE("what is no option is nothing", "[tier]") {
  using Request = TieredRequest<2>;
  Job job = job_of(Milli::whole(2), 4);
  constexpr int kLow = std::numeric_limits<int>::min(), kHigh = std::numeric_limits<int>::max();
  for (const int option : {0, -1, 7, 8, 100, kLow, kHigh}) CHECK(Request::grant(job, option).empty());
  job.type_speed[1] = 0.0;
  CHECK(Request::grant(job, Request::option(1, Tier::kExact)).empty());
  job.type_speed[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(Request::grant(job, Request::option(1, Tier::kExact)).empty());
  CHECK(Request::option_of(job, Grant{}) == Request::kNothing);
  CHECK(Request::option_of(job, Grant{0, Milli::whole(3)}) == Request::kNothing);  // no tier of 3
  CHECK(Request::option_of(job, Grant{2, Milli::whole(2)}) == Request::kNothing);  // a type past the last
}

TEST_CASE("possible says what an empty cluster could grant, mask what the ledger can", "[tier]") {
  using Request = TieredRequest<3>;
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    Cluster cluster;
    const std::size_t types = 1 + random.below(3);
    for (std::size_t t = 0; t < types; ++t) {
      cluster.types.push_back(pool(std::string(1, static_cast<char>('a' + t)),
                                   static_cast<int>(1 + random.below(8)), 1000 * (1 + random.below(4))));
    }
    Job job =
        job_of(random.below(4) == 0 ? Milli{1 + random.below(999)} : Milli::whole(1 + random.below(5)), 8);
    job.demand = {random.below(4500), Milli{random.below(20000)}, random.below(80 * 1024)};
    for (double& speed : job.type_speed) speed = random.below(4) == 0 ? 0.0 : 1.0;

    Allocation empty(cluster);
    empty.reset(4);
    const OptionMask possible = Request::possible(job, cluster);
    CHECK(possible == Request::mask(job, empty));

    Allocation filled(cluster);
    filled.reset(4);
    for (std::size_t agent = 0; agent < 3; ++agent) {
      filled.claim(agent, {}, {static_cast<std::int32_t>(random.below(3)), Milli{1 + random.below(3000)}});
    }
    const OptionMask mask = Request::mask(job, filled);
    CHECK((mask & 1u) == 1u);
    CHECK((mask & ~possible) == 0u);
    for (int option = 1; option < Request::kOptions; ++option) {
      Allocation tried = filled;
      const Grant wanted = Request::grant(job, option);
      const bool granted = !wanted.empty() && tried.claim(3, job.demand, wanted);
      INFO("option " << option);
      CHECK(granted == (((mask >> option) & 1u) != 0));
    }
  }
}
