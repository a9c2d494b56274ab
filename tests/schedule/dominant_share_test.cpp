// Dominant shares and water-filling: cases S01, S02, S03 and S17.

#include "mara/schedule/dominant_share.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/schedule/water_fill.hpp"

namespace mara {
namespace {

using Counts = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const Counts kPool{9, 18};
const ResourceAmounts kA{1, 4}, kB{3, 1};

TEST_CASE("S01: the worked example", "[drf]") {
  const auto filling = progressive_filling(kPool, std::vector{kA, kB}).value();
  CHECK(filling.tasks == Counts{3, 2});
  CHECK(filling.shares == Numbers{12.0 / 18.0, 6.0 / 9.0});
  CHECK(filling.used == Counts{9, 14});
  CHECK(filling.unsatisfiable.empty());
  // With the other tie rule too.
  const auto swapped = progressive_filling(kPool, std::vector{kB, kA}).value();
  CHECK(swapped.tasks == Counts{2, 3});
  const auto fluid = continuous_filling(kPool, std::vector{kA, kB}).value();
  CHECK(fluid.tasks[0] == Approx(3).epsilon(1e-14));
  CHECK(fluid.tasks[1] == Approx(2).epsilon(1e-14));
  CHECK(fluid.shares[0] == Approx(2.0 / 3).epsilon(1e-14));
}

TEST_CASE("S01: a resource of which there is none", "[drf]") {
  const Counts pool{9, 18, 0};
  const auto unasked = progressive_filling(pool, std::vector<ResourceAmounts>{{1, 4, 0}, {3, 1, 0}}).value();
  CHECK(unasked.tasks == Counts{3, 2});
  CHECK(unasked.shares == Numbers{12.0 / 18.0, 6.0 / 9.0});
  const std::vector<ResourceAmounts> asked{{1, 4, 0}, {3, 1, 0}, {0, 0, 1}};
  const auto filling = progressive_filling(pool, asked).value();
  CHECK(filling.tasks == Counts{3, 2, 0});
  CHECK(filling.shares[2] == 0.0);
  CHECK(filling.unsatisfiable == std::vector<std::size_t>{2});
  const auto fluid = continuous_filling(pool, asked).value();
  CHECK(fluid.tasks[0] == Approx(3).epsilon(1e-14));
  CHECK(fluid.tasks[2] == 0.0);
  CHECK(fluid.shares[2] == 0.0);
  CHECK(fluid.unsatisfiable == std::vector<std::size_t>{2});
}

TEST_CASE("S01: a demand of nothing ends, a lie gains nothing", "[drf]") {
  const std::vector<ResourceAmounts> with_nothing{kA, kB, {0, 0}};
  CHECK(progressive_filling(kPool, with_nothing).value().tasks == Counts{3, 2, 0});
  CHECK(continuous_filling(kPool, with_nothing).value().tasks[2] == 0.0);
  CHECK(progressive_filling(kPool, with_nothing, {}, Counts{9, 9, 5}).value().tasks == Counts{3, 2, 5});
  const std::vector<ResourceAmounts> lie{{2, 4}, kB};
  const auto fluid = continuous_filling(kPool, lie).value();
  CHECK(fluid.tasks[0] == Approx(9.0 / 4).epsilon(1e-14));
  CHECK(fluid.tasks[1] == Approx(3.0 / 2).epsilon(1e-14));
  CHECK(progressive_filling(kPool, lie).value().tasks[0] <= 3);
}

TEST_CASE("S02: only ratios of weights count", "[drf]") {
  const std::vector<ResourceAmounts> one{{1}, {1}};
  for (const Numbers& weights : {Numbers{0.6, 0.3}, Numbers{2, 1}, Numbers{600, 300}, Numbers{2e-300, 1e-300},
                                 Numbers{2e300, 1e300}}) {
    CHECK(progressive_filling(Counts{9}, one, weights).value().tasks == Counts{6, 3});
    CHECK(continuous_filling(Counts{9}, one, weights).value().tasks[0] == Approx(6).epsilon(1e-14));
  }
}

TEST_CASE("S02: weights in the worked example", "[drf]") {
  const std::vector<ResourceAmounts> demands{kA, kB};
  const Numbers weights{2, 1};
  const auto fluid = continuous_filling(kPool, demands, weights).value();
  CHECK(fluid.tasks[0] == Approx(54.0 / 13).epsilon(1e-14));
  CHECK(fluid.tasks[1] == Approx(18.0 / 13).epsilon(1e-14));
  CHECK(fluid.used[1] == 18.0);
  const auto filling = progressive_filling(kPool, demands, weights).value();
  CHECK(filling.order == std::vector<std::size_t>{0, 1, 0, 0, 0});
  CHECK(filling.tasks == Counts{4, 1});
  CHECK(progressive_filling(kPool, std::vector{kB, kA}, Numbers{1, 2}).value().tasks == Counts{2, 3});
}

TEST_CASE("S02: weight 0 gets what is left, all 0 is equal", "[drf]") {
  const std::vector<ResourceAmounts> demands{kA, kB};
  CHECK(progressive_filling(kPool, demands, Numbers{0, 0}).value().tasks == Counts{3, 2});
  CHECK(progressive_filling(kPool, demands, Numbers{0, 1}).value().tasks == Counts{0, 3});
  const std::vector<ResourceAmounts> one{{1}, {1}};
  CHECK(progressive_filling(Counts{9}, one, Numbers{1, 0}, Counts{4, 100}).value().tasks == Counts{4, 5});
  CHECK(continuous_filling(Counts{9}, one, Numbers{1, 0}, Counts{4, 100}).value().tasks == Numbers{4, 5});
}

TEST_CASE("S02, S17: bad numbers are refused by name", "[drf]") {
  const std::vector<ResourceAmounts> demands{kA, kB};
  for (const double bad : {kNan, kInf, -1.0}) {
    const auto refused = progressive_filling(kPool, demands, Numbers{1, bad});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("weights[1]") != std::string::npos);
    CHECK_FALSE(continuous_filling(kPool, demands, Numbers{bad, 1}));
    CHECK_FALSE(water_fill(10.0, Numbers{1, 2}, Numbers{1, bad}));
  }
  CHECK(progressive_filling(kPool, std::vector<ResourceAmounts>{kA, {3, -1}}).error().message ==
        "demands[1][1] is -1");
  CHECK(progressive_filling(Counts{9, -18}, demands).error().message == "capacity[1] is -18");
  CHECK(progressive_filling(kPool, demands, {}, Counts{1, -2}).error().message == "limits[1] is -2");
  CHECK(progressive_filling(kPool, std::vector<ResourceAmounts>{{1}}).error().code ==
        ErrorCode::kShapeMismatch);
  CHECK_FALSE(progressive_filling(kPool, demands, Numbers{1}));
  CHECK_FALSE(water_fill(kNan, Numbers{1}));
  CHECK_FALSE(water_fill(-1.0, Numbers{1}));
  CHECK(water_fill(1.0, Numbers{1, kNan}).error().message == "caps[1] is nan");
  CHECK(progressive_filling(kPool, demands).value().tasks == Counts{3, 2});  // the next good one works
}

TEST_CASE("S17: huge amounts neither wrap nor hurt others", "[drf]") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(saturating_milli(1'000'000'000'000'000'000) == kMost);
  CHECK(saturating_milli(5) == 5000);
  CHECK(saturating_sum(kMost, 1) == kMost);
  CHECK(saturating_sum(kMost - 5, kMost) == kMost);
  // A task of 10^18 CPUs in a pool of as many; another user still gets what fits.
  const Counts pool{saturating_milli(1'000'000'000'000'000'000), 10};
  const auto filling = progressive_filling(pool, std::vector<ResourceAmounts>{{kMost, 0}, {0, 1}}).value();
  CHECK(filling.tasks == Counts{1, 10});
  CHECK(filling.used == Counts{kMost, 10});
  // Filling one by one ends, and says that it did not get to the end.
  const auto endless = progressive_filling(pool, std::vector<ResourceAmounts>{{1, 0}}, {}, {}, 1000).value();
  CHECK_FALSE(endless.complete);
  CHECK(endless.tasks == Counts{1000});
}

