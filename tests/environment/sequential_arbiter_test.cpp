// The arbiter under requests of every kind: nothing is ever exceeded, and nothing that fits is left idle.
#include "mara/environment/sequential_arbiter.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "environment_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

int hostile_option(Random& random) {
  switch (random.below(6)) {
    case 0:
      return std::numeric_limits<int>::min();
    case 1:
      return std::numeric_limits<int>::max();
    case 2:
      return -static_cast<int>(random.below(100));
    case 3:
      return static_cast<int>(random());
    default:
      return static_cast<int>(random.below(12));
  }
}

}  // namespace

TEST_CASE("hostile options never exceed a limit; the backfill leaves nothing idle that somebody could use",
          "[arbiter]") {
  using Arbiter = SequentialArbiter<3>;
  using Request = TieredRequest<3>;
  Random random(1);
  int granted = 0, refused = 0, filled = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Scene scene = random_scene<3>(random, 12);
    const DecisionView view = scene.view();
    Allocation allocation = scene.ledger();
    std::vector<std::uint32_t> order(scene.active.size());
    std::iota(order.begin(), order.end(), 0u);
    random.shuffle(order);
    for (const std::uint32_t agent : order) {
      const int times = 1 + static_cast<int>(random.below(2));  // some ask twice
      for (int i = 0; i < times; ++i) {
        const int option = hostile_option(random);
        const Grant before = allocation.grant(agent);
        const OptionMask mask = Arbiter::mask(view, agent, allocation);
        const bool legal = option > 0 && option < Request::kOptions && ((mask >> option) & 1u) != 0;
        const bool claimed = Arbiter::claim(view, agent, option, allocation);
        REQUIRE(claimed == (legal && before.empty()));
        REQUIRE(allocation.grant(agent) == (claimed ? Request::grant(view.job(agent), option) : before));
        ++(claimed ? granted : refused);
      }
    }
    require_within_capacity(scene, allocation);
    std::vector<Grant> chosen(allocation.grants().begin(), allocation.grants().end());
    Arbiter::backfill(view, order, allocation);
    require_within_capacity(scene, allocation);
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent) {
      if (!chosen[agent].empty()) {
        REQUIRE(allocation.grant(agent) == chosen[agent]);  // what was chosen stays
      } else if (allocation.grant(agent).empty()) {
        REQUIRE(Arbiter::mask(view, agent, allocation) == 1u);
      } else {
        ++filled;
      }
    }
  }
  CHECK(granted > 500);
  CHECK(refused > 1000);
  CHECK(filled > 1000);
}

TEST_CASE("the backfill prefers what was held, then the request on the fastest type with room, then half",
          "[arbiter]") {
  using Arbiter = SequentialArbiter<2>;
  Scene scene;
  scene.cluster.types = {pool("fast", 4), pool("slow", 4)};
  scene.add(job_of(0, 2, 100), {1, Milli::whole(2)});  // would be faster on type 0
  scene.add(job_of(0, 4, 100));
  scene.add(job_of(0, 4, 100));
  scene.add(job_of(0, 4, 100));
  const DecisionView view = scene.view();
  Allocation allocation = scene.ledger();
  const std::vector<std::uint32_t> order{0, 1, 2, 3};
  Arbiter::backfill(view, order, allocation);
  CHECK(allocation.grant(0) == Grant{1, Milli::whole(2)});
  CHECK(allocation.grant(1) == Grant{0, Milli::whole(4)});
  CHECK(allocation.grant(2) == Grant{1, Milli::whole(2)});  // half: no four are left anywhere
  CHECK(allocation.grant(3).empty());

  Allocation other = scene.ledger();  // a running job whose GPUs somebody took is treated as a waiting one
  REQUIRE(Arbiter::claim(view, 2, TieredRequest<2>::option(1, Tier::kExact), other));
  Arbiter::backfill(view, order, other);
  CHECK(other.grant(0) == Grant{0, Milli::whole(2)});
  CHECK(other.grant(1) == Grant{0, Milli::whole(2)});
}

TEST_CASE("claim_held is no change", "[arbiter]") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const Scene scene = random_scene<3>(random, 10);
    Allocation allocation = scene.ledger();
    claim_held(scene.view(), allocation);
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent) {
      REQUIRE(allocation.grant(agent) == scene.active[agent].held);
    }
  }
}
