// Values of teams as sets.
#include "mara/critic/pooled_values.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "critic/value_critic_helpers.hpp"

using namespace mara;
using namespace mara::test;
using critic::PooledValues;
using critic::Pooling;

namespace {
const GameShape kShape{4, 3, 2, ActionShape::discrete(2)};

PooledValues::Config config(Pooling pooling, bool state, bool per_agent) {
  PooledValues::Config c;
  c.embedding = {6, 8};
  c.head = {5};
  c.pooling = pooling;
  c.attention_heads = 2;
  c.global_state = state;
  c.per_agent = per_agent;
  c.activation = Activation::kTanh;
  return c;
}

template <class F>
void each_kind(F&& f) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kAttention})
    for (const bool state : {false, true})
      for (const bool per_agent : {false, true}) {
        CAPTURE(static_cast<int>(pooling), state, per_agent);
        f(config(pooling, state, per_agent));
      }
}
}  // namespace

TEST_CASE("pooled values: step by step and on the tape they are the same", "[critic]") {
  each_kind([](const PooledValues::Config& c) {
    Begun<PooledValues> begun(c, kShape);
    CHECK(begun.critic.columns() == (c.per_agent ? 4 : 1));
    const RandomTeams teams(kShape, 5, 3, 1);
    CHECK(begun.stepped(teams) == begun.recorded(teams));
    check_gradients(begun, RandomTeams(kShape, 2, 3, 9));
  });
}

TEST_CASE("pooled values: the order of the agents does not matter", "[critic]") {
  each_kind([](const PooledValues::Config& c) {
    const Begun<PooledValues> begun(c, kShape);
    const RandomTeams teams(kShape, 1, 1, 3);
    RandomTeams turned = teams;
    std::rotate(turned.observations.begin(), turned.observations.begin() + 3, turned.observations.end());
    std::rotate(turned.present.begin(), turned.present.begin() + 1, turned.present.end());
    std::vector<float> a = begun.stepped(teams);
    const std::vector<float> b = begun.stepped(turned);
    if (c.per_agent) std::rotate(a.begin(), a.begin() + 1, a.end());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
  });
}

TEST_CASE("pooled values: absent agents change no bit, whatever their rows hold", "[critic]") {
  each_kind([](const PooledValues::Config& c) {
    const Begun<PooledValues> begun(c, kShape);
    const RandomTeams teams(kShape, 2, 3, 5);
    RandomTeams filled = teams;
    for (std::size_t row = 0; row < filled.present.size(); ++row)
      for (std::size_t k = 0; k < 3 && filled.present[row] == 0; ++k)
        filled.observations[row * 3 + k] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> a, b;
    CHECK(begun.recorded(teams, &a) == begun.recorded(filled, &b));
    CHECK(a == b);
  });
}

TEST_CASE("pooled values: they see everybody, how many there are, and the state if asked", "[critic]") {
  each_kind([](const PooledValues::Config& c) {
    const Begun<PooledValues> begun(c, kShape);
    RandomTeams teams(kShape, 1, 1, 6);
    std::fill(teams.present.begin(), teams.present.end(), std::uint8_t{1});
    for (std::size_t i = 0; i < 12; ++i) teams.observations[i] = static_cast<float>(i % 3);  // all alike
    RandomTeams other = teams, fewer = teams, moved = teams;
    other.observations[3] += 1.0f;
    fewer.present[3] = 0;
    moved.states[0] += 1.0f;
    const float before = begun.stepped(teams)[0];
    CHECK(begun.stepped(other)[0] != before);
    CHECK(begun.stepped(fewer)[0] != before);
    CHECK((begun.stepped(moved)[0] != before) == c.global_state);
  });
}

TEST_CASE("pooled values: nobody there", "[critic]") {
  each_kind([](const PooledValues::Config& c) {
    Begun<PooledValues> begun(c, kShape);
    RandomTeams teams(kShape, 2, 2, 7);
    std::fill(teams.present.begin(), teams.present.end(), std::uint8_t{0});
    std::vector<float> gradients;
    for (const float v : begun.recorded(teams, &gradients)) CHECK(std::isfinite(v));
    for (const float g : gradients) CHECK(std::isfinite(g));
    teams.present[0] = 1;  // one agent in the first of four
    CHECK(begun.stepped(teams).size() == 4 * begun.critic.columns());
    CHECK(begun.stepped(teams) == begun.recorded(teams));
  });
}

TEST_CASE("pooled values: what they cannot be made for", "[critic]") {
  const auto refused = [](const char* field, auto change, GameShape shape = kShape) {
    auto c = config(Pooling::kAttention, true, false);
    change(c);
    const auto made = PooledValues::create(c, shape);
    CAPTURE(field);
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find(field) != std::string::npos);
  };
  refused("embedding", [](auto& c) { c.embedding = {}; });
  refused("attention_heads", [](auto& c) { c.attention_heads = 3; });
  refused("attention_heads", [](auto& c) { c.attention_heads = 0; });
  const auto negative = static_cast<std::size_t>(-1);  // what becomes of -1 in a field of std::size_t
  refused("embedding[1] = 18446744073709551615", [=](auto& c) { c.embedding = {4, negative}; });
  refused("embedding[0] = 0", [](auto& c) { c.embedding = {0, 4}; });
  refused("head[0] = 18446744073709551615", [=](auto& c) { c.head = {negative}; });
  refused("attention_heads = 18446744073709551615", [=](auto& c) { c.attention_heads = negative; });
  refused("head[0] = 0", [](auto& c) { c.head = {0}; });
  refused(
      "agents", [](auto&) {}, GameShape{0, 3, 2, ActionShape::discrete(2)});
  refused(
      "state", [](auto&) {}, GameShape{2, 3, 0, ActionShape::discrete(2)});
}
