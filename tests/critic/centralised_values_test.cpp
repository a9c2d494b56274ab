// Values from the global state.
#include "mara/critic/centralised_values.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "critic/value_critic_helpers.hpp"

using namespace mara;
using namespace mara::test;
using critic::CentralisedValues;

using Config = CentralisedValues::Config;

TEST_CASE("centralised values: step by step and on the tape they are the same", "[critic]") {
  const RandomTeams teams(kThreeSlots, 7, 3, 1);
  each_small_critic<CentralisedValues>(&Config::own_observation, [&](const Config& config) {
    Begun<CentralisedValues> begun(config, kThreeSlots);
    const bool apart = config.agent_ids || config.own_observation;
    CHECK(begun.critic.per_agent() == apart);
    CHECK(begun.critic.columns() == (apart ? 3 : 1));
    CHECK(begun.stepped(teams) == begun.recorded(teams));
    check_gradients(begun, RandomTeams(kThreeSlots, 3, 2, 9));
  });
}

TEST_CASE("centralised values: what they see", "[critic]") {
  const RandomTeams teams(kThreeSlots, 1, 2, 2);
  RandomTeams seen = teams, moved = teams;
  seen.observations[2] += 1.0f;  // slot 1 of team 0
  moved.states[4] += 1.0f;       // team 1
  const Begun<CentralisedValues> state(small_critic<CentralisedValues>(), kThreeSlots);
  CHECK(state.stepped(seen) == state.stepped(teams));
  const std::vector<float> before = state.stepped(teams), after = state.stepped(moved);
  CHECK(before[0] == after[0]);
  CHECK(before[1] != after[1]);
  Config own = small_critic<CentralisedValues>();
  own.own_observation = true;
  const Begun<CentralisedValues> both(own, kThreeSlots);
  const std::vector<float> a = both.stepped(teams), b = both.stepped(seen), c = both.stepped(moved);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK((a[i] == b[i]) == (i != 1));
    CHECK((a[i] == c[i]) == (i < 3));
  }
  const Begun<CentralisedValues> ids(small_critic<CentralisedValues>(Recurrence::kNone, true), kThreeSlots);
  const std::vector<float> apart = ids.stepped(teams);
  CHECK(apart[0] != apart[1]);
}

TEST_CASE("centralised values: a new episode is a new memory", "[critic]") {
  RandomTeams teams(kThreeSlots, 4, 1, 4);
  std::fill(teams.began.begin(), teams.began.end(), std::uint8_t{0});
  teams.began[2] = 1;
  const Begun<CentralisedValues> begun(small_critic<CentralisedValues>(Recurrence::kLstm), kThreeSlots);
  RandomTeams other = teams;
  for (std::size_t i = 0; i < 2 * 4; ++i) other.states[i] += 0.5f;
  const std::vector<float> a = begun.stepped(teams), b = begun.stepped(other);
  CHECK(a[0] != b[0]);
  CHECK(a[2] == b[2]);
  CHECK(a[3] == b[3]);
}

TEST_CASE("centralised values: what they cannot be made for", "[critic]") {
  CHECK_FALSE(CentralisedValues::create({}, GameShape{0, 2, 1, ActionShape::discrete(2)}));
  const auto made = CentralisedValues::create({}, GameShape{2, 2, 0, ActionShape::discrete(2)});
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("state of 0") != std::string::npos);
}