TEST_CASE("Progressive filling keeps its promises on random pools", "[drf]") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    INFO("seed " << seed);
    Random random(11, seed);
    const std::size_t resources = 1 + random.below(3), users = 1 + random.below(5);
    Counts pool;
    for (std::size_t r = 0; r < resources; ++r) pool.push_back(random.below(40));
    std::vector<ResourceAmounts> demands(users);
    Numbers weights;
    for (auto& demand : demands) {
      for (std::size_t r = 0; r < resources; ++r) demand.push_back(random.below(6));
      weights.push_back(random.below(4));
    }
    const auto filling = progressive_filling(pool, demands, weights).value();
    const auto fluid = continuous_filling(pool, demands, weights).value();
    Counts used(resources, 0);
    Numbers fluid_used(resources, 0.0);
    for (std::size_t u = 0; u < users; ++u)
      for (std::size_t r = 0; r < resources; ++r) {
        used[r] += filling.tasks[u] * demands[u][r];
        fluid_used[r] += fluid.tasks[u] * static_cast<double>(demands[u][r]);
      }
    REQUIRE(used == filling.used);
    for (std::size_t r = 0; r < resources; ++r) {
      REQUIRE(used[r] <= pool[r]);
      REQUIRE(fluid_used[r] <= static_cast<double>(pool[r]) * (1 + 1e-12));
    }
    for (std::size_t u = 0; u < users; ++u) {  // Pareto: nobody could have one more
      bool nothing = true, fits = true;
      for (std::size_t r = 0; r < resources; ++r) {
        nothing = nothing && demands[u][r] == 0;
        fits = fits && demands[u][r] <= pool[r] - used[r];
      }
      REQUIRE((nothing || !fits));
      REQUIRE((filling.shares[u] >= 0.0 && filling.shares[u] <= 1.0));
    }
  }
}

