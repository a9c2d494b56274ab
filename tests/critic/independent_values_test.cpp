// Values from own observations.
#include "mara/critic/independent_values.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "critic/value_critic_helpers.hpp"

using namespace mara;
using namespace mara::test;
using critic::IndependentValues;

using Config = IndependentValues::Config;

namespace {
Begun<IndependentValues> begun_without_memory(bool ids, bool separate) {
  Config config = small_critic<IndependentValues>(Recurrence::kNone, ids);
  config.separate = separate;
  return {config, kThreeSlots};
}
}  // namespace

TEST_CASE("independent values: step by step and on the tape they are the same", "[critic]") {
  const RandomTeams teams(kThreeSlots, 7, 3, 1);
  each_small_critic<IndependentValues>(&Config::separate, [&](const Config& config) {
    Begun<IndependentValues> begun(config, kThreeSlots);
    CHECK(begun.critic.columns() == 3);
    CHECK(begun.critic.per_agent());
    CHECK(begun.stepped(teams) == begun.recorded(teams));
    check_gradients(begun, RandomTeams(kThreeSlots, 3, 2, 9));
  });
}

TEST_CASE("independent values: each from its own observation alone", "[critic]") {
  const RandomTeams teams(kThreeSlots, 1, 2, 2);
  for (const bool separate : {false, true}) {
    const auto begun = begun_without_memory(false, separate);
    const std::vector<float> before = begun.stepped(teams);
    RandomTeams changed = teams;
    changed.observations[1 * 2] += 1.0f;  // slot 1 of team 0
    for (float& s : changed.states) s += 1.0f;
    const std::vector<float> after = begun.stepped(changed);
    for (std::size_t i = 0; i < 6; ++i) CHECK((after[i] == before[i]) == (i != 1));
  }
}

TEST_CASE("independent values: a shared network permutes with the agents, ids and own networks do not",
          "[critic]") {
  RandomTeams teams(kThreeSlots, 1, 1, 3), turned = teams;
  std::rotate(turned.observations.begin(), turned.observations.begin() + 2, turned.observations.end());
  const auto permutes = [&](bool ids, bool separate) {
    const auto begun = begun_without_memory(ids, separate);
    std::vector<float> a = begun.stepped(teams);
    const std::vector<float> b = begun.stepped(turned);
    std::rotate(a.begin(), a.begin() + 1, a.end());
    return a == b;
  };
  CHECK(permutes(false, false));
  CHECK_FALSE(permutes(true, false));
  CHECK_FALSE(permutes(false, true));
}

TEST_CASE("independent values: an agent that arrives remembers nothing", "[critic]") {
  RandomTeams teams(kThreeSlots, 4, 1, 4);
  std::fill(teams.arrived.begin(), teams.arrived.end(), std::uint8_t{0});
  teams.arrived[2 * 3 + 1] = 1;  // slot 1 at step 2
  const Begun<IndependentValues> begun(small_critic<IndependentValues>(Recurrence::kGru), kThreeSlots);
  const std::vector<float> before = begun.stepped(teams);
  RandomTeams other = teams;
  for (std::size_t i = 0; i < 2 * 3 * 2; ++i) other.observations[i] += 0.5f;  // another past
  const std::vector<float> after = begun.stepped(other);
  for (std::size_t t = 2; t < 4; ++t)
    for (std::size_t slot = 0; slot < 3; ++slot) {
      CAPTURE(t, slot);
      CHECK((after[t * 3 + slot] == before[t * 3 + slot]) == (slot == 1));
    }
}

TEST_CASE("independent values: what they cannot be made for", "[critic]") {
  CHECK_FALSE(IndependentValues::create({}, GameShape{0, 2, 1, ActionShape::discrete(2)}));
  CHECK_FALSE(IndependentValues::create({}, GameShape{2, 0, 1, ActionShape::discrete(2)}));
  auto bad = small_critic<IndependentValues>();
  bad.network.hidden = {0};
  const auto made = IndependentValues::create(bad, kThreeSlots);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("hidden") != std::string::npos);
}