TEST_CASE("S03: each resource is filled on its own", "[drf]") {
  const auto filled =
      water_fill(Numbers{100, 100}, std::vector<Numbers>{{80, 40}, {20, 60}}, Numbers{1, 1}).value();
  CHECK(filled == std::vector<Numbers>{{80, 40}, {20, 60}});
  CHECK(water_fill(10.0, Numbers{2, 3, 20}).value() == Numbers{2, 3, 5});
  CHECK(water_fill(100.0, Numbers{30, 50, 50}, Numbers{0.6, 0.3, 0.1}).value() == Numbers{30, 50, 20});
  CHECK(water_fill(9.0, Numbers{kInf, kInf}, Numbers{600, 300}).value() == Numbers{6, 3});
  CHECK(water_fill(9.0, Numbers{4, kInf}, Numbers{1, 0}).value() == Numbers{4, 5});
  CHECK(water_fill(9.0, Numbers{kInf, kInf}, Numbers{0, 0}).value() == Numbers{4.5, 4.5});
  CHECK(water_fill(0.0, Numbers{kInf, 1}).value() == Numbers{0, 0});
  CHECK(water_fill(100.0, Numbers{1, 2}).value() == Numbers{1, 2});
  CHECK_FALSE(water_fill(Numbers{1, 2}, std::vector<Numbers>{{1}}));
}

TEST_CASE("S03: queues are served by used over deserved", "[drf]") {
  const Numbers ratios{service_ratio(50.0, 100.0), service_ratio(100.0, 300.0)};
  CHECK(ratios[0] == 0.5);
  CHECK(ratios[1] == Approx(1.0 / 3));
  CHECK(service_order(ratios) == std::vector<std::size_t>{1, 0});
  CHECK(service_order(Numbers{1, 1, 0.5, kNan}) == std::vector<std::size_t>{2, 0, 1, 3});
  CHECK(service_ratio(1.0, 0.0) == kInf);
  CHECK(service_ratio(0.0, 0.0) == 0.0);
  CHECK(service_ratio(Numbers{1, 6}, Numbers{10, 12}) == 0.5);
}

}  // namespace
}  // namespace mara
